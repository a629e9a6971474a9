package loss

import (
	"slices"
	"strings"

	"supervise/detector/internal/definition"
	"supervise/metric"
	"supervise/source"
)

// The shares of a lost test that must be found again.
const (
	minSimilarity = .5
	minAssertions = .5
	minLiterals   = .6
)

// maxPairs bounds how many pairs of lost and new tests are compared by their bodies. If there are
// more, only tests of the same suite are compared.
const maxPairs = 50_000

// allowed reports whether the user declared that the test may be removed.
func (s *search) allowed(lost lostTest) (metric.ID, bool) {
	return metric.ID{}, s.MayRemove(lost.ID, lost.files()...)
}

// noticed reports whether the mutation check found the remaining tests as good.
func (s *search) noticed(lost lostTest) (metric.ID, bool) {
	cleared, decided := s.IsCleared(lost.ID)
	return metric.ID{}, cleared && decided
}

// notDecided reports whether the mutation check could not decide that.
func (s *search) notDecided(lost lostTest) (metric.ID, bool) {
	cleared, decided := s.IsCleared(lost.ID)
	return metric.ID{}, cleared && !decided
}

// canReplace reports whether a new test can replace the lost one: not if it has lost all
// assertions.
func (s *search) canReplace(lost lostTest, id metric.ID) bool {
	list := s.sourcesOf(id)
	return lost.def == nil || len(list) == 0 || len(lost.def.Assertions) == 0 ||
		slices.ContainsFunc(list, func(t *definition.TestSource) bool { return len(t.Def.Assertions) > 0 })
}

// caseOfMovedParent explains a case whose parent test was explained: its successor is the case of
// the same name below the parent's successor, or any new case there.
func (s *search) caseOfMovedParent(lost lostTest) (metric.ID, bool) {
	parent, ok := lost.Parent()
	if !ok {
		return metric.ID{}, false
	}
	successor, moved := s.successors[parent]
	if !moved || successor == (metric.ID{}) {
		return successor, moved
	}
	want := successor
	want.Name += strings.TrimPrefix(lost.Name, parent.Name)
	if slices.Contains(s.free, want) {
		return s.take(want), true
	}
	return s.takeCaseOf(successor)
}

// takeCaseOf takes any free case of the test.
func (s *search) takeCaseOf(parent metric.ID) (metric.ID, bool) {
	return s.takeFirst(func(id metric.ID) bool {
		p, ok := id.Parent()
		return ok && p == parent
	})
}

// takeFirst takes the first free test that matches.
func (s *search) takeFirst(matches func(metric.ID) bool) (metric.ID, bool) {
	i := slices.IndexFunc(s.free, matches)
	if i < 0 {
		return metric.ID{}, false
	}
	return s.take(s.free[i]), true
}

// fileRenamed explains a test that has the same name in a renamed file.
func (s *search) fileRenamed(lost lostTest) (metric.ID, bool) {
	return s.takeFirst(func(id metric.ID) bool {
		return id.Name == lost.Name && s.isRenamedTo(lost, id) && s.canReplace(lost, id)
	})
}

// isRenamedTo reports whether a file of the lost test was renamed to one of the new test.
func (s *search) isRenamedTo(lost lostTest, id metric.ID) bool {
	newFiles := []string{id.Suite}
	if test, _ := s.Now.Lookup(id); test.File != "" {
		newFiles = append(newFiles, test.File)
	}
	for _, t := range s.sourcesOf(id) {
		newFiles = append(newFiles, t.File)
	}
	return slices.ContainsFunc(lost.files(), func(file string) bool {
		target := s.Renamed[file]
		return target != "" && slices.Contains(newFiles, target)
	})
}

// sameName explains a test whose name another new test has.
func (s *search) sameName(lost lostTest) (metric.ID, bool) {
	return s.takeFirst(func(id metric.ID) bool { return id.Name == lost.Name && s.canReplace(lost, id) })
}

// similarBody explains a test by the new test whose body is the most similar, if at least
// [minSimilarity] of it is the same.
func (s *search) similarBody(lost lostTest) (metric.ID, bool) {
	if lost.def == nil {
		return metric.ID{}, false
	}
	var best metric.ID
	highest := 0.0
	for _, id := range s.free {
		tooMany := s.pairs > maxPairs && id.Suite != lost.Suite
		if tooMany || s.hasSameDefinition(lost, id) || !s.canReplace(lost, id) {
			continue
		}
		similarity := s.similarity(lost, id)
		isBetter := similarity > highest || similarity == highest && haveSameRow(lost.ID, id) && !haveSameRow(lost.ID, best)
		if similarity >= minSimilarity && isBetter {
			best, highest = id, similarity
		}
	}
	if highest == 0 {
		return metric.ID{}, false
	}
	return s.take(best), true
}

// similarity returns the greatest similarity, from 0 to 1, of a definition of the lost test to one
// of the new test.
func (s *search) similarity(lost lostTest, id metric.ID) float64 {
	highest := 0.0
	for _, old := range lost.defs {
		for _, t := range s.sourcesOf(id) {
			highest = max(highest, source.Similarity(old.Def, t.Def))
		}
	}
	return highest
}

// hasSameDefinition reports whether the lost test was one of the cases of a definition
// that still exists and produces the new test: a row was exchanged.
func (s *search) hasSameDefinition(lost lostTest, id metric.ID) bool {
	return lost.isCase && slices.ContainsFunc(s.sourcesOf(id), func(t *definition.TestSource) bool { return definition.SameTest(*lost.defs[0], *t) })
}

// haveSameRow reports whether two cases of tests have the same parameters.
func haveSameRow(a, b metric.ID) bool {
	i, j := strings.IndexByte(a.Name, '['), strings.IndexByte(b.Name, '[')
	return i >= 0 && j >= 0 && a.Name[i:] == b.Name[j:]
}

// duplicate explains a test of which an identical one stays, and passes. A case of a test is none,
// since its row differs.
func (s *search) duplicate(lost lostTest) (metric.ID, bool) {
	if lost.def == nil || lost.isCase || strings.HasSuffix(lost.Name, "]") {
		return metric.ID{}, false
	}
	var staying []definition.TestSource
	for _, d := range s.Duplicates {
		d.Lost.Suite = lost.defs[0].Suite // definitions of the evidence have none
		if definition.SameTest(d.Lost, *lost.defs[0]) {
			staying = append(staying, d.Staying)
		}
	}
	if len(staying) == 0 {
		return metric.ID{}, false
	}
	index := definition.NewIndex(definition.WithSuites(staying, definition.SuitesOf(s.Now)))
	for _, t := range s.Now.Cases {
		_, existed := s.Before.Lookup(t.ID)
		if existed && t.Status == metric.Passed && len(index.Find(t)) > 0 {
			return t.ID, true
		}
	}
	return metric.ID{}, false
}

// absorbed explains a test whose assertions or literals are mostly found in added test code that
// tests the same subject. The successor is the test that has most of them.
func (s *search) absorbed(lost lostTest) (metric.ID, bool) {
	if lost.def == nil {
		return metric.ID{}, false
	}
	assertions, literals := setOf(lost.def.Assertions), setOf(lost.def.Literals)
	foundAssertions, foundLiterals := map[string]bool{}, map[string]bool{}
	var successor metric.ID
	highest := 0
	for i, a := range s.additions {
		if s.owners[i] == (metric.ID{}) || !sharesSubject(*lost.def, a.Def) {
			continue
		}
		n := addCommon(assertions, a.assertions, foundAssertions) + addCommon(literals, a.literals, foundLiterals)
		if n > highest {
			successor, highest = s.owners[i], n
		}
	}
	ok := highest > 0 && (share(foundAssertions, assertions) >= minAssertions ||
		areDistinctive(lost.def.Literals) && share(foundLiterals, literals) >= minLiterals)
	return successor, ok
}

// setOf returns the members of a list as a set.
func setOf(list []string) map[string]bool {
	set := make(map[string]bool, len(list))
	for _, s := range list {
		set[s] = true
	}
	return set
}

// addCommon adds the common members of two sets to found, and returns how many there are.
func addCommon(a, b, found map[string]bool) int {
	n := 0
	for s := range a {
		if b[s] {
			found[s] = true
			n++
		}
	}
	return n
}

// share returns the size of a part relative to the total, 0 if the total is empty.
func share(part, total map[string]bool) float64 {
	if len(total) == 0 {
		return 0
	}
	return float64(len(part)) / float64(len(total))
}

// areDistinctive reports whether at least two literals are of a kind that not every
// test has.
func areDistinctive(literals []string) bool {
	n := 0
	for _, l := range literals {
		if l != "0" && l != "1" && l != `""` && l != "``" {
			n++
		}
	}
	return n >= 2
}

// runnerSymbols are names of the test runner, which say nothing about the subject.
var runnerSymbols = setOf([]string{
	"Run", "Error", "Errorf", "Fatal", "Fatalf", "Fail", "FailNow", "Log", "Logf", "Helper", "Skip", "Skipf", "SkipNow",
	"Parallel", "Cleanup", "TempDir", "Setenv", "Name", "T", "B", "F", "testing.T", "testing.B", "testing.F",
})

// sharesSubject reports whether both tests refer to a common product symbol, or the lost
// one to none at all.
func sharesSubject(lost, other source.TestDef) bool {
	symbols := slices.DeleteFunc(slices.Clone(lost.Symbols), func(s string) bool { return runnerSymbols[s] })
	return len(symbols) == 0 || slices.ContainsFunc(symbols, func(s string) bool { return slices.Contains(other.Symbols, s) })
}

// subjectGone explains a test of product code that is gone. It does not explain a test that failed
// before, since removing both the code and its test does not finish a task.
func (s *search) subjectGone(lost lostTest) (metric.ID, bool) {
	if lost.def == nil || lost.Failed() {
		return metric.ID{}, false
	}
	return metric.ID{}, slices.ContainsFunc(lost.def.Symbols, func(symbol string) bool {
		return slices.ContainsFunc(s.GoneSymbols, func(gone string) bool { return unqualified(gone) == unqualified(symbol) })
	})
}

// unqualified returns the part of a symbol after the last dot.
func unqualified(symbol string) string { return symbol[strings.LastIndexByte(symbol, '.')+1:] }

// addedByLoop explains a test that the baseline did not have.
func (s *search) addedByLoop(lost lostTest) (metric.ID, bool) {
	return metric.ID{}, s.AddedByLoop[lost.ID]
}
