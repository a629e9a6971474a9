package testjson

import (
	"cmp"
	"strings"
	"time"

	"supervise/internal/jsonstream"
	"supervise/internal/regexp"
	"supervise/metric"
	"supervise/parsers/internal/parsed"
)

// mochaTest is one entry of the lists in the report of mocha's JSON reporter.
type mochaTest struct {
	Title        parsed.AnyText   `json:"title"`
	FullTitle    parsed.AnyText   `json:"fullTitle"`
	File         parsed.AnyText   `json:"file"`
	Duration     parsed.AnyNumber `json:"duration"` // milliseconds
	CurrentRetry parsed.AnyNumber `json:"currentRetry"`
	Err          jsonstream.Raw   `json:"err"`
}

// mochaStats has the totals of a report. The duration is in milliseconds.
type mochaStats struct {
	Tests    *parsed.AnyNumber `json:"tests"`
	Failures *parsed.AnyNumber `json:"failures"`
	Duration parsed.AnyNumber  `json:"duration"`
}

// mochaReport is one report. It has a list of all tests, and lists of the same tests by
// outcome. Failed hooks are only in the list of failures.
type mochaReport struct {
	stats    mochaStats
	tests    []mochaTest
	failures []mochaTest
	counts   map[string]map[mochaKey]int // how many entries belong to no test yet, by list
	matched  map[mochaKey]int            // how many failures belong to a test
}

// mochaKey identifies the same test in several lists.
type mochaKey struct{ file, fullTitle parsed.AnyText }

func (t mochaTest) key() mochaKey { return mochaKey{t.File, t.FullTitle} }

// readMocha reads the lists of a report, and then adds the tests.
func readMocha(d *document) error {
	d.NumberRepeats = true
	m := mochaReport{counts: map[string]map[mochaKey]int{}, matched: map[mochaKey]int{}}
	list := func(name string, keep *[]mochaTest) func() error {
		return func() error {
			m.counts[name] = map[mochaKey]int{}
			return parsed.ItemReader(d.Reader, func(t mochaTest) {
				m.counts[name][t.key()]++
				if keep != nil {
					*keep = append(*keep, t)
				}
			})()
		}
	}
	err := d.readMembers("mocha", []string{"tests", "failures"}, map[string]any{
		"stats": &m.stats, "tests": list("tests", &m.tests), "failures": list("failures", &m.failures),
		"passes": list("passes", nil), "pending": list("pending", nil),
	})
	if err == nil {
		m.addTo(d.Outcomes)
	}
	return err
}

// takeFromList removes the test from the list, and reports whether the list had it.
func (m *mochaReport) takeFromList(list string, t mochaTest) bool {
	if m.counts[list][t.key()] == 0 {
		return false
	}
	m.counts[list][t.key()]--
	if list == "failures" {
		m.matched[t.key()]++
	}
	return true
}

// addTo adds the tests. Then each failure that belongs to no test is that of a hook, which
// breaks its file, or of a test that passed before.
func (m *mochaReport) addTo(s *parsed.Outcomes) {
	before := s.Totals.Tests
	for _, t := range m.tests {
		s.Add(m.toTest(t))
	}

	for _, t := range m.failures {
		switch {
		case m.matched[t.key()] > 0:
			m.matched[t.key()]--
		case mochaHookPattern.MatchString(string(t.Title)) || m.counts["tests"][t.key()] == 0:
			s.AddBroken(string(cmp.Or(t.File, parsed.AnyText(mochaGroupOf(t)))), string(t.Title)+": "+t.message())
		default:
			failPassedTest(s, t)
		}
	}

	s.CheckOptionalTotal("tests", m.stats.Tests, s.Totals.Tests-before)
	s.CheckOptionalFailures("failures", m.stats.Failures, len(m.failures))
	s.Duration += m.stats.Duration.In(time.Millisecond)
}

// failPassedTest handles the failure of a test that passed before: it called done twice,
// or failed after its end.
func failPassedTest(s *parsed.Outcomes, t mochaTest) {
	failed := parsed.CleanTest(metric.Test{ID: t.id(), Message: t.message()})
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
func mochaGroupOf(t mochaTest) string {
	return strings.TrimSpace(strings.TrimSuffix(string(t.FullTitle), string(t.Title)))
}

func (t mochaTest) id() metric.ID {
	return metric.ID{Suite: string(t.File), Class: mochaGroupOf(t), Name: string(cmp.Or(t.Title, t.FullTitle))}
}

func (t mochaTest) message() string { return parsed.TextOf(t.Err) }

// toTest returns the test with its outcome. Of two tests with the same title, the one
// with an error is the one that failed.
func (m *mochaReport) toTest(t mochaTest) metric.Test {
	out := metric.Test{ID: t.id(), File: string(t.File), Duration: t.Duration.In(time.Millisecond)}
	hasError := t.Err.Kind() == '{' && len(t.Err) > len("{}")
	switch {
	case hasError:
		m.takeFromList("failures", t)
		out.Status, out.Message = metric.Failed, t.message()
		var err struct {
			ErrorMode parsed.AnyText `json:"errorMode"`
		}
		if jsonstream.Unmarshal(t.Err, &err) == nil && err.ErrorMode != "" {
			out.Status = metric.Errored // an assertion library distinguishes errors from failures
		}
	case m.takeFromList("pending", t):
		out.Status = metric.Skipped
	case m.takeFromList("passes", t):
		out.Status, out.Flaky = metric.Passed, t.CurrentRetry > 0
	case m.takeFromList("failures", t):
		out.Status = metric.Failed
	case m.counts["passes"] == nil: // the report has no list of passes
		out.Status = metric.Passed
	default:
		out.Status, out.Message = metric.Errored, "the report does not say how it ended"
	}
	return out
}
