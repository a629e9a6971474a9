package testjson

import (
	"cmp"
	"strings"
	"time"

	"supervise/internal/regexp"
	"supervise/metric"
	"supervise/parsers/internal/parsed"
)

// mochaReport is one report of mocha's JSON reporter. It has a list of all tests, and lists of
// the same tests by outcome. Failed hooks are only in the list of failures.
//
//	{"stats": {"tests": 1, "failures": 0, "duration": 5}, "tests": [{"title": "adds", "fullTitle": "calc adds", "file": "a.js",
//	 "duration": 5, "currentRetry": 0, "err": {}}], "pending": [], "failures": [], "passes": [{…}]}
type mochaReport struct {
	tests    []item
	failures []item
	counts   map[string]map[mochaKey]int // how many entries belong to no test yet, by list
	matched  map[mochaKey]int            // how many failures belong to a test
	hasPass  bool                        // the report has a list of passes
}

// mochaKey identifies the same test in several lists.
type mochaKey struct{ file, fullTitle string }

func mochaKeyOf(t item) mochaKey { return mochaKey{t.text("file"), t.text("fullTitle")} }

// readMocha reads the lists of a report, and then adds the tests.
func readMocha(d *document) error {
	d.NumberRepeats = true
	m := mochaReport{counts: map[string]map[mochaKey]int{}, matched: map[mochaKey]int{}}
	lists := map[string]func(item){}
	for _, name := range []string{"tests", "failures", "passes", "pending"} {
		m.counts[name] = map[mochaKey]int{}
		lists[name] = func(t item) {
			m.counts[name][mochaKeyOf(t)]++
			switch name {
			case "tests":
				m.tests = append(m.tests, t)
			case "failures":
				m.failures = append(m.failures, t)
			}
		}
	}
	root, err := d.readObject(shape{tool: "mocha", required: []string{"tests", "failures"}, kept: []string{"stats"}, lists: lists})
	if err == nil {
		m.hasPass = root.has("passes")
		m.addTo(d.Outcomes, root.at("stats"))
	}
	return err
}

// takeFromList removes the test from the list, and reports whether the list had it.
func (m *mochaReport) takeFromList(list string, t item) bool {
	key := mochaKeyOf(t)
	if m.counts[list][key] == 0 {
		return false
	}
	m.counts[list][key]--
	if list == "failures" {
		m.matched[key]++
	}
	return true
}

// addTo adds the tests. Then each failure that belongs to no test is that of a hook, which
// breaks its file, or of a test that passed before. Stats has the totals of the report.
func (m *mochaReport) addTo(s *parsed.Outcomes, stats item) {
	before := s.Totals.Tests
	for _, t := range m.tests {
		s.Add(m.toTest(t))
	}

	for _, t := range m.failures {
		key := mochaKeyOf(t)
		switch {
		case m.matched[key] > 0:
			m.matched[key]--
		case mochaHookPattern.MatchString(t.text("title")) || m.counts["tests"][key] == 0:
			s.AddBroken(cmp.Or(t.text("file"), mochaGroupOf(t)), t.text("title")+": "+t.text("err"))
		default:
			failPassedTest(s, t)
		}
	}

	s.CheckTotal("tests", stats.total("tests"), s.Totals.Tests-before)
	s.CheckFailures("failures", stats.total("failures"), len(m.failures))
	s.Duration += stats.number("duration").In(time.Millisecond)
}

// failPassedTest handles the failure of a test that passed before: it called done twice,
// or failed after its end.
func failPassedTest(s *parsed.Outcomes, t item) {
	failed := parsed.CleanTest(metric.Test{ID: mochaID(t), Message: t.text("err")})
	for i := range s.Cases {
		if c := &s.Cases[i]; c.ID == failed.ID && c.Status == metric.Passed {
			s.Totals.Passed--
			s.Totals.Failed++
			c.Status, c.Flaky, c.Message = metric.Failed, false, failed.Message
			return
		}
	}
}

// mochaHookPattern matches the title of a hook: `"before all" hook for "adds"`.
var mochaHookPattern = regexp.MustCompile(`^"(before|after) (all|each)" hook`)

// mochaGroupOf returns the part of the full title before the title, which is "" without groups.
func mochaGroupOf(t item) string {
	return strings.TrimSpace(strings.TrimSuffix(t.text("fullTitle"), t.text("title")))
}

func mochaID(t item) metric.ID {
	return metric.ID{Suite: t.text("file"), Class: mochaGroupOf(t), Name: cmp.Or(t.text("title"), t.text("fullTitle"))}
}

// toTest returns the test with its outcome. Of two tests with the same title, the one
// with an error is the one that failed.
func (m *mochaReport) toTest(t item) metric.Test {
	out := metric.Test{ID: mochaID(t), File: t.text("file"), Duration: t.number("duration").In(time.Millisecond)}
	failure, _ := t.at("err").value.(map[string]any)
	switch {
	case len(failure) > 0:
		m.takeFromList("failures", t)
		out.Status, out.Message = metric.Failed, t.text("err")
		if t.text("err.errorMode") != "" {
			out.Status = metric.Errored // an assertion library distinguishes errors from failures
		}
	case m.takeFromList("pending", t):
		out.Status = metric.Skipped
	case m.takeFromList("passes", t):
		out.Status, out.Flaky = metric.Passed, t.number("currentRetry") > 0
	case m.takeFromList("failures", t):
		out.Status = metric.Failed
	case !m.hasPass:
		out.Status = metric.Passed
	default:
		out.Status, out.Message = metric.Errored, "the report does not say how it ended"
	}
	return out
}
