package results

import (
	"strings"

	"supervise/internal/document"
	"supervise/internal/measure"
	"supervise/internal/report"
	"supervise/metric"
)

// Parsed is what supervise parse read from one file. Sections that the file does not have are nil.
type Parsed struct {
	File     string          `json:"file"`
	Format   string          `json:"format,omitempty"`
	Producer string          `json:"producer,omitempty"`
	Tests    *ParsedTests    `json:"tests,omitempty"`
	Coverage *ParsedCoverage `json:"coverage,omitempty"`
	Findings *ParsedFindings `json:"findings,omitempty"`
	Problems []string        `json:"problems,omitempty"`
	Error    string          `json:"error,omitempty"` // if it is not "", nothing of the file counts
}

// ParsedTests counts the test cases in the file. Several with the same identity count separately,
// but are one in Cases.
type ParsedTests struct {
	Total   int            `json:"total"`
	Passed  int            `json:"passed"`
	Failed  int            `json:"failed"`
	Errors  int            `json:"errors"`
	Skipped int            `json:"skipped"`
	Flaky   int            `json:"flaky"`
	Cases   []metric.Test  `json:"cases"`
	Broken  []metric.Suite `json:"broken,omitempty"` // suites that could not run
}

// ParsedCoverage is the coverage in a file.
type ParsedCoverage struct {
	Covered  int64                 `json:"covered"`
	Total    int64                 `json:"total"`
	Percent  *float64              `json:"percent"` // null if there is nothing to cover
	Unit     metric.Unit           `json:"unit"`
	Branches *metric.Ratio         `json:"branches,omitempty"`
	Files    []metric.FileCoverage `json:"files"`
}

// ParsedFindings counts findings by level. Errors of compilers and type checkers are in Errors, and
// TypeErrors counts them again.
type ParsedFindings struct {
	Total      int             `json:"total"`
	Errors     int             `json:"errors"`
	Warnings   int             `json:"warnings"`
	Notes      int             `json:"notes"`
	TypeErrors int             `json:"type_errors"`
	Tools      []string        `json:"tools,omitempty"`
	Items      []ParsedFinding `json:"items"`
}

// ParsedFinding is a finding with a fingerprint, which stays the same when its line number changes.
type ParsedFinding struct {
	metric.Finding
	Fingerprint string `json:"fingerprint"`
}

// NewParsed describes the report that was read from a file. items says whether to list the
// findings.
func NewParsed(file string, r measure.Report, items bool) Parsed {
	p := Parsed{File: file, Format: r.Format, Producer: r.Producer, Problems: r.Problems}
	if r.Tests != nil {
		p.Tests = &ParsedTests{
			Total: r.Cases.Tests, Passed: r.Cases.Passed, Failed: r.Cases.Failed, Errors: r.Cases.Errors, Skipped: r.Cases.Skipped,
			Flaky: r.Tests.Counts().Flaky, Cases: r.Tests.Cases, Broken: r.Tests.Broken,
		}
	}
	if c := r.Coverage; c != nil {
		p.Coverage = &ParsedCoverage{Covered: c.Covered, Total: c.Total, Unit: c.Unit, Branches: c.Branches, Files: c.Files}
		if percent, ok := c.Percent(); ok {
			p.Coverage.Percent = &percent
		}
	}
	if r.Lint != nil {
		p.Findings = parsedFindings(r.Lint)
		if items {
			p.Findings.Items = parsedItems(r.Lint)
		}
	}
	return p
}

// parsedFindings counts the findings.
func parsedFindings(l *metric.Lint) *ParsedFindings {
	f := &ParsedFindings{Total: len(l.Findings), Tools: l.Tools, TypeErrors: l.Counts().TypeErrors}
	for i := range l.Findings {
		switch l.Findings[i].Level {
		case metric.Error:
			f.Errors++
		case metric.Warning:
			f.Warnings++
		case metric.Note:
			f.Notes++
		}
	}
	return f
}

// parsedItems lists the findings.
func parsedItems(l *metric.Lint) []ParsedFinding {
	out := make([]ParsedFinding, len(l.Findings))
	for i, x := range l.Findings {
		out[i] = ParsedFinding{x, x.Fingerprint()}
	}
	return out
}

// PrintParsed prints what was read from one file.
func (t Printer) PrintParsed(p Parsed) {
	producer := report.Either(p.Producer != "" && p.Producer != p.Format, ", "+p.Producer, "")
	t.printLine("%s (%s%s)", t.Paint(document.Strong, p.File), p.Format, producer)
	if p.Tests != nil {
		t.printParsedTests(p.Tests)
	}
	if p.Coverage != nil {
		t.printCoverage(p.Coverage)
	}
	if f := p.Findings; f != nil {
		t.printLine("  findings  %d: %d errors, %d warnings, %d notes", f.Total, f.Errors, f.Warnings, f.Notes)
	}
	for _, problem := range p.Problems {
		t.printLine("  %s", t.Paint(document.Warn, problem))
	}
}

// printParsedTests prints the counts of the tests, the failed tests, and the suites that did not
// run.
func (t Printer) printParsedTests(p *ParsedTests) {
	t.printLine("  tests     %d: %d passed, %d failed, %d errors, %d skipped", p.Total, p.Passed, p.Failed, p.Errors, p.Skipped)
	for _, c := range p.Cases {
		if c.Failed() {
			t.printLine("    %s %s", t.Paint(document.Bad, c.Status.String()), c.ID)
		}
	}
	for _, b := range p.Broken {
		t.printLine("    %s %s: %s", t.Paint(document.Bad, "did not run"), b.Name, strings.SplitN(b.Why, "\n", 2)[0])
	}
}

// printCoverage prints the coverage.
func (t Printer) printCoverage(c *ParsedCoverage) {
	percent := "nothing to cover"
	if c.Percent != nil {
		percent = report.FormatNumber(*c.Percent) + " %"
	}
	t.printLine("  coverage  %d of %d %s: %s, in %d files", c.Covered, c.Total, c.Unit, percent, len(c.Files))
	if b := c.Branches; b != nil {
		t.printLine("  branches  %d of %d", b.Covered, b.Total)
	}
}
