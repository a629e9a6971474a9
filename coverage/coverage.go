// Package coverage reads coverage reports. A report is recognised by its
// content, never by its name, and is counted unit by unit; what a report says
// of its totals is never trusted: if they differ, that is a problem of
// the report.
//
// Numbers keep the unit of their report: lines where it lists lines, else
// statements, as in a Go profile. A file that is listed twice is merged: a
// line of it is executed if it is in one place. A report that cannot
// be read completely gives an error and what was read so far; an empty one is an
// error, not full or no coverage. One that lists nothing executable has 0 of 0,
// which is not coverage either: [metric.Coverage.Percent] says so.
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

// Report is what was read. Problems lists what is odd about the report and was
// tolerated.
type Report struct {
	Format   string           `json:"format"`
	Coverage *metric.Coverage `json:"coverage,omitempty"`
	Problems []string         `json:"problems,omitempty"`
}

// Format is one kind of report. Detect recognises it by the beginning of its
// text, Parse reads it.
type Format struct {
	Name   string
	Detect func(sniff.Head) bool
	Parse  func(io.Reader) (Report, error)

	// What docs/formats.md says of it, in Markdown.
	Units string // what is counted
	Marks string // what it is recognised by
	Tools string // which tools write it
	Note  string // what counts as what where that is not plain, and limits
}

// percentageDifferences says, by format, why a tool of the same project prints another percentage of
// the same coverage.
var percentageDifferences = map[string]string{
	"go":          "`go tool cover -func` omits function literals outside functions, which the profile and `go test -cover` count",
	"coverage.py": "`coverage report` prints lines and branches as one percentage",
}

// ExplainDifference says why the project's own tool prints another percentage than c has, in words
// for people, "" if it prints the same as far as is known.
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

// Why a text is not a report. Both come wrapped, with the name of the
// report.
var (
	ErrEmpty         = errors.New("the coverage report is empty: look whether the tests ran to their end")
	ErrUnknownFormat = errors.New("the coverage report has none of the formats that are known: let the tests write LCOV, Cobertura XML or a Go profile")
)

// SyntaxError says where a report is damaged or cut off.
type SyntaxError = textstream.SyntaxError

// Read recognises the report in r and reads it. The name is only used in
// messages. Errors wrap [ErrEmpty], [ErrUnknownFormat] or a [*SyntaxError], or come
// from r. What was read before a SyntaxError is returned with it.
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
