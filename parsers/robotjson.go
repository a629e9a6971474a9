package parsers

import (
	"cmp"
	"io"
	"time"

	"supervise/internal/jsonstream"
	"supervise/internal/sniff"
	"supervise/metric"
)

// robotSuite is one suite of the JSON output of Robot Framework 7. Its name
// stands behind what it holds.
type robotSuite struct {
	name, source    text
	suites          []*robotSuite
	setup, teardown robotStep
	tests           []robotTest
}

// robotTest is one test without its keywords.
type robotTest struct {
	Name    text   `json:"name"`
	Status  string `json:"status"`
	Message text   `json:"message"`
	Line    number `json:"lineno"`
	Elapsed number `json:"elapsed_time"` // seconds
}

type robotStep struct {
	Status  string `json:"status"`
	Message text   `json:"message"`
}

func detectRobotJSON(h sniff.Head) bool {
	return h.JSON("generator", "suite.id") && (h.JSON("rpa") || h.JSON("suite.tests") || h.JSON("suite.suites"))
}

func parseRobotJSON(r io.Reader) (Report, error) {
	s := &outcomes{}
	return s.documents(r, "robot", func(j *jsonstream.Reader) error {
		var root *robotSuite
		var sums struct {
			Total struct {
				Fail *number `json:"fail"`
			} `json:"total"`
		}
		before := s.totals
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
			return otherShape(j, "this is no output of Robot Framework: it has no suite")
		}
		root.add(s, nil)
		if n := sums.Total.Fail; n != nil {
			s.declares("failed tests", float64(*n), s.totals.Failed-before.Failed)
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

func (suite *robotSuite) add(s *outcomes, path []string) {
	path = append(path[:len(path):len(path)], string(suite.name))
	class := describePath(path...)
	file := string(cmp.Or(suite.source, text(class)))
	for _, t := range suite.tests {
		out := metric.Test{
			ID:     metric.ID{Suite: file, Class: class, Name: string(t.Name)},
			Status: robotStatus(t.Status), Duration: t.Elapsed.in(time.Second),
			File: string(suite.source), Line: t.Line.whole(),
		}
		if out.Status != metric.Passed {
			out.Message = string(t.Message)
		}
		s.add(out)
	}
	for _, step := range []robotStep{suite.setup, suite.teardown} {
		if step.Status == "FAIL" {
			s.breaks(file, string(step.Message))
		}
	}
	for _, inner := range suite.suites {
		inner.add(s, path)
	}
}

// robotStatus returns what the word means. What did not run was skipped by the
// run: it was a dry run, or the run was stopped.
func robotStatus(word string) metric.Status {
	switch word {
	case "PASS":
		return metric.Passed
	case "FAIL":
		return metric.Failed
	case "SKIP", "NOT RUN", "NOT SET":
		return metric.Skipped
	}
	return metric.Errored
}
