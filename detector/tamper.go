package detector

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"supervise/metric"
)

// TamperPrefix begins the names of the rules about integrity: signs in the text of
// the changed files that tests were made easier instead of the code better. The type
// of the pattern follows it.
const TamperPrefix = "tamper:"

// Tampering is what the text of the changed files says: a pattern of how agents
// game their tests.
type Tampering struct {
	Pattern  string   `json:"pattern"` // of the catalogue, "TP-05"
	Type     string   `json:"type"`    // in words, "unconditional_skip"
	Severity Severity `json:"severity"`
	// IfRan is the severity where the test is known to have run before and not to run
	// now: the reason in the text does not count then. 0 means no other severity.
	IfRan    Severity `json:"severity_if_run,omitempty"`
	File     string   `json:"file"`
	Line     int      `json:"line,omitempty"` // from 1; 0 is the entire file
	Test     string   `json:"test,omitempty"` // name, as its runner prints it
	Evidence string   `json:"evidence,omitempty"`
	// Basis is what the finding rests on; "" for the text of the change.
	Basis Basis `json:"basis,omitempty"`
	// ExplainedBy is why it is harmless; then it is at most Info.
	ExplainedBy string `json:"explained_by,omitempty"`
}

// lostPatterns are the patterns about a test that is gone. Where the tests were
// measured before and now, the rules about tests by name know better, but for files
// that no check runs.
var lostPatterns = []string{"TP-01", "TP-02"}

// tamperRule is the row of a pattern. There is one for every type.
func tamperRule(kind string, s Severity) Rule {
	return Rule{
		Name: TamperPrefix + kind, Type: kind, Severity: s, Basis: Text, Action: actionOf(s),
		Condition: "the text of the changed files shows " + words(kind), Message: "{why}",
		Source: "catalogue of tampering, docs/integrity.md",
	}
}

func words(kind string) string { return strings.ReplaceAll(kind, "_", " ") }

// tampering raises one alert for each pattern and severity. others are the alerts of
// the other rules.
func (j *judge) tampering(others []Alert) []Alert {
	if j.unread() {
		return nil
	}
	type kind struct {
		name     string
		severity Severity
		basis    Basis
	}
	groups := map[kind][]Tampering{}
	var order []kind
	for _, t := range slices.Concat(j.in.Tampering, j.undeclared()) {
		var on Basis
		if t.Severity, on = j.weigh(t); t.Severity == 0 || j.known(t, others) {
			continue
		}
		k := kind{t.Type, t.Severity, on}
		if groups[k] == nil {
			order = append(order, k)
		}
		groups[k] = append(groups[k], t)
	}
	var out []Alert
	for _, k := range order {
		r := j.opts.row(tamperRule(k.name, k.severity), AgainstPrevious)
		if r.off() {
			continue
		}
		f := j.tamperFinding(groups[k])
		f.basis = k.basis
		a := j.alert(r, AgainstPrevious, f)
		if a.Severity < High && a.Severity > Info && j.opts.Mode != ModeAggressive {
			continue
		}
		out = append(out, j.acknowledge(a)...)
	}
	return out
}

// unread reports whether the findings about integrity are not looked at.
func (j *judge) unread() bool {
	return j.opts.Mode == ModeOff || j.opts.Mode == ModeMinimal || j.in.Current.Iteration == 0
}

// hollow are the patterns by which a test still counts and guards nothing.
var hollow = []string{"TP-04", "TP-10", "TP-12"}

// weigh returns the severity of a finding in this loop, and what that rests on. Changing a test that the loop
// itself added loses nothing that was there before; but one that is left without any
// assertion makes the numbers look better than the work is.
func (j *judge) weigh(t Tampering) (Severity, Basis) {
	if t.ExplainedBy != "" || j.mayBeLost(t) {
		return 0, Text
	}
	if t.Test != "" && t.Severity > Low && j.addedByLoop(t.Test) {
		if t.Severity >= Critical && slices.Contains(hollow, t.Pattern) {
			return High, Text
		}
		return Low, Text
	}
	on := cmp.Or(t.Basis, Text)
	if t.IfRan > t.Severity && j.stopped(t) {
		t.Severity, on = t.IfRan, Measured
	}
	if _, ok := j.clearedBy(t); ok || j.verdictHeld(t) {
		return Info, Executed
	}
	if s, rests := j.afterGoals(t); s != t.Severity {
		return s, rests
	}
	return t.Severity, on
}

// stopped reports whether a test that the finding names ran in the tree before, and
// is not known to run in this one.
func (j *judge) stopped(t Tampering) bool {
	return slices.ContainsFunc(j.cases(t), func(c metric.Test) bool {
		if c.Status == metric.Skipped || c.Status == metric.NotRun {
			return false
		}
		now, there := j.now.Tests.Lookup(c.ID)
		return !there || now.Status == metric.Skipped
	})
}

// mayBeLost reports whether the user declared that the test may be removed.
func (j *judge) mayBeLost(t Tampering) bool {
	return !j.opts.Strict && slices.Contains(lostPatterns, t.Pattern) && j.removable.test(metric.ID{Suite: t.File, Name: t.Test}, t.File)
}

func (j *judge) addedByLoop(test string) bool {
	for id := range j.in.AddedByLoop {
		if id.Name == test {
			return true
		}
	}
	return false
}

// expected are the patterns by which a test expects something else and still checks it.
var expected = []string{"TP-11", "TP-13", "TP-14", "TP-15", "TP-16"}

// known reports whether the rules about tests by name have judged the same thing.
func (j *judge) known(t Tampering, others []Alert) bool {
	if j.previous.tests != nil && slices.Contains(lostPatterns, t.Pattern) && !j.unrun(t.File) {
		return true
	}
	goal := j.goalOf(t)
	return slices.ContainsFunc(others, func(a Alert) bool {
		if a.Declared {
			return slices.Contains(expected, t.Pattern) && goal.Outcome == Failed && slices.Contains(a.Tests, goal.ID)
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

// unrun reports whether a file defined tests of which no check ran any.
func (j *judge) unrun(file string) bool {
	defines := func(d TestSource) bool { return d.File == file }
	return slices.ContainsFunc(j.in.Before, defines) && len(j.cases(Tampering{File: file})) == 0
}

// tamperFinding joins findings of one kind; the message is about the first.
func (j *judge) tamperFinding(list []Tampering) finding {
	first := list[0]
	text := words(first.Type)
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
	if p, ok := j.placeOf(first); ok {
		text += "; " + p.String()
	} else if g := j.goalOf(first); g.Outcome != "" {
		text += "; " + because(g)
	}
	if p, ok := j.clearedBy(first); ok {
		text += "; " + p.String()
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
