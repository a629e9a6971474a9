package conceal

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"supervise/detector"
	"supervise/internal/ledger"
	"supervise/internal/measure"
	"supervise/internal/treecopy"
	"supervise/metric"
	"supervise/snapshot"
)

// Trial runs the tests of a tree concealed, and those that then fail on the base as well: if
// they fail there too, the concealment is the reason.
type Trial struct {
	treecopy.Workspace

	Base, Tree  snapshot.ID // the base and the tree
	Changes     []snapshot.Change
	Signs       []ledger.Sign // never empty
	Before, Now *metric.Tests // measured without concealment, of the base and of the tree
	Flaky       map[metric.ID]bool
	Limit       time.Duration // for the whole trial; 0: the limits of the checks
}

// NotRun is the record of a trial that is not run.
func (t Trial) NotRun(why string) *ledger.ConcealedRun {
	return &ledger.ConcealedRun{Signs: t.Signs, Results: []detector.TestOnly{}, NotRunReason: why}
}

// IsPossible reports whether a check has a runner whose tests can be concealed.
func (t Trial) IsPossible() bool {
	return slices.ContainsFunc(t.Plan.Checks, func(c measure.Check) bool { return c.Kind == measure.Test && concealmentOf(c) != nil })
}

// Run makes a copy, runs the tests and removes the copy. The error is that of ctx, or a
// fault of the machine.
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

type run struct {
	Trial
	out      *ledger.ConcealedRun
	tree     treecopy.Tree
	deadline time.Time
}

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

// maxPeers bounds the tests of a suite that show whether the concealment itself makes tests fail.
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

func filterTests(list []metric.Test, accepts func(metric.Test) bool) []metric.Test {
	return slices.DeleteFunc(slices.Clone(list), func(c metric.Test) bool { return !accepts(c) })
}

func (r *run) passedBefore(id metric.ID) bool {
	c, there := r.Before.Lookup(id)
	return there && c.Status == metric.Passed
}

// failedBefore reports whether a test failed at the base, or could not be built there.
func (r *run) failedBefore(id metric.ID) bool {
	if c, there := r.Before.Lookup(id); there {
		return c.Failed()
	}
	return r.Before != nil && slices.ContainsFunc(r.Before.Broken, func(s metric.Suite) bool { return s.Name == id.Suite })
}

// runTests runs tests in the copy, concealed or not.
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

// hasFailed reports whether a test ran and failed: one that cannot be loaded when concealed
// proves nothing.
func hasFailed(e measure.TestResult) bool { return !e.Unbuilt && e.Test.Failed() }

// addResults records the tests that fail concealed on the new code. On the base they pass
// concealed if they passed before; if they failed before, the other tests of their suite pass.
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

// namesRunner reports whether the code names the runner.
func (t Trial) namesRunner() bool {
	return slices.ContainsFunc(t.Signs, func(s ledger.Sign) bool { return s.Strong })
}

// filesWithSigns are those with signs.
func (r *run) filesWithSigns() []string {
	var out []string
	for _, s := range r.Signs {
		out = append(out, s.File)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// shortMessage is the message of a test in one short line, without the path of the copy.
func (r *run) shortMessage(e measure.TestResult) string {
	text := strings.ReplaceAll(cmp.Or(e.Why, e.Test.Message), r.tree.Path+"/", "")
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); line != "" {
			return truncate(line)
		}
	}
	return ""
}
