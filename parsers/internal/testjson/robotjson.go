package testjson

import (
	"cmp"
	"time"

	"supervise/internal/jsonstream"
	"supervise/metric"
	"supervise/parsers/internal/parsed"
)

// robotSuite is one suite in the JSON output of Robot Framework 7. The output has its name
// after its tests.
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

// robotStep is a set-up or tear-down.
type robotStep struct {
	Status  string         `json:"status"`
	Message parsed.AnyText `json:"message"`
}

// readRobotJSON reads the output of Robot Framework 7, and checks its totals.
func readRobotJSON(d *document) error {
	var root robotSuite
	var sums struct {
		Total struct {
			Fail *parsed.AnyNumber `json:"fail"`
		} `json:"total"`
	}
	err := d.readMembers("Robot Framework", []string{"suite"}, map[string]any{"statistics": &sums, "suite": func() error { return root.read(d.Reader) }})
	if err != nil {
		return err
	}
	root.addTo(d.Outcomes, nil)
	n := d.documentTotals()
	d.CheckOptionalFailures("failed tests", sums.Total.Fail, n.Failed)
	if root.status == "FAIL" && n.Unsuccessful() == 0 {
		d.AddContradiction("the suite %q says FAIL although no test failed", root.name)
	}
	return nil
}

// read reads the next suite with the suites in it.
func (suite *robotSuite) read(j *jsonstream.Reader) error {
	return parsed.ReadMembers(j, map[string]any{
		"name": &suite.name, "status": &suite.status, "source": &suite.source, "setup": &suite.setup, "teardown": &suite.teardown,
		"suites": func() error {
			return j.Array(func() error {
				inner := &robotSuite{}
				suite.suites = append(suite.suites, inner)
				return inner.read(j)
			})
		},
		"tests": parsed.ItemReader(j, func(t robotTest) { suite.tests = append(suite.tests, t) }),
	})
}

// addTo adds the tests of the suite and of the suites in it. Path has the names of the suites
// around it. A failed set-up or tear-down breaks the file.
func (suite *robotSuite) addTo(s *parsed.Outcomes, path []string) {
	path = append(path[:len(path):len(path)], string(suite.name))
	class := parsed.JoinGroups(path...)
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
			s.AddBroken(file, string(step.Message))
		}
	}
	for _, inner := range suite.suites {
		inner.addTo(s, path)
	}
}
