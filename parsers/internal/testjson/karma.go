package testjson

import (
	"strings"
	"time"

	"supervise/internal/regexp"
	"supervise/metric"
	"supervise/parsers/internal/parsed"
)

// readKarma reads a report with the tests of each browser, as karma-json-reporter and similar
// reporters write it, and checks its totals.
//
//	{"browsers": {"123": {"name": "Chrome 120.0 (Linux)", "lastResult": {"total": 1, "failed": 0}}},
//	 "result": {"123": [{"suite": ["calc"], "description": "adds", "success": true, "time": 5, "log": []}]},
//	 "summary": {"success": 1, "failed": 0, "skipped": 0}}
func readKarma(d *document) error {
	d.NumberRepeats = true
	names := []string{"result", "summary"}
	root, err := d.readObject(shape{tool: "karma", required: names, kept: append(names, "browsers")})
	if err != nil {
		return err
	}

	for id, tests := range root.members("result") {
		addKarmaBrowser(d.Outcomes, root.at("browsers").member(id), tests.list(""))
	}

	n, summary := d.documentTotals(), root.at("summary")
	d.CheckTotal("passed tests", summary.total("success"), n.Passed)
	d.CheckFailures("failed tests", summary.total("failed"), n.Failed)
	d.CheckTotal("skipped tests", summary.total("skipped"), n.Skipped)
	hasError := summary.isTrue("error") || summary.isTrue("disconnected")
	if hasError && n.Failed == 0 && len(d.Broken) == 0 {
		d.Failure = "karma says that there was an error although no test failed"
	}
	return nil
}

// addKarmaBrowser adds the tests that ran in the browser, and checks its totals.
func addKarmaBrowser(s *parsed.Outcomes, browser item, tests []item) {
	name, before := karmaVersionPattern.ReplaceAllString(browser.text("name"), ""), s.Totals
	for _, t := range tests {
		s.Add(karmaTest(t, name))
	}
	last, n := browser.at("lastResult"), s.Totals.Minus(before)
	s.CheckTotal("tests in "+name, last.total("total"), n.Tests)
	s.CheckFailures("failed tests in "+name, last.total("failed"), n.Failed)
	if last.isTrue("disconnected") {
		s.AddBroken(name, "the browser was disconnected before its tests had run")
	}
}

// karmaVersionPattern matches the version after the name of a browser, which changes more often
// than the tests: "Chrome 120.0 (Linux)".
var karmaVersionPattern = regexp.MustCompile(`\s+\d.*$`)

// karmaTest returns a test in the browser. Its groups are the class.
func karmaTest(t item, browser string) metric.Test {
	out := metric.Test{
		ID:       metric.ID{Suite: browser, Class: parsed.JoinGroups(t.texts("suite")...), Name: t.text("description")},
		Duration: t.number("time").In(time.Millisecond), Message: strings.TrimSpace(t.text("log")),
	}
	switch {
	case t.isTrue("skipped") || t.isTrue("disabled") || t.isTrue("pending"):
		out.Status = metric.Skipped
	case t.isTrue("success"):
		out.Status, out.Message = metric.Passed, ""
	default:
		out.Status = metric.Failed
	}
	return out
}
