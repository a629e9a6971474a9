// Package metric holds the nouns of a measurement: the results of a project's checks
// on one tree. It uses no file, process or clock.
//
// A section that was not measured is nil, and a number that was not measured is
// missing from [Set.Value]. Nothing that could not be read is ever zero.
package metric

import (
	"cmp"
	"slices"
	"strings"
	"time"
)

// Set is everything that was measured about one tree. A nil section was not
// measured; Gaps says which planned sections are missing, and why.
type Set struct {
	Tests    *Tests    `json:"tests,omitempty"`
	Coverage *Coverage `json:"coverage,omitempty"`
	Lint     *Lint     `json:"lint,omitempty"`
	Build    *Build    `json:"build,omitempty"`
	Code     *Code     `json:"code,omitempty"`
	Gaps     []Gap     `json:"gaps,omitempty"`
	// BrokenAtBaseline are lines of checks that failed before any agent ran, for no error in a file of
	// the project, and that fail for them still. They are made comparable.
	BrokenAtBaseline []string `json:"broken_at_baseline,omitempty"`
	// Variation is by how much numbers differed between two measurements of this tree, and
	// by how much [QualityScore] did; nil if none did, or it was measured once.
	Variation Delta `json:"varies,omitempty"`
}

// WithoutCoveredLines returns the set without which lines of each file were covered: no rule looks
// at them, and they take most of the space.
func (s Set) WithoutCoveredLines() Set {
	if s.Coverage == nil {
		return s
	}
	c := *s.Coverage
	c.Files = slices.Clone(c.Files)
	for i := range c.Files {
		c.Files[i].Executed, c.Files[i].NotExecuted = "", ""
	}
	s.Coverage = &c
	return s
}

// IsPartial reports whether a planned section is missing from s.
func (s Set) IsPartial() bool { return len(s.Gaps) > 0 }

// IsEmpty reports whether nothing at all was measured or planned.
func (s Set) IsEmpty() bool {
	return s.Tests == nil && s.Coverage == nil && s.Lint == nil && s.Build == nil && s.Code == nil && len(s.Gaps) == 0
}

// Gap returns the reason why the section is missing, and whether it is.
func (s Set) Gap(section Section) (Gap, bool) {
	i := slices.IndexFunc(s.Gaps, func(g Gap) bool { return g.Section == section })
	if i < 0 {
		return Gap{}, false
	}
	return s.Gaps[i], true
}

// DescribeGap describes that the section of a gap was not measured, or only in part: then the set
// has numbers of it.
func (s Set) DescribeGap(g Gap) string {
	if g.State == Partial && g.Section == SectionTests && s.Tests != nil {
		return string(g.Section) + " measured in part"
	}
	return string(g.Section) + " not measured"
}

// HasGapAbout reports whether a gap already names the problem.
func (s Set) HasGapAbout(problem string) bool {
	return slices.ContainsFunc(s.Gaps, func(g Gap) bool { return strings.HasPrefix(g.Why, problem) })
}

// Section names one part of a [Set] that a check fills.
type Section string

// The sections of a Set.
const (
	SectionTests    Section = "tests"
	SectionCoverage Section = "coverage"
	SectionLint     Section = "lint"
	SectionBuild    Section = "build"
	SectionCode     Section = "code"
)

// Gap is a section that was planned and could not be measured, or not completely.
type Gap struct {
	Section Section  `json:"section"`
	State   Validity `json:"state"`
	Why     string   `json:"why"`
}

// Validity says how far a section's report can be trusted.
type Validity string

// The validity states: read completely, read in part, older than the command that
// should have written it, or not there at all.
const (
	Measured Validity = "measured"
	Partial  Validity = "partial"
	Stale    Validity = "stale"
	Absent   Validity = "absent"
)

// Coverage is how much of the code the tests executed, in the unit of its
// report. Numbers of different units or formats must not be compared.
type Coverage struct {
	Covered       int64          `json:"covered"`
	Total         int64          `json:"total"`
	Unit          Unit           `json:"unit"`
	Format        string         `json:"format"`
	Branches      *Ratio         `json:"branches,omitempty"` // nil if the report has none
	Files         []FileCoverage `json:"files,omitempty"`
	MissingSuites []string       `json:"without,omitempty"` // suites that did not run, sorted: what they cover is missing
	// Counted is the percentage that counts, if it is higher than the measured one: code that is newer
	// than the baseline, and that no test executes, does not lower the coverage.
	Counted *float64 `json:"counted_percentage,omitempty"`
}

// Ratio is a share, 0 ≤ Covered ≤ Total.
type Ratio struct {
	Covered int64 `json:"covered"`
	Total   int64 `json:"total"`
}

// Plus returns the sum of both, either of which may be nil for none.
func (r *Ratio) Plus(o *Ratio) *Ratio {
	if r == nil || o == nil {
		return cmp.Or(r, o)
	}
	return &Ratio{r.Covered + o.Covered, r.Total + o.Total}
}

// Unit is what a coverage report counts.
type Unit string

// The units of coverage. A sum of several is Mixed. Where only the percentage is
// known, it is Percentage; Covered and Total are then its ratio and no counts.
const (
	Mixed        Unit = "mixed"
	Percentage   Unit = "percentage"
	Lines        Unit = "lines"
	Statements   Unit = "statements"
	Instructions Unit = "instructions"
	Regions      Unit = "regions"
)

// FileCoverage is the coverage of one source file.
type FileCoverage struct {
	Path     string `json:"path"`
	Covered  int64  `json:"covered"`
	Total    int64  `json:"total"`
	Branches *Ratio `json:"branches,omitempty"` // nil if the report has none
	Hit      []Span `json:"hit,omitempty"`      // lines that were executed, where the report names lines
	Missed   []Span `json:"missed,omitempty"`   // lines that could have been executed and were not
	// Executed is Hit in the measurement of a tree, which has neither Hit nor Missed; "" if unknown.
	Executed LineSet `json:"executed,omitempty"`
	// NotExecuted is Missed in the measurement of a tree; both are "" if the lines are unknown.
	NotExecuted LineSet `json:"not_executed,omitempty"`
}

// Percent returns 100·Covered/Total in [0,100], and false when Total is zero:
// a report about nothing is absent, not complete.
func (c *Coverage) Percent() (float64, bool) {
	if c == nil || c.Total <= 0 {
		return 0, false
	}
	return c.percent(), true
}

// CountedPercent is [Coverage.Percent] as it counts, see [Coverage.Counted].
func (c *Coverage) CountedPercent() (float64, bool) {
	p, ok := c.Percent()
	if ok && c.Counted != nil {
		p = max(p, *c.Counted)
	}
	return p, ok
}

// NamesLines reports whether the executed lines of all files are known.
func (c *Coverage) NamesLines() bool {
	return c != nil && len(c.Files) > 0 && !slices.ContainsFunc(c.Files, func(f FileCoverage) bool { return f.Covered > 0 && f.Executed == "" })
}

// ShareTexts replaces the texts of files that are equal to those of another coverage by these, so
// that a loop keeps them once.
func (c *Coverage) ShareTexts(other *Coverage) {
	if c == nil || other == nil || len(c.Files) == 0 {
		return
	}
	at := 0
	for i := range c.Files {
		f := &c.Files[i]
		for at < len(other.Files) && other.Files[at].Path < f.Path { // both are sorted
			at++
		}
		if at < len(other.Files) && other.Files[at].Path == f.Path {
			if f.Path = other.Files[at].Path; other.Files[at].Executed == f.Executed {
				f.Executed = other.Files[at].Executed
			}
			if other.Files[at].NotExecuted == f.NotExecuted {
				f.NotExecuted = other.Files[at].NotExecuted
			}
		}
	}
}

// percent is [Coverage.Percent] of a report about something.
func (c *Coverage) percent() float64 { return 100 * float64(c.Covered) / float64(c.Total) }

// Comparable reports whether the percentages of c and d may be compared: both
// are measured, in the same unit and format, and the same suites are missing.
func (c *Coverage) Comparable(d *Coverage) bool {
	return c != nil && d != nil && c.Unit == d.Unit && c.Format == d.Format && slices.Equal(c.MissingSuites, d.MissingSuites)
}

// BuildStatus is the outcome of the build check.
type BuildStatus string

// The outcomes of a build.
const (
	BuildSuccess BuildStatus = "success"
	BuildFailure BuildStatus = "failure"
	BuildUnknown BuildStatus = "unknown"
)

// Build is the outcome of the build check.
type Build struct {
	Status     BuildStatus   `json:"status"`
	Duration   time.Duration `json:"duration_ns"`
	FirstError string        `json:"first_error,omitempty"` // of a failed build
}

// Code is the shape of the project's own source: no vendored, generated or
// binary files.
type Code struct {
	Files      int     `json:"files"`
	LOC        int     `json:"loc"`        // lines with code: no blanks, no comments
	Functions  int     `json:"functions"`  // how many functions Complexity is the mean of
	Complexity float64 `json:"complexity"` // mean cyclomatic complexity of a function: 1 + decision points
	Added      *int    `json:"added,omitempty"`
	Deleted    *int    `json:"deleted,omitempty"`
}
