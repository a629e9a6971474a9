package detector

import (
	"slices"
	"strings"

	"supervise/internal/regexp"
	"supervise/metric"
)

// Outcome is how the original of a test, from before the change, ended over the
// changed code.
type Outcome string

// The outcomes. What is neither Held nor Broke proves nothing.
const (
	Passed  Outcome = "passed"
	Failed  Outcome = "failed"
	Unbuilt Outcome = "does_not_build" // it does not fit the code any more
	NotRun  Outcome = "not_run"
)

var outcomeTexts = map[Outcome]string{
	Passed:  "the original test passes on the new code",
	Failed:  "the original test fails on the new code",
	Unbuilt: "the original test does not build with the new code",
	NotRun:  "the original test could not be run on the new code",
}

// String says the outcome in words.
func (o Outcome) String() string { return outcomeTexts[o] }

var shortTexts = map[Outcome]string{Passed: "passed", Failed: "failed", Unbuilt: "did not build", NotRun: "could not be run"}

// Short says the outcome where it is known what was run.
func (o Outcome) Short() string { return shortTexts[o] }

// Goal is a test as it was at the base, with all that it depended on, on the current
// product code.
type Goal struct {
	ID           metric.ID `json:"id"`             // at the base; without a name: all tests of a suite
	File         string    `json:"file,omitempty"` // that defined it
	Outcome      Outcome   `json:"outcome"`
	FailedBefore bool      `json:"failed_before,omitempty"` // at the base, or could not be run there
	Why          string    `json:"why,omitempty"`           // what it says, or why it proves nothing
	// MachineDependent says that its new version asks its machine for something that it did not
	// ask for before: a test that fails on one machine alone is honestly loosened so.
	MachineDependent bool `json:"guarded,omitempty"`
	// AcceptedBefore says that an earlier iteration, which was accepted, left it like this.
	AcceptedBefore bool `json:"known,omitempty"`
	// Before and Is are the texts of a test that broke, as far as they are known. Leans are
	// changed files that it may depend on, if its own text did not change.
	Before    *Excerpt `json:"was,omitempty"`
	After     *Excerpt `json:"is,omitempty"`
	DependsOn []string `json:"depends_on,omitempty"`
}

// Excerpt is the beginning of a test in a file.
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

// maxVersions bounds the tests of an alert that are shown in both versions.
const maxVersions = 5

// testsWeakened makes one finding of the tests of each severity. A test that failed
// before is what the work was about, and one whose code did not change cannot have
// become wrong: there the test was weakened. Otherwise a behaviour changed, and a person has
// to say whether it was meant to.
func testsWeakened(j *judge, _ comparison, r row) []finding {
	if j.now.Tests == nil {
		return nil
	}
	type kind struct {
		severity Severity
		declared bool
	}
	found := map[kind]*finding{}
	for _, g := range j.in.Goals {
		if g.Outcome != Failed || g.AcceptedBefore || j.failsStill(g.ID) {
			continue
		}
		k := kind{High, j.declared(g.ID)}
		if (g.FailedBefore || j.in.ProductUnchanged) && !k.declared {
			k.severity = Critical
		}
		if g.MachineDependent {
			k.severity--
		}
		if found[k] == nil {
			found[k] = &finding{severity: k.severity, action: actionOf(k.severity), declared: k.declared, values: Values{Why: because(g) + wayOut[k.declared]}}
		}
		found[k].weakened(g)
	}
	var out []finding
	for _, k := range []kind{{Critical, false}, {High, false}, {High, true}, {Medium, false}, {Medium, true}} {
		if f := found[k]; f != nil && float64(len(f.tests)) > r.threshold() {
			out = append(out, *f)
		}
	}
	return out
}

// wayOut ends the message of the rule: what lets a test change, or has let it.
var wayOut = map[bool]string{
	false: " (if that is meant: --tests change, or supervise ack)",
	true:  " (declared by tests: change)",
}

// declared reports whether the user declared that the test may expect something else.
// One that is skipped or gone expects nothing.
func (j *judge) declared(id metric.ID) bool {
	if j.opts.Tests != TestsChange {
		return false
	}
	if id.Name == "" {
		return true
	}
	c, there := j.successor(id)
	return there && c.Status == metric.Passed
}

func (f *finding) weakened(g Goal) {
	f.tests = append(f.tests, g.ID)
	for _, name := range slices.Concat([]string{g.File}, g.DependsOn) {
		if name != "" && !slices.Contains(f.files, name) {
			f.files = append(f.files, name)
		}
	}
	if len(f.versions) < maxVersions && (g.Before != nil || g.After != nil) {
		f.versions = append(f.versions, Versions{g.ID.String(), g.Before, g.After})
	}
}

func because(g Goal) string {
	if g.Why == "" {
		return g.Outcome.String()
	}
	return g.Outcome.String() + ": " + g.Why
}

// failsStill reports whether the change to a test did not even help: it fails, or the
// test that took its place does.
func (j *judge) failsStill(id metric.ID) bool {
	if id.Name == "" {
		return slices.ContainsFunc(j.now.Tests.Broken, func(s metric.Suite) bool { return s.Name == id.Suite })
	}
	c, there := j.successor(id)
	return there && c.Failed()
}

// successor returns the test as it is now, or the one that took its place; false where
// it is gone.
func (j *judge) successor(id metric.ID) (metric.Test, bool) {
	if c, there := j.now.Tests.Lookup(id); there {
		return c, true
	}
	into := settled(j.in.History)
	for _, d := range []*testDiff{j.previous.tests, j.baseline.tests} {
		for _, l := range d.changes().Explained {
			into[l.ID] = l.Successor
		}
	}
	for range into { // a chain is no longer than that
		next, known := into[id]
		if !known || next == id {
			break
		}
		id = next
	}
	return j.now.Tests.Lookup(id)
}

// actionOf is what a finding of a severity asks for.
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

// clearable are the patterns that say that a test notices less: what it notices, a run
// shows. The others are wrong whatever the code does.
var clearable = []string{"TP-01", "TP-02", "TP-03", "TP-04", "TP-09", "TP-10", "TP-11", "TP-12", "TP-13", "TP-14", "TP-15", "TP-16", "TP-17", "TP-18"}

// lossRules are the rules about tests that are gone, which power can clear.
var lossRules = []string{"test_count_decreased", "tests_replaced", "working_tests_failing"}

// CanBeCleared reports whether the tests as they were may take the weight of an alert away:
// it rests on a text, or on names alone.
func (a Alert) CanBeCleared() bool {
	return a.Basis == Text && strings.HasPrefix(a.Rule, TamperPrefix) || slices.Contains(lossRules, a.Rule)
}

// goals are the goals among some tests, and whether all of them are known.
func (j *judge) goals(tests []metric.Test) (out []Goal, all bool) {
	all = len(tests) > 0
	for _, c := range tests {
		i, there := j.goalAt[c.ID]
		if !there {
			all = false
			continue
		}
		out = append(out, j.in.Goals[i])
	}
	return out, all
}

// goalOf returns the goal that says most about a finding in the texts: one that broke,
// or else the one that proves least. Its outcome is empty where none was run.
func (j *judge) goalOf(t Tampering) Goal {
	if len(j.in.Goals) == 0 || !slices.Contains(clearable, t.Pattern) {
		return Goal{}
	}
	cases := j.cases(t)
	if len(cases) == 0 { // their suite could not run before
		cases = t.AffectedTests(j.now.Tests, j.in.Before, j.in.Renamed)
	}
	goals, all := j.goals(cases)
	for _, o := range []Outcome{Failed, NotRun, Unbuilt, Passed} {
		i := slices.IndexFunc(goals, func(g Goal) bool { return g.Outcome == o })
		if i >= 0 && (all || o != Passed) {
			return goals[i]
		}
	}
	return Goal{}
}

// afterGoals returns the severity of a finding in the texts after its tests were run as
// they were, and what it rests on then. What passes as it was clears the change, by one
// step where the test was made empty.
func (j *judge) afterGoals(t Tampering) (Severity, Basis) {
	_, leaned := j.placeOf(t)
	switch held := j.goalOf(t).Outcome == Passed || leaned && slices.Contains(clearable, t.Pattern); {
	case held && t.Severity >= Critical: // it guards nothing any more
		return High, Text
	case held:
		return min(t.Severity, Medium), Text
	case slices.Contains(lostPatterns, t.Pattern) && j.failedBefore(t):
		return Critical, Measured
	}
	return t.Severity, Text
}

// failedBefore reports whether a test that the finding names failed in the tree
// that the iteration started from.
func (j *judge) failedBefore(t Tampering) bool {
	return slices.ContainsFunc(j.cases(t), metric.Test.Failed)
}

// machineWord matches what a test asks its machine.
var machineWord = regexp.MustCompile(`(?i)^(get)?e?uid$|^goos$|^goarch$|^platform$|^process\.platform$|^os\.name$|^lookpath$|^which$|^short$|^windows$|^darwin$|^linux$|^root$|^arch$|^isroot$`)

// AddsMachineCheck reports whether a test asks its machine for something that it did not ask
// before.
func AddsMachineCheck(was, is TestSource) bool {
	for word := range is.Def.Tokens {
		if _, asked := was.Def.Tokens[word]; !asked && machineWord.MatchString(word) {
			return true
		}
	}
	return false
}
