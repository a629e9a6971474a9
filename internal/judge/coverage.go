package judge

import (
	"context"
	"fmt"
	"slices"

	"supervise/detector"
	"supervise/internal/evidence"
	"supervise/internal/ledger"
	"supervise/internal/measure"
	"supervise/internal/treecopy"
	"supervise/metric"
	"supervise/snapshot"
)

// compareCoverage finds the lines that tests executed in earlier trees, that still exist and that are
// not executed now. It reads the coverage of both trees and the texts of the changed files. If tests
// failed in the earlier tree, it runs there those that passed, since what only a failing test
// executed is no base. It adds the lines, and the coverage that counts.
func compareCoverage(ctx context.Context, c Case, v Verdict) (Verdict, error) {
	v.CoverageLosses, v.passing = nil, map[snapshot.ID]passingLines{}
	if v.Set.Coverage == nil || c.isUnbuiltChange(v) {
		return v, nil
	}
	for _, n := range c.History.comparedIterations() {
		loss, err := c.coverageLossSince(ctx, v, c.History.Iterations[n])
		if err != nil {
			return v, err
		}
		if loss != nil {
			v.CoverageLosses = append(v.CoverageLosses, *loss)
		}
	}

	counts := *v.Set.Coverage
	counts.Counted = nil
	v.Set.Coverage = &counts
	measured, _ := counts.Percent()
	counted, _ := c.History.Baseline.Set.Coverage.Percent()
	if d, ok := detector.CoverageDelta(c.History.Input(v.Iteration), c.History.Baseline, c.Rules); ok && counted+min(0, d) > measured {
		counts.Counted = new(counted + min(0, d))
	}
	return v, nil
}

// comparedIterations returns the iterations with which the next one is compared: the baseline, the
// one from whose tree it starts, and the latest that a person approved.
func (h *History) comparedIterations() []int {
	list := []int{h.Baseline.Iteration, h.Previous.Iteration}
	for i := range h.Accepted { // not by value: there may be thousands
		if h.Accepted[i].Approved {
			list = append(list, h.Accepted[i].Iteration)
		}
	}
	list = append(list[:2], list[max(2, len(list)-1):]...)
	slices.Sort(list)
	return slices.Compact(list)
}

// coverageLossSince returns the lines that lost their coverage since an iteration, nil if they are
// unknown.
func (c Case) coverageLossSince(ctx context.Context, v Verdict, it ledger.Iteration) (*detector.CoverageLoss, error) {
	if it.Set.Coverage == nil || it.Snapshot == "" || v.Snapshot == "" {
		return nil, nil //nolint:nilnil // unknown, as documented
	}
	change := evidence.CoverageChange{
		Before: it.Set.Coverage, Now: v.Set.Coverage, Changes: c.Tree.Changes, Renamed: v.Evidence.Renamed,
		Read: evidence.NewSnapshotReader(ctx, c.Store, it.Snapshot, v.Snapshot),
	}
	if it.Snapshot != v.Start {
		var err error
		if change.Changes, err = c.Store.Changes(ctx, it.Snapshot, v.Snapshot); err != nil {
			return nil, fmt.Errorf("compare coverage with iteration %d: %w", it.Number, err)
		}
	}
	loss := &detector.CoverageLoss{Since: it.Number}
	var known bool
	var err error
	if loss.Files, known, err = change.Losses(); err != nil || !known {
		return nil, err
	}
	if len(loss.Files) > 0 && it.Set.Tests != nil && slices.ContainsFunc(it.Set.Tests.Cases, executedAndFailed) {
		return loss, c.attributeLoss(ctx, v, it, change, loss)
	}
	return loss, nil
}

// attributeLoss removes the lines that only failing tests executed in the tree of an iteration.
func (c Case) attributeLoss(ctx context.Context, v Verdict, tree ledger.Iteration, change evidence.CoverageChange, loss *detector.CoverageLoss) error {
	if c.isUndone(v) {
		loss.Undecided = "nothing was run, since the iteration is undone in any case"
		return nil
	}
	by, known := c.History.passing[tree.Snapshot]
	if !known {
		c.progress("running the tests that passed before, for what they cover")
		var err error
		if by, err = c.passingCoverage(ctx, tree.Snapshot, tree.Set.Tests); err != nil {
			return err
		}
		v.passing[tree.Snapshot] = by
	}
	loss.Undecided = c.Mask.String(by.unknown)
	if by.unknown != "" {
		return nil
	}
	change.Passing = by.executed
	var err error
	loss.Files, _, err = change.Losses()
	return err
}

// executedAndFailed reports whether a test executed code and failed.
func executedAndFailed(t metric.Test) bool { return t.Failed() && t.Status != metric.NotRun }

// passingLines is what passing tests execute in a tree.
type passingLines struct {
	lines   map[string]metric.LineSet // by file
	others  bool                      // lines are those of the failing tests instead
	unknown string                    // why it is unknown, "" if it is known
}

// executed returns those of the executed lines of a file that count.
func (p passingLines) executed(file string, all metric.LineSet) metric.LineSet {
	rest := all.Minus(p.lines[file])
	if p.others {
		return rest
	}
	return all.Minus(rest)
}

// passingCoverage runs the passing tests in a tree or, if they are too many to be named, the failing
// ones, whose lines do not count then.
func (c Case) passingCoverage(ctx context.Context, id snapshot.ID, tests *metric.Tests) (passingLines, error) {
	var passed, failed []metric.Test
	for _, t := range tests.Cases {
		switch {
		case executedAndFailed(t):
			failed = append(failed, t)
		case t.Status == metric.Passed:
			passed = append(passed, t)
		}
	}
	if len(passed) == 0 {
		return passingLines{}, nil
	}
	chosen, out := passed, passingLines{lines: map[string]metric.LineSet{}}
	if len(passed) > measure.MaxSelected {
		chosen, out.others = failed, true
	}

	var run measure.TreeMeasurement
	err := c.ForOriginalTests().WithCopy(ctx, id, func(t treecopy.Tree) (err error) {
		run, err = t.Meter.CoverageOf(ctx, t.CheckPlan(ctx, t.Meter), chosen)
		return err
	})
	if out.unknown = run.Why; err != nil || run.Why != "" {
		return out, err
	}
	for _, f := range run.Coverage.Files {
		out.lines[f.Path] = f.Executed
	}
	return out, nil
}
