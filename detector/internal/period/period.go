// Package period finds what comes again in a series of metric signatures.
package period

import (
	"math"

	"supervise/metric"
)

// Series is a series of signatures in which coverage may vary by itself.
type Series struct {
	Signatures []metric.Signature
	Wobble     int // by how many tenths of a point it does
}

// epsilon is below any difference that is shown, in tenths of a point.
const epsilon = 1e-9

// Tenths returns points as tenths, rounded up: two numbers that are as far apart
// are so at most in a [metric.Signature].
func Tenths(points float64) int { return int(math.Ceil(10*points - epsilon)) }

// Recurs reports whether the last signature is that of p iterations ago, with a
// different one in between. Coverage that varies by no more than it does by
// itself, or by a tenth of a point, makes no difference.
func (w Series) Recurs(p int) bool {
	last := len(w.Signatures) - 1
	now := w.Signatures[last]
	if !w.same(now, w.Signatures[last-p]) {
		return false
	}
	low, high := now.Coverage, now.Coverage
	for _, between := range w.Signatures[last-p : last] {
		if !sameButCoverage(now, between) {
			return true
		}
		low, high = min(low, between.Coverage), max(high, between.Coverage)
	}
	return high-low > max(w.Wobble, 1)
}

// same reports whether two signatures differ by no more than what varies by itself.
func (w Series) same(a, b metric.Signature) bool {
	return a == b || sameButCoverage(a, b) && max(a.Coverage-b.Coverage, b.Coverage-a.Coverage) <= w.Wobble
}

func sameButCoverage(a, b metric.Signature) bool {
	if (a.Coverage == metric.NotMeasured) != (b.Coverage == metric.NotMeasured) {
		return false
	}
	a.Coverage = b.Coverage
	return a == b
}

// Repeats reports whether the last p signatures are those of the p before.
func (w Series) Repeats(p int) bool {
	s := w.Signatures
	if len(s) < 2*p {
		return false
	}
	s = s[len(s)-2*p:]
	for i := range p {
		if !w.same(s[i], s[i+p]) {
			return false
		}
	}
	return true
}
