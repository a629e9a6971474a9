package reasoning

import (
	"strings"

	"supervise/detector"
)

// SourceOfSelection is why the best iteration is chosen, and not the last.
const SourceOfSelection = "Self-Refine (REF-015; Madaan et al., 2023): quality can fall while an agent goes on"

// sources are where rules come from, by how their names begin.
var sources = []struct{ prefix, text string }{
	{"infinite_loop", "metric cycling, ZenML on agents in production (REF-076), docs/rules.md"},
	{"metric_cycling", "metric cycling, ZenML on agents in production (REF-076), docs/rules.md"},
	{"tests_gave_way", "tests as they were over the new code, docs/integrity.md"},
	{"tests_lost_power", "changed tests over mutants, docs/integrity.md"},
}

// Source returns where a rule comes from, for its findings in reports.
func Source(rule string) string {
	for _, s := range sources {
		if strings.HasPrefix(rule, s.prefix) {
			return s.text
		}
	}
	if !detector.Known(rule) {
		return "catalogue of tampering, docs/integrity.md"
	}
	return "docs/rules.md"
}
