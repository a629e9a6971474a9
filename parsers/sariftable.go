package parsers

// sarifFormats is SARIF, which many linters write.
var sarifFormats = rows(LintReport, JSON, []Format{{Name: "sarif", Detect: detectSARIF, Parse: parseSARIF}})
