package parsers

import (
	"io"
	"time"

	"supervise/internal/jsonstream"
	"supervise/internal/sniff"
	"supervise/internal/textstream"
	"supervise/metric"
)

// testcafeFixture is one fixture of TestCafe's JSON reporter.
type testcafeFixture struct {
	Name  text `json:"name"`
	Path  text `json:"path"`
	Tests []struct {
		Name          text   `json:"name"`
		Errors        []text `json:"errs"`
		Duration      number `json:"durationMs"`
		Unstable      bool   `json:"unstable"`
		Skipped       bool   `json:"skipped"`
		SkippedReason text   `json:"skippedReason"`
	} `json:"tests"`
}

func detectTestCafe(h sniff.Head) bool { return h.JSON("fixtures", "userAgents") }

func parseTestCafe(r io.Reader) (Report, error) {
	s := &outcomes{}
	return s.documents(r, "testcafe", func(j *jsonstream.Reader) error {
		total, passed, fixtures := number(-1), number(-1), false
		before := s.totals
		err := j.Object(func(name string) error {
			switch name {
			case "total":
				return j.Value(&total)
			case "passed":
				return j.Value(&passed)
			case "fixtures":
				fixtures = true
				return j.Array(func() error {
					var f testcafeFixture
					if err := j.Value(&f); err != nil {
						return err
					}
					f.add(s)
					return nil
				})
			case "warnings":
				return testcafeWarnings(j, s)
			}
			return j.Skip()
		})
		switch {
		case err != nil:
			return err
		case !fixtures:
			return otherShape(j, "this is no report of TestCafe: it has no fixtures")
		}
		ran := s.totals.Passed - before.Passed + s.failed() - before.Failed - before.Errors
		s.declares("tests that ran", float64(total), ran)
		s.declares("passed tests", float64(passed), s.totals.Passed-before.Passed)
		return nil
	})
}

func testcafeWarnings(j *jsonstream.Reader, s *outcomes) error {
	var warnings []text
	err := j.Value(&warnings)
	for _, w := range warnings {
		s.problems.Add("testcafe warns: %s", textstream.FirstLine(textstream.CleanText(string(w))))
	}
	return err
}

func (f testcafeFixture) add(s *outcomes) {
	for _, t := range f.Tests {
		out := metric.Test{
			ID:       metric.ID{Suite: string(f.Path), Class: string(f.Name), Name: string(t.Name)},
			Duration: t.Duration.in(time.Millisecond), Message: joinTexts(t.Errors, "\n"), File: string(f.Path),
		}
		switch {
		case t.Skipped:
			out.Status, out.Message = metric.Skipped, string(t.SkippedReason)
		case len(t.Errors) > 0:
			out.Status = metric.Failed
		default:
			out.Status, out.Flaky = metric.Passed, t.Unstable
		}
		s.add(out)
	}
}
