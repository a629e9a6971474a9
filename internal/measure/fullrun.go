package measure

import (
	"cmp"
	"context"
	"time"

	"supervise/internal/measure/internal/sections"
	"supervise/metric"
)

// FullRun is the result of the test checks in another tree. Tests is nil if they could not
// be read completely, and Why is the reason.
type FullRun struct {
	Tests *metric.Tests
	Runs  []Run
	Why   string
}

// FullRun runs all tests of another tree by a plan for it, after the checks that build.
// limit applies to everything; 0 leaves the limits of the checks. The meter learns nothing
// from the results. The error is that of ctx, or a failure of the machine.
func (m *Meter) FullRun(ctx context.Context, plan Plan, limit time.Duration) (FullRun, error) {
	e := m.newTreeRun(plan, limit)
	var out FullRun
	var err error
	out.Why, err = e.runBuildsAndTests(ctx, func(_ int, run Run) string {
		out.Tests = sections.JoinTests(out.Tests, run.Tests)
		return ""
	})
	out.Runs = e.runs
	switch {
	case err != nil:
		return out, err
	case out.Why != "":
		out.Tests = nil
	case out.Tests == nil:
		out.Why = "no check ran them"
	}
	return out, nil
}

// runBuildsAndTests runs the checks that build, then the tests. It passes each usable run and
// the index of its check to read. It stops at the first reason from a run or from read, and
// returns it.
func (e *treeRun) runBuildsAndTests(ctx context.Context, read func(int, Run) string) (why string, err error) {
	for _, kind := range []Kind{Build, Test} {
		for i, c := range e.treeMeter.plan.Checks {
			if c.Kind != kind {
				continue
			}
			run, err := e.runInTree(ctx, c)
			if err != nil {
				return "", err
			}
			if why := whyUnusable(run); why != "" {
				return why, nil
			}
			if why := read(i, run); why != "" {
				return why, nil
			}
		}
	}
	return "", nil
}

// TreeLint is the result of the linters in another tree. Lint is nil if there are none, or
// if one could not be read; then Why is the reason.
type TreeLint struct {
	Lint *metric.Lint
	Runs []Run
	Why  string
}

// LintInTree runs only the linters of a plan for another tree. The meter learns nothing
// from the results. The error is that of ctx, or a failure of the machine.
func (m *Meter) LintInTree(ctx context.Context, plan Plan) (TreeLint, error) {
	e := m.newTreeRun(plan, 0)
	var out TreeLint
	for _, c := range e.treeMeter.plan.Checks {
		if c.Kind != Lint {
			continue
		}
		run, err := e.runInTree(ctx, c)
		out.Runs = e.runs
		if err != nil {
			return out, err
		}
		if run.State != metric.Measured {
			out.Lint, out.Why = nil, cmp.Or(run.Why, "nothing of "+c.Name+" could be read")
			return out, nil
		}
		out.Lint = out.Lint.Merge(run.Lint)
	}
	return out, nil
}

// TreeCoverage is the coverage of the tests of another tree. Coverage is nil if it could
// not be read completely, and Why is the reason.
type TreeCoverage struct {
	Coverage *metric.Coverage
	Runs     []Run
	Why      string
}

// CoverageInTree runs the test checks of a plan for another tree, after those that build,
// and reads their coverage. The meter learns nothing from the results. The error is that
// of ctx, or a failure of the machine.
func (m *Meter) CoverageInTree(ctx context.Context, plan Plan) (TreeCoverage, error) {
	e := m.newTreeRun(plan, 0)
	e.coverage = true
	var out TreeCoverage
	var err error
	out.Why, err = e.runBuildsAndTests(ctx, func(i int, run Run) string {
		if c := m.plan.Checks[i]; run.Coverage == nil && m.memory.Covers.Has(c.ID()) {
			return c.Name + " wrote no coverage report there"
		}
		out.Coverage = sections.JoinCoverage(out.Coverage, run.Coverage)
		return ""
	})
	out.Runs = e.runs
	switch {
	case err != nil:
		return out, err
	case out.Why != "":
		out.Coverage = nil
	case out.Coverage == nil:
		out.Why = "no check wrote a coverage report there"
	}
	return out, nil
}

// whyUnusable returns why a run cannot be used, "" if it can.
func whyUnusable(r Run) string {
	switch {
	case r.Check.Kind == Build && (r.Killed || r.ExitCode != 0):
		return "the build fails there: " + cmp.Or(r.Why, r.FirstError())
	case r.Check.Kind == Test && r.State != metric.Measured:
		return cmp.Or(r.Why, "nothing of "+r.Check.Name+" could be read")
	}
	return ""
}
