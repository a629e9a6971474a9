package testjson

import (
	"cmp"
	"path"
	"strings"
	"time"

	"supervise/metric"
	"supervise/parsers/internal/parsed"
)

// pytestJSONTest is one test of pytest-json-report.
type pytestJSONTest struct {
	NodeID   string            `json:"nodeid"`
	Line     *parsed.AnyNumber `json:"lineno"` // counts from 0, nil if it is not known
	Outcome  string            `json:"outcome"`
	Setup    *pytestJSONPhase  `json:"setup"`
	Call     *pytestJSONPhase  `json:"call"`
	Teardown *pytestJSONPhase  `json:"teardown"`
}

// pytestJSONPhase is the set-up, call or tear-down of a test.
type pytestJSONPhase struct {
	Duration parsed.AnyNumber `json:"duration"` // seconds
	Outcome  string           `json:"outcome"`
	Longrepr pytestRepr       `json:"longrepr"`
}

// pytestJSONSummary has the totals of a report. One that is nil is not stated.
type pytestJSONSummary struct {
	Total  *parsed.AnyNumber `json:"total"`
	Failed *parsed.AnyNumber `json:"failed"`
	Error  *parsed.AnyNumber `json:"error"`
}

// readPytestJSON reads a report of pytest-json-report, and checks its totals and exit status.
func readPytestJSON(d *document) error {
	var sum pytestJSONSummary
	var exit, took parsed.AnyNumber
	files := 0 // skipped files, which are not in the total
	err := d.readMembers("pytest-json-report", []string{"summary", "exitcode"}, map[string]any{
		"exitcode": &exit, "summary": &sum, "duration": &took,
		"collectors": func() error {
			err := parsed.ItemReader(d.Reader, func(c pytestCollector) { c.addTo(d.Outcomes) })()
			files = d.documentTotals().Tests
			return err
		},
		"tests": parsed.ItemReader(d.Reader, func(t pytestJSONTest) { d.Add(t.toTest()) }),
	})
	d.Duration += took.In(time.Second)
	if err != nil {
		return err
	}

	n := d.documentTotals()
	d.CheckOptionalTotal("tests", sum.Total, n.Tests-files)
	d.CheckOptionalFailures("tests with the outcome failed", sum.Failed, n.Failed)
	d.CheckOptionalFailures("tests with the outcome error", sum.Error, n.Errors)

	switch why := pytestExits[exit.Int()]; {
	case why != "" && len(d.Broken) == 0:
		d.Failure = why
	case exit.Int() == pytestExitFailed && n.Unsuccessful() == 0:
		d.AddContradiction(pytestContradiction)
	}
	return nil
}

// pytestCollector is the collection of the tests of a file or class.
type pytestCollector struct {
	NodeID   string     `json:"nodeid"`
	Outcome  string     `json:"outcome"`
	Longrepr pytestRepr `json:"longrepr"`
}

// addTo breaks a file that could not be collected. A file that was skipped is added as one
// test.
func (c pytestCollector) addTo(s *parsed.Outcomes) {
	file, _, inside := strings.Cut(c.NodeID, "::")
	switch {
	case c.Outcome == "failed":
		s.AddBroken(cmp.Or(file, "pytest"), string(c.Longrepr))
	case c.Outcome == "skipped" && !inside && path.Ext(file) != "":
		s.Add(skippedFileTest(file, c.Longrepr))
	}
}

// pytestStatuses maps the outcomes of a test. A rerun test passed in the end.
var pytestStatuses = map[string]metric.Status{
	"passed": metric.Passed, "xpassed": metric.Passed, "rerun": metric.Passed,
	"failed": metric.Failed, "error": metric.Errored,
	"skipped": metric.Skipped, "xfailed": metric.Skipped,
}

// toTest returns the test, whose message is that of the first phase that has one.
func (t pytestJSONTest) toTest() metric.Test {
	out := metric.Test{ID: pytestID(t.NodeID), Flaky: t.Outcome == "rerun"}
	out.File = out.Suite
	setStatus(&out, pytestStatuses, t.Outcome)
	if t.Line != nil {
		out.Line = t.Line.Int() + 1
	}
	for _, p := range []*pytestJSONPhase{t.Setup, t.Call, t.Teardown} {
		if p == nil {
			continue
		}
		out.Duration += p.Duration.In(time.Second)
		out.Message = cmp.Or(out.Message, string(p.Longrepr))
		if out.Flaky && p.Outcome == "failed" { // the last attempt failed as well
			out.Status, out.Flaky = metric.Failed, false
		}
	}
	return out
}
