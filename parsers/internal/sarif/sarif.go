// Package sarif reads SARIF 2.1.0, the format that many linters can write:
// https://docs.oasis-open.org/sarif/sarif/v2.1.0/.
package sarif

import (
	"supervise/parsers/internal/parsed"
)

// Formats is SARIF, which many linters write.
var Formats = parsed.Rows(parsed.LintReport, parsed.JSON, []parsed.Format{{Name: "sarif", Detect: detectSARIF, Parse: parseSARIF}})
