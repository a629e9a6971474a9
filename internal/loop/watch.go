package loop

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"supervise/detector"
	"supervise/internal/agent"
	"supervise/internal/agentrun"
	"supervise/internal/criterion"
	"supervise/internal/event"
	"supervise/internal/hook"
	"supervise/internal/ledger"
	"supervise/internal/measure"
	"supervise/snapshot"
)

// DefaultIdleTime is how long an agent prints and writes nothing until it counts as idle.
const DefaultIdleTime = 20 * time.Second

// Watch runs an interactive session of the user with an agent, and measures the tree whenever
// the agent is idle: each measurement is an iteration. It never rolls back, asks no questions,
// and leaves the tree as the session leaves it.
//
// The outcome and the errors are those of [Run].
func Watch(ctx context.Context, o Options) (Outcome, error) {
	r, err := open(ctx, o.forSession().withDefaults())
	if err != nil {
		return Outcome{}, err
	}
	defer r.close()
	if err = r.takeBaseline(ctx); err == nil {
		err = r.runSession(ctx)
	}
	if err != nil {
		stop, err := stopFor(ctx, err)
		return r.finishOrFail(ctx, stop, err)
	}
	return r.finishOrFail(ctx, r.sessionStop(ctx), nil)
}

// kind returns the kind of the loop.
func (o Settings) kind() ledger.Kind {
	if o.IsWatching() {
		return ledger.KindWatched
	}
	return ""
}

// forSession returns the options for a watched session. They are without everything by which a loop
// controls its agent and its tree.
func (o Options) forSession() Options {
	if o.IdleAfter <= 0 {
		o.IdleAfter = DefaultIdleTime
	}
	o.Program, o.Task, o.RawTask, o.Pty = agentrun.Program{}, "", nil, agentrun.PtyAlways
	o.NoApply, o.StopOnDiminishing, o.MaxIterations, o.Until = true, false, 0, criterion.Criterion{Kind: criterion.Never}
	o.Approval, o.Person.Terminal, o.Hooks.Stop, o.Hidden.Seal = Approval{}, "", false, 0
	if p, known := agent.Recognize(o.Args); known {
		// Codex would require the user to trust all its hooks unseen.
		if c, err := hook.ParseClient(p.Hooks); err == nil && c != hook.Codex {
			o.Hooks.Client = c
		}
	}
	return o
}

// sessionStop returns the stop at the end of a session.
func (r *run) sessionStop(ctx context.Context) event.Stop {
	last := r.past.Last()
	switch {
	case interrupted(ctx):
		return event.Stop{Reason: event.Interrupted, Text: "interrupted by the user"}
	case last.Number == 0:
		return event.Stop{Reason: event.NothingChanged, Text: "the session is over, and no file has changed"}
	case last.Assessment.HasCritical():
		return event.Stop{Reason: event.CriticalLeft, Text: fmt.Sprintf("the session is over, and critical findings are left in iteration %d: %s", last.Number, strings.Join(detector.CriticalMessages(last.Assessment.Alerts), "; "))}
	}
	return event.Stop{Reason: event.SessionEnded, Text: "the session is over"}
}

// session is a watched session of the user.
type session struct {
	run   *run
	base  snapshot.ID // the tree that the next iteration is compared with
	since time.Time   // when that tree was last measured
}

// newSession returns a session whose last measured tree is the last safe one.
func newSession(r *run) *session {
	return &session{run: r, base: r.past.SafeSnapshot, since: r.opts.Now()}
}

// runSession runs the agent, and measures the tree whenever the agent is idle and after it has
// ended.
func (r *run) runSession(ctx context.Context) error {
	w := newSession(r)
	err := r.agent.RunSession(ctx, agentrun.SessionOptions{
		IdleAfter: r.opts.IdleAfter, Skip: w.isSkipped, OnIdle: w.measureIfChanged, Iteration: r.iterationNumber,
		OnQuiet: func() { r.journal.Announce(event.AgentIdle, r.state.Iteration, nil) },
	})
	if err == nil {
		_, err = w.measureIfChanged(ctx, noOutput)
	}
	return err
}

// noOutput is for an agent that has ended, and so prints nothing more.
func noOutput() int64 { return 0 }

// isSkipped reports whether changes in a folder, given by its slash path, do not count as work of
// the agent.
func (w *session) isSkipped(dir string) bool {
	name := dir[strings.LastIndexByte(dir, '/')+1:]
	rel, inside := ledger.PathInTree(w.run.opts.Home, w.run.opts.Root)
	return name == ".git" || name == "node_modules" || inside && dir == filepath.ToSlash(rel)
}

// measureIfChanged measures and judges the tree if it differs from the last measured one. hasNews
// reports whether an iteration was judged.
//
// printed returns how much the agent has printed. If that grows during the measurement, and the
// tree changes, the agent has continued to work, and the results are discarded. If only the tree
// changes, the checks changed it.
func (w *session) measureIfChanged(ctx context.Context, printed func() int64) (hasNews bool, err error) {
	r := w.run
	it, err := w.beginIteration(ctx)
	if it == nil || err != nil {
		return false, err
	}
	printedBefore := printed()
	if isJudged, err := r.measureAndJudge(ctx, it); !isJudged {
		return false, err
	}

	tree, err := w.currentTree(ctx)
	if err != nil {
		return false, err
	}

	w.base, w.since = it.Snapshot, it.EndedAt
	switch {
	case tree == it.Tree:
	case printedBefore != printed():
		w.base, w.since = it.Start, it.StartedAt
		return false, r.journal.Write(event.MeasurementStale, it.Number, event.StaleMeasurement{Snapshot: it.Snapshot.Name()})
	default:
		after, err := r.tree.Take(ctx, it.Number, event.AfterChecks)
		if err != nil {
			return false, err
		}
		w.base = after.ID
	}

	_, err = r.settle(ctx, it)
	return err == nil, err
}

// beginIteration starts an iteration with a snapshot of the tree. It returns nil if the tree has
// not changed.
func (w *session) beginIteration(ctx context.Context) (*iteration, error) {
	r := w.run
	start, err := r.tree.Store.Info(w.base)
	if err != nil {
		return nil, fmt.Errorf("find the previous tree: %w", err)
	}
	if tree, err := w.currentTree(ctx); err != nil || tree == start.Tree {
		return nil, err
	}
	n, now := len(r.past.Iterations), r.opts.Now()
	r.state.Iteration, r.checks.clock, r.tree.Start = n, measure.Clock{}, start.ID
	it := &iteration{start: start, Iteration: ledger.Iteration{LoopID: r.state.LoopID, Number: n, StartedAt: w.since, Start: start.ID}}
	it.Agent = &ledger.AgentRun{Cause: ledger.CauseIdle, Duration: max(0, now.Sub(w.since)), Program: string(r.opts.Hooks.Client)}
	return it, r.snapshotAgentTree(ctx, it)
}

// currentTree returns the ID of the current tree, without keeping a snapshot.
func (w *session) currentTree(ctx context.Context) (string, error) {
	info, drop, err := w.run.tree.Store.TakeTemporary(context.WithoutCancel(ctx), "at rest")
	if err != nil {
		return "", fmt.Errorf("read the tree: %w", err)
	}
	return info.Tree, drop()
}

// finishKilledSession measures what a session left whose supervisor was killed, and returns its
// stop.
func (r *run) finishKilledSession(ctx context.Context) (event.Stop, error) {
	if len(r.past.Iterations) == 0 {
		return event.Stop{}, fmt.Errorf("%w: the session was killed before its baseline was measured", ledger.ErrNoSettings)
	}
	if _, err := newSession(r).measureIfChanged(ctx, noOutput); err != nil {
		return stopFor(ctx, err)
	}
	return r.sessionStop(ctx), nil
}
