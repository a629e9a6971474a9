// Package memory stores what a meter has learned from earlier measurements, by check. Without it,
// a missing report or suite could not be distinguished from one that never existed.
package memory

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"time"

	"supervise/metric"
)

// Memory is what a meter has learned. A meter that starts with the memory of another one
// continues from there. Checks are identified by their ID.
type Memory struct {
	Covered    bool                     `json:"covered,omitempty"`            // coverage was read
	Tested     []TestReport             `json:"test_reports,omitempty"`       // reports that tests were read from, sorted
	Suites     map[string]Names         `json:"suites,omitempty"`             // by check: the suites it has run
	ListedOnly Names                    `json:"listed_only,omitempty"`        // checks with tests that are known only from a list
	Covers     Names                    `json:"coverage_checks,omitempty"`    // checks that reported coverage
	Excluded   Names                    `json:"broken_at_baseline,omitempty"` // failures at the baseline, see [metric.Set]
	Deferred   map[string]DeferredTests `json:"integration_tests,omitempty"`  // by check
	Built      Names                    `json:"built,omitempty"`              // builds that succeeded
	Durations  map[string]time.Duration `json:"took_ns,omitempty"`            // by check: of its last run
	Formats    map[string]string        `json:"lint_formats,omitempty"`       // by check: the format of its findings
}

// TestReport is the report of a check, by its pattern in the plan.
type TestReport struct {
	Check   string `json:"check"`
	Pattern string `json:"pattern"`
}

func (r TestReport) compare(other TestReport) int {
	return cmp.Or(cmp.Compare(r.Check, other.Check), strings.Compare(r.Pattern, other.Pattern))
}

// DeferredTests are the integration tests of a check, which an iteration can omit: they need
// packages, servers and time.
type DeferredTests struct {
	Suites []string `json:"suites"`
	Files  string   `json:"files"`            // digest of their files, and of the poms, when they last ran
	Proven bool     `json:"proven,omitempty"` // the check succeeded without them
	Needed bool     `json:"needed,omitempty"` // the check fails without them: what it packages is needed
}

// Names is a sorted set.
type Names []string

// Has reports whether a name is in the set.
func (n Names) Has(name string) bool {
	_, found := slices.BinarySearch(n, name)
	return found
}

// add adds names to the set.
func (n *Names) add(names ...string) {
	all := slices.Concat(*n, names)
	slices.Sort(all)
	*n = slices.Compact(all)
}

// Clone returns an independent copy.
func (m *Memory) Clone() *Memory {
	out := &Memory{Covered: m.Covered, Tested: slices.Clone(m.Tested), Suites: map[string]Names{}, Deferred: map[string]DeferredTests{}, Durations: map[string]time.Duration{}, Formats: map[string]string{}}
	for check, suites := range m.Suites {
		out.learnSuites(check, suites)
	}
	for _, set := range []struct{ to, from *Names }{{&out.ListedOnly, &m.ListedOnly}, {&out.Covers, &m.Covers}, {&out.Excluded, &m.Excluded}, {&out.Built, &m.Built}} {
		set.to.add(*set.from...)
	}
	maps.Copy(out.Deferred, m.Deferred)
	maps.Copy(out.Durations, m.Durations)
	maps.Copy(out.Formats, m.Formats)
	return out
}

func (m *Memory) learnSuites(check string, suites []string) {
	set := m.Suites[check]
	set.add(suites...)
	m.Suites[check] = set
}

// LearnSuites records the suites that a check runs.
func (m *Memory) LearnSuites(check string, t *metric.Tests) {
	suites := map[string]bool{}
	for _, c := range t.Cases {
		suites[c.Suite] = true
	}
	m.learnSuites(check, slices.Collect(maps.Keys(suites)))
}

// LearnReport records that tests were read from a report.
func (m *Memory) LearnReport(r TestReport) {
	if at, known := slices.BinarySearchFunc(m.Tested, r, TestReport.compare); !known {
		m.Tested = slices.Insert(m.Tested, at, r)
	}
}

// HasReport reports whether tests were read from the report in an earlier run.
func (m *Memory) HasReport(r TestReport) bool { return slices.Contains(m.Tested, r) }

// LearnCoverage records that a check reports coverage.
func (m *Memory) LearnCoverage(check string) { m.Covers.add(check) }

// LearnBuild records that a build succeeded.
func (m *Memory) LearnBuild(check string) { m.Built.add(check) }

// LearnExcluded records failures of the baseline, as comparable lines.
func (m *Memory) LearnExcluded(lines []string) { m.Excluded.add(lines...) }

// LearnListed records whether tests of a check are known only from a list.
func (m *Memory) LearnListed(check string, only bool) {
	m.ListedOnly = slices.DeleteFunc(m.ListedOnly, func(c string) bool { return c == check })
	if only {
		m.ListedOnly.add(check)
	}
}
