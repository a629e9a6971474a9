package testjson

import (
	"strings"
	"time"

	"supervise/metric"
	"supervise/parsers/internal/parsed"
)

// readCTRF reads a report in the Common Test Report Format (https://ctrf.io), and checks its
// totals. Those of pending, skipped and other tests are not checked, since all of these are
// skipped here.
//
//	{"results": {"tool": {"name": "jest"}, "summary": {"tests": 1, "passed": 1, …, "start": 1700000000000},
//	 "tests": [{"name": "adds", "status": "passed", "duration": 5, "suite": ["calc"], "filePath": "a.js"}]}}
func readCTRF(d *document) error {
	d.NumberRepeats = true
	results, err := d.readObject(shape{
		tool: "CTRF", outer: "results", required: []string{"tests"}, kept: []string{"tool", "summary"},
		lists: map[string]func(item){"tests": func(t item) { d.Add(ctrfTest(t)) }},
	})
	if err != nil {
		return err
	}

	*d.producer = results.text("tool.name")
	n, summary := d.documentTotals(), results.at("summary")
	d.CheckTotal("tests", summary.total("tests"), n.Tests)
	d.CheckTotal("passed tests", summary.total("passed"), n.Passed)
	d.CheckFailures("failed tests", summary.total("failed"), n.Failed, n.Unsuccessful())
	if start := summary.number("start"); start > 0 {
		d.Duration += (summary.number("stop") - start).In(time.Millisecond)
	}
	return nil
}

// ctrfTest returns a test. A pass after a retry is flaky.
func ctrfTest(t item) metric.Test {
	suite := strings.ReplaceAll(t.text("suite"), "\n", " > ") // a name, or a list of names, the outermost first
	out := metric.Test{
		ID:       metric.ID{Suite: t.text("filePath"), Class: suite, Name: t.text("name")},
		Duration: t.number("duration").In(time.Millisecond), Message: t.message("message", "trace"),
		File: t.text("filePath"), Line: t.integer("line"),
	}
	if browser := t.text("browser"); browser != "" {
		out.Class = parsed.JoinGroups(browser, out.Class)
	}
	word := t.text("status")
	setStatus(&out, ctrfStatuses, word)
	if word == "other" {
		out.Status = ctrfOtherStatus(t.text("rawStatus"))
	}
	wasRetried := t.isTrue("flaky") || t.number("retries") > 0
	out.Flaky = out.Status == metric.Passed && wasRetried
	return out
}

// ctrfStatuses maps the statuses of the format. See also [ctrfOtherStatus].
var ctrfStatuses = map[string]metric.Status{
	"passed": metric.Passed, "failed": metric.Failed, "skipped": metric.Skipped, "pending": metric.Skipped, "other": metric.Skipped,
}

// ctrfOtherStatus returns the status of a test with the status "other", by the word that
// the test runner has for it.
func ctrfOtherStatus(rawStatus string) metric.Status {
	switch strings.ToLower(rawStatus) {
	case "error", "errored", "broken", "crashed", "aborted", "timedout", "timeout", "interrupted":
		return metric.Errored
	}
	return metric.Skipped
}
