package detector

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"supervise/metric"
)

// TamperPrefix starts the names of the rules about integrity: signs in the text of the
// changed files that tests were made easier instead of the code better. The type of the
// pattern follows.
const TamperPrefix = "tamper:"

// Tampering is a finding in the text of the changed files: a pattern by which agents game
// their tests.
type Tampering struct {
	Pattern  string   `json:"pattern"` // of the catalogue, "TP-05"
	Type     string   `json:"type"`    // in words, "unconditional_skip"
	Severity Severity `json:"severity"`
	// IfRan is the severity if the test ran before and does not run now: then the reason in
	// the text does not count. 0 means the same severity.
	IfRan    Severity `json:"severity_if_run,omitempty"`
	File     string   `json:"file"`
	Line     int      `json:"line,omitempty"` // from 1; 0 is the entire file
	Test     string   `json:"test,omitempty"` // name, as its runner prints it
	Evidence string   `json:"evidence,omitempty"`
	// Basis is the basis of the finding; "" for the text of the change.
	Basis Basis `json:"basis,omitempty"`
	// ExplainedBy is why the finding is harmless; then it does not count.
	ExplainedBy string `json:"explained_by,omitempty"`
}

// deletionPatterns are the patterns about deleted tests. If the tests were measured before
// and now, the rules about tests by name are more precise, except for files that no check
// runs.
var deletionPatterns = []string{"TP-01", "TP-02"}

// tamperRule returns the rule for one type of pattern.
func tamperRule(kind string, s Severity) Rule {
	return Rule{
		Name: TamperPrefix + kind, Type: kind, Severity: s, Basis: Text, Action: actionOf(s),
		Condition: "the text of the changed files shows " + spaced(kind), Message: "{why}",
		Source: "catalogue of tampering, docs/integrity.md",
	}
}

func spaced(kind string) string { return strings.ReplaceAll(kind, "_", " ") }

// tamperAlerts raises one alert for each type, severity and basis. others are the alerts of
// the other rules.
func (j *judge) tamperAlerts(others []Alert) []Alert {
	if j.skipsTampering() {
		return nil
	}

	type kind struct {
		name     string
		severity Severity
		basis    Basis
	}

	groups := map[kind][]Tampering{}
	var order []kind
	for _, t := range slices.Concat(j.in.Tampering, j.undeclaredChanges()) {
		var basis Basis
		if t.Severity, basis = j.judgeTampering(t); t.Severity == 0 || j.isReported(t, others) {
			continue
		}
		key := kind{t.Type, t.Severity, basis}
		if groups[key] == nil {
			order = append(order, key)
		}
		groups[key] = append(groups[key], t)
	}

	var out []Alert
	for _, key := range order {
		r := j.opts.apply(tamperRule(key.name, key.severity), AgainstPrevious)
		if r.isOff() {
			continue
		}
		f := j.tamperFinding(groups[key])
		f.basis = key.basis
		a := j.alert(r, AgainstPrevious, f)
		if a.Severity < High && a.Severity > Info && j.opts.Mode != ModeAggressive {
			continue
		}
		for _, t := range groups[key] {
			j.lines[a.ID()] = append(j.lines[a.ID()], line{t.File, t.Line})
		}
		out = append(out, j.acknowledge(a, j.acknowledgements)...)
	}

	return out
}

// skipsTampering reports whether findings about integrity are ignored.
func (j *judge) skipsTampering() bool {
	return j.opts.Mode == ModeOff || j.opts.Mode == ModeMinimal || j.in.Current.Iteration == 0
}

// emptyTestPatterns are the patterns by which a test still counts and checks nothing.
var emptyTestPatterns = []string{"TP-04", "TP-10", "TP-12"}

// judgeTampering returns the severity of a finding in this loop, and its basis. Changing a
// test that the loop itself added loses no earlier test. A test without any assertion
// still makes the metrics look better than the work is.
func (j *judge) judgeTampering(t Tampering) (Severity, Basis) {
	if t.ExplainedBy != "" || j.isRemovalDeclared(t) {
		return 0, Text
	}
	if t.Test != "" && t.Severity > Low && j.isAddedByLoop(t.Test) {
		if t.Severity >= Critical && slices.Contains(emptyTestPatterns, t.Pattern) {
			return High, Text
		}
		return Low, Text
	}
	basis := cmp.Or(t.Basis, Text)
	if t.IfRan > t.Severity && j.stoppedRunning(t) {
		t.Severity, basis = t.IfRan, Measured
	}
	return j.severityAfterRuns(t, basis)
}

// severityAfterRuns returns the severity and basis of a finding after the original tests and the
// mutation check ran. basis is that of the finding itself.
func (j *judge) severityAfterRuns(t Tampering, basis Basis) (Severity, Basis) {
	p, ok := j.clearanceOf(t)
	if ok && p.open == "" || j.isVerdictUnchanged(t) {
		return Info, Executed
	}
	if ok {
		t.Severity = min(t.Severity, High)
	}
	if t.Severity >= High && j.isOnlyRemoved(t) {
		return t.Severity, Executed
	}
	if severity, goalBasis := j.severityAfterGoals(t); severity != t.Severity {
		return severity, goalBasis
	}
	return t.Severity, basis
}

// stoppedRunning reports whether a test that the finding names ran on the previous tree,
// and does not run on this one.
func (j *judge) stoppedRunning(t Tampering) bool {
	return slices.ContainsFunc(j.affectedTests(t), func(c metric.Test) bool {
		if c.Status == metric.Skipped || c.Status == metric.NotRun {
			return false
		}
		now, exists := j.now.Tests.Lookup(c.ID)
		return !exists || now.Status == metric.Skipped
	})
}

// isRemovalDeclared reports whether the user declared that the test may be removed.
func (j *judge) isRemovalDeclared(t Tampering) bool {
	return !j.opts.Strict && slices.Contains(deletionPatterns, t.Pattern) && j.removable.matchesTest(metric.ID{Suite: t.File, Name: t.Test}, t.File)
}

func (j *judge) isAddedByLoop(test string) bool {
	for id := range j.in.AddedByLoop {
		if id.Name == test {
			return true
		}
	}
	return false
}

// expectationPatterns are the patterns by which a test checks another expectation.
var expectationPatterns = []string{"TP-11", "TP-13", "TP-14", "TP-15", "TP-16"}

// isReported reports whether another rule has already raised an alert about the same change.
func (j *judge) isReported(t Tampering, others []Alert) bool {
	if j.previous.tests != nil && slices.Contains(deletionPatterns, t.Pattern) && !j.hasUnrunTests(t.File) {
		return true
	}
	goal := j.goalFor(t)
	return slices.ContainsFunc(others, func(a Alert) bool {
		if a.Declared {
			return slices.Contains(expectationPatterns, t.Pattern) && goal.Outcome == Failed && slices.Contains(a.Tests, goal.ID)
		}
		if a.Severity < t.Severity {
			return false
		}
		if a.Rule == TestsWeakened && goal.Outcome == Failed {
			return slices.Contains(a.Tests, goal.ID)
		}
		return t.Test != "" && slices.ContainsFunc(a.Tests, func(id metric.ID) bool { return id.Name == t.Test })
	})
}

// hasUnrunTests reports whether a file defined tests and no check ran any of them.
func (j *judge) hasUnrunTests(file string) bool {
	defines := func(d TestSource) bool { return d.File == file }
	return slices.ContainsFunc(j.in.Before, defines) && len(j.affectedTests(Tampering{File: file})) == 0
}

// tamperFinding combines findings of one type; the message describes the first.
func (j *judge) tamperFinding(list []Tampering) finding {
	first := list[0]
	text := spaced(first.Type)
	if first.Test != "" {
		text += " of " + first.Test
	}
	if first.File != "" {
		text += " in " + first.File
	}
	if first.Line > 0 {
		text += fmt.Sprintf(":%d", first.Line)
	}
	if first.Evidence != "" {
		text += ": " + first.Evidence
	}
	if p, ok := j.dependencyOf(first); ok {
		text += "; " + p.String()
	} else if g := j.goalFor(first); g.Outcome != "" {
		text += "; " + goalText(g)
	}

	if p, ok := j.clearanceOf(first); ok {
		text += "; " + cmp.Or(p.open, p.result.String())
	} else if j.isOnlyRemoved(first) {
		text += ", but nothing replaces what was removed"
	}
	if more := len(list) - 1; more > 0 {
		text += fmt.Sprintf(" (and %d more)", more)
	}
	f := finding{values: Values{Why: strings.ToUpper(text[:1]) + text[1:], N: len(list)}}
	for _, t := range list {
		if t.File != "" && !slices.Contains(f.files, t.File) {
			f.files = append(f.files, t.File)
		}
		if t.Test != "" {
			f.tests = append(f.tests, metric.ID{Suite: t.File, Name: t.Test})
		}
	}

	slices.SortFunc(f.tests, func(a, b metric.ID) int { return cmp.Or(cmp.Compare(a.Suite, b.Suite), cmp.Compare(a.Name, b.Name)) })
	f.tests = slices.Compact(f.tests)
	return f
}
