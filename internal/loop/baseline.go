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
	"supervise/internal/holdout"
	"supervise/internal/judge"
	"supervise/internal/ledger"
	"supervise/internal/measure"
	"supervise/internal/worktree"
	"supervise/metric"
	"supervise/selector"
	"supervise/snapshot"
)

const (
	// repeatBelow is how long the tests may take for the baseline to be
	// measured twice, which shows flaky tests and how much coverage wobbles.
	repeatBelow = 60 * time.Second
)

// baseline measures the tree before any agent runs: iteration 0.
func (s *session) baseline(ctx context.Context) error {
	info, err := s.tree.Take(ctx, 0, event.BeforeChecks)
	if err != nil {
		return err
	}
	return s.measureBaseline(ctx, info)
}

// measureBaseline measures the tree of the snapshot, which is the present one.
func (s *session) measureBaseline(ctx context.Context, info snapshot.Info) error {
	started := s.opts.Now()
	s.state.BaselineSnapshot, s.past.Safe = info.ID, info.ID
	res, err := s.measureMasked(ctx, nil)
	if err != nil {
		return fmt.Errorf("measure the baseline: %w", err)
	}
	if s.artefactPaths, err = s.tree.Made(ctx, info.ID, s.artefactPaths); err != nil {
		return err
	}
	if err := s.repeat(ctx, &res); err != nil {
		return fmt.Errorf("measure the baseline again: %w", err)
	}
	it := ledger.Iteration{
		LoopID: s.id, Number: 0, StartedAt: started, EndedAt: s.opts.Now(), Set: res.Set,
		Score: selector.Grade(res.Set, res.Set, s.opts.Weights), Snapshot: info.ID, Start: info.ID, Tree: info.Tree,
		Checks: holdout.Runs(res.Runs),
	}
	around, err := s.lookAround(ctx)
	if err == nil {
		err = s.settleAround(around)
	}
	if err != nil {
		return err
	}
	it.OwnTime = it.EndedAt.Sub(started) - s.checks
	if it.Hidden, err = s.judging().HiddenBaseline(ctx, it); err != nil {
		return err
	}
	it.Assessment = detector.Assessment{Class: detector.Baseline}
	it.BaselineRuns, it.CoverageWobble, it.Artefacts = s.state.BaselineRuns, s.state.CoverageWobble, s.artefactPaths
	it.Verified = judge.Verified(it, nil)
	s.begin(it)
	err = errors.Join(s.ledger.SaveMeter(s.meter.Memory()), s.ledger.Append(it, nil, false))
	if err == nil {
		err = s.event(event.BaselineMeasured, 0, s.baselineData(it, info))
	}
	if err == nil {
		err = s.record(it)
	}
	if err != nil {
		return err
	}
	return s.judgeable(it.Set)
}

// begin takes the baseline as what the first iteration is compared with, and
// settles the criterion.
func (s *session) begin(it ledger.Iteration) {
	s.past.Begin(it)
	s.opts.Until = s.opts.Until.Resolved(it.Hidden.Green() && criterion.IsGreen(it.Set, it.Set))
	record := it.Set.Record()
	s.state.BaselineMetrics, s.state.Criterion = &record, s.opts.Until.String()
}

// judgeable refuses a baseline by which no agent could be judged.
func (s *session) judgeable(set metric.Set) error {
	if set.Tests != nil {
		return nil
	}
	gap, _ := set.Gap(metric.SectionTests)
	switch judged := set.Build != nil || set.Lint != nil; {
	case s.opts.AllowUntested && judged:
		s.opts.Settings.Settings = s.opts.WithoutTests()
		return nil
	case judged:
		return fmt.Errorf("%w: Test results could not be read: %s. Fix the test command, or pass --test-cmd, and --test-report if the command writes a report; --allow-untested judges by build and lint only", ErrUnmeasurable, gap.Why)
	}
	return fmt.Errorf("%w: Test results could not be read: %s. Fix the test command, or pass --test-cmd, and --test-report if the command writes a report", ErrUnmeasurable, gap.Why)
}

// repeat measures the baseline once more when that is quick. Tests with two
// outcomes are flaky; the difference of the coverages is its wobble.
func (s *session) repeat(ctx context.Context, res *measure.Result) error {
	s.state.BaselineRuns = 1
	if s.opts.NoRepeat || res.Set.Tests == nil || spent(res.Runs) > repeatBelow {
		return nil
	}
	again, err := s.measureMasked(ctx, nil)
	if err != nil {
		return err
	}
	s.state.BaselineRuns = 2
	if again.Set.Tests == nil {
		return nil
	}
	s.state.CoverageWobble = judge.Wobble(res.Set, again.Set)
	res.Set.Tests = judge.Unsteady(res.Set.Tests, again.Set.Tests)
	s.past.LearnFlaky(judge.FlakyOf(res.Set.Tests))
	return nil
}

func spent(list []measure.Run) time.Duration {
	var sum time.Duration
	for _, r := range list {
		sum += r.Duration
	}
	return sum
}

func (s *session) baselineData(it ledger.Iteration, info snapshot.Info) event.Baseline {
	b := event.Baseline{
		Progress: it.Progress(false), Criterion: s.opts.Until.String(), Files: info.Files, Skipped: worktree.Skipped(info),
		Artefacts: it.Artefacts, Wobble: s.state.CoverageWobble, Flaky: []string{}, Checks: it.Checks, It: it,
		Idle: append([]string{}, s.opts.Rules.Unmatched(it.Set)...),
	}
	for id := range s.past.Flaky {
		b.Flaky = append(b.Flaky, id.String())
	}
	slices.Sort(b.Flaky)
	return b
}

// measureMasked measures. The texts of failures and checks are stored and shown to the
// agent, so the secrets in them are masked.
func (s *session) measureMasked(ctx context.Context, previous *metric.Tests) (measure.Result, error) {
	res, err := s.meter.Run(ctx, previous)
	if err != nil || s.masker.Masker == nil {
		return res, err
	}
	res.Runs, res.Set = s.masker.Runs(res.Runs), s.masker.Set(res.Set)
	for i := range res.Parts {
		res.Parts[i].Set = s.masker.Set(res.Parts[i].Set)
	}
	return res, nil
}
