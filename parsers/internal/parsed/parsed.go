// Package parsed has what the readers of reports share. A reader is a [Format], which detects a
// report and returns it as a [Report].
//
// A reader of tests collects them in a [TestSet], or in an [Outcomes] if their texts need
// cleaning. A reader of findings uses a [FindingSet], or [PackedFindings] if there may be very
// many. They check the totals that a report states, and make the Report. The other files have
// helpers for what several tools print: output of the Go compiler (gotext.go), Qt Test
// (qttest.go), severities, paths and numbers (text.go).
package parsed

import (
	"errors"
	"fmt"
	"io"

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

// Report is the content of one report. Tests or Lint is nil if the format does not have that
// section.
type Report struct {
	Format   string        `json:"format"`
	Producer string        `json:"producer,omitempty"` // the tool that wrote it, "" unknown
	Tests    *metric.Tests `json:"tests,omitempty"`
	Lint     *metric.Lint  `json:"lint,omitempty"`
	Cases    Totals        `json:"cases"`
	Problems []string      `json:"problems,omitempty"` // wrong totals, text of other programs, tolerated oddities
}

// Totals counts the test cases that a report lists, before cases with the same
// identity are merged in [Report].Tests. Passed + Failed + Errors + Skipped = Tests.
type Totals struct {
	Tests   int `json:"tests"`
	Passed  int `json:"passed"`
	Failed  int `json:"failed"`
	Errors  int `json:"errors"`
	Skipped int `json:"skipped"`
}

// Notation is how a format is written.
type Notation string

// The notations of formats.
const (
	XML  Notation = "XML"
	JSON Notation = "JSON"
	Text Notation = "text"
)

// Format is one kind of report. Detect recognizes it from the first bytes of a
// report, and Parse reads it.
type Format struct {
	Name     string
	Kind     Kind
	Notation Notation
	Silent   bool // the tool prints nothing if it finds nothing, so an empty report is clean
	Loose    bool // tried after the other formats of its kind and notation
	Detect   func(sniff.Head) bool
	Parse    func(io.Reader) (Report, error)

	// The Markdown of its row in docs/formats.md.
	Marks string // what identifies it
	Tools string // the tools that write it
	Note  string // how unusual outcomes are counted, and limits
}

// SetKind sets the kind and notation of all formats, and returns them.
func SetKind(kind Kind, notation Notation, formats []Format) []Format {
	for i := range formats {
		formats[i].Kind, formats[i].Notation = kind, notation
	}
	return formats
}

// ErrUnknownFormat is the error for a text that is not a report of a known format.
var ErrUnknownFormat = errors.New("the report has none of the formats that are known: let the command write one of them")

// SyntaxError describes where a report is damaged or cut off.
type SyntaxError = textstream.SyntaxError

// MaxItems is how many tests or findings of one report are kept. No project has
// so many, only a tool that repeats its output forever.
const MaxItems = 2_000_000

// AppendLimited appends items until the list has [MaxItems].
func AppendLimited[T any](list []T, more ...T) []T {
	return append(list, more[:min(len(more), MaxItems-len(list))]...)
}

// TooManyError returns the error for a report with at least [MaxItems] tests or findings.
func TooManyError() error {
	return &SyntaxError{Problem: fmt.Sprintf("there are more than %d tests or findings: the tool has repeated itself without end", MaxItems)}
}

// Read parses a report, and sets the fields that no format sets itself.
func (f Format) Read(src io.Reader) (Report, error) {
	report, err := f.Parse(src)
	report.Format = f.Name
	if t := report.Tests; t != nil {
		t.Format, t.Producer, t.Problems = f.Name, report.Producer, report.Problems
	}
	isTooLarge := report.Cases.Tests >= MaxItems || report.Lint != nil && len(report.Lint.Findings) >= MaxItems
	if err == nil && isTooLarge {
		err = TooManyError()
	}
	return report, err
}

// Add counts one test case.
func (t *Totals) Add(s metric.Status) {
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

// Unsuccessful returns how many cases failed or had an error.
func (t Totals) Unsuccessful() int { return t.Failed + t.Errors }

// Minus returns the difference of the counts of t and o.
func (t Totals) Minus(o Totals) Totals {
	return Totals{t.Tests - o.Tests, t.Passed - o.Passed, t.Failed - o.Failed, t.Errors - o.Errors, t.Skipped - o.Skipped}
}

// Plus returns the counts of both.
func (t Totals) Plus(o Totals) Totals {
	return Totals{t.Tests + o.Tests, t.Passed + o.Passed, t.Failed + o.Failed, t.Errors + o.Errors, t.Skipped + o.Skipped}
}
