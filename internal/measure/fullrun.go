package measure

import (
	"cmp"
	"context"
	"time"

	"supervise/internal/measure/internal/sections"
	"supervise/metric"
)

// TreeMeasurement is what checks reported in another tree: their tests, findings or coverage. All
// of it is nil if it could not be read completely, and Why is the reason.
type TreeMeasurement struct {
	Tests    *metric.Tests
	Lint     *metric.Lint // also nil if there are no linters
	Coverage *metric.Coverage
	Runs     []Run
	Why      string
}

// FullRun runs all tests of another tree by a plan for it, after the checks that build.
// limit applies to everything; 0 leaves the limits of the checks. The meter learns nothing
// from the results. The error is that of ctx, or a failure of the machine.
func (m *Meter) FullRun(ctx context.Context, plan Plan, limit time.Duration) (TreeMeasurement, error) {
	out, err := m.newTreeRun(TreeRun{Plan: plan, Limit: limit}).runKinds(ctx, []Kind{Build, Test}, func(out *TreeMeasurement, _ int, run Run) string {
		out.Tests = sections.JoinTests(out.Tests, run.Tests)
		return ""
	})
	if err == nil && out.Tests == nil {
		out.Why = cmp.Or(out.Why, "no check ran them")
	}
	return out, err
}

// LintInTree is [Meter.FullRun] for the linters of another tree, without a limit.
func (m *Meter) LintInTree(ctx context.Context, plan Plan) (TreeMeasurement, error) {
	return m.newTreeRun(TreeRun{Plan: plan}).runKinds(ctx, []Kind{Lint}, func(out *TreeMeasurement, _ int, run Run) string {
		out.Lint = out.Lint.Merge(run.Lint)
		return ""
	})
}

// CoverageInTree is [Meter.FullRun] for the coverage of the tests, without a limit.
func (m *Meter) CoverageInTree(ctx context.Context, plan Plan) (TreeMeasurement, error) {
	return m.CoverageOf(ctx, plan, nil)
}

// CoverageOf is [Meter.CoverageInTree] for some tests only, or for all if tests is nil.
func (m *Meter) CoverageOf(ctx context.Context, plan Plan, tests []metric.Test) (TreeMeasurement, error) {
	e := m.newTreeRun(TreeRun{Plan: plan, Tests: tests})
	e.coverage, e.treeMeter.inCopy = true, false
	out, err := e.runKinds(ctx, []Kind{Build, Test}, func(out *TreeMeasurement, i int, run Run) string {
		if c := m.plan.Checks[i]; run.Coverage == nil && m.memory.Covers.Has(c.ID()) {
			return c.Name + " wrote no coverage report there"
		}
		out.Coverage = sections.JoinCoverage(out.Coverage, run.Coverage)
		return ""
	})
	if err == nil && out.Coverage == nil {
		out.Why = cmp.Or(out.Why, "no check wrote a coverage report there")
	}
	return out, err
}

// runKinds runs the checks of the kinds, one kind after another. It calls read with the index of
// each check and its run, to add the run to the result. It stops at the first run that cannot be
// used, and at the first reason that read returns.
func (e *treeRun) runKinds(ctx context.Context, kinds []Kind, read func(*TreeMeasurement, int, Run) string) (TreeMeasurement, error) {
	var out TreeMeasurement
	for _, kind := range kinds {
		for i, c := range e.treeMeter.plan.Checks {
			if c.Kind != kind {
				continue
			}
			if kind == Test && e.Tests != nil {
				own := e.original.testsOf(e.original.plan.Checks[i], e.Tests)
				if len(own) == 0 {
					continue
				}
				var selected bool
				if c, selected = e.treeMeter.selectTests(c, own); !selected {
					return TreeMeasurement{Runs: e.results.Runs, Why: c.Name + " cannot run single tests"}, nil
				}
			}
			run, err := e.runInTree(ctx, c)
			if err != nil {
				return TreeMeasurement{Runs: e.results.Runs}, err
			}
			why := whyUnusable(run)
			if why == "" {
				why = read(&out, i, run)
			}
			if why != "" {
				return TreeMeasurement{Runs: e.results.Runs, Why: why}, nil
			}
		}
	}
	out.Runs = e.results.Runs
	return out, nil
}

// whyUnusable returns why a run cannot be used, "" if it can.
func whyUnusable(r Run) string {
	switch {
	case r.Check.Kind == Build && (r.Killed || r.ExitCode != 0):
		return "the build fails there: " + cmp.Or(r.Why, r.FirstError())
	case r.Check.Kind != Build && r.State != metric.Measured:
		return cmp.Or(r.Why, "nothing of "+r.Check.Name+" could be read")
	}
	return ""
}
