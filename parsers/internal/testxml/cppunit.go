package testxml

import (
	"io"
	"strconv"
	"strings"

	"supervise/internal/sniff"
	"supervise/internal/textstream"
	"supervise/internal/xmlstream"
	"supervise/metric"
	"supervise/parsers/internal/parsed"
)

// cppunitLists maps the lists of tests in a report to the status of their tests.
var cppunitLists = map[string]metric.Status{
	"SuccessfulTests": metric.Passed, "FailedTests": metric.Failed, "SkippedTests": metric.Skipped,
}

// detectCppUnit reports whether the head is a report of CppUnit, and not a TRX, which has the
// same root.
func detectCppUnit(h sniff.Head) bool {
	hasTests := h.HasElements("Statistics") || h.HasElements("SuccessfulTests") || h.HasElements("FailedTests")
	return h.HasRoot("TestRun") && hasTests && !detectTRX(h)
}

// cppunitReader reads the XML of CppUnit, which AUnit writes as well. The class of a test is
// the part of its name before the last "::" or the first " : ". A failure of the type
// Error, an exception, is an error.
type cppunitReader struct {
	xmlSet
	stated map[string]int // totals by name
}

// parseCppUnit reads the XML of CppUnit.
func parseCppUnit(r io.Reader) (parsed.Report, error) {
	c := &cppunitReader{stated: map[string]int{}}
	x, err := readXML(r, "CppUnit XML", func(x *xmlstream.Reader, t xmlstream.Token) (bool, error) {
		return t.Name == "TestRun", x.EachChild(func(t xmlstream.Token) error {
			if status, ok := cppunitLists[t.Name]; ok {
				return x.EachChild(func(t xmlstream.Token) error { return c.readTest(x, t, status) })
			}
			if t.Name == "Statistics" {
				return x.EachChild(func(t xmlstream.Token) error { return c.readStatistic(x, t.Name) })
			}
			return nil
		})
	})
	if err == nil {
		c.checkTotals()
	}
	return c.report(x, ""), err
}

// readStatistic stores a total.
func (c *cppunitReader) readStatistic(x *xmlstream.Reader, name string) error {
	text, err := readText(x)
	if n, bad := strconv.Atoi(strings.TrimSpace(text)); bad == nil {
		c.stated[name] = n
	}
	return err
}

// checkTotals compares the totals of the report with the cases.
func (c *cppunitReader) checkTotals() {
	if n, ok := c.stated["Tests"]; ok && n != c.Totals.Tests {
		c.Problems.Add("the report says that %d tests ran and holds %d", n, c.Totals.Tests)
	}
	failed := max(c.stated["FailuresTotal"], c.stated["Failures"]+c.stated["Errors"])
	c.CheckFailures("tests failed", float64(failed), c.Totals.Unsuccessful())
}

// readTest reads a test of a list, which has the status.
func (c *cppunitReader) readTest(x *xmlstream.Reader, t xmlstream.Token, status metric.Status) error {
	e, err := readElement(x, t, "Name", "Message", "FailureType", "File", "Line")
	if err != nil {
		return err // the name or outcome may be missing
	}
	test := metric.Test{
		Status: status, Message: e.child("Message").text(),
		File: textstream.CleanName(strings.TrimSpace(e.child("File").text())), Line: parseNumber(e.child("Line").text()),
	}
	if strings.TrimSpace(e.child("FailureType").text()) == "Error" {
		test.Status = metric.Errored
	}
	test.Class, test.Name = splitCppUnitName(strings.TrimSpace(e.child("Name").text()))
	c.Add(test)
	return nil
}

// splitCppUnitName splits the full name of a test, "ns::Class::test" or "Suite : test". The
// class of any other name is "".
func splitCppUnitName(name string) (class, test string) {
	if at := strings.LastIndex(name, "::"); at > 0 && at+2 < len(name) {
		return name[:at], name[at+2:]
	}
	if class, test, ok := strings.Cut(name, " : "); ok && class != "" && test != "" {
		return class, test
	}
	return "", name
}
