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
	field  Field
	better Direction
	value  func(*countedSet) (float64, bool) // false if the number was not measured
}

// countedSet is a Set whose tests are counted only once, although many numbers need the counts.
type countedSet struct {
	Set
	counts *Counts
}

// testCounts returns the counts of the tests, all zero if there are none.
func (v *countedSet) testCounts() Counts {
	if v.counts == nil {
		v.counts = new(v.Tests.Counts())
	}
	return *v.counts
}

// fields is the table of all numbers; every listing, delta and rule reads it.
var fields = []fieldRow{
	{TestCount, HigherIsBetter, testsValue(func(n Counts) int { return n.Count })},
	{TestsPassed, HigherIsBetter, testsValue(func(n Counts) int { return n.Passed })},
	{TestsFailed, LowerIsBetter, testsValue(func(n Counts) int { return n.Failed })},
	{TestsSkipped, LowerIsBetter, testsValue(func(n Counts) int { return n.Skipped })},
	{PassRate, HigherIsBetter, func(s *countedSet) (float64, bool) { return s.testCounts().passRate() }},
	{CoveragePct, HigherIsBetter, func(s *countedSet) (float64, bool) { return s.Coverage.Percent() }},
	{CoverageHit, Neutral, coverageValue(func(c *Coverage) int64 { return c.Covered })},
	{CoverageTotal, Neutral, coverageValue(func(c *Coverage) int64 { return c.Total })},
	{TestTime, Neutral, func(s *countedSet) (float64, bool) {
		if s.Tests == nil || s.Tests.Duration == 0 || s.testCounts().Cached > 0 { // that is not how long the tests take
			return 0, false
		}
		return milliseconds(s.Tests.Duration), true
	}},
	{LintErrors, LowerIsBetter, lintValue(func(n LintCounts) int { return n.Errors })},
	{LintWarnings, LowerIsBetter, lintValue(func(n LintCounts) int { return n.Warnings })},
	{TypeErrors, LowerIsBetter, lintValue(func(n LintCounts) int { return n.TypeErrors })},
	{ErrorCount, LowerIsBetter, func(s *countedSet) (float64, bool) { return float64(s.Lint.ErrorCount()), s.Lint != nil }},
	{BuildTime, Neutral, func(s *countedSet) (float64, bool) {
		if s.Build == nil || s.Build.Duration == 0 {
			return 0, false
		}
		return milliseconds(s.Build.Duration), true
	}},
	{FileCount, Neutral, codeValue(func(c *Code) float64 { return float64(c.Files) })},
	{LOCTotal, Neutral, codeValue(func(c *Code) float64 { return float64(c.LOC) })},
	{Complexity, LowerIsBetter, func(s *countedSet) (float64, bool) {
		if s.Code == nil || s.Code.Functions == 0 {
			return 0, false
		}
		return s.Code.Complexity, true
	}},
	{LOCAdded, Neutral, linesValue(func(c *Code) *int { return c.Added })},
	{LOCDeleted, Neutral, linesValue(func(c *Code) *int { return c.Deleted })},
}

// The following functions return the column value of the table for a number of one section. It is
// false if the set does not have the section.

func testsValue(get func(Counts) int) func(*countedSet) (float64, bool) {
	return func(s *countedSet) (float64, bool) {
		return float64(get(s.testCounts())), s.Tests != nil
	}
}

func coverageValue(get func(*Coverage) int64) func(*countedSet) (float64, bool) {
	return func(s *countedSet) (float64, bool) {
		if s.Coverage == nil || s.Coverage.Unit == Percentage {
			return 0, false
		}
		return float64(get(s.Coverage)), true
	}
}

func lintValue(get func(LintCounts) int) func(*countedSet) (float64, bool) {
	return func(s *countedSet) (float64, bool) {
		return float64(get(s.Lint.Counts())), s.Lint != nil
	}
}

func codeValue(get func(*Code) float64) func(*countedSet) (float64, bool) {
	return func(s *countedSet) (float64, bool) {
		if s.Code == nil {
			return 0, false
		}
		return get(s.Code), true
	}
}

func linesValue(get func(*Code) *int) func(*countedSet) (float64, bool) {
	return func(s *countedSet) (float64, bool) {
		if s.Code == nil || get(s.Code) == nil {
			return 0, false
		}
		return float64(*get(s.Code)), true
	}
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
func (f Field) Better() Direction {
	for _, r := range fields {
		if r.field == f {
			return r.better
		}
	}
	return Neutral
}

// Value returns the number f of s, and false when it was not measured.
func (s Set) Value(f Field) (float64, bool) { return (&countedSet{Set: s}).value(f) }

// value is [Set.Value] for a set whose tests may be counted already.
func (v *countedSet) value(f Field) (float64, bool) {
	for _, r := range fields {
		if r.field == f {
			return r.value(v)
		}
	}
	return 0, false
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
		now, ok1 := r.value(this)
		before, ok2 := r.value(that)
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
		v, ok := from.value(f)
		if !ok {
			return NotMeasured
		}
		return int(math.Round(v * factor))
	}
	return Signature{
		TestCount: scaled(TestCount, 1),
		PassRate:  scaled(PassRate, 100),
		Coverage:  scaled(CoveragePct, 10),
		Errors:    scaled(ErrorCount, 1),
	}
}
