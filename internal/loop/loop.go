// Package loop runs an agent once per iteration and holds each one against the
// rules. It only sequences the other packages: one iteration is one straight
// line of values from the prompt to the decision.
package loop

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"supervise/internal/agentrun"
	"supervise/internal/criterion"
	"supervise/internal/environment"
	"supervise/internal/event"
	"supervise/internal/judge"
	"supervise/internal/ledger"
	"supervise/internal/measure"
	"supervise/internal/notify"
	"supervise/internal/prompt"
	"supervise/internal/protect"
	"supervise/internal/report"
	"supervise/internal/secrets"
	"supervise/internal/worktree"
	"supervise/runner"
	"supervise/selector"
	"supervise/snapshot"

	"github.com/sirupsen/logrus"
)

// ErrInterrupted is the cause with which a caller cancels the context of a loop
// when the user wants it to stop.
var ErrInterrupted = errors.New("interrupted")

// ErrUnmeasurable is returned when the baseline gives nothing that the agent
// could be held to.
var ErrUnmeasurable = errors.New("nothing to judge by")

// Options are all circumstances of a loop.
type Options struct {
	Settings
	Person Person   // who can be asked
	Home   string   // the folder of this tree's loops, see [ledger.Home]
	Env    []string // of which agent and checks are given what Protect allows; nil is that of this process
	Self   string   // supervise, absolute, for the agent's hooks to call; "": none are installed

	Terminal    *runner.Terminal                   // nil: the agent gets a terminal of its own, unseen
	Mirror      func(iteration int) io.WriteCloser // receives what the agent prints; nil: nobody
	Grace       runner.Grace
	OnInterrupt func() // the user asked at the terminal to stop
	OnEvent     func(event.Event)
	Log         logrus.FieldLogger
	Now         func() time.Time
}

// Outcome is how a loop ended.
type Outcome struct {
	LoopID   string
	Dir      string // the loop's folder
	Stop     event.Stop
	Choice   *selector.Choice // nil when nothing was there to choose from
	Baseline ledger.Iteration
	History  []ledger.Iteration  // with the baseline first
	Verified *event.Verification // nil when the selection was not measured again
}

// session is one loop while it runs.
type session struct {
	opts   Options
	id     string
	ledger *ledger.Ledger
	store  *snapshot.Store
	tree   *worktree.Tree // nil before the store is open
	meter  *measure.Meter
	masker secrets.Mask
	user   *runner.User // whom agent and checks run as; nil: as this process does
	entry  string       // folder that this user can enter, for what the checks need; "" without such a user
	state  ledger.State

	journal *event.Journal
	agent   *agentrun.Agent // nil before the tree is open

	texts    *prompt.Texts
	waited   time.Duration // for people, since the process began
	notifier *notify.Sender

	past             *judge.History    // the iterations, and what they taught
	start            snapshot.ID       // the tree that the present iteration starts from
	applied, removed []string          // paths that the selection changed and deleted
	around           environment.State // what stood around the tree when the last iteration was accepted
	sums             environment.Sums  // of the programs that the checks start
	// artefactPaths are what the checks themselves left in the tree.
	artefactPaths []string
	checks        time.Duration // spent in checks since the iteration began
	tracked       int           // how many iterations the trackers have
}

// Run runs a loop to its end. The outcome is valid, as far as it got, also with
// an error. The error wraps [ErrUnmeasurable], [ledger.ErrLocked] or
// [runner.ErrNotFound] where those are the reason.
func Run(ctx context.Context, o Options) (Outcome, error) {
	s, err := open(ctx, o.withDefaults())
	if err != nil {
		return Outcome{}, err
	}
	defer s.close()
	stop, err := s.run(ctx)
	return s.end(ctx, stop, err)
}

// end gives the best iteration back, or the last safe tree when something broke.
func (s *session) end(ctx context.Context, stop event.Stop, err error) (Outcome, error) {
	if s.tracked > 0 && s.tracked < len(s.past.Iterations) {
		err = errors.Join(err, s.trackNow())
	}
	if err != nil {
		if s.past.Safe != "" && !s.opts.NoApply {
			err = s.tree.Rescue(err, s.past.Safe, s.id) // what an agent left must not stay unjudged
		}
		s.fail(err)
		return s.outcome(stop), err
	}
	return s.finish(ctx, stop)
}

func (o Options) withDefaults() Options {
	if o.OnEvent == nil {
		o.OnEvent = func(event.Event) {}
	}
	if o.Mirror == nil {
		o.Mirror = func(int) io.WriteCloser { return discard{} }
	}
	if o.Env == nil {
		o.Env = os.Environ()
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Log == nil {
		l := logrus.New()
		l.SetLevel(logrus.PanicLevel)
		o.Log = l
	}
	return o
}

type discard struct{}

func (discard) Write(p []byte) (int, error) { return len(p), nil }

func (discard) Close() error { return nil }

func newSession(o Options, id string) *session {
	return &session{opts: o, id: id, masker: secrets.MaskOf(o.Env), past: judge.NewHistory()}
}

// use has the loop write to its folder.
func (s *session) use(l *ledger.Ledger) {
	s.ledger, s.past.Kept = l, l.SnapshotDir()
	s.notifier = notify.New(s.opts.Notify, s.masker, func(err error) { s.opts.Log.WithError(err).Warn("tell somebody") })
	s.journal = &event.Journal{
		Ledger: l, LoopID: s.id, Now: s.opts.Now, OnEvent: []func(event.Event){s.opts.OnEvent, s.notifier.Hear},
		OnError: func(err error) { s.opts.Log.WithError(err).Error("write the audit log") },
	}
}

// iteration is the number of the present one.
func (s *session) iteration() int { return s.state.Iteration }

// open makes the folder of a new loop.
func open(ctx context.Context, o Options) (*session, error) {
	o.Protect.Steering = protect.Steering(o.Env)
	name := o.Task
	if name == "" && len(o.Args) > 0 {
		name = o.Args[0]
	}
	s := newSession(o, "")
	s.id = ledger.NewID(s.masker.String(name))
	s.state = ledger.State{
		LoopID: s.id, Status: ledger.Running, Task: s.masker.String(o.Task), Agent: s.masker.Texts(o.CommandLine()), Criterion: o.Until.String(),
		Workspace: o.Root, PID: os.Getpid(), StartedAt: o.Now(), UpdatedAt: o.Now(),
		Kind: o.kind(), History: []ledger.HistoryEntry{}, Regressions: []ledger.Regression{}, Config: o.configuration(),
	}
	l, err := ledger.Create(o.Home, s.state)
	if err != nil {
		return nil, err
	}
	s.use(l)
	sum, err := s.ledger.SaveSettings(o.forJSON())
	if err == nil {
		err = s.equip(ctx, newTrail(), measure.Memory{})
	}
	if err == nil {
		err = s.event(event.LoopStarted, 0, event.Started{Dir: s.ledger.Dir(), Plan: o.Plan, Agent: s.masker.Texts(o.CommandLine()), MaxIterations: o.MaxIterations, Settings: sum})
	}
	if err == nil {
		err = s.sweep(ctx)
	}
	if err != nil {
		s.fail(err)
		s.close()
		return nil, err
	}
	return s, nil
}

// equip opens the snapshots and prepares the measuring.
func (s *session) equip(ctx context.Context, t *trail, learnt measure.Memory) error {
	if err := s.hiddenReady(); err != nil {
		return err
	}
	texts, err := prompt.Parse(s.opts.Texts, "")
	if err != nil {
		return err
	}
	s.texts = texts
	if s.store, err = worktree.Open(ctx, s.opts.Root, s.opts.Home, s.ledger.SnapshotDir(), s.opts.Snapshot); err != nil {
		return err
	}
	s.tree = worktree.New(s.store, worktree.Options{
		Limit: s.opts.MaxStore, Journal: s.journal, Iteration: s.iteration, Kept: s.kept, Dropped: s.past.Dropped, Foreign: t.foreign, Warned: t.overLimit,
	})
	if err := s.protect(ctx); err != nil {
		return err
	}
	env, scrubbed := s.opts.Protect.ForChecks(s.opts.Env)
	if len(scrubbed) > 0 {
		s.opts.Log.WithField("variables", strings.Join(scrubbed, ", ")).Warn("the checks are not given variables that steer runners and were others when the loop began")
	}
	o := measure.Options{Env: env, Scratch: s.scratchDir(), User: s.user, OnProgress: s.checked, Memory: learnt, Hold: s.ledger.Held(), BeforeStart: s.journal.Starting(event.ChildCheck, s.iteration), Reruns: s.opts.Confirm}
	if _, inside := ledger.Inside(s.opts.Home, s.opts.Root); inside {
		o.Ignore = s.opts.Home
	}
	s.meter = measure.New(s.opts.Plan, o)
	s.agent = s.newAgent()
	return nil
}

// kept are the snapshots that are kept whatever the limit of the store is: the
// baseline, the best iteration, the tree to go on from, and those of [worktree.Kept].
func (s *session) kept() map[snapshot.ID]bool {
	keep := worktree.Kept(s.past.Iterations)
	keep[s.state.BaselineSnapshot], keep[s.past.Safe], keep[s.start] = true, true, true
	if s.state.Best != nil {
		keep[s.state.Best.Snapshot] = true
	}
	return keep
}

// sweep looks after loops of this tree that were killed: a restore that was
// under way is finished, and the caller is told that the tree may hold what an
// agent left unjudged.
func (s *session) sweep(ctx context.Context) error {
	loops, err := ledger.Loops(s.opts.Home, s.opts.Root)
	if err != nil {
		return err
	}
	for _, dead := range loops {
		if !dead.Unnoticed() || dead.LoopID == s.id {
			continue
		}
		dir := ledger.Dir(s.opts.Home, dead.LoopID)
		t := newTrail()
		if _, err := ledger.ReadLog(dir, t.read); err == nil {
			if err := s.endSurvivors(ctx, t); err != nil {
				return fmt.Errorf("loop %s was killed: %w", dead.LoopID, err)
			}
		}
		store, err := snapshot.Open(ctx, s.opts.Root, ledger.SnapshotDir(dir), s.opts.Snapshot)
		if err != nil {
			return fmt.Errorf("finish what loop %s left when it was killed: %w", dead.LoopID, err)
		}
		data := event.Crash{LoopID: dead.LoopID, Iteration: dead.Iteration, Restored: store.Recovered() != nil}
		if err := errors.Join(s.event(event.CrashFound, 0, data), store.Close(), ledger.SweepScratch(dir), ledger.MarkCrashed(dir, dead, s.id)); err != nil {
			return err
		}
	}
	return nil
}

func (s *session) close() {
	s.notifier.Close()
	err := s.ledger.Close()
	if s.entry != "" {
		err = errors.Join(err, ledger.RemoveTree(s.entry))
	}
	if s.store != nil {
		err = errors.Join(s.store.Close(), err)
	}
	if err != nil {
		s.opts.Log.WithError(err).Warn("close the loop's folder")
	}
}

// run is the loop proper: the baseline, then iteration after iteration until
// one of them says stop.
func (s *session) run(ctx context.Context) (event.Stop, error) {
	if err := s.baseline(ctx); err != nil {
		return s.stopped(ctx, err)
	}
	return s.iterations(ctx, 1, 0)
}

// iterations runs the iterations from the given one on. spent is how much of the
// loop's time is gone already.
func (s *session) iterations(ctx context.Context, from int, spent time.Duration) (event.Stop, error) {
	if stop := s.opts.Exhausted(s.spent()); stop.Reason != "" {
		return stop, nil
	}
	s.waited = 0
	begun := s.opts.Now().Add(-spent)
	if _, err := s.ledger.TakePause(); err != nil { // one that was meant for another run
		return event.Stop{}, err
	}
	for n := from; n <= s.opts.MaxIterations; n++ {
		agentCtx, cancel := s.timed(ctx, begun.Add(s.waited))
		stop, err := s.iterate(ctx, agentCtx, n)
		over := s.opts.MaxTime > 0 && !s.opts.Now().Before(begun.Add(s.waited+s.opts.MaxTime))
		cancel()
		switch {
		case err != nil || ctx.Err() != nil:
			return s.stopped(ctx, err)
		case stop.Reason != "":
			return stop, nil
		case over:
			return event.Stop{Reason: event.TimeLimit, Text: fmt.Sprintf("the time limit of %s is reached", s.opts.MaxTime)}, nil
		}
		if paused, err := s.ledger.TakePause(); paused || err != nil {
			return event.Stop{Reason: event.PausedByUser, Text: "paused: supervise resume goes on"}, err
		}
	}
	return s.exhausted(), nil
}

// timed returns the context of an agent: it ends with the time limit of the loop,
// which began to count at the given time.
func (s *session) timed(ctx context.Context, begun time.Time) (context.Context, context.CancelFunc) {
	if s.opts.MaxTime <= 0 {
		return context.WithCancel(ctx)
	}
	return context.WithDeadline(ctx, begun.Add(s.opts.MaxTime))
}

// stopped turns an interruption into a stop; any other error stays one.
func (s *session) stopped(ctx context.Context, err error) (event.Stop, error) {
	if ctx.Err() != nil {
		return event.Stop{Reason: event.Interrupted, Text: "interrupted by the user"}, nil //nolint:nilerr // the error is the interruption
	}
	return event.Stop{}, err
}

// exhausted is the stop at the last iteration. Without a criterion that could
// have been met before, that is what was asked for.
func (s *session) exhausted() event.Stop {
	text := "all of " + report.Count(s.opts.MaxIterations, "iteration", "iterations") + " done"
	if s.opts.Until.Kind == criterion.Never {
		return event.Stop{Reason: event.Done, Text: text}
	}
	return event.Stop{Reason: event.IterationLimit, Text: text + ", and the criterion is not met: " + s.opts.Until.String()}
}

// checked passes the progress of the checks on.
func (s *session) checked(p measure.Progress) {
	if p.Run == nil {
		s.note(event.CheckStarted, s.state.Iteration, event.Check{Name: p.Check.Name, Command: p.Check.Line()})
		return
	}
	s.checks += p.Run.Duration
	s.note(event.CheckFinished, s.state.Iteration, event.Check{
		Name: p.Check.Name, Command: p.Check.Line(), ExitCode: p.Run.ExitCode,
		DurationMS: p.Run.Duration.Milliseconds(), Why: s.masker.String(p.Run.Why), Done: true,
	})
}

func (s *session) save() error {
	s.state.UpdatedAt = s.opts.Now()
	return s.ledger.Save(s.state)
}

// fail records that the loop ended by an error.
func (s *session) fail(err error) {
	s.state.Status, s.state.StopReason, s.state.StopText = ledger.Failed, string(event.Broken), err.Error()
	if errors.Is(err, ErrUnmeasurable) {
		s.state.StopReason = string(event.Unmeasurable)
	}
	s.state.ExitCode = event.Reason(s.state.StopReason).ExitCode()
	text := err.Error()
	if err := s.save(); err != nil {
		s.opts.Log.WithError(err).Error("save the state")
	}
	s.note(event.LoopFinished, s.state.Iteration, event.LoopEnd{Reason: event.Reason(s.state.StopReason), Text: text, ExitCode: s.state.ExitCode})
}

func (s *session) outcome(stop event.Stop) Outcome {
	out := Outcome{LoopID: s.id, Dir: s.ledger.Dir(), Stop: stop, History: s.past.Iterations}
	if len(s.past.Iterations) > 0 {
		out.Baseline = s.past.Iterations[0]
	}
	return out
}
