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
	Line     *parsed.AnyNumber `json:"lineno"` // from 0
	Outcome  string            `json:"outcome"`
	Setup    *pytestJSONPhase  `json:"setup"`
	Call     *pytestJSONPhase  `json:"call"`
	Teardown *pytestJSONPhase  `json:"teardown"`
}

type pytestJSONPhase struct {
	Duration parsed.AnyNumber `json:"duration"` // seconds
	Outcome  string           `json:"outcome"`
	Longrepr pytestRepr       `json:"longrepr"`
}

type pytestJSONSummary struct {
	Total  *parsed.AnyNumber `json:"total"`
	Failed *parsed.AnyNumber `json:"failed"`
	Error  *parsed.AnyNumber `json:"error"`
}

func readPytestJSON(d *document) error {
	var sum pytestJSONSummary
	var exit, took parsed.AnyNumber
	files := 0 // that are skipped completely
	err := d.members("pytest-json-report", []string{"summary", "exitcode"}, map[string]any{
		"exitcode": &exit, "summary": &sum, "duration": &took,
		"collectors": func() error {
			err := items(d, func(c pytestCollector) { c.add(d.Outcomes) })()
			files = d.counts().Tests
			return err
		},
		"tests": items(d, func(t pytestJSONTest) { d.Add(t.test()) }),
	})
	d.Took += took.In(time.Second)
	if err != nil {
		return err
	}
	n := d.counts()
	d.Stated("tests", sum.Total, n.Tests-files)
	d.StatedFails("tests with the outcome failed", sum.Failed, n.Failed)
	d.StatedFails("tests with the outcome error", sum.Error, n.Errors)
	switch why := pytestExits[exit.Int()]; {
	case why != "" && len(d.Broken) == 0:
		d.Failure = why
	case exit.Int() == pytestFailed && n.Bad() == 0:
		d.Contradicts(pytestDenied)
	}
	return nil
}

type pytestCollector struct {
	NodeID   string     `json:"nodeid"`
	Outcome  string     `json:"outcome"`
	Longrepr pytestRepr `json:"longrepr"`
}

func (c pytestCollector) add(s *parsed.Outcomes) {
	file, _, inside := strings.Cut(c.NodeID, "::")
	switch {
	case c.Outcome == "failed":
		s.Breaks(cmp.Or(file, "pytest"), string(c.Longrepr))
	case c.Outcome == "skipped" && !inside && path.Ext(file) != "":
		s.Add(skippedFile(file, c.Longrepr))
	}
}

// pytestOutcomes are the words for an entire test. A rerun test passed at
// the end.
var pytestOutcomes = map[string]metric.Status{
	"passed": metric.Passed, "xpassed": metric.Passed, "rerun": metric.Passed,
	"failed": metric.Failed, "error": metric.Errored,
	"skipped": metric.Skipped, "xfailed": metric.Skipped,
}

func (t pytestJSONTest) test() metric.Test {
	out := metric.Test{ID: pytestID(t.NodeID), Flaky: t.Outcome == "rerun"}
	out.File = out.Suite
	setStatus(&out, pytestOutcomes, t.Outcome)
	if t.Line != nil {
		out.Line = t.Line.Int() + 1
	}
	for _, p := range []*pytestJSONPhase{t.Setup, t.Call, t.Teardown} {
		if p == nil {
			continue
		}
		out.Duration += p.Duration.In(time.Second)
		out.Message = cmp.Or(out.Message, string(p.Longrepr))
		if out.Flaky && p.Outcome == "failed" { // it did not pass the last time either
			out.Status, out.Flaky = metric.Failed, false
		}
	}
	return out
}
