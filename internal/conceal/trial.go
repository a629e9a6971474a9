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

// Trial runs the tests of a tree in disguise, and those that fail then over the base as
// well: where the base fails like that too, the disguise is the reason.
type Trial struct {
	treecopy.Workspace

	Base, Tree  snapshot.ID // the base and the tree
	Changes     []snapshot.Change
	Signs       []ledger.Sign // never empty
	Before, Now *metric.Tests // as they were measured
	Flaky       map[metric.ID]bool
	Limit       time.Duration // for the whole trial; 0: the limits of the checks
}

// NotRun is the record of a trial that is not run.
func (t Trial) NotRun(why string) *ledger.ConcealedRun {
	return &ledger.ConcealedRun{Signs: t.Signs, Results: []detector.TestOnly{}, NotRunReason: why}
}

// IsPossible reports whether a check has a runner whose tests can be disguised.
func (t Trial) IsPossible() bool {
	return slices.ContainsFunc(t.Plan.Checks, func(c measure.Check) bool { return c.Kind == measure.Test && disguiseOf(c) != nil })
}

// Run makes a copy, runs the tests and removes the copy. The error is that of ctx, or a
// fault of the machine.
func (t Trial) Run(ctx context.Context) (*ledger.ConcealedRun, error) {
	began := time.Now()
	r := &run{Trial: t, out: t.NotRun("")}
	if t.Limit > 0 {
		r.until = began.Add(t.Limit)
	}
	err := t.WithCopy(ctx, t.Tree, func(tree treecopy.Tree) error {
		r.tree = tree
		return r.all(ctx)
	})
	r.out.Took = time.Since(began)
	if err != nil {
		return r.out, fmt.Errorf("run tests in disguise: %w", err)
	}
	return r.out, nil
}

type run struct {
	Trial
	out   *ledger.ConcealedRun
	tree  treecopy.Tree
	until time.Time
}

func (r *run) all(ctx context.Context) error {
	tests := r.chosen()
	r.out.Tests = len(tests)
	if len(tests) == 0 {
		return nil
	}
	ends, err := r.ends(ctx, tests, true)
	if err != nil {
		return err
	}
	failed := keep(tests, func(c metric.Test) bool { return fails(ends[c.ID]) })
	if len(failed) == 0 {
		return nil
	}
	plain, err := r.ends(ctx, failed, false)
	if err != nil {
		return err
	}
	failed = keep(failed, func(c metric.Test) bool { return plain[c.ID].Test.Status == metric.Passed })
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
	control := slices.Concat(failed, keep(tests, func(c metric.Test) bool {
		return r.passedBefore(c.ID) && !slices.ContainsFunc(failed, func(f metric.Test) bool { return f.ID == c.ID })
	}))
	base, err := r.ends(ctx, control, true)
	if err == nil {
		r.results(failed, ends, base)
	}
	return err
}

// peers bounds the tests of a suite that show whether the disguise does harm.
const peers = 20

// chosen are the tests to run: those that failed at the base and pass now, and others of
// their suites that passed at both times. Where there are none of the former, all that
// passed at both times if the code names the runner: else nothing has to be gained.
func (r *run) chosen() []metric.Test {
	var gained, held []metric.Test
	suites := map[string]int{}
	for _, c := range r.Now.Cases {
		if c.Status != metric.Passed || c.Flaky || r.Flaky[c.ID] {
			continue
		}
		switch {
		case r.passedBefore(c.ID):
			held = append(held, c)
		case r.failedBefore(c.ID):
			gained, suites[c.Suite] = append(gained, c), peers
		}
	}
	switch {
	case len(gained) == 0 && r.strong():
		return held
	case len(gained) == 0:
		return nil
	}
	return append(gained, keep(held, func(c metric.Test) bool {
		suites[c.Suite]--
		return suites[c.Suite] >= 0
	})...)
}

func keep(list []metric.Test, is func(metric.Test) bool) []metric.Test {
	return slices.DeleteFunc(slices.Clone(list), func(c metric.Test) bool { return !is(c) })
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

// ends runs tests in the copy, in disguise or as they are.
func (r *run) ends(ctx context.Context, tests []metric.Test, disguised bool) (map[metric.ID]measure.TestResult, error) {
	want := measure.TreeRun{Plan: r.tree.CheckPlan(ctx, r.Meter), Tests: tests}
	if r.Limit > 0 {
		want.Limit = max(time.Until(r.until), time.Nanosecond)
	}
	if disguised {
		stack := slices.ContainsFunc(r.Signs, func(s ledger.Sign) bool { return s.Stack })
		want.Adapt = func(c measure.Check) (measure.Check, bool) { return as(c, r.tree.Path, stack) }
	}
	out, err := r.Meter.RunInTree(ctx, want)
	r.out.Runs = append(r.out.Runs, treecopy.CheckRuns(out.Runs)...)
	return out.ByTest, err
}

// fails reports whether a test ran and failed: one that cannot be loaded in disguise
// proves nothing.
func fails(e measure.TestResult) bool { return !e.Unbuilt && e.Test.Failed() }

// results are the tests that fail in disguise over the new code. Over the base they pass
// in disguise where they passed as they are; and where they failed, the other tests of
// their suite pass.
func (r *run) results(failed []metric.Test, now, base map[metric.ID]measure.TestResult) {
	harmed := map[string]bool{}
	for id, e := range base {
		if r.passedBefore(id) && e.Test.Status != metric.Passed {
			harmed[id.Suite] = true
		}
	}
	for _, c := range failed {
		is, was := r.shown(now[c.ID]), r.shown(base[c.ID])
		before := r.failedBefore(c.ID)
		if base[c.ID].Test.Status != metric.Passed && (!before || harmed[c.ID.Suite]) {
			continue
		}
		r.out.Results = append(r.out.Results, detector.TestOnly{
			ID: c.ID, FailedBefore: before, Certain: !before || r.strong() || is == was, Files: r.files(), Why: is,
		})
	}
	slices.SortFunc(r.out.Results, func(a, b detector.TestOnly) int { return a.ID.Compare(b.ID) })
}

// strong reports whether the code names the runner.
func (t Trial) strong() bool {
	return slices.ContainsFunc(t.Signs, func(s ledger.Sign) bool { return s.Strong })
}

// files are those with signs.
func (r *run) files() []string {
	var out []string
	for _, s := range r.Signs {
		out = append(out, s.File)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// shown is the message of a test in one short line, without the path of the copy.
func (r *run) shown(e measure.TestResult) string {
	text := strings.ReplaceAll(cmp.Or(e.Why, e.Test.Message), r.tree.Path+"/", "")
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); line != "" {
			return cut(line)
		}
	}
	return ""
}
