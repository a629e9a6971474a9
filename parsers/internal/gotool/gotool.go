// Package gotool reads what the go command prints: go test, as text and as
// events in JSON, go vet and go build.
package gotool

import (
	"slices"

	"supervise/parsers/internal/parsed"
)

// Formats are what the go command prints.
var Formats = slices.Concat(
	parsed.Rows(parsed.TestReport, parsed.JSON, []parsed.Format{{Name: "go-test-json", Detect: detectGoTest, Parse: parseGoTest}}),
	parsed.Rows(parsed.TestReport, parsed.Text, []parsed.Format{{Name: "go-test", Detect: detectGoTestText, Parse: parseGoTestText}}),
	parsed.Rows(parsed.LintReport, parsed.JSON, []parsed.Format{{Name: "go-vet-json", Silent: true, Loose: true, Detect: detectVetJSON, Parse: parseVetJSON}}),
	parsed.Rows(parsed.LintReport, parsed.Text, []parsed.Format{
		{Name: "go-vet", Silent: true, Detect: detectVet, Parse: parseVet},
		{Name: "go-build", Silent: true, Loose: true, Detect: detectBuild, Parse: parseBuild},
	}),
)
