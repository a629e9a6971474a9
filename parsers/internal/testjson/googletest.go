package testjson

import (
	"cmp"
	"strings"
	"time"

	"supervise/metric"
	"supervise/parsers/internal/parsed"
)

// readGoogletest reads a report of --gtest_output=json, and checks its totals. Older versions
// call the list of tests of a suite testcase. The name of a test is "" for a failure outside of
// tests.
//
//	{"tests": 1, "failures": 1, "errors": 0, "testsuites": [{"name": "Calc", "testsuite": [{"name": "Adds",
//	 "status": "RUN", "result": "COMPLETED", "time": "0.01s", "classname": "Calc", "failures": [{"failure": "…"}]}]}]}
func readGoogletest(d *document) error {
	root, err := d.readObject(shape{
		tool: "googletest", required: []string{"testsuites"}, kept: []string{"tests", "failures", "errors"},
		lists: map[string]func(item){"testsuites": func(suite item) {
			for _, c := range append(suite.list("testsuite"), suite.list("testcase")...) {
				addGoogletest(d.Outcomes, c, suite.text("name"))
			}
		}},
	})
	if err != nil {
		return err
	}
	n := d.documentTotals()
	d.CheckTotal("tests", root.total("tests"), n.Tests)
	d.CheckFailures("failures", root.total("failures"), n.Unsuccessful())
	d.CheckFailures("errors", root.total("errors"), 0, n.Unsuccessful())
	return nil
}

// addGoogletest adds a test of the suite. A failure outside of its tests breaks the suite.
func addGoogletest(s *parsed.Outcomes, c item, suite string) {
	var failures []string
	for _, f := range c.list("failures") {
		failures = append(failures, f.text("failure"))
	}
	class := cmp.Or(c.text("classname"), suite)
	if c.text("name") == "" { // a failure in the set-up or tear-down of the suite or the program
		s.AddBroken(class, joinLines(failures...))
		return
	}
	t := metric.Test{
		ID:     metric.ID{Class: class, Name: c.text("name")},
		Status: metric.Passed, Duration: c.number("time").In(time.Second), File: c.text("file"), Line: c.integer("line"),
	}
	result := c.text("result")
	isSkipped := strings.EqualFold(c.text("status"), "NOTRUN") || result == "SKIPPED" || result == "SUPPRESSED" || len(c.list("skipped")) > 0
	switch {
	case len(failures) > 0:
		t.Status, t.Message = metric.Failed, joinLines(failures...)
	case isSkipped:
		t.Status, t.Message = metric.Skipped, c.text("skipped")
	}
	s.Add(t)
}
