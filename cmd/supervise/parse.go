package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"supervise/internal/event"
	"supervise/internal/measure"
	"supervise/internal/report"
	"supervise/metric"

	"github.com/spf13/cobra"
)

func (a *app) parseCmd() *cobra.Command {
	var format string
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "parse FILE…",
		Short: "Show what is read from a report of tests, coverage or findings",
		Long: `Parse reads reports as a measurement would, recognised by their content, and
prints what they hold. "-" is standard input. A file that cannot be read whole is
an error, never fewer tests: then the exit status is 6, and the others are still
read.

With --json it prints one object for each file, each on a line of its own.`,
		Example: `  supervise parse target/surefire-reports/*.xml
  go test -json ./... | supervise parse - --json`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(_ *cobra.Command, files []string) error { return a.parse(files, format, asJSON) },
	}
	cmd.Flags().StringVar(&format, "format", "", "read as this format instead of recognising it; an unknown one lists them")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON, one object a line")
	return cmd
}

// parsed is what parse --json prints of one file.
type parsed struct {
	File     string          `json:"file"`
	Format   string          `json:"format,omitempty"`
	Producer string          `json:"producer,omitempty"`
	Tests    *parsedTests    `json:"tests,omitempty"`
	Coverage *parsedCoverage `json:"coverage,omitempty"`
	Findings *parsedFindings `json:"findings,omitempty"`
	Problems []string        `json:"problems,omitempty"`
	Error    string          `json:"error,omitempty"` // then nothing of the file counts
}

// parsedTests are the sums over the cases as they stand in the file. Cases of one
// identity are one in the list of cases.
type parsedTests struct {
	Total   int            `json:"total"`
	Passed  int            `json:"passed"`
	Failed  int            `json:"failed"`
	Errors  int            `json:"errors"`
	Skipped int            `json:"skipped"`
	Flaky   int            `json:"flaky"`
	Cases   []metric.Test  `json:"cases"`
	Broken  []metric.Suite `json:"broken,omitempty"` // suites that could not run
}

type parsedCoverage struct {
	Covered  int64                 `json:"covered"`
	Total    int64                 `json:"total"`
	Percent  *float64              `json:"percent"` // null where there is nothing to cover
	Unit     metric.Unit           `json:"unit"`
	Branches *metric.Ratio         `json:"branches,omitempty"`
	Files    []metric.FileCoverage `json:"files"`
}

// parsedFindings count by level. Errors of compilers and type checkers are among
// the errors, and counted once more by themselves.
type parsedFindings struct {
	Total      int      `json:"total"`
	Errors     int      `json:"errors"`
	Warnings   int      `json:"warnings"`
	Notes      int      `json:"notes"`
	TypeErrors int      `json:"type_errors"`
	Tools      []string `json:"tools,omitempty"`
	Items      []item   `json:"items"`
}

// item is a finding with what tells it from others when lines move.
type item struct {
	metric.Finding
	Fingerprint string `json:"fingerprint"`
}

func (a *app) parse(files []string, format string, asJSON bool) error {
	if known := measure.Formats(); format != "" && !slices.Contains(known, format) {
		return usageError{fmt.Errorf("there is no format %s; the formats are %s", format, strings.Join(known, ", "))}
	}
	enc := json.NewEncoder(a.out)
	enc.SetEscapeHTML(false)
	for _, name := range files {
		p, err := a.parseFile(name, format)
		if err != nil {
			a.code = event.Unmeasurable.ExitCode()
			p = parsed{File: name, Format: p.Format, Producer: p.Producer, Error: err.Error()}
			fmt.Fprintf(a.err, "supervise: %v\n", err)
		}
		if !asJSON {
			a.showParsed(p)
		} else if err := enc.Encode(p); err != nil {
			return fmt.Errorf("write: %w", err)
		}
	}
	return nil
}

func (a *app) parseFile(name, format string) (parsed, error) {
	p := parsed{File: name}
	f := a.in
	if name != "-" {
		var err error
		if f, err = os.Open(name); err != nil {
			return p, err
		}
		defer f.Close()
		if info, err := f.Stat(); err == nil && info.IsDir() {
			return p, errors.New(name + " is a folder: name the files in it")
		}
	}
	r, err := measure.Read(f, name, format)
	p.Format, p.Producer, p.Problems = r.Format, r.Producer, r.Problems
	if r.Tests != nil {
		p.Tests = &parsedTests{
			Total: r.Cases.Tests, Passed: r.Cases.Passed, Failed: r.Cases.Failed, Errors: r.Cases.Errors, Skipped: r.Cases.Skipped,
			Flaky: r.Tests.Counts().Flaky, Cases: r.Tests.Cases, Broken: r.Tests.Broken,
		}
	}
	if c := r.Coverage; c != nil {
		p.Coverage = &parsedCoverage{Covered: c.Covered, Total: c.Total, Unit: c.Unit, Branches: c.Branches, Files: c.Files}
		if percent, ok := c.Percent(); ok {
			p.Coverage.Percent = &percent
		}
	}
	if r.Lint != nil {
		p.Findings = findings(r.Lint)
	}
	return p, err
}

func findings(l *metric.Lint) *parsedFindings {
	f := &parsedFindings{Total: len(l.Findings), Tools: l.Tools, Items: []item{}, TypeErrors: l.Counts().TypeErrors}
	for _, x := range l.Findings {
		switch x.Level {
		case metric.Error:
			f.Errors++
		case metric.Warning:
			f.Warnings++
		case metric.Note:
			f.Notes++
		}
		f.Items = append(f.Items, item{x, x.Fingerprint()})
	}
	return f
}

// showParsed prints what a person wants to know of one file.
func (a *app) showParsed(p parsed) {
	if p.Error != "" {
		return // it was told of
	}
	paint := a.paint(a.out)
	what := p.Format
	if p.Producer != "" && p.Producer != p.Format {
		what += ", " + p.Producer
	}
	fmt.Fprintf(a.out, "%s (%s)\n", paint(report.Strong, p.File), what)
	if p.Tests != nil {
		a.showTests(p.Tests)
	}
	if p.Coverage != nil {
		a.showCoverage(p.Coverage)
	}
	if f := p.Findings; f != nil {
		fmt.Fprintf(a.out, "  findings  %d: %d errors, %d warnings, %d notes\n", f.Total, f.Errors, f.Warnings, f.Notes)
	}
	for _, problem := range p.Problems {
		fmt.Fprintf(a.out, "  %s\n", paint(report.Warn, problem))
	}
}

func (a *app) showTests(t *parsedTests) {
	paint := a.paint(a.out)
	fmt.Fprintf(a.out, "  tests     %d: %d passed, %d failed, %d errors, %d skipped\n", t.Total, t.Passed, t.Failed, t.Errors, t.Skipped)
	for _, c := range t.Cases {
		if c.Failed() {
			fmt.Fprintf(a.out, "    %s %s\n", paint(report.Bad, c.Status.String()), c.ID)
		}
	}
	for _, b := range t.Broken {
		fmt.Fprintf(a.out, "    %s %s: %s\n", paint(report.Bad, "did not run"), b.Name, firstLine(b.Why))
	}
}

func (a *app) showCoverage(c *parsedCoverage) {
	percent := "nothing to cover"
	if c.Percent != nil {
		percent = report.Number(*c.Percent) + " %"
	}
	fmt.Fprintf(a.out, "  coverage  %d of %d %s: %s, in %d files\n", c.Covered, c.Total, c.Unit, percent, len(c.Files))
	if b := c.Branches; b != nil {
		fmt.Fprintf(a.out, "  branches  %d of %d\n", b.Covered, b.Total)
	}
}

func firstLine(s string) string {
	line, _, _ := strings.Cut(s, "\n")
	return line
}
