// Package cargo reads the output of cargo, rustc and the test harness of Rust.
//
// The harness is called libtest. Its events in JSON, which nextest writes as well, are read in
// libtest.go. The text of cargo test (cargotest.go) is converted to the same events. Messages
// of the compiler and of clippy in JSON are in rustc.go; their text has a form in package
// linttext.
package cargo

import (
	"slices"

	"supervise/parsers/internal/parsed"
)

// Formats lists the output formats of cargo, rustc and the test harness of Rust.
var Formats = slices.Concat(
	parsed.SetKind(parsed.TestReport, parsed.JSON, []parsed.Format{{
		Name: "libtest-json", Detect: detectLibtest, Parse: parseLibtest, Marks: "lines that begin with `{ \"type\": \"suite\"` and have `test_count`", Tools: "`cargo test -- -Z unstable-options --format json`, `cargo nextest --message-format libtest-json`",
		Note: "ignored and allowed_failure are skipped, benchmarks passed. A suite without an end is broken, a test without one is an error. Suite: the binary that cargo names on standard error (add `2>&1`) or that nextest names. Doc tests are named without their line. nextest's passing attempt `#2` is flaky; it does not say which tests are ignored. A cut between two binaries cannot be detected.",
	}}),
	parsed.SetKind(parsed.TestReport, parsed.Text, []parsed.Format{{
		Name: "cargo-test", Detect: detectCargoTest, Parse: parseCargoTest, Marks: "`running N tests` with a line of a test or result", Tools: "cargo test",
		Note: "As libtest-json. `-q` names no tests and is an error. Use `--no-fail-fast`: cargo ends with the first binary that fails. Output without a line feed hides the outcome of its test. A cut right after a binary cannot be detected.",
	}}),
	parsed.SetKind(parsed.LintReport, parsed.JSON, []parsed.Format{
		{
			Name: "cargo", Detect: detectCargo, Parse: parseCargo, Marks: "JSON Lines with `reason`", Tools: "cargo check, build, clippy with `--message-format=json`",
			Note: "Errors with a code like E0308, or none, are type errors; denied lints are errors. One finding of several targets counts once. Without `build-finished`, or with a failure without an error, the report is refused.",
		},
		{
			Name: "rustc", Silent: true, Detect: detectRustc, Parse: parseRustc, Marks: "JSON Lines with `$message_type`", Tools: "rustc with `--error-format=json`",
			Note: "As cargo.",
		},
	}),
)
