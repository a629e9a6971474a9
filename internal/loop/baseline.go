package loop

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"time"

	"supervise/detector"
	"supervise/internal/criterion"
	"supervise/internal/event"
	"supervise/internal/evidence"
	"supervise/internal/judge"
	"supervise/internal/ledger"
	"supervise/internal/measure"
	"supervise/internal/treecopy"
	"supervise/internal/treediff"
	"supervise/internal/unstablenames"
	"supervise/internal/worktree"
	"supervise/metric"
	"supervise/selector"
	"supervise/snapshot"
)

// repeatBelow is the longest duration of the checks for which the baseline is measured twice. The
// second run shows which tests are flaky, and by how much metrics vary.
const repeatBelow = 60 * time.Second

// takeBaseline measures the tree before the agent runs, as iteration 0.
func (r *run) takeBaseline(ctx context.Context) error {
	info, err := r.tree.Take(ctx, 0, event.BeforeChecks)
	if err != nil {
		return err
	}
	return r.sealAndMeasure(ctx, info)
}

// sealAndMeasure seals tests, if the user wants that, and measures the baseline in the current tree,
// which must equal the snapshot.
func (r *run) sealAndMeasure(ctx context.Context, info snapshot.Info) (err error) {
	var sealed *sealedBaseline
	if r.opts.Hidden.Seal > 0 {
		r.past.SafeSnapshot = info.ID
		if info, sealed, err = r.sealTests(ctx, info); err != nil {
			return err
		}
	}
	return r.measureBaseline(ctx, info, sealed)
}

// measureBaseline measures the current tree, which must equal the snapshot, and records the
// result as iteration 0. Candidates share one baseline, which is copied instead. sealed is what was
// measured while tests were sealed, nil if that was not in this process.
func (r *run) measureBaseline(ctx context.Context, info snapshot.Info, sealed *sealedBaseline) error {
	started := r.opts.Now()
	r.state.BaselineSnapshot, r.past.SafeSnapshot = info.ID, info.ID
	it, isShared, err := r.sharedBaseline(info)
	if err == nil && !isShared {
		it, err = r.checkBaseline(ctx, info, sealed)
	}
	if err != nil {
		return err
	}

	it.LoopID, it.StartedAt, it.EndedAt, it.Snapshot, it.Start, it.Tree = r.state.LoopID, started, r.opts.Now(), info.ID, info.ID, info.Tree
	state, err := r.environment.observe(ctx)
	if err == nil {
		err = r.environment.accept(state)
	}
	if err != nil {
		return err
	}

	it.OwnTime = it.EndedAt.Sub(started) - r.checks.clock.Elapsed()
	if !isShared {
		if it.Hidden, err = r.newJudge().HiddenBaseline(ctx, it); err == nil {
			err = requireSealedRun(it.Hidden, it.Set.Tests)
		}
		if err != nil {
			return err
		}
	}

	it.Assessment = detector.Assessment{Class: detector.Baseline}
	it.BaselineRuns, it.CheckOutputs = r.state.BaselineRuns, r.checks.checkOutputs
	it.Verified = judge.IsVerified(it, nil)
	r.setBaseline(it)
	err = errors.Join(r.checks.save(), r.ledger.Append(it, nil, false))
	if err == nil {
		err = r.journal.Write(event.BaselineMeasured, 0, r.baselineEvent(it, info))
	}
	if err == nil {
		err = r.writeReport(it)
	}
	if err != nil {
		return err
	}
	return r.requireJudgeable(it.Set)
}

// checkBaseline runs the checks on the tree and returns the results as an iteration.
func (r *run) checkBaseline(ctx context.Context, info snapshot.Info, sealed *sealedBaseline) (it ledger.Iteration, err error) {
	if sealed == nil {
		sealed = &sealedBaseline{uncommitted: r.auditUncommitted(ctx)}
		if sealed.result, err = r.checks.measure(ctx, measureQuickly, nil); err != nil {
			return it, fmt.Errorf("measure the baseline: %w", err)
		}
	}
	res, uncommitted := sealed.result, sealed.uncommitted
	if r.checks.checkOutputs, err = r.tree.ExcludeCheckFiles(ctx, info.ID, r.checks.checkOutputs); err != nil {
		return it, err
	}
	cleanRoom, err := r.repeatBaseline(ctx, info.ID, &res)
	if err != nil {
		return it, fmt.Errorf("measure the baseline again: %w", err)
	}
	changes, err := r.findCheckChanges(ctx, info.ID)
	return ledger.Iteration{CheckChanges: changes, CleanRoom: cleanRoom, Set: res.Set, Score: selector.Grade(res.Set, res.Set, r.opts.Weights), Checks: treecopy.CheckRuns(res.Runs), Uncommitted: uncommitted}, err
}

// auditUncommitted compares the tests with those of HEAD, with which no iteration is compared.
func (r *run) auditUncommitted(ctx context.Context) *ledger.Uncommitted {
	repo := treediff.Repo{Dir: r.opts.Root}
	if !repo.HasCommits(ctx) {
		return nil
	}
	c, err := repo.CompareWorkingTree(ctx, "HEAD")
	if err != nil {
		r.warn("compare the tests with HEAD", err)
		return nil
	}
	opt := r.opts.Integrity
	opt.Base = c.Base
	out := evidence.Uncommitted(c.Files, opt)
	if out != nil {
		for i, f := range out.Findings {
			out.Findings[i].Evidence = r.mask.String(f.Evidence)
		}
	}
	return out
}

// findCheckChanges returns what the checks changed in the tree since a snapshot of it, without
// their reports. In a watched session it compares nothing, since the user may change the tree
// meanwhile.
func (r *run) findCheckChanges(ctx context.Context, judged snapshot.ID) ([]detector.CheckChange, error) {
	if r.opts.IsWatching() {
		return nil, nil
	}
	store := r.tree.Store
	changes, err := store.ChangesSince(ctx, judged)
	changes = slices.DeleteFunc(changes, func(c snapshot.Change) bool {
		return c.Kind == snapshot.Mode || r.checks.meter.IsReport(filepath.Join(r.opts.Root, filepath.FromSlash(c.Path)))
	})
	if err != nil || len(changes) == 0 {
		return nil, err
	}
	base, err := store.Files(r.state.BaselineSnapshot)
	if err != nil {
		return nil, err
	}
	after, drop, err := store.TakeTemporary(ctx, "after the checks")
	if err != nil {
		return nil, fmt.Errorf("read what the checks changed: %w", err)
	}
	out, err := evidence.CompareChecks(ctx, store, judged, after.ID, changes, func(path string) bool {
		return slices.ContainsFunc(base, func(f snapshot.File) bool { return f.Path == path })
	})
	return out, errors.Join(err, drop())
}

// sharedBaseline returns the baseline of the loop in [Options.BaselineFrom]. isShared is false if
// there is none, or if that loop started from other files.
func (r *run) sharedBaseline(info snapshot.Info) (it ledger.Iteration, isShared bool, err error) {
	if r.opts.BaselineFrom == "" {
		return it, false, nil
	}
	its, err := ledger.ReadIterations(r.opts.BaselineFrom)
	if err != nil || len(its) == 0 || its[0].Tree != info.Tree {
		return it, false, err
	}
	it = its[0]
	r.state.BaselineRuns, r.checks.checkOutputs = it.BaselineRuns, it.CheckOutputs
	r.past.LearnFlaky(judge.FlakyTests(it.Set.Tests))
	if len(it.CheckOutputs) > 0 {
		err = r.tree.Store.Exclude(it.CheckOutputs)
	}
	return it, err == nil, err
}

// setBaseline makes the baseline the start of the history. If the criterion depends on the
// baseline, it is fixed now.
func (r *run) setBaseline(it ledger.Iteration) {
	r.past.Begin(it)
	r.opts.Until = r.opts.Until.Resolve(it.Set, it.Hidden.AllPass() && criterion.IsGreen(it.Set, it.Set))
	record := it.Set.Record()
	r.state.BaselineMetrics, r.state.Criterion = &record, r.opts.Until.String()
}

// requireJudgeable returns an error if the baseline has too few results to judge an agent by. If
// the user allows it, build and lint suffice; the rules about tests are then off.
func (r *run) requireJudgeable(set metric.Set) error {
	if set.Tests != nil {
		return nil
	}
	hasOtherChecks, hint := set.Build != nil || set.Lint != nil, ""
	if hasOtherChecks {
		if r.opts.AllowUntested {
			r.opts.Settings.Settings = r.opts.WithoutTests()
			return nil
		}
		hint = "; --allow-untested judges by build and lint only"
	}
	gap, _ := set.Gap(metric.SectionTests)
	return fmt.Errorf("%w: Test results could not be read: %s. Fix the test command, or pass --test-cmd, and --test-report if the command writes a report%s", ErrUnmeasurable, gap.Why, hint)
}

// repeatBaseline measures the baseline again if that is quick, and adds to res which tests are
// flaky and which metrics vary. It does so in a clean copy, and where the tree is only if that differs.
// The record is nil if no copy was measured.
func (r *run) repeatBaseline(ctx context.Context, id snapshot.ID, res *measure.Result) (*ledger.CleanRoom, error) {
	r.state.BaselineRuns = 1
	if r.opts.NoRepeat || res.Set.Tests == nil || checkTime(*res) > repeatBelow {
		return nil, nil //nolint:nilnil // there is none, as documented
	}
	clean, same, err := r.repeatClean(ctx, id, res)
	if err == nil && !same {
		err = r.repeatInTree(ctx, res)
	}
	if err == nil {
		r.state.BaselineRuns = 2
		r.past.LearnFlaky(judge.FlakyTests(res.Set.Tests))
	}
	return clean, err
}

// repeatInTree measures the baseline again where it is.
func (r *run) repeatInTree(ctx context.Context, res *measure.Result) error {
	second, err := r.checks.measure(ctx, measureUncached, nil)
	if err != nil {
		return err
	}
	if second.Set.Tests == nil {
		return nil
	}
	if res.Set.Tests.Counts().Cached > 0 {
		*res, second = second, *res // the uncached run is the measurement
	}
	res.Set.Variation = judge.Variation(res.Set, second.Set, r.opts.Weights)
	measure.RecordVariation(res.Runs, second.Runs)
	res.Set.Tests = unstablenames.MarkUnstable(res.Set.Tests, second.Set.Tests)
	res.Set.Tests = judge.MarkFlaky(res.Set.Tests, unstablenames.MatchNames(second.Set.Tests, res.Set.Tests))
	return nil
}

// checkTime returns how long the checks took. Tests whose results came from a cache count with
// their earlier durations.
func checkTime(res measure.Result) time.Duration {
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

// baselineEvent returns the data of baseline_measured.
func (r *run) baselineEvent(it ledger.Iteration, info snapshot.Info) event.Baseline {
	b := event.Baseline{
		Progress: it.Progress(false), Criterion: r.opts.Until.String(), Files: info.Files, Skipped: worktree.SkippedPaths(info),
		NotKept: append([]string{}, r.tree.RegenerablePaths(info.ID)...), CheckOutputs: it.CheckOutputs, Flaky: []string{}, Checks: it.Checks, Uncommitted: it.Uncommitted.Lines(), Iteration: it,
		UnusedSettings: append([]string{}, r.opts.UnusedSettings(it.Set)...),
	}
	for id := range r.past.Flaky {
		b.Flaky = append(b.Flaky, id.String())
	}
	slices.Sort(b.Flaky)
	return b
}
