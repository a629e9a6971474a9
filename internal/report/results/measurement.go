package results

import (
	"cmp"
	"fmt"
	"strings"

	"supervise/coverage"
	"supervise/internal/document"
	"supervise/internal/ledger"
	"supervise/internal/measure"
	"supervise/internal/report"
	"supervise/metric"
	"supervise/selector"
)

// Measurement is what supervise measure found.
type Measurement struct {
	metric.Record
	Derived struct {
		ErrorCount   *float64         `json:"error_count"`
		QualityScore *float64         `json:"quality_score"` // nil also if the tests were measured in part
		Signature    metric.Signature `json:"signature"`
	} `json:"derived"`
	Broken   []metric.Suite    `json:"did_not_run,omitempty"` // suites; the others are measured
	Projects []ProjectRecord   `json:"projects,omitempty"`    // if there are several
	Checks   []ledger.CheckRun `json:"checks"`
}

// ProjectRecord is what the checks of one project of several found.
type ProjectRecord struct {
	Dir string `json:"dir"`
	metric.Record
}

// NewMeasurement describes what was measured; checks are its runs.
func NewMeasurement(res measure.Result, checks []ledger.CheckRun) Measurement {
	m := Measurement{Record: res.Set.Record(), Checks: checks}
	for _, p := range res.Parts {
		m.Projects = append(m.Projects, ProjectRecord{p.Dir, p.Set.Record()})
	}
	m.Derived.Signature = res.Set.Signature()
	if m.Quality != nil {
		m.Derived.ErrorCount = m.Quality.ErrorCount
	}
	if res.Set.Tests != nil {
		m.Broken = res.Set.Tests.Broken
	}
	disputed := res.Set.Tests != nil && res.Set.Tests.Failure != ""
	if score := selector.Grade(res.Set, res.Set, selector.DefaultWeights()); score.Measured && !disputed {
		m.Derived.QualityScore = &score.Value
	}
	return m
}

// maxProblems is how many problems of one check are printed.
const maxProblems = 10

// PrintMeasurement prints the metrics of a set, what was not measured, and the checks.
func (t Printer) PrintMeasurement(set metric.Set, checks []ledger.CheckRun) {
	for _, f := range metric.Fields() {
		if v, ok := set.Value(f); ok {
			t.printLine("%-24s %s", f, report.FormatNumber(v))
		}
	}

	if set.Coverage != nil {
		t.printLine("%-24s %s", "coverage_unit", set.Coverage.Unit)
		t.printIndented(document.Faint, coverage.ExplainDifference(set.Coverage))
	}

	if set.Build != nil {
		t.printLine("%-24s %s", "build_status", set.Build.Status)
		if set.Build.Status == metric.BuildFailure {
			t.printIndented(document.Warn, set.Build.FirstError)
		}
	}

	for _, g := range set.Gaps {
		t.printLine("%s", t.Paint(document.Warn, set.DescribeGap(g)+": "+g.Why))
	}
	if set.Tests != nil {
		for i, s := range set.Tests.Broken {
			if i == maxProblems {
				t.printLine("%s", t.Paint(document.Warn, fmt.Sprintf("and %d more did not run", len(set.Tests.Broken)-i)))
				break
			}
			t.printLine("%s", t.Paint(document.Warn, s.Name+" did not run: "+s.MainError()))
		}
	}

	for _, r := range checks {
		t.printLine("%s", t.Paint(document.Faint, fmt.Sprintf("%s: status %d, read %s", r.Name, r.ExitCode, cmp.Or(strings.Join(r.Read, ", "), "nothing"))))
		for _, problem := range report.Truncate(r.Problems, maxProblems) {
			if !set.HasGapAbout(problem) {
				t.printIndented(document.Warn, problem)
			}
		}
	}
}
