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
	"supervise/internal/agentrun"
	"supervise/internal/environment"
	"supervise/internal/event"
	"supervise/internal/evidence"
	"supervise/internal/holdout"
	"supervise/internal/judge"
	"supervise/internal/ledger"
	"supervise/internal/recovery"
	"supervise/metric"
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
	verdict judge.Verdict

	unserved event.Stop // why the agent cannot be run again, "" where it can
}

// iterate runs one iteration and returns a stop when it is the last. agentCtx
// bounds the agent alone: what it did in the time it had is measured all the
// same.
func (s *session) iterate(ctx, agentCtx context.Context, n int) (event.Stop, error) {
	s.state.Iteration, s.checks = n, 0
	w := &work{it: ledger.Iteration{LoopID: s.id, Number: n, StartedAt: s.opts.Now(), Retry: s.past.Recovery.Retries}}
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
	s.past.Skip(w.it)
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

// judge measures the tree and judges it.
func (s *session) judge(ctx context.Context, w *work) error {
	var err error
	if w.around, err = s.lookAround(ctx); err != nil {
		return err
	}
	found, err := s.tampered(w.around)
	if err != nil {
		return err
	}
	m, err := s.measureOnce(ctx, w.it.Tree)
	if err != nil {
		return fmt.Errorf("measure iteration %d: %w", w.it.Number, err)
	}
	if err := s.tree.SharedLost(s.state.BaselineSnapshot, w.it.Snapshot); err != nil {
		return err
	}
	t := judge.Tree{Iteration: w.it, StartTree: w.start.Tree, Changes: w.changes, Lines: &w.lines, Around: found}
	w.verdict, err = s.judging().Judge(ctx, t, m, s.past)
	if w.it = w.verdict.Iteration; err != nil {
		return err
	}
	w.it.EndedAt = s.opts.Now()
	if !w.it.Resumed { // else nobody was at work most of the time
		w.it.OwnTime = w.it.EndedAt.Sub(w.it.StartedAt) - s.checks - w.it.Agent.Duration - w.it.Agent.Waited
		if over := s.opts.Budget.Over(w.it.OwnTime, w.it.EndedAt.Sub(w.it.StartedAt)); over != "" {
			s.opts.Log.Warn(over)
		}
	}
	return nil
}

// judging is what judges the trees of this loop.
func (s *session) judging() judge.Judge {
	return judge.Judge{
		Settings: s.opts.Settings.Settings, Mask: s.masker, Now: s.opts.Now,
		Workspace: holdout.Workspace{Store: s.store, Meter: s.meter, Plan: s.opts.Plan, Root: s.opts.Root, Scratch: s.scratchDir(), User: s.user},
		OnTrouble: func(what string, err error) { s.opts.Log.WithError(err).Warn(what) },
	}
}

// measureOnce measures a tree, or takes the numbers of an earlier measurement of the
// very same one.
func (s *session) measureOnce(ctx context.Context, tree string) (judge.Measured, error) {
	if m, ok := s.past.Measured(tree); ok {
		return m, nil
	}
	res, err := s.meter.Run(ctx, s.past.Previous.Set.Tests)
	if err != nil {
		return judge.Measured{}, err
	}
	return judge.Measured{Set: res.Set, Checks: holdout.Runs(res.Runs)}, s.ledger.SaveMeter(s.meter.Memory())
}

// decide draws the conclusion from the assessment. The verdict is written down
// before anybody is told and before anything follows from it.
func (s *session) decide(ctx context.Context, w *work) (event.Stop, error) {
	s.past.Learn(w.verdict)
	step, next := s.past.Decide(w.it, s.opts.Settings.Settings)
	step, next, asked, err := s.consult(ctx, w, step, next)
	if err != nil {
		return event.Stop{}, err
	}
	w.it.Rejected = step.Reject
	var holds *bool
	if !step.Reject {
		if w.it.Open, err = s.judging().Open(ctx, w.it, s.past); err != nil {
			return event.Stop{}, err
		}
		if holds, err = s.met(ctx, w.it); err != nil {
			return event.Stop{}, err
		}
	}
	w.it.Verified = judge.Verified(w.it, holds)
	w.it.Decision = judge.Decision(step, next, holds)
	w.it.Decision.Gate = asked
	if step.Reject {
		w.it.Decision.Restore = s.past.Target(w.it, step.Target)
	}
	s.accept(w.it)
	if !step.Reject {
		if err := s.settleAround(w.around); err != nil {
			return event.Stop{}, err
		}
	}
	it := s.past.Last()
	it.Best = s.state.Best
	if step.Reject {
		it.Regression = s.regression(*it)
	}
	if err := s.ledger.Append(*it, w.files, s.past.IsBest(it.Number)); err != nil {
		return event.Stop{}, err
	}
	if err := s.finished(*it); err != nil {
		return event.Stop{}, err
	}
	return s.conclude(ctx, *it)
}

// accept takes an iteration with its decision into the history.
func (s *session) accept(it ledger.Iteration) {
	s.past.Add(it, s.opts.Select)
	if best := s.past.BestSoFar(); best != nil {
		s.state.Best = best
	}
	if it.Rejected && s.agent != nil {
		s.agent.Forget() // a session would believe in what was undone
	}
}

func (s *session) finished(it ledger.Iteration) error {
	return s.event(event.IterationFinished, it.Number, event.IterationEnd{
		Progress: it.Progress(s.past.IsBest(it.Number)), Rejected: it.Rejected, Verified: it.Verified,
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
		Kept: "s" + string(it.Snapshot), Restored: s.past.Previous.Iteration, Retry: it.Decision.Retry,
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
	if n := len(s.past.Iterations); n > trackedAtOnce && n < s.tracked+s.tracked/20 {
		return nil
	}
	return s.trackNow()
}

// trackedAtOnce is how many iterations a loop has whose trackers are always up to
// date.
const trackedAtOnce = 200

func (s *session) trackNow() error {
	s.tracked = len(s.past.Iterations)
	return s.ledger.Track(s.past.Iterations, s.opts.Tracking(), s.bestNumber(), s.opts.Now())
}

func (s *session) bestNumber() *int {
	if s.past.Best == nil {
		return nil
	}
	return &s.past.Best.Iteration
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
	case (d.Criterion != nil && *d.Criterion || !it.Rejected && s.opts.Until.AtRest(it, s.past.Iterations[0].Set)) && len(it.Open) > 0:
		return heldOpen(it)
	case d.Criterion != nil && *d.Criterion, !it.Rejected && s.opts.Until.AtRest(it, s.past.Iterations[0].Set):
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
	small := selector.Diminishing(s.past.Candidates(), selector.SmallGains, selector.SmallGain)
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
