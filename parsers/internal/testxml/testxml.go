// Package testxml reads the reports of test runners in XML, and writes JUnit
// XML.
package testxml

import (
	"fmt"
	"io"
	"strconv"
	"strings"

	"supervise/internal/textstream"
	"supervise/internal/xmlstream"
	"supervise/metric"
	"supervise/parsers/internal/parsed"
)

// Formats are the reports of test runners in XML, the most specific first.
var Formats = parsed.Rows(parsed.TestReport, parsed.XML, []parsed.Format{
	{Name: "trx", Detect: detectTRX, Parse: parseTRX},
	{Name: "cppunit", Detect: detectCppUnit, Parse: parseCppUnit},
	{Name: "nunit", Detect: detectNUnit, Parse: parseNUnit},
	{Name: "xunit", Detect: detectXUnit, Parse: parseXUnit},
	{Name: "robot", Detect: detectRobot, Parse: parseRobot},
	{Name: "testng", Detect: detectTestNG, Parse: parseTestNG},
	{Name: "ctest", Detect: detectCTest, Parse: parseCTest},
	{Name: "catch2", Detect: detectCatch2, Parse: parseCatch2},
	{Name: "junit", Detect: detectJUnit, Parse: parseJUnit},
})

// xmlSet gathers the cases of one document.
type xmlSet struct{ parsed.TestSet }

// report returns what was read of the document in x.
func (s *xmlSet) report(x *xmlstream.Reader, producer string) parsed.Report {
	if noise := textstream.FirstLine(textstream.CleanText(x.Outside())); noise != "" {
		s.Problems.Add("text outside of the report: %s", noise)
	}
	t := metric.NewTests(s.Cases)
	t.Broken = parsed.UniqueSuites(s.Broken)
	for _, c := range t.Cases {
		t.Duration += c.Duration
	}
	if same := s.Totals.Tests - len(t.Cases); same > 0 {
		s.Problems.Add("%d cases have the suite, class and name of another one and are one test with it", same)
	}
	return parsed.Report{Producer: producer, Tests: t, Cases: s.Totals, Problems: s.Problems.All()}
}

// declared compares a number that the report says of itself with the recount;
// several recounts may be right, as writers differ in what they count.
func (s *xmlSet) declared(t xmlstream.Token, attr, what string, counts ...int) {
	text, ok := t.Attr(attr)
	n, err := strconv.Atoi(strings.TrimSpace(text))
	if !ok || err != nil {
		return
	}
	for _, c := range counts {
		if n == c {
			return
		}
	}
	s.Problems.Add("the report says that %d %s and holds %d", n, what, counts[0])
}

// hollow breaks a suite that, as its report says, has tests of which none is
// there.
func (s *xmlSet) hollow(t xmlstream.Token, name string, tests int) {
	if n := declaredNumber(t, "total"); n > 0 && tests == 0 {
		s.Breaks(name, fmt.Sprintf("its report says that it has %d tests and names none", n))
	}
}

// readXML reads a whole document: f is called with its outermost elements and
// reports false for one that it does not know.
func readXML(r io.Reader, format string, f func(*xmlstream.Reader, xmlstream.Token) (bool, error)) (*xmlstream.Reader, error) {
	x, found := xmlstream.NewReader(r), false
	err := x.Children(func(t xmlstream.Token) error {
		known, err := f(x, t)
		found = found || known
		return err
	})
	switch {
	case err != nil:
		return x, fmt.Errorf("read %s: %w", format, err)
	case !found:
		return x, fmt.Errorf("%w: it is no %s", parsed.ErrUnknownFormat, format)
	}
	return x, nil
}

// attr returns the value of the attribute, "" where the element has none.
func attr(t xmlstream.Token, name string) string {
	v, _ := t.Attr(name)
	return v
}

// content adds the text of the open element to c.
func content(x *xmlstream.Reader, c *textstream.Clip) error {
	if !c.Empty() {
		c.Add("\n")
	}
	return x.Content(c.Add)
}

// clipped returns the text of the open element.
func clipped(x *xmlstream.Reader) (string, error) {
	var c textstream.Clip
	err := x.Content(c.Add)
	return c.String(), err
}

// assembly returns the name of a .NET assembly without its folder, which
// differs from checkout to checkout.
func assembly(path string) string { return path[strings.LastIndexAny(path, `/\`)+1:] }

// withoutClass cuts the class off the full name of a .NET test.
func withoutClass(name, class string) string {
	if short, ok := strings.CutPrefix(name, class+"."); ok && class != "" && short != "" {
		return short
	}
	return name
}
