// Package linttext reads what linters and compilers print for people.
package linttext

import "supervise/parsers/internal/parsed"

// Formats are what linters and compilers print for people.
var Formats = parsed.Rows(parsed.LintReport, parsed.Text, []parsed.Format{
	{Name: "lint-text", Silent: true, Detect: detectLintText, Parse: parseLintText, Marks: "a finding or summary line of a known tool", Tools: "the tools listed below", Note: "One text may contain several tools: a build log, `eslint . && tsc`."},
	{Name: "errorformat", Silent: true, Loose: true, Detect: detectErrorformat, Parse: parseErrorformat, Marks: "lines `file:line: message`", Tools: "unknown tools", Note: "Tried last."},
})
