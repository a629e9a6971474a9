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

// cppunitLists are the lists of tests in a report, by what came of them.
var cppunitLists = map[string]metric.Status{
	"SuccessfulTests": metric.Passed, "FailedTests": metric.Failed, "SkippedTests": metric.Skipped,
}

// detectCppUnit distinguishes the report from a TRX, which has the same root.
func detectCppUnit(h sniff.Head) bool {
	return h.HasRoot("TestRun") && (h.HasElements("Statistics") || h.HasElements("SuccessfulTests") || h.HasElements("FailedTests")) && !detectTRX(h)
}

// cppunitReader reads the XML of CppUnit and of AUnit, which writes the same.
// The class is what precedes the last :: or the first " : " of a name. A
// failure of the type Error, an exception, is an error.
type cppunitReader struct {
	xmlSet
	stated map[string]int // the numbers that the report says of itself
}

func parseCppUnit(r io.Reader) (parsed.Report, error) {
	c := &cppunitReader{stated: map[string]int{}}
	x, err := readXML(r, "CppUnit XML", func(x *xmlstream.Reader, t xmlstream.Token) (bool, error) {
		return t.Name == "TestRun", x.EachChild(func(t xmlstream.Token) error {
			if status, ok := cppunitLists[t.Name]; ok {
				return x.EachChild(func(xmlstream.Token) error { return c.test(x, status) })
			}
			if t.Name == "Statistics" {
				return x.EachChild(func(t xmlstream.Token) error { return c.statistic(x, t.Name) })
			}
			return nil
		})
	})
	if err == nil {
		c.check()
	}
	return c.report(x, ""), err
}

func (c *cppunitReader) statistic(x *xmlstream.Reader, name string) error {
	text, err := clipped(x)
	if n, bad := strconv.Atoi(strings.TrimSpace(text)); bad == nil {
		c.stated[name] = n
	}
	return err
}

// check compares the numbers with the recount.
func (c *cppunitReader) check() {
	if n, ok := c.stated["Tests"]; ok && n != c.Totals.Tests {
		c.Problems.Add("the report says that %d tests ran and holds %d", n, c.Totals.Tests)
	}
	failed := max(c.stated["FailuresTotal"], c.stated["Failures"]+c.stated["Errors"])
	c.Fails("tests failed", float64(failed), c.bad())
}

func (c *cppunitReader) test(x *xmlstream.Reader, status metric.Status) error {
	t := metric.Test{Status: status}
	var word, file, line string
	place := func(xmlstream.Token) error { return children(x, map[string]any{"File": &file, "Line": &line}) }
	err := children(x, map[string]any{"Name": &t.Name, "Message": &t.Message, "FailureType": &word, "Location": place})
	if err != nil {
		return err // its name or outcome may be in the part that is missing
	}
	if strings.TrimSpace(word) == "Error" {
		t.Status = metric.Errored
	}
	t.File, t.Line = textstream.CleanName(strings.TrimSpace(file)), junitLine(line)
	t.Class, t.Name = cppunitClass(strings.TrimSpace(t.Name))
	c.Add(t)
	return nil
}

// cppunitClass splits "ns::Class::test" and "Suite : test".
func cppunitClass(name string) (class, test string) {
	if at := strings.LastIndex(name, "::"); at > 0 && at+2 < len(name) {
		return name[:at], name[at+2:]
	}
	if class, test, ok := strings.Cut(name, " : "); ok && class != "" && test != "" {
		return class, test
	}
	return "", name
}
