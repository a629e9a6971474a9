package metric

import (
	"math"
	"time"
)

// Field names one number of a [Set], as it is written in files and rules.
type Field string

// The numbers of a Set. Times are in milliseconds, rates in per cent.
const (
	TestCount     Field = "test_count"
	TestsPassed   Field = "tests_passed"
	TestsFailed   Field = "tests_failed"
	TestsSkipped  Field = "tests_skipped"
	PassRate      Field = "pass_rate"
	CoveragePct   Field = "coverage_percentage"
	CoverageHit   Field = "coverage_lines_covered"
	CoverageTotal Field = "coverage_lines_total"
	TestTime      Field = "test_time_ms"
	LintErrors    Field = "lint_errors"
	LintWarnings  Field = "lint_warnings"
	TypeErrors    Field = "type_errors"
	ErrorCount    Field = "error_count"
	BuildTime     Field = "build_time_ms"
	FileCount     Field = "file_count"
	LOCTotal      Field = "loc_total"
	Complexity    Field = "complexity_score"
	LOCAdded      Field = "loc_added"
	LOCDeleted    Field = "loc_deleted"

	// QualityScore is how a Set is graded, in [0,1]. No Set holds it.
	QualityScore Field = "quality_score"
)

// Direction says which way a number gets better.
type Direction int8

// A number is better when higher, when lower, or neither.
const (
	LowerIsBetter  Direction = -1
	Neutral        Direction = 0
	HigherIsBetter Direction = 1
)

// fieldRow is a row of the table of fields.
type fieldRow struct {
	field      Field
	better     Direction
	isMeasured func(*countedSet) bool
	value      func(*countedSet) float64 // valid if the number was measured
}

// countedSet is a Set whose tests are counted only once, although many numbers need the counts.
type countedSet struct {
	Set
	counts *Counts
}

// testCounts returns the counts of the tests, all zero if there are none.
func (s *countedSet) testCounts() Counts {
	if s.counts == nil {
		s.counts = new(s.Tests.Counts())
	}
	return *s.counts
}

// fields is the table of all numbers; every listing, delta and rule reads it.
var fields = []fieldRow{
	{TestCount, HigherIsBetter, hasTests, func(s *countedSet) float64 { return float64(s.testCounts().Count) }},
	{TestsPassed, HigherIsBetter, hasTests, func(s *countedSet) float64 { return float64(s.testCounts().Passed) }},
	{TestsFailed, LowerIsBetter, hasTests, func(s *countedSet) float64 { return float64(s.testCounts().Failed) }},
	{TestsSkipped, LowerIsBetter, hasTests, func(s *countedSet) float64 { return float64(s.testCounts().Skipped) }},
	{PassRate, HigherIsBetter, hasTestCases, func(s *countedSet) float64 { return s.testCounts().passRate() }},
	{CoveragePct, HigherIsBetter, hasCoverage, func(s *countedSet) float64 { return s.Coverage.percent() }},
	{CoverageHit, Neutral, hasCoverageCounts, func(s *countedSet) float64 { return float64(s.Coverage.Covered) }},
	{CoverageTotal, Neutral, hasCoverageCounts, func(s *countedSet) float64 { return float64(s.Coverage.Total) }},
	{TestTime, Neutral, hasTestTime, func(s *countedSet) float64 { return milliseconds(s.Tests.Duration) }},
	{LintErrors, LowerIsBetter, hasLint, func(s *countedSet) float64 { return float64(s.Lint.Counts().Errors) }},
	{LintWarnings, LowerIsBetter, hasLint, func(s *countedSet) float64 { return float64(s.Lint.Counts().Warnings) }},
	{TypeErrors, LowerIsBetter, hasLint, func(s *countedSet) float64 { return float64(s.Lint.Counts().TypeErrors) }},
	{ErrorCount, LowerIsBetter, hasLint, func(s *countedSet) float64 { return float64(s.Lint.ErrorCount()) }},
	{BuildTime, Neutral, hasBuildTime, func(s *countedSet) float64 { return milliseconds(s.Build.Duration) }},
	{FileCount, Neutral, hasCode, func(s *countedSet) float64 { return float64(s.Code.Files) }},
	{LOCTotal, Neutral, hasCode, func(s *countedSet) float64 { return float64(s.Code.LOC) }},
	{Complexity, LowerIsBetter, hasFunctions, func(s *countedSet) float64 { return s.Code.Complexity }},
	{LOCAdded, Neutral, hasAddedLines, func(s *countedSet) float64 { return float64(*s.Code.Added) }},
	{LOCDeleted, Neutral, hasDeletedLines, func(s *countedSet) float64 { return float64(*s.Code.Deleted) }},
}

// The following functions are the column isMeasured of the table.

func hasTests(s *countedSet) bool          { return s.Tests != nil }
func hasTestCases(s *countedSet) bool      { return s.testCounts().Count > 0 }
func hasCoverage(s *countedSet) bool       { return s.Coverage != nil && s.Coverage.Total > 0 }
func hasCoverageCounts(s *countedSet) bool { return s.Coverage != nil && s.Coverage.Unit != Percentage }
func hasLint(s *countedSet) bool           { return s.Lint != nil }
func hasBuildTime(s *countedSet) bool      { return s.Build != nil && s.Build.Duration != 0 }
func hasCode(s *countedSet) bool           { return s.Code != nil }
func hasFunctions(s *countedSet) bool      { return s.Code != nil && s.Code.Functions > 0 }
func hasAddedLines(s *countedSet) bool     { return s.Code != nil && s.Code.Added != nil }
func hasDeletedLines(s *countedSet) bool   { return s.Code != nil && s.Code.Deleted != nil }

// hasTestTime is false if results of tests were cached: then the run does not show how long they take.
func hasTestTime(s *countedSet) bool {
	return s.Tests != nil && s.Tests.Duration != 0 && s.testCounts().Cached == 0
}

// milliseconds returns a duration in milliseconds, as fields have it.
func milliseconds(d time.Duration) float64 { return float64(d.Milliseconds()) }

// Fields returns the names of all numbers, in the order of the specification.
func Fields() []Field {
	out := make([]Field, len(fields))
	for i, r := range fields {
		out[i] = r.field
	}
	return out
}

// Better returns which way f gets better; Neutral for an unknown field.
func (f Field) Better() Direction { return f.row().better }

// row returns the row of the table for f. That of an unknown field is never measured.
func (f Field) row() fieldRow {
	for _, r := range fields {
		if r.field == f {
			return r
		}
	}
	return fieldRow{isMeasured: func(*countedSet) bool { return false }}
}

// Value returns the number f of s, and false when it was not measured.
func (s Set) Value(f Field) (float64, bool) { return f.row().valueOf(&countedSet{Set: s}) }

// valueOf returns the number of the row in s, and false when it was not measured.
func (r fieldRow) valueOf(s *countedSet) (float64, bool) {
	if !r.isMeasured(s) {
		return 0, false
	}
	return r.value(s), true
}

// Delta holds, for every number that both sets measured, the current value
// minus the earlier one.
type Delta map[Field]float64

// Sub returns the change from earlier to s. Coverage of another unit or format
// is not compared.
func (s Set) Sub(earlier Set) Delta {
	d := make(Delta, len(fields))
	this, that := &countedSet{Set: s}, &countedSet{Set: earlier}
	for _, r := range fields {
		now, ok1 := r.valueOf(this)
		before, ok2 := r.valueOf(that)
		if ok1 && ok2 && (!isCoverageField(r.field) || s.Coverage.Comparable(earlier.Coverage)) {
			d[r.field] = now - before
		}
	}
	return d
}

// variableFields are the numbers that may differ between two runs of one check on one tree,
// in addition to the results of tests.
var variableFields = []Field{CoveragePct, LintErrors, LintWarnings, TypeErrors, ErrorCount}

// VariationFrom returns by how much numbers differ in a second measurement of the same tree,
// nil if none does.
func (s Set) VariationFrom(again Set) Delta {
	var out Delta
	d := again.Sub(s)
	for _, f := range variableFields {
		if d[f] == 0 {
			continue
		}
		if out == nil {
			out = Delta{}
		}
		out[f] = math.Abs(d[f])
	}
	return out
}

// isCoverageField reports whether a field depends on the unit of the coverage.
func isCoverageField(f Field) bool {
	return f == CoveragePct || f == CoverageHit || f == CoverageTotal
}

// NotMeasured is the value in a [Signature] of a number that was not measured.
const NotMeasured = -1

// Signature is the part of a Set that shows whether a loop goes in circles. Two
// signatures are compared with ==. PassRate is in basis points (0 to 10000), Coverage
// in tenths of a point (0 to 1000); a number that was not measured is [NotMeasured].
type Signature struct {
	TestCount int `json:"test_count"`
	PassRate  int `json:"pass_rate_bp"`
	Coverage  int `json:"coverage_tenths"`
	Errors    int `json:"error_count"`
}

// Signature returns the signature of s.
func (s Set) Signature() Signature {
	from := &countedSet{Set: s}
	scaled := func(f Field, factor float64) int {
		v, ok := f.row().valueOf(from)
		if !ok {
			return NotMeasured
		}
		return int(math.Round(v * factor))
	}
	return Signature{
		TestCount: scaled(TestCount, 1), PassRate: scaled(PassRate, 100),
		Coverage: scaled(CoveragePct, 10), Errors: scaled(ErrorCount, 1),
	}
}
