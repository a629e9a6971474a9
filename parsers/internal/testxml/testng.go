package testxml

import (
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
	word, isConfig := t.Value("status"), t.Value("is-config") == "true"
	c := metric.Test{
		ID:       metric.ID{Suite: class, Name: t.Value("name")},
		Status:   testngStatuses[word],
		Duration: time.Duration(numberAttr(t, "duration-ms")) * time.Millisecond,
	}

	var params []string
	err := x.EachChild(func(t xmlstream.Token) (err error) {
		switch t.Name {
		case "params":
			params, err = readTestNGParams(x)
		case "exception":
			c.Message, err = readTestNGException(x, t)
		}
		return err
	})
	if err != nil {
		return err // the outcome may be missing
	}

	if isConfig { // a set-up or tear-down
		if c.Status == metric.Failed {
			n.AddBroken(class, c.Name+": "+c.Message)
		}
		return nil
	}

	if len(params) > 0 {
		c.Name += "[" + strings.Join(params, ", ") + "]"
	}
	if c.Status == metric.Passed {
		c.Message = "" // the exception was expected
	}
	n.addKnown(c, "status", word)
	return nil
}

// readTestNGParams returns the values of the parameters in the open element.
func readTestNGParams(x *xmlstream.Reader) (values []string, err error) {
	err = x.EachChild(func(xmlstream.Token) error {
		return x.EachChild(func(t xmlstream.Token) error {
			null := t.Value("is-null") == "true"
			value, err := readText(x)
			if null {
				value = "null"
			}
			values = append(values, value)
			return err
		})
	})
	return values, err
}

// readTestNGException returns the stack trace, which starts with the message. Without one it
// returns the class of the exception.
func readTestNGException(x *xmlstream.Reader, t xmlstream.Token) (string, error) {
	class, why := t.Value("class"), ""
	err := x.EachChild(func(t xmlstream.Token) (err error) {
		switch t.Name {
		case "message", "full-stacktrace", "short-stacktrace":
			why, err = readText(x)
		}
		return err
	})
	if why == "" {
		why = textstream.CleanText(class)
	}
	return why, err
}
