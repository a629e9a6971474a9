package detector

import (
	"fmt"
	"slices"

	"supervise/metric"
)

// DependencyResult is a changed file that tests depend on: a helper, expected output, set-up or the
// configuration of the runner. It says how the tests that depend on it ended with that
// file, and all the others of this kind, as they were at the base.
type DependencyResult struct {
	File   string `json:"file"`
	Passed int    `json:"passed"`        // tests that passed; 0 where Why says something
	Why    string `json:"why,omitempty"` // what keeps these tests from proving anything
}

// String says the result in words.
func (p DependencyResult) String() string {
	switch {
	case p.Why != "":
		return "with " + p.File + " as it was nothing is proven: " + p.Why
	case p.Passed == 1:
		return "with it as it was, the test that depends on it passes on the new code"
	}
	return fmt.Sprintf("with it as it was, the %d tests that depend on it pass on the new code", p.Passed)
}

// RunnerPatterns are the patterns that say that the runner was made to say something else: what
// it says without the change shows whether that is so.
var RunnerPatterns = []string{"TP-16", "TP-21"}

// placeOf returns how the tests ended that depend on the file of a finding, with that file
// as it was; false if the finding is about a test, or where that proves nothing.
func (j *judge) placeOf(t Tampering) (DependencyResult, bool) {
	i := slices.IndexFunc(j.in.Dependencies, func(p DependencyResult) bool { return p.File == t.File && p.Passed > 0 })
	if i < 0 || !slices.Contains(clearable, t.Pattern) && !slices.Contains(RunnerPatterns, t.Pattern) {
		return DependencyResult{}, false
	}
	return j.in.Dependencies[i], t.Test == "" || len(j.cases(t)) == 0
}

// verdictHeld reports whether the runner says the same without the change that a finding
// is about. What leaves nothing of a verdict is wrong whatever it says.
func (j *judge) verdictHeld(t Tampering) bool {
	_, held := j.placeOf(t)
	return held && t.Severity < Critical && slices.Contains(RunnerPatterns, t.Pattern)
}

// cases are the tests that a finding is about.
func (j *judge) cases(t Tampering) []metric.Test {
	return t.AffectedTests(j.in.Previous.Set.Tests, j.in.Before, j.in.Renamed)
}
