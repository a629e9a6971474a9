package parsed

import (
	"cmp"
	"fmt"
	"slices"

	"supervise/internal/textstream"
	"supervise/metric"
)

// UniqueSuites returns the suites with different names in their order. The first of equal ones
// counts.
func UniqueSuites(suites []metric.Suite) []metric.Suite {
	seen := map[string]bool{}
	var out []metric.Suite
	for _, s := range suites {
		if !seen[s.Name] {
			seen[s.Name] = true
			out = append(out, s)
		}
	}
	return out
}

// TestSet collects the cases of one report, and what the report says about itself. A case is
// one outcome as the report lists it. Several cases may be one test.
type TestSet struct {
	Cases         []metric.Test       // in the order of the report
	Totals        Totals              // of the cases
	Broken        []metric.Suite      // suites that could not run
	Problems      textstream.Problems // what is odd about the report
	NumberRepeats bool                // cases with the same identity are different tests, not attempts
	contradiction string              // the first contradiction: see AddContradiction
	unnamed       int                 // number of cases without a name
}

// Add adds a case with clean names. A case without a name gets "(unnamed 1)" and so on.
func (s *TestSet) Add(t metric.Test) {
	t.Suite, t.Class, t.Name = textstream.CleanName(t.Suite), textstream.CleanName(t.Class), textstream.CleanName(t.Name)
	if t.Name == "" {
		s.unnamed++
		t.Name = fmt.Sprintf("(unnamed %d)", s.unnamed)
	}
	s.Totals.Add(t.Status)
	s.Cases = AppendLimited(s.Cases, t)
}

// Tests returns the tests, with cases of the same identity merged.
func (s *TestSet) Tests() *metric.Tests {
	t := MergeCases(s.Cases, s.NumberRepeats)
	t.Broken, t.Failure = UniqueSuites(s.Broken), s.Contradiction()
	if same := s.Totals.Tests - len(t.Cases); same > 0 {
		s.Problems.Add("%d cases have the suite, class and name of another one and are one test with it", same)
	}
	return t
}

// MergeCases returns the tests of the cases: those with the same identity are one test.
// If numberRepeats is set, they are different tests instead, and the second and later
// ones are named "name[2]" and so on, unless they are reruns.
func MergeCases(cases []metric.Test, numberRepeats bool) *metric.Tests {
	t := metric.NewTests(cases)
	if !numberRepeats || len(t.Cases) == len(cases) {
		return t
	}

	order := make([]int, len(cases)) // sorting indexes is cheaper than moving cases
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int { return cmp.Or(cases[a].Compare(cases[b].ID), a-b) })

	id, n := metric.ID{}, 0
	for _, i := range order {
		switch c := &cases[i]; {
		case c.ID != id:
			id, n = c.ID, 1
		case !c.Rerun:
			for taken := true; taken; _, taken = t.Lookup(c.ID) {
				n++
				c.Name = fmt.Sprintf("%s[%d]", id.Name, n)
			}
		}
	}
	return metric.NewTests(cases)
}

// AddContradiction records that the report states more failures than it lists, so that
// its list cannot be complete.
func (s *TestSet) AddContradiction(format string, args ...any) {
	problem := textstream.ClipText(fmt.Sprintf(format, args...))
	s.contradiction = cmp.Or(s.contradiction, problem)
	s.Problems.Add("%s", problem)
}

// Contradiction returns the first contradiction. It is "" if there is none, or if
// suites that could not run explain it.
func (s *TestSet) Contradiction() string {
	if len(s.Broken) > 0 {
		return ""
	}
	return s.contradiction
}

// CheckFailures compares the number of failures that the report states with the counts. Tools
// count differently, so each of the counts may be right. A number above all of them is a
// contradiction, and any other difference is a problem. A number below 0 is not stated. What
// names the failures in messages.
func (s *TestSet) CheckFailures(what string, stated float64, counts ...int) {
	switch n := ToCount(stated); {
	case stated < 0 || slices.Contains(counts, n):
	case n > slices.Max(counts):
		s.AddContradiction("the report says %d %s and holds %d", n, what, counts[0])
	default:
		s.Problems.Add("the report says %d %s and holds %d", n, what, counts[0])
	}
}

// AddBroken adds a suite that could not run.
func (s *TestSet) AddBroken(name, why string) {
	s.Broken = append(s.Broken, metric.Suite{Name: textstream.CleanName(name), Why: why})
}
