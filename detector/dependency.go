package detector

import (
	"fmt"
	"slices"

	"supervise/metric"
)

// DependencyResult is the result of running the tests that depend on a changed file (a
// helper, expected output, set-up or the configuration of the runner) with the original
// versions of all such files.
type DependencyResult struct {
	File   string `json:"file"`
	Passed int    `json:"passed"`        // tests that passed; 0 if Why is not empty
	Why    string `json:"why,omitempty"` // why these tests prove nothing
}

// String returns the result in words.
func (p DependencyResult) String() string {
	switch {
	case p.Why != "":
		return "the original " + p.File + " proves nothing: " + p.Why
	case p.Passed == 1:
		return "with the original file, the test that depends on it passes on the new code"
	}
	return fmt.Sprintf("with the original file, the %d tests that depend on it pass on the new code", p.Passed)
}

// RunnerPatterns are the patterns by which the test runner was changed to report something
// else. Running it without the change shows whether it does.
var RunnerPatterns = []string{"TP-16", "TP-21"}

// dependencyOf returns the result for the file of a finding; false if there is none, or if
// the finding is about a test.
func (j *judge) dependencyOf(t Tampering) (DependencyResult, bool) {
	i := slices.IndexFunc(j.in.Dependencies, func(p DependencyResult) bool { return p.File == t.File && p.Passed > 0 })
	if i < 0 || !slices.Contains(clearablePatterns, t.Pattern) && !slices.Contains(RunnerPatterns, t.Pattern) {
		return DependencyResult{}, false
	}
	return j.in.Dependencies[i], t.Test == "" || len(j.affectedTests(t)) == 0
}

// isVerdictUnchanged reports whether the runner reports the same without the change that a
// finding is about. A CRITICAL finding is wrong whatever the runner reports.
func (j *judge) isVerdictUnchanged(t Tampering) bool {
	_, passed := j.dependencyOf(t)
	return passed && t.Severity < Critical && slices.Contains(RunnerPatterns, t.Pattern)
}

// affectedTests returns the earlier tests that a finding is about.
func (j *judge) affectedTests(t Tampering) []metric.Test {
	return t.AffectedTests(j.in.Previous.Set.Tests, j.in.Before, j.in.Renamed)
}
