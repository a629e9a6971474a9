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
	"supervise/snapshot"
)

// DefaultRest is how long an agent says and writes nothing until it counts as
// resting, where nothing else is said.
const DefaultRest = 20 * time.Second

// Watch leaves a session of the user's own with an agent alone, and measures the tree
// whenever the agent rests: each rest is an iteration. Nothing is rolled back, nobody
// is asked, and the tree stays as the session leaves it.
//
// The outcome and the errors are those of [Run].
func Watch(ctx context.Context, o Options) (Outcome, error) {
	s, err := open(ctx, o.interactive().withDefaults())
	if err != nil {
		return Outcome{}, err
	}
	defer s.close()
	if err = s.baseline(ctx); err == nil {
		err = s.attend(ctx)
	}
	if err != nil {
		stop, err := s.stopped(ctx, err)
		return s.end(ctx, stop, err)
	}
	return s.end(ctx, s.sessionOver(ctx), nil)
}

func (o Settings) kind() ledger.Kind {
	if o.Watching() {
		return ledger.Watched
	}
	return ""
}

// interactive are the options of a session that is watched: what a loop does with its
// agent and its tree is left out.
func (o Options) interactive() Options {
	if o.Rest <= 0 {
		o.Rest = DefaultRest
	}
	o.Program, o.Task, o.RawTask, o.Pty = agentrun.Program{}, "", nil, agentrun.PtyAlways
	o.NoApply, o.StopOnDiminishing, o.MaxIterations, o.Until = true, false, 0, criterion.Criterion{Kind: criterion.Never}
	o.Gate, o.Person.Terminal, o.Hooks.Stop = Gate{}, "", false
	if p, known := agent.Recognise(o.Args); known {
		// For codex the hooks of everybody would have to be trusted unseen.
		if c, err := hook.ParseClient(p.Name); err == nil && c != hook.Codex {
			o.Hooks.Client = c
		}
	}
	return o
}

// sessionOver is the stop at the end of a session.
func (s *session) sessionOver(ctx context.Context) event.Stop {
	last := s.past.Iterations[len(s.past.Iterations)-1]
	switch {
	case interrupted(ctx):
		return event.Stop{Reason: event.Interrupted, Text: "interrupted by the user"}
	case last.Assessment.Critical():
		return event.Stop{Reason: event.CriticalLeft, Text: fmt.Sprintf("the session is over, and critical findings are left in iteration %d: %s", last.Number, strings.Join(detector.CriticalMessages(last.Assessment.Alerts), "; "))}
	}
	return event.Stop{Reason: event.SessionOver, Text: "the session is over"}
}

// visit is a session of the user's own, while it lasts.
type visit struct {
	s     *session
	base  snapshot.ID // the tree that the next one is compared with
	since time.Time   // when that was
}

func newVisit(s *session) *visit { return &visit{s: s, base: s.past.Safe, since: s.opts.Now()} }

// attend runs the agent, measures whenever it rests, and once more when it has ended.
func (s *session) attend(ctx context.Context) error {
	v := newVisit(s)
	err := s.agent.Attend(ctx, agentrun.Attendance{
		Rest: s.opts.Rest, Skip: v.skipped, OnRest: v.look, Iteration: s.iteration,
		OnSilence: func() { s.journal.Pass(event.AgentRests, s.state.Iteration, nil) },
	})
	if err == nil {
		_, err = v.look(ctx, ended)
	}
	return err
}

// ended is how much an agent prints that has ended.
func ended() int64 { return 0 }

// skipped leaves out of the watch what is no work of the agent.
func (v *visit) skipped(dir string) bool {
	name := dir[strings.LastIndexByte(dir, '/')+1:]
	rel, inside := ledger.Inside(v.s.opts.Home, v.s.opts.Root)
	return name == ".git" || name == "node_modules" || inside && dir == filepath.ToSlash(rel)
}

// look measures and judges the tree where it differs from what was looked at last.
// Where the agent was at work meanwhile nothing is said, and the next rest is waited
// for; what changed although it was silent was made by the checks.
func (v *visit) look(ctx context.Context, printed func() int64) (news bool, err error) {
	s := v.s
	w, err := v.begin(ctx)
	if w == nil || err != nil {
		return false, err
	}
	if interrupted(ctx) {
		return false, s.abandon(w)
	}
	heard := printed()
	if err := s.judge(ctx, w); err != nil {
		if interrupted(ctx) {
			return false, s.abandon(w)
		}
		return false, err
	}
	tree, err := v.tree(ctx)
	if err != nil {
		return false, err
	}
	v.base, v.since = w.it.Snapshot, w.it.EndedAt
	switch {
	case tree == w.it.Tree:
	case heard != printed():
		v.base, v.since = w.it.Start, w.it.StartedAt
		return false, s.event(event.MeasurementStale, w.it.Number, event.Stale{Snapshot: "s" + string(w.it.Snapshot)})
	default:
		after, err := s.tree.Take(ctx, w.it.Number, event.AfterChecks)
		if err != nil {
			return false, err
		}
		v.base = after.ID
	}
	_, err = s.decide(ctx, w)
	return err == nil, err
}

// begin takes the snapshot of an iteration; nil where nothing has changed.
func (v *visit) begin(ctx context.Context) (*work, error) {
	s := v.s
	start, err := s.store.Info(v.base)
	if err != nil {
		return nil, fmt.Errorf("find the tree before: %w", err)
	}
	if tree, err := v.tree(ctx); err != nil || tree == start.Tree {
		return nil, err
	}
	n, now := len(s.past.Iterations), s.opts.Now()
	s.state.Iteration, s.checks, s.start = n, 0, start.ID
	w := &work{start: start, it: ledger.Iteration{LoopID: s.id, Number: n, StartedAt: v.since, Start: start.ID}}
	w.it.Agent = &ledger.AgentRun{Cause: ledger.AtRest, Duration: max(0, now.Sub(v.since)), Program: string(s.opts.Hooks.Client)}
	return w, s.capture(ctx, w)
}

// tree names the tree as it is now, and keeps nothing.
func (v *visit) tree(ctx context.Context) (string, error) {
	info, drop, err := v.s.store.Present(context.WithoutCancel(ctx), "at rest")
	if err != nil {
		return "", fmt.Errorf("look at the tree: %w", err)
	}
	return info.Tree, drop()
}

// endVisit measures what a session left whose supervisor was killed. It is over then.
func (s *session) endVisit(ctx context.Context) (event.Stop, error) {
	if len(s.past.Iterations) == 0 {
		return event.Stop{}, fmt.Errorf("%w: the session was killed before its baseline was measured", ledger.ErrNotBegun)
	}
	if _, err := newVisit(s).look(ctx, ended); err != nil {
		return s.stopped(ctx, err)
	}
	return s.sessionOver(ctx), nil
}
