package integrity

import (
	"maps"
	"slices"

	"supervise/integrity/internal/facts"
)

// families are groups of rules that can be selected by one name. The lists have the IDs of the
// rules.
var families = map[string][]string{
	"test_deletion":       {"TP-01", "TP-02", "TP-03", "TP-04", "TP-05", "TP-06", "TP-07", "TP-08", "TP-09", "TP-26"},
	"assertion_weakening": {"TP-10", "TP-11", "TP-12", "TP-13", "TP-14", "TP-15", "TP-16", "TP-17", "TP-18"},
	"validation_bypass":   {"TP-10", "TP-11", "TP-12", "TP-13", "TP-14", "TP-15", "TP-16", "TP-17", "TP-18", "TP-21", "TP-22", "TP-23", "TP-24", "TP-25", "TP-28", "TP-29", "TP-30", "TP-31", "TP-32"},
	"coverage_regression": {"TP-27"},
	"feature_removal":     {"TP-17", "TP-33"},
	"specification_gaming": {
		"TP-13", "TP-19", "TP-20", "TP-23", "TP-29",
	},
	"harness": {"TP-21", "TP-22", "TP-24", "TP-25", "TP-26", "TP-29", "TP-30", "TP-31", "TP-32"},
}

// Families names the groups of rules, sorted.
func Families() []string { return slices.Sorted(maps.Keys(families)) }

// matchesRule reports whether one of the names is the ID, the name or a family of a rule.
func matchesRule(names []string, id, name string) bool {
	return slices.ContainsFunc(names, func(n string) bool {
		return n == id || n == name || slices.Contains(families[n], id)
	})
}

// alwaysOnRule is the name of the rule that no setting turns off, because it finds changes of the
// settings.
const alwaysOnRule = "supervisor_touched"

// enabledRules returns the rules that the options leave on, and then those of the user. Invalid
// patterns are left out; see [CheckPatterns].
func (o Options) enabledRules() []facts.Rule {
	out := facts.Filter(rules, func(r facts.Rule) bool {
		isSelected := len(o.Enabled) == 0 || matchesRule(o.Enabled, r.ID, r.Name)
		return r.Name == alwaysOnRule || isSelected && !matchesRule(o.Disabled, r.ID, r.Name)
	})
	for _, p := range o.Patterns {
		rule, _, err := p.compile()
		if err == nil && !matchesRule(o.Disabled, rule.ID, rule.Type) {
			out = append(out, facts.Rule{ID: rule.ID, Name: rule.Type, Severity: rule.severity, Find: rule.find})
		}
	}
	return out
}
