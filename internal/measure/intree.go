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

// MaxSelected limits how many tests are named in a command. If there are more, all tests
// run.
const MaxSelected = 200

// RunInTree runs tests in another tree with the checks of the project: only those tests if
// their framework supports it, otherwise the complete command. Checks that build run
// first. The meter learns nothing from the results. The error is that of ctx, or a failure
// of the machine.
func (m *Meter) RunInTree(ctx context.Context, want TreeRun) (TreeResults, error) {
	want.Full = want.Full || len(want.Tests) > MaxSelected
	e := m.newTreeRun(want)
	err := e.runTests(ctx)
	for _, t := range want.Tests {
		if _, known := e.results.ByTest[t.ID]; !known {
			e.results.ByTest[t.ID] = TestResult{Why: "no check ran it"}
		}
	}
	return e.results, err
}

// areBuildsRedundant reports whether the builds need not run: they discard their output, and
// the tests build what they need.
func areBuildsRedundant(p Plan) bool {
	for _, c := range p.Checks {
		if c.Kind == Test && c.Runner != "go" || c.Kind == Build && !c.DiscardsOutput() {
			return false
		}
	}
	return true
}

// treeRun runs checks in another tree.
type treeRun struct {
	TreeRun
	original  *Meter // of the project's own tree
	treeMeter *Meter
	deadline  time.Time // zero: no limit
	results   TreeResults
	coverage  bool // coverage is read as well
}

// newTreeRun returns a run of checks of the plan, whose root is another tree. It does not change
// the memory of m.
func (m *Meter) newTreeRun(want TreeRun) *treeRun {
	e := &treeRun{
		TreeRun: want, original: m, treeMeter: &Meter{plan: want.Plan, opts: m.opts, memory: (&Memory{}).Clone(), inCopy: true},
		results: TreeResults{ByTest: map[metric.ID]TestResult{}},
	}
	if want.Limit > 0 {
		e.deadline = time.Now().Add(want.Limit)
	}
	return e
}

// runTests runs the builds and then the test checks that run the tests, in the order of the plan.
// It ends at a failed build.
func (e *treeRun) runTests(ctx context.Context) error {
	for _, kind := range []Kind{Build, Test} {
		if kind == Build && areBuildsRedundant(e.original.plan) {
			continue
		}
		for i, c := range e.original.plan.Checks {
			own := e.Tests
			if kind == Test {
				own = e.original.testsOf(c, e.Tests)
			}
			if c.Kind != kind || len(own) == 0 && !e.Full {
				continue
			}
			stop, err := e.runCheck(ctx, e.treeMeter.plan.Checks[i], own)
			if stop || err != nil {
				return err
			}
		}
	}
	return nil
}

// runCheck runs one check for the tests, and reports whether nothing is left to do.
func (e *treeRun) runCheck(ctx context.Context, c Check, own []metric.Test) (stop bool, err error) {
	selected := false
	all := c
	if c.Kind == Test && !e.Full {
		c, selected = e.treeMeter.selectTests(c, own)
	}
	if e.Adapt != nil && c.Kind == Test {
		var can, could bool
		c, can = e.Adapt(c)
		if all, could = e.Adapt(all); !can || !could {
			for _, t := range own {
				e.results.ByTest[t.ID] = TestResult{Why: "its runner does not support that"}
			}
			return false, nil
		}
	}

	run, err := e.runInTree(ctx, c)
	if err == nil && selected && e.isMissingResults(run, own) {
		run, err = e.runInTree(ctx, all)
	}

	switch {
	case err != nil:
		return false, err
	case c.Kind == Test:
		e.recordResults(run, own)
	case run.Killed, run.ExitCode != 0:
		why := cmp.Or(run.Why, run.FirstError())
		for _, t := range own {
			e.results.ByTest[t.ID] = TestResult{Unbuilt: !run.Killed, Why: why}
		}
		return true, nil
	}

	return false, nil
}

// runInTree runs one check in the other tree, uncached and within the time that is left.
func (e *treeRun) runInTree(ctx context.Context, c Check) (Run, error) {
	c = c.Uncached()
	c.Name, c.Extra = c.Name+" (in another tree)", true
	c.Coverage = c.Coverage && e.coverage
	if e.Limit > 0 {
		c.Timeout = min(e.treeMeter.commandRunner().TimeoutOf(c), time.Until(e.deadline))
		if c.Timeout <= 0 {
			return Run{Check: c, Why: fmt.Sprintf("the time limit of %s for runs in another tree has passed", e.Limit), Killed: true}, nil
		}
	}

	e.original.opts.OnProgress(Progress{Check: c})
	if err := e.treeMeter.commandRunner().GiveToUser(e.treeMeter.plan.Root); err != nil {
		return Run{}, err
	}

	run, err := e.treeMeter.newMeasurement().runCheck(ctx, c)
	if !e.coverage {
		run.Coverage = nil
	}
	e.results.Runs = append(e.results.Runs, run)
	if err == nil {
		e.original.opts.OnProgress(Progress{Check: c, Run: &run})
	} else {
		err = fmt.Errorf("run tests in another tree: %w", err)
	}

	return run, err
}

// isMissingResults reports whether some selected tests did not run and no broken suite
// explains it: the framework may interpret their names differently.
func (e *treeRun) isMissingResults(r Run, own []metric.Test) bool {
	if e.NoRetry || r.Killed || r.Tests != nil && len(r.Tests.Broken) > 0 {
		return false
	}
	return slices.ContainsFunc(own, func(t metric.Test) bool {
		_, ran := r.Tests.Lookup(t.ID)
		return !ran
	})
}

// recordResults records the results of the tests. If several checks ran a test, the worst
// result counts.
func (e *treeRun) recordResults(r Run, own []metric.Test) {
	for _, t := range own {
		is := resultOf(r, t.ID)
		if was, known := e.results.ByTest[t.ID]; !known || was.Test.Status == 0 || is.Test.Status > was.Test.Status {
			e.results.ByTest[t.ID] = is
		}
	}
	if r.Killed || r.Tests == nil {
		return
	}
	e.results.Broken = append(e.results.Broken, r.Tests.Broken...)
	wanted := map[metric.ID]bool{}
	for _, t := range own {
		wanted[t.ID] = true
	}
	for _, t := range r.Tests.Cases {
		if e.Full && t.Status != metric.NotRun && !wanted[t.ID] {
			e.results.Others = append(e.results.Others, t)
		}
	}
}

// resultOf returns the result of a test in a run.
func resultOf(r Run, id metric.ID) TestResult {
	if r.Killed {
		return TestResult{Aborted: true, Why: r.Why}
	}
	t, ran := r.Tests.Lookup(id)
	switch {
	case ran && t.Status == metric.Passed && !arePassesValid(r):
		return TestResult{Why: cmp.Or(r.Why, r.Tests.Failure)}
	case ran && t.Status == metric.Skipped:
		return TestResult{Why: cmp.Or(t.Message, "it was skipped there")}
	case ran && t.Status != metric.NotRun:
		return TestResult{Test: t}
	}
	if why, broken := whyBroken(r, id); broken {
		return TestResult{Unbuilt: true, Why: why}
	}
	return TestResult{Why: cmp.Or(r.Why, "no test of that name ran there")}
}

// arePassesValid reports whether passes in the run count. They do not if the command failed
// although no test did.
func arePassesValid(r Run) bool {
	return r.State == metric.Measured && (r.Tests.Failure == "" || rerunRule(r.Check).CoverageLimit)
}

// whyBroken returns what prevented the suite of a test from running. A command that fails and
// reports no test did not reach the suite.
func whyBroken(r Run, id metric.ID) (string, bool) {
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
