package testxml

import (
	"io"
	"slices"

	"supervise/internal/sniff"
	"supervise/internal/textstream"
	"supervise/internal/xmlstream"
	"supervise/metric"
	"supervise/parsers/internal/parsed"
)

func detectCatch2(h sniff.Head) bool { return h.HasRoot("Catch", "Catch2TestRun") }

// catch2Reader reads the XML of Catch2, versions 2 and 3. A test case counts
// once, whatever sections it has; the suite is the program.
type catch2Reader struct {
	xmlSet
	stated int // failed assertions or test cases, as the totals say
}

var catch2Says = assertions{
	nested: []string{"Section", "BenchmarkResults"},
	texts:  []string{"Exception", "Failure", "FatalErrorCondition", "Skip"},
}

func parseCatch2(r io.Reader) (parsed.Report, error) {
	c := &catch2Reader{}
	x, err := readRoot(r, "Catch2 XML", func(x *xmlstream.Reader, t xmlstream.Token) error {
		return c.inside(x, t.Value("name"))
	}, "Catch", "Catch2TestRun")
	if c.stated > 0 && c.bad() == 0 {
		c.Fails("assertions or test cases failed", float64(c.stated), 0)
	}
	return c.report(x, "catch2"), err
}

func (c *catch2Reader) inside(x *xmlstream.Reader, program string) error {
	return x.EachChild(func(t xmlstream.Token) error {
		switch t.Name {
		case "Group":
			return c.inside(x, program)
		case "OverallResults", "OverallResultsCases":
			c.stated = max(c.stated, declaredNumber(t, "failures"))
		case "TestCase":
			return c.test(x, t, program)
		}
		return nil
	})
}

func (c *catch2Reader) test(x *xmlstream.Reader, t xmlstream.Token, program string) error {
	test := metric.Test{
		ID:   metric.ID{Suite: program, Name: t.Value("name")},
		File: textstream.CleanName(t.Value("filename")), Line: junitLine(t.Value("line")),
		Status: metric.Errored, // a crash leaves no result
	}
	var why textstream.Clip
	ended := false
	err := x.EachChild(func(t xmlstream.Token) error {
		if t.Name != "OverallResult" {
			return catch2Says.failure(x, t, &why)
		}
		ended = true
		test.Duration = junitTime(t.Value("durationInSeconds"))
		switch success := t.Value("success") == "true"; {
		case !success:
			test.Status = metric.Failed
		case declaredNumber(t, "skips") > 0:
			test.Status = metric.Skipped
		default:
			test.Status = metric.Passed
		}
		return nil
	})
	if err != nil {
		return err // its outcome may be in the part that is missing
	}
	if !ended {
		why.Add("\nthe test has no result")
	}
	if test.Status != metric.Passed {
		test.Message = why.String()
	}
	c.Add(test)
	return nil
}

// assertions are the names of elements in which Catch2, and doctest after it, say why a
// test failed.
type assertions struct {
	nested []string // have others in them
	texts  []string
}

// failure adds what an element says.
func (a assertions) failure(x *xmlstream.Reader, t xmlstream.Token, why *textstream.Clip) error {
	switch {
	case slices.Contains(a.nested, t.Name):
		return x.EachChild(func(t xmlstream.Token) error { return a.failure(x, t, why) })
	case slices.Contains(a.texts, t.Name):
		return addLine(x, why)
	case t.Name != "Expression" || t.Value("success") == "true":
		return nil
	}
	why.Add(textstream.CleanText(t.Value("filename") + ":" + t.Value("line") + ": "))
	return x.EachChild(func(t xmlstream.Token) error {
		if t.Name == "Expanded" || t.Name == "Exception" {
			return addLine(x, why)
		}
		return nil
	})
}

func addLine(x *xmlstream.Reader, c *textstream.Clip) error {
	text, err := clipped(x)
	c.Add(text + "\n")
	return err
}
