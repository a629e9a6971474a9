// Package suppressions finds directives in the code that silence linters and take lines
// out of the coverage, and undoes them for a second run.
package suppressions

import (
	"supervise/integrity/internal/facts"
	"supervise/metric"
)

// Rules are the rows about what is written into the code to silence the tools that
// look at it.
var Rules = []facts.Rule{
	{ID: "TP-27", Name: "coverage_excluded_inline", Severity: metric.Medium, Find: inlineRule(true)},
	{ID: "TP-28", Name: "suppression_added", Severity: metric.Medium, Find: inlineRule(false)},
	{ID: "TP-28", Name: "suppression_baseline_grown", Severity: metric.Medium, Find: baselineGrown},
}
