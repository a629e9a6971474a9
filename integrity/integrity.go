// Package integrity finds, in a change of files, the ways in which coding agents game their
// metrics: tests deleted, skipped, emptied or weakened; runners, thresholds and checks turned off;
// outputs hard-coded. [Audit] reads only the text of the files. It runs nothing and reads nothing
// from disk. A finding is not a proof: see [Finding.Severity].
//
// The rules are in one package per group of the catalogue: internal/tests, assertions, product,
// configuration, harness and suppressions. They read the same facts about the change, which
// internal/facts derives, and do not import each other. internal/configtext reads configuration
// files for them. internal/support finds out what a file is for, see [Roles].
//
// A rule has an ID, such as TP-05, and a name, such as unconditional_skip. Several rules may have
// the same ID. family.go groups rules by ID, pattern.go compiles the rules of the user, and undo.go
// removes what some rules find.
package integrity

import (
	"cmp"
	"slices"

	"supervise/integrity/internal/assertions"
	"supervise/integrity/internal/configuration"
	"supervise/integrity/internal/facts"
	"supervise/integrity/internal/harness"
	"supervise/integrity/internal/product"
	"supervise/integrity/internal/suppressions"
	"supervise/integrity/internal/tests"
	"supervise/metric"
)

// File is one changed file, before and after.
type File = facts.File

// Finding is one place where a rule fires.
type Finding = facts.Finding

// Tree is the entire project before a change.
type Tree = facts.Tree

// InspectionCache reads each source file once, for all callers that need what is in it.
type InspectionCache = facts.InspectionCache

// Options select the rules. The zero value selects all, with the severities of the
// catalogue.
type Options struct {
	// Disabled are rules to leave out, by their Rule, their Type, or one of [Families].
	Disabled []string `json:"off,omitempty"`
	// Enabled, unless empty, are the only rules of the catalogue that are applied.
	Enabled []string `json:"enabled,omitempty"`
	// Patterns are the rules of the user.
	Patterns []Pattern `json:"patterns,omitempty"`
	// Base is the project before the change, for the rule that compares product
	// code with tests that did not change. Not a setting.
	Base Tree `json:"-"`
	// Inspections, unless nil, has read some of the files already. Not a setting.
	Inspections *InspectionCache `json:"-"`
}

// rules are the rows of all groups, in the order of the catalogue.
var rules = slices.Concat(tests.Rules, assertions.Rules, product.Rules, configuration.Rules, harness.RunnerRules, suppressions.Rules, harness.EnvironmentRules)

// Audit returns the findings in a change. The most severe ones come first; those of equal severity
// are sorted by file and line. The list is empty, not nil, if nothing is found.
func Audit(files []File, opt Options) []Finding {
	c := facts.New(files, opt.Base, opt.Inspections)
	c.ReadAhead()
	out := []Finding{}
	for _, r := range opt.enabledRules() {
		r.Find(c, func(f Finding) {
			f.Rule, f.Type, f.Severity = r.ID, r.Name, cmp.Or(f.Severity, r.Severity)
			if c.HasMergeConflict(f.File) { // the file cannot be built
				f.Severity, f.SeverityIfRan = min(f.Severity, metric.Medium), 0
			}
			if f.ExplainedBy != "" {
				f.Severity, f.SeverityIfRan = min(f.Severity, metric.Info), 0
			}
			out = append(out, f)
		})
	}
	slices.SortStableFunc(out, func(a, b Finding) int {
		return cmp.Or(cmp.Compare(b.Severity, a.Severity), cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line))
	})
	return out
}

// Rules returns the rules in the order of the catalogue, each as "TP-05 unconditional_skip".
func Rules() []string {
	out := make([]string, len(rules))
	for i, r := range rules {
		out[i] = r.ID + " " + r.Name
	}
	return out
}

// RuleHasID reports whether a rule with the name has one of the IDs.
func RuleHasID(name string, ids ...string) bool {
	return slices.ContainsFunc(rules, func(r facts.Rule) bool { return r.Name == name && slices.Contains(ids, r.ID) })
}

// UnknownRules returns those of the names that are neither the ID, the name nor the family of a
// rule.
func UnknownRules(names []string) []string {
	return slices.DeleteFunc(slices.Clone(names), func(name string) bool {
		return slices.ContainsFunc(rules, func(r facts.Rule) bool { return matchesRule([]string{name}, r.ID, r.Name) })
	})
}
