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

// catch2Cases names the elements in a test case of Catch2.
var catch2Cases = caseElements{
	nested: []string{"Section", "BenchmarkResults"},
	texts:  []string{"Exception", "Failure", "FatalErrorCondition", "Skip"},
	result: "OverallResult",
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
	test, err := catch2Cases.read(x, t, metric.ID{Suite: program}, func(test *metric.Test, result xmlstream.Token) {
		test.Duration = parseTime(result.Value("durationInSeconds"))
		switch success := result.Value("success") == "true"; {
		case !success:
			test.Status = metric.Failed
		case numberAttr(result, "skips") > 0:
			test.Status = metric.Skipped
		default:
			test.Status = metric.Passed
		}
	})
	if err == nil { // otherwise the outcome may be missing
		c.Add(test)
	}
	return err
}

// caseElements names the elements in a test case of Catch2 or doctest.
type caseElements struct {
	nested []string // contain elements with reasons
	texts  []string // have the reason for a failure as their text
	result string   // has the outcome; without it the program crashed
}

// read reads a test case. The identity has everything but its name. Finish sets the status and
// duration of the test from the element with its outcome.
func (c caseElements) read(x *xmlstream.Reader, t xmlstream.Token, id metric.ID, finish func(*metric.Test, xmlstream.Token)) (metric.Test, error) {
	id.Name = t.Value("name")
	test := metric.Test{ID: id, File: textstream.CleanName(t.Value("filename")), Line: parseNumber(t.Value("line"))}
	isSkipped := t.Value("skipped") == "true" // of doctest
	var why textstream.Clip
	err := x.EachChild(func(t xmlstream.Token) error {
		if t.Name != c.result {
			return c.addFailure(x, t, &why)
		}
		finish(&test, t)
		return nil
	})
	switch {
	case isSkipped:
		test.Status = metric.Skipped
	case test.Status == 0:
		test.Status = metric.Errored
		why.Add("\nthe test has no result")
	}
	if test.Status != metric.Passed {
		test.Message = why.String()
	}
	return test, err
}

// addFailure adds the reason in an element to why. Elements without a failure add nothing.
func (c caseElements) addFailure(x *xmlstream.Reader, t xmlstream.Token, why *textstream.Clip) error {
	switch {
	case slices.Contains(c.nested, t.Name):
		return x.EachChild(func(t xmlstream.Token) error { return c.addFailure(x, t, why) })
	case slices.Contains(c.texts, t.Name):
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
