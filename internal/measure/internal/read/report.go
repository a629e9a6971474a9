package read

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

// Report is what was read from one file: tests, findings or coverage. Sections that the format
// does not have are nil.
type Report struct {
	parsers.Report
	Coverage *metric.Coverage
}

// Read detects the kind of report in r and reads it; a given format is used without
// detection. The name is used only in messages. Errors are those of [parsers.Parse] and
// [coverage.Read], returned together with what was read before.
func Read(r io.Reader, name, format string) (Report, error) {
	src := bufio.NewReaderSize(textstream.UTF8(r), sniff.Size)
	text, err := src.Peek(sniff.Size)
	if err != nil && !errors.Is(err, io.EOF) {
		return Report{}, fmt.Errorf("read report %s: %w", name, err)
	}
	if isCoverage(sniff.Inspect(text), format) {
		c, err := coverage.Read(src, name)
		return Report{parsers.Report{Format: c.Format, Problems: c.Problems}, c.Coverage}, err
	}
	var p parsers.Report
	if format == "" {
		p, err = parsers.Parse(src, name)
	} else if p, err = parsers.ParseAs(src, format); err != nil {
		err = fmt.Errorf("%s: %w", name, err)
	}
	return Report{Report: p}, err
}

// isCoverage reports whether a coverage format matches. Coverage formats are tried first,
// since they match nothing else, but any text can look like findings.
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
