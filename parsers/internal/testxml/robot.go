package testxml

import (
	"cmp"
	"io"
	"slices"
	"strings"

	"supervise/internal/regexp"
	"supervise/internal/sniff"
	"supervise/internal/textstream"
	"supervise/internal/xmlstream"
	"supervise/metric"
	"supervise/parsers/internal/parsed"
)

func detectRobot(h sniff.Head) bool { return h.HasRoot("robot") }

// robotReader reads the output.xml of Robot Framework. The suite of a test is its file, and
// the class the path of suites, as in the JSON output.
type robotReader struct {
	xmlSet
	tests        []metric.Test   // not yet added: the tear-down of their suite may still fail
	statedTotals xmlstream.Token // the element with the totals of all tests
	saysFailed   bool            // a suite has the status FAIL
}

// robotStatus is the status element of a suite, test or keyword: its word, its time in seconds,
// and its message.
type robotStatus struct{ status, took, why string }

// parseRobot reads an output.xml, and checks its totals.
func parseRobot(r io.Reader) (parsed.Report, error) {
	b := &robotReader{}
	x, err := readRoot(r, "Robot Framework output", func(x *xmlstream.Reader, _ xmlstream.Token) error {
		return readElements(x, map[string]any{
			"suite": func(t xmlstream.Token) error { return b.readSuite(x, t, "") },
			"statistics": func(xmlstream.Token) error {
				return x.EachChild(func(xmlstream.Token) error { return b.readStatistics(x) })
			},
			"errors": func(xmlstream.Token) error { return x.EachChild(func(xmlstream.Token) error { return b.readError(x) }) },
		})
	}, "robot")
	for _, t := range b.tests {
		b.Add(t)
	}
	if err == nil {
		b.checkTotal(b.statedTotals, "pass", "tests passed", b.Totals.Passed)
		b.checkFailures(b.statedTotals, "tests failed", []int{b.Totals.Unsuccessful()}, "fail")
		if b.saysFailed && b.Totals.Unsuccessful() == 0 {
			b.AddContradiction("a suite says FAIL although no test failed")
		}
	}
	return b.report(x, "robot"), err
}

// readSuite reads a suite with its tests and suites. Path has the names of the suites around
// it.
func (r *robotReader) readSuite(x *xmlstream.Reader, t xmlstream.Token, path string) error {
	path = strings.TrimPrefix(path+suiteSeparator+t.Value("name"), suiteSeparator)
	file := textstream.CleanName(t.Value("source"))
	first := len(r.tests)
	if resultFile := t.Value("src"); resultFile != "" { // a split output of Robot Framework 2
		r.AddBroken(cmp.Or(file, path), "its results are in another file, "+resultFile)
	}
	var end robotStatus
	err := readElements(x, map[string]any{
		"suite":  func(t xmlstream.Token) error { return r.readSuite(x, t, path) },
		"test":   func(t xmlstream.Token) error { return r.readTest(x, t, path, file) },
		"kw":     func(xmlstream.Token) error { return r.readFixture(x, cmp.Or(file, path)) },
		"status": func(t xmlstream.Token) error { return end.read(x, t) },
	})
	r.saysFailed = r.saysFailed || end.status == "FAIL"
	if at := strings.Index(end.why, "uite teardown failed"); err == nil && at >= 0 {
		r.failTests(first, end.why[max(0, at-1):])
	}
	return err
}

// readFixture reads a keyword of a suite: its set-up or tear-down.
func (r *robotReader) readFixture(x *xmlstream.Reader, suite string) error {
	return readElements(x, map[string]any{"status": func(t xmlstream.Token) error {
		var end robotStatus
		err := end.read(x, t)
		if end.status == "FAIL" {
			r.AddBroken(suite, end.why)
		}
		return err
	}})
}

// readStatistics reads the totals of all tests, and skips other statistics.
func (r *robotReader) readStatistics(x *xmlstream.Reader) error {
	return x.EachChild(func(t xmlstream.Token) error {
		t.Attrs = slices.Clone(t.Attrs)
		name, err := readText(x)
		if name == "All Tests" {
			r.statedTotals = t
		}
		return err
	})
}

// failTests marks the tests from first on as failed because the tear-down of their suite
// failed. Robot Framework counts them in the same way.
func (r *robotReader) failTests(first int, why string) {
	for i := first; i < len(r.tests); i++ {
		if t := &r.tests[i]; t.Status != metric.Skipped {
			t.Status = metric.Failed
			t.Message = textstream.ClipText(strings.TrimSpace(t.Message + "\n" + why))
		}
	}
}

// readTest reads a test of the suite with the path and file.
func (r *robotReader) readTest(x *xmlstream.Reader, t xmlstream.Token, path, file string) error {
	c := metric.Test{ID: metric.ID{Suite: cmp.Or(file, path), Class: path, Name: t.Value("name")}, File: file, Line: parseNumber(t.Value("line"))}
	var end robotStatus
	err := readElements(x, map[string]any{"status": func(t xmlstream.Token) error { return end.read(x, t) }})
	if err != nil {
		return err // the outcome may be missing
	}
	c.Status, c.Duration = parsed.RobotStatus(end.status), parseTime(end.took)
	if c.Status != metric.Passed {
		c.Message = end.why
	}
	r.tests = append(r.tests, c)
	return nil
}

// read reads the open status element.
func (s *robotStatus) read(x *xmlstream.Reader, t xmlstream.Token) (err error) {
	s.status, s.took = t.Value("status"), t.Value("elapsed")
	s.why, err = readText(x)
	return err
}

// robotParseErrorPattern matches the error of a file that could not be parsed: "Parsing
// 'a.robot' failed: …".
var robotParseErrorPattern = regexp.MustCompile(`^Parsing '(.+)' failed: `)

// readError reads an error outside of tests. It breaks the file that could not be parsed, and
// otherwise is a problem.
func (r *robotReader) readError(x *xmlstream.Reader) error {
	why, err := readText(x)
	if m := robotParseErrorPattern.FindStringSubmatch(why); m != nil {
		r.AddBroken(m[1], why)
	} else if why != "" {
		r.Problems.Add("Robot Framework says: %s", textstream.FirstLine(why))
	}
	return err
}
