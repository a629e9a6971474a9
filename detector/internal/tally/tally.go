// Package tally compares two sets of tests one by one: how many more pass and fail,
// without those that need not be there or pass any more.
package tally

import "supervise/metric"

// Settled is a test that need not be there any more.
type Settled struct {
	Into     metric.ID // the test it lives on in, which has to pass; zero for none
	Accepted bool      // a person accepted the loss, also where the test is there and fails
}

// Leave is what may be different.
type Leave struct {
	Settled map[metric.ID]Settled
	Flaky   func(metric.ID) bool // tests that fail for no other reason
}

// Sum is the result.
type Sum struct {
	Passing, Failing int // how many more tests pass and fail
	Settled          int // tests that need not be there or pass any more
}

// Of compares the tests now with those before; both are sorted, as [metric.NewTests]
// leaves them.
func Of(before, now *metric.Tests, l Leave) Sum {
	was, is := before.Counts(), now.Counts()
	s := Sum{Passing: is.Passed - was.Passed, Failing: is.Failed - was.Failed}
	heirs := map[metric.ID]bool{} // tests that replace others, and whether they pass
	metric.Pair(before, now, func(c, t *metric.Test) {
		if c == nil || t != nil && !l.excuses(*t) || t == nil && !l.replaced(c.ID, before, now, heirs) {
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
	for _, passes := range heirs { // no gain
		if passes {
			s.Passing--
		}
	}
	return s
}

// excuses reports whether a test that is there need not pass.
func (l Leave) excuses(t metric.Test) bool {
	return t.Status != metric.Passed && (l.Settled[t.ID].Accepted || t.Failed() && l.Flaky(t.ID))
}

// replaced reports whether a test need not be there any more. One that lives on in another
// has to pass there.
func (l Leave) replaced(id metric.ID, before, now *metric.Tests, heirs map[metric.ID]bool) bool {
	if _, settled := l.Settled[id]; !settled {
		return false
	}
	heir, lives := now.Lookup(l.heir(id, now))
	if _, old := before.Lookup(heir.ID); lives && !old {
		heirs[heir.ID] = heir.Status == metric.Passed
	}
	return !lives || heir.Status == metric.Passed
}

// heir follows a lost test to the one that it lives on in.
func (l Leave) heir(id metric.ID, now *metric.Tests) metric.ID {
	for range len(l.Settled) { // names may go in a circle
		id = l.Settled[id].Into
		if _, there := now.Lookup(id); there || id == (metric.ID{}) {
			break
		}
	}
	return id
}
