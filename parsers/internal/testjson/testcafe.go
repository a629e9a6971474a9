package testjson

import (
	"time"

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

// readTestCafe reads a report of TestCafe, and checks its totals.
func readTestCafe(d *document) error {
	total, passed := parsed.AnyNumber(-1), parsed.AnyNumber(-1)
	err := d.readMembers("TestCafe", []string{"fixtures"}, map[string]any{
		"total": &total, "passed": &passed,
		"fixtures": parsed.ItemReader(d.Reader, func(f testcafeFixture) { f.addTo(d.Outcomes) }),
		"warnings": parsed.ItemReader(d.Reader, func(w parsed.AnyText) {
			d.Problems.Add("testcafe warns: %s", textstream.FirstLine(textstream.CleanText(string(w))))
		}),
	})
	if err != nil {
		return err
	}
	n := d.documentTotals()
	d.CheckTotal("tests that ran", float64(total), n.Passed+n.Unsuccessful())
	d.CheckTotal("passed tests", float64(passed), n.Passed)
	if total >= 0 && passed >= 0 && int(total-passed) > n.Unsuccessful() {
		d.CheckFailures("tests that did not pass", float64(total-passed), n.Unsuccessful())
	}
	return nil
}

// addTo adds the tests of the fixture.
func (f testcafeFixture) addTo(s *parsed.Outcomes) {
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
