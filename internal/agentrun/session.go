package agentrun

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync/atomic"
	"time"

	"supervise/internal/agent"
	"supervise/internal/event"
	"supervise/internal/fileevents"
	"supervise/internal/hook"
	"supervise/internal/ledger"
	"supervise/internal/rpc"
	"supervise/runner"
)

// titleDelay is how long the agent must print nothing before supervise writes to its terminal.
// Earlier, the agent may be in the middle of an escape sequence.
const titleDelay = time.Second

// SessionOptions configure how a user's own session is watched.
type SessionOptions struct {
	IdleAfter time.Duration         // how long the agent must print and write nothing to count as idle
	Skip      func(dir string) bool // reports folders whose changes are not work of the agent
	// OnIdle is called when the agent becomes idle. printed returns how many bytes it has
	// printed so far. news reports whether there is something to show to the user.
	OnIdle func(ctx context.Context, printed func() int64) (news bool, err error)
	// OnQuiet is called after OnIdle had news, when supervise can safely write between the
	// outputs of the agent.
	OnQuiet   func()
	Iteration func() int // the number of the current iteration
}

// sessionRun is a running session of the user.
type sessionRun struct {
	*Agent
	SessionOptions
	server       *rpc.Server // nil where no hooks are answered
	installed    hook.Installation
	calls        atomic.Int64  // of hooks
	printedBytes atomic.Int64  // bytes that the agent printed
	activity     chan struct{} // the agent printed something
	stopped      chan struct{} // a hook reported that the agent stopped
	agentEnded   chan struct{} // closed when the agent has ended
	followDone   chan struct{} // closed when follow has returned
	news         bool          // OnIdle had news that OnQuiet has not shown yet
	err          error         // the error of OnIdle; valid when followDone is closed
}

// RunSession runs the agent on the user's terminal until it ends, and calls o.OnIdle whenever
// it is idle.
func (a *Agent) RunSession(ctx context.Context, o SessionOptions) (err error) {
	s := &sessionRun{
		Agent: a, SessionOptions: o, activity: make(chan struct{}, 1), stopped: make(chan struct{}, 1),
		agentEnded: make(chan struct{}), followDone: make(chan struct{}),
	}
	if err := s.listen(); err != nil {
		return err
	}
	if s.server != nil {
		defer func() { err = errors.Join(err, s.server.Close()) }()
	}
	run, err := s.runAgent(ctx)
	if err == nil {
		err = a.Journal.Write(event.AgentFinished, o.Iteration(), *run)
	}
	if err == nil && isInstalled(s.installed) && s.calls.Load() == 0 && run.ExitCode == 0 {
		err = a.reportHooksSilent(o.Iteration())
	}
	return err
}

// listen opens the socket on which the agent's hooks report that it stopped, unless hooks are
// disabled or the program has none. Problems with hooks are recorded in the journal, and the
// session continues without them.
func (s *sessionRun) listen() (err error) {
	if s.Hooks.Disabled || s.Hooks.Client == "" {
		return nil
	}
	if s.server, err = rpc.Listen(s.Ledger.Dir(), newSocketDir, s.answer); err != nil {
		return s.reportHooksBroken(0, err)
	}
	if s.installed, err = s.installHooks(s.server); err != nil {
		return s.reportHooksBroken(0, err)
	}
	return nil
}

// answer answers a hook. It allows all calls, because the session belongs to the user.
func (s *sessionRun) answer(q rpc.Request) (rpc.Reply, func()) {
	call, err := hook.ReadCall(q.Client, q.Event, q.Input)
	if err != nil {
		return rpc.Reply{Error: err.Error()}, nil
	}
	s.calls.Add(1)
	if call.Event == hook.Stop {
		notify(s.stopped)
	}
	return rpc.Reply{Output: hook.FormatAnswer(call, hook.Decision{Verdict: hook.Allow})}, nil
}

// runAgent runs the agent until it has ended, and returns its record.
func (s *sessionRun) runAgent(ctx context.Context) (*ledger.AgentRun, error) {
	dir, err := s.Ledger.MakeIterationDir(1)
	if err != nil {
		return nil, err
	}
	env := s.environ(s.Env)
	if s.server != nil {
		env = append(append(env, hook.SocketEnv+"="+s.server.Path()), s.installed.Env...)
	}

	cmd := runner.Command{
		Args: slices.Insert(slices.Clone(s.Args), 1, s.installed.Args...), Dir: s.WorkDir(), Terminal: s.terminal(), Grace: s.Grace, ForwardCtrlC: true,
		Env: append(env, "SUPERVISE_LOOP_ID="+s.LoopID), ReadOnly: s.Shield.ReadOnly, Writable: s.Shield.Writable, KeepOpen: s.Ledger.TreeLocks(),
	}

	script, err := s.startTranscript(&cmd, dir, 1)
	if err != nil {
		return nil, err
	}
	cmd.Stdout = io.MultiWriter(cmd.Stdout, s)

	var noted error
	started := false
	cmd.BeforeStart = s.Journal.Starting(event.ChildAgent, s.Iteration)
	cmd.OnStart = func(shim, leader runner.Process) {
		noted, started = s.Journal.Write(event.AgentSpawned, 1, event.Spawned{Shim: shim, Leader: leader}), true
		go s.follow(ctx)
	}

	res, err := runner.Run(ctx, cmd)
	close(s.agentEnded)
	if started {
		<-s.followDone
	}
	if err := script.close(); err != nil {
		s.Warn("keep the transcript", err)
	}
	if err != nil && (ctx.Err() == nil || res.Cause != runner.NotStarted) {
		return nil, fmt.Errorf("run the agent: %w", err)
	}

	run := s.newRecord(res, agent.Report{}, context.Cause(ctx))
	run.LastOutput = lastLine(script.tail.String())
	return run, errors.Join(noted, s.err)
}

// Write records that the agent printed something. It never fails.
func (s *sessionRun) Write(p []byte) (int, error) {
	s.printedBytes.Add(int64(len(p)))
	notify(s.activity)
	return len(p), nil
}

// notify sends without blocking. If an earlier notification was not received yet, this one is
// dropped.
func notify(to chan<- struct{}) {
	select {
	case to <- struct{}{}:
	default:
	}
}

// follow reports when the agent is idle, until it has ended. It is idle when a hook reports
// that it stopped, or when it has printed and written nothing for a while.
func (s *sessionRun) follow(ctx context.Context) {
	defer close(s.followDone)
	var events <-chan fileevents.Event
	if tree, err := fileevents.Start(s.Root, fileevents.Options{Skip: s.Skip}); err != nil {
		s.Warn("watch the tree", err) // its output still shows activity
	} else {
		events = tree.Events()
		defer func() { _ = tree.Close() }() // no longer needed
	}
	quiet := time.NewTimer(s.IdleAfter)
	defer quiet.Stop()
	for moved := true; s.err == nil; {
		select {
		case <-s.agentEnded:
			return
		case <-ctx.Done():
			return
		case _, open := <-events:
			if !open {
				events = nil
			}
			moved = true
		case <-s.activity:
			moved = true
		case <-s.stopped:
			s.reportIdle(ctx)
		case <-quiet.C:
			switch {
			case s.news:
				s.news = false
				s.OnQuiet()
			case moved:
				moved = false
				s.reportIdle(ctx)
			default:
				continue
			}
		}
		quiet.Reset(s.idleWait())
	}
}

// reportIdle calls OnIdle, and records its news and error.
func (s *sessionRun) reportIdle(ctx context.Context) {
	var news bool
	news, s.err = s.OnIdle(ctx, s.printedBytes.Load)
	s.news = s.news || news
}

// idleWait returns how long the agent must be inactive before follow acts the next time.
func (s *sessionRun) idleWait() time.Duration {
	if s.news {
		return min(titleDelay, s.IdleAfter)
	}
	return s.IdleAfter
}
