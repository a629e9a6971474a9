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

// robotReader reads the output.xml of Robot Framework. The suite of a test is
// its file, the class the path of suites, as in the JSON.
type robotReader struct {
	xmlSet
	tests  []metric.Test   // not yet added: the tear down of a suite may still fail
	all    xmlstream.Token // the numbers that the report says of itself
	failed bool            // a suite says that it did
}

// robotEnd is the outcome of a suite, test or keyword.
type robotEnd struct{ status, took, why string }

func parseRobot(r io.Reader) (parsed.Report, error) {
	b := &robotReader{}
	x, err := readRoot(r, "Robot Framework output", func(x *xmlstream.Reader, _ xmlstream.Token) error {
		return children(x, map[string]any{
			"suite": func(t xmlstream.Token) error { return b.suite(x, t, "") },
			"statistics": func(xmlstream.Token) error {
				return x.EachChild(func(xmlstream.Token) error { return b.statistics(x) })
			},
			"errors": func(xmlstream.Token) error { return x.EachChild(func(xmlstream.Token) error { return b.error(x) }) },
		})
	}, "robot")
	for _, t := range b.tests {
		b.Add(t)
	}
	if err == nil {
		b.declared(b.all, "pass", "tests passed", b.Totals.Passed)
		b.fails(b.all, "tests failed", []int{b.bad()}, "fail")
		if b.failed && b.bad() == 0 {
			b.Contradicts("a suite says FAIL although no test failed")
		}
	}
	return b.report(x, "robot"), err
}

func (b *robotReader) suite(x *xmlstream.Reader, t xmlstream.Token, path string) error {
	path = strings.TrimPrefix(path+within+t.Value("name"), within)
	file := textstream.CleanName(t.Value("source"))
	first := len(b.tests)
	if other := t.Value("src"); other != "" { // split by Robot Framework 2
		b.Breaks(cmp.Or(file, path), "its results are in another file, "+other)
	}
	var end robotEnd
	err := children(x, map[string]any{
		"suite":  func(t xmlstream.Token) error { return b.suite(x, t, path) },
		"test":   func(t xmlstream.Token) error { return b.test(x, t, path, file) },
		"kw":     func(xmlstream.Token) error { return b.fixture(x, cmp.Or(file, path)) },
		"status": func(t xmlstream.Token) error { return end.read(x, t) },
	})
	b.failed = b.failed || end.status == "FAIL"
	if at := strings.Index(end.why, "uite teardown failed"); err == nil && at >= 0 {
		b.tornDown(first, end.why[max(0, at-1):])
	}
	return err
}

// fixture reads a keyword of a suite: its set up or tear down.
func (b *robotReader) fixture(x *xmlstream.Reader, suite string) error {
	return children(x, map[string]any{"status": func(t xmlstream.Token) error {
		var end robotEnd
		err := end.read(x, t)
		if end.status == "FAIL" {
			b.Breaks(suite, end.why)
		}
		return err
	}})
}

// statistics reads the numbers of all tests, which are among others.
func (b *robotReader) statistics(x *xmlstream.Reader) error {
	return x.EachChild(func(t xmlstream.Token) error {
		t.Attrs = slices.Clone(t.Attrs)
		name, err := clipped(x)
		if name == "All Tests" {
			b.all = t
		}
		return err
	})
}

// tornDown makes the tests of a suite fail whose tear down did, as Robot
// Framework itself counts them.
func (b *robotReader) tornDown(first int, why string) {
	for i := first; i < len(b.tests); i++ {
		if t := &b.tests[i]; t.Status != metric.Skipped {
			t.Status = metric.Failed
			t.Message = textstream.ClipText(strings.TrimSpace(t.Message + "\n" + why))
		}
	}
}

func (b *robotReader) test(x *xmlstream.Reader, t xmlstream.Token, path, file string) error {
	c := metric.Test{ID: metric.ID{Suite: cmp.Or(file, path), Class: path, Name: t.Value("name")}, File: file, Line: junitLine(t.Value("line"))}
	var end robotEnd
	err := children(x, map[string]any{"status": func(t xmlstream.Token) error { return end.read(x, t) }})
	if err != nil {
		return err // its outcome may be in the part that is missing
	}
	c.Status, c.Duration = parsed.RobotStatus(end.status), junitTime(end.took)
	if c.Status != metric.Passed {
		c.Message = end.why
	}
	b.tests = append(b.tests, c)
	return nil
}

func (end *robotEnd) read(x *xmlstream.Reader, t xmlstream.Token) (err error) {
	end.status, end.took = t.Value("status"), t.Value("elapsed")
	end.why, err = clipped(x)
	return err
}

var robotUnread = regexp.MustCompile(`^Parsing '(.+)' failed: `)

// error reads what went wrong outside of tests.
func (b *robotReader) error(x *xmlstream.Reader) error {
	why, err := clipped(x)
	if m := robotUnread.FindStringSubmatch(why); m != nil {
		b.Breaks(m[1], why)
	} else if why != "" {
		b.Problems.Add("Robot Framework says: %s", textstream.FirstLine(why))
	}
	return err
}
