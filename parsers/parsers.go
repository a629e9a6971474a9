// Package parsers reads the reports of test runners, linters and compilers. It detects the
// format of a report from its content, never from its name. It counts the test cases
// itself, and only compares the totals that a report states with these counts.
//
// A format is a row of one table and a stateless function. All formats share these rules:
//
//   - If a report cannot be read completely, the result is an error and what was read so
//     far. It is never read as empty.
//   - A report that states more failures than it lists, or that it failed although
//     no test did, contradicts itself: Tests.Failure says how.
//   - A test that started and has no end failed.
//   - A package or suite that could not run is listed in Tests.Broken. Its
//     tests are unknown, not deleted.
//   - A linter's "error", or no severity at all, is an Error; "warning" is a
//     Warning; "info" and the like are Notes; an unknown severity is an
//     Error. Findings of go vet are Errors. Errors of compilers and type
//     checkers are marked as Type, and the same error seen in a package and in
//     its test variant is one finding.
//   - Terminal colors are removed from names and messages, other control
//     characters in a name become U+FFFD, and messages are cut to 8 KiB.
//
// The identity of a test is (suite, class, name). For Go that is the import
// path of the package, nothing, and the name with its subtests. For JUnit XML,
// the suite is the file attribute, or else the names of the enclosing suites
// joined by " > ". The class is classname or, if there is none, the names of the
// suites within the file. A class that repeats the suite or the name is dropped,
// so that reports of one run agree. pytest names no suite and often no file: there
// the suite is the module. For .NET, the suite is the assembly without its folder,
// and the class is the type of the test. In JSON reports, the suite is the file,
// feature, package or binary that the report names. The class is the path of the
// enclosing groups, joined by " > ". A project or platform is before it, if a test
// runs in several.
package parsers

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"

	"supervise/internal/sniff"
	"supervise/internal/textstream"
	"supervise/metric"
	"supervise/parsers/internal/cargo"
	"supervise/parsers/internal/gotool"
	"supervise/parsers/internal/lintshape"
	"supervise/parsers/internal/linttext"
	"supervise/parsers/internal/parsed"
	"supervise/parsers/internal/sarif"
	"supervise/parsers/internal/testjson"
	"supervise/parsers/internal/testtext"
	"supervise/parsers/internal/testxml"
)

// The types of a report and of a format. The formats are in internal packages.
type (
	// Report is the content of one report. A section that its format does not have is nil.
	Report = parsed.Report
	// Totals counts the test cases of a report.
	Totals = parsed.Totals
	// Format is one kind of report.
	Format = parsed.Format
	// Kind says what a format reports about.
	Kind = parsed.Kind
	// SyntaxError describes where a report is damaged or cut off.
	SyntaxError = parsed.SyntaxError
)

// The kinds of formats. A test report may hold findings as well: what did not
// compile.
const (
	TestReport = parsed.TestReport
	LintReport = parsed.LintReport
)

// formats is the table of all formats, in the order in which they are tried: XML and JSON
// before text, reports of tests before those of linters, and the most specific first.
var formats = func() []Format {
	all := slices.Concat(testxml.Formats, sarif.Formats, gotool.Formats, cargo.Formats, testjson.Formats, testtext.Formats, lintshape.Formats, linttext.Formats)
	slices.SortStableFunc(all, func(a, b Format) int { return cmp.Compare(precedenceOf(a), precedenceOf(b)) })
	return all
}()

// precedenceOf returns a number that is lower for formats that are tried earlier. The first of
// its four criteria counts most.
func precedenceOf(f Format) int {
	rank := 0
	for _, later := range []bool{f.Notation == parsed.Text, f.Kind == parsed.LintReport, f.Notation == parsed.JSON, f.Loose} {
		rank *= 2
		if later {
			rank++
		}
	}
	return rank
}

// Formats returns the table of all formats, the most specific first.
func Formats() []Format { return slices.Clone(formats) }

// IsStructured reports whether the named format is XML or JSON. Unlike a text format, it is
// not detected in the output of another program by mistake.
func IsStructured(format string) bool {
	return slices.ContainsFunc(formats, func(f Format) bool { return f.Name == format && f.Notation != parsed.Text })
}

// FailsOnWarnings reports whether the linter can fail without finding an error.
func FailsOnWarnings(tool string) bool { return parsed.FailsOnWarnings(tool) }

// The reasons why a text is not a report. Both are wrapped, with the name of the report.
var (
	ErrEmpty         = errors.New("the report is empty: look whether the command ran to its end")
	ErrUnknownFormat = parsed.ErrUnknownFormat
)

// WriteJUnit writes t as JUnit XML. It is an error to write a set of tests that
// was not measured (nil).
func WriteJUnit(w io.Writer, t *metric.Tests) error { return testxml.WriteJUnit(w, t) }

// Parse detects the format of the report in r and reads it. The name is only used in
// messages. Errors wrap [ErrEmpty], [ErrUnknownFormat] or a [*SyntaxError], or come from r.
// The part before a SyntaxError is returned with it.
func Parse(r io.Reader, name string) (Report, error) {
	src, head, err := sniff.Open(r)
	if err != nil {
		return Report{}, textstream.WrapError(err, "report", name)
	}
	if head.IsEmpty() {
		return Report{}, textstream.WrapError(ErrEmpty, "report", name)
	}
	for _, f := range formats {
		if f.Detect(head) {
			report, err := f.Read(src)
			return report, textstream.WrapError(err, "report", name)
		}
	}
	return Report{}, textstream.WrapError(unknownFormatError(head), "report", name)
}

// XcresultAdvice tells the user how to get a report that can be read from Xcode.
const XcresultAdvice = "results of Xcode (xcresult) are not read: let xcbeautify or xcresultparser write JUnit XML, and xcrun llvm-cov export the coverage"

// bullseyeAdvice says how to measure the coverage with a tool whose report can be read.
const bullseyeAdvice = "BullseyeCoverage counts functions and conditions, not lines, and is not read: build with --coverage for gcov and gcovr, or with -fprofile-instr-generate -fcoverage-mapping for llvm-cov"

// unknownFormatError returns the error for a report of an unknown format, with advice if
// there is an alternative.
func unknownFormatError(h sniff.Head) error {
	switch {
	case h.HasMembers("_type._name", "actions"), h.HasMembers("testPlanConfigurations", "testNodes"):
		return fmt.Errorf("%w: %s", ErrUnknownFormat, XcresultAdvice)
	case h.HasRoot("BullseyeCoverage"), bytes.HasPrefix(h.Text, []byte("CoVfIlE")):
		return fmt.Errorf("%w: %s", ErrUnknownFormat, bullseyeAdvice)
	}
	return ErrUnknownFormat
}

// ParseAs reads the report in r as the named format. It returns the errors of [Parse], without
// the name of a report, except that an empty report of a Silent [Format] is not an error.
func ParseAs(r io.Reader, format string) (Report, error) {
	i := slices.IndexFunc(formats, func(f Format) bool { return f.Name == format })
	if i < 0 {
		return Report{}, fmt.Errorf("%w: no format is called %q", ErrUnknownFormat, format)
	}
	src, head, err := sniff.Open(r)
	if err != nil {
		return Report{}, err
	}
	if head.IsEmpty() && !formats[i].Silent {
		return Report{}, ErrEmpty
	}
	return formats[i].Read(src)
}
