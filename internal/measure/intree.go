package measure

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"supervise/metric"
)

// TestResult is the result of a test in another tree.
type TestResult struct {
	// Test is its result; its Status is zero if it did not run.
	Test metric.Test
	// Unbuilt reports that it could not run because it, or code next to it, could not
	// be built or loaded there.
	Unbuilt bool
	Aborted bool   // the command was stopped, or died, before it reported
	Why     string // why it did not run, "" if it did
}

// TreeRun configures a run of tests in another tree.
type TreeRun struct {
	Plan    Plan // that of the meter, for the other tree
	Tests   []metric.Test
	Full    bool          // run the complete command: other tests may have other results there
	NoRetry bool          // nothing runs again if some of the tests did not run
	Limit   time.Duration // for everything; 0: the limits of the checks
	// Adapt changes how the tests are started; false: not possible. nil changes nothing.
	Adapt func(Check) (Check, bool)
}

// TreeResults are the results of tests in another tree.
type TreeResults struct {
	ByTest map[metric.ID]TestResult // of all tests to run
	Others []metric.Test            // other tests that ran there
	Broken []metric.Suite           // that could not run there
	Runs   []Run
}

// maxSelected limits how many tests are named in a command. If there are more, all tests
// run.
const maxSelected = 200

// RunInTree runs tests in another tree with the checks of the project: only those tests if
// their framework supports it, otherwise the complete command. Checks that build run
// first. The meter learns nothing from the results. The error is that of ctx, or a failure
// of the machine.
func (m *Meter) RunInTree(ctx context.Context, want TreeRun) (TreeResults, error) {
	e := m.inTree(want.Plan, want.Limit)
	e.full, e.adapt, e.noRetry = want.Full || len(want.Tests) > maxSelected, want.Adapt, want.NoRetry
	err := e.all(ctx, want.Tests)
	for _, t := range want.Tests {
		if _, known := e.results[t.ID]; !known {
			e.results[t.ID] = TestResult{Why: "no check ran it"}
		}
	}
	return TreeResults{e.results, e.others, e.broken, e.runs}, err
}

// buildsTwice reports whether the builds leave nothing, and the tests build what they
// need: then the builds need not run.
func buildsTwice(p Plan) bool {
	for _, c := range p.Checks {
		if c.Kind == Test && c.Runner != "go" || c.Kind == Build && !c.DiscardsOutput() {
			return false
		}
	}
	return true
}

// treeRun is one run of checks in another tree.
type treeRun struct {
	meter   *Meter // of the project's own tree
	inTree  *Meter
	limit   time.Duration
	until   time.Time // zero: no limit
	results map[metric.ID]TestResult
	runs    []Run

	full     bool // nothing is selected
	noRetry  bool
	others   []metric.Test
	broken   []metric.Suite
	adapt    func(Check) (Check, bool)
	coverage bool // coverage is read as well
}

func (m *Meter) inTree(plan Plan, limit time.Duration) *treeRun {
	e := &treeRun{
		meter: m, inTree: &Meter{plan: plan, opts: m.opts, memory: (&Memory{}).Clone(), inCopy: true},
		results: map[metric.ID]TestResult{}, limit: limit,
	}
	if limit > 0 {
		e.until = time.Now().Add(limit)
	}
	return e
}

func (e *treeRun) all(ctx context.Context, tests []metric.Test) error {
	for _, kind := range []Kind{Build, Test} {
		if kind == Build && buildsTwice(e.meter.plan) {
			continue
		}
		for i, c := range e.meter.plan.Checks {
			own := tests
			if kind == Test {
				own = e.meter.testsOf(c, tests)
			}
			if c.Kind != kind || len(own) == 0 && !e.full {
				continue
			}
			stop, err := e.check(ctx, e.inTree.plan.Checks[i], own)
			if stop || err != nil {
				return err
			}
		}
	}
	return nil
}

// check runs one check for the tests, and reports whether nothing is left to do.
func (e *treeRun) check(ctx context.Context, c Check, own []metric.Test) (stop bool, err error) {
	selected := false
	all := c
	if c.Kind == Test && !e.full {
		c, selected = e.inTree.selected(c, own)
	}
	if e.adapt != nil && c.Kind == Test {
		var can, could bool
		c, can = e.adapt(c)
		if all, could = e.adapt(all); !can || !could {
			for _, t := range own {
				e.results[t.ID] = TestResult{Why: "its runner does not support that"}
			}
			return false, nil
		}
	}
	run, err := e.run(ctx, c)
	if err == nil && selected && e.missingResults(run, own) {
		run, err = e.run(ctx, all)
	}
	switch {
	case err != nil:
		return false, err
	case c.Kind == Test:
		e.record(run, own)
	case run.Killed, run.ExitCode != 0:
		why := cmp.Or(run.Why, run.FirstError())
		for _, t := range own {
			e.results[t.ID] = TestResult{Unbuilt: !run.Killed, Why: why}
		}
		return true, nil
	}
	return false, nil
}

func (e *treeRun) run(ctx context.Context, c Check) (Run, error) {
	c = c.Uncached()
	c.Name, c.Extra = c.Name+" (in another tree)", true
	c.Coverage = c.Coverage && e.coverage
	if e.limit > 0 {
		c.Timeout = min(e.inTree.commands().TimeoutOf(c), time.Until(e.until))
		if c.Timeout <= 0 {
			return Run{Check: c, Why: fmt.Sprintf("the time limit of %s for runs in another tree has passed", e.limit), Killed: true}, nil
		}
	}
	e.meter.opts.OnProgress(Progress{Check: c})
	if err := e.inTree.commands().GiveToUser(e.inTree.plan.Root); err != nil {
		return Run{}, err
	}
	run, err := e.inTree.start().check(ctx, c)
	if !e.coverage {
		run.Coverage = nil
	}
	e.runs = append(e.runs, run)
	if err == nil {
		e.meter.opts.OnProgress(Progress{Check: c, Run: &run})
	} else {
		err = fmt.Errorf("run tests in another tree: %w", err)
	}
	return run, err
}

// missingResults reports whether a run of selected tests did not run all of them, and no
// broken suite explains it: the framework may have read their names differently.
func (e *treeRun) missingResults(r Run, own []metric.Test) bool {
	if e.noRetry || r.Killed || r.Tests != nil && len(r.Tests.Broken) > 0 {
		return false
	}
	return slices.ContainsFunc(own, func(t metric.Test) bool {
		_, ran := r.Tests.Lookup(t.ID)
		return !ran
	})
}

// record records the results of the tests. If several checks ran a test, the worst result
// counts.
func (e *treeRun) record(r Run, own []metric.Test) {
	for _, t := range own {
		is := resultIn(r, t.ID)
		if was, known := e.results[t.ID]; !known || was.Test.Status == 0 || is.Test.Status > was.Test.Status {
			e.results[t.ID] = is
		}
	}
	if r.Killed || r.Tests == nil {
		return
	}
	e.broken = append(e.broken, r.Tests.Broken...)
	wanted := map[metric.ID]bool{}
	for _, t := range own {
		wanted[t.ID] = true
	}
	for _, t := range r.Tests.Cases {
		if e.full && t.Status != metric.NotRun && !wanted[t.ID] {
			e.others = append(e.others, t)
		}
	}
}

// resultIn is the result of a test in a run.
func resultIn(r Run, id metric.ID) TestResult {
	if r.Killed {
		return TestResult{Aborted: true, Why: r.Why}
	}
	t, ran := r.Tests.Lookup(id)
	switch {
	case ran && t.Status == metric.Passed && !passesCount(r):
		return TestResult{Why: cmp.Or(r.Why, r.Tests.Failure)}
	case ran && t.Status == metric.Skipped:
		return TestResult{Why: cmp.Or(t.Message, "it was skipped there")}
	case ran && t.Status != metric.NotRun:
		return TestResult{Test: t}
	}
	if why, broken := brokenBy(r, id); broken {
		return TestResult{Unbuilt: true, Why: why}
	}
	return TestResult{Why: cmp.Or(r.Why, "no test of that name ran there")}
}

// passesCount reports whether a pass in the run counts: none does if the command failed
// although no test did.
func passesCount(r Run) bool {
	return r.State == metric.Measured && (r.Tests.Failure == "" || rerunOf(r.Check).CoverageLimit)
}

// brokenBy returns what kept the suite of a test from running. A command that fails and
// reports no test did not reach it.
func brokenBy(r Run, id metric.ID) (string, bool) {
	if r.Tests != nil {
		for _, b := range r.Tests.Broken {
			if b.Name == id.Suite {
				return b.Why, true
			}
		}
		if len(r.Tests.Broken) > 0 {
			return r.Tests.Broken[0].Why, true
		}
	}
	empty := r.Tests == nil || len(r.Tests.Cases) == 0
	return cmp.Or(r.Why, r.FirstError()), empty && r.ExitCode != 0
}
