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

// xmlReport reads a report in XML element by element.
type xmlReport struct {
	*collector
	reader *xmlstream.Reader
}

func newXMLReport(r io.Reader, unit metric.Unit, needs string) *xmlReport {
	x := &xmlReport{collector: newCollector(unit), reader: xmlstream.NewReader(r)}
	x.required = needs
	return x
}

// forEachElement calls start, end and, unless it is nil, text for the elements and texts of
// the document. It returns what ended the document, if that is not its end.
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

// syntaxError is an error at the present place.
func (x *xmlReport) syntaxError(format string, args ...any) error {
	return &SyntaxError{Line: x.reader.Line(), Problem: fmt.Sprintf(format, args...)}
}

// totalAttr returns the number of an attribute, -1 if it is none.
func totalAttr(t xmlstream.Token, name string) number {
	return parseDeclared(strings.TrimSpace(t.Value(name)))
}

// declaredTotals returns the totals in the attributes: how many units are covered, how many
// there are, and the same of branches.
func declaredTotals(t xmlstream.Token, covered, units, taken, branches string) totals {
	return totals{totalAttr(t, covered), totalAttr(t, units), totalAttr(t, taken), totalAttr(t, branches)}
}

// parseLineAndHit reads the attributes with the number of a line and how often it was executed.
func (x *xmlReport) parseLineAndHit(t xmlstream.Token, line, count string) (n int, hit bool, err error) {
	if n, err = x.parseLineNumber(t.Name, t.Value(line)); err == nil {
		hit, err = x.parseExecuted(t.Name, t.Value(count))
	}
	return n, hit, err
}

// parseLineNumber reads an attribute that has to be a number.
func (x *xmlReport) parseLineNumber(element, value string) (int, error) {
	n, ok := parseNatural(value)
	if !ok {
		return 0, x.syntaxError("%q is no line number in <%s>", value, element)
	}
	return n, nil
}

// parseExecuted reads an attribute that has to be a count.
func (x *xmlReport) parseExecuted(element, value string) (bool, error) {
	hit, ok := parseHit(value)
	if !ok {
		return false, x.syntaxError("%q is no number of executions in <%s>", value, element)
	}
	return hit, nil
}
