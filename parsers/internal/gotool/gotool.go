// Package gotool reads what the go command prints: go test, as text and as
// events in JSON, go vet and go build.
package gotool

import (
	"slices"

	"supervise/parsers/internal/parsed"
)

// Formats are what the go command prints.
var Formats = slices.Concat(
	parsed.Rows(parsed.TestReport, parsed.JSON, []parsed.Format{{
		Name: "go-test-json", Detect: detectGoTest, Parse: parseGoTest, Marks: "lines with an event", Tools: "`go test -json`, `gotestsum --jsonfile`",
		Note: "Outcomes come from actions alone. A test without an end failed; a package without an end, one that was not built, and one that failed without a failing test are broken. A second run that holds only tests that failed before is a rerun.",
	}}),
	parsed.Rows(parsed.TestReport, parsed.Text, []parsed.Format{{
		Name: "go-test", Detect: detectGoTestText, Parse: parseGoTestText, Marks: "result lines of packages, or `=== RUN` with `---`", Tools: "`go test -v`",
		Note: "As go-test-json. Without -v passed tests are not named, which is an error. Up to 10,000 tests; use -json for more, or if tests print result lines of packages. A cut right after a package that passed cannot be detected.",
	}}),
	parsed.Rows(parsed.LintReport, parsed.JSON, []parsed.Format{{
		Name: "go-vet-json", Silent: true, Loose: true, Detect: detectVetJSON, Parse: parseVetJSON, Marks: "`{package: {analyzer: [posn, message]}}`", Tools: "`go vet -json`",
		Note: "All findings are errors.",
	}}),
	parsed.Rows(parsed.LintReport, parsed.Text, []parsed.Format{
		{
			Name: "go-vet", Silent: true, Detect: detectVet, Parse: parseVet, Marks: "`# [package]` or `vet: ` before findings", Tools: "go vet",
			Note: "All findings are errors.",
		},
		{
			Name: "go-build", Silent: true, Loose: true, Detect: detectBuild, Parse: parseBuild, Marks: "`# package` before errors, or an error of loading a package", Tools: "go build",
			Note: "All findings are type errors.",
		},
	}),
)
