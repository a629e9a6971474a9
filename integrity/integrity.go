// Package integrity finds, in a change of files, the ways in which coding agents
// game the numbers: tests deleted, skipped, emptied or weakened, runners,
// thresholds and checks turned off, outputs hard-coded. It looks at the text of
// the files alone: nothing is run, nothing is read from disk.
//
// A finding is no proof. What it may do is the policy's: see [Finding.Severity].
package integrity

import (
	"cmp"
	"slices"

	"supervise/metric"
)

// File is one changed file, before and after. Paths are slash separated and
// relative to the root of the project.
type File struct {
	Path    string // after the change; before it where the file is gone
	OldPath string // before the change, where it was renamed; else ""
	// Before and After are its text; nil where the file is not there, or is not
	// looked at because it is binary or too long.
	Before, After []byte
	// Added and Deleted say that the file was not, or is no longer, there.
	Added, Deleted bool
}

// Finding is one thing that was found.
type Finding struct {
	// Rule is the pattern of the catalogue, "TP-05".
	Rule string `json:"rule"`
	// Type is its name in words, "unconditional_skip".
	Type string `json:"type"`
	// Severity is Critical for what may be rolled back without asking, High for
	// what a person should look at first, Medium, Low and Info for what is said.
	Severity metric.Severity `json:"severity"`
	// IfRan is the severity where the test is known to have run before the change and
	// not to run after it: a reason that the text gives counts for nothing then. 0 is
	// none of its own. It is for those who ran the tests.
	IfRan metric.Severity `json:"-"`
	File  string          `json:"file"`
	// Line is where, from 1, in the file after the change, or before it where it
	// is gone; 0 is the file as a whole.
	Line int `json:"line,omitempty"`
	// Test is the name of the test concerned, as its runner prints it.
	Test string `json:"test,omitempty"`
	// Evidence are the lines that show it, as written, shortened.
	Evidence string `json:"evidence,omitempty"`
	// ExplainedBy says what makes it harmless, "" for nothing: what is explained
	// is at most Info.
	ExplainedBy string `json:"explained_by,omitempty"`
}

// Options say what is looked for. The zero value is all, with the severities of
// the catalogue.
type Options struct {
	// Off are the rules that are not applied: their Rule, their Type, or one of
	// [Families].
	Off []string `json:"off,omitempty"`
	// Enabled, unless empty, are the only rules of the catalogue that are applied.
	Enabled []string `json:"enabled,omitempty"`
	// Patterns are rules of the user's own.
	Patterns []Pattern `json:"patterns,omitempty"`
	// Base is the project before the change, for the rule that compares product
	// code with tests that did not change. It is no setting.
	Base Tree `json:"-"`
	// Texts, unless nil, has read some of the files already. It is no setting.
	Texts *Texts `json:"-"`
}

// rule is a row of the table: one pattern of the catalogue.
type rule struct {
	id       string // "TP-05"
	name     string // "unconditional_skip"
	severity metric.Severity
	// find returns what it finds; Rule, Type and, where it is 0, Severity are
	// filled in from the row.
	find func(*change) []Finding
}

// rules is the table, in the order of the catalogue.
var rules = slices.Concat(testRules, configRules)

// testRules are the rows about tests and product code.
var testRules = slices.Concat(lostRules, classRules, skipRules, rowRules, assertRules, toleranceRules, productRules, hardRules)

// Audit returns what is found in a change, the gravest first, then by file and
// line.
func Audit(files []File, opt Options) []Finding {
	c := newChange(files)
	c.base = opt.Base
	c.readAhead(opt.Texts)
	out := []Finding{}
	for _, r := range opt.table() {
		for _, f := range r.find(c) {
			f.Rule, f.Type, f.Severity = r.id, r.name, cmp.Or(f.Severity, r.severity)
			if c.unresolved(f.File) { // it is not built
				f.Severity, f.IfRan = min(f.Severity, metric.Medium), 0
			}
			if f.ExplainedBy != "" {
				f.Severity, f.IfRan = min(f.Severity, metric.Info), 0
			}
			out = append(out, f)
		}
	}
	slices.SortStableFunc(out, func(a, b Finding) int {
		return cmp.Or(cmp.Compare(b.Severity, a.Severity), cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line))
	})
	return out
}

// Rules names the rules, each as "TP-05 unconditional_skip".
func Rules() []string {
	out := make([]string, len(rules))
	for i, r := range rules {
		out[i] = r.id + " " + r.name
	}
	return out
}

// OfPattern reports whether a rule, by its name, belongs to one of the patterns of
// the catalogue.
func OfPattern(name string, patterns ...string) bool {
	return slices.ContainsFunc(rules, func(r rule) bool { return r.name == name && slices.Contains(patterns, r.id) })
}

// Unknown returns those of the names that no rule and no family has.
func Unknown(names []string) []string {
	return slices.DeleteFunc(slices.Clone(names), func(name string) bool {
		return slices.ContainsFunc(rules, func(r rule) bool { return named([]string{name}, r.id, r.name) })
	})
}
