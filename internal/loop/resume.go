package loop

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"

	"supervise/internal/agentrun"
	"supervise/internal/event"
	"supervise/internal/judge"
	"supervise/internal/ledger"
	"supervise/internal/measure"
	"supervise/internal/seal"
	"supervise/runner"
	"supervise/selector"
	"supervise/snapshot"
)

// ErrLaterLoop is wrapped by the error for a loop that cannot be resumed without force, because a
// later loop has worked in its tree.
var ErrLaterLoop = errors.New("a later loop has worked in the same tree")

// diedWithSupervise is the recorded cause of an agent's end if its supervisor died first.
const diedWithSupervise = "supervisor_died"

// Resume continues a loop whose process ended, from the position in its log. The settings come
// from the folder of the loop. o has the options of this process; its limits replace the stored
// ones if they are not zero. If o.Root is set, the tree has moved there. With force, the loop
// continues even if a later loop has worked in the tree, or if it is another repository.
//
// Remaining processes of the dead run are ended first. If the agent was interrupted, its work so
// far is judged. If it had not done anything, it runs again. A finished loop continues if it has
// iterations left. Otherwise its end is reported again.
//
// The outcome and the errors are those of [Run]; in addition the error may wrap
// [ledger.ErrNoSettings], [ErrLaterLoop], [ledger.ErrChanged] or [ledger.ErrNoLoop].
func Resume(ctx context.Context, id string, o Options, force bool) (Outcome, error) {
	position := event.NewPosition()
	l, state, err := ledger.Open(o.Root, o.Home, id, position.Apply)
	if err != nil {
		return Outcome{}, err
	}

	r := newRun(o.withDefaults(), l, state)
	defer r.close()
	s := &resumption{run: r, position: position}
	if err := s.restoreState(ctx, force); err != nil {
		return Outcome{}, fmt.Errorf("resume loop %s: %w", id, err)
	}

	if r.tree == nil {
		position.End.Tree = nil // the tree may have changed since
		r.opts.OnEvent(event.Event{Type: event.LoopFinished, Time: position.LastEvent, LoopID: id, Iteration: r.state.Iteration, Data: position.End})
		return r.outcome(event.Stop{Reason: position.End.Reason, Text: position.End.Text}), nil
	}

	resume := s.continueLoop
	if r.opts.IsWatching() {
		resume = r.finishKilledSession
	}

	stop, err := resume(ctx)
	return r.finishOrFail(ctx, stop, err)
}

// resumption restores the state of a dead run and does its remaining work. The position says how
// far the dead run got.
type resumption struct {
	run      *run
	position *event.Position

	movedTree bool // the tree has moved, possibly to another machine
}

// restoreState restores the state of the dead run. If no work remains, it returns without opening
// the tree, so that run.tree is nil.
func (s *resumption) restoreState(ctx context.Context, force bool) error {
	r := s.run
	if err := s.loadSettings(); err != nil {
		return err
	}

	r.past.Dropped = s.position.DroppedSnapshots
	its, err := ledger.ReadIterations(r.ledger.Dir())
	if err == nil {
		err = s.replayHistory(its)
	}

	hasEnded := s.position.Ended && s.position.End.Reason.Status() != ledger.Paused
	noneLeft := r.opts.IsWatching() || len(its) > r.opts.MaxIterations
	if err != nil || hasEnded && noneLeft {
		return err
	}

	r.countStepsFrom(s.position.StepsFrom())
	if err := s.checkLaterLoop(); err != nil && !force {
		return err
	}

	var memory measure.Memory
	if err := ledger.ReadMeasureState(r.ledger.Dir(), &memory); err != nil {
		return err
	}
	if err := r.endSurvivors(ctx, s.position); err != nil {
		return err
	}
	if err := s.prepare(ctx, memory, force); err != nil {
		return err
	}

	if len(its) > 0 {
		r.checks.checkOutputs = its[0].CheckOutputs
		if err := r.environment.loadKnown(ctx, s.movedTree); err != nil {
			return err
		}
	}

	r.state.Status, r.state.StopReason, r.state.StopText, r.state.ExitCode = ledger.Running, "", "", 0
	r.state.Waiting, r.state.TreeText = "", ""
	r.state.PID, r.state.Selected, r.state.Proof, r.state.Config = os.Getpid(), nil, nil, r.opts.configuration()
	return errors.Join(s.reportResume(), r.save())
}

// prepare sets up what an iteration needs. If the tree is now another repository, rollbacks are
// impossible, and it returns an error unless force is set.
func (s *resumption) prepare(ctx context.Context, memory measure.Memory, force bool) error {
	s.run.opts.Snapshot.Moved = force
	if err := s.run.prepare(ctx, s.position, memory); err != nil {
		return err
	}
	err := s.run.tree.Store.CheckRepository()
	if err == nil || !force {
		return err
	}
	s.movedTree = true
	return s.run.tree.Store.AdoptRepository()
}

// loadSettings reads the stored settings of the loop. The limits of this process replace theirs.
func (s *resumption) loadSettings() error {
	if s.position.Settings == "" {
		return fmt.Errorf("%w: start a new one", ledger.ErrNoSettings)
	}
	o, limits := &s.run.opts, s.run.opts.Settings
	o.Settings = Settings{}
	dir := s.run.ledger.Dir()
	if err := ledger.ReadSettings(dir, s.position.Settings, &o.Settings); err != nil {
		return err
	}
	if moves := limits.MovedFolders(o.Settings); len(moves) > 0 {
		o.Settings = Settings{}
		if err := ledger.ReadSettings(dir, s.position.Settings, &o.Settings, moves...); err != nil {
			return err
		}
	}
	o.MaxIterations = cmp.Or(s.run.state.Config.MaxIterations, o.MaxIterations)
	o.OverrideLimits(limits)
	o.Setup = o.Setup.FromJSON()
	return o.CheckPresets()
}

// checkLaterLoop returns an error if a later loop has worked in the tree.
func (s *resumption) checkLaterLoop() error {
	loops, err := ledger.ListLoops(s.run.opts.Home, s.run.opts.Root)
	if err != nil {
		return err
	}
	for _, l := range loops { // the latest first
		if l.LoopID != s.run.state.LoopID && l.StartedAt.After(s.run.state.UpdatedAt) {
			return fmt.Errorf("%w: %s; --force restores the last tree of this loop and continues (the current tree is kept as a snapshot)", ErrLaterLoop, l.LoopID)
		}
	}
	return nil
}

// replayHistory rebuilds the history and the state of the run from the recorded iterations. It
// returns an error if one of them is missing.
func (s *resumption) replayHistory(its []ledger.Iteration) error {
	s.run.state.ResetIterations()
	for n, it := range its {
		it.Open = judge.WithoutAcknowledged(it.Open, s.run.opts.Accepted)
		switch {
		case it.Number != n:
			return fmt.Errorf("the record of iteration %d is missing in %s: start a new loop", n, s.run.ledger.Dir())
		case n == 0:
			s.run.setBaseline(it)
		case it.Interrupted:
			s.run.past.Skip(it)
		case it.Decision == nil:
			return fmt.Errorf("iteration %d has no decision: start a new loop", n)
		default:
			s.run.addToHistory(it)
		}
		s.run.past.Remember(it)
		s.run.state.Add(it)
	}
	for _, r := range s.position.Reviews {
		s.run.state.AddReview(r)
	}
	return nil
}

// endSurvivors ends the remaining processes of the agent and the checks of a dead run. If they
// cannot be distinguished from the processes of a later run, it only logs a warning.
func (r *run) endSurvivors(ctx context.Context, position *event.Position) error {
	var names []string
	for _, c := range position.Children {
		killed, err := runner.KillSurvivors(ctx, c.Shim, c.Leader)
		if errors.Is(err, runner.ErrDoubtful) {
			r.warn("end what a killed supervise left running", err)
			err = nil
		}
		if err != nil {
			return fmt.Errorf("end what a killed supervise left running: %w", err)
		}
		names = append(names, killed...)
	}
	if len(names) == 0 {
		return nil
	}
	return r.journal.Write(event.OrphansKilled, position.Iteration, event.Orphans{Names: names})
}

// reportResume logs damage of the log, and what the loop does first.
func (s *resumption) reportResume() error {
	if damage := s.run.ledger.Problems(); len(damage) > 0 {
		if err := s.run.journal.Write(event.LogDamaged, s.run.state.Iteration, event.Damage{Problems: damage}); err != nil {
			return err
		}
	}
	n, from := s.nextAction()
	return s.run.journal.Write(event.LoopResumed, n, event.Resumed{
		Dir: s.run.ledger.Dir(), Plan: s.run.opts.Plan, Agent: s.run.opts.CommandLine(), Iteration: n, From: from, Max: s.run.opts.MaxIterations, Steps: s.run.opts.Steps, History: s.run.past.Iterations,
	})
}

// nextAction says what the resumed loop does first, and in which iteration.
func (s *resumption) nextAction() (iteration int, from string) {
	last := len(s.run.past.Iterations) - 1
	switch {
	case s.run.opts.IsWatching():
		return last + 1, "what the session left is measured"
	case last < 0:
		return 0, "the baseline is measured"
	case s.position.Stop != nil && !s.position.Ended:
		return last, "the best iteration is restored"
	case s.position.Iteration <= last:
		return last + 1, "the next iteration starts"
	case s.position.ApprovalPending:
		return s.position.Iteration, "what the agent left is measured, and you are asked again"
	case s.position.AgentTree != "":
		return s.position.Iteration, "what the agent left is measured"
	case s.position.Spawned != nil:
		return s.position.Iteration, "what the agent had done until it was interrupted is measured"
	}
	return s.position.Iteration, "the iteration starts again"
}

// continueLoop does the remaining work of the dead run, and then runs further iterations.
func (s *resumption) continueLoop(ctx context.Context) (event.Stop, error) {
	if sealed, err := s.run.loadSealed(); err != nil {
		return event.Stop{}, err
	} else if sealed != nil {
		if err := sealed.Hide(s.run.opts.Root); err != nil { // the end of an earlier process restored them
			return event.Stop{}, err
		}
	}
	if len(s.run.past.Iterations) == 0 {
		return s.continueBaseline(ctx)
	}
	if err := s.run.requireJudgeable(s.run.past.Iterations[0].Set); err != nil {
		return event.Stop{}, err
	}
	if s.position.Stop != nil && !s.position.Ended {
		return *s.position.Stop, s.settleBestTree(ctx)
	}
	stop, err := s.continueIteration(ctx)
	switch {
	case err != nil || ctx.Err() != nil:
		return stopFor(ctx, err)
	case stop.Reason != "":
		return stop, nil
	}
	return s.run.runIterations(ctx, len(s.run.past.Iterations), s.position.Elapsed())
}

// continueBaseline measures the baseline that the dead run had not finished.
func (s *resumption) continueBaseline(ctx context.Context) (event.Stop, error) {
	if s.position.Baseline == "" {
		return s.run.runLoop(ctx)
	}
	id, isSealed := s.position.Baseline, s.run.opts.Hidden.Sealed != nil
	if sealed, err := seal.Read(s.run.ledger.Dir()); err != nil {
		return event.Stop{}, err
	} else if sealed != nil && !isSealed {
		id = sealed.Snapshot // it was not checked whether the other tests run without the sealed ones
	}
	info, err := s.run.tree.Store.Info(id)
	if err == nil {
		err = s.run.tree.EnsureState(ctx, id, "")
	}
	if err == nil {
		s.run.checks.checkOutputs = s.position.CheckOutputs
		if isSealed {
			err = s.run.measureBaseline(ctx, info, nil)
		} else {
			err = s.run.sealAndMeasure(ctx, info)
		}
	}
	if err != nil {
		return stopFor(ctx, err)
	}
	return s.run.runIterations(ctx, 1, s.position.Elapsed())
}

// settleBestTree restores the tree of the best iteration. The dead run was restoring it, so that
// the current tree is that one, the last safe one, or partly both.
func (s *resumption) settleBestTree(ctx context.Context) error {
	r := s.run
	choice, err := selector.Best(r.past.Candidates(), r.opts.Select)
	if err != nil || r.opts.NoApply {
		return nil //nolint:nilerr // finish reports it
	}
	return r.tree.EnsureState(ctx, r.past.Iterations[choice.Iteration].Snapshot, r.past.SafeSnapshot)
}

// continueIteration finishes the last iteration that the dead run started, and prepares the tree
// for the next one. It returns a stop if that was the last iteration.
func (s *resumption) continueIteration(ctx context.Context) (event.Stop, error) {
	last := s.run.past.Iterations[len(s.run.past.Iterations)-1]
	if s.position.Iteration > last.Number {
		return s.finishIteration(ctx)
	}
	if last.Number == 0 || last.Interrupted || s.position.Ended {
		return event.Stop{}, s.run.tree.EnsureState(ctx, s.run.past.SafeSnapshot, "")
	}

	if !s.position.Judged {
		if err := s.run.reportFinished(last); err != nil {
			return event.Stop{}, err
		}
	}

	if last.Rejected && !s.position.RolledBack {
		if err := s.run.tree.EnsureState(ctx, last.Decision.Restore, last.Snapshot); err != nil {
			return event.Stop{}, err
		}
		return s.run.conclude(ctx, last)
	}

	if err := s.run.tree.EnsureState(ctx, s.run.past.SafeSnapshot, ""); err != nil {
		return event.Stop{}, err
	}
	return s.run.stopAfter(last), s.run.writeReport(last)
}

// finishIteration judges what the agent left in an iteration that was not judged. If the agent had
// not started, or had not changed anything, it only restores the start, and the iteration runs
// again.
func (s *resumption) finishIteration(ctx context.Context) (event.Stop, error) {
	s.run.state.Iteration = s.position.Iteration
	it := &iteration{Iteration: ledger.Iteration{
		LoopID: s.run.state.LoopID, Number: s.position.Iteration, StartedAt: s.position.StartedAt, Start: s.position.Start, Level: s.position.Level, LevelReason: s.position.LevelReason, Retry: s.run.past.Recovery.Retries,
		Agent: s.position.Agent, Resumed: true, Acknowledged: s.run.newlyAccepted(),
	}}
	if it.Agent == nil {
		it.Agent = &ledger.AgentRun{ExitCode: -1, Cause: diedWithSupervise, Duration: max(0, s.position.LastEvent.Sub(s.position.SpawnedAt)), Blocked: s.position.Blocked}
	}
	if s.position.AgentTree == "" && s.position.Spawned == nil {
		return event.Stop{}, s.run.tree.EnsureState(ctx, s.position.Start, "")
	}

	var err error
	if it.start, err = s.run.tree.Store.Info(s.position.Start); err != nil {
		return event.Stop{}, err
	}

	info, err := s.agentTree(ctx)
	if err != nil {
		return event.Stop{}, err
	}

	wasInterrupted := s.position.AgentMayRun() || agentrun.WasUnavailable(s.position.Agent)
	didNothing := info.Tree == it.start.Tree && len(it.Blocks()) == 0
	if wasInterrupted && didNothing {
		return event.Stop{}, s.run.tree.EnsureState(ctx, s.position.Start, "")
	}
	if err := s.run.recordChanges(ctx, it, info); err != nil {
		return event.Stop{}, err
	}
	return s.run.assess(ctx, it)
}

// agentTree returns the snapshot of what the agent left, and makes the tree equal to it. If there
// is no such snapshot, it takes one of the current tree and reports that, because the tree may
// also contain work of the user.
func (s *resumption) agentTree(ctx context.Context) (snapshot.Info, error) {
	if s.position.AgentTree == "" {
		info, err := s.run.tree.Take(context.WithoutCancel(ctx), s.position.Iteration, event.AfterAgent)
		if err == nil {
			err = s.run.tree.ReportFound(info.ID)
		}
		return info, err
	}
	if err := s.run.tree.EnsureState(ctx, s.position.AgentTree, ""); err != nil {
		return snapshot.Info{}, err
	}
	return s.run.tree.Store.Info(s.position.AgentTree)
}
