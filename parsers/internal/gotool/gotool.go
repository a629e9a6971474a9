// Package gotool reads the output of the go command: of go test, go vet and go build.
//
// The events of go test -json are read in test.go, decoded in testevent.go, and collected by
// run of a package in testrun.go, which also finds out how a test binary ended. The text of go
// test -v (testtext.go) is parsed by a library, and shares that last part. The text of go vet
// and go build is read by [parsed.GoDiagnostics]; vetjson.go has go vet -json.
package gotool

import (
	"io"
	"slices"
	"strings"

	"supervise/internal/regexp"
	"supervise/internal/sniff"
	"supervise/internal/textstream"
	"supervise/parsers/internal/parsed"
)

// Formats lists the output formats of the go command.
var Formats = slices.Concat(
	parsed.SetKind(parsed.TestReport, parsed.JSON, []parsed.Format{{
		Name: "go-test-json", Detect: detectGoTest, Parse: parseGoTest, Marks: "lines with an event", Tools: "`go test -json`, `gotestsum --jsonfile`",
		Note: "Outcomes come from actions alone. A test without an end failed; a package without an end, one that was not built, and one that failed without a failing test are broken. A second run that holds only tests that failed before is a rerun.",
	}}),
	parsed.SetKind(parsed.TestReport, parsed.Text, []parsed.Format{{
		Name: "go-test", Detect: detectGoTestText, Parse: parseGoTestText, Marks: "result lines of packages, or `=== RUN` with `---`", Tools: "`go test -v`",
		Note: "As go-test-json. Without -v passed tests are not named, which is an error. Up to 10,000 tests; use -json for more, or if tests print result lines of packages. A cut right after a package that passed cannot be detected.",
	}}),
	parsed.SetKind(parsed.LintReport, parsed.JSON, []parsed.Format{{
		Name: "go-vet-json", Silent: true, Loose: true, Detect: detectVetJSON, Parse: parseVetJSON, Marks: "`{package: {analyzer: [posn, message]}}`", Tools: "`go vet -json`",
		Note: "All findings are errors.",
	}}),
	parsed.SetKind(parsed.LintReport, parsed.Text, []parsed.Format{
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

// packageClausePattern matches "package p", with which source files start as well.
var packageClausePattern = regexp.MustCompile(`^package \S+$`)

// detectVet reports whether the head has a line that only go vet prints.
func detectVet(h sniff.Head) bool {
	return h.MatchesLine(func(l string) bool {
		return strings.HasPrefix(l, "vet: ") || strings.HasPrefix(l, "# [") && parsed.GoHeaderPattern.MatchString(l)
	})
}

// detectBuild reports whether the head has an error of go build: below the header of a package,
// from loading a package, or without a place.
func detectBuild(h sniff.Head) bool {
	return h.MatchesLine(parsed.GoHeaderPattern.MatchString) && h.MatchesLine(parsed.GoPlacePattern.MatchString) || h.MatchesLine(parsed.GoLoadPattern.MatchString) ||
		h.MatchesLine(func(l string) bool {
			return parsed.GoUnplacedPattern.MatchString(l) && !packageClausePattern.MatchString(l)
		})
}

func parseVet(r io.Reader) (parsed.Report, error) { return parseDiagnostics(r, "go vet") }

func parseBuild(r io.Reader) (parsed.Report, error) { return parseDiagnostics(r, "go build") }

// parseDiagnostics reads the text of go vet or go build. Without findings, the report is clean.
func parseDiagnostics(r io.Reader, tool string) (parsed.Report, error) {
	g := parsed.GoDiagnostics{Tool: tool, AllowUnplaced: true}
	err := textstream.EachLine(r, func(l textstream.Line) {
		g.ReadLine(string(l.Text[:min(len(l.Text), parsed.MaxLine)]))
	})
	return parsed.Report{Producer: tool, Lint: g.Lint()}, err
}
