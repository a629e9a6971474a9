package measure

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"slices"

	"supervise/coverage"
	"supervise/internal/sniff"
	"supervise/internal/textstream"
	"supervise/metric"
	"supervise/parsers"
)

// Report is what was read from one file: tests, findings or coverage. A nil
// section is one that the format does not hold.
type Report struct {
	Format   string
	Producer string // the tool that wrote it, "" unknown
	Cases    parsers.Totals
	Tests    *metric.Tests
	Lint     *metric.Lint
	Coverage *metric.Coverage
	Problems []string
}

// Read recognises the report in r, of whatever kind, and reads it; a format that
// is given is not questioned. The name stands in messages only. Errors are those
// of [parsers.Parse] and [coverage.Read]; what was read before is returned with
// them.
func Read(r io.Reader, name, format string) (Report, error) {
	src := bufio.NewReaderSize(textstream.UTF8(r), sniff.Size)
	text, err := src.Peek(sniff.Size)
	if err != nil && !errors.Is(err, io.EOF) {
		return Report{}, fmt.Errorf("read report %s: %w", name, err)
	}
	if isCoverage(sniff.Look(text), format) {
		c, err := coverage.Read(src, name)
		return Report{Format: c.Format, Coverage: c.Coverage, Problems: c.Problems}, err
	}
	var p parsers.Report
	if format == "" {
		p, err = parsers.Parse(src, name)
	} else if p, err = parsers.ParseAs(src, format); err != nil {
		err = fmt.Errorf("%s: %w", name, err)
	}
	return Report{Format: p.Format, Producer: p.Producer, Cases: p.Cases, Tests: p.Tests, Lint: p.Lint, Problems: p.Problems}, err
}

// isCoverage reports whether a coverage format fits. They are told first: what
// fits one of them is nothing else, but any text can look like findings.
func isCoverage(head sniff.Head, format string) bool {
	return slices.ContainsFunc(coverage.Formats(), func(f coverage.Format) bool {
		return format == f.Name || format == "" && f.Detect(head)
	})
}

// Formats lists the names of all formats that [Read] knows.
func Formats() []string {
	var out []string
	for _, f := range parsers.Formats() {
		out = append(out, f.Name)
	}
	for _, f := range coverage.Formats() {
		out = append(out, f.Name)
	}
	return out
}
