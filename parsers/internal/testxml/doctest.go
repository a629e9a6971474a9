package testxml

import (
	"io"
	"path"

	"supervise/internal/sniff"
	"supervise/internal/textstream"
	"supervise/internal/xmlstream"
	"supervise/metric"
	"supervise/parsers/internal/parsed"
)

func detectDoctest(h sniff.Head) bool { return h.HasRoot("doctest") }

// doctestReader reads the XML of doctest. A test case counts once, whatever subcases it
// has; the suite is the program.
type doctestReader struct {
	xmlSet
	stated int // failed test cases, as the totals say
}

var doctestSays = assertions{nested: []string{"SubCase", "Message"}, texts: []string{"Exception", "Text"}}

func parseDoctest(r io.Reader) (parsed.Report, error) {
	d := &doctestReader{}
	d.Several = true // tests of one name may be in several files
	x, err := readRoot(r, "doctest XML", func(x *xmlstream.Reader, t xmlstream.Token) error {
		return d.inside(x, metric.ID{Suite: path.Base(parsed.Slashed(t.Value("binary")))})
	}, "doctest")
	if d.stated > 0 {
		d.Fails("test cases failed", float64(d.stated), d.bad())
	}
	return d.report(x, "doctest"), err
}

func (d *doctestReader) inside(x *xmlstream.Reader, in metric.ID) error {
	return x.EachChild(func(t xmlstream.Token) error {
		switch t.Name {
		case "TestSuite":
			return d.inside(x, metric.ID{Suite: in.Suite, Class: t.Value("name")})
		case "OverallResultsTestCases":
			d.stated = declaredNumber(t, "failures")
		case "TestCase":
			return d.test(x, t, in)
		}
		return nil
	})
}

func (d *doctestReader) test(x *xmlstream.Reader, t xmlstream.Token, in metric.ID) error {
	in.Name = t.Value("name")
	test := metric.Test{
		ID: in, File: textstream.CleanName(t.Value("filename")), Line: junitLine(t.Value("line")),
		Status: metric.Errored, // a crash leaves no result
	}
	var why textstream.Clip
	ended := false
	err := x.EachChild(func(t xmlstream.Token) error {
		if t.Name != "OverallResultsAsserts" {
			return doctestSays.failure(x, t, &why)
		}
		ended = true
		test.Duration = junitTime(t.Value("duration"))
		switch success, stated := t.Attr("test_case_success"); { // 2.4.7 and earlier do not have it
		case success == "true" || !stated && declaredNumber(t, "failures") == 0:
			test.Status = metric.Passed
		default:
			test.Status = metric.Failed
		}
		return nil
	})
	switch {
	case err != nil:
		return err // its outcome may be in the part that is missing
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
