package judge

import (
	"cmp"
	"context"
	"fmt"

	"supervise/detector"
	"supervise/internal/ledger"
	"supervise/internal/originaltests"
	"supervise/metric"
)

// checkHidden runs the tests that the agent does not see. It reads their folder and the code of the
// tree, and adds their results.
// It reuses the last results if the code did not change since then. Sealed tests wait until no visible
// test fails, or the loop may end.
func checkHidden(ctx context.Context, c Case, v Verdict) (Verdict, error) {
	if c.Hidden.Dir == "" || c.Hidden.AtEnd {
		return v, nil
	}

	before := c.History.startIteration().Hidden
	known := c.History.hiddenRuns[v.Tree]
	if known == nil && before != nil && before.Tests != nil && v.Evidence.OnlyTestsChanged {
		known = before
	}

	if known != nil {
		again := *known
		again.Reused = true
		v.Hidden = &again
		return v, nil
	}
	if isUndone := c.isUndone(v); isUndone || isBuildBroken(v.Set) {
		v.Hidden = &ledger.Hidden{NotRunReason: whyNotRun(v, isUndone), Sealed: c.Hidden.Seal > 0}
		return v, nil
	}
	if waits, err := c.sealedTestsWait(ctx, v); err != nil || waits {
		v.Hidden = &ledger.Hidden{NotRunReason: "visible tests fail", Sealed: true}
		return v, err
	}
	var tests *metric.Tests
	if before != nil {
		tests = before.Tests
	}
	c.progress("running the " + (&ledger.Hidden{Sealed: c.Hidden.Seal > 0}).Kind() + " tests")
	var err error
	v.Hidden, err = c.runHidden(ctx, v.Iteration, tests, c.History.hiddenPassed)
	return v, err
}

// sealedTestsWait reports whether the hidden tests are sealed ones, a visible test fails, and the loop
// does not end.
func (c Case) sealedTestsWait(ctx context.Context, v Verdict) (bool, error) {
	if c.Hidden.Seal == 0 || v.Set.Tests == nil || v.Set.Tests.Counts().Failed+len(v.Set.Tests.Broken) == 0 {
		return false, nil
	}
	mayEnd, err := c.mayEnd(ctx, v)
	return !mayEnd, err
}

// runHidden runs the hidden tests on the tree of an iteration. known are their results in the tree
// that it started from, passed whether each passed in earlier runs.
func (j Judge) runHidden(ctx context.Context, it ledger.Iteration, known *metric.Tests, passed map[metric.ID]bool) (*ledger.Hidden, error) {
	run := originaltests.HiddenRun{Workspace: j.Workspace, HiddenOptions: j.Settings.Hidden, Passed: passed}
	out, err := run.Run(ctx, it.Snapshot, it.Set.Tests, known)
	if err != nil {
		return nil, err
	}
	out.Why, out.Runs = j.Mask.String(out.Why), j.Mask.Checks(out.Runs)
	out.Tests = j.Mask.Set(metric.Set{Tests: out.Tests}).Tests
	return out, nil
}

// HiddenBaseline runs the hidden tests on the tree before the loop, nil if there are none.
func (j Judge) HiddenBaseline(ctx context.Context, it ledger.Iteration) (*ledger.Hidden, error) {
	if j.Settings.Hidden.Dir == "" {
		return nil, nil //nolint:nilnil // there are none, as documented
	}
	if j.Settings.Hidden.AtEnd {
		files, err := originaltests.ReadHiddenFiles(j.Settings.Hidden.Dir)
		return &ledger.Hidden{Deferred: true, Files: files.Sum()}, err
	}
	return j.runHidden(ctx, it, nil, nil)
}

// FindHiddenChange returns a finding if the hidden tests differ from those at the start of the
// loop.
func (j Judge) FindHiddenChange(h *History) []detector.Tampering {
	if j.Settings.Hidden.Dir == "" || len(h.Iterations) == 0 || h.baselineIteration().Hidden == nil {
		return nil
	}
	if files, err := originaltests.ReadHiddenFiles(j.Settings.Hidden.Dir); err == nil && files.Sum() == h.baselineIteration().Hidden.Files {
		return nil
	}
	return []detector.Tampering{{
		Pattern: "TP-30", Type: hiddenChanged, Severity: detector.Critical, Evidence: "they are not as they were when the loop began",
	}}
}

// DescribeHiddenFailures describes the hidden tests that fail on the selected tree, "" if all pass.
// If they run only at the end, it counts those that passed before the loop.
func (j Judge) DescribeHiddenFailures(h *ledger.Hidden, past *History) string {
	switch {
	case h.AllPass():
		return ""
	case h.Tests == nil:
		return cmp.Or(h.NotRunReason, h.Why)
	}
	why := fmt.Sprintf("%d of %d fail or did not run", h.Failing(), h.Tests.Counts().Count)
	if len(h.Tests.Broken) > 0 && h.Failing() == 0 {
		why = h.Tests.Broken[0].Why
	}
	in := detector.Hidden{Tests: h.Tests, Passed: past.hiddenPassed}
	if lost := in.CountLost(); j.Settings.Hidden.AtEnd && lost > 0 {
		why += fmt.Sprintf(", %d of them passed before the loop", lost)
	}
	return why
}
