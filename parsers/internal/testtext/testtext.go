// Package testtext reads what test runners print for people, and TAP.
package testtext

import (
	"supervise/parsers/internal/parsed"
)

// Formats are what test runners print for people, and TAP, the most specific
// first.
var Formats = parsed.Rows(parsed.TestReport, parsed.Text, []parsed.Format{
	{Name: "unittest", Detect: detectUnittest, Parse: parseUnittest},
	{Name: "minitest", Detect: detectMinitest, Parse: parseMinitest},
	{Name: "exunit", Detect: detectExUnit, Parse: parseExUnit},
	{Name: "tap", Detect: detectTAP, Parse: parseTAP},
})
