package parsers

import (
	"cmp"
	"io"
	"strings"
	"time"

	"supervise/internal/jsonstream"
	"supervise/internal/sniff"
	"supervise/metric"
)

// googletestSuite is one suite of --gtest_output=json.
type googletestSuite struct {
	Name  text             `json:"name"`
	Tests []googletestCase `json:"testsuite"`
	Old   []googletestCase `json:"testcase"`
}

type googletestCase struct {
	Name      text   `json:"name"`
	File      text   `json:"file"`
	Line      number `json:"line"`
	Status    string `json:"status"`
	Result    string `json:"result"`
	Time      number `json:"time"` // seconds, with an s behind them
	ClassName text   `json:"classname"`
	Failures  []struct {
		Failure text `json:"failure"`
	} `json:"failures"`
	Skipped []text `json:"skipped"`
}

func detectGoogletest(h sniff.Head) bool {
	return h.JSON("tests", "disabled", "testsuites") || h.JSON("testsuites.[].testsuite")
}

func parseGoogletest(r io.Reader) (Report, error) {
	s := &outcomes{}
	return s.documents(r, "googletest", func(j *jsonstream.Reader) error {
		stated, failures, suites := number(-1), number(-1), false
		before := s.totals
		err := j.Object(func(name string) error {
			switch name {
			case "tests":
				return j.Value(&stated)
			case "failures":
				return j.Value(&failures)
			case "testsuites":
				suites = true
				return j.Array(func() error {
					var g googletestSuite
					if err := j.Value(&g); err != nil {
						return err
					}
					g.add(s)
					return nil
				})
			}
			return j.Skip()
		})
		switch {
		case err != nil:
			return err
		case !suites:
			return otherShape(j, "this is no report of googletest: it has no suites")
		}
		s.declares("tests", float64(stated), s.totals.Tests-before.Tests)
		s.declares("failures", float64(failures), s.failed()-before.Failed-before.Errors)
		return nil
	})
}

func (g googletestSuite) add(s *outcomes) {
	for _, c := range append(g.Tests, g.Old...) {
		var why []text
		for _, f := range c.Failures {
			why = append(why, f.Failure)
		}
		if c.Name == "" { // what failed in the set-up or tear-down of the suite or the program
			s.breaks(string(cmp.Or(c.ClassName, g.Name)), joinTexts(why, "\n"))
			continue
		}
		t := metric.Test{
			ID:     metric.ID{Class: string(cmp.Or(c.ClassName, g.Name)), Name: string(c.Name)},
			Status: metric.Passed, Duration: c.Time.in(time.Second), Message: joinTexts(why, "\n"),
			File: string(c.File), Line: c.Line.whole(),
		}
		switch {
		case len(why) > 0:
			t.Status = metric.Failed
		case strings.EqualFold(c.Status, "NOTRUN"), c.Result == "SKIPPED", c.Result == "SUPPRESSED", len(c.Skipped) > 0:
			t.Status, t.Message = metric.Skipped, joinTexts(c.Skipped, "\n")
		}
		s.add(t)
	}
}
