package testjson

import (
	"cmp"
	"strings"
	"time"

	"supervise/metric"
	"supervise/parsers/internal/parsed"
)

// mochawesomeSuite is one file or group of mochawesome's report.
type mochawesomeSuite struct {
	Title       parsed.AnyText     `json:"title"`
	File        parsed.AnyText     `json:"file"`
	FullFile    parsed.AnyText     `json:"fullFile"`
	BeforeHooks []mochawesomeTest  `json:"beforeHooks"`
	AfterHooks  []mochawesomeTest  `json:"afterHooks"`
	Tests       []mochawesomeTest  `json:"tests"`
	Suites      []mochawesomeSuite `json:"suites"`
}

// mochawesomeTest is a test or a hook.
type mochawesomeTest struct {
	Title    parsed.AnyText   `json:"title"`
	Duration parsed.AnyNumber `json:"duration"` // milliseconds
	State    string           `json:"state"`
	Pass     bool             `json:"pass"`
	Fail     bool             `json:"fail"`
	Pending  bool             `json:"pending"`
	Skipped  bool             `json:"skipped"` // a hook before it failed
	Err      struct {
		Message parsed.AnyText `json:"message"`
		Stack   parsed.AnyText `json:"estack"`
	} `json:"err"`
}

// readMochawesome reads a report of mochawesome, and checks its totals.
func readMochawesome(d *document) error {
	var stats struct {
		Tests    *parsed.AnyNumber `json:"testsRegistered"` // other totals leave out tests that did not run
		Failures *parsed.AnyNumber `json:"failures"`
		Duration parsed.AnyNumber  `json:"duration"`
	}

	d.NumberRepeats = true
	err := d.readMembers("mochawesome", []string{"results"}, map[string]any{"stats": &stats, "results": func() error {
		return d.Array(func() error {
			if d.Kind() != '{' { // false if nothing ran
				return d.Skip()
			}
			var m mochawesomeSuite
			err := d.Value(&m)
			if err == nil {
				m.addTo(d.Outcomes, "", nil)
			}
			return err
		})
	}})
	if err != nil {
		return err
	}

	n := d.documentTotals()
	d.CheckOptionalTotal("tests", stats.Tests, n.Tests)
	d.CheckOptionalFailures("failures", stats.Failures, n.Unsuccessful(), n.Unsuccessful()+len(d.Broken))
	d.Duration += stats.Duration.In(time.Millisecond)
	return nil
}

// filePath returns the file relative to the project, "" for a group without one. mochawesome
// leaves a slash before it.
func (m mochawesomeSuite) filePath() string {
	if m.File != "" && m.File != m.FullFile && strings.HasSuffix(string(m.FullFile), string(m.File)) {
		return strings.TrimLeft(string(m.File), `/\`)
	}
	return string(cmp.Or(m.File, m.FullFile))
}

// addTo adds the tests of a file or group, and of the groups in it. File and path are those of
// the group around it.
func (m mochawesomeSuite) addTo(s *parsed.Outcomes, file string, path []string) {
	file = cmp.Or(m.filePath(), file)
	path = append(path[:len(path):len(path)], string(m.Title))
	for _, hooks := range [][]mochawesomeTest{m.BeforeHooks, m.AfterHooks} {
		for _, h := range hooks {
			if h.Fail || h.State == "failed" {
				s.AddBroken(cmp.Or(file, parsed.JoinGroups(path...)), string(h.Title)+": "+parsed.JoinMessage(string(h.Err.Message), string(h.Err.Stack)))
			}
		}
	}

	for _, t := range m.Tests {
		out := metric.Test{
			ID:     metric.ID{Suite: file, Class: parsed.JoinGroups(path...), Name: string(t.Title)},
			Status: t.status(), Duration: t.Duration.In(time.Millisecond), Message: parsed.JoinMessage(string(t.Err.Message), string(t.Err.Stack)), File: file,
		}
		switch out.Status {
		case metric.NotRun:
			out.Message = "a hook before it failed"
			s.AddNotRun(out)
			continue
		case metric.Errored:
			out.Message = "the report does not say how it ended"
		default:
		}
		s.Add(out)
	}

	for _, inner := range m.Suites {
		inner.addTo(s, file, path)
	}
}

// status returns the outcome. A test without one is an error.
func (t mochawesomeTest) status() metric.Status {
	switch {
	case t.Fail || t.State == "failed":
		return metric.Failed
	case t.Pending || t.State == "pending":
		return metric.Skipped
	case t.Skipped || t.State == "skipped":
		return metric.NotRun
	case t.Pass || t.State == "passed":
		return metric.Passed
	}
	return metric.Errored
}
