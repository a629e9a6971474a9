package testjson

import (
	"cmp"
	"time"

	"supervise/metric"
	"supervise/parsers/internal/parsed"
)

// readRobotJSON reads the output of Robot Framework 7, and checks its totals.
//
//	{"suite": {"name": "Calc", "source": "/p/calc.robot", "status": "PASS", "setup": {"status": "PASS"}, "suites": [{…}],
//	 "tests": [{"name": "Adds", "status": "PASS", "message": "", "lineno": 3, "elapsed_time": 0.01}]},
//	 "statistics": {"total": {"fail": 0}}}
func readRobotJSON(d *document) error {
	root, err := d.readObject(shape{tool: "Robot Framework", required: []string{"suite"}, kept: []string{"suite", "statistics"}})
	if err != nil {
		return err
	}
	suite := root.at("suite")
	addRobotSuite(d.Outcomes, suite, nil)
	n := d.documentTotals()
	d.CheckFailures("failed tests", root.total("statistics.total.fail"), n.Failed)
	if suite.text("status") == "FAIL" && n.Unsuccessful() == 0 {
		d.AddContradiction("the suite %q says FAIL although no test failed", suite.text("name"))
	}
	return nil
}

// addRobotSuite adds the tests of the suite and of the suites in it. Path has the names of the
// suites around it. A failed set-up or tear-down breaks the file.
func addRobotSuite(s *parsed.Outcomes, suite item, path []string) {
	path = append(path[:len(path):len(path)], suite.text("name"))
	source, class := suite.text("source"), parsed.JoinGroups(path...)
	file := cmp.Or(source, class)
	for _, t := range suite.list("tests") {
		out := metric.Test{
			ID:     metric.ID{Suite: file, Class: class, Name: t.text("name")},
			Status: parsed.RobotStatus(t.text("status")), Duration: t.number("elapsed_time").In(time.Second), File: source, Line: t.integer("lineno"),
		}
		if out.Status != metric.Passed {
			out.Message = t.text("message")
		}
		s.Add(out)
	}
	for _, step := range []item{suite.at("setup"), suite.at("teardown")} {
		if step.text("status") == "FAIL" {
			s.AddBroken(file, step.text("message"))
		}
	}
	for _, inner := range suite.list("suites") {
		addRobotSuite(s, inner, path)
	}
}
