// Package coverage reads coverage reports. [Read] detects the format of a report from its content
// and counts its lines or statements one by one. It compares the declared totals with these
// counts: a difference is a problem of the report.
//
// The unit is that of the report: lines if it lists lines, otherwise statements, as in a Go
// profile. Entries of the same file are merged: a line is executed if one entry says so. For an
// incomplete report, Read returns an error with what was read so far. An empty report is an
// error. A report without executable lines has 0 of 0, which is no coverage, see
// [metric.Coverage.Percent].
//
// The table of formats is in this file. Each format has a file that reads the report and passes
// what it finds to a collector (collect.go), which merges the entries of each source file.
package coverage

import (
	"errors"
	"io"
	"slices"
	"strings"

	"supervise/internal/sniff"
	"supervise/internal/textstream"
	"supervise/metric"
)

// Report is the content of a report. Problems lists tolerated irregularities.
type Report struct {
	Format   string           `json:"format"`
	Coverage *metric.Coverage `json:"coverage,omitempty"`
	Problems []string         `json:"problems,omitempty"`
}

// Format is a format of reports. Detect recognizes the format from the start of the text, and
// Parse reads a report.
type Format struct {
	Name   string
	Detect func(sniff.Head) bool
	Parse  func(io.Reader) (Report, error)

	// The following texts are shown in docs/formats.md, in Markdown.
	Units string // the unit that is counted
	Marks string // how the format is recognized
	Tools string // the tools that write it
	Note  string // special rules and limits
}

// percentageDifferences explains, by format, why the tool that wrote the report prints another
// percentage.
var percentageDifferences = map[string]string{
	"go":          "`go tool cover -func` omits function literals outside functions, which the profile and `go test -cover` count",
	"coverage.py": "`coverage report` prints lines and branches as one percentage",
}

// ExplainDifference explains why the tool that wrote the report prints another percentage than c
// has. It is "" if no reason is known.
func ExplainDifference(c *metric.Coverage) string {
	if c == nil || c.Format == "coverage.py" && c.Branches == nil {
		return ""
	}
	return strings.ReplaceAll(percentageDifferences[c.Format], "`", "")
}

// formats is the table of all formats, the most specific first.
var formats = []Format{
	{Name: "go", Detect: detectGo, Parse: parseGo, Units: "statements", Marks: "`mode:` line or a block", Tools: "`go test -coverprofile`", Note: "A block that is listed twice counts once. " + percentageDifferences["go"] + "."},
	{
		Name: "jacoco", Detect: detectJaCoCo, Parse: parseJaCoCo, Units: "lines", Marks: "root `report` with counters", Tools: "JaCoCo, Kover, Pester, gcovr",
		Note: "A line with one executed instruction is executed. If lines are not listed, the counters of the file count, else those of its classes.",
	},
	{Name: "sonarqube", Detect: detectSonar, Parse: parseSonar, Units: "lines", Marks: "root `coverage` with `lineToCover`", Tools: "SonarQube's generic format"},
	{
		Name: "clover", Detect: detectClover, Parse: parseClover, Units: "statements; istanbul: lines", Marks: "root `coverage` with a project", Tools: "OpenClover, PHPUnit, gcovr, istanbul (jest, vitest, nyc, c8)",
		Note: "`stmt` is a statement, `cond` two outcomes; methods and `testproject` do not count. Istanbul writes lines, and misses branches on lines without a statement.",
	},
	{
		Name: "cobertura", Detect: detectCobertura, Parse: parseCobertura, Units: "lines", Marks: "root `coverage` with `line-rate`, `lines-valid` or packages", Tools: "Cobertura, coverage.py, gcovr, coverlet, istanbul, PHPUnit, Kover, scoverage, Microsoft and others",
		Note: "Lines of methods count if the class lists none. `condition-coverage=\"50% (1/2)\"` gives branches. The path is below the source root if there is exactly one. A report without packages is refused.",
	},
	{
		Name: "opencover", Detect: detectOpenCover, Parse: parseOpenCover, Units: "statements", Marks: "root `CoverageSession`", Tools: "OpenCover, coverlet, AltCover",
		Note: "Sequence points; one file in two modules counts once. OpenCover declares one branch more for each method.",
	},
	{
		Name: "dotcover", Detect: detectDotCover, Parse: parseDotCover, Units: "statements", Marks: "`DotCoverVersion`", Tools: "dotCover: XML, detailed XML and JSON",
		Note: "Only detailed XML names files and lines; in the others each outermost type counts as a file. HTML is not read.",
	},
	{
		Name: "istanbul", Detect: sniff.DetectJSON("*.statementMap", "*.data *.data.statementMap"), Parse: jsonReport("", (*collector).readIstanbul), Units: "lines", Marks: "`statementMap` of a file", Tools: "coverage-final.json of jest, vitest, nyc, c8",
		Note: "A line on which a statement starts counts. `{}`, a report of no file, is not recognised.",
	},
	{Name: "istanbul-summary", Detect: sniff.DetectJSON("*.lines.pct *.statements.pct"), Parse: jsonReport("", (*collector).readIstanbulSummary), Units: "lines", Marks: "`lines.pct` of a file", Tools: "coverage-summary.json", Note: "Names no lines."},
	{Name: "coverage.py", Detect: sniff.DetectJSON("meta.branch_coverage files", "files.*.executed_lines"), Parse: jsonReport("files", (*collector).readCoveragePy), Units: "lines", Marks: "`meta.branch_coverage`", Tools: "`coverage json`", Note: "What it calls statements are lines. With branches, " + percentageDifferences["coverage.py"] + "."},
	{
		Name: "llvm-cov", Detect: sniff.DetectJSON("data.[].files.[].filename", "data.[].files.[].segments", "data.[].files.[].expansions", "data.[].files.[].branches"), Parse: jsonReport("data", (*collector).readLLVM), Units: "lines", Marks: "`data.[].files`", Tools: "`llvm-cov export`, cargo llvm-cov, Swift",
		Note: "Numbers are those of `llvm-cov report`: a line in two functions (closures, generics) counts twice; in its LCOV it counts once.",
	},
	{
		Name: "gcov", Detect: sniff.DetectJSON("files.[].lines.[].line_number", "gcovr/format_version files", "gcc_version files"), Parse: jsonReport("", (*collector).readGcov), Units: "lines", Marks: "`line_number` of a file's lines", Tools: "`gcov --json-format`, `gcovr --json`",
		Note: "A line and its nth branch count over all functions they are compiled into. Lines that gcovr excludes do not count. gcov writes branches with `-b` only.",
	},
	{
		Name: "gcov-text", Detect: detectGcovText, Parse: parseGcovText, Units: "lines", Marks: "a line `-:    0:Source:`", Tools: "gcov, `llvm-cov gcov`: *.gcov",
		Note: "As gcov. A file names one source; `gcov -t` writes all into one text. A line that is missing is an error; a cut between two lines cannot be detected.",
	},
	{Name: "gcovr-summary", Detect: sniff.DetectJSON("files.[].line_total files.[].filename"), Parse: jsonReport("", (*collector).readGcovrSummary), Units: "lines", Marks: "`files.[].line_total`", Tools: "`gcovr --json-summary`", Note: "Names no lines; each instance of a template counts."},
	{Name: "coverlet", Detect: sniff.DetectJSON("*.*.*.*.Lines"), Parse: jsonReport("", (*collector).readCoverlet), Units: "lines", Marks: "`Lines` of a method", Tools: "coverlet's own JSON"},
	{
		Name: "simplecov", Detect: sniff.DetectJSON("meta.simplecov_version", "coverage.*.lines", "*.coverage.*.lines", "*.coverage.*.[]"), Parse: parseSimpleCov, Units: "lines", Marks: "`coverage.*.lines`, also by command", Tools: "SimpleCov's .resultset.json and coverage.json",
		Note: "Results of several commands are merged as SimpleCov does. .resultset.json does not know `:nocov:`: its numbers can be lower.",
	},
	{
		Name: "lcov", Detect: detectLCOV, Parse: parseLCOV, Units: "lines", Marks: "`SF:` and a record", Tools: "lcov, llvm-cov, istanbul, coverage.py, gcovr, SimpleCov, grcov, Dart, Bazel and others",
		Note: "LF, LH, BRF and BRH count only if no lines are listed. `-`, `#####`, `=====` and `undefined` mean not executed. Functions and MC/DC do not count. A cut between two records cannot be detected.",
	},
}

// Formats returns the table of all formats, the most specific first.
func Formats() []Format { return slices.Clone(formats) }

// Errors of [Read] for a text that is not a report. They are wrapped with the name of the report.
var (
	ErrEmpty         = errors.New("the coverage report is empty: look whether the tests ran to their end")
	ErrUnknownFormat = errors.New("the coverage report has none of the formats that are known: let the tests write LCOV, Cobertura XML or a Go profile")
)

// SyntaxError is the error for a damaged or incomplete report.
type SyntaxError = textstream.SyntaxError

// Read detects the format of the report in r and reads it. name is only used in messages. Errors
// wrap [ErrEmpty], [ErrUnknownFormat] or a [*SyntaxError], or come from r. With a SyntaxError,
// Read returns what was read before it.
func Read(r io.Reader, name string) (Report, error) {
	src, head, err := sniff.Open(r)
	if err != nil {
		return Report{}, textstream.WrapError(err, "coverage report", name)
	}
	if head.IsEmpty() {
		return Report{}, textstream.WrapError(ErrEmpty, "coverage report", name)
	}
	for _, f := range formats {
		if f.Detect(head) {
			report, err := f.Parse(src)
			if report.Format = f.Name; report.Coverage != nil {
				report.Coverage.Format = f.Name
			}
			return report, textstream.WrapError(err, "coverage report", name)
		}
	}
	return Report{}, textstream.WrapError(ErrUnknownFormat, "coverage report", name)
}
