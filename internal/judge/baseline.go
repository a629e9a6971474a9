package judge

import (
	"math"

	"supervise/metric"
)

// Wobble is the difference between two measurements of the coverage of one tree, in
// points; 0 where they cannot be compared.
func Wobble(first, second metric.Set) float64 {
	if !first.Coverage.Comparable(second.Coverage) {
		return 0
	}
	a, ok1 := first.Value(metric.CoveragePct)
	b, ok2 := second.Value(metric.CoveragePct)
	if !ok1 || !ok2 {
		return 0
	}
	return math.Abs(a - b)
}

// Unsteady returns the first results of two runs on one tree, with the tests marked as
// flaky that ended otherwise the second time. A test that failed once counts as passed,
// one that was skipped once as skipped.
func Unsteady(first, second *metric.Tests) *metric.Tests {
	out := first
	for _, t := range first.Cases {
		u, ok := second.Lookup(t.ID)
		if !ok || t.Status == u.Status || t.Status == metric.NotRun || u.Status == metric.NotRun || t.Failed() && u.Failed() {
			continue
		}
		switch {
		case t.Failed():
			t = u
			t.Flaky = true
		case u.Failed():
			t.Flaky = true
		case u.Status == metric.Skipped:
			t = u
		}
		out = out.With(t)
	}
	return out
}

// FlakyOf lists the tests that failed and passed on the same tree.
func FlakyOf(t *metric.Tests) []metric.ID {
	var out []metric.ID
	if t != nil {
		for _, c := range t.Cases {
			if c.Flaky {
				out = append(out, c.ID)
			}
		}
	}
	return out
}
