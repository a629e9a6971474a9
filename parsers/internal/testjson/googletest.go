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
	Old   []googletestCase `json:"testcase"` // of older versions
}

// googletestCase is one test. Its name is "" for a failure outside of tests.
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

// readGoogletest reads a report of GoogleTest, and checks its totals.
func readGoogletest(d *document) error {
	stated, failures, errors := parsed.AnyNumber(-1), parsed.AnyNumber(-1), parsed.AnyNumber(-1)
	err := d.readMembers("googletest", []string{"testsuites"}, map[string]any{
		"tests": &stated, "failures": &failures, "errors": &errors, "testsuites": parsed.ItemReader(d.Reader, func(g googletestSuite) { g.addTo(d.Outcomes) }),
	})
	if err != nil {
		return err
	}
	n := d.documentTotals()
	d.CheckTotal("tests", float64(stated), n.Tests)
	d.CheckFailures("failures", float64(failures), n.Unsuccessful())
	d.CheckFailures("errors", float64(errors), 0, n.Unsuccessful())
	return nil
}

// addTo adds the tests of the suite. A failure outside of its tests breaks it.
func (g googletestSuite) addTo(s *parsed.Outcomes) {
	for _, c := range append(g.Tests, g.Old...) {
		var failures []parsed.AnyText
		for _, f := range c.Failures {
			failures = append(failures, f.Failure)
		}
		message, class := parsed.JoinTexts(failures, "\n"), string(cmp.Or(c.ClassName, g.Name))
		if c.Name == "" { // a failure in the set-up or tear-down of the suite or the program
			s.AddBroken(class, message)
			continue
		}
		t := metric.Test{
			ID:     metric.ID{Class: class, Name: string(c.Name)},
			Status: metric.Passed, Duration: c.Time.In(time.Second), Message: message, File: string(c.File), Line: c.Line.Int(),
		}
		isSkipped := strings.EqualFold(c.Status, "NOTRUN") || c.Result == "SKIPPED" || c.Result == "SUPPRESSED" || len(c.Skipped) > 0
		switch {
		case len(failures) > 0:
			t.Status = metric.Failed
		case isSkipped:
			t.Status, t.Message = metric.Skipped, parsed.JoinTexts(c.Skipped, "\n")
		}
		s.Add(t)
	}
}
