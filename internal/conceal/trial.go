package conceal

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"supervise/detector"
	"supervise/internal/ledger"
	"supervise/internal/measure"
	"supervise/internal/textstream"
	"supervise/internal/treecopy"
	"supervise/metric"
	"supervise/snapshot"
)

// Trial runs the tests of a tree concealed. It also runs those that fail on the base: if they
// fail there, too, the concealment is the reason.
type Trial struct {
	treecopy.Workspace

	Base, Tree  snapshot.ID        // the base and the tree with the change
	Changes     []snapshot.Change  // between the base and the tree
	Signs       []ledger.Sign      // at least one
	Before, Now *metric.Tests      // results without concealment, of the base and of the tree
	Flaky       map[metric.ID]bool // tests whose results vary; they are not run
	Limit       time.Duration      // for the complete trial; 0 means the limits of the checks
}

// NotRun returns the record of a trial that does not run, with the reason.
func (t Trial) NotRun(why string) *ledger.ConcealedRun {
	return &ledger.ConcealedRun{Signs: t.Signs, Results: []detector.TestOnly{}, NotRunReason: why}
}

// IsPossible reports whether a check has a runner whose tests can be concealed.
func (t Trial) IsPossible() bool {
	return slices.ContainsFunc(t.Plan.Checks, func(c measure.Check) bool { return c.Kind == measure.Test && concealmentOf(c) != nil })
}

// Run makes a copy of the tree, runs the tests in it and removes it. The error is that of ctx, or
// a fault of the machine.
func (t Trial) Run(ctx context.Context) (*ledger.ConcealedRun, error) {
	start := time.Now()
	r := &run{Trial: t, out: t.NotRun("")}
	if t.Limit > 0 {
		r.deadline = start.Add(t.Limit)
	}
	err := t.WithCopy(ctx, t.Tree, func(tree treecopy.Tree) error {
		r.tree = tree
		return r.execute(ctx)
	})
	r.out.Took = time.Since(start)
	if err != nil {
		return r.out, fmt.Errorf("run tests concealed: %w", err)
	}
	return r.out, nil
}

// run is the state of a running trial.
type run struct {
	Trial
	out      *ledger.ConcealedRun // the record so far
	tree     treecopy.Tree        // the copy
	deadline time.Time            // set only if there is a limit
}

// execute runs the tests in up to three rounds: concealed; those that failed again without
// concealment; and those that then passed concealed on the base, with tests that passed there
// before as a control.
func (r *run) execute(ctx context.Context) error {
	tests := r.chooseTests()
	r.out.Tests = len(tests)
	if len(tests) == 0 {
		return nil
	}

	concealedResults, err := r.runTests(ctx, tests, true)
	if err != nil {
		return err
	}
	failed := filterTests(tests, func(c metric.Test) bool { return hasFailed(concealedResults[c.ID]) })
	if len(failed) == 0 {
		return nil
	}

	plainResults, err := r.runTests(ctx, failed, false)
	if err != nil {
		return err
	}
	failed = filterTests(failed, func(c metric.Test) bool { return plainResults[c.ID].Test.Status == metric.Passed })
	if len(failed) == 0 {
		return nil
	}

	var paths []string
	for _, c := range r.Changes {
		paths = append(paths, c.Path)
	}
	if err := r.tree.Restore(ctx, r.Base, paths...); err != nil {
		return err
	}

	control := slices.Concat(failed, filterTests(tests, func(c metric.Test) bool {
		return r.passedBefore(c.ID) && !slices.ContainsFunc(failed, func(f metric.Test) bool { return f.ID == c.ID })
	}))

	base, err := r.runTests(ctx, control, true)
	if err == nil {
		r.addResults(failed, concealedResults, base)
	}
	return err
}

// maxPeers is the maximum number of tests of a suite that show whether the concealment itself
// makes tests fail.
const maxPeers = 20

// chooseTests returns the tests to run: those that failed at the base and pass now, and others
// of their suites that passed both times. If no test failed at the base, it returns all that
// passed both times if the code names the runner, else none.
func (r *run) chooseTests() []metric.Test {
	var fixed, passed []metric.Test
	suites := map[string]int{}
	for _, c := range r.Now.Cases {
		if c.Status != metric.Passed || c.Flaky || r.Flaky[c.ID] {
			continue
		}

		switch {
		case r.passedBefore(c.ID):
			passed = append(passed, c)
		case r.failedBefore(c.ID):
			fixed, suites[c.Suite] = append(fixed, c), maxPeers
		}
	}

	switch {
	case len(fixed) == 0 && r.namesRunner():
		return passed
	case len(fixed) == 0:
		return nil
	}
	return append(fixed, filterTests(passed, func(c metric.Test) bool {
		suites[c.Suite]--
		return suites[c.Suite] >= 0
	})...)
}

// filterTests returns the tests that are accepted.
func filterTests(list []metric.Test, accepts func(metric.Test) bool) []metric.Test {
	return slices.DeleteFunc(slices.Clone(list), func(c metric.Test) bool { return !accepts(c) })
}

// passedBefore reports whether a test passed at the base.
func (r *run) passedBefore(id metric.ID) bool {
	c, there := r.Before.Lookup(id)
	return there && c.Status == metric.Passed
}

// failedBefore reports whether a test failed at the base, or could not be built there.
func (r *run) failedBefore(id metric.ID) bool {
	if c, there := r.Before.Lookup(id); there {
		return c.Failed()
	}
	return r.Before.IsBroken(id)
}

// runTests runs tests in the copy, concealed or not, and returns their results.
func (r *run) runTests(ctx context.Context, tests []metric.Test, conceal bool) (map[metric.ID]measure.TestResult, error) {
	request := measure.TreeRun{Plan: r.tree.CheckPlan(ctx, r.Meter), Tests: tests}
	if r.Limit > 0 {
		request.Limit = max(time.Until(r.deadline), time.Nanosecond)
	}
	if conceal {
		stack := slices.ContainsFunc(r.Signs, func(s ledger.Sign) bool { return s.Stack })
		request.Adapt = func(c measure.Check) (measure.Check, bool) { return concealed(c, r.tree.Path, stack) }
	}
	out, err := r.Meter.RunInTree(ctx, request)
	r.out.Runs = append(r.out.Runs, treecopy.CheckRuns(out.Runs)...)
	return out.ByTest, err
}

// hasFailed reports whether a test ran and failed. A test that cannot be loaded when it is
// concealed proves nothing.
func hasFailed(e measure.TestResult) bool { return !e.Unbuilt && e.Test.Failed() }

// addResults records the tests that fail concealed on the new code, unless the concealment may be
// the reason: a test that passed at the base must also pass there concealed, and for a test that
// failed at the base the other tests of its suite must.
func (r *run) addResults(failed []metric.Test, now, base map[metric.ID]measure.TestResult) {
	harmed := map[string]bool{}
	for id, e := range base {
		if r.passedBefore(id) && e.Test.Status != metric.Passed {
			harmed[id.Suite] = true
		}
	}

	for _, c := range failed {
		message, baseMessage := r.shortMessage(now[c.ID]), r.shortMessage(base[c.ID])
		before := r.failedBefore(c.ID)
		failsOnBase := base[c.ID].Test.Status != metric.Passed
		if failsOnBase && (!before || harmed[c.ID.Suite]) {
			continue
		}
		r.out.Results = append(r.out.Results, detector.TestOnly{
			ID: c.ID, FailedBefore: before, Certain: !before || r.namesRunner() || message == baseMessage, Files: r.filesWithSigns(), Why: message,
		})
	}
	slices.SortFunc(r.out.Results, func(a, b detector.TestOnly) int { return a.ID.Compare(b.ID) })
}

// namesRunner reports whether any sign is strong: the code names the runner.
func (t Trial) namesRunner() bool {
	return slices.ContainsFunc(t.Signs, func(s ledger.Sign) bool { return s.Strong })
}

// filesWithSigns returns the sorted files with signs.
func (r *run) filesWithSigns() []string {
	files := map[string]bool{}
	for _, s := range r.Signs {
		files[s.File] = true
	}
	return slices.Sorted(maps.Keys(files))
}

// shortMessage returns the first line of the message of a test, without the path of the copy. It
// is "" without a message.
func (r *run) shortMessage(e measure.TestResult) string {
	text := strings.ReplaceAll(cmp.Or(e.Why, e.Test.Message), r.tree.Path+"/", "")
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); line != "" {
			return textstream.Truncate(line, maxText)
		}
	}
	return ""
}
