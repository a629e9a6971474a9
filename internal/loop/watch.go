package loop

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"supervise/internal/agent"
	"supervise/internal/event"
	"supervise/internal/fileevents"
	"supervise/internal/hook"
	"supervise/internal/ledger"
	"supervise/internal/rpc"
	"supervise/metric"
	"supervise/runner"
	"supervise/snapshot"
)

// DefaultRest is how long an agent says and writes nothing until it counts as
// resting, where nothing else is said.
const DefaultRest = 20 * time.Second

// beforeTitle is how long the agent has to be silent before anything is written
// between what it prints: it may be in the middle of a sequence.
const beforeTitle = time.Second

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

// watching reports whether the session is the user's own.
func (o Settings) watching() bool { return o.Rest > 0 }

func (o Settings) kind() ledger.Kind {
	if o.watching() {
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
	o.Program, o.Task, o.RawTask, o.Pty = Program{}, "", nil, PtyAlways
	o.NoApply, o.StopOnDiminishing, o.MaxIterations, o.Until = true, false, 0, Until{Kind: Never}
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
	last := s.history[len(s.history)-1]
	switch {
	case interrupted(ctx):
		return event.Stop{Reason: event.Interrupted, Text: "interrupted by the user"}
	case last.Assessment.Critical():
		return event.Stop{Reason: event.CriticalLeft, Text: fmt.Sprintf("the session is over, and critical findings are left in iteration %d: %s", last.Number, strings.Join(criticals(last.Assessment.Alerts), "; "))}
	}
	return event.Stop{Reason: event.SessionOver, Text: "the session is over"}
}

// visit is a session of the user's own, while it lasts.
type visit struct {
	s       *session
	base    snapshot.ID // the tree that the next one is compared with
	since   time.Time   // when that was
	heard   atomic.Int64
	printed chan struct{} // the agent printed something
	stopped chan struct{} // it told that it stopped
	calls   atomic.Int64  // of its hooks
	over    chan struct{} // closed when the agent has ended
	ended   chan struct{} // closed when nothing is measured any more
	untold  bool          // something was found since the agent rested last
	err     error         // of the measuring, once ended is closed
}

func newVisit(s *session) *visit {
	return &visit{
		s: s, base: s.safe, since: s.opts.Now(), printed: make(chan struct{}, 1), stopped: make(chan struct{}, 1),
		over: make(chan struct{}), ended: make(chan struct{}),
	}
}

// Write takes note that the agent printed something. It never fails.
func (v *visit) Write(p []byte) (int, error) {
	v.heard.Add(int64(len(p)))
	tell(v.printed)
	return len(p), nil
}

// tell never blocks: that something happened is told once, however often it did.
func tell(to chan<- struct{}) {
	select {
	case to <- struct{}{}:
	default:
	}
}

// attend runs the agent, measures whenever it rests, and once more when it has ended.
func (s *session) attend(ctx context.Context) (err error) {
	v := newVisit(s)
	h, err := v.listen()
	if err != nil {
		return err
	}
	if h != nil {
		defer func() { err = errors.Join(err, h.server.Close()) }()
	}
	run, err := v.accompany(ctx, h)
	if err != nil {
		return err
	}
	if err := s.event(event.AgentFinished, s.state.Iteration, *run); err != nil {
		return err
	}
	if h != nil && len(h.args())+len(h.installed.Env) > 0 && v.calls.Load() == 0 && run.ExitCode == 0 {
		s.note(event.HooksSilent, s.state.Iteration, event.Silence{Client: string(s.opts.Hooks.Client), Why: hook.Silent(s.opts.Hooks.Client)})
	}
	return v.look(ctx)
}

// accompany runs the agent on the user's terminal, which is its own as long as it runs.
func (v *visit) accompany(ctx context.Context, h *hookRun) (*ledger.AgentRun, error) {
	s := v.s
	dir, err := s.ledger.Folder(1)
	if err != nil {
		return nil, err
	}
	cmd := runner.Command{
		Args: slices.Insert(slices.Clone(s.opts.Args), 1, h.args()...), Dir: s.opts.agentDir(), Terminal: s.terminal(), Grace: s.opts.Grace, OwnKeys: true,
		Env: append(append(s.opts.programEnv(), h.env()...), "SUPERVISE_LOOP_ID="+s.id), Writable: s.opts.Protect.WritableIn(ctx, s.opts.Root), Hold: s.ledger.Held(),
	}
	rec, err := s.transcribe(&cmd, dir, 1)
	if err != nil {
		return nil, err
	}
	cmd.Stdout = io.MultiWriter(cmd.Stdout, v)
	var noted error
	started := false
	cmd.BeforeStart = s.starting(event.ChildAgent)
	cmd.OnStart = func(shim, leader runner.Process) {
		noted, started = s.event(event.AgentSpawned, 1, event.Spawned{Shim: shim, Leader: leader}), true
		go v.follow(ctx)
	}
	res, err := runner.Run(ctx, cmd)
	close(v.over)
	if started {
		<-v.ended
	}
	if err := rec.close(); err != nil {
		s.opts.Log.WithError(err).Warn("keep the transcript")
	}
	if err != nil && (ctx.Err() == nil || res.Cause != runner.NotStarted) {
		return nil, fmt.Errorf("run the agent: %w", err)
	}
	run := s.ran(res, agent.Report{}, context.Cause(ctx))
	run.LastWords = lastLine(rec.words.String())
	return run, errors.Join(noted, v.err)
}

// listen opens the socket by which the agent's hooks tell that it stopped; nil where
// they are off, or where it is no agent that has any. What keeps them away is told.
func (v *visit) listen() (*hookRun, error) {
	s := v.s
	if s.opts.Hooks.Off || s.opts.Hooks.Client == "" {
		return nil, nil //nolint:nilnil // no hooks are wanted
	}
	h := &hookRun{session: s}
	var err error
	if h.server, err = rpc.Listen(s.ledger.Dir(), v.told); err != nil {
		return nil, s.event(event.HooksBroken, 0, event.Silence{Client: string(s.opts.Hooks.Client), Why: err.Error()})
	}
	if err := h.install(); err != nil {
		return h, s.event(event.HooksBroken, 0, event.Silence{Client: string(s.opts.Hooks.Client), Why: err.Error()})
	}
	return h, nil
}

// told answers a hook. All calls pass: the session is the user's.
func (v *visit) told(q rpc.Request) (rpc.Reply, func()) {
	client, err := hook.ParseClient(q.Client)
	var call hook.Call
	if err == nil {
		call, err = hook.Read(client, q.Event, q.Input)
	}
	if err != nil {
		return rpc.Reply{Error: err.Error()}, nil
	}
	v.calls.Add(1)
	if call.Event == hook.Stop {
		tell(v.stopped)
	}
	return rpc.Reply{Output: hook.Answer(call, hook.Decision{Verdict: hook.Allow})}, nil
}

// follow measures whenever the agent rests, until it has ended: when it tells that it
// stopped, or when it has printed nothing, and nothing was written, for a while.
func (v *visit) follow(ctx context.Context) {
	defer close(v.ended)
	var events <-chan fileevents.Event
	if tree, err := fileevents.Start(v.s.opts.Root, fileevents.Options{Skip: v.skipped}); err != nil {
		v.s.opts.Log.WithError(err).Warn("watch the tree") // what it prints still tells
	} else {
		events = tree.Events()
		defer func() { _ = tree.Close() }() // a hint, which is needed no more
	}
	quiet := time.NewTimer(v.s.opts.Rest)
	defer quiet.Stop()
	for moved := true; v.err == nil; {
		select {
		case <-v.over:
			return
		case <-ctx.Done():
			return
		case _, open := <-events:
			if !open {
				events = nil
			}
			moved = true
		case <-v.printed:
			moved = true
		case <-v.stopped:
			v.err = v.look(ctx)
		case <-quiet.C:
			switch {
			case v.untold:
				v.rests()
			case moved:
				moved = false
				v.err = v.look(ctx)
			default:
				continue
			}
		}
		quiet.Reset(v.silence())
	}
}

// silence is what has to pass until something follows from it.
func (v *visit) silence() time.Duration {
	if v.untold {
		return min(beforeTitle, v.s.opts.Rest)
	}
	return v.s.opts.Rest
}

// rests tells that the agent is silent. It is no event of the log.
func (v *visit) rests() {
	v.untold = false
	v.s.telling.Lock()
	defer v.s.telling.Unlock()
	v.s.opts.OnEvent(event.Event{Type: event.AgentRests, Time: v.s.opts.Now(), LoopID: v.s.id, Iteration: v.s.state.Iteration})
}

// skipped leaves out of the watch what is no work of the agent.
func (v *visit) skipped(dir string) bool {
	name := dir[strings.LastIndexByte(dir, '/')+1:]
	rel, inside := ledger.Inside(v.s.opts.Home, v.s.opts.Root)
	return name == ".git" || name == "node_modules" || inside && dir == filepath.ToSlash(rel)
}

// look measures and judges the tree where it differs from what was looked at last.
// Where the agent was at work meanwhile nothing is said, and the next rest is waited
// for; what changed although it was silent was made by the checks.
func (v *visit) look(ctx context.Context) error {
	s := v.s
	w, err := v.begin(ctx)
	if w == nil || err != nil {
		return err
	}
	if interrupted(ctx) {
		return s.abandon(w)
	}
	before := s.learnt()
	heard := v.heard.Load()
	if err := s.judge(ctx, w); err != nil {
		if interrupted(ctx) {
			return s.abandon(w)
		}
		return err
	}
	tree, err := v.tree(ctx)
	if err != nil {
		return err
	}
	v.base, v.since = w.it.Snapshot, w.it.EndedAt
	switch {
	case tree == w.it.Tree:
	case heard != v.heard.Load():
		v.base, v.since = w.it.Start, w.it.StartedAt
		delete(s.measured, w.it.Tree)
		s.forget(before)
		return s.event(event.MeasurementStale, w.it.Number, event.Stale{Snapshot: "s" + string(w.it.Snapshot)})
	default:
		after, err := s.take(ctx, w.it.Number, event.AfterChecks)
		if err != nil {
			return err
		}
		v.base = after.ID
	}
	_, err = s.decide(ctx, w)
	v.untold = err == nil
	return err
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
	n, now := len(s.history), s.opts.Now()
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

// learnt is what an iteration teaches beside its verdict, which one that does not
// count must not.
type learnt struct {
	errors []string
	unread int
	flaky  map[metric.ID]bool
}

func (s *session) learnt() learnt {
	return learnt{slices.Clone(s.errors), s.unread, maps.Clone(s.flaky)}
}

func (s *session) forget(l learnt) { s.errors, s.unread, s.flaky = l.errors, l.unread, l.flaky }

// endVisit measures what a session left whose supervisor was killed. It is over then.
func (s *session) endVisit(ctx context.Context) (event.Stop, error) {
	if len(s.history) == 0 {
		return event.Stop{}, fmt.Errorf("%w: the session was killed before its baseline was measured", ErrNotBegun)
	}
	if err := newVisit(s).look(ctx); err != nil {
		return s.stopped(ctx, err)
	}
	return s.sessionOver(ctx), nil
}
