// Package parsers reads the reports of test runners, linters and compilers.
// What a report holds is recognised by its content, never by its name, and is
// counted case by case: the totals that a report declares of itself are only
// compared with the recount.
//
// A format is a row of one table and a stateless function. The policies that
// all of them share:
//
//   - A report that cannot be read whole gives an error and what was read so
//     far. It is never read as zero.
//   - A test that began and has no end failed.
//   - A package or suite that could not run is listed in Tests.Broken. Its
//     tests are unknown, not gone.
//   - A linter's "error", or no severity at all, is an Error; "warning" is a
//     Warning; "info" and the like are Notes; a severity nobody knows is an
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
// behind the project or platform where a test runs in several.
package parsers

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"

	"supervise/internal/sniff"
	"supervise/internal/textstream"
	"supervise/metric"
)

// Kind says what a format reports about.
type Kind string

// The kinds of formats. A test report may hold findings as well: what did not
// compile.
const (
	TestReport Kind = "tests"
	LintReport Kind = "lint"
)

// Report is what was read. A nil section is one that the format does not hold.
type Report struct {
	Format   string        `json:"format"`
	Producer string        `json:"producer,omitempty"` // the tool that wrote it, "" unknown
	Tests    *metric.Tests `json:"tests,omitempty"`
	Lint     *metric.Lint  `json:"lint,omitempty"`
	Cases    Totals        `json:"cases"`
	Problems []string      `json:"problems,omitempty"` // denied totals, noise, tolerated oddities
}

// Totals are the sums over the test cases as they stand in a report, before
// cases of one identity are merged in [Report].Tests. Passed + Failed + Errors
// + Skipped = Tests.
type Totals struct {
	Tests   int `json:"tests"`
	Passed  int `json:"passed"`
	Failed  int `json:"failed"`
	Errors  int `json:"errors"`
	Skipped int `json:"skipped"`
}

// Format is one kind of report. Detect tells it by the beginning of its text,
// Parse reads it. Silent says that the tool prints nothing when it finds
// nothing, so that an empty report is a clean one.
type Format struct {
	Name   string
	Kind   Kind
	Silent bool
	Detect func(sniff.Head) bool
	Parse  func(io.Reader) (Report, error)
}

// formats is the table of all formats, the most specific first: what is told by
// its elements or members before what is told by its lines.
var formats = slices.Concat(xmlTests, jsonTests, xmlLint, jsonLint, textTests, textLint)

// Formats returns the table of all formats, the most specific first.
func Formats() []Format { return slices.Clone(formats) }

// Structured reports whether the named format is one of XML or JSON, which text
// of another program is not taken for.
func Structured(format string) bool {
	return slices.ContainsFunc(slices.Concat(xmlTests, jsonTests, xmlLint, jsonLint), func(f Format) bool { return f.Name == format })
}

// What a report can be that is none. Both come wrapped, with the name of the
// report.
var (
	ErrEmpty         = errors.New("the report is empty: look whether the command ran to its end")
	ErrUnknownFormat = errors.New("the report has none of the formats that are known: let the command write one of them")
)

// SyntaxError says where a report is damaged or cut off.
type SyntaxError = textstream.SyntaxError

// Parse recognises the report in r and reads it. The name stands in messages
// only. Errors wrap [ErrEmpty], [ErrUnknownFormat] or a [*SyntaxError], or come
// from r. What was read before a SyntaxError is returned with it.
func Parse(r io.Reader, name string) (Report, error) {
	src, head, err := sniff.Open(r)
	if err != nil {
		return Report{}, named(err, name)
	}
	if head.Empty() {
		return Report{}, named(ErrEmpty, name)
	}
	for _, f := range formats {
		if f.Detect(head) {
			report, err := f.read(src)
			return report, named(err, name)
		}
	}
	return Report{}, named(ErrUnknownFormat, name)
}

// ParseAs reads the report in r as the named format. It gives the errors of
// [Parse]; the empty report of a [Format] that is Silent is no error.
func ParseAs(r io.Reader, format string) (Report, error) {
	i := slices.IndexFunc(formats, func(f Format) bool { return f.Name == format })
	if i < 0 {
		return Report{}, fmt.Errorf("%w: no format is called %q", ErrUnknownFormat, format)
	}
	src, head, err := sniff.Open(r)
	if err != nil {
		return Report{}, err
	}
	if head.Empty() && !formats[i].Silent {
		return Report{}, ErrEmpty
	}
	return formats[i].read(src)
}

// maxKept is how many tests, or findings, are kept of one report. No project has
// so many; a report that repeats itself without end has.
const maxKept = 2_000_000

// keep appends what there is room for.
func keep[T any](list []T, more ...T) []T {
	return append(list, more[:min(len(more), maxKept-len(list))]...)
}

// full says that a report has more than is kept.
func (r Report) full() error {
	if r.Cases.Tests < maxKept && (r.Lint == nil || len(r.Lint.Findings) < maxKept) {
		return nil
	}
	return tooMany()
}

func tooMany() error {
	return &SyntaxError{Problem: fmt.Sprintf("there are more than %d tests or findings: the tool has repeated itself without end", maxKept)}
}

func (f Format) read(src io.Reader) (Report, error) {
	report, err := f.Parse(src)
	report.Format = f.Name
	if t := report.Tests; t != nil {
		t.Format, t.Producer, t.Problems = f.Name, report.Producer, report.Problems
	}
	return report, cmp.Or(err, report.full())
}

// named puts the name of the report into the error.
func named(err error, name string) error {
	var syntax *SyntaxError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &syntax):
		syntax.File = name
		return fmt.Errorf("read report: %w", syntax)
	}
	return fmt.Errorf("read report %s: %w", name, err)
}

// add counts one test case.
func (t *Totals) add(s metric.Status) {
	t.Tests++
	switch s {
	case metric.Passed:
		t.Passed++
	case metric.Skipped:
		t.Skipped++
	case metric.Failed, metric.NotRun:
		t.Failed++
	case metric.Errored:
		t.Errors++
	}
}

// plus returns the sums of both.
func (t Totals) plus(o Totals) Totals {
	return Totals{t.Tests + o.Tests, t.Passed + o.Passed, t.Failed + o.Failed, t.Errors + o.Errors, t.Skipped + o.Skipped}
}
