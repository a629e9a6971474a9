package detector

import (
	"slices"
	"strings"

	"supervise/metric"
	"supervise/source"
)

// maxCopies bounds how many pairs of lost tests and definitions there may be for
// near copies to be looked for at all.
const maxCopies = 20 * maxPairs

// writtenOut reports whether a test that had a single case has none any more, and
// asserts the same by itself: a table of one row became plain code.
func (s *search) writtenOut(parent metric.ID) bool {
	was, before := s.diff.before.Lookup(parent)
	_, now := s.diff.now.Lookup(parent)
	if !before || !now || casesOf(s.diff.before, parent) != 1 || casesOf(s.diff.now, parent) != 0 {
		return false
	}
	return slices.ContainsFunc(s.before.of(was), func(i int) bool {
		return slices.ContainsFunc(s.sources(parent), func(t *TestSource) bool {
			return len(t.Def.Assertions) > 0 && sharesSubject(s.before.list[i].Def, t.Def)
		})
	})
}

// casesOf counts the tests directly below one, up to two.
func casesOf(t *metric.Tests, parent metric.ID) int {
	n := 0
	at, _ := slices.BinarySearchFunc(t.Cases, parent, func(c metric.Test, id metric.ID) int { return c.Compare(id) })
	for _, c := range t.Cases[at:] {
		if n == 2 || c.Suite != parent.Suite || c.Class != parent.Class || !strings.HasPrefix(c.Name, parent.Name) {
			break
		}
		if p, ok := c.Parent(); ok && p == parent {
			n++
		}
	}
	return n
}

// becameCase explains a test that passed and was mostly the same as another one,
// which has a new case now: near copies are merged into one table. The other test
// must still assert something about the same subject.
func (s *search) becameCase(lost lostTest) (metric.ID, bool) {
	if lost.def == nil || lost.isCase || lost.Status != metric.Passed || s.pairs > maxCopies {
		return metric.ID{}, false
	}
	for _, t := range s.grownTables() {
		if s.pairs > maxPairs && t.Suite != lost.Suite {
			continue
		}
		if s.nearCopy(lost, t) && s.covers(t.ID, lost) {
			if id, ok := s.caseBelow(t.ID); ok {
				return s.take(id), true
			}
		}
	}
	return metric.ID{}, false
}

// grownTables returns the tests from before that have new cases, once each.
func (s *search) grownTables() []metric.Test {
	if s.grown != nil {
		return s.grown
	}
	s.grown = []metric.Test{}
	seen := map[metric.ID]bool{}
	for _, id := range s.diff.New {
		for p, ok := id.Parent(); ok && !seen[p]; p, ok = p.Parent() {
			seen[p] = true
			if was, there := s.diff.before.Lookup(p); there {
				s.grown = append(s.grown, was)
			}
		}
	}
	return s.grown
}

// caseBelow returns a free case of a test, or of a case of it.
func (s *search) caseBelow(table metric.ID) (metric.ID, bool) {
	for _, id := range s.free {
		for p, ok := id.Parent(); ok; p, ok = p.Parent() {
			if p == table {
				return id, true
			}
		}
	}
	return metric.ID{}, false
}

// nearCopy reports whether the lost test and another one were mostly the same.
func (s *search) nearCopy(lost lostTest, other metric.Test) bool {
	return slices.ContainsFunc(s.before.of(other), func(i int) bool {
		return source.Similarity(*lost.def, s.before.list[i].Def) >= similarEnough
	})
}

// covers reports whether a test of now asserts something about the subject of the
// lost one.
func (s *search) covers(id metric.ID, lost lostTest) bool {
	return slices.ContainsFunc(s.sources(id), func(t *TestSource) bool {
		return len(t.Def.Assertions) > 0 && sharesSubject(*lost.def, t.Def)
	})
}
