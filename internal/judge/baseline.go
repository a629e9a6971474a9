package judge

import (
	"math"

	"supervise/metric"
	"supervise/selector"
)

// Variation returns by how much metrics, and the score by these weights, differ between two
// measurements of one tree. It is nil if none differs.
func Variation(first, second metric.Set, w selector.Weights) metric.Delta {
	out := first.VariationFrom(second)
	a, b := selector.Grade(first, first, w), selector.Grade(second, first, w)
	if len(out) > 0 && a.Measured && b.Measured {
		out[metric.QualityScore] = math.Abs(b.Value - a.Value)
	}
	return out
}

// MarkFlaky returns the first results of two runs on one tree. It marks tests as flaky that failed
// in only one of them; those count as passed. A test that was skipped in one run counts as skipped.
func MarkFlaky(first, second *metric.Tests) *metric.Tests {
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
		out = out.WithTest(t)
	}
	return out
}

// FlakyTests lists the tests that failed and passed on the same tree.
func FlakyTests(t *metric.Tests) []metric.ID {
	return t.Select(func(c metric.Test) bool { return c.Flaky })
}
