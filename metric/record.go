package metric

import "math"

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
		r.Testing = s.testingRecord()
	}
	if s.Lint != nil || s.Build != nil {
		r.Quality = s.qualityRecord()
	}
	if s.Code != nil {
		r.Codebase = &CodebaseRecord{
			FileCount: s.number(FileCount), LOCTotal: s.number(LOCTotal), Complexity: s.number(Complexity),
			LOCAdded: s.number(LOCAdded), LOCDeleted: s.number(LOCDeleted),
		}
	}
	return r
}

func (s Set) testingRecord() *TestingRecord {
	t := &TestingRecord{
		TestCount: s.number(TestCount), TestsPassed: s.number(TestsPassed), TestsFailed: s.number(TestsFailed),
		TestsSkipped: s.number(TestsSkipped), PassRate: s.number(PassRate), TestTime: s.number(TestTime), TestsCached: s.Tests.Counts().Cached,
		CoveragePct: s.number(CoveragePct), CoverageHit: s.number(CoverageHit), CoverageTotal: s.number(CoverageTotal),
	}
	if s.Coverage != nil {
		t.CoverageUnit = s.Coverage.Unit
	}
	return t
}

func (s Set) qualityRecord() *QualityRecord {
	q := &QualityRecord{
		LintErrors: s.number(LintErrors), LintWarnings: s.number(LintWarnings), TypeErrors: s.number(TypeErrors),
		ErrorCount: s.number(ErrorCount), BuildTime: s.number(BuildTime), BuildStatus: BuildUnknown,
	}
	if s.Build != nil {
		q.BuildStatus = s.Build.Status
	}
	return q
}

func (s Set) number(f Field) *float64 {
	v, ok := s.Value(f)
	if !ok {
		return nil
	}
	v = math.Round(v*1e4) / 1e4
	return &v
}
