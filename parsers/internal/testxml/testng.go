package testxml

import (
	"cmp"
	"io"
	"slices"
	"strings"
	"time"

	"supervise/internal/sniff"
	"supervise/internal/textstream"
	"supervise/internal/xmlstream"
	"supervise/metric"
	"supervise/parsers/internal/parsed"
)

// testngStatuses maps the statuses of TestNG.
var testngStatuses = map[string]metric.Status{
	"PASS": metric.Passed, "FAIL": metric.Failed, "SKIP": metric.Skipped, "SUCCESS_PERCENTAGE_FAILURE": metric.Failed,
}

func detectTestNG(h sniff.Head) bool { return h.HasRoot("testng-results") }

// testngReader reads the testng-results.xml of TestNG. The suite of a test is its class. The
// values of its parameters are part of its name.
type testngReader struct{ xmlSet }

// parseTestNG reads a testng-results.xml, and checks its totals.
func parseTestNG(r io.Reader) (parsed.Report, error) {
	n := &testngReader{}
	x, err := readRoot(r, "TestNG results", func(x *xmlstream.Reader, t xmlstream.Token) error {
		t.Attrs = slices.Clone(t.Attrs)
		err := n.readChildren(x, "")
		if err == nil {
			n.checkTotal(t, "passed", "tests passed", n.Totals.Passed)
			n.checkFailures(t, "tests failed", []int{n.Totals.Unsuccessful()}, "failed")
		}
		return err
	}, "testng-results")
	markRetried(n.Cases)
	return n.report(x, "testng"), err
}

// readChildren reads the test methods in the open suite, test or class. Class is "" outside of
// classes.
func (n *testngReader) readChildren(x *xmlstream.Reader, class string) error {
	return x.EachChild(func(t xmlstream.Token) error {
		switch t.Name {
		case "suite", "test":
			return n.readChildren(x, class)
		case "class":
			return n.readChildren(x, t.Value("name"))
		case "test-method":
			return n.readMethod(x, t, class)
		}
		return nil
	})
}

// readMethod reads one call of a test method, set-up or tear-down.
func (n *testngReader) readMethod(x *xmlstream.Reader, t xmlstream.Token, class string) error {
	e, err := readElement(x, t, "value", "exception", "message", "full-stacktrace", "short-stacktrace")
	if err != nil {
		return err // the outcome may be missing
	}
	word := e.Value("status")
	c := metric.Test{
		ID:       metric.ID{Suite: class, Name: e.Value("name")},
		Status:   testngStatuses[word],
		Duration: time.Duration(numberAttr(e.Token, "duration-ms")) * time.Millisecond,
		Message:  testngMessage(e.child("exception")),
	}

	if e.Value("is-config") == "true" { // a set-up or tear-down
		if c.Status == metric.Failed {
			n.AddBroken(class, c.Name+": "+c.Message)
		}
		return nil
	}

	if params := testngParams(e); len(params) > 0 {
		c.Name += "[" + strings.Join(params, ", ") + "]"
	}
	if c.Status == metric.Passed {
		c.Message = "" // the exception was expected
	}
	n.addKnown(c, "status", word)
	return nil
}

// testngParams returns the values of the parameters of a call.
func testngParams(method *element) (values []string) {
	for _, c := range method.children {
		switch {
		case c.Name != "value":
		case c.Value("is-null") == "true":
			values = append(values, "null")
		default:
			values = append(values, c.text())
		}
	}
	return values
}

// testngMessage returns the stack trace of an exception, which starts with the message. Without
// one it returns the class of the exception.
func testngMessage(exception *element) string {
	why := ""
	for _, c := range exception.children { // the stack trace follows the message
		why = c.text()
	}
	return cmp.Or(why, textstream.CleanText(exception.Value("class")))
}
