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

// Measurement is the result of supervise measure.
type Measurement struct {
	metric.Record
	Derived struct {
		ErrorCount   *float64         `json:"error_count"`
		QualityScore *float64         `json:"quality_score"` // in [0,1]; null also if not all tests could be measured
		Signature    metric.Signature `json:"signature"`
	} `json:"derived"`
	Broken   []metric.Suite    `json:"did_not_run,omitempty"` // suites that did not run
	Projects []ProjectRecord   `json:"projects,omitempty"`    // the metrics of each project, if there are several
	Checks   []ledger.CheckRun `json:"checks"`
}

// ProjectRecord has the metrics of one project, if the tree has several.
type ProjectRecord struct {
	Dir string `json:"dir"`
	metric.Record
}

// NewMeasurement describes a measurement, of which checks are the runs.
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

// maxProblems is the maximum number of problems that are printed for one check.
const maxProblems = 10

// PrintMeasurement prints the metrics, what could not be measured, and the checks.
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
