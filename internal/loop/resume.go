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
	"supervise/snapshot"
)

// ErrOverlaid is the reason for which a loop cannot be resumed without force.
var ErrOverlaid = errors.New("a later loop has worked in the same tree")

// diedWithSupervise is the cause of an agent's end that nobody saw.
const diedWithSupervise = "supervisor_died"

// Resume goes on with a loop whose supervisor is gone, where its log says that
// it stood. What the loop was asked to do comes from its folder; of o counts
// what belongs to this process, and its limits where they are not zero. force
// goes on although a later loop has worked in the tree.
//
// Survivors of the dead run are ended first. An agent that was cut off is judged
// by what it left; one that had done nothing is run again. A loop that has ended
// goes on if iterations are left; if not, nothing is done and its end is told
// again.
//
// The outcome and the errors are those of [Run]; in addition the error may wrap
// [ledger.ErrNotBegun], [ErrOverlaid], [ledger.ErrChanged] or [ledger.ErrNoLoop].
func Resume(ctx context.Context, id string, o Options, force bool) (Outcome, error) {
	t := newTrail()
	s, err := reopen(ctx, id, o.withDefaults(), t, force)
	if err != nil {
		return Outcome{}, err
	}
	defer s.close()
	if s.store == nil {
		f := t.finished
		s.opts.OnEvent(event.Event{Type: event.LoopFinished, Time: t.last, LoopID: id, Iteration: s.state.Iteration, Data: f})
		return s.outcome(event.Stop{Reason: f.Reason, Text: f.Text}), nil
	}
	goOn := s.goOn
	if s.opts.Watching() {
		goOn = func(ctx context.Context, _ *trail) (event.Stop, error) { return s.endVisit(ctx) }
	}
	stop, err := goOn(ctx, t)
	return s.end(ctx, stop, err)
}

// reopen takes the loop and brings the session to where the last one was.
func reopen(ctx context.Context, id string, o Options, t *trail, force bool) (*session, error) {
	l, state, err := ledger.Open(o.Home, id, t.read)
	if err != nil {
		return nil, err
	}
	s := newSession(o, id)
	s.state = state
	s.use(l)
	if err := s.revive(ctx, t, force); err != nil {
		s.close()
		return nil, fmt.Errorf("resume loop %s: %w", id, err)
	}
	return s, nil
}

// revive leaves the store closed where nothing is left to be done.
func (s *session) revive(ctx context.Context, t *trail, force bool) error {
	if err := s.reload(t); err != nil {
		return err
	}
	s.past.Dropped = t.dropped
	its, err := ledger.Iterations(s.ledger.Dir())
	if err == nil {
		err = s.replay(its)
	}
	if err != nil || t.ended && (s.opts.Watching() || len(its) > s.opts.MaxIterations) {
		return err
	}
	if err := s.overlaid(); err != nil && !force {
		return err
	}
	var learnt measure.Memory
	if err := s.ledger.ReadMeter(&learnt); err != nil {
		return err
	}
	if err := s.endSurvivors(ctx, t); err != nil {
		return err
	}
	err = s.equip(ctx, t, learnt)
	if err == nil && len(its) > 0 {
		err = s.recallAround(ctx)
	}
	if err != nil {
		return err
	}
	s.state.Status, s.state.StopReason, s.state.StopText, s.state.ExitCode = ledger.Running, "", "", 0
	s.state.Waiting = ""
	s.state.PID, s.state.Selected, s.state.Config = os.Getpid(), nil, s.opts.configuration()
	return errors.Join(s.tellResumed(t), s.save())
}

// reload reads what the loop was asked to do.
func (s *session) reload(t *trail) error {
	if t.settings == "" {
		return fmt.Errorf("%w: start a new one", ledger.ErrNotBegun)
	}
	limits := s.opts.Settings
	s.opts.Settings = Settings{}
	if err := ledger.ReadSettings(s.ledger.Dir(), t.settings, &s.opts.Settings); err != nil {
		return err
	}
	s.opts.MaxIterations = cmp.Or(limits.MaxIterations, s.state.Config.MaxIterations, s.opts.MaxIterations)
	s.opts.MaxTime = cmp.Or(limits.MaxTime, s.opts.MaxTime)
	s.opts.MaxCost, s.opts.MaxTokens = cmp.Or(limits.MaxCost, s.opts.MaxCost), cmp.Or(limits.MaxTokens, s.opts.MaxTokens)
	s.opts.Setup = s.opts.Setup.FromJSON()
	s.opts.Gate.Policy = cmp.Or(limits.Gate.Policy, s.opts.Gate.Policy)
	s.opts.Gate.Unattended = s.opts.Gate.Unattended || limits.Gate.Unattended
	return nil
}

// overlaid finds a loop that worked in the tree later.
func (s *session) overlaid() error {
	loops, err := ledger.Loops(s.opts.Home, s.opts.Root)
	if err != nil {
		return err
	}
	for _, other := range loops { // the latest first
		if other.LoopID != s.id && other.StartedAt.After(s.state.UpdatedAt) {
			return fmt.Errorf("%w: %s; --force puts the tree back to where this one stood and goes on (what is there is kept)", ErrOverlaid, other.LoopID)
		}
	}
	return nil
}

// replay brings the session to where it was after the given iterations.
func (s *session) replay(its []ledger.Iteration) error {
	s.state.History, s.state.Regressions, s.state.Spending = []ledger.HistoryEntry{}, []ledger.Regression{}, nil
	s.state.Recoveries, s.state.Levels = nil, nil
	for n, it := range its {
		switch {
		case it.Number != n:
			return fmt.Errorf("the record of iteration %d is missing in %s: start a new loop", n, s.ledger.Dir())
		case n == 0:
			s.begin(it)
			s.artefactPaths = it.Artefacts
		case it.Interrupted:
			s.past.Skip(it)
		case it.Decision == nil:
			return fmt.Errorf("iteration %d has no decision: start a new loop", n)
		default:
			s.accept(it)
		}
		s.past.Remember(it)
		s.state.Add(it)
	}
	return nil
}

// endSurvivors ends what is left of the agent and the checks of a dead run. What
// cannot be told apart from the processes of a later one does not keep the loop
// from going on.
func (s *session) endSurvivors(ctx context.Context, t *trail) error {
	var names []string
	for _, c := range t.children {
		left, err := runner.KillSurvivors(ctx, c.Shim, c.Leader)
		if errors.Is(err, runner.ErrDoubtful) {
			s.opts.Log.WithError(err).Warn("end what a killed supervise left running")
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
	return s.event(event.SurvivorsEnded, t.iteration, event.Survivors{Names: names})
}

func (s *session) tellResumed(t *trail) error {
	if damage := s.ledger.Problems(); len(damage) > 0 {
		if err := s.event(event.LogDamaged, s.state.Iteration, event.Damage{Problems: damage}); err != nil {
			return err
		}
	}
	n, from := s.where(t)
	return s.event(event.LoopResumed, n, event.Resumed{
		Dir: s.ledger.Dir(), Plan: s.opts.Plan, Agent: s.opts.CommandLine(), Iteration: n, From: from, Max: s.opts.MaxIterations, History: s.past.Iterations,
	})
}

// where says in words with what the loop goes on.
func (s *session) where(t *trail) (iteration int, from string) {
	last := len(s.past.Iterations) - 1
	switch {
	case s.opts.Watching():
		return last + 1, "what the session left is measured"
	case last < 0:
		return 0, "the baseline is measured"
	case t.stop != nil && !t.ended:
		return last, "the best iteration is given back"
	case t.iteration <= last:
		return last + 1, "the next iteration begins"
	case t.asked:
		return t.iteration, "what the agent left is measured, and you are asked again"
	case t.after != "":
		return t.iteration, "what the agent left is measured"
	case t.spawned != nil:
		return t.iteration, "what the agent had done until it was cut off is measured"
	}
	return t.iteration, "the iteration begins again"
}

// goOn does what the dead supervisor had not done any more.
func (s *session) goOn(ctx context.Context, t *trail) (event.Stop, error) {
	if len(s.past.Iterations) == 0 {
		return s.goOnBaseline(ctx, t)
	}
	if err := s.judgeable(s.past.Iterations[0].Set); err != nil {
		return event.Stop{}, err
	}
	if t.stop != nil && !t.ended {
		return *t.stop, nil
	}
	stop, err := s.goOnIteration(ctx, t)
	switch {
	case err != nil || ctx.Err() != nil:
		return s.stopped(ctx, err)
	case stop.Reason != "" && !t.ended:
		return stop, nil
	}
	return s.iterations(ctx, len(s.past.Iterations), t.spent())
}

func (s *session) goOnBaseline(ctx context.Context, t *trail) (event.Stop, error) {
	if t.baseline == "" {
		return s.run(ctx)
	}
	info, err := s.store.Info(t.baseline)
	if err == nil {
		err = s.tree.Settle(ctx, t.baseline)
	}
	if err == nil {
		s.artefactPaths = t.artefacts
		err = s.measureBaseline(ctx, info)
	}
	if err != nil {
		return s.stopped(ctx, err)
	}
	return s.iterations(ctx, 1, t.spent())
}

// goOnIteration finishes the last iteration that began, and leaves the tree as
// the next one finds it.
func (s *session) goOnIteration(ctx context.Context, t *trail) (event.Stop, error) {
	last := s.past.Iterations[len(s.past.Iterations)-1]
	if t.iteration > last.Number {
		return s.finishIteration(ctx, t)
	}
	if last.Number == 0 || last.Interrupted || t.ended {
		return event.Stop{}, s.tree.Settle(ctx, s.past.Safe)
	}
	if !t.told {
		if err := s.finished(last); err != nil {
			return event.Stop{}, err
		}
	}
	if last.Rejected && !t.undone {
		return s.conclude(ctx, last)
	}
	if err := s.tree.Settle(ctx, s.past.Safe); err != nil {
		return event.Stop{}, err
	}
	return s.stopAfter(last), s.record(last)
}

// finishIteration judges what the agent left. Where it had not begun, or had
// done nothing yet, there is nothing to judge: it is run again.
func (s *session) finishIteration(ctx context.Context, t *trail) (event.Stop, error) {
	s.state.Iteration = t.iteration
	w := &work{it: ledger.Iteration{
		LoopID: s.id, Number: t.iteration, StartedAt: t.began, Start: t.start, Level: t.level, LevelReason: t.why, Retry: s.past.Recovery.Retries,
		Agent: t.agent, Resumed: true,
	}}
	if w.it.Agent == nil {
		w.it.Agent = &ledger.AgentRun{ExitCode: -1, Cause: diedWithSupervise, Duration: max(0, t.last.Sub(t.spawnedAt))}
	}
	if t.after == "" && t.spawned == nil {
		return event.Stop{}, s.tree.Settle(ctx, t.start)
	}
	var err error
	if w.start, err = s.store.Info(t.start); err != nil {
		return event.Stop{}, err
	}
	info, err := s.left(ctx, t)
	if err != nil {
		return event.Stop{}, err
	}
	if (t.running() || agentrun.Unserved(t.agent)) && info.Tree == w.start.Tree {
		return event.Stop{}, s.tree.Settle(ctx, t.start)
	}
	if err := s.describe(ctx, w, info); err != nil {
		return event.Stop{}, err
	}
	return s.assess(ctx, w)
}

// left returns the snapshot of what the agent left; the tree is as it holds.
func (s *session) left(ctx context.Context, t *trail) (snapshot.Info, error) {
	if t.after == "" {
		return s.tree.Take(context.WithoutCancel(ctx), t.iteration, event.AfterAgent)
	}
	if err := s.tree.Settle(ctx, t.after); err != nil {
		return snapshot.Info{}, err
	}
	return s.store.Info(t.after)
}
