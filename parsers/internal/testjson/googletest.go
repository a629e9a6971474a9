package testjson

import (
	"cmp"
	"strings"
	"time"

	"supervise/metric"
	"supervise/parsers/internal/parsed"
)

// googletestSuite is one suite of --gtest_output=json.
type googletestSuite struct {
	Name  parsed.AnyText   `json:"name"`
	Tests []googletestCase `json:"testsuite"`
	Old   []googletestCase `json:"testcase"`
}

type googletestCase struct {
	Name      parsed.AnyText   `json:"name"`
	File      parsed.AnyText   `json:"file"`
	Line      parsed.AnyNumber `json:"line"`
	Status    string           `json:"status"`
	Result    string           `json:"result"`
	Time      parsed.AnyNumber `json:"time"` // seconds, followed by an s
	ClassName parsed.AnyText   `json:"classname"`
	Failures  []struct {
		Failure parsed.AnyText `json:"failure"`
	} `json:"failures"`
	Skipped []parsed.AnyText `json:"skipped"`
}

func readGoogletest(d *document) error {
	stated, failures, errors := parsed.AnyNumber(-1), parsed.AnyNumber(-1), parsed.AnyNumber(-1)
	err := d.members("googletest", []string{"testsuites"}, map[string]any{
		"tests": &stated, "failures": &failures, "errors": &errors, "testsuites": items(d, func(g googletestSuite) { g.add(d.Outcomes) }),
	})
	if err != nil {
		return err
	}
	n := d.counts()
	d.Declares("tests", float64(stated), n.Tests)
	d.Fails("failures", float64(failures), n.Bad())
	d.Fails("errors", float64(errors), 0, n.Bad())
	return nil
}

func (g googletestSuite) add(s *parsed.Outcomes) {
	for _, c := range append(g.Tests, g.Old...) {
		var why []parsed.AnyText
		for _, f := range c.Failures {
			why = append(why, f.Failure)
		}
		if c.Name == "" { // what failed in the set-up or tear-down of the suite or the program
			s.Breaks(string(cmp.Or(c.ClassName, g.Name)), parsed.JoinTexts(why, "\n"))
			continue
		}
		t := metric.Test{
			ID:     metric.ID{Class: string(cmp.Or(c.ClassName, g.Name)), Name: string(c.Name)},
			Status: metric.Passed, Duration: c.Time.In(time.Second), Message: parsed.JoinTexts(why, "\n"),
			File: string(c.File), Line: c.Line.Int(),
		}
		switch {
		case len(why) > 0:
			t.Status = metric.Failed
		case strings.EqualFold(c.Status, "NOTRUN"), c.Result == "SKIPPED", c.Result == "SUPPRESSED", len(c.Skipped) > 0:
			t.Status, t.Message = metric.Skipped, parsed.JoinTexts(c.Skipped, "\n")
		}
		s.Add(t)
	}
}
