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

// catch2Reader reads the XML of Catch2, versions 2 and 3. A test case counts once, whatever
// sections it has. The suite is the program.
type catch2Reader struct {
	xmlSet
	statedFailures int // number of failed assertions or test cases
}

// catch2Assertions names the elements of Catch2 with failures.
var catch2Assertions = assertionElements{
	nested: []string{"Section", "BenchmarkResults"},
	texts:  []string{"Exception", "Failure", "FatalErrorCondition", "Skip"},
}

// parseCatch2 reads the XML of Catch2.
func parseCatch2(r io.Reader) (parsed.Report, error) {
	c := &catch2Reader{}
	x, err := readRoot(r, "Catch2 XML", func(x *xmlstream.Reader, t xmlstream.Token) error {
		return c.readChildren(x, t.Value("name"))
	}, "Catch", "Catch2TestRun")
	if c.statedFailures > 0 && c.Totals.Unsuccessful() == 0 {
		c.CheckFailures("assertions or test cases failed", float64(c.statedFailures), 0)
	}
	return c.report(x, "catch2"), err
}

// readChildren reads the test cases of a program, which version 2 has in a group.
func (c *catch2Reader) readChildren(x *xmlstream.Reader, program string) error {
	return x.EachChild(func(t xmlstream.Token) error {
		switch t.Name {
		case "Group":
			return c.readChildren(x, program)
		case "OverallResults", "OverallResultsCases":
			c.statedFailures = max(c.statedFailures, numberAttr(t, "failures"))
		case "TestCase":
			return c.readTest(x, t, program)
		}
		return nil
	})
}

// readTest reads a test case.
func (c *catch2Reader) readTest(x *xmlstream.Reader, t xmlstream.Token, program string) error {
	test := metric.Test{
		ID:   metric.ID{Suite: program, Name: t.Value("name")},
		File: textstream.CleanName(t.Value("filename")), Line: parseNumber(t.Value("line")),
		Status: metric.Errored, // stays if the program crashed
	}

	var why textstream.Clip
	ended := false
	err := x.EachChild(func(t xmlstream.Token) error {
		if t.Name != "OverallResult" {
			return catch2Assertions.addFailure(x, t, &why)
		}
		ended = true
		test.Duration = parseTime(t.Value("durationInSeconds"))
		switch success := t.Value("success") == "true"; {
		case !success:
			test.Status = metric.Failed
		case numberAttr(t, "skips") > 0:
			test.Status = metric.Skipped
		default:
			test.Status = metric.Passed
		}
		return nil
	})
	if err != nil {
		return err // the outcome may be missing
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

// assertionElements names the elements in which Catch2 and doctest report why a test failed.
type assertionElements struct {
	nested []string // contain such elements
	texts  []string // have the reason as their text
}

// addFailure adds the reason in an element to why. Elements without a failure add nothing.
func (a assertionElements) addFailure(x *xmlstream.Reader, t xmlstream.Token, why *textstream.Clip) error {
	switch {
	case slices.Contains(a.nested, t.Name):
		return x.EachChild(func(t xmlstream.Token) error { return a.addFailure(x, t, why) })
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

// addLine adds the text of the open element to c as one line.
func addLine(x *xmlstream.Reader, c *textstream.Clip) error {
	text, err := readText(x)
	c.Add(text + "\n")
	return err
}
