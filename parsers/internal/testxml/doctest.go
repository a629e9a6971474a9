package testxml

import (
	"io"
	"path"
	"strconv"

	"supervise/internal/sniff"
	"supervise/internal/textstream"
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

// doctestAssertions names the elements of doctest with failures.
var doctestAssertions = assertionElements{nested: []string{"SubCase", "Message"}, texts: []string{"Exception", "Text"}}

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
	id.Name = t.Value("name")
	test := metric.Test{
		ID: id, File: textstream.CleanName(t.Value("filename")), Line: parseNumber(t.Value("line")),
		Status: metric.Errored, // stays if the program crashed
	}

	var why textstream.Clip
	ended := false
	err := x.EachChild(func(t xmlstream.Token) error {
		if t.Name != "OverallResultsAsserts" {
			return doctestAssertions.addFailure(x, t, &why)
		}
		ended = true
		test.Duration = parseTime(t.Value("duration"))
		success, isStated := t.Attr("test_case_success") // since 2.4.8
		if !isStated {
			success = strconv.FormatBool(numberAttr(t, "failures") == 0)
		}

		test.Status = metric.Failed
		if success == "true" {
			test.Status = metric.Passed
		}
		return nil
	})

	switch {
	case err != nil:
		return err // the outcome may be missing
	case t.Value("skipped") == "true":
		test.Status = metric.Skipped
	case !ended:
		why.Add("\nthe test has no result")
	}

	if test.Status != metric.Passed {
		test.Message = why.String()
	}
	d.Add(test)
	return nil
}
