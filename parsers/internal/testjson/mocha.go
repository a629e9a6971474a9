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

// mochaTest is one entry of the lists that mocha's JSON reporter writes.
type mochaTest struct {
	Title        parsed.AnyText   `json:"title"`
	FullTitle    parsed.AnyText   `json:"fullTitle"`
	File         parsed.AnyText   `json:"file"`
	Duration     parsed.AnyNumber `json:"duration"` // milliseconds
	CurrentRetry parsed.AnyNumber `json:"currentRetry"`
	Err          jsonstream.Raw   `json:"err"`
}

type mochaStats struct {
	Tests    *parsed.AnyNumber `json:"tests"`
	Failures *parsed.AnyNumber `json:"failures"`
	Duration parsed.AnyNumber  `json:"duration"`
}

// mochaReport is one report: all tests, and the same again by outcome. Hooks
// that failed are among the failures alone.
type mochaReport struct {
	stats    mochaStats
	tests    []mochaTest
	failures []mochaTest
	counts   map[string]map[mochaKey]int // by list, what is not taken
	matched  map[mochaKey]int            // failures that are tests
}

type mochaKey struct{ file, fullTitle parsed.AnyText }

func (t mochaTest) key() mochaKey { return mochaKey{t.File, t.FullTitle} }

func readMocha(d *document) error {
	d.Several = true
	m := mochaReport{counts: map[string]map[mochaKey]int{}, matched: map[mochaKey]int{}}
	list := func(name string, keep *[]mochaTest) func() error {
		return func() error {
			m.counts[name] = map[mochaKey]int{}
			return items(d, func(t mochaTest) {
				m.counts[name][t.key()]++
				if keep != nil {
					*keep = append(*keep, t)
				}
			})()
		}
	}
	err := d.members("mocha", []string{"tests", "failures"}, map[string]any{
		"stats": &m.stats, "tests": list("tests", &m.tests), "failures": list("failures", &m.failures),
		"passes": list("passes", nil), "pending": list("pending", nil),
	})
	if err == nil {
		m.add(d.Outcomes)
	}
	return err
}

// take removes the test from the list, and reports whether it was there.
func (m *mochaReport) take(list string, t mochaTest) bool {
	if m.counts[list][t.key()] == 0 {
		return false
	}
	m.counts[list][t.key()]--
	if list == "failures" {
		m.matched[t.key()]++
	}
	return true
}

func (m *mochaReport) add(s *parsed.Outcomes) {
	before := s.Totals.Tests
	for _, t := range m.tests {
		s.Add(m.outcome(t))
	}
	for _, t := range m.failures {
		switch {
		case m.matched[t.key()] > 0:
			m.matched[t.key()]--
		case mochaHook.MatchString(string(t.Title)) || m.counts["tests"][t.key()] == 0:
			s.Breaks(string(cmp.Or(t.File, parsed.AnyText(mochaGroup(t)))), string(t.Title)+": "+t.message())
		default:
			failLate(s, t)
		}
	}
	s.Stated("tests", m.stats.Tests, s.Totals.Tests-before)
	s.StatedFails("failures", m.stats.Failures, len(m.failures))
	s.Took += m.stats.Duration.In(time.Millisecond)
}

// failLate takes a failure of a test that passed at first: it called done twice, or
// failed after its end.
func failLate(s *parsed.Outcomes, t mochaTest) {
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

// mochaHook is the title of a hook among the failures.
var mochaHook = regexp.MustCompile(`^"(before|after) (all|each)" hook`)

// mochaGroup is the part of the full title before the title.
func mochaGroup(t mochaTest) string {
	return strings.TrimSpace(strings.TrimSuffix(string(t.FullTitle), string(t.Title)))
}

func (t mochaTest) id() metric.ID {
	return metric.ID{Suite: string(t.File), Class: mochaGroup(t), Name: string(cmp.Or(t.Title, t.FullTitle))}
}

func (t mochaTest) message() string { return parsed.TextOf(t.Err) }

// outcome returns the case. Of two tests with one title the one with an error
// is the one that failed.
func (m *mochaReport) outcome(t mochaTest) metric.Test {
	out := metric.Test{ID: t.id(), File: string(t.File), Duration: t.Duration.In(time.Millisecond)}
	var err struct {
		ErrorMode parsed.AnyText `json:"errorMode"`
	}
	failed := t.Err.Kind() == '{' && len(t.Err) > len("{}")
	switch {
	case failed:
		m.take("failures", t)
		out.Status, out.Message = metric.Failed, t.message()
		if jsonstream.Unmarshal(t.Err, &err) == nil && err.ErrorMode != "" {
			out.Status = metric.Errored // the error of an assertion library that has such a distinction
		}
	case m.take("pending", t):
		out.Status = metric.Skipped
	case m.take("passes", t):
		out.Status, out.Flaky = metric.Passed, t.CurrentRetry > 0
	case m.take("failures", t):
		out.Status = metric.Failed
	case m.counts["passes"] == nil:
		out.Status = metric.Passed
	default:
		out.Status, out.Message = metric.Errored, "the report does not say how it ended"
	}
	return out
}
