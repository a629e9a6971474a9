package metric

import (
	"math"
	"reflect"
)

// Record is a Set as it is written for people and programs: the numbers of the
// specification by section and name. A section that was not measured is absent,
// a number that was not measured is null.
type Record struct {
	Testing   *TestingRecord  `json:"testing,omitempty"`
	Quality   *QualityRecord  `json:"quality,omitempty"`
	Codebase  *CodebaseRecord `json:"codebase,omitempty"`
	Partial   bool            `json:"partial"`
	Missing   []Gap           `json:"missing,omitempty"`
	Variation Delta           `json:"varies,omitempty"` // see [Set]
}

// TestingRecord is the testing section of a [Record].
type TestingRecord struct {
	TestCount     *float64 `json:"test_count"`
	TestsPassed   *float64 `json:"tests_passed"`
	TestsFailed   *float64 `json:"tests_failed"`
	TestsSkipped  *float64 `json:"tests_skipped"`
	PassRate      *float64 `json:"pass_rate"`
	CoveragePct   *float64 `json:"coverage_percentage"`
	CoverageHit   *float64 `json:"coverage_lines_covered"`
	CoverageTotal *float64 `json:"coverage_lines_total"`
	CoverageUnit  Unit     `json:"coverage_unit,omitempty"`
	TestTime      *float64 `json:"test_time_ms"`
	TestsCached   int      `json:"tests_cached,omitempty"` // of test_count: not run, since their tool knows their last verdict
}

// QualityRecord is the quality section of a [Record].
type QualityRecord struct {
	LintErrors   *float64    `json:"lint_errors"`
	LintWarnings *float64    `json:"lint_warnings"`
	TypeErrors   *float64    `json:"type_errors"`
	ErrorCount   *float64    `json:"error_count"`
	BuildStatus  BuildStatus `json:"build_status"`
	BuildTime    *float64    `json:"build_time_ms"`
}

// CodebaseRecord is the codebase section of a [Record].
type CodebaseRecord struct {
	FileCount  *float64 `json:"file_count"`
	LOCTotal   *float64 `json:"loc_total"`
	Complexity *float64 `json:"complexity_score"`
	LOCAdded   *float64 `json:"loc_added"`
	LOCDeleted *float64 `json:"loc_deleted"`
}

// Record returns s by section and name. Rates are rounded to four decimals.
func (s Set) Record() Record {
	r := Record{Partial: s.IsPartial(), Missing: s.Gaps, Variation: s.Variation}
	if s.Tests != nil || s.Coverage != nil {
		r.Testing = &TestingRecord{TestsCached: s.Tests.Counts().Cached}
		s.setNumbers(r.Testing)
		if s.Coverage != nil {
			r.Testing.CoverageUnit = s.Coverage.Unit
		}
	}
	if s.Lint != nil || s.Build != nil {
		r.Quality = &QualityRecord{BuildStatus: BuildUnknown}
		s.setNumbers(r.Quality)
		if s.Build != nil {
			r.Quality.BuildStatus = s.Build.Status
		}
	}
	if s.Code != nil {
		r.Codebase = &CodebaseRecord{}
		s.setNumbers(r.Codebase)
	}
	return r
}

// setNumbers sets the numbers in a section of a record: its fields of type *float64, whose names in
// JSON are those of the numbers.
func (s Set) setNumbers(section any) {
	v := reflect.ValueOf(section).Elem()
	for field := range v.Type().Fields() {
		if number, ok := v.FieldByIndex(field.Index).Addr().Interface().(**float64); ok {
			*number = s.number(Field(field.Tag.Get("json")))
		}
	}
}

// number returns a number, rounded to four decimals, and nil if it was not measured.
func (s Set) number(f Field) *float64 {
	v, ok := s.Value(f)
	if !ok {
		return nil
	}
	v = math.Round(v*1e4) / 1e4
	return &v
}
