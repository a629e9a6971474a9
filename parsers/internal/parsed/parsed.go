// Package parsed is what the readers of reports share: the report and the row of
// a format, the sets that gather tests and findings, and the words and lines
// that several tools have in common.
package parsed

import (
	"cmp"
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

// Report is what was read. A nil section is one that the format does not hold.
type Report struct {
	Format   string        `json:"format"`
	Producer string        `json:"producer,omitempty"` // the tool that wrote it, "" unknown
	Tests    *metric.Tests `json:"tests,omitempty"`
	Lint     *metric.Lint  `json:"lint,omitempty"`
	Cases    Totals        `json:"cases"`
	Problems []string      `json:"problems,omitempty"` // denied totals, noise, tolerated oddities
}

// Totals are the sums over the test cases as listed in a report, before
// cases of one identity are merged in [Report].Tests. Passed + Failed + Errors
// + Skipped = Tests.
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

// Format is one kind of report. Detect recognises it by the beginning of its
// text, Parse reads it.
type Format struct {
	Name     string
	Kind     Kind
	Notation Notation
	Silent   bool // the tool prints nothing when it finds nothing: an empty report is a clean one
	Loose    bool // tried after the other formats of its kind and notation
	Detect   func(sniff.Head) bool
	Parse    func(io.Reader) (Report, error)

	// What docs/formats.md says of it, in Markdown.
	Marks string // what it is recognised by
	Tools string // which tools write it
	Note  string // what counts as what where that is not plain, and limits
}

// Rows gives formats their kind and notation.
func Rows(kind Kind, notation Notation, formats []Format) []Format {
	for i := range formats {
		formats[i].Kind, formats[i].Notation = kind, notation
	}
	return formats
}

// ErrUnknownFormat is errUnknownFormat of package parsers.
var ErrUnknownFormat = errors.New("the report has none of the formats that are known: let the command write one of them")

// SyntaxError says where a report is damaged or cut off.
type SyntaxError = textstream.SyntaxError

// MaxKept is how many tests, or findings, are kept of one report. No project has
// so many; a report that repeats itself without end has.
const MaxKept = 2_000_000

// Keep appends what there is room for.
func Keep[T any](list []T, more ...T) []T {
	return append(list, more[:min(len(more), MaxKept-len(list))]...)
}

// full says that a report has more than is kept.
func (r Report) full() error {
	if r.Cases.Tests < MaxKept && (r.Lint == nil || len(r.Lint.Findings) < MaxKept) {
		return nil
	}
	return TooMany()
}

// TooMany is the error of a report with more than [MaxKept] tests or findings.
func TooMany() error {
	return &SyntaxError{Problem: fmt.Sprintf("there are more than %d tests or findings: the tool has repeated itself without end", MaxKept)}
}

func (f Format) Read(src io.Reader) (Report, error) {
	report, err := f.Parse(src)
	report.Format = f.Name
	if t := report.Tests; t != nil {
		t.Format, t.Producer, t.Problems = f.Name, report.Producer, report.Problems
	}
	return report, cmp.Or(err, report.full())
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

// Bad is how many cases failed or could not finish.
func (t Totals) Bad() int { return t.Failed + t.Errors }

// Minus returns the sums without those of o.
func (t Totals) Minus(o Totals) Totals {
	return Totals{t.Tests - o.Tests, t.Passed - o.Passed, t.Failed - o.Failed, t.Errors - o.Errors, t.Skipped - o.Skipped}
}

// Plus returns the sums of both.
func (t Totals) Plus(o Totals) Totals {
	return Totals{t.Tests + o.Tests, t.Passed + o.Passed, t.Failed + o.Failed, t.Errors + o.Errors, t.Skipped + o.Skipped}
}
