package testjson

import (
	"cmp"
	"path"
	"strings"
	"time"

	"supervise/metric"
	"supervise/parsers/internal/parsed"
)

// readPytestJSON reads a report of pytest-json-report, and checks its totals and exit status.
//
//	{"exitcode": 0, "duration": 0.1, "summary": {"total": 1, "failed": 0}, "collectors": [{"nodeid": "a.py", "outcome": "passed"}],
//	 "tests": [{"nodeid": "a.py::test_add", "lineno": 2, "outcome": "passed", "call": {"duration": 0.01, "outcome": "passed"}}]}
func readPytestJSON(d *document) error {
	skippedFiles := 0 // not in the total
	root, err := d.readObject(shape{
		tool: "pytest-json-report", required: []string{"summary", "exitcode"}, kept: []string{"summary", "exitcode", "duration"},
		lists: map[string]func(item){
			"collectors": func(c item) {
				before := d.Totals.Tests
				addPytestCollector(d.Outcomes, c)
				skippedFiles += d.Totals.Tests - before
			},
			"tests": func(t item) { d.Add(pytestTest(t)) },
		},
	})
	d.Duration += root.number("duration").In(time.Second)
	if err != nil {
		return err
	}

	n := d.documentTotals()
	d.CheckTotal("tests", root.total("summary.total"), n.Tests-skippedFiles)
	d.CheckFailures("tests with the outcome failed", root.total("summary.failed"), n.Failed)
	d.CheckFailures("tests with the outcome error", root.total("summary.error"), n.Errors)

	exit := root.integer("exitcode")
	switch why := pytestExits[exit]; {
	case why != "" && len(d.Broken) == 0:
		d.Failure = why
	case exit == pytestExitFailed && n.Unsuccessful() == 0:
		d.AddContradiction(pytestContradiction)
	}
	return nil
}

// addPytestCollector handles the collection of the tests of a file or class. A file that could
// not be collected is broken. A file that was skipped is added as one test.
func addPytestCollector(s *parsed.Outcomes, c item) {
	file, _, inside := strings.Cut(c.text("nodeid"), "::")
	switch outcome := c.text("outcome"); {
	case outcome == "failed":
		s.AddBroken(cmp.Or(file, "pytest"), pytestReason(c))
	case outcome == "skipped" && !inside && path.Ext(file) != "":
		s.Add(skippedFileTest(file, pytestReason(c)))
	}
}

// pytestStatuses maps the outcomes of a test. A rerun test passed in the end.
var pytestStatuses = map[string]metric.Status{
	"passed": metric.Passed, "xpassed": metric.Passed, "rerun": metric.Passed,
	"failed": metric.Failed, "error": metric.Errored,
	"skipped": metric.Skipped, "xfailed": metric.Skipped,
}

// pytestTest returns a test, whose message is that of the first phase that has one.
func pytestTest(t item) metric.Test {
	word := t.text("outcome")
	out := metric.Test{ID: pytestID(t.text("nodeid")), Flaky: word == "rerun"}
	out.File = out.Suite
	setStatus(&out, pytestStatuses, word)
	if t.has("lineno") {
		out.Line = t.integer("lineno") + 1 // counts from 0
	}
	for _, name := range []string{"setup", "call", "teardown"} {
		phase := t.at(name)
		out.Duration += phase.number("duration").In(time.Second)
		out.Message = cmp.Or(out.Message, pytestReason(phase))
		if out.Flaky && phase.text("outcome") == "failed" { // the last attempt failed as well
			out.Status, out.Flaky = metric.Failed, false
		}
	}
	return out
}
