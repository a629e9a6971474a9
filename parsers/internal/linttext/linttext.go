// Package linttext reads what linters and compilers print for people.
package linttext

import (
	"supervise/parsers/internal/parsed"
)

// Formats are what linters and compilers print for people.
var Formats = parsed.Rows(parsed.LintReport, parsed.Text, []parsed.Format{
	{Name: "lint-text", Silent: true, Detect: detectLintText, Parse: parseLintText},
	{Name: "errorformat", Silent: true, Loose: true, Detect: detectErrorformat, Parse: parseErrorformat},
})
