package testjson

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"supervise/metric"
	"supervise/parsers/internal/parsed"
)

// readJest reads a report of jest or vitest. An interrupted run is an error.
//
//	{"numTotalTests": 1, "numFailedTests": 0, "success": true, "testResults": [{"name": "/p/a.test.js", "status": "passed",
//	 "message": "", "assertionResults": [{"ancestorTitles": ["calc"], "title": "adds", "status": "passed", "duration": 5}]}]}
//
// The results that jest passes to its reporters have other names for the same members.
func readJest(d *document) error {
	brokenBefore := len(d.Broken)
	d.NumberRepeats = true
	root, err := d.readObject(shape{
		tool: "jest or vitest", required: []string{"testResults"},
		kept:  []string{"numTotalTests", "numFailedTests", "numFailedTestSuites", "numRuntimeErrorTestSuites", "success", "wasInterrupted"},
		lists: map[string]func(item){"testResults": func(file item) { addJestFile(d.Outcomes, file) }},
	})
	switch {
	case err != nil:
		return err
	case root.isTrue("wasInterrupted"):
		return d.Error("jest says that it was interrupted before its tests had run")
	}
	runtimeErrors := root.total("numRuntimeErrorTestSuites")
	if runtimeErrors >= 0 {
		*d.producer = "jest"
	}

	n := d.documentTotals()
	d.CheckTotal("tests", root.total("numTotalTests"), n.Tests)
	d.CheckFailures("failed tests", root.total("numFailedTests"), n.Unsuccessful())
	if n.Unsuccessful() == 0 && len(d.Broken) == brokenBefore {
		d.CheckFailures("test files that failed", max(root.total("numFailedTestSuites"), runtimeErrors), 0)
		if root.has("success") && !root.isTrue("success") {
			d.AddContradiction("%s says that the run failed although no test did", *d.producer)
		}
	}
	return nil
}

// jestNotLoaded is the message of jest for a file that failed outside of its tests.
const jestNotLoaded = "Test suite failed to run"

// addJestFile adds the tests of a file. The file is broken if it has an error, or if it failed
// although none of its tests did.
func addJestFile(s *parsed.Outcomes, f item) {
	file := cmp.Or(f.text("name"), f.text("testFilePath"))
	message := cmp.Or(f.text("message"), f.text("failureMessage"))
	before := s.Totals.Unsuccessful()
	for _, t := range append(f.list("assertionResults"), f.list("testResults")...) {
		s.Add(jestTest(t, file))
	}
	execError := f.at("testExecError").value // an object or a text
	failedWithoutTest := f.text("status") == "failed" && s.Totals.Unsuccessful() == before
	switch {
	case execError != nil && execError != false:
		s.AddBroken(file, parsed.JoinMessage(f.text("testExecError"), message))
	case failedWithoutTest || strings.Contains(message, jestNotLoaded):
		s.AddBroken(file, message)
	}
}

// jestStatuses maps the statuses of jest and vitest.
var jestStatuses = map[string]metric.Status{
	"passed": metric.Passed, "failed": metric.Failed,
	"pending": metric.Skipped, "skipped": metric.Skipped, "todo": metric.Skipped, "disabled": metric.Skipped, "focused": metric.Skipped,
}

// jestTest returns a test. A pass after several attempts, or with the messages of a failed
// attempt, is flaky.
func jestTest(t item, file string) metric.Test {
	var groups []string
	for i, title := range t.list("ancestorTitles") {
		isFile := i == 0 && strings.HasSuffix(strings.ReplaceAll(file, `\`, "/"), "/"+jestTitle(title))
		if !isFile { // vitest repeats the file for a test of types
			groups = append(groups, jestTitle(title))
		}
	}
	word, message := t.text("status"), t.text("failureMessages")
	out := metric.Test{
		ID:       metric.ID{Suite: file, Class: parsed.JoinGroups(groups...), Name: jestTitle(t.at("title"))},
		Duration: t.number("duration").In(time.Millisecond), Message: message, File: file, Line: t.integer("location.line"),
	}
	setStatus(&out, jestStatuses, word)
	if out.Status == metric.Skipped && word != "skipped" {
		out.Message = word
	}
	wasRetried := t.number("invocations") > 1 || len(t.list("failureMessages")) > 0
	out.Flaky = out.Status == metric.Passed && wasRetried
	return out
}

// jestTitle returns a title, for which old versions of jest take any value: a text, a number, a
// list of them, which JavaScript writes with commas.
func jestTitle(title item) string {
	switch title.value.(type) {
	case nil:
		return ""
	case string, map[string]any:
		return title.text("")
	case []any:
		return strings.ReplaceAll(title.text(""), "\n", ",")
	}
	return fmt.Sprint(title.value)
}
