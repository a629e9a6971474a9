package parsed

import (
	"cmp"
	"fmt"
	"slices"

	"supervise/internal/textstream"
	"supervise/metric"
)

// UniqueSuites keeps the first reason of each suite.
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

// TestSet gathers the cases of one report.
type TestSet struct {
	Cases    []metric.Test
	Totals   Totals
	Broken   []metric.Suite
	Problems textstream.Problems
	Several  bool   // cases of one identity are several tests, not attempts at one
	denied   string // the first contradiction
	unnamed  int
}

// Add takes one case, its names as they are written.
func (s *TestSet) Add(t metric.Test) {
	t.Suite, t.Class, t.Name = textstream.CleanName(t.Suite), textstream.CleanName(t.Class), textstream.CleanName(t.Name)
	if t.Name == "" {
		s.unnamed++
		t.Name = fmt.Sprintf("(unnamed %d)", s.unnamed)
	}
	s.Totals.Add(t.Status)
	s.Cases = Keep(s.Cases, t)
}

// Tests returns the set of tests, in which cases of one identity are one.
func (s *TestSet) Tests() *metric.Tests {
	t := Distinct(s.Cases, s.Several)
	t.Broken, t.Failure = UniqueSuites(s.Broken), s.Denied()
	if same := s.Totals.Tests - len(t.Cases); same > 0 {
		s.Problems.Add("%d cases have the suite, class and name of another one and are one test with it", same)
	}
	return t
}

// Distinct returns the set of the cases. With several, those of one identity are several
// tests: the second and later ones get a number, as "name[2]", unless they are reruns.
func Distinct(cases []metric.Test, several bool) *metric.Tests {
	t := metric.NewTests(cases)
	if !several || len(t.Cases) == len(cases) {
		return t
	}
	order := make([]int, len(cases)) // moving numbers is cheaper than moving cases
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

// Contradicts says that the report denies its own cases: they are not all.
func (s *TestSet) Contradicts(format string, args ...any) {
	what := textstream.ClipText(fmt.Sprintf(format, args...))
	s.denied = cmp.Or(s.denied, what)
	s.Problems.Add("%s", what)
}

// Denied returns the first contradiction, "" for none, or where suites that could not
// run explain it.
func (s *TestSet) Denied() string {
	if len(s.Broken) > 0 {
		return ""
	}
	return s.denied
}

// Fails compares how many tests failed, as the report states, with the recounts, of
// which any may be right. More than the greatest is a contradiction. A sum of less than
// 0 is one that it does not state.
func (s *TestSet) Fails(what string, stated float64, counts ...int) {
	switch n := Int(stated); {
	case stated < 0 || slices.Contains(counts, n):
	case n > slices.Max(counts):
		s.Contradicts("the report says %d %s and holds %d", n, what, counts[0])
	default:
		s.Problems.Add("the report says %d %s and holds %d", n, what, counts[0])
	}
}

// Breaks takes a suite that could not run.
func (s *TestSet) Breaks(name, why string) {
	s.Broken = append(s.Broken, metric.Suite{Name: textstream.CleanName(name), Why: why})
}
