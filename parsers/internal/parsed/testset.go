package parsed

import (
	"fmt"

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
	t := metric.NewTests(s.Cases)
	t.Broken = UniqueSuites(s.Broken)
	if same := s.Totals.Tests - len(t.Cases); same > 0 {
		s.Problems.Add("%d cases have the suite, class and name of another one and are one test with it", same)
	}
	return t
}

// Breaks takes a suite that could not run.
func (s *TestSet) Breaks(name, why string) {
	s.Broken = append(s.Broken, metric.Suite{Name: textstream.CleanName(name), Why: why})
}
