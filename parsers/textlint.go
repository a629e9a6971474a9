package parsers

// textLint are what linters and compilers print for people.
// The most specific stands first.
var textLint = []Format{
	{Name: "go-vet", Kind: LintReport, Silent: true, Detect: detectVet, Parse: parseVet},
	{Name: "lint-text", Kind: LintReport, Silent: true, Detect: detectLintText, Parse: parseLintText},
	{Name: "go-build", Kind: LintReport, Silent: true, Detect: detectBuild, Parse: parseBuild},
	{Name: "errorformat", Kind: LintReport, Silent: true, Detect: detectErrorformat, Parse: parseErrorformat},
}
