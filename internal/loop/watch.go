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

// DefaultIdleTime is how long an agent says and writes nothing until it counts as
// resting, where nothing else is set.
const DefaultIdleTime = 20 * time.Second

// Watch leaves a session of the user's own with an agent alone, and measures the tree
// whenever the agent rests: each rest is an iteration. Nothing is rolled back, nobody
// is asked, and the tree stays as the session leaves it.
//
// The outcome and the errors are those of [Run].
func Watch(ctx context.Context, o Options) (Outcome, error) {
	r, err := open(ctx, o.interactive().withDefaults())
	if err != nil {
		return Outcome{}, err
	}
	defer r.close()
	if err = r.baseline(ctx); err == nil {
		err = r.attend(ctx)
	}
	if err != nil {
		stop, err := stopped(ctx, err)
		return r.end(ctx, stop, err)
	}
	return r.end(ctx, r.watchOver(ctx), nil)
}

func (o Settings) kind() ledger.Kind {
	if o.IsWatching() {
		return ledger.KindWatched
	}
	return ""
}

// interactive are the options of a session that is watched: what a loop does with its
// agent and its tree is left out.
func (o Options) interactive() Options {
	if o.IdleAfter <= 0 {
		o.IdleAfter = DefaultIdleTime
	}
	o.Program, o.Task, o.RawTask, o.Pty = agentrun.Program{}, "", nil, agentrun.PtyAlways
	o.NoApply, o.StopOnDiminishing, o.MaxIterations, o.Until = true, false, 0, criterion.Criterion{Kind: criterion.Never}
	o.Approval, o.Person.Terminal, o.Hooks.Stop = Approval{}, "", false
	if p, known := agent.Recognize(o.Args); known {
		// For codex the hooks of everybody would have to be trusted unseen.
		if c, err := hook.ParseClient(p.Hooks); err == nil && c != hook.Codex {
			o.Hooks.Client = c
		}
	}
	return o
}

// watchOver is the stop at the end of a session.
func (r *run) watchOver(ctx context.Context) event.Stop {
	last := r.past.Last()
	switch {
	case interrupted(ctx):
		return event.Stop{Reason: event.Interrupted, Text: "interrupted by the user"}
	case last.Number == 0:
		return event.Stop{Reason: event.NothingChanged, Text: "the session is over, and nothing changed: no file is other than before it"}
	case last.Assessment.HasCritical():
		return event.Stop{Reason: event.CriticalLeft, Text: fmt.Sprintf("the session is over, and critical findings are left in iteration %d: %s", last.Number, strings.Join(detector.CriticalMessages(last.Assessment.Alerts), "; "))}
	}
	return event.Stop{Reason: event.SessionEnded, Text: "the session is over"}
}

// watched is a session of the user's own, while it lasts.
type watched struct {
	run   *run
	base  snapshot.ID // the tree that the next one is compared with
	since time.Time   // when that was
}

func newWatched(r *run) *watched {
	return &watched{run: r, base: r.past.SafeSnapshot, since: r.opts.Now()}
}

// attend runs the agent, measures whenever it rests, and once more when it has ended.
func (r *run) attend(ctx context.Context) error {
	w := newWatched(r)
	err := r.agent.RunSession(ctx, agentrun.SessionOptions{
		IdleAfter: r.opts.IdleAfter, Skip: w.skipped, OnIdle: w.look, Iteration: r.number,
		OnQuiet: func() { r.journal.Announce(event.AgentIdle, r.state.Iteration, nil) },
	})
	if err == nil {
		_, err = w.look(ctx, ended)
	}
	return err
}

// ended is how much an agent prints that has ended.
func ended() int64 { return 0 }

// skipped leaves out of the watch what is no work of the agent.
func (w *watched) skipped(dir string) bool {
	name := dir[strings.LastIndexByte(dir, '/')+1:]
	rel, inside := ledger.PathInTree(w.run.opts.Home, w.run.opts.Root)
	return name == ".git" || name == "node_modules" || inside && dir == filepath.ToSlash(rel)
}

// look measures and judges the tree where it differs from what was looked at last.
// Where the agent was at work meanwhile nothing is reported, and the next rest is waited
// for; what changed although it was silent was made by the checks.
func (w *watched) look(ctx context.Context, printed func() int64) (news bool, err error) {
	r := w.run
	it, err := w.begin(ctx)
	if it == nil || err != nil {
		return false, err
	}
	if interrupted(ctx) {
		return false, r.abandon(it)
	}
	heard := printed()
	if err = r.measure(ctx, it); err == nil {
		err = r.judge(ctx, it)
	}
	switch {
	case err != nil && interrupted(ctx):
		return false, r.abandon(it)
	case err != nil:
		return false, err
	}
	tree, err := w.tree(ctx)
	if err != nil {
		return false, err
	}
	w.base, w.since = it.Snapshot, it.EndedAt
	switch {
	case tree == it.Tree:
	case heard != printed():
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

// begin takes the snapshot of an iteration; nil where nothing has changed.
func (w *watched) begin(ctx context.Context) (*iteration, error) {
	r := w.run
	start, err := r.tree.Store.Info(w.base)
	if err != nil {
		return nil, fmt.Errorf("find the tree before: %w", err)
	}
	if tree, err := w.tree(ctx); err != nil || tree == start.Tree {
		return nil, err
	}
	n, now := len(r.past.Iterations), r.opts.Now()
	r.state.Iteration, r.checks.clock, r.tree.Start = n, measure.Clock{}, start.ID
	it := &iteration{start: start, Iteration: ledger.Iteration{LoopID: r.state.LoopID, Number: n, StartedAt: w.since, Start: start.ID}}
	it.Agent = &ledger.AgentRun{Cause: ledger.CauseIdle, Duration: max(0, now.Sub(w.since)), Program: string(r.opts.Hooks.Client)}
	return it, r.capture(ctx, it)
}

// tree names the tree as it is now, and keeps nothing.
func (w *watched) tree(ctx context.Context) (string, error) {
	info, drop, err := w.run.tree.Store.TakeTemporary(context.WithoutCancel(ctx), "at rest")
	if err != nil {
		return "", fmt.Errorf("look at the tree: %w", err)
	}
	return info.Tree, drop()
}

// endWatch measures what a session left whose supervisor was killed. It is over then.
func (r *run) endWatch(ctx context.Context) (event.Stop, error) {
	if len(r.past.Iterations) == 0 {
		return event.Stop{}, fmt.Errorf("%w: the session was killed before its baseline was measured", ledger.ErrNoSettings)
	}
	if _, err := newWatched(r).look(ctx, ended); err != nil {
		return stopped(ctx, err)
	}
	return r.watchOver(ctx), nil
}
