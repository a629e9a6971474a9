package testjson

import (
	"io"
	"time"

	"supervise/internal/jsonstream"
	"supervise/internal/sniff"
	"supervise/internal/textstream"
	"supervise/metric"
	"supervise/parsers/internal/parsed"
)

// testcafeFixture is one fixture of TestCafe's JSON reporter.
type testcafeFixture struct {
	Name  parsed.AnyText `json:"name"`
	Path  parsed.AnyText `json:"path"`
	Tests []struct {
		Name          parsed.AnyText   `json:"name"`
		Errors        []parsed.AnyText `json:"errs"`
		Duration      parsed.AnyNumber `json:"durationMs"`
		Unstable      bool             `json:"unstable"`
		Skipped       bool             `json:"skipped"`
		SkippedReason parsed.AnyText   `json:"skippedReason"`
	} `json:"tests"`
}

func detectTestCafe(h sniff.Head) bool { return h.JSON("fixtures", "userAgents") }

func parseTestCafe(r io.Reader) (parsed.Report, error) {
	s := &parsed.Outcomes{}
	return s.Documents(r, "testcafe", func(j *jsonstream.Reader) error {
		total, passed, fixtures := parsed.AnyNumber(-1), parsed.AnyNumber(-1), false
		before := s.Totals
		err := parsed.Members(j, map[string]any{
			"total": &total, "passed": &passed,
			"fixtures": func() error {
				fixtures = true
				return parsed.Items(j, func(f testcafeFixture) { f.add(s) })()
			},
			"warnings": func() error { return testcafeWarnings(j, s) },
		})
		if err := parsed.Shape(j, err, fixtures, "this is no report of TestCafe: it has no fixtures"); err != nil {
			return err
		}
		failed := s.Failed() - before.Failed - before.Errors
		ran := s.Totals.Passed - before.Passed + failed
		s.Declares("tests that ran", float64(total), ran)
		s.Declares("passed tests", float64(passed), s.Totals.Passed-before.Passed)
		if total >= 0 && passed >= 0 && int(total-passed) > failed {
			s.Fails("tests that did not pass", float64(total-passed), failed)
		}
		return nil
	})
}

func testcafeWarnings(j *jsonstream.Reader, s *parsed.Outcomes) error {
	var warnings []parsed.AnyText
	err := j.Value(&warnings)
	for _, w := range warnings {
		s.Problems.Add("testcafe warns: %s", textstream.FirstLine(textstream.CleanText(string(w))))
	}
	return err
}

func (f testcafeFixture) add(s *parsed.Outcomes) {
	for _, t := range f.Tests {
		out := metric.Test{
			ID:       metric.ID{Suite: string(f.Path), Class: string(f.Name), Name: string(t.Name)},
			Duration: t.Duration.In(time.Millisecond), Message: parsed.JoinTexts(t.Errors, "\n"), File: string(f.Path),
		}
		switch {
		case t.Skipped:
			out.Status, out.Message = metric.Skipped, string(t.SkippedReason)
		case len(t.Errors) > 0:
			out.Status = metric.Failed
		default:
			out.Status, out.Flaky = metric.Passed, t.Unstable
		}
		s.Add(out)
	}
}
