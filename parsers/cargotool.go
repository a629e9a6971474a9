package parsers

import "slices"

// cargoFormats are what cargo, rustc and the test harness of Rust print.
var cargoFormats = slices.Concat(
	rows(TestReport, JSON, []Format{{Name: "libtest-json", Detect: detectLibtest, Parse: parseLibtest}}),
	rows(TestReport, Text, []Format{{Name: "cargo-test", Detect: detectCargoTest, Parse: parseCargoTest}}),
	rows(LintReport, JSON, []Format{
		{Name: "cargo", Detect: detectCargo, Parse: parseCargo},
		{Name: "rustc", Silent: true, Detect: detectRustc, Parse: parseRustc},
	}),
)
