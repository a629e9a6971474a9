package testjson

import (
	"cmp"
	"time"

	"supervise/internal/jsonstream"
	"supervise/metric"
	"supervise/parsers/internal/parsed"
)

// robotSuite is one suite of the JSON output of Robot Framework 7. Its name
// follows its contents.
type robotSuite struct {
	name, source    parsed.AnyText
	status          string
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

func readRobotJSON(d *document) error {
	var root robotSuite
	var sums struct {
		Total struct {
			Fail *parsed.AnyNumber `json:"fail"`
		} `json:"total"`
	}
	err := d.members("Robot Framework", []string{"suite"}, map[string]any{"statistics": &sums, "suite": func() error { return root.read(d.Reader) }})
	if err != nil {
		return err
	}
	root.add(d.Outcomes, nil)
	n := d.counts()
	d.StatedFails("failed tests", sums.Total.Fail, n.Failed)
	if root.status == "FAIL" && n.Bad() == 0 {
		d.Contradicts("the suite %q says FAIL although no test failed", root.name)
	}
	return nil
}

func (suite *robotSuite) read(j *jsonstream.Reader) error {
	return parsed.Members(j, map[string]any{
		"name": &suite.name, "status": &suite.status, "source": &suite.source, "setup": &suite.setup, "teardown": &suite.teardown,
		"suites": func() error {
			return j.Array(func() error {
				inner := &robotSuite{}
				suite.suites = append(suite.suites, inner)
				return inner.read(j)
			})
		},
		"tests": parsed.Items(j, func(t robotTest) { suite.tests = append(suite.tests, t) }),
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
			File: string(suite.source), Line: t.Line.Int(),
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
