package loop

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"supervise/detector"
	"supervise/internal/ledger"
	"supervise/internal/measure"
	"supervise/internal/recovery"
	"supervise/metric"
	"supervise/runner"
	"supervise/selector"
	"supervise/snapshot"
)

// work is one iteration between the agent's end and the verdict.
type work struct {
	it      ledger.Iteration
	files   ledger.Files
	start   snapshot.Info
	changes []snapshot.Change
	lines   diffLines
}

// iterate runs one iteration and returns a stop when it is the last. agentCtx
// bounds the agent alone: what it did in the time it had is measured all the
// same.
func (s *session) iterate(ctx, agentCtx context.Context, n int) (Stop, error) {
	s.state.Iteration, s.checks = n, 0
	w := &work{it: ledger.Iteration{LoopID: s.id, Number: n, StartedAt: s.opts.Now(), Retry: s.recovery.Retries}}
	var err error
	if w.start, err = s.store.Take(ctx, fmt.Sprintf("before iteration %d", n)); err != nil {
		return Stop{}, fmt.Errorf("snapshot before iteration %d: %w", n, err)
	}
	w.it.Start = w.start.ID
	if err := s.save(); err != nil {
		return Stop{}, err
	}
	if err := s.runAgent(agentCtx, w); err != nil {
		return Stop{}, err
	}
	if err := s.capture(ctx, w); err != nil {
		return Stop{}, err
	}
	if interrupted(ctx) {
		return Stop{}, s.abandon(w)
	}
	if err := s.judge(ctx, w); err != nil {
		if interrupted(ctx) {
			return Stop{}, s.abandon(w)
		}
		return Stop{}, err
	}
	return s.decide(ctx, w)
}

// abandon records an iteration that was interrupted before it could be judged,
// so that what the agent did can be found and had back.
func (s *session) abandon(w *work) error {
	w.it.EndedAt = s.opts.Now()
	w.it.Interrupted, w.it.Rejected = true, true
	w.it.Set = metric.Set{Gaps: []metric.Gap{{Section: metric.SectionTests, State: metric.Absent, Why: "interrupted"}}}
	w.it.Assessment = detector.Assessment{Iteration: w.it.Number, Class: detector.Plateau}
	s.history = append(s.history, w.it)
	s.event(IterationStopped, w.it.Number, Interruption{Kept: "s" + string(w.it.Snapshot), Changed: len(w.it.Changed), It: w.it})
	return s.record(w.it, w.files)
}

// capture takes the snapshot of what the agent left. It is taken also when the
// loop is being interrupted: nothing the agent did may be lost.
func (s *session) capture(ctx context.Context, w *work) error {
	ctx = context.WithoutCancel(ctx)
	info, err := s.store.Take(ctx, ledger.Name(w.it.Number))
	if err != nil {
		return fmt.Errorf("snapshot of iteration %d: %w", w.it.Number, err)
	}
	w.it.Snapshot, w.it.Tree = info.ID, info.Tree
	if w.changes, err = s.store.Changes(ctx, w.start.ID, info.ID); err != nil {
		return fmt.Errorf("compare iteration %d with its start: %w", w.it.Number, err)
	}
	for _, c := range w.changes {
		w.it.Changed = append(w.it.Changed, ledger.FileChange{Path: c.Path, Kind: string(c.Kind)})
	}
	if err := s.patch(ctx, w); err != nil {
		return fmt.Errorf("write the changes of iteration %d: %w", w.it.Number, err)
	}
	w.files, err = s.contents(ctx, info.ID, w.changes)
	return err
}

// patch writes the agent's changes as a unified diff and counts its lines.
func (s *session) patch(ctx context.Context, w *work) (err error) {
	dir, err := s.ledger.Folder(w.it.Number)
	if err != nil {
		return err
	}
	f, err := os.OpenFile(filepath.Join(dir, "changes.patch"), os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	return s.store.Patch(ctx, io.MultiWriter(f, &w.lines), w.start.ID, w.it.Snapshot)
}

// Bounds of the copies of changed files; the snapshot has them all.
const (
	maxArtifact  = 1 << 20
	maxArtifacts = 32 << 20
)

func (s *session) contents(ctx context.Context, id snapshot.ID, changes []snapshot.Change) (ledger.Files, error) {
	out, left := ledger.Files{}, maxArtifacts
	for _, c := range changes {
		if c.Kind == snapshot.Deleted || left <= 0 {
			continue
		}
		data, err := s.store.ReadFile(ctx, id, c.Path)
		if err != nil {
			return nil, fmt.Errorf("keep changed file: %w", err)
		}
		if len(data) <= min(maxArtifact, left) {
			out[c.Path] = data
			left -= len(data)
		}
	}
	return out, nil
}

// judge measures the tree, grades it and holds it against the rules.
func (s *session) judge(ctx context.Context, w *work) error {
	res, reused, err := s.measureOnce(ctx, w.it.Tree)
	if err != nil {
		return fmt.Errorf("measure iteration %d: %w", w.it.Number, err)
	}
	flaky, err := s.confirm(ctx, &res)
	if err != nil {
		return err
	}
	s.measured[w.it.Tree] = res
	w.it.Set, w.it.Checks, w.it.Reused = w.lines.into(res.Set), Runs(res.Runs), reused
	w.it.Score = selector.Grade(w.it.Set, s.history[0].Set, s.opts.Weights)
	in, err := s.input(ctx, w, flaky)
	if err != nil {
		return err
	}
	w.it.Assessment = detector.Assess(in, s.opts.Rules)
	w.it.EndedAt = s.opts.Now()
	w.it.OwnTime = w.it.EndedAt.Sub(w.it.StartedAt) - s.checks - w.it.Agent.Duration
	return nil
}

// measureOnce measures a tree, or takes the numbers of an earlier measurement
// of the very same one.
func (s *session) measureOnce(ctx context.Context, tree string) (measure.Result, bool, error) {
	if res, ok := s.measured[tree]; ok {
		return res, true, nil
	}
	res, err := s.meter.Run(ctx, s.previous.Set.Tests)
	return res, false, err
}

// confirm runs the tests again that passed before and fail now. One that passes
// then is flaky and counts as passed.
func (s *session) confirm(ctx context.Context, res *measure.Result) ([]metric.ID, error) {
	flaky, err := s.meter.Confirm(ctx, measure.Suspects(s.previous.Set.Tests, res.Set.Tests))
	if err != nil {
		return nil, err
	}
	for _, id := range flaky {
		t, _ := res.Set.Tests.Lookup(id)
		t.Status, t.Flaky = metric.Passed, true
		res.Set.Tests = res.Set.Tests.With(t)
		s.flaky[id] = true
	}
	return flaky, nil
}

// input gathers what the rules look at.
func (s *session) input(ctx context.Context, w *work, flaky []metric.ID) (detector.Input, error) {
	obs := observation(w.it)
	obs.Error = complaint(w.it)
	s.errors = append(s.errors, obs.Error)
	if obs.Error == "" {
		s.errors = nil
	}
	if obs.Set.Tests == nil {
		s.unread++
	} else {
		s.unread = 0
	}
	src, err := s.sources(ctx, w)
	if err != nil {
		return detector.Input{}, err
	}
	lost, err := s.store.GitLost(ctx, s.state.BaselineSnapshot, w.it.Snapshot)
	if err != nil {
		return detector.Input{}, fmt.Errorf("compare git's state with the baseline: %w", err)
	}
	return detector.Input{
		Current: obs, Previous: s.previous, Baseline: s.accepted[0], History: s.accepted, Best: s.best,
		Errors: s.errors, SuiteUnread: max(0, s.unread-1), CoverageWobble: s.state.CoverageWobble,
		Flaky: flaky, AddedByLoop: s.addedByLoop(), Before: src.before, After: src.after,
		Removed: src.removed, GoneSymbols: src.goneSymbols, GitLost: lost,
	}, nil
}

// addedByLoop lists the tests of the previous tree that the baseline lacks.
func (s *session) addedByLoop() map[metric.ID]bool {
	out := map[metric.ID]bool{}
	if s.previous.Set.Tests == nil {
		return out
	}
	for _, t := range s.previous.Set.Tests.Cases {
		if _, ok := s.accepted[0].Set.Tests.Lookup(t.ID); !ok {
			out[t.ID] = true
		}
	}
	return out
}

// complaint is the error text of an iteration, "" when it ended well: what the
// agent said last when it failed and had done nothing, else the first error of
// the build. An agent that worked and then ran out of turns or time did not fail.
func complaint(it ledger.Iteration) string {
	idle := len(it.Changed) == 0 && it.Agent.Cause == runner.Exited.String()
	switch {
	case idle && it.Agent.Signal != "":
		return "agent ended by " + it.Agent.Signal
	case idle && it.Agent.ExitCode != 0:
		return fmt.Sprintf("agent ended with status %d: %s", it.Agent.ExitCode, it.Agent.LastWords)
	case it.Set.Build != nil && it.Set.Build.Status == metric.BuildFailure:
		return it.Set.Build.FirstError
	}
	return ""
}

// decide records the iteration and does what follows from its assessment.
func (s *session) decide(ctx context.Context, w *work) (Stop, error) {
	step, next := recovery.Next(s.recovery, w.it.Assessment, s.opts.Recovery)
	s.recovery = next
	w.it.Rejected = step.Reject
	s.state.RecoveryAttempts = next.Attempts
	var holds *bool
	if !step.Reject {
		var err error
		if holds, err = s.met(ctx, w.it); err != nil {
			return Stop{}, err
		}
	}
	w.it.Verified = s.verified(w.it, holds)
	s.history = append(s.history, w.it)
	s.accept(w.it)
	s.event(IterationFinished, w.it.Number, Finish{
		Progress: w.it.Progress(s.isBest(w.it.Number)), Rejected: w.it.Rejected, Verified: w.it.Verified,
		Changed: len(w.it.Changed), ElapsedMS: w.it.EndedAt.Sub(w.it.StartedAt).Milliseconds(),
		Next: string(step.Move), Reason: step.Reason, It: w.it,
	})
	if step.Reject { // first of all: whatever goes wrong then, the tree is right
		if err := s.reject(ctx, w, step); err != nil {
			return Stop{}, err
		}
	}
	if err := s.record(w.it, w.files); err != nil {
		return Stop{}, err
	}
	return s.stopAfter(w.it, step, holds), nil
}

// accept makes an iteration that was not rejected the one that the next is
// compared with.
func (s *session) accept(it ledger.Iteration) {
	s.rejected = nil
	if it.Rejected {
		return
	}
	obs := observation(it)
	s.previous, s.safe = obs, it.Snapshot
	s.accepted = append(s.accepted, obs)
	if choice, err := selector.Best(s.candidates(), s.opts.Select); err == nil && !choice.BaselineChosen && !s.isBest(choice.Iteration) {
		best := s.history[choice.Iteration]
		o := observation(best)
		s.best = &o
		s.state.Best = s.bestIteration(choice)
	}
}

func (s *session) bestIteration(c selector.Choice) *ledger.BestIteration {
	it := s.history[c.Iteration]
	return &ledger.BestIteration{
		Iteration: it.Number, QualityScore: it.Score.Value, Snapshot: it.Snapshot,
		SnapshotPath: s.ledger.SnapshotDir(), Reason: c.Reason,
	}
}

// candidates are all iterations as the selector sees them.
func (s *session) candidates() []selector.Candidate {
	out := make([]selector.Candidate, len(s.history))
	for i, it := range s.history {
		out[i] = selector.Candidate{
			Iteration: it.Number, Score: it.Score.Value, Scored: it.Score.Measured, Set: &s.history[i].Set,
			Verified: it.Verified, Critical: it.Assessment.Critical(), Partial: it.Set.Partial(),
			Rejected: it.Rejected, Baseline: it.Number == 0,
		}
	}
	return out
}

func (s *session) isBest(n int) bool { return s.best != nil && s.best.Iteration == n }

func (s *session) verified(it ledger.Iteration, criterion *bool) bool {
	return selector.Verified(it.Set, it.Assessment.Critical(), criterion)
}

// reject puts back the tree that the iteration is to be replaced from. The
// rejected tree stays a snapshot.
func (s *session) reject(ctx context.Context, w *work, step recovery.Step) error {
	target := w.start.ID
	if step.Target != s.previous.Iteration && step.Target > 0 {
		target = s.history[step.Target].Snapshot
		s.previous, s.safe = observation(s.history[step.Target]), target
	}
	if err := s.restore(ctx, target); err != nil {
		return fmt.Errorf("undo iteration %d: %w", w.it.Number, err)
	}
	s.rejected = &rejection{iteration: w.it.Number, step: step, alerts: w.it.Assessment.Alerts}
	data := s.rejectedData(w, step)
	s.state.Regressions = append(s.state.Regressions, s.regression(w, step, data))
	s.event(IterationRejected, w.it.Number, data)
	return nil
}

// restore puts a snapshot back and makes sure that it is back.
func (s *session) restore(ctx context.Context, id snapshot.ID) error {
	res, err := s.store.Restore(context.WithoutCancel(ctx), id)
	if err != nil {
		return err
	}
	if len(res.Mismatches) > 0 {
		m := res.Mismatches[0]
		return fmt.Errorf("the tree could not be put back whole, %d paths differ, the first is %s: %s; the present state is kept as snapshot s%s",
			len(res.Mismatches), m.Path, m.Why, res.Safety)
	}
	return nil
}

func (s *session) rejectedData(w *work, step recovery.Step) Rejected {
	r := Rejected{Kept: "s" + string(w.it.Snapshot), Restored: s.previous.Iteration, Retry: step.Retry, Max: s.opts.Recovery.MaxRetries}
	r.Reasons, r.Tests = reasonsOf(w.it.Assessment.Alerts)
	if step.Diagnosis != nil {
		r.Cause = step.Diagnosis.String()
	}
	return r
}

// reasonsOf lists the messages and tests of the alerts that weigh.
func reasonsOf(alerts []detector.Alert) (messages, tests []string) {
	seen := map[string]bool{}
	for _, a := range alerts {
		if a.Severity < detector.High {
			continue
		}
		messages = append(messages, a.Message())
		for _, id := range a.Tests {
			if name := id.String(); !seen[name] {
				seen[name] = true
				tests = append(tests, name)
			}
		}
	}
	return messages, tests
}

func (s *session) regression(w *work, step recovery.Step, r Rejected) ledger.Regression {
	reg := ledger.Regression{
		ID: fmt.Sprintf("reg-%03d", len(s.state.Regressions)+1), Timestamp: w.it.EndedAt, Iteration: w.it.Number,
		Message: strings.Join(r.Reasons, "; "), Tests: r.Tests, Kept: r.Kept,
		Outcome: fmt.Sprintf("rolled back to iteration %d, %s", r.Restored, step.Move),
	}
	if len(w.it.Assessment.Alerts) > 0 {
		worst := w.it.Assessment.Alerts[0]
		reg.Type, reg.Severity = worst.Type, worst.Severity.String()
	}
	return reg
}

// record writes the iteration, its report and the trackers.
func (s *session) record(it ledger.Iteration, files ledger.Files) error {
	s.state.History = append(s.state.History, ledger.HistoryEntry{
		Iteration: it.Number, QualityScore: it.Quality(), Class: it.Assessment.Class, Rejected: it.Rejected, Interrupted: it.Interrupted, Snapshot: it.Snapshot,
	})
	err := errors.Join(
		s.ledger.Append(it, files, s.isBest(it.Number)),
		s.iterationReport(it),
		s.ledger.Track(s.history, s.tracking(), s.bestNumber(), s.opts.Now()),
	)
	if err != nil {
		return err
	}
	return s.save()
}

func (s *session) bestNumber() *int {
	if s.best == nil {
		return nil
	}
	return &s.best.Iteration
}

func (s *session) tracking() ledger.TrackingConfig {
	return ledger.TrackingConfig{
		KeepAll: true, Weights: s.opts.Weights,
		Selection: ledger.SelectionConfig{
			Mode: s.opts.Select.Mode, Threshold: 100 * s.opts.Select.Threshold,
			Verify: s.opts.Select.Mode == selector.HighestQualityVerified,
		},
	}
}

// stopAfter says whether the loop ends with this iteration, and why.
func (s *session) stopAfter(it ledger.Iteration, step recovery.Step, holds *bool) Stop {
	switch {
	case step.Reject && step.Move == recovery.Escalate:
		return Stop{RetriesSpent, step.Reason}
	case holds != nil && *holds:
		return Stop{CriterionMet, "the criterion is met: " + s.opts.Until.String()}
	case !step.Reject && s.idle(it):
		return Stop{CriterionMet, "the criterion is met: " + s.opts.Until.String()}
	case step.Move == recovery.Continue, step.Move == recovery.Retry:
		return Stop{}
	}
	return Stop{endOf(it.Assessment), step.Reason}
}

func endOf(a detector.Assessment) Reason {
	switch {
	case a.Cycle != nil:
		return Cycling
	case a.Stuck != nil:
		return Stuck
	}
	return Stalled
}
