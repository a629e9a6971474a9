package judge

import (
	"context"
	"slices"

	"supervise/internal/conceal"
	"supervise/internal/evidence"
	"supervise/internal/ledger"
	"supervise/snapshot"
)

// checkConcealed runs tests so that the code cannot see that it runs in a test. It reads the code that
// was added since the base, and adds the tests that fail then, so that they pass only under test.
// It runs nothing if no added code may detect its tests, or if the
// iteration changed only tests.
func checkConcealed(ctx context.Context, c Case, v Verdict) (Verdict, error) {
	old, before := c.baseTree(v)
	if c.GoalTests.Never || old == "" || before == nil || c.isUnbuiltChange(v) || v.Evidence.OnlyTestsChanged || len(c.Tree.Changes) == 0 {
		return v, nil
	}
	t, err := c.concealTrial(ctx, v, old)
	if err != nil || len(t.Signs) == 0 || !t.IsPossible() {
		return v, err
	}
	t.Before, t.Now = before, v.Set.Tests
	if why := whyNotRun(v, c.isUndone(v)); why != "" {
		v.ConcealedRun = t.NotRun(why)
		return v, nil
	}
	v.ConcealedRun, err = c.runConcealed(ctx, t)
	return v, err
}

// concealTrial returns the trial of a tree. It has no signs if no added code may look for tests.
func (c Case) concealTrial(ctx context.Context, v Verdict, old snapshot.ID) (conceal.Trial, error) {
	t := conceal.Trial{Workspace: c.Workspace, Base: old, Tree: v.Snapshot, Changes: c.Tree.Changes, Flaky: c.flakyTests(v.Iteration), Limit: c.GoalTests.Timeout}
	if v.Start != old {
		var err error
		if t.Changes, err = c.Store.Changes(ctx, old, v.Snapshot); err != nil {
			return t, err
		}
	}
	var err error
	t.Signs, err = conceal.FindSigns(t.Changes, testFilesOf(v.Evidence), evidence.NewSnapshotReader(ctx, c.Store, old, v.Snapshot))
	return t, err
}

// testFilesOf returns the changed files of tests, and those on which tests depend.
func testFilesOf(e *ledger.Evidence) []string { return slices.Concat(e.TestFiles, e.RunnerFiles) }

// runConcealed runs the trial and masks secrets in its record. A fault of the machine is no error:
// the iteration is judged without the trial then.
func (c Case) runConcealed(ctx context.Context, t conceal.Trial) (*ledger.ConcealedRun, error) {
	c.progress("running tests where the code cannot see them")
	out, err := t.Run(ctx)
	if err != nil && ctx.Err() == nil {
		c.problem("run tests where the code cannot see them", err)
		return t.NotRun(c.Mask.String(err.Error())), nil
	}
	if err != nil {
		return nil, err
	}
	for i, s := range out.Signs {
		out.Signs[i].Text = c.Mask.String(s.Text)
	}
	for i, r := range out.Results {
		out.Results[i].Why = c.Mask.String(r.Why)
	}
	out.Runs = c.Mask.Checks(out.Runs)
	return out, nil
}
