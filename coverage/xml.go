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
	x *xmlstream.Reader
}

func newXMLReport(r io.Reader, unit metric.Unit, needs string) *xmlReport {
	x := &xmlReport{collector: newCollector(unit), x: xmlstream.NewReader(r)}
	x.needs = needs
	return x
}

// each calls start, end and, unless it is nil, text for the elements and texts of
// the document. It returns what ended the document, if that is not its end.
func (x *xmlReport) each(start func(xmlstream.Token) error, end func(name string), text func(string)) error {
	for {
		t, err := x.x.Next()
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

// fault is an error at the present place.
func (x *xmlReport) fault(format string, args ...any) error {
	return &SyntaxError{Line: x.x.Line(), Problem: fmt.Sprintf(format, args...)}
}

// total returns the number of an attribute, -1 if it is none.
func total(t xmlstream.Token, name string) number {
	return declaredNumber(strings.TrimSpace(t.Value(name)))
}

// declared returns the totals in the attributes: how many units are covered, how many
// there are, and the same of branches.
func declared(t xmlstream.Token, covered, units, taken, branches string) totals {
	return totals{total(t, covered), total(t, units), total(t, taken), total(t, branches)}
}

// execution reads the attributes with the number of a line and how often it was executed.
func (x *xmlReport) execution(t xmlstream.Token, line, count string) (n int, hit bool, err error) {
	if n, err = x.lineNumber(t.Name, t.Value(line)); err == nil {
		hit, err = x.executed(t.Name, t.Value(count))
	}
	return n, hit, err
}

// lineNumber reads an attribute that has to be a number.
func (x *xmlReport) lineNumber(element, value string) (int, error) {
	n, ok := natural(value)
	if !ok {
		return 0, x.fault("%q is no line number in <%s>", value, element)
	}
	return n, nil
}

// executed reads an attribute that has to be a count.
func (x *xmlReport) executed(element, value string) (bool, error) {
	hit, ok := positive(value)
	if !ok {
		return false, x.fault("%q is no number of executions in <%s>", value, element)
	}
	return hit, nil
}
