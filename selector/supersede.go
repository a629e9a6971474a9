package selector

import (
	"slices"

	"supervise/metric"
)

// state is the part of an iteration that shows progress.
type state struct {
	scale            scale
	passed, failed   int
	errors, coverage float64
}

// scale is what two states must have in common to be compared: which numbers
// were measured, and coverage in which unit. Where only one of them has a number,
// nothing is known about progress.
type scale struct {
	errors, coverage bool
	unit             metric.Unit
	format           string
}

// stateOf returns the state of a candidate, and false when its tests were not
// measured.
func stateOf(c Candidate) (state, bool) {
	if c.Set == nil || c.Set.Tests == nil {
		return state{}, false
	}
	n := c.Set.Tests.Counts()
	s := state{passed: n.Passed, failed: n.Failed}
	s.errors, s.scale.errors = c.Set.Value(metric.ErrorCount)
	if s.coverage, s.scale.coverage = c.Set.Value(metric.CoveragePct); s.scale.coverage {
		s.scale.unit, s.scale.format = c.Set.Coverage.Unit, c.Set.Coverage.Format
	}
	return s, true
}

// supersedes reports whether a later iteration made progress over an earlier
// one that a lower score must not throw away: more passing tests, no more
// failing ones, no more errors, and coverage not lower by more than slack.
func (s state) supersedes(earlier state, slack float64) bool {
	return s.scale == earlier.scale && s.passed > earlier.passed && s.failed <= earlier.failed &&
		s.errors <= earlier.errors && s.coverage >= earlier.coverage-max(0, slack)-epsilon
}

// covers reports whether whatever the other supersedes, s does.
func (s state) covers(other state) bool {
	return s.passed >= other.passed && s.failed <= other.failed && s.errors <= other.errors && s.coverage >= other.coverage
}

// fronts holds, for each scale, the states that no other covers: few, however
// many iterations there were.
type fronts map[scale][]state

func (f fronts) supersede(earlier state, slack float64) bool {
	return slices.ContainsFunc(f[earlier.scale], func(later state) bool { return later.supersedes(earlier, slack) })
}

func (f fronts) add(s state) {
	front := f[s.scale]
	if slices.ContainsFunc(front, func(other state) bool { return other.covers(s) }) {
		return
	}
	f[s.scale] = append(slices.DeleteFunc(front, s.covers), s)
}
