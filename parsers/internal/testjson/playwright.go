package testjson

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"time"

	"supervise/metric"
	"supervise/parsers/internal/parsed"
)

// playwrightReport counts the tests of a report of Playwright's JSON reporter:
//
//	{"config": {"rootDir": "/p"}, "suites": [{"title": "a.spec.ts", "file": "a.spec.ts", "suites": [{…}], "specs": [{
//	  "title": "adds", "line": 3, "tests": [{"projectName": "chromium", "expectedStatus": "passed", "status": "expected",
//	    "annotations": [], "results": [{"status": "passed", "duration": 5, "errors": []}]}]}]}],
//	 "errors": [{"message": "…", "location": {"file": "/p/b.spec.ts"}}], "stats": {"expected": 1, "duration": 9}}
//
// A spec is one test as it is written. It has one test for each project, with all its attempts.
// The errors are outside of all tests: in a file that cannot be loaded, in the global set-up or
// in the configuration.
type playwrightReport struct {
	statusCounts map[string]int // number of tests, by status
	set          *parsed.Outcomes
}

// readPlaywright reads a report of Playwright suite by suite.
func readPlaywright(d *document) error {
	p := playwrightReport{set: d.Outcomes, statusCounts: map[string]int{}}
	root, err := d.readObject(shape{
		tool: "Playwright", required: []string{"suites"}, kept: []string{"errors", "stats", "config"},
		lists: map[string]func(item){"suites": func(s item) { p.addSuite(s, s.text("file"), nil) }},
	})
	if err == nil {
		p.checkReport(root)
	}
	return err
}

// addSuite adds the tests of a file or group and of the groups in it. Path has the titles
// of the enclosing groups.
func (p *playwrightReport) addSuite(suite item, file string, path []string) {
	for _, spec := range suite.list("specs") {
		for _, t := range spec.list("tests") {
			p.addTest(t, spec.integer("line"), metric.ID{
				Suite: cmp.Or(file, spec.text("file")),
				Class: parsed.JoinGroups(append([]string{t.text("projectName")}, path...)...),
				Name:  spec.text("title"),
			})
		}
	}
	for _, inner := range suite.list("suites") {
		p.addSuite(inner, cmp.Or(file, inner.text("file")), append(path[:len(path):len(path)], inner.text("title")))
	}
}

// playwrightStatuses maps the outcomes after all attempts. A test that was expected to
// fail and did has passed.
var playwrightStatuses = map[string]metric.Status{
	"expected": metric.Passed, "flaky": metric.Passed, "unexpected": metric.Failed, "skipped": metric.Skipped,
}

// addTest adds a test of a spec on the line, with its identity. Its message is that of the last
// attempt with an error.
func (p *playwrightReport) addTest(t item, line int, id metric.ID) {
	word, last := t.text("status"), ""
	p.statusCounts[word]++
	out := metric.Test{ID: id, File: id.Suite, Line: line, Flaky: word == "flaky"}
	for _, attempt := range t.list("results") {
		message := attempt.text("errors")
		if len(attempt.list("errors")) == 0 {
			message = attempt.text("error")
		}
		out.Duration += attempt.number("duration").In(time.Millisecond)
		out.Message = cmp.Or(message, out.Message)
		last = attempt.text("status")
	}

	setStatus(&out, playwrightStatuses, word)
	switch {
	case out.Status == metric.Failed && last == "passed":
		out.Message = "it passed and was expected to fail"
	case out.Status == metric.Skipped && t.text("expectedStatus") != "skipped":
		out.Message = cmp.Or(out.Message, "it did not run: something before it failed")
		p.set.AddNotRun(out)
		return
	case out.Status == metric.Skipped:
		out.Message = skipReason(t)
	case out.Status == metric.Passed && !out.Flaky:
		out.Message = ""
	}

	p.set.Add(out)
}

// skipReason returns the first description among the annotations, "" if there is none.
func skipReason(t item) string {
	for _, annotation := range t.list("annotations") {
		if description := annotation.text("description"); description != "" {
			return description
		}
	}
	return ""
}

// checkReport adds the errors outside of tests, and compares the totals.
func (p *playwrightReport) checkReport(root item) {
	for _, e := range root.list("errors") {
		message := parsed.JoinMessage(cmp.Or(e.text("message"), e.text("value")), e.text("stack"))
		file := e.text("location.file")
		if file == "" {
			p.set.Failure = cmp.Or(p.set.Failure, message)
			continue
		}
		p.set.AddBroken(relativePath(file, root.text("config.rootDir")), message)
	}
	for _, name := range slices.Sorted(maps.Keys(playwrightStatuses)) {
		stated := root.total("stats." + name)
		if playwrightStatuses[name] == metric.Failed {
			p.set.CheckFailures(name+" tests", stated, p.statusCounts[name])
		} else {
			p.set.CheckTotal(name+" tests", stated, p.statusCounts[name])
		}
	}
	p.set.Duration += root.number("stats.duration").In(time.Millisecond)
}

// relativePath returns a path relative to the root folder of the report, as suites have it.
func relativePath(file, root string) string {
	file, root = strings.ReplaceAll(file, `\`, "/"), strings.ReplaceAll(root, `\`, "/")
	if below, inside := strings.CutPrefix(file, strings.TrimSuffix(root, "/")+"/"); inside && root != "" {
		return below
	}
	return file
}
