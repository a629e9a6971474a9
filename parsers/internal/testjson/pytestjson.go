package testjson

import (
	"cmp"
	"fmt"
	"io"
	"path"
	"strings"
	"time"

	"supervise/internal/jsonstream"
	"supervise/internal/sniff"
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

func detectPytestJSON(h sniff.Head) bool {
	return h.JSON("exitcode", "summary", "root") && (h.JSON("tests") || h.JSON("collectors") || h.JSON("summary.collected"))
}

func parsePytestJSON(r io.Reader) (parsed.Report, error) {
	s := &parsed.Outcomes{}
	return s.Documents(r, "pytest", func(j *jsonstream.Reader) error { return readPytestJSON(j, s) })
}

func readPytestJSON(j *jsonstream.Reader, s *parsed.Outcomes) error {
	var sum map[string]parsed.AnyNumber
	var exit *parsed.AnyNumber
	before, files := s.Totals, 0 // files that are skipped as a whole
	var took parsed.AnyNumber
	err := parsed.Members(j, map[string]any{
		"exitcode": &exit, "summary": &sum, "duration": &took,
		"collectors": func() error {
			err := j.Array(func() error { return readCollector(j, s) })
			files = s.Totals.Tests - before.Tests
			return err
		},
		"tests": parsed.Items(j, func(t pytestJSONTest) { s.Add(t.test()) }),
	})
	s.Took += took.In(time.Second)
	if err := parsed.Shape(j, err, sum != nil && exit != nil, "this is no report of pytest-json-report: it has no summary or no exit code"); err != nil {
		return err
	}
	if n, stated := sum["total"]; stated {
		s.Declares("tests", float64(n), s.Totals.Tests-before.Tests-files)
	}
	failed, errors := s.Totals.Failed-before.Failed, s.Totals.Errors-before.Errors
	for name, counted := range map[string]int{"failed": failed, "error": errors} {
		if n, stated := sum[name]; stated {
			s.Fails("tests with the outcome "+name, float64(n), counted)
		}
	}
	switch why := pytestExits[exit.Whole()]; {
	case why != "" && len(s.Broken) == 0:
		s.Failure = why
	case exit.Whole() == pytestFailed && failed+errors == 0:
		s.Contradicts(pytestDenied)
	}
	return nil
}

func readCollector(j *jsonstream.Reader, s *parsed.Outcomes) error {
	var c struct {
		NodeID   string     `json:"nodeid"`
		Outcome  string     `json:"outcome"`
		Longrepr pytestRepr `json:"longrepr"`
	}
	if err := j.Value(&c); err != nil {
		return err
	}
	file, _, inside := strings.Cut(c.NodeID, "::")
	switch {
	case c.Outcome == "failed":
		s.Breaks(cmp.Or(file, "pytest"), string(c.Longrepr))
	case c.Outcome == "skipped" && !inside && path.Ext(file) != "":
		s.Add(skippedFile(file, c.Longrepr))
	}
	return nil
}

// pytestOutcomes are the words for a test as a whole. A rerun test passed at
// the end.
var pytestOutcomes = map[string]metric.Status{
	"passed": metric.Passed, "xpassed": metric.Passed, "rerun": metric.Passed,
	"failed": metric.Failed, "error": metric.Errored,
	"skipped": metric.Skipped, "xfailed": metric.Skipped,
}

func (t pytestJSONTest) test() metric.Test {
	out := metric.Test{ID: pytestID(t.NodeID), Status: pytestOutcomes[t.Outcome], Flaky: t.Outcome == "rerun"}
	out.File = out.Suite
	if t.Line != nil {
		out.Line = t.Line.Whole() + 1
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
	if out.Status == 0 {
		out.Status, out.Message = metric.Errored, fmt.Sprintf("it has the unknown outcome %q", t.Outcome)
	}
	return out
}
