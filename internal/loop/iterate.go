package loop

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"strings"

	"supervise/detector"
	"supervise/internal/ack"
	"supervise/internal/agentrun"
	"supervise/internal/environment"
	"supervise/internal/event"
	"supervise/internal/evidence"
	"supervise/internal/holdout"
	"supervise/internal/ledger"
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
	lines   evidence.Lines
	around  environment.State // see session.around
	meddled []detector.Tampering

	unserved event.Stop // why the agent cannot be run again, "" where it can
}

// iterate runs one iteration and returns a stop when it is the last. agentCtx
// bounds the agent alone: what it did in the time it had is measured all the
// same.
func (s *session) iterate(ctx, agentCtx context.Context, n int) (event.Stop, error) {
	s.state.Iteration, s.checks = n, 0
	w := &work{it: ledger.Iteration{LoopID: s.id, Number: n, StartedAt: s.opts.Now(), Retry: s.recovery.Retries}}
	var err error
	if w.start, err = s.tree.Take(ctx, n, event.BeforeAgent); err != nil {
		return event.Stop{}, err
	}
	w.it.Start, s.start = w.start.ID, w.start.ID
	if err := s.save(); err != nil {
		return event.Stop{}, err
	}
	if err := s.runAgent(agentCtx, w); err != nil {
		return event.Stop{}, err
	}
	if err := s.capture(ctx, w); err != nil {
		return event.Stop{}, err
	}
	if agentrun.Unserved(w.it.Agent) && len(w.it.Changed) == 0 {
		return w.unserved, nil // nothing was done, and nothing is counted
	}
	stop, err := s.assess(ctx, w)
	return s.shortened(w, stop), err
}

// assess measures what the agent left, judges it, and does what follows.
func (s *session) assess(ctx context.Context, w *work) (event.Stop, error) {
	if interrupted(ctx) {
		return event.Stop{}, s.abandon(w)
	}
	if err := s.judge(ctx, w); err != nil {
		if interrupted(ctx) {
			return event.Stop{}, s.abandon(w)
		}
		return event.Stop{}, err
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
	if err := s.ledger.Append(w.it, w.files, false); err != nil {
		return err
	}
	err := s.event(event.IterationInterrupted, w.it.Number, event.Interruption{Kept: "s" + string(w.it.Snapshot), Changed: len(w.it.Changed), It: w.it})
	return errors.Join(err, s.record(w.it))
}

// capture takes the snapshot of what the agent left. It is taken also when the
// loop is being interrupted: nothing the agent did may be lost.
func (s *session) capture(ctx context.Context, w *work) error {
	ctx = context.WithoutCancel(ctx)
	info, err := s.tree.Take(ctx, w.it.Number, event.AfterAgent)
	if err != nil {
		return err
	}
	return s.describe(ctx, w, info)
}

// describe finds out what the agent changed.
func (s *session) describe(ctx context.Context, w *work, info snapshot.Info) error {
	w.it.Snapshot, w.it.Tree = info.ID, info.Tree
	var err error
	if w.changes, err = s.store.Changes(ctx, w.start.ID, info.ID); err != nil {
		return fmt.Errorf("compare iteration %d with its start: %w", w.it.Number, err)
	}
	for _, c := range w.changes {
		w.it.Changed = append(w.it.Changed, ledger.FileChange{Path: c.Path, Kind: string(c.Kind)})
	}
	if err := s.patch(ctx, w); err != nil {
		return fmt.Errorf("write the changes of iteration %d: %w", w.it.Number, err)
	}
	w.files, err = ledger.CopiesOf(ctx, s.store, info.ID, w.changes)
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

// judge measures the tree, grades it and holds it against the rules.
func (s *session) judge(ctx context.Context, w *work) error {
	var err error
	if w.around, err = s.lookAround(ctx); err != nil {
		return err
	}
	if w.meddled, err = s.meddled(w.around); err != nil {
		return err
	}
	m, reused, err := s.measureOnce(ctx, w.it.Tree)
	if err != nil {
		return fmt.Errorf("measure iteration %d: %w", w.it.Number, err)
	}
	if w.it.Confirmation, err = s.confirm(ctx, &m.set); err != nil {
		return err
	}
	s.measured[w.it.Tree] = m
	w.it.Set, w.it.Checks, w.it.Reused = w.lines.Into(m.set), m.checks, reused
	in, err := s.input(ctx, w)
	if err != nil {
		return err
	}
	if w.it.Silenced, err = s.unsilenced(ctx, w); err != nil {
		return err
	}
	if err = s.unexcluded(ctx, w, in); err != nil {
		return err
	}
	w.it.Score = selector.Grade(w.it.Judged(), s.history[0].Set, s.opts.Weights)
	in.Current = s.present(w.it, in.Current.Error)
	if w.it.HoldOut, err = s.holdOut(ctx, w, in); err != nil {
		return err
	}
	if w.it.Hidden, err = s.hiddenTests(ctx, w, in); err != nil {
		return err
	}
	w.it.Assessment = detector.Assess(s.heldOut(in, w.it), s.opts.Rules)
	w.it.EndedAt = s.opts.Now()
	if !w.it.Resumed { // else nobody was at work most of the time
		w.it.OwnTime = w.it.EndedAt.Sub(w.it.StartedAt) - s.checks - w.it.Agent.Duration - w.it.Agent.Waited
		if over := s.opts.Budget.Over(w.it.OwnTime, w.it.EndedAt.Sub(w.it.StartedAt)); over != "" {
			s.opts.Log.Warn(over)
		}
	}
	return nil
}

// measurement is what was measured of a tree, and by which runs.
type measurement struct {
	set    metric.Set
	checks []ledger.CheckRun
}

// measureOnce measures a tree, or takes the numbers of an earlier measurement
// of the very same one.
func (s *session) measureOnce(ctx context.Context, tree string) (measurement, bool, error) {
	if m, ok := s.measured[tree]; ok {
		return m, true, nil
	}
	res, err := s.measureMasked(ctx, s.previous.Set.Tests)
	if err != nil {
		return measurement{}, false, err
	}
	return measurement{res.Set, holdout.Runs(res.Runs)}, false, s.ledger.SaveMeter(s.meter.Memory())
}

// confirm runs the tests again that passed before and fail now. One that passes
// then is flaky and counts as passed.
func (s *session) confirm(ctx context.Context, set *metric.Set) (*ledger.Confirmation, error) {
	c, err := s.meter.Confirm(ctx, s.previous.Set, *set)
	if err != nil || len(c.Suspects) == 0 {
		return nil, err
	}
	for _, id := range c.Flaky {
		t, _ := set.Tests.Lookup(id)
		t.Status, t.Flaky = metric.Passed, true
		set.Tests = set.Tests.With(t)
		s.flaky[id] = true
	}
	return &ledger.Confirmation{Suspects: c.Suspects, Flaky: c.Flaky, Runs: s.masker.Checks(holdout.Runs(c.Runs)), Refused: s.masker.String(c.Refused)}, nil
}

// input gathers what the rules look at.
func (s *session) input(ctx context.Context, w *work) (detector.Input, error) {
	e, err := evidence.Between(ctx, s.store, w.start.ID, w.it.Snapshot, w.changes, s.opts.Integrity)
	if err != nil {
		return detector.Input{}, err
	}
	if e.Judged = s.opts.Now(); w.it.Confirmation != nil {
		e.Flaky = w.it.Confirmation.Flaky
	}
	if err := s.excuseReturns(ctx, e.Tampering, w.it); err != nil {
		return detector.Input{}, err
	}
	e.Tampering = append(e.Tampering, w.meddled...)
	if w.it.Resumed {
		doubt(e.Tampering)
	}
	if e.GitLost, err = s.store.GitLost(ctx, s.state.BaselineSnapshot, w.it.Snapshot); err != nil {
		return detector.Input{}, fmt.Errorf("compare git's state with the baseline: %w", err)
	}
	if err := s.tree.SharedLost(s.state.BaselineSnapshot, w.it.Snapshot); err != nil {
		return detector.Input{}, err
	}
	for _, c := range w.changes {
		if path.Base(c.Path) == ack.FileName {
			e.AckFiles = append(e.AckFiles, c.Path)
		}
	}
	w.it.Evidence = &e
	return s.inputOf(w.it, e), nil
}

// inputOf puts together what the rules look at, from what is recorded alone: the
// iteration, its evidence, and those before it.
func (s *session) inputOf(it ledger.Iteration, e ledger.Evidence) detector.Input {
	return s.heldOut(detector.Input{
		Current: s.present(it, s.count(it)), Previous: s.previous, Baseline: s.accepted[0], History: s.accepted, Best: s.best,
		Errors: s.errors, SuiteUnread: max(0, s.unread-1), CoverageWobble: s.history[0].CoverageWobble,
		AddedByLoop: s.addedByLoop(), Flaky: e.Flaky, Before: e.Before, After: e.After, Renamed: e.Renamed,
		Removed: e.Removed, GoneSymbols: e.GoneSymbols, GitLost: e.GitLost, AckFiles: e.AckFiles, Tampering: e.Tampering, Now: e.Judged, KnownFlaky: s.unsteady,
		TestFiles: e.TestFiles, TestsAlone: e.TestsAlone,
	}, it)
}

// present is the iteration as it is judged. What it is compared with later is what
// was measured: that its comments hid something was told of it.
func (s *session) present(it ledger.Iteration, failure string) detector.Observation {
	obs := it.Observation()
	obs.Set, obs.Error = it.Judged(), failure
	return obs
}

// count counts the errors and the unreadable tests that come one after another,
// and returns the error of this iteration.
func (s *session) count(it ledger.Iteration) string {
	text := complaint(it)
	s.errors = append(s.errors, text)
	if text == "" {
		s.errors = nil
	}
	s.unread++
	if it.Set.Tests != nil {
		s.unread = 0
	}
	return text
}

// addedByLoop lists the tests of the previous tree that the baseline lacks.
func (s *session) addedByLoop() map[metric.ID]bool {
	out := map[metric.ID]bool{}
	if s.previous.Set.Tests == nil || s.commits {
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
	case idle && !it.Agent.Well():
		return fmt.Sprintf("agent ended without success (%s): %s", words(it.Agent.Outcome), it.Agent.LastWords)
	case it.Set.Build != nil && it.Set.Build.Status == metric.BuildFailure:
		return it.Set.Build.FirstError
	}
	return ""
}

// words is a name as people write it.
func words(name string) string { return strings.ReplaceAll(name, "_", " ") }

// decide draws the conclusion from the assessment. The verdict is written down
// before anybody is told and before anything follows from it.
func (s *session) decide(ctx context.Context, w *work) (event.Stop, error) {
	step, next := s.step(w.it)
	step, next, asked, err := s.consult(ctx, w, step, next)
	if err != nil {
		return event.Stop{}, err
	}
	w.it.Rejected = step.Reject
	var holds *bool
	if !step.Reject {
		if w.it.Open, err = s.openFindings(ctx, w.it); err != nil {
			return event.Stop{}, err
		}
		if holds, err = s.met(ctx, w.it); err != nil {
			return event.Stop{}, err
		}
	}
	w.it.Verified = s.verified(w.it, holds)
	w.it.Decision = decision(step, next, holds)
	w.it.Decision.Gate = asked
	if step.Reject {
		w.it.Decision.Restore = s.target(w.it, step.Target)
	}
	s.accept(w.it)
	if !step.Reject {
		if err := s.settleAround(w.around); err != nil {
			return event.Stop{}, err
		}
	}
	it := &s.history[len(s.history)-1]
	it.Best = s.state.Best
	if step.Reject {
		it.Regression = s.regression(*it)
	}
	if err := s.ledger.Append(*it, w.files, s.isBest(it.Number)); err != nil {
		return event.Stop{}, err
	}
	if err := s.finished(*it); err != nil {
		return event.Stop{}, err
	}
	return s.conclude(ctx, *it)
}

// step is what follows an iteration. In a session that is watched nothing does.
func (s *session) step(it ledger.Iteration) (recovery.Step, recovery.State) {
	if s.opts.watching() {
		return recovery.Step{Move: recovery.Continue, Reason: it.Assessment.Recommendation.Reason, Target: s.previous.Iteration}, s.recovery
	}
	return recovery.Next(s.recovery, s.caseOf(it), s.opts.Recovery)
}

func decision(step recovery.Step, next recovery.State, holds *bool) *ledger.Decision {
	d := &ledger.Decision{
		Move: string(step.Move), Target: step.Target, Retry: step.Retry, Reason: step.Reason, Advice: step.Advice,
		Criterion: holds, Retries: next.Retries, Attempts: next.Attempts, Strategy: string(step.Strategy), Asks: step.Why,
	}
	for _, p := range step.Phases {
		d.Phases = append(d.Phases, ledger.Phase{Phase: string(p.Phase), At: p.At, Text: p.Text})
	}
	if step.Diagnosis != nil {
		d.Diagnosis = step.Diagnosis.String()
	}
	return d
}

func (s *session) finished(it ledger.Iteration) error {
	return s.event(event.IterationFinished, it.Number, event.IterationEnd{
		Progress: it.Progress(s.isBest(it.Number)), Rejected: it.Rejected, Verified: it.Verified,
		Changed: len(it.Changed), ElapsedMS: it.EndedAt.Sub(it.StartedAt).Milliseconds(),
		Next: it.Decision.Move, Reason: it.Decision.Reason, It: it,
	})
}

// conclude does what was decided about an iteration. Doing it once more, after
// a crash, changes nothing.
func (s *session) conclude(ctx context.Context, it ledger.Iteration) (event.Stop, error) {
	if it.Rejected {
		if err := s.reject(ctx, it); err != nil {
			return event.Stop{}, err
		}
	}
	if err := errors.Join(s.record(it), s.tree.Retain(ctx)); err != nil {
		return event.Stop{}, err
	}
	return s.stopAfter(it), nil
}

// reject puts back the tree that the iteration is to be replaced from. The
// rejected tree stays a snapshot.
func (s *session) reject(ctx context.Context, it ledger.Iteration) error {
	if err := s.event(event.RollbackStarted, it.Number, event.RollingBack{From: it.Snapshot, To: it.Decision.Restore}); err != nil {
		return err
	}
	if err := s.tree.Restore(ctx, it.Decision.Restore); err != nil {
		return fmt.Errorf("undo iteration %d: %w", it.Number, err)
	}
	return s.event(event.IterationRejected, it.Number, s.rejectedData(it))
}

func (s *session) rejectedData(it ledger.Iteration) event.Rejected {
	r := event.Rejected{
		Kept: "s" + string(it.Snapshot), Restored: s.previous.Iteration, Retry: it.Decision.Retry,
		Max: s.opts.Recovery.MaxRetries, Cause: it.Decision.Diagnosis,
	}
	r.Reasons, r.Tests = reasonsOf(it.Assessment.Alerts)
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

func (s *session) regression(it ledger.Iteration) *ledger.Regression {
	r := s.rejectedData(it)
	reg := &ledger.Regression{
		ID: fmt.Sprintf("reg-%03d", len(s.state.Regressions)+1), Timestamp: it.EndedAt, Iteration: it.Number,
		Message: strings.Join(r.Reasons, "; "), Tests: r.Tests, Kept: r.Kept,
		Outcome: fmt.Sprintf("rolled back to iteration %d, %s", r.Restored, it.Decision.Move),
	}
	if g := it.Decision.Gate; g != nil {
		reg.Outcome += ", human " + g.Answer.String()
	}
	if len(it.Assessment.Alerts) > 0 {
		worst := it.Assessment.Alerts[0]
		reg.Type, reg.Severity = worst.Type, worst.Severity.String()
	}
	return reg
}

// record writes the report of an iteration, the trackers and the state.
func (s *session) record(it ledger.Iteration) error {
	s.state.Add(it)
	if err := errors.Join(s.iterationReport(it), s.escalationReport(it), s.track()); err != nil {
		return err
	}
	return s.save()
}

// track writes the trackers: after every iteration, and in a loop of many each
// time it has grown by a twentieth, since they are written whole.
func (s *session) track() error {
	if n := len(s.history); n > trackedAtOnce && n < s.tracked+s.tracked/20 {
		return nil
	}
	return s.trackNow()
}

// trackedAtOnce is how many iterations a loop has whose trackers are always up to
// date.
const trackedAtOnce = 200

func (s *session) trackNow() error {
	s.tracked = len(s.history)
	return s.ledger.Track(s.history, s.opts.Tracking(), s.bestNumber(), s.opts.Now())
}

func (s *session) bestNumber() *int {
	if s.best == nil {
		return nil
	}
	return &s.best.Iteration
}

// stopAfter says whether the loop ends with this iteration, and why.
func (s *session) stopAfter(it ledger.Iteration) event.Stop {
	d := it.Decision
	move := recovery.Move(d.Move)
	switch {
	case move == recovery.Abort:
		return event.Stop{Reason: event.GateAborted, Text: d.Reason}
	case it.Rejected && move == recovery.Escalate:
		return event.Stop{Reason: event.RetriesSpent, Text: d.Reason}
	case (d.Criterion != nil && *d.Criterion || !it.Rejected && s.opts.Until.AtRest(it, s.history[0].Set)) && len(it.Open) > 0:
		return heldOpen(it)
	case d.Criterion != nil && *d.Criterion, !it.Rejected && s.opts.Until.AtRest(it, s.history[0].Set):
		return event.Stop{Reason: event.CriterionMet, Text: "the criterion is met: " + s.opts.Until.String()}
	case move == recovery.Continue, move == recovery.Retry:
		return s.dried(it)
	}
	return event.Stop{Reason: endOf(it.Assessment), Text: d.Reason}
}

// dried stops a loop whose gains have become too small with this iteration, if
// that was asked for. One that is resumed goes on.
func (s *session) dried(it ledger.Iteration) event.Stop {
	if !s.opts.StopOnDiminishing || it.Rejected {
		return event.Stop{}
	}
	small := selector.Diminishing(s.candidates(), selector.SmallGains, selector.SmallGain)
	if small == nil || small.At != it.Number {
		return event.Stop{}
	}
	return event.Stop{Reason: event.Diminishing, Text: fmt.Sprintf("diminishing returns: since iteration %d quality grew by less than %g points each time", small.Since, 100*selector.SmallGain)}
}

func endOf(a detector.Assessment) event.Reason {
	switch {
	case a.Cycle != nil:
		return event.Cycling
	case a.Stuck != nil:
		return event.Stuck
	case a.Stall == nil:
		return event.StoppedByRule
	}
	return event.Stalled
}
