// Package coverage reads coverage reports. A report is recognised by its
// content, never by its name, and is counted unit by unit; what a report says
// of its own totals is never trusted: where they differ, that is a problem of
// the report.
//
// Numbers keep the unit of their report: lines where it lists lines, else
// statements, as in a Go profile. A file that stands in a report twice is
// merged, a line of it is executed if it is in one place. A report that cannot
// be read whole gives an error and what was read so far; an empty one is an
// error, not full or no coverage. One that lists nothing executable has 0 of 0,
// which is no coverage either: [metric.Coverage.Percent] says so.
package coverage

import (
	"errors"
	"fmt"
	"io"
	"slices"

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

// Format is one kind of report. Detect tells it by the beginning of its
// text, Parse reads it.
type Format struct {
	Name   string
	Detect func(sniff.Head) bool
	Parse  func(io.Reader) (Report, error)
}

// formats is the table of all formats, the most specific first.
var formats = []Format{
	{Name: "go", Detect: detectGo, Parse: parseGo},
	{Name: "jacoco", Detect: detectJaCoCo, Parse: parseJaCoCo},
	{Name: "sonarqube", Detect: detectSonar, Parse: parseSonar},
	{Name: "clover", Detect: detectClover, Parse: parseClover},
	{Name: "cobertura", Detect: detectCobertura, Parse: parseCobertura},
	{Name: "opencover", Detect: detectOpenCover, Parse: parseOpenCover},
	{Name: "istanbul", Detect: detectIstanbul, Parse: parseIstanbul},
	{Name: "istanbul-summary", Detect: detectIstanbulSummary, Parse: parseIstanbulSummary},
	{Name: "coverage.py", Detect: detectCoveragePy, Parse: parseCoveragePy},
	{Name: "llvm-cov", Detect: detectLLVM, Parse: parseLLVM},
	{Name: "gcov", Detect: detectGcov, Parse: parseGcov},
	{Name: "gcovr-summary", Detect: detectGcovrSummary, Parse: parseGcovrSummary},
	{Name: "coverlet", Detect: detectCoverlet, Parse: parseCoverlet},
	{Name: "simplecov", Detect: detectSimpleCov, Parse: parseSimpleCov},
	{Name: "lcov", Detect: detectLCOV, Parse: parseLCOV},
}

// Formats returns the table of all formats, the most specific first.
func Formats() []Format { return slices.Clone(formats) }

// What a report can be that is none. Both come wrapped, with the name of the
// report.
var (
	ErrEmpty         = errors.New("the coverage report is empty: look whether the tests ran to their end")
	ErrUnknownFormat = errors.New("the coverage report has none of the formats that are known: let the tests write LCOV, Cobertura XML or a Go profile")
)

// SyntaxError says where a report is damaged or cut off.
type SyntaxError = textstream.SyntaxError

// Parse recognises the report in r and returns its coverage; see [Read].
func Parse(r io.Reader, name string) (*metric.Coverage, error) {
	report, err := Read(r, name)
	return report.Coverage, err
}

// Read recognises the report in r and reads it. The name stands in messages
// only. Errors wrap [ErrEmpty], [ErrUnknownFormat] or a [*SyntaxError], or come
// from r. What was read before a SyntaxError is returned with it.
func Read(r io.Reader, name string) (Report, error) {
	src, head, err := sniff.Open(r)
	if err != nil {
		return Report{}, named(err, name)
	}
	if head.Empty() {
		return Report{}, named(ErrEmpty, name)
	}
	for _, f := range formats {
		if f.Detect(head) {
			report, err := f.Parse(src)
			report.Format = f.Name
			return report, named(err, name)
		}
	}
	return Report{}, named(ErrUnknownFormat, name)
}

// named puts the name of the report into the error.
func named(err error, name string) error {
	var syntax *SyntaxError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &syntax):
		syntax.File = name
		return fmt.Errorf("read coverage report: %w", syntax)
	}
	return fmt.Errorf("read coverage report %s: %w", name, err)
}
