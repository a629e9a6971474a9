package detector

import (
	"slices"
	"strings"

	"supervise/detector/internal/testdiff"
	"supervise/metric"
)

// Outcome is the result of an original test, from before the change, on the changed code.
type Outcome string

// The outcomes. Only Passed and Failed prove anything.
const (
	Passed  Outcome = "passed"
	Failed  Outcome = "failed"
	Unbuilt Outcome = "does_not_build" // it no longer matches the code
	NotRun  Outcome = "not_run"
)

var outcomeTexts = map[Outcome]string{
	Passed:  "the original test passes on the new code",
	Failed:  "the original test fails on the new code",
	Unbuilt: "the original test does not build with the new code",
	NotRun:  "the original test could not be run on the new code",
}

// String returns the outcome as a clause.
func (o Outcome) String() string { return outcomeTexts[o] }

var shortTexts = map[Outcome]string{Passed: "passed", Failed: "failed", Unbuilt: "did not build", NotRun: "could not be run"}

// Short returns the outcome as a verb, for lists of original tests.
func (o Outcome) Short() string { return shortTexts[o] }

// Goal is the result of an original test, with its original dependencies, on the current
// product code.
type Goal struct {
	ID           metric.ID `json:"id"`             // of the test at the base; without a name it means all tests of a suite
	File         string    `json:"file,omitempty"` // the file that defined it
	Outcome      Outcome   `json:"outcome"`
	FailedBefore bool      `json:"failed_before,omitempty"` // it failed at the base, or could not run there
	Why          string    `json:"why,omitempty"`           // its message, or why it proves nothing
	// MachineDependent says that the new version of the test depends on the machine, and the
	// original did not. That is a legitimate fix for a test that fails on one machine only.
	MachineDependent bool `json:"guarded,omitempty"`
	// AcceptedBefore says that an earlier, accepted iteration weakened the test.
	AcceptedBefore bool `json:"known,omitempty"`
	// Before and After are the original and the current text of a test that failed, or of the only
	// file in DependsOn, if they are known. DependsOn are changed files on which it may depend, at most MaxDependencies, if its
	// text did not change.
	Before    *Excerpt `json:"was,omitempty"`
	After     *Excerpt `json:"is,omitempty"`
	DependsOn []string `json:"depends_on,omitempty"`
}

// MaxDependencies bounds the files that a goal names.
const MaxDependencies = 50

// Excerpt is a part of a test in a file.
type Excerpt struct {
	File string `json:"file"`
	Line int    `json:"line"`
	Text string `json:"text"`
}

// Versions are the texts of a test before and now.
type Versions struct {
	Test   string   `json:"test"`
	Before *Excerpt `json:"was,omitempty"`
	After  *Excerpt `json:"is,omitempty"`
}

// TestsWeakened is the rule about tests that pass only in their changed form.
const TestsWeakened = "tests_weakened"

// maxVersions is the number of tests of an alert that are shown in both versions, unless the user
// declared the change and has to read all.
const maxVersions = 5

// testsWeakened makes one finding for each severity. A test was weakened if it failed
// before, since the work was about it, or if its code did not change, since it cannot have
// become wrong. Otherwise the behaviour changed, and a person has to decide whether that
// was intended.
func testsWeakened(j *judge, _ comparison, r appliedRule) []finding {
	if j.now.Tests == nil {
		return nil
	}

	type kind struct {
		severity Severity
		declared bool
	}
	found := map[kind]*finding{}
	for _, g := range j.in.Goals {
		if g.Outcome != Failed || g.AcceptedBefore || j.stillFails(g.ID) {
			continue
		}
		key := kind{High, j.isChangeDeclared(g)}
		if (g.FailedBefore && g.ID.Name != "" || j.in.ProductUnchanged && !g.FailedBefore) && !key.declared {
			key.severity = Critical // a suite that could not run before has nothing to compare with
		}
		if g.MachineDependent {
			key.severity--
		}
		if found[key] == nil {
			found[key] = &finding{severity: key.severity, action: actionOf(key.severity), declared: key.declared, values: Values{Why: goalText(g) + messageEndings[key.declared]}}
		}
		found[key].addWeakened(g)
	}

	var out []finding
	for _, key := range []kind{{Critical, false}, {High, false}, {High, true}, {Medium, false}, {Medium, true}} {
		if f := found[key]; f != nil {
			out = append(out, *f)
		}
	}
	return r.aboveThreshold(out...)
}

// messageEndings ends the message of the rule, by whether the change was declared.
var messageEndings = map[bool]string{
	false: " (if intended: --tests change=PATTERN, or supervise ack)",
	true:  " (declared by tests: change)",
}

// isChangeDeclared reports whether the user declared that the expectation of a test may change, and
// the test still passes: one that is skipped or gone expects nothing.
func (j *judge) isChangeDeclared(g Goal) bool {
	if j.opts.Tests != TestsChange && !j.mayChange(g) {
		return false
	}
	if g.ID.Name == "" {
		return true
	}
	c, exists := j.successor(g.ID)
	return exists && c.Status == metric.Passed
}

// mayChange reports whether a pattern matches a test or the test around it, its file, or all changed
// files on which it depends.
func (j *judge) mayChange(g Goal) bool {
	for id, exists := g.ID, true; exists; id, exists = id.Parent() {
		if j.changeable.matchesTest(id, g.File) {
			return true
		}
	}
	n := len(g.DependsOn)
	return n > 0 && n < MaxDependencies && !slices.ContainsFunc(g.DependsOn, func(f string) bool { return !j.changeable.matchesFile(f) })
}

// addWeakened adds a weakened test to a finding.
func (f *finding) addWeakened(g Goal) {
	f.tests = append(f.tests, g.ID)
	for _, name := range slices.Concat([]string{g.File}, g.DependsOn) {
		if name != "" && !slices.Contains(f.files, name) {
			f.files = append(f.files, name)
		}
	}
	if (f.declared || len(f.versions) < maxVersions) && (g.Before != nil || g.After != nil) {
		f.versions = append(f.versions, Versions{g.ID.String(), g.Before, g.After})
	}
}

// goalText returns the outcome of a test with the reason, if there is one.
func goalText(g Goal) string {
	if g.Why == "" {
		return g.Outcome.String()
	}
	return g.Outcome.String() + ": " + g.Why
}

// stillFails reports whether the test, or its successor, fails in its new version too.
func (j *judge) stillFails(id metric.ID) bool {
	if id.Name == "" {
		return j.now.Tests.IsBroken(id)
	}
	c, exists := j.successor(id)
	return exists && c.Failed()
}

// successor returns the current version of a test, or the test that replaced it; false if
// it is gone.
func (j *judge) successor(id metric.ID) (metric.Test, bool) {
	if c, exists := j.now.Tests.Lookup(id); exists {
		return c, true
	}
	successors := settledSuccessors(j.in.History)
	for _, d := range []*testdiff.Diff{j.previous.tests, j.baseline.tests} {
		for _, l := range d.Changes().Explained {
			successors[l.ID] = l.Successor
		}
	}
	for range successors { // longer than any chain
		next, known := successors[id]
		if !known || next == id {
			break
		}
		id = next
	}
	return j.now.Tests.Lookup(id)
}

// actionOf returns the default action for a severity.
func actionOf(s Severity) Action {
	switch {
	case s >= Critical:
		return AlertAndRollback
	case s == High:
		return AlertAndFlag
	case s <= Info:
		return Note
	}
	return AlertAndReview
}

// clearablePatterns are the tamper patterns, listed in docs/integrity.md, by which a test checks
// less. Running the original test can clear them. The other patterns are wrong whatever the code
// does.
var clearablePatterns = []string{"TP-01", "TP-02", "TP-03", "TP-04", "TP-09", "TP-10", "TP-11", "TP-12", "TP-13", "TP-14", "TP-15", "TP-16", "TP-17", "TP-18"}

// deletionRules are the rules about deleted tests, which the mutation check can clear.
var deletionRules = []string{"test_count_decreased", "tests_replaced", "working_tests_failing"}

// CanBeCleared reports whether running original tests can lower the severity of the alert:
// it is based only on a text, or on names of tests.
func (a Alert) CanBeCleared() bool {
	return a.Basis == Text && strings.HasPrefix(a.Rule, TamperPrefix) || slices.Contains(deletionRules, a.Rule)
}

// goalsOf returns the goals of the tests, and whether every test has one.
func (j *judge) goalsOf(tests []metric.Test) (out []Goal, complete bool) {
	for _, c := range tests {
		if i, exists := j.goalIndex[c.ID]; exists {
			out = append(out, j.in.Goals[i])
		}
	}
	return out, len(tests) > 0 && len(out) == len(tests)
}

// goalFor returns the goal that says most about a finding in the text: one that failed, or
// else the one that proves least. Its outcome is empty if no original test was run.
func (j *judge) goalFor(t Tampering) Goal {
	if len(j.in.Goals) == 0 || !slices.Contains(clearablePatterns, t.Pattern) {
		return Goal{}
	}
	cases := j.affectedTests(t)
	if len(cases) == 0 { // if their suite could not run before
		cases = t.AffectedTests(j.now.Tests, j.in.Before, j.in.Renamed)
	}
	goals, complete := j.goalsOf(cases)
	for _, o := range []Outcome{Failed, NotRun, Unbuilt, Passed} {
		i := slices.IndexFunc(goals, func(g Goal) bool { return g.Outcome == o })
		if i >= 0 && (complete || o != Passed) {
			return goals[i]
		}
	}
	return Goal{}
}

// severityAfterGoals returns the severity and basis of a finding in the text after the
// original tests were run. A test that passes in its original form clears the finding, or
// lowers a CRITICAL one to HIGH.
func (j *judge) severityAfterGoals(t Tampering) (Severity, Basis) {
	_, dependentsPassed := j.dependencyOf(t)
	passed := j.goalFor(t).Outcome == Passed || dependentsPassed && slices.Contains(clearablePatterns, t.Pattern)
	switch {
	case passed && t.Severity >= Critical: // the test checks nothing any more
		return High, Text
	case passed:
		return min(t.Severity, Medium), Text
	case slices.Contains(deletionPatterns, t.Pattern) && j.hadFailedBefore(t):
		return Critical, Measured
	}
	return t.Severity, Text
}

// hadFailedBefore reports whether a test that the finding names failed in the tree from
// which the iteration started.
func (j *judge) hadFailedBefore(t Tampering) bool {
	return slices.ContainsFunc(j.affectedTests(t), metric.Test.Failed)
}

// machineWords are the tokens of code, in lower case, by which a test depends on its machine.
var machineWords = map[string]bool{
	"goos": true, "goarch": true, "platform": true, "process.platform": true, "os.name": true, "arch": true,
	"windows": true, "darwin": true, "linux": true, // the system
	"uid": true, "euid": true, "getuid": true, "geteuid": true, "root": true, "isroot": true, // the user
	"lookpath": true, "which": true, "short": true, // the tools and the time that a run has
}

// AddsMachineCheck reports whether the current version of a test depends on the machine in
// a way that the old version did not.
func AddsMachineCheck(old, current TestSource) bool {
	for word := range current.Def.Tokens {
		if _, existed := old.Def.Tokens[word]; !existed && machineWords[strings.ToLower(word)] {
			return true
		}
	}
	return false
}
