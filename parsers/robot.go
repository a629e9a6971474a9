package parsers

import (
	"io"
	"regexp"
	"strings"

	"supervise/internal/sniff"
	"supervise/internal/textstream"
	"supervise/internal/xmlstream"
	"supervise/metric"
)

var robotStatuses = map[string]metric.Status{
	"PASS": metric.Passed, "FAIL": metric.Failed, "SKIP": metric.Skipped, "NOT RUN": metric.Skipped, "NOT_RUN": metric.Skipped,
}

func detectRobot(h sniff.Head) bool { return h.XML("robot") }

// robotReader reads the output.xml of Robot Framework. The suite of a test is
// the file it stands in.
type robotReader struct {
	testSet
	tests []metric.Test // not yet added: the tear down of a suite may still fail
}

// robotStatus is the outcome of a suite or test.
type robotStatus struct {
	status metric.Status
	word   string
	took   string
	why    string
}

func parseRobot(r io.Reader) (Report, error) {
	b := &robotReader{}
	x, err := readXML(r, "Robot Framework output", func(x *xmlstream.Reader, t xmlstream.Token) (bool, error) {
		if t.Name != "robot" {
			return false, nil
		}
		return true, x.Children(func(t xmlstream.Token) error {
			switch t.Name {
			case "suite":
				return b.suite(x, t, "")
			case "errors":
				return x.Children(func(xmlstream.Token) error { return b.error(x) })
			}
			return nil
		})
	})
	for _, t := range b.tests {
		b.add(t)
	}
	return b.report(x, "robot"), err
}

func (b *robotReader) suite(x *xmlstream.Reader, t xmlstream.Token, path string) error {
	path = strings.TrimPrefix(path+within+attr(t, "name"), within)
	file := textstream.CleanName(attr(t, "source"))
	first := len(b.tests)
	var end robotStatus
	err := x.Children(func(t xmlstream.Token) (err error) {
		switch t.Name {
		case "suite":
			err = b.suite(x, t, path)
		case "test":
			err = b.test(x, t, path, file)
		case "status":
			end, err = readRobotStatus(x, t)
		}
		return err
	})
	if at := strings.Index(end.why, "uite teardown failed"); err == nil && at >= 0 {
		b.tornDown(first, end.why[max(0, at-1):])
	}
	if err == nil && end.status == metric.Failed && first == len(b.tests) && end.why != "" {
		b.breaks(orPath(file, path), end.why)
	}
	return err
}

func orPath(file, path string) string {
	if file != "" {
		return file
	}
	return path
}

// tornDown makes the tests of a suite fail whose tear down did, as Robot
// Framework itself counts them.
func (b *robotReader) tornDown(first int, why string) {
	for i := first; i < len(b.tests); i++ {
		if t := &b.tests[i]; t.Status != metric.Skipped {
			t.Status = metric.Failed
			t.Message = textstream.Clipped(strings.TrimSpace(t.Message + "\n" + why))
		}
	}
}

func (b *robotReader) test(x *xmlstream.Reader, t xmlstream.Token, path, file string) error {
	c := metric.Test{ID: metric.ID{Suite: orPath(file, path), Name: attr(t, "name")}, File: file, Line: junitLine(attr(t, "line"))}
	var end robotStatus
	err := x.Children(func(t xmlstream.Token) (err error) {
		if t.Name == "status" {
			end, err = readRobotStatus(x, t)
		}
		return err
	})
	if err != nil {
		return err // what the test came to may stand in what is missing
	}
	c.Status, c.Message, c.Duration = end.status, end.why, junitTime(end.took)
	if c.Status == 0 {
		c.Status = metric.Errored
		b.problems.Add("test %q has the status %q, which nobody knows: it counts as an error", c.Name, end.word)
	}
	b.tests = append(b.tests, c)
	return nil
}

func readRobotStatus(x *xmlstream.Reader, t xmlstream.Token) (robotStatus, error) {
	s := robotStatus{word: attr(t, "status"), took: attr(t, "elapsed")}
	s.status = robotStatuses[s.word]
	var err error
	s.why, err = clipped(x)
	return s, err
}

var robotUnread = regexp.MustCompile(`^Parsing '(.+)' failed: `)

// error reads what went wrong outside of tests.
func (b *robotReader) error(x *xmlstream.Reader) error {
	why, err := clipped(x)
	if m := robotUnread.FindStringSubmatch(why); m != nil {
		b.breaks(m[1], why)
	} else if why != "" {
		b.problems.Add("Robot Framework says: %s", textstream.FirstLine(why))
	}
	return err
}
