package loop

import (
	"context"
	"slices"

	"supervise/internal/cleanroom"
	"supervise/internal/judge"
	"supervise/internal/ledger"
	"supervise/internal/measure"
	"supervise/metric"
	"supervise/snapshot"
)

// cleanRun is a measurement of a tree in a clean copy.
type cleanRun struct {
	tree     string // content identity
	measured *cleanroom.Measurement
}

// measureClean measures a snapshot, which is the current tree, in a clean copy. It is nil if the machine
// cannot do that, such as with a full disk.
func (r *run) measureClean(ctx context.Context, id snapshot.ID, known *metric.Tests) (*cleanroom.Measurement, error) {
	var out *cleanroom.Measurement
	res, err := r.checks.measure(ctx, func(m *measure.Meter, ctx context.Context, known *metric.Tests) (measure.Result, error) {
		w := r.workspace()
		w.Meter, w.Plan = m, m.Plan()
		var err error
		if out, err = cleanroom.Measure(ctx, w, id, known); err != nil {
			return measure.Result{}, err
		}
		return out.Result, nil
	}, known)
	switch {
	case err != nil && ctx.Err() != nil:
		return nil, err
	case err != nil:
		r.warn("measure a clean copy", err)
		return nil, nil //nolint:nilnil // the working tree is measured then
	}
	out.Result = res // without secrets
	return out, nil
}

// measureSelected measures the tree of an iteration, which is restored, again without caches: in a
// clean copy if the baseline had the same results there, and where it is if that differs.
func (r *run) measureSelected(ctx context.Context, it ledger.Iteration, known *metric.Tests) (judge.Measured, *ledger.CleanCopy, error) {
	m, clean, err := r.measureSelectedClean(ctx, it, known)
	switch {
	case err != nil:
		return judge.Measured{}, nil, err
	case clean != nil && len(clean.Differences) == 0:
		return judge.Measured{Set: m.Set}, clean, nil
	}
	res, err := r.checks.measure(ctx, measureUncached, known)
	again := judge.Measured{Set: res.Set}
	if err == nil {
		again.CheckChanges, err = r.findCheckChanges(ctx, it.Snapshot)
	}
	if err == nil {
		var flaky []metric.ID
		flaky, err = r.newJudge().FindFlaky(ctx, it.Set, res.Set)
		r.past.LearnFlaky(flaky)
	}
	if err == nil && clean != nil {
		err = r.addReliances(ctx, it, clean, r.past.PassingInTree(res.Set.Tests, m.Set.Tests))
	}
	return again, clean, err
}

// measureSelectedClean measures the tree of an iteration in a clean copy, unless it was measured there.
func (r *run) measureSelectedClean(ctx context.Context, it ledger.Iteration, known *metric.Tests) (*cleanroom.Measurement, *ledger.CleanCopy, error) {
	if !r.past.MeasuresInCopies() || r.opts.IsWatching() {
		return nil, nil, nil
	}
	m := r.lastClean.measured
	if m == nil || r.lastClean.tree != it.Tree {
		var err error
		if m, err = r.measureClean(ctx, it.Snapshot, known); err != nil || m == nil {
			return nil, nil, err
		}
	}
	return m, r.past.CompareClean(it, *m), nil
}

// addReliances adds what tests need that pass in the working tree only.
func (r *run) addReliances(ctx context.Context, it ledger.Iteration, c *ledger.CleanCopy, tests []metric.Test) error {
	if len(tests) == 0 || it.Number == 0 {
		return nil
	}
	found, err := r.newJudge().FindReliances(ctx, r.past, it, tests)
	if found != nil {
		c.Reliances = found.Reliances
	}
	return err
}

// repeatClean measures the baseline again in a clean copy. It is true if the results are the same; then
// tests whose results came from a cache have been run. The record is nil if no copy was measured.
func (r *run) repeatClean(ctx context.Context, id snapshot.ID, res *measure.Result) (record *ledger.CleanRoom, same bool, err error) {
	if r.opts.IsWatching() || r.opts.GoalTests.Never {
		return nil, false, nil
	}
	m, err := r.measureClean(ctx, id, res.Set.Tests)
	if err != nil || m == nil || m.Set.Tests == nil {
		return nil, false, err
	}
	record = judge.CleanBaseline(res.Set.Tests, m.Set.Tests)
	if len(r.past.CompareClean(ledger.Iteration{Set: res.Set}, cleanroom.Measurement{Result: m.Result}).Differences) > 0 {
		return record, false, nil
	}
	tests := *res.Set.Tests
	tests.Cases = slices.Clone(tests.Cases)
	for i, t := range tests.Cases {
		if t.Cached { // it passed in both
			tests.Cases[i].Cached = false
		}
	}
	res.Set.Tests, res.Set.Variation = &tests, judge.Variation(res.Set, m.Set, r.opts.Weights)
	return record, true, nil
}
