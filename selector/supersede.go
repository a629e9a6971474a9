package selector

import (
	"slices"

	"supervise/metric"
)

// progress is the part of an iteration that shows progress.
type progress struct {
	scale            comparableBy
	passed, failed   int
	errors, coverage float64
}

// comparableBy is what two states must have in common to be compared: which numbers were
// measured, and the unit and format of the coverage. If only one of them has a number, nothing is
// known about progress.
type comparableBy struct {
	errors, coverage bool
	unit             metric.Unit
	format           string
}

// progressOf returns the state of a candidate, and false when its tests were not
// measured.
func progressOf(c Candidate) (progress, bool) {
	if c.Set == nil || c.Set.Tests == nil {
		return progress{}, false
	}
	n := c.Set.Tests.Counts()
	s := progress{passed: n.Passed - c.EmptyTests, failed: n.Failed}
	s.errors, s.scale.errors = c.Set.Value(metric.ErrorCount)
	if s.coverage, s.scale.coverage = c.Set.Coverage.CountedPercent(); s.scale.coverage {
		s.scale.unit, s.scale.format = c.Set.Coverage.Unit, c.Set.Coverage.Format
	}
	return s, true
}

// supersedes reports whether a later iteration made progress that a lower score must not discard:
// more passing tests, not more failing ones, not more errors, and coverage not lower by more than
// slack points.
func (s progress) supersedes(earlier progress, slack float64) bool {
	return s.scale == earlier.scale && s.passed > earlier.passed && s.failed <= earlier.failed &&
		s.errors <= earlier.errors && s.coverage >= earlier.coverage-max(0, slack)-epsilon
}

// isAtLeast reports whether s is worse than the other in no number, so that s supersedes whatever
// the other supersedes.
func (s progress) isAtLeast(other progress) bool {
	return s.passed >= other.passed && s.failed <= other.failed && s.errors <= other.errors && s.coverage >= other.coverage
}

// progressFronts holds, for each scale, the states to which no other state is at least equal. Their
// number stays small, so that thousands of iterations are compared fast.
type progressFronts map[comparableBy][]progress

// supersede reports whether one of the states supersedes an earlier one.
func (f progressFronts) supersede(earlier progress, slack float64) bool {
	return slices.ContainsFunc(f[earlier.scale], func(later progress) bool { return later.supersedes(earlier, slack) })
}

// add adds a state, and removes those to which it is at least equal.
func (f progressFronts) add(s progress) {
	front := f[s.scale]
	if slices.ContainsFunc(front, func(other progress) bool { return other.isAtLeast(s) }) {
		return
	}
	f[s.scale] = append(slices.DeleteFunc(front, s.isAtLeast), s)
}
