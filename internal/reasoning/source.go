package reasoning

import (
	"cmp"

	"supervise/detector"
)

// SourceOfSelection is why the best iteration is chosen, and not the last.
const SourceOfSelection = "Self-Refine (REF-015; Madaan et al., 2023): quality can fall while an agent continues"

// Source returns the origin of a rule, for its findings in reports.
func Source(rule string) string {
	r, _ := detector.FindRule(rule)
	return cmp.Or(r.Source, "docs/rules.md")
}
