package ledger

import (
	"fmt"
	"slices"
	"strings"

	"supervise/detector"
)

// ChangeCoverage are the lines of product code that changed since the base and can be executed. The
// base is the tree before the loop, or that of a merge request.
type ChangeCoverage struct {
	Lines    int64                   `json:"lines"`
	Executed int64                   `json:"executed"` // by tests
	Files    []detector.ChangedLines `json:"files"`
	// Unknown says why the lines of all files are unknown, "" if the coverage names lines.
	Unknown string `json:"unknown,omitempty"`
	// Min is the share of the lines that has to be executed, in percent; 0: none.
	Min float64 `json:"min,omitempty"`
}

// NewChangeCoverage returns the sum of the files, nil if there are none. unknown and least are the
// fields Unknown and Min.
func NewChangeCoverage(files []detector.ChangedLines, unknown string, least float64) *ChangeCoverage {
	if len(files) == 0 {
		return nil
	}
	out := &ChangeCoverage{Files: files, Unknown: unknown, Min: least}
	for _, f := range files {
		out.Lines, out.Executed = out.Lines+f.Lines.Count(), out.Executed+f.Executed.Count()
	}
	return out
}

// Changed returns the files of the change, none if c is nil.
func (c *ChangeCoverage) Changed() []detector.ChangedLines {
	if c == nil {
		return nil
	}
	return c.Files
}

// Cell returns the counts for a table, as in "34/36": "" without a change, "n/a" if they are unknown.
func (c *ChangeCoverage) Cell() string {
	switch {
	case c == nil:
		return ""
	case c.Lines == 0:
		return "n/a"
	}
	return fmt.Sprintf("%d/%d", c.Executed, c.Lines)
}

// String returns the counts, as in "34 of 36 lines tested; unknown: a.sh (not in the coverage report)".
func (c ChangeCoverage) String() string {
	if c.Unknown != "" {
		return "tested lines unknown: " + c.Unknown
	}
	text := ""
	if c.Lines > 0 {
		text = fmt.Sprintf("%d of %d lines tested; ", c.Executed, c.Lines)
	}
	known := func(f detector.ChangedLines) bool { return f.Unknown == "" }
	switch unknown := slices.DeleteFunc(slices.Clone(c.Files), known); len(unknown) {
	case 0:
		return strings.TrimSuffix(text, "; ")
	case 1:
		return fmt.Sprintf("%sunknown: %s (%s)", text, unknown[0].Path, unknown[0].Unknown)
	default:
		return fmt.Sprintf("%sunknown: %s and %d more (%s)", text, unknown[0].Path, len(unknown)-1, unknown[0].Unknown)
	}
}

// Shortfall says what is missing if tests execute fewer lines than required, or if that is unknown; ""
// if they execute enough.
func (c *ChangeCoverage) Shortfall() string {
	switch {
	case c == nil || c.Min == 0:
		return ""
	case c.Unknown != "":
		return fmt.Sprintf("%s, and at least %g %% is required: measure the lines that all suites execute", c, c.Min)
	case c.Lines == 0 || 100*float64(c.Executed) >= c.Min*float64(c.Lines):
		return ""
	}
	return fmt.Sprintf("%s, and at least %g %% is required: test %s", c, c.Min, c.Untested())
}

// maxUntested is the number of files that [ChangeCoverage.Untested] names.
const maxUntested = 5

// Untested names the lines that no test executes, as in "a.go:3-5, b.go:7", "" if there are none.
func (c *ChangeCoverage) Untested() string {
	var out []string
	for _, f := range c.Changed() {
		if missed := f.Untested(); missed != "" {
			out = append(out, f.Path+":"+string(missed))
		}
	}
	if more := len(out) - maxUntested; more > 0 {
		out = append(out[:maxUntested], fmt.Sprintf("and %d more files", more))
	}
	return strings.Join(out, ", ")
}
