package trajectory

import (
	"math"

	"supervise/metric"
)

// series is a list of signatures, with the variation of coverage and errors between runs.
type series struct {
	signatures []metric.Signature
	variation  int // of coverage, in tenths of a point
	errors     int // of the number of errors
}

// tenths returns points as tenths, rounded up to the largest difference that they can make
// in a [metric.Signature].
func tenths(points float64) int { return int(math.Ceil(10*points - epsilon)) }

// recurs reports whether the last signature is that of p iterations ago, with a different
// one in between. Differences in coverage within its variation, or a tenth of a point, do
// not count.
func (w series) recurs(p int) bool {
	last := len(w.signatures) - 1
	now := w.signatures[last]
	if !w.same(now, w.signatures[last-p]) {
		return false
	}
	low, high := now.Coverage, now.Coverage
	for _, between := range w.signatures[last-p : last] {
		if !w.sameButCoverage(now, between) {
			return true
		}
		low, high = min(low, between.Coverage), max(high, between.Coverage)
	}
	return high-low > max(w.variation, 1)
}

// same reports whether two signatures differ by no more than their variation.
func (w series) same(a, b metric.Signature) bool {
	return a == b || w.sameButCoverage(a, b) && max(a.Coverage-b.Coverage, b.Coverage-a.Coverage) <= w.variation
}

func (w series) sameButCoverage(a, b metric.Signature) bool {
	if a.Errors != metric.NotMeasured && b.Errors != metric.NotMeasured && max(a.Errors-b.Errors, b.Errors-a.Errors) <= w.errors {
		a.Errors = b.Errors
	}
	if (a.Coverage == metric.NotMeasured) != (b.Coverage == metric.NotMeasured) {
		return false
	}
	a.Coverage = b.Coverage
	return a == b
}

// repeats reports whether the last p signatures are those of the p before.
func (w series) repeats(p int) bool {
	s := w.signatures
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
