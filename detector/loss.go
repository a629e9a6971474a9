package detector

import (
	"supervise/detector/internal/definition"
	"supervise/detector/internal/loss"
	"supervise/detector/internal/testdiff"
	"supervise/metric"
)

// TestSource is a test definition in a source file.
type TestSource = definition.TestSource

// Duplicate is a test that is gone, and an identical one that stays.
type Duplicate = definition.Duplicate

// Loss is a test that is gone and was explained.
type Loss = loss.Loss

// Explanation is why a lost test is no deletion.
type Explanation = loss.Explanation

// The explanations that other packages distinguish.
const (
	SubjectGone = loss.SubjectGone
	AddedByLoop = loss.AddedByLoop
	NotDecided  = loss.NotDecided
)

// SameTokens reports whether two definitions of a test have the same tokens.
func SameTokens(a, b TestSource) bool { return definition.SameTokens(a, b) }

// DefinitionsOf returns the definitions of those tests that have one in the list.
func DefinitionsOf(tests *metric.Tests, list []TestSource) map[metric.ID]TestSource {
	return definition.DefinitionsOf(tests, list)
}

// TestsExpecting returns the tests whose expected output a file holds, by its location.
func TestsExpecting(file string, tests *metric.Tests) []metric.Test {
	return definition.TestsExpecting(file, tests)
}

// AffectedTests returns the earlier tests that the finding names, or all tests of its
// file if it names none. list are the definitions before the change, renamed maps old
// paths of files to new ones.
func (t Tampering) AffectedTests(before *metric.Tests, list []TestSource, renamed map[string]string) []metric.Test {
	return definition.TestsOf(t.File, t.Test, before, list, renamed)
}

// CompareTests compares the tests of two measurements several iterations apart, see
// [testdiff.CompareAcross].
func CompareTests(before, now *metric.Tests, explained []Loss) TestChanges {
	return testdiff.CompareAcross(before, now, explained)
}

// newExplainer returns what explains the lost tests of the iteration.
func (j *judge) newExplainer() *loss.Explainer {
	return loss.New(loss.Evidence{
		DefsBefore: j.in.Before, DefsAfter: j.in.After, Duplicates: j.in.Duplicates, Renamed: j.in.Renamed, GoneSymbols: j.in.GoneSymbols, AddedByLoop: j.in.AddedByLoop,
		MayRemove: j.removable.matchesTest,
		IsCleared: func(id metric.ID) (cleared, decided bool) {
			p, ok := j.clearances[id]
			return ok, p.open == ""
		},
	})
}
