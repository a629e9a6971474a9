package testjson

import (
	"cmp"
	"strings"
	"time"

	"supervise/metric"
	"supervise/parsers/internal/parsed"
)

// readMochawesome reads a report of mochawesome, and checks its totals. A suite is a file or a
// group in one.
//
//	{"stats": {"testsRegistered": 1, "failures": 0, "duration": 5}, "results": [{"file": "/a.js", "fullFile": "/p/a.js", "title": "",
//	 "beforeHooks": [], "afterHooks": [], "tests": [{"title": "adds", "state": "passed", "pass": true, "duration": 5, "err": {}}], "suites": [{…}]}]}
func readMochawesome(d *document) error {
	d.NumberRepeats = true
	root, err := d.readObject(shape{
		tool: "mochawesome", required: []string{"results"}, kept: []string{"stats"},
		lists: map[string]func(item){"results": func(suite item) { addMochawesomeSuite(d.Outcomes, suite, "", nil) }},
	})
	if err != nil {
		return err
	}

	n, stats := d.documentTotals(), root.at("stats")
	d.CheckTotal("tests", stats.total("testsRegistered"), n.Tests) // other totals leave out tests that did not run
	d.CheckFailures("failures", stats.total("failures"), n.Unsuccessful(), n.Unsuccessful()+len(d.Broken))
	d.Duration += stats.number("duration").In(time.Millisecond)
	return nil
}

// mochawesomeFile returns the file of a suite relative to the project, "" for a group without
// one. mochawesome leaves a slash before it.
func mochawesomeFile(suite item) string {
	file, full := suite.text("file"), suite.text("fullFile")
	if file != "" && file != full && strings.HasSuffix(full, file) {
		return strings.TrimLeft(file, `/\`)
	}
	return cmp.Or(file, full)
}

// addMochawesomeSuite adds the tests of a file or group, and of the groups in it. File and path
// are those of the group around it. The suite is false if nothing ran.
func addMochawesomeSuite(s *parsed.Outcomes, suite item, file string, path []string) {
	file = cmp.Or(mochawesomeFile(suite), file)
	path = append(path[:len(path):len(path)], suite.text("title"))
	class := parsed.JoinGroups(path...)
	for _, hook := range append(suite.list("beforeHooks"), suite.list("afterHooks")...) {
		if mochawesomeStatus(hook) == metric.Failed {
			s.AddBroken(cmp.Or(file, class), hook.text("title")+": "+hook.message("err.message", "err.estack"))
		}
	}

	for _, t := range suite.list("tests") {
		out := metric.Test{
			ID:     metric.ID{Suite: file, Class: class, Name: t.text("title")},
			Status: mochawesomeStatus(t), Duration: t.number("duration").In(time.Millisecond), Message: t.message("err.message", "err.estack"), File: file,
		}
		switch out.Status {
		case metric.NotRun:
			out.Message = "a hook before it failed"
			s.AddNotRun(out)
			continue
		case metric.Errored:
			out.Message = "the report does not say how it ended"
		default:
		}
		s.Add(out)
	}

	for _, inner := range suite.list("suites") {
		addMochawesomeSuite(s, inner, file, path)
	}
}

// mochawesomeStatus returns the outcome of a test or hook. A test without one is an error. One
// that is skipped did not run, because a hook before it failed.
func mochawesomeStatus(t item) metric.Status {
	state := t.text("state")
	switch {
	case t.isTrue("fail") || state == "failed":
		return metric.Failed
	case t.isTrue("pending") || state == "pending":
		return metric.Skipped
	case t.isTrue("skipped") || state == "skipped":
		return metric.NotRun
	case t.isTrue("pass") || state == "passed":
		return metric.Passed
	}
	return metric.Errored
}
