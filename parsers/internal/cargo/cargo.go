// Package cargo reads what cargo, rustc and Rust's test harness print, as text
// and as events in JSON.
package cargo

import (
	"slices"

	"supervise/parsers/internal/parsed"
)

// Formats are what cargo, rustc and the test harness of Rust print.
var Formats = slices.Concat(
	parsed.Rows(parsed.TestReport, parsed.JSON, []parsed.Format{{Name: "libtest-json", Detect: detectLibtest, Parse: parseLibtest}}),
	parsed.Rows(parsed.TestReport, parsed.Text, []parsed.Format{{Name: "cargo-test", Detect: detectCargoTest, Parse: parseCargoTest}}),
	parsed.Rows(parsed.LintReport, parsed.JSON, []parsed.Format{
		{Name: "cargo", Detect: detectCargo, Parse: parseCargo},
		{Name: "rustc", Silent: true, Detect: detectRustc, Parse: parseRustc},
	}),
)
