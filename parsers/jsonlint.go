package parsers

// jsonLint are the reports of linters and compilers in JSON.
// The most specific stands first.
var jsonLint = []Format{
	{Name: "golangci-lint", Kind: LintReport, Detect: detectGolangci, Parse: parseGolangci},
	{Name: "go-vet-json", Kind: LintReport, Silent: true, Detect: detectVetJSON, Parse: parseVetJSON},
}
