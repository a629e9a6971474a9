// Package sarif reads SARIF 2.1.0, the format that many linters can write:
// https://docs.oasis-open.org/sarif/sarif/v2.1.0/.
package sarif

import (
	"supervise/parsers/internal/parsed"
)

// Formats is SARIF, which many linters write.
var Formats = parsed.Rows(parsed.LintReport, parsed.JSON, []parsed.Format{{
	Name: "sarif", Detect: detectSARIF, Parse: parseSARIF, Marks: "`runs` with `version` or `$schema`, `runs[].tool`, `runs[].results`", Tools: "every tool that writes SARIF 2.1.0",
	Note: "The level is that of the result, else of an override, else of the rule, else warning; none, open, review and informational are notes; pass and notApplicable do not count. Accepted suppressions and results absent since the baseline do not count. Notifications of level error are errors. Paths are relative to the outermost `uriBaseId`; only the first location counts. Refused: external files, versions before 2.1, an unsuccessful run with an error without a place or without results.",
}})
