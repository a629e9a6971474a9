package loop

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"

	"supervise/internal/agentrun"
	"supervise/internal/event"
	"supervise/internal/ledger"
	"supervise/internal/measure"
	"supervise/runner"
	"supervise/selector"
	"supervise/snapshot"
)

// ErrLaterLoop is the reason for which a loop cannot be resumed without force.
var ErrLaterLoop = errors.New("a later loop has worked in the same tree")

// diedWithSupervise is the cause of an agent's end that nobody saw.
const diedWithSupervise = "supervisor_died"

// Resume goes on with a loop whose supervisor is gone, from where its log says that it
// was. What the loop was asked to do comes from its folder; o gives what belongs to this
// process, and limits where they are not zero. force goes on although a later loop has
// worked in the tree, or that is another one than before. Where o.Root is given, the tree
// lies there now, and so does what the settings name in it.
//
// Survivors of the dead run are ended first. An agent that was cut off is judged
// by what it left; one that had done nothing is run again. A loop that has ended
// goes on if iterations are left; if not, nothing is done and its end is reported
// again.
//
// The outcome and the errors are those of [Run]; in addition the error may wrap
// [ledger.ErrNotBegun], [ErrOverlaid], [ledger.ErrChanged] or [ledger.ErrNoLoop].
func Resume(ctx context.Context, id string, o Options, force bool) (Outcome, error) {
	at := event.NewPosition()
	l, state, err := ledger.OpenIn(o.Root, o.Home, id, at.Apply)
	if err != nil {
		return Outcome{}, err
	}
	r := newRun(o.withDefaults(), l, state)
	defer r.close()
	s := &resumption{run: r, at: at}
	if err := s.revive(ctx, force); err != nil {
		return Outcome{}, fmt.Errorf("resume loop %s: %w", id, err)
	}
	if r.tree == nil {
		at.End.Tree = nil // which was then
		r.opts.OnEvent(event.Event{Type: event.LoopFinished, Time: at.LastEvent, LoopID: id, Iteration: r.state.Iteration, Data: at.End})
		return r.outcome(event.Stop{Reason: at.End.Reason, Text: at.End.Text}), nil
	}
	goOn := s.goOn
	if r.opts.IsWatching() {
		goOn = r.endWatch
	}
	stop, err := goOn(ctx)
	return r.end(ctx, stop, err)
}

// resumption brings a run to where the dead one was, and does what that had not done
// any more.
type resumption struct {
	run *run
	at  *event.Position

	elsewhere bool // the tree is another one than before, maybe on another machine
}

// revive leaves the tree closed where nothing is left to be done.
func (s *resumption) revive(ctx context.Context, force bool) error {
	r := s.run
	if err := s.reload(); err != nil {
		return err
	}
	r.past.Dropped = s.at.DroppedSnapshots
	its, err := ledger.ReadIterations(r.ledger.Dir())
	if err == nil {
		err = s.replay(its)
	}
	if err != nil || s.at.Ended && s.at.End.Reason.Status() != ledger.Paused && (r.opts.IsWatching() || len(its) > r.opts.MaxIterations) {
		return err
	}
	r.stepsFrom(s.at.StepsFrom())
	if err := s.overlaid(); err != nil && !force {
		return err
	}
	var learnt measure.Memory
	if err := ledger.ReadMeasureState(r.ledger.Dir(), &learnt); err != nil {
		return err
	}
	if err := r.endSurvivors(ctx, s.at); err != nil {
		return err
	}
	if err := s.equip(ctx, learnt, force); err != nil {
		return err
	}
	if len(its) > 0 {
		r.checks.outputs = its[0].CheckOutputs
		if err := r.around.recall(ctx, s.elsewhere); err != nil {
			return err
		}
	}
	r.state.Status, r.state.StopReason, r.state.StopText, r.state.ExitCode = ledger.Running, "", "", 0
	r.state.Waiting, r.state.TreeText = "", ""
	r.state.PID, r.state.Selected, r.state.Config = os.Getpid(), nil, r.opts.configuration()
	return errors.Join(s.report(), r.save())
}

// equip opens what an iteration needs; with force also if the tree is another repository now.
func (s *resumption) equip(ctx context.Context, learnt measure.Memory, force bool) error {
	s.run.opts.Snapshot.Moved = force
	if err := s.run.equip(ctx, s.at, learnt); err != nil {
		return err
	}
	other := s.run.tree.Store.CheckRepository() // an agent at work there could not be undone
	if other == nil || !force {
		return other
	}
	s.elsewhere = true
	return s.run.tree.Store.AdoptRepository()
}

// reload reads what the loop was asked to do.
func (s *resumption) reload() error {
	if s.at.Settings == "" {
		return fmt.Errorf("%w: start a new one", ledger.ErrNoSettings)
	}
	o, limits := &s.run.opts, s.run.opts.Settings
	o.Settings = Settings{}
	dir := s.run.ledger.Dir()
	if err := ledger.ReadSettings(dir, s.at.Settings, &o.Settings); err != nil {
		return err
	}
	if moves := limits.MovedFolders(o.Settings); len(moves) > 0 {
		o.Settings = Settings{}
		if err := ledger.ReadSettings(dir, s.at.Settings, &o.Settings, moves...); err != nil {
			return err
		}
	}
	o.MaxIterations = cmp.Or(s.run.state.Config.MaxIterations, o.MaxIterations)
	o.OverrideLimits(limits)
	o.Setup = o.Setup.FromJSON()
	return o.CheckPresets()
}

// overlaid finds a loop that worked in the tree later.
func (s *resumption) overlaid() error {
	loops, err := ledger.ListLoops(s.run.opts.Home, s.run.opts.Root)
	if err != nil {
		return err
	}
	for _, other := range loops { // the latest first
		if other.LoopID != s.run.state.LoopID && other.StartedAt.After(s.run.state.UpdatedAt) {
			return fmt.Errorf("%w: %s; --force puts the tree back to where this one stood and goes on (what is there is kept)", ErrLaterLoop, other.LoopID)
		}
	}
	return nil
}

// replay brings the run to where the dead one was after the given iterations.
func (s *resumption) replay(its []ledger.Iteration) error {
	s.run.state.ResetIterations()
	for n, it := range its {
		switch {
		case it.Number != n:
			return fmt.Errorf("the record of iteration %d is missing in %s: start a new loop", n, s.run.ledger.Dir())
		case n == 0:
			s.run.startFrom(it)
		case it.Interrupted:
			s.run.past.Skip(it)
		case it.Decision == nil:
			return fmt.Errorf("iteration %d has no decision: start a new loop", n)
		default:
			s.run.accept(it)
		}
		s.run.past.Remember(it)
		s.run.state.Add(it)
	}
	for _, r := range s.at.Reviews {
		s.run.state.AddReview(r)
	}
	return nil
}

// endSurvivors ends what is left of the agent and the checks of a dead run. What
// cannot be distinguished from the processes of a later one does not keep the loop
// from going on.
func (r *run) endSurvivors(ctx context.Context, at *event.Position) error {
	var names []string
	for _, c := range at.Children {
		left, err := runner.KillSurvivors(ctx, c.Shim, c.Leader)
		if errors.Is(err, runner.ErrDoubtful) {
			r.warn("end what a killed supervise left running", err)
			err = nil
		}
		if err != nil {
			return fmt.Errorf("end what a killed supervise left running: %w", err)
		}
		names = append(names, left...)
	}
	if len(names) == 0 {
		return nil
	}
	return r.journal.Write(event.OrphansKilled, at.Iteration, event.Orphans{Names: names})
}

// report reports what the log lost, and with what the loop goes on.
func (s *resumption) report() error {
	if damage := s.run.ledger.Problems(); len(damage) > 0 {
		if err := s.run.journal.Write(event.LogDamaged, s.run.state.Iteration, event.Damage{Problems: damage}); err != nil {
			return err
		}
	}
	n, from := s.where()
	return s.run.journal.Write(event.LoopResumed, n, event.Resumed{
		Dir: s.run.ledger.Dir(), Plan: s.run.opts.Plan, Agent: s.run.opts.CommandLine(), Iteration: n, From: from, Max: s.run.opts.MaxIterations, Steps: s.run.opts.Steps, History: s.run.past.Iterations,
	})
}

// where says in words with what the loop goes on.
func (s *resumption) where() (iteration int, from string) {
	last := len(s.run.past.Iterations) - 1
	switch {
	case s.run.opts.IsWatching():
		return last + 1, "what the session left is measured"
	case last < 0:
		return 0, "the baseline is measured"
	case s.at.Stop != nil && !s.at.Ended:
		return last, "the best iteration is given back"
	case s.at.Iteration <= last:
		return last + 1, "the next iteration begins"
	case s.at.ApprovalPending:
		return s.at.Iteration, "what the agent left is measured, and you are asked again"
	case s.at.AgentTree != "":
		return s.at.Iteration, "what the agent left is measured"
	case s.at.Spawned != nil:
		return s.at.Iteration, "what the agent had done until it was cut off is measured"
	}
	return s.at.Iteration, "the iteration begins again"
}

// goOn does what the dead supervisor had not done any more.
func (s *resumption) goOn(ctx context.Context) (event.Stop, error) {
	if len(s.run.past.Iterations) == 0 {
		return s.goOnBaseline(ctx)
	}
	if err := s.run.judgeable(s.run.past.Iterations[0].Set); err != nil {
		return event.Stop{}, err
	}
	if s.at.Stop != nil && !s.at.Ended {
		return *s.at.Stop, s.settleBest(ctx)
	}
	stop, err := s.goOnIteration(ctx)
	switch {
	case err != nil || ctx.Err() != nil:
		return stopped(ctx, err)
	case stop.Reason != "":
		return stop, nil
	}
	return s.run.iterations(ctx, len(s.run.past.Iterations), s.at.Elapsed())
}

func (s *resumption) goOnBaseline(ctx context.Context) (event.Stop, error) {
	if s.at.Baseline == "" {
		return s.run.whole(ctx)
	}
	info, err := s.run.tree.Store.Info(s.at.Baseline)
	if err == nil {
		err = s.run.tree.EnsureState(ctx, s.at.Baseline, "")
	}
	if err == nil {
		s.run.checks.outputs = s.at.CheckOutputs
		err = s.run.measureBaseline(ctx, info)
	}
	if err != nil {
		return stopped(ctx, err)
	}
	return s.run.iterations(ctx, 1, s.at.Elapsed())
}

// settleBest makes the tree that of the best iteration, which the dead supervisor was
// giving back. Before that it was the last safe one.
func (s *resumption) settleBest(ctx context.Context) error {
	r := s.run
	choice, err := selector.Best(r.past.Candidates(), r.opts.Select)
	if err != nil || r.opts.NoApply {
		return nil //nolint:nilerr // the end says it
	}
	return r.tree.EnsureState(ctx, r.past.Iterations[choice.Iteration].Snapshot, r.past.SafeSnapshot)
}

// goOnIteration finishes the last iteration that began, and leaves the tree as
// the next one finds it.
func (s *resumption) goOnIteration(ctx context.Context) (event.Stop, error) {
	last := s.run.past.Iterations[len(s.run.past.Iterations)-1]
	if s.at.Iteration > last.Number {
		return s.finishIteration(ctx)
	}
	if last.Number == 0 || last.Interrupted || s.at.Ended {
		return event.Stop{}, s.run.tree.EnsureState(ctx, s.run.past.SafeSnapshot, "")
	}
	if !s.at.Judged {
		if err := s.run.finished(last); err != nil {
			return event.Stop{}, err
		}
	}
	if last.Rejected && !s.at.RolledBack {
		if err := s.run.tree.EnsureState(ctx, last.Decision.Restore, last.Snapshot); err != nil {
			return event.Stop{}, err
		}
		return s.run.conclude(ctx, last)
	}
	if err := s.run.tree.EnsureState(ctx, s.run.past.SafeSnapshot, ""); err != nil {
		return event.Stop{}, err
	}
	return s.run.stopAfter(last), s.run.report(last)
}

// finishIteration judges what the agent left. Where it had not begun, or had
// done nothing yet, there is nothing to judge: it is run again.
func (s *resumption) finishIteration(ctx context.Context) (event.Stop, error) {
	s.run.state.Iteration = s.at.Iteration
	it := &iteration{Iteration: ledger.Iteration{
		LoopID: s.run.state.LoopID, Number: s.at.Iteration, StartedAt: s.at.StartedAt, Start: s.at.Start, Level: s.at.Level, LevelReason: s.at.LevelReason, Retry: s.run.past.Recovery.Retries,
		Agent: s.at.Agent, Resumed: true,
	}}
	if it.Agent == nil {
		it.Agent = &ledger.AgentRun{ExitCode: -1, Cause: diedWithSupervise, Duration: max(0, s.at.LastEvent.Sub(s.at.SpawnedAt)), Blocked: s.at.Blocked}
	}
	if s.at.AgentTree == "" && s.at.Spawned == nil {
		return event.Stop{}, s.run.tree.EnsureState(ctx, s.at.Start, "")
	}
	var err error
	if it.start, err = s.run.tree.Store.Info(s.at.Start); err != nil {
		return event.Stop{}, err
	}
	info, err := s.left(ctx)
	if err != nil {
		return event.Stop{}, err
	}
	if (s.at.AgentMayRun() || agentrun.WasUnavailable(s.at.Agent)) && info.Tree == it.start.Tree && len(it.Blocks()) == 0 {
		return event.Stop{}, s.run.tree.EnsureState(ctx, s.at.Start, "")
	}
	if err := s.run.describe(ctx, it, info); err != nil {
		return event.Stop{}, err
	}
	return s.run.assess(ctx, it)
}

// left returns the snapshot of what the agent left; the tree is as it holds. Where none
// was taken in time, there may be work of the user in it as well, and it is named.
func (s *resumption) left(ctx context.Context) (snapshot.Info, error) {
	if s.at.AgentTree == "" {
		info, err := s.run.tree.Take(context.WithoutCancel(ctx), s.at.Iteration, event.AfterAgent)
		if err == nil {
			err = s.run.tree.ReportFound(info.ID)
		}
		return info, err
	}
	if err := s.run.tree.EnsureState(ctx, s.at.AgentTree, ""); err != nil {
		return snapshot.Info{}, err
	}
	return s.run.tree.Store.Info(s.at.AgentTree)
}
