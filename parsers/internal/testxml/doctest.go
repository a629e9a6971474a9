package testxml

import (
	"io"
	"path"
	"strconv"

	"supervise/internal/sniff"
	"supervise/internal/xmlstream"
	"supervise/metric"
	"supervise/parsers/internal/parsed"
)

func detectDoctest(h sniff.Head) bool { return h.HasRoot("doctest") }

// doctestReader reads the XML of doctest. A test case counts once, whatever subcases it
// has. The suite is the program.
type doctestReader struct {
	xmlSet
	statedFailures int // number of failed test cases
}

// doctestCases names the elements in a test case of doctest.
var doctestCases = caseElements{
	nested: []string{"SubCase", "Message"}, texts: []string{"Exception", "Text"}, result: "OverallResultsAsserts",
}

// parseDoctest reads the XML of doctest.
func parseDoctest(r io.Reader) (parsed.Report, error) {
	d := &doctestReader{}
	d.NumberRepeats = true // several files may have tests of one name
	x, err := readRoot(r, "doctest XML", func(x *xmlstream.Reader, t xmlstream.Token) error {
		return d.readChildren(x, metric.ID{Suite: path.Base(parsed.ToSlash(t.Value("binary")))})
	}, "doctest")
	if d.statedFailures > 0 {
		d.CheckFailures("test cases failed", float64(d.statedFailures), d.Totals.Unsuccessful())
	}
	return d.report(x, "doctest"), err
}

// readChildren reads the suites and test cases in the open element. Parent has the suite and
// class of their tests.
func (d *doctestReader) readChildren(x *xmlstream.Reader, parent metric.ID) error {
	return x.EachChild(func(t xmlstream.Token) error {
		switch t.Name {
		case "TestSuite":
			return d.readChildren(x, metric.ID{Suite: parent.Suite, Class: t.Value("name")})
		case "OverallResultsTestCases":
			d.statedFailures = numberAttr(t, "failures")
		case "TestCase":
			return d.readTest(x, t, parent)
		}
		return nil
	})
}

// readTest reads a test case. Id has its suite and class.
func (d *doctestReader) readTest(x *xmlstream.Reader, t xmlstream.Token, id metric.ID) error {
	test, err := doctestCases.read(x, t, id, func(test *metric.Test, result xmlstream.Token) {
		test.Duration = parseTime(result.Value("duration"))
		success, isStated := result.Attr("test_case_success") // since 2.4.8
		if !isStated {
			success = strconv.FormatBool(numberAttr(result, "failures") == 0)
		}
		test.Status = metric.Failed
		if success == "true" {
			test.Status = metric.Passed
		}
	})
	if err == nil { // otherwise the outcome may be missing
		d.Add(test)
	}
	return err
}
