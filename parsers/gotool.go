package parsers

import "slices"

// goFormats are what the go command prints.
var goFormats = slices.Concat(
	rows(TestReport, JSON, []Format{{Name: "go-test-json", Detect: detectGoTest, Parse: parseGoTest}}),
	rows(TestReport, Text, []Format{{Name: "go-test", Detect: detectGoTestText, Parse: parseGoTestText}}),
	rows(LintReport, JSON, []Format{{Name: "go-vet-json", Silent: true, Loose: true, Detect: detectVetJSON, Parse: parseVetJSON}}),
	rows(LintReport, Text, []Format{
		{Name: "go-vet", Silent: true, Detect: detectVet, Parse: parseVet},
		{Name: "go-build", Silent: true, Loose: true, Detect: detectBuild, Parse: parseBuild},
	}),
)
