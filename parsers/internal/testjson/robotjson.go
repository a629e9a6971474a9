package testjson

import (
	"cmp"
	"io"
	"time"

	"supervise/internal/jsonstream"
	"supervise/internal/sniff"
	"supervise/metric"
	"supervise/parsers/internal/parsed"
)

// robotSuite is one suite of the JSON output of Robot Framework 7. Its name
// stands behind what it holds.
type robotSuite struct {
	name, source    parsed.AnyText
	suites          []*robotSuite
	setup, teardown robotStep
	tests           []robotTest
}

// robotTest is one test without its keywords.
type robotTest struct {
	Name    parsed.AnyText   `json:"name"`
	Status  string           `json:"status"`
	Message parsed.AnyText   `json:"message"`
	Line    parsed.AnyNumber `json:"lineno"`
	Elapsed parsed.AnyNumber `json:"elapsed_time"` // seconds
}

type robotStep struct {
	Status  string         `json:"status"`
	Message parsed.AnyText `json:"message"`
}

func detectRobotJSON(h sniff.Head) bool {
	return h.JSON("generator", "suite.id") && (h.JSON("rpa") || h.JSON("suite.tests") || h.JSON("suite.suites"))
}

func parseRobotJSON(r io.Reader) (parsed.Report, error) {
	s := &parsed.Outcomes{}
	return s.Documents(r, "robot", func(j *jsonstream.Reader) error {
		var root *robotSuite
		var sums struct {
			Total struct {
				Fail *parsed.AnyNumber `json:"fail"`
			} `json:"total"`
		}
		before := s.Totals
		err := j.Object(func(name string) error {
			switch name {
			case "suite":
				root = &robotSuite{}
				return root.read(j)
			case "statistics":
				return j.Value(&sums)
			}
			return j.Skip()
		})
		switch {
		case err != nil:
			return err
		case root == nil:
			return parsed.OtherShape(j, "this is no output of Robot Framework: it has no suite")
		}
		root.add(s, nil)
		if n := sums.Total.Fail; n != nil {
			s.Declares("failed tests", float64(*n), s.Totals.Failed-before.Failed)
		}
		return nil
	})
}

func (suite *robotSuite) read(j *jsonstream.Reader) error {
	return j.Object(func(name string) error {
		switch name {
		case "name":
			return j.Value(&suite.name)
		case "source":
			return j.Value(&suite.source)
		case "setup":
			return j.Value(&suite.setup)
		case "teardown":
			return j.Value(&suite.teardown)
		case "suites":
			return j.Array(func() error {
				inner := &robotSuite{}
				suite.suites = append(suite.suites, inner)
				return inner.read(j)
			})
		case "tests":
			return j.Array(func() error {
				var t robotTest
				err := j.Value(&t)
				suite.tests = append(suite.tests, t)
				return err
			})
		}
		return j.Skip()
	})
}

func (suite *robotSuite) add(s *parsed.Outcomes, path []string) {
	path = append(path[:len(path):len(path)], string(suite.name))
	class := parsed.GroupPath(path...)
	file := string(cmp.Or(suite.source, parsed.AnyText(class)))
	for _, t := range suite.tests {
		out := metric.Test{
			ID:     metric.ID{Suite: file, Class: class, Name: string(t.Name)},
			Status: parsed.RobotStatus(t.Status), Duration: t.Elapsed.In(time.Second),
			File: string(suite.source), Line: t.Line.Whole(),
		}
		if out.Status != metric.Passed {
			out.Message = string(t.Message)
		}
		s.Add(out)
	}
	for _, step := range []robotStep{suite.setup, suite.teardown} {
		if step.Status == "FAIL" {
			s.Breaks(file, string(step.Message))
		}
	}
	for _, inner := range suite.suites {
		inner.add(s, path)
	}
}
