package measure

import (
	"cmp"
	"maps"
	"slices"
	"time"
)

// Memory is what a meter has learnt from its runs. A meter that starts with the memory
// of another continues where that one ended.
type Memory struct {
	Covered    bool                     `json:"covered,omitempty"`           // coverage was read
	Tested     []TestReport             `json:"test_reports,omitempty"`      // where tests were read from
	Suites     map[string][]string      `json:"suites,omitempty"`            // by check: the suites it has run
	ListedOnly []string                 `json:"listed_only,omitempty"`       // checks some of whose tests are known only from a list
	Covers     []string                 `json:"coverage_checks,omitempty"`   // checks that reported coverage
	Excluded   []string                 `json:"set_aside,omitempty"`         // see [metric.Set]
	Deferred   map[string]DeferredTests `json:"integration_tests,omitempty"` // by check
	Built      []string                 `json:"built,omitempty"`             // builds that succeeded
	Durations  map[string]time.Duration `json:"took_ns,omitempty"`           // by check: its last run
	Formats    map[string]string        `json:"lint_formats,omitempty"`      // by check: the format of its findings
}

// TestReport is the report of a check, by its pattern in the plan.
type TestReport struct {
	Check   string `json:"check"`
	Pattern string `json:"pattern"`
}

// Memory returns what the meter has learnt so far.
func (m *Meter) Memory() Memory {
	out := Memory{Covered: m.covered, ListedOnly: holding(m.listedOnly), Covers: holding(m.covers), Excluded: holding(m.excluded), Suites: map[string][]string{}, Formats: maps.Clone(m.formats), Deferred: maps.Clone(m.deferred), Built: holding(m.built), Durations: maps.Clone(m.durations)}
	for r, holds := range m.tested {
		if holds {
			out.Tested = append(out.Tested, TestReport{r.command, r.pattern})
		}
	}
	slices.SortFunc(out.Tested, func(a, b TestReport) int {
		return cmp.Or(cmp.Compare(a.Check, b.Check), cmp.Compare(a.Pattern, b.Pattern))
	})
	for check, suites := range m.suites {
		out.Suites[check] = holding(suites)
	}
	return out
}

func holding(set map[string]bool) []string {
	var out []string
	for name, holds := range set {
		if holds {
			out = append(out, name)
		}
	}
	slices.Sort(out)
	return out
}

// recall takes over the memory of another meter.
func (m *Meter) recall(old Memory) {
	m.covered = old.Covered
	for _, r := range old.Tested {
		m.tested[named{r.Check, r.Pattern}] = true
	}
	for check, suites := range old.Suites {
		m.suites[check] = map[string]bool{}
		for _, s := range suites {
			m.suites[check][s] = true
		}
	}
	for _, check := range old.ListedOnly {
		m.listedOnly[check] = true
	}
	for _, check := range old.Covers {
		m.covers[check] = true
	}
	for _, line := range old.Excluded {
		m.excluded[line] = true
	}
	maps.Copy(m.formats, old.Formats)
	maps.Copy(m.deferred, old.Deferred)
	maps.Copy(m.durations, old.Durations)
	for _, check := range old.Built {
		m.built[check] = true
	}
}
