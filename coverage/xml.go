package coverage

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"supervise/internal/textstream"
	"supervise/internal/xmlstream"
	"supervise/metric"
)

// xmlReport reads an XML report element by element.
type xmlReport struct {
	*collector
	reader *xmlstream.Reader
}

// newXMLReport returns a report to read from r. needs is an element that the report must have, or
// "".
func newXMLReport(r io.Reader, unit metric.Unit, needs string) *xmlReport {
	x := &xmlReport{collector: newCollector(unit), reader: xmlstream.NewReader(r)}
	x.required = needs
	return x
}

// forEachElement reads the document. It calls start and end for each element and, unless it is
// nil, text for each text. It returns the first error.
func (x *xmlReport) forEachElement(start func(xmlstream.Token) error, end func(name string), text func(string)) error {
	for {
		t, err := x.reader.Next()
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			if _, syntax := errors.AsType[*SyntaxError](err); !syntax {
				err = fmt.Errorf("read report: %w", err)
			}
			return err
		case t.Kind == xmlstream.Start:
			if err := start(t); err != nil {
				return err
			}
		case t.Kind == xmlstream.End:
			end(t.Name)
		case t.Kind == xmlstream.Text && t.Depth == 0:
			if noise := textstream.FirstLine(textstream.CleanText(t.Text)); x.noise == "" && noise != "" {
				x.noise = noise
			}
		case t.Kind == xmlstream.Text && text != nil:
			text(t.Text)
		}
	}
}

// syntaxError returns an error at the current line.
func (x *xmlReport) syntaxError(format string, args ...any) error {
	return &SyntaxError{Line: x.reader.Line(), Problem: fmt.Sprintf(format, args...)}
}

// totalAttr returns the total in an attribute. It returns -1 if the attribute is not a number.
func totalAttr(t xmlstream.Token, name string) number {
	return parseDeclared(strings.TrimSpace(t.Value(name)))
}

// declaredTotals returns the totals in four attributes: covered units, all units, taken branches
// and all branches.
func declaredTotals(t xmlstream.Token, covered, units, taken, branches string) totals {
	return totals{totalAttr(t, covered), totalAttr(t, units), totalAttr(t, taken), totalAttr(t, branches)}
}

// parseLineAndHit parses the two attributes with the number of a line and with how often it was
// executed.
func (x *xmlReport) parseLineAndHit(t xmlstream.Token, line, count string) (n int, hit bool, err error) {
	if n, err = x.parseLineNumber(t.Name, t.Value(line)); err == nil {
		hit, err = x.parseExecuted(t.Name, t.Value(count))
	}
	return n, hit, err
}

// parseLineNumber parses a required line number.
func (x *xmlReport) parseLineNumber(element, value string) (int, error) {
	n, ok := parseNatural(value)
	if !ok {
		return 0, x.syntaxError("%q is no line number in <%s>", value, element)
	}
	return n, nil
}

// parseExecuted parses a required number of executions, and reports whether it is positive.
func (x *xmlReport) parseExecuted(element, value string) (bool, error) {
	hit, ok := parseHit(value)
	if !ok {
		return false, x.syntaxError("%q is no number of executions in <%s>", value, element)
	}
	return hit, nil
}
