package loss

import (
	"slices"
	"strings"

	"supervise/detector/internal/definition"
	"supervise/metric"
	"supervise/source"
)

// maxCopies is the number of pairs of lost tests and definitions above which near copies are not
// looked for.
const maxCopies = 20 * maxPairs

// caseReplaced explains a case that passed or was skipped and whose test has a new case
// instead: rows of tables are renamed. A failing case is not explained by this. It also explains a
// test that did not pass and has cases now: the provider of its rows was broken.
func (s *search) caseReplaced(lost lostTest) (metric.ID, bool) {
	if lost.Status != metric.Passed {
		isRow := func(id metric.ID) bool {
			p, ok := id.Parent()
			return ok && p == lost.ID && s.canReplace(lost, id)
		}
		if successor, ok := s.takeFirst(isRow); ok {
			return successor, true
		}
	}
	if lost.Failed() {
		return metric.ID{}, false
	}
	if parent, ok := lost.Parent(); ok {
		if successor, ok := s.takeCaseOf(parent); ok {
			return successor, true
		}
		if s.lostItsTable(parent) {
			return parent, true
		}
	}
	return s.takeFirst(func(id metric.ID) bool { return s.hasSameDefinition(lost, id) })
}

// lostItsTable reports whether a test that had a single case has none any more, and
// asserts the same by itself: a table of one row became plain code.
func (s *search) lostItsTable(parent metric.ID) bool {
	old, existed := s.Before.Lookup(parent)
	_, exists := s.Now.Lookup(parent)
	if !existed || !exists || countCases(s.Before, parent) != 1 || countCases(s.Now, parent) != 0 {
		return false
	}
	return slices.ContainsFunc(s.indexBefore.Find(old), func(t *definition.TestSource) bool { return s.assertsSubject(parent, t.Def) })
}

// assertsSubject reports whether a current test asserts something about the subject of a
// lost one.
func (s *search) assertsSubject(id metric.ID, lost source.TestDef) bool {
	return slices.ContainsFunc(s.sourcesOf(id), func(t *definition.TestSource) bool {
		return len(t.Def.Assertions) > 0 && sharesSubject(lost, t.Def)
	})
}

// countCases counts the tests directly below one, up to two.
func countCases(tests *metric.Tests, parent metric.ID) int {
	n := 0
	first, _ := slices.BinarySearchFunc(tests.Cases, parent, func(c metric.Test, id metric.ID) int { return c.Compare(id) })
	for _, c := range tests.Cases[first:] {
		if n == 2 || c.Suite != parent.Suite || c.Class != parent.Class || !strings.HasPrefix(c.Name, parent.Name) {
			break
		}
		if p, ok := c.Parent(); ok && p == parent {
			n++
		}
	}
	return n
}

// becameCase explains a test that passed and was mostly the same as another one, which
// has a new case now: near copies are merged into one table. The other test must still
// assert something about the same subject.
func (s *search) becameCase(lost lostTest) (metric.ID, bool) {
	if lost.def == nil || lost.isCase || lost.Status != metric.Passed || s.pairs > maxCopies {
		return metric.ID{}, false
	}
	for _, table := range s.grownTables() {
		tooMany := s.pairs > maxPairs && table.Suite != lost.Suite
		if tooMany || !s.isNearCopy(lost, table) || !s.assertsSubject(table.ID, *lost.def) {
			continue
		}
		if id, ok := s.takeFirst(func(id metric.ID) bool { return isBelow(id, table.ID) }); ok {
			return id, true
		}
	}
	return metric.ID{}, false
}

// grownTables returns the earlier tests that have new cases, once each.
func (s *search) grownTables() []metric.Test {
	if s.grown != nil {
		return s.grown
	}
	s.grown = []metric.Test{}
	seen := map[metric.ID]bool{}
	for _, id := range s.New {
		for p, ok := id.Parent(); ok && !seen[p]; p, ok = p.Parent() {
			seen[p] = true
			if table, existed := s.Before.Lookup(p); existed {
				s.grown = append(s.grown, table)
			}
		}
	}
	return s.grown
}

// isBelow reports whether a test is a case of another one, or of a case of it.
func isBelow(id, ancestor metric.ID) bool {
	for p, ok := id.Parent(); ok; p, ok = p.Parent() {
		if p == ancestor {
			return true
		}
	}
	return false
}

// isNearCopy reports whether the lost test and another one were mostly the same.
func (s *search) isNearCopy(lost lostTest, other metric.Test) bool {
	return slices.ContainsFunc(s.indexBefore.Find(other), func(t *definition.TestSource) bool {
		return source.Similarity(*lost.def, t.Def) >= minSimilarity
	})
}
