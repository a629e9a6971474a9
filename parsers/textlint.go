package parsers

// textLint are what linters and compilers print for people.
var textLint = rows(LintReport, Text, []Format{
	{Name: "lint-text", Silent: true, Detect: detectLintText, Parse: parseLintText},
	{Name: "errorformat", Silent: true, Loose: true, Detect: detectErrorformat, Parse: parseErrorformat},
})
