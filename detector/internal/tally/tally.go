// Package tally compares two sets of tests one by one. It counts how many more tests pass
// and fail, without those that no longer need to exist or pass.
package tally

import "supervise/metric"

// Settled is a test that no longer needs to exist.
type Settled struct {
	Into     metric.ID // its successor, which has to pass; zero for none
	Accepted bool      // a person accepted the loss, even if the test exists and fails
}

// Exemptions are the tests that no longer need to exist or pass.
type Exemptions struct {
	Settled map[metric.ID]Settled
	Flaky   func(metric.ID) bool // reports whether a failure of the test does not count
}

// Sum is the result.
type Sum struct {
	Passing, Failing int // how many more tests pass and fail
	Settled          int // tests that no longer need to exist or pass
}

// Compare compares the tests now with those before. Both must be sorted, as [metric.NewTests]
// sorts them. l are the tests that no longer need to exist or pass.
func Compare(before, now *metric.Tests, l Exemptions) Sum {
	old, current := before.Counts(), now.Counts()
	s := Sum{Passing: current.Passed - old.Passed, Failing: current.Failed - old.Failed}
	successors := map[metric.ID]bool{} // new tests that replace others: whether they pass
	metric.Pair(before, now, func(c, t *metric.Test) {
		if c == nil || t != nil && !l.excuses(*t) || t == nil && !l.isReplaced(c.ID, before, now, successors) {
			return
		}
		s.Settled++
		if c.Status == metric.Passed {
			s.Passing++
		}
		if t != nil && t.Failed() && !c.Failed() {
			s.Failing--
		}
	})
	for _, passes := range successors { // a replacement is not a gain
		if passes {
			s.Passing--
		}
	}
	return s
}

// excuses reports whether a test that exists does not need to pass.
func (l Exemptions) excuses(t metric.Test) bool {
	return t.Status != metric.Passed && (l.Settled[t.ID].Accepted || t.Failed() && l.Flaky(t.ID))
}

// isReplaced reports whether a test no longer needs to exist. Its successor, if there is
// one, has to pass.
func (l Exemptions) isReplaced(id metric.ID, before, now *metric.Tests, successors map[metric.ID]bool) bool {
	if _, settled := l.Settled[id]; !settled {
		return false
	}
	successor, lives := now.Lookup(l.successor(id, now))
	if _, old := before.Lookup(successor.ID); lives && !old {
		successors[successor.ID] = successor.Status == metric.Passed
	}
	return !lives || successor.Status == metric.Passed
}

// successor returns the last successor of a lost test.
func (l Exemptions) successor(id metric.ID, now *metric.Tests) metric.ID {
	for range len(l.Settled) { // names may go in a circle
		id = l.Settled[id].Into
		if _, exists := now.Lookup(id); exists || id == (metric.ID{}) {
			break
		}
	}
	return id
}
