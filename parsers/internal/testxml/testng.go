package testxml

import (
	"io"
	"strings"
	"time"

	"supervise/internal/sniff"
	"supervise/internal/textstream"
	"supervise/internal/xmlstream"
	"supervise/metric"
	"supervise/parsers/internal/parsed"
)

var testngStatuses = map[string]metric.Status{
	"PASS": metric.Passed, "FAIL": metric.Failed, "SKIP": metric.Skipped, "SUCCESS_PERCENTAGE_FAILURE": metric.Failed,
}

func detectTestNG(h sniff.Head) bool { return h.HasRoot("testng-results") }

// testngReader reads the testng-results.xml of TestNG. The suite of a test is
// its class; the values of its parameters are part of its name.
type testngReader struct{ xmlSet }

func parseTestNG(r io.Reader) (parsed.Report, error) {
	n := &testngReader{}
	x, err := readRoot(r, "TestNG results", func(x *xmlstream.Reader, t xmlstream.Token) error {
		t.Attrs = append([]xmlstream.Attr{}, t.Attrs...)
		err := n.inside(x, "")
		if err == nil {
			n.declared(t, "passed", "tests passed", n.Totals.Passed)
			n.fails(t, "tests failed", []int{n.bad()}, "failed")
		}
		return err
	}, "testng-results")
	markRetried(n.Cases)
	return n.report(x, "testng"), err
}

// inside reads the test methods below the open element: suite, test, class.
func (n *testngReader) inside(x *xmlstream.Reader, class string) error {
	return x.EachChild(func(t xmlstream.Token) error {
		switch t.Name {
		case "suite", "test":
			return n.inside(x, class)
		case "class":
			return n.inside(x, t.Value("name"))
		case "test-method":
			return n.method(x, t, class)
		}
		return nil
	})
}

func (n *testngReader) method(x *xmlstream.Reader, t xmlstream.Token, class string) error {
	word, config := t.Value("status"), t.Value("is-config") == "true"
	c := metric.Test{
		ID:       metric.ID{Suite: class, Name: t.Value("name")},
		Status:   testngStatuses[word],
		Duration: time.Duration(declaredNumber(t, "duration-ms")) * time.Millisecond,
	}
	var params []string
	err := x.EachChild(func(t xmlstream.Token) (err error) {
		switch t.Name {
		case "params":
			params, err = testngParams(x)
		case "exception":
			c.Message, err = testngException(x, t)
		}
		return err
	})
	if err != nil {
		return err // its outcome may be in the part that is missing
	}
	if config { // a set up or tear down
		if c.Status == metric.Failed {
			n.Breaks(class, c.Name+": "+c.Message)
		}
		return nil
	}
	if len(params) > 0 {
		c.Name += "[" + strings.Join(params, ", ") + "]"
	}
	if c.Status == metric.Passed {
		c.Message = "" // an exception that was expected
	}
	n.addKnown(c, "status", word)
	return nil
}

func testngParams(x *xmlstream.Reader) (values []string, err error) {
	err = x.EachChild(func(xmlstream.Token) error {
		return x.EachChild(func(t xmlstream.Token) error {
			null := t.Value("is-null") == "true"
			value, err := clipped(x)
			if null {
				value = "null"
			}
			values = append(values, value)
			return err
		})
	})
	return values, err
}

// testngException reads the stack trace, which begins with the message.
func testngException(x *xmlstream.Reader, t xmlstream.Token) (string, error) {
	class, why := t.Value("class"), ""
	err := x.EachChild(func(t xmlstream.Token) (err error) {
		switch t.Name {
		case "message", "full-stacktrace", "short-stacktrace":
			why, err = clipped(x)
		}
		return err
	})
	if why == "" {
		why = textstream.CleanText(class)
	}
	return why, err
}
