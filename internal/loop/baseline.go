package loop

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"supervise/detector"
	"supervise/internal/criterion"
	"supervise/internal/event"
	"supervise/internal/judge"
	"supervise/internal/ledger"
	"supervise/internal/measure"
	"supervise/internal/treecopy"
	"supervise/internal/unstablenames"
	"supervise/internal/worktree"
	"supervise/metric"
	"supervise/selector"
	"supervise/snapshot"
)

// repeatBelow is how long the tests may take for the baseline to be measured twice,
// which shows flaky tests and how much metrics vary.
const repeatBelow = 60 * time.Second

// baseline measures the tree before any agent runs: iteration 0.
func (r *run) baseline(ctx context.Context) error {
	info, err := r.tree.Take(ctx, 0, event.BeforeChecks)
	if err != nil {
		return err
	}
	return r.measureBaseline(ctx, info)
}

// measureBaseline measures the tree of the snapshot, which is the present one.
func (r *run) measureBaseline(ctx context.Context, info snapshot.Info) error {
	started := r.opts.Now()
	r.state.BaselineSnapshot, r.past.SafeSnapshot = info.ID, info.ID
	it, taken, err := r.takenBaseline(info)
	if err == nil && !taken {
		it, err = r.measuredBaseline(ctx, info)
	}
	if err != nil {
		return err
	}
	it.LoopID, it.StartedAt, it.EndedAt, it.Snapshot, it.Start, it.Tree = r.state.LoopID, started, r.opts.Now(), info.ID, info.ID, info.Tree
	around, err := r.around.look(ctx)
	if err == nil {
		err = r.around.accept(around)
	}
	if err != nil {
		return err
	}
	it.OwnTime = it.EndedAt.Sub(started) - r.checks.clock.Elapsed()
	if !taken {
		if it.Hidden, err = r.judging().HiddenBaseline(ctx, it); err != nil {
			return err
		}
	}
	it.Assessment = detector.Assessment{Class: detector.Baseline}
	it.BaselineRuns, it.CheckOutputs = r.state.BaselineRuns, r.checks.outputs
	it.Verified = judge.IsVerified(it, nil)
	r.startFrom(it)
	err = errors.Join(r.checks.save(), r.ledger.Append(it, nil, false))
	if err == nil {
		err = r.journal.Write(event.BaselineMeasured, 0, r.baselineData(it, info))
	}
	if err == nil {
		err = r.report(it)
	}
	if err != nil {
		return err
	}
	return r.judgeable(it.Set)
}

// measuredBaseline is what the checks find in the tree.
func (r *run) measuredBaseline(ctx context.Context, info snapshot.Info) (it ledger.Iteration, err error) {
	res, err := r.checks.measure(ctx, quick, nil)
	if err != nil {
		return it, fmt.Errorf("measure the baseline: %w", err)
	}
	if r.checks.outputs, err = r.tree.ExcludeCheckFiles(ctx, info.ID, r.checks.outputs); err != nil {
		return it, err
	}
	if err := r.repeat(ctx, &res); err != nil {
		return it, fmt.Errorf("measure the baseline again: %w", err)
	}
	return ledger.Iteration{Set: res.Set, Score: selector.Grade(res.Set, res.Set, r.opts.Weights), Checks: treecopy.CheckRuns(res.Runs)}, nil
}

// takenBaseline is the baseline of the loop in [Options.Baseline], false where there is
// none, or it is of other files.
func (r *run) takenBaseline(info snapshot.Info) (it ledger.Iteration, taken bool, err error) {
	if r.opts.BaselineFrom == "" {
		return it, false, nil
	}
	its, err := ledger.ReadIterations(r.opts.BaselineFrom)
	if err != nil || len(its) == 0 || its[0].Tree != info.Tree {
		return it, false, err
	}
	it = its[0]
	r.state.BaselineRuns, r.checks.outputs = it.BaselineRuns, it.CheckOutputs
	r.past.LearnFlaky(judge.FlakyTests(it.Set.Tests))
	if len(it.CheckOutputs) > 0 {
		err = r.tree.Store.Exclude(it.CheckOutputs)
	}
	return it, err == nil, err
}

// startFrom takes the baseline as what the first iteration is compared with, and
// settles the criterion.
func (r *run) startFrom(it ledger.Iteration) {
	r.past.Begin(it)
	r.opts.Until = r.opts.Until.Resolve(it.Hidden.AllPass() && criterion.IsGreen(it.Set, it.Set))
	record := it.Set.Record()
	r.state.BaselineMetrics, r.state.Criterion = &record, r.opts.Until.String()
}

// judgeable refuses a baseline by which no agent could be judged.
func (r *run) judgeable(set metric.Set) error {
	if set.Tests != nil {
		return nil
	}
	gap, _ := set.Gap(metric.SectionTests)
	switch judged := set.Build != nil || set.Lint != nil; {
	case r.opts.AllowUntested && judged:
		r.opts.Settings.Settings = r.opts.WithoutTests()
		return nil
	case judged:
		return fmt.Errorf("%w: Test results could not be read: %s. Fix the test command, or pass --test-cmd, and --test-report if the command writes a report; --allow-untested judges by build and lint only", ErrUnmeasurable, gap.Why)
	}
	return fmt.Errorf("%w: Test results could not be read: %s. Fix the test command, or pass --test-cmd, and --test-report if the command writes a report", ErrUnmeasurable, gap.Why)
}

// repeat measures the baseline once more when that is quick. Tests with two
// outcomes are flaky, and numbers that differ wobble.
func (r *run) repeat(ctx context.Context, res *measure.Result) error {
	r.state.BaselineRuns = 1
	if r.opts.NoRepeat || res.Set.Tests == nil || spent(*res) > repeatBelow {
		return nil
	}
	again, err := r.checks.measure(ctx, anew, nil)
	if err != nil {
		return err
	}
	r.state.BaselineRuns = 2
	if again.Set.Tests == nil {
		return nil
	}
	if res.Set.Tests.Counts().Cached > 0 {
		*res, again = again, *res // what was run now is the measurement
	}
	res.Set.Variation = judge.Variation(res.Set, again.Set, r.opts.Weights)
	measure.RecordVariation(res.Runs, again.Runs)
	res.Set.Tests = unstablenames.MarkUnstable(res.Set.Tests, again.Set.Tests)
	res.Set.Tests = judge.MarkFlaky(res.Set.Tests, unstablenames.MatchNames(again.Set.Tests, res.Set.Tests))
	r.past.LearnFlaky(judge.FlakyTests(res.Set.Tests))
	return nil
}

// spent is how long the checks took, or would take without a cache.
func spent(res measure.Result) time.Duration {
	var sum time.Duration
	for _, check := range res.Runs {
		sum += check.Duration
	}
	for _, t := range res.Set.Tests.Cases {
		if _, nested := t.Parent(); t.Cached && !nested {
			sum += t.Duration
		}
	}
	return sum
}

func (r *run) baselineData(it ledger.Iteration, info snapshot.Info) event.Baseline {
	b := event.Baseline{
		Progress: it.Progress(false), Criterion: r.opts.Until.String(), Files: info.Files, Skipped: worktree.SkippedPaths(info),
		NotKept: append([]string{}, r.tree.RegenerablePaths(info.ID)...), CheckOutputs: it.CheckOutputs, Flaky: []string{}, Checks: it.Checks, Iteration: it,
		UnusedSettings: append([]string{}, r.opts.Rules.UnmatchedPaths(it.Set)...),
	}
	for id := range r.past.Flaky {
		b.Flaky = append(b.Flaky, id.String())
	}
	slices.Sort(b.Flaky)
	return b
}
