package testjson

import (
	"cmp"
	"time"

	"supervise/metric"
	"supervise/parsers/internal/parsed"
)

// readRWX reads test results of RWX (https://github.com/rwx-research/test-results-schema), and
// checks their totals. The lineage of a test has the names of its groups and of the test.
//
//	{"framework": {"kind": "RSpec"}, "summary": {"status": {"kind": "successful"}, "tests": 1, "successful": 1}, "otherErrors": [],
//	 "tests": [{"name": "adds", "lineage": ["calc", "adds"], "location": {"file": "a.rb", "line": 3},
//	   "attempt": {"durationInNanoseconds": 5, "status": {"kind": "successful"}}, "pastAttempts": []}]}
func readRWX(d *document) error {
	root, err := d.readObject(shape{
		tool: "RWX", required: []string{"tests", "summary"}, kept: []string{"framework", "summary"},
		lists: map[string]func(item){
			"tests":       func(t item) { d.Add(rwxTest(t)) },
			"otherErrors": func(e item) { addRWXError(d.Outcomes, e) },
		},
	})
	if err != nil {
		return err
	}

	*d.producer = root.text("framework.kind")
	n, summary := d.documentTotals(), root.at("summary")
	d.CheckTotal("tests (of the summary)", summary.total("tests"), n.Tests)
	d.CheckTotal("successful (of the summary)", summary.total("successful"), n.Passed)
	failed := summary.number("failed") + summary.number("timedOut") + summary.number("canceled")
	if failed.Int() > n.Unsuccessful() { // quarantined failures do not count
		d.CheckFailures("tests that failed (of the summary)", float64(failed), n.Unsuccessful())
	}

	if d.Failure == "" {
		d.CheckFailures("other errors (of the summary)", summary.total("otherErrors"), len(d.Broken))
		if summary.text("status.kind") == "failed" && n.Unsuccessful() == 0 {
			d.AddContradiction("the summary says failed although no test failed")
		}
	}
	return nil
}

// addRWXError handles an error outside of all tests. It breaks its file. Without a file, the run
// failed.
func addRWXError(s *parsed.Outcomes, e item) {
	if file := e.text("location.file"); file != "" {
		s.AddBroken(file, e.text("message"))
	} else {
		s.Failure = cmp.Or(s.Failure, e.text("message"))
	}
}

// rwxStatuses maps the kinds of outcomes. A quarantined test is skipped, whatever its
// outcome is.
var rwxStatuses = map[string]metric.Status{
	"successful": metric.Passed, "failed": metric.Failed, "timedOut": metric.Failed, "canceled": metric.Errored,
	"skipped": metric.Skipped, "pended": metric.Skipped, "todo": metric.Skipped, "quarantined": metric.Skipped,
}

// rwxTest returns a test. A pass after another outcome is flaky.
func rwxTest(t item) metric.Test {
	file, status := t.text("location.file"), t.at("attempt.status")
	out := metric.Test{
		ID:       metric.ID{Suite: file, Name: t.text("name")},
		Duration: t.number("attempt.durationInNanoseconds").In(time.Nanosecond),
		Message:  joinLines(status.text("exception"), status.text("message"), status.text("backtrace")),
		File:     file, Line: t.integer("location.line"),
	}
	if lineage := t.texts("lineage"); len(lineage) > 0 {
		last := len(lineage) - 1
		out.Class, out.Name = parsed.JoinGroups(lineage[:last]...), lineage[last]
	}
	out.Class = parsed.JoinGroups(t.text("scope"), out.Class)

	setStatus(&out, rwxStatuses, status.text("kind"))
	for _, past := range t.list("pastAttempts") {
		out.Flaky = out.Flaky || out.Status == metric.Passed && rwxStatuses[past.text("status.kind")] != metric.Passed
	}
	return out
}
