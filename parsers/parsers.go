// Package parsers reads the reports of test runners, linters and compilers.
// What a report holds is recognised by its content, never by its name, and is
// counted case by case: the totals that a report declares of itself are only
// compared with the recount.
//
// A format is a row of one table and a stateless function. The policies that
// all of them share:
//
//   - A report that cannot be read completely gives an error and what was read so
//     far. It is never read as zero.
//   - A report that states more failures than it lists, or that it failed although
//     no test did, contradicts itself: Tests.Failure says how.
//   - A test that began and has no end failed.
//   - A package or suite that could not run is listed in Tests.Broken. Its
//     tests are unknown, not gone.
//   - A linter's "error", or no severity at all, is an Error; "warning" is a
//     Warning; "info" and the like are Notes; an unknown severity is an
//     Error. Findings of go vet are Errors. Errors of compilers and type
//     checkers are marked as Type, and the same error seen in a package and in
//     its test variant is one finding.
//   - Terminal colours are removed from names and messages, other control
//     characters in a name become U+FFFD, and messages are cut to 8 KiB.
//
// The identity of a test is (suite, class, name). For Go that is the import
// path of the package, nothing, and the name with its subtests. For JUnit XML
// the suite is the file attribute, else the names of the enclosing suites
// joined by " > "; the class is classname, or, where a writer gives none, the
// names of the suites within the file. A class that only says the suite or the
// name again is left out, so that reports of one run agree. pytest names no
// suite and often no file: there the suite is the module. For .NET the suite is
// the assembly without its folder, the class the type of the test. In reports
// in JSON the suite is the file, feature, package or binary that the report
// names; the class is the path of the groups around the test, joined by " > ",
// after the project or platform where a test runs in several.
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

// The types of a report and of a format; the formats and what they share are in
// their own packages.
type (
	// Report is what was read. A nil section is one that the format does not hold.
	Report = parsed.Report
	// Totals are the sums over the test cases of a report.
	Totals = parsed.Totals
	// Format is one kind of report.
	Format = parsed.Format
	// Kind says what a format reports about.
	Kind = parsed.Kind
	// SyntaxError says where a report is damaged or cut off.
	SyntaxError = parsed.SyntaxError
)

// The kinds of formats. A test report may hold findings as well: what did not
// compile.
const (
	TestReport = parsed.TestReport
	LintReport = parsed.LintReport
)

// formats is the table of all formats, in the order in which they are tried: XML
// and JSON before text, reports of tests before those of linters, and within a
// room the most specific first.
var formats = func() []Format {
	all := slices.Concat(testxml.Formats, sarif.Formats, gotool.Formats, cargo.Formats, testjson.Formats, testtext.Formats, lintshape.Formats, linttext.Formats)
	slices.SortStableFunc(all, func(a, b Format) int { return cmp.Compare(precedence(a), precedence(b)) })
	return all
}()

// precedence is lower for formats that are tried earlier.
func precedence(f Format) int {
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

// IsStructured reports whether the named format is one of XML or JSON, which text
// of another program is not taken for.
func IsStructured(format string) bool {
	return slices.ContainsFunc(formats, func(f Format) bool { return f.Name == format && f.Notation != parsed.Text })
}

// FailsOnWarnings reports whether the linter may fail although it found no error.
func FailsOnWarnings(tool string) bool { return parsed.FailsOnWarnings(tool) }

// Why a text is not a report. Both come wrapped, with the name of the
// report.
var (
	ErrEmpty         = errors.New("the report is empty: look whether the command ran to its end")
	ErrUnknownFormat = parsed.ErrUnknownFormat
)

// WriteJUnit writes t as JUnit XML. It is an error to write a set of tests that
// was not measured (nil).
func WriteJUnit(w io.Writer, t *metric.Tests) error { return testxml.WriteJUnit(w, t) }

// Parse recognises the report in r and reads it. The name is only used in
// messages. Errors wrap [ErrEmpty], [ErrUnknownFormat] or a [*SyntaxError], or come
// from r. What was read before a SyntaxError is returned with it.
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
	return Report{}, textstream.WrapError(unknown(head), "report", name)
}

// XcresultAdvice says what to do instead of reading the results of Xcode.
const XcresultAdvice = "results of Xcode (xcresult) are not read: let xcbeautify or xcresultparser write JUnit XML, and xcrun llvm-cov export the coverage"

const noBullseye = "BullseyeCoverage counts functions and conditions, not lines, and is not read: build with --coverage for gcov and gcovr, or with -fprofile-instr-generate -fcoverage-mapping for llvm-cov"

// unknown is the error of a report of no known format. Of some it is known what to do
// instead.
func unknown(h sniff.Head) error {
	switch {
	case h.HasMembers("_type._name", "actions"), h.HasMembers("testPlanConfigurations", "testNodes"):
		return fmt.Errorf("%w: %s", ErrUnknownFormat, XcresultAdvice)
	case h.HasRoot("BullseyeCoverage"), bytes.HasPrefix(h.Text, []byte("CoVfIlE")):
		return fmt.Errorf("%w: %s", ErrUnknownFormat, noBullseye)
	}
	return ErrUnknownFormat
}

// ParseAs reads the report in r as the named format. It gives the errors of
// [Parse]; the empty report of a [Format] that is Silent is not an error.
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
