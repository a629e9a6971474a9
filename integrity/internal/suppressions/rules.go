// Package suppressions finds directives in the code that silence linters and take lines out of the
// coverage, and undoes them for a second run.
//
// suppress.go compares the directives before and after the change, and undo.go removes the new ones
// from the texts.
package suppressions

import (
	"supervise/integrity/internal/facts"
	"supervise/metric"
)

// Rules are the rows about directives in the code that silence tools.
var Rules = []facts.Rule{
	{ID: "TP-27", Name: "coverage_excluded_inline", Severity: metric.Medium, Find: directiveRule(true), Fires: "`# pragma: no cover`, `istanbul ignore`, `:nocov:`, `#[coverage(off)]`", Spares: "unreachable lines; directives that moved"},
	{ID: "TP-28", Name: "suppression_added", Severity: metric.Medium, Find: directiveRule(false), Fires: "more `# noqa`, `//nolint`, `@ts-ignore`, `@SuppressWarnings` … than before, in the complete change", Grades: "MEDIUM; HIGH for a complete file and all rules, or for three more in existing product files with fewer than ten added lines each", Spares: "moved ones; `@ts-expect-error` in tests; strings. Never HIGH in tests, in `scripts/`, `tools/`, `docs/`, `examples/` and the like, or for a single rule (`@file:Suppress(\"PackageName\")`). A reason of three words or more does not count towards the three"},
	{ID: "TP-28", Name: "suppression_baseline_grown", Severity: metric.Medium, Find: facts.PerFile(findGrownBaseline), Fires: "more lines in a file of accepted findings: `.rubocop_todo.yml`, `phpstan-baseline.neon`, `.eslintignore`", Spares: "folders without code"},
}
