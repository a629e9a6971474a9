package integrity

import (
	"maps"
	"slices"

	"supervise/integrity/internal/facts"
)

// families are groups of rules that can be selected by one name.
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

// matchesRule reports whether one of the names means the rule: its number, its type,
// or a family.
func matchesRule(names []string, id, name string) bool {
	return slices.ContainsFunc(names, func(n string) bool {
		return n == id || n == name || slices.Contains(families[n], id)
	})
}

// alwaysOnRule is the rule that nobody turns off: it finds that the configuration
// that could turn it off was itself changed.
const alwaysOnRule = "supervisor_touched"

// enabledRules returns the rules that the options leave on, the user's own last. Invalid
// patterns are left out; see [CheckPatterns].
func (old Options) enabledRules() []facts.Rule {
	list := slices.Clone(rules)
	for _, p := range old.Patterns {
		if m, _, err := p.compile(); err == nil {
			list = append(list, facts.Rule{ID: m.ID, Name: m.Type, Severity: m.severity, Find: m.find})
		}
	}
	own := len(rules)
	var out []facts.Rule
	for i, r := range list {
		off := matchesRule(old.Disabled, r.ID, r.Name) || len(old.Enabled) > 0 && i < own && !matchesRule(old.Enabled, r.ID, r.Name)
		if !off || r.Name == alwaysOnRule {
			out = append(out, r)
		}
	}
	return out
}
