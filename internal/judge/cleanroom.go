package judge

import (
	"context"
	"slices"

	"supervise/detector"
	"supervise/internal/cleanroom"
	"supervise/internal/ledger"
	"supervise/metric"
	"supervise/snapshot"
)

// checkCleanRoom runs what failed at the base and passes now, and the criterion, in a clean copy of the
// base with only the product code of the change. It adds what else they need to pass. It runs nothing
// if nothing became green. For an iteration that changes only product code, it waits until the
// criterion may be met.
func checkCleanRoom(ctx context.Context, c Case, v Verdict) (Verdict, error) {
	old, base := c.measuredBase(v)
	before := base.Tests
	if !c.canRunClean(v, old, before) {
		return v, nil
	}
	mayEnd, err := c.mayEnd(ctx, v)
	if err != nil {
		return v, err
	}
	t := cleanroom.Trial{
		Workspace: c.ForOriginalTests(), Base: old, Current: v.Snapshot, Product: c.Product, Since: c.Ending.Since,
		PassedAtStart: c.passedAtStart(), Repeatable: c.Subject == Iteration && c.History.baselineIteration().CleanRoom != nil,
	}
	t.Tests, t.OldNames = c.greenTests(v, before)
	t.Lint = cleanroom.LintGoals(base.Lint, v.Set.Lint)
	if mayEnd {
		t.Criterion = c.Ending.Criterion
		t.All, t.Known = c.History.MeasuresInCopies() && !c.HasOtherRunner(), v.Set.Tests
	}
	if !t.IsNeeded() {
		return v, nil
	}

	s, err := c.wholeChange(ctx, v, old)
	if err != nil {
		return v, err
	}
	t.Changes, t.Evidence = s.changes, *s.evidence
	other, err := t.HasOtherParts(ctx)
	if !other {
		t.Lint = nil
	}
	if err != nil || !t.IsNeeded() || !other && !mayEnd {
		return v, err
	}
	found, err := c.runCleanRoom(ctx, t)
	v.CleanRoom, v.CleanMeasurement = found.CleanRoom, found.Measured
	return v, err
}

// canRunClean reports whether there is a base, and results to compare with.
func (c Case) canRunClean(v Verdict, old snapshot.ID, before *metric.Tests) bool {
	known := old != "" && before != nil && v.Set.Tests != nil && !isBuildBroken(v.Set)
	return known && !c.GoalTests.Never && !c.IsWatching() && !c.isUndoneAnyway(v)
}

// wholeChange returns the change since the base.
func (c Case) wholeChange(ctx context.Context, v Verdict, old snapshot.ID) (baseChange, error) {
	if v.Start == old {
		return baseChange{c.Tree.Changes, v.Evidence}, nil
	}
	return c.compareTrees(ctx, old, v.Snapshot)
}

// mayEnd reports whether the loop may end with the results of an iteration.
func (c Case) mayEnd(ctx context.Context, v Verdict) (bool, error) {
	if c.Ending.Met == nil {
		return false, nil
	}
	return c.Ending.Met(ctx, v.Iteration)
}

// greenTests returns the tests that failed at the base, or were in a suite that could not run there,
// and pass now; and the names that some of them had at the base. Flaky tests prove nothing, and the
// result of an original test says more.
func (c Case) greenTests(v Verdict, before *metric.Tests) (green []metric.Test, oldNames map[metric.ID]metric.ID) {
	skip := c.flakyTests(v.Iteration)
	if v.Goals != nil {
		for _, g := range v.Goals.Results {
			skip[g.ID] = skip[g.ID] || g.Outcome == detector.Failed
		}
	}
	failed, gone := failedTests(before, v.Set.Tests, skip)
	oldNames = map[metric.ID]metric.ID{}
	for _, t := range v.Set.Tests.Cases {
		_, existed := before.Lookup(t.ID)
		old, renamed := gone[t.ID.Name]
		if t.Status != metric.Passed || t.Flaky || skip[t.ID] {
			continue
		}
		switch {
		case failed[t.ID]:
		case existed:
			continue
		case renamed:
			oldNames[t.ID] = old
		case !slices.ContainsFunc(before.Broken, func(s metric.Suite) bool { return s.Name == t.Suite }):
			continue
		}
		green = append(green, t)
	}
	return green, oldNames
}

// failedTests returns the tests that failed, and those of them that are gone now, by name.
func failedTests(before, now *metric.Tests, skip map[metric.ID]bool) (failed map[metric.ID]bool, gone map[string]metric.ID) {
	failed, gone = map[metric.ID]bool{}, map[string]metric.ID{}
	for _, t := range before.Cases {
		if !t.Failed() || skip[t.ID] {
			continue
		}
		failed[t.ID] = true
		if _, exists := now.Lookup(t.ID); !exists {
			gone[t.ID.Name] = t.ID
		}
	}
	return failed, gone
}

// passedAtStart returns the tests that failed in the working tree before the loop, and passed in a clean
// copy.
func (c Case) passedAtStart() map[metric.ID]bool {
	out := map[metric.ID]bool{}
	if r := c.History.baselineIteration().CleanRoom; r != nil {
		for _, id := range r.PassedAtStart {
			out[id] = true
		}
	}
	return out
}

// runCleanRoom runs the trial and masks secrets in its record. A fault of the machine is no error: the
// iteration is judged without the trial then.
func (c Case) runCleanRoom(ctx context.Context, t cleanroom.Trial) (cleanroom.Result, error) {
	c.progress("running what became green in a clean copy")
	out, err := t.Run(ctx)
	switch {
	case err != nil && ctx.Err() != nil:
		return cleanroom.Result{}, err
	case err != nil:
		c.problem("run in a clean copy", err)
		return cleanroom.Result{CleanRoom: t.Refused(c.Mask.String(err.Error()))}, nil
	}
	out.Runs = c.Mask.Checks(out.Runs)
	for i, x := range out.Reliances {
		out.Reliances[i].AcceptedBefore = slices.ContainsFunc(c.History.startIteration().Open, func(o ledger.OpenFinding) bool {
			return o.Rule == detector.ReliesOn && slices.Equal(o.Files, x.Files)
		})
	}
	return out, nil
}

// CleanBaseline returns the record of a measurement of the baseline in a clean copy.
func CleanBaseline(tree, clean *metric.Tests) *ledger.CleanRoom {
	out := cleanroom.Trial{}.Refused("")
	for _, t := range tree.Cases {
		other, _ := clean.Lookup(t.ID)
		if t.Failed() && t.Status != metric.NotRun {
			out.Tests++
			if other.Status == metric.Passed {
				out.PassedAtStart = append(out.PassedAtStart, t.ID)
			}
		}
		if t.Status == metric.Passed && other.Status != metric.Passed {
			out.FailedAtStart = append(out.FailedAtStart, t.ID)
		}
	}
	return out
}

// MeasuresInCopies reports whether the baseline had the same results in a clean copy.
func (h *History) MeasuresInCopies() bool {
	r := h.baselineIteration().CleanRoom
	return r != nil && len(r.PassedAtStart) == 0 && len(r.FailedAtStart) == 0 && r.NotRunReason == ""
}

// CompareClean compares a measurement of the tree of an iteration in a clean copy with the iteration.
func (h *History) CompareClean(it ledger.Iteration, m cleanroom.Measurement) *ledger.CleanCopy {
	out := &ledger.CleanCopy{Differences: h.differences(it.Set, m.Set)}
	for _, name := range m.Changed {
		if !slices.ContainsFunc(it.CheckChanges, func(c detector.CheckChange) bool { return c.Path == name }) {
			out.Differences = append(out.Differences, "the checks changed "+name)
		}
	}
	return out
}

// PassingInTree returns the tests that pass in the working tree and not in a clean copy.
func (h *History) PassingInTree(tree, clean *metric.Tests) (out []metric.Test) {
	if tree == nil {
		return nil
	}
	for _, t := range tree.Cases {
		if other, _ := clean.Lookup(t.ID); t.Status == metric.Passed && other.Status != metric.Passed && !h.Flaky[t.ID] {
			out = append(out, t)
		}
	}
	return out
}

// FindReliances returns what else than the tree tests of an iteration rely on that pass in the working
// tree and not in a clean copy of it.
func (j Judge) FindReliances(ctx context.Context, h *History, it ledger.Iteration, tests []metric.Test) (*ledger.CleanRoom, error) {
	s, err := j.changeOfSelected(ctx, h, it)
	if err != nil || s.evidence == nil {
		return nil, err
	}
	c := Case{Judge: j, History: h}
	out, err := c.runCleanRoom(ctx, cleanroom.Trial{
		Workspace: j.Workspace, Base: h.baselineIteration().Snapshot, Current: it.Snapshot, Changes: s.changes, Evidence: *s.evidence, Product: j.Product, Tests: tests, Since: j.Ending.Since,
	})
	return out.CleanRoom, err
}
