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
	"time"

	"supervise/detector"
	"supervise/internal/ledger"
	"supervise/internal/measure"
	"supervise/internal/prompt"
	"supervise/internal/recovery"
	"supervise/internal/report"
	"supervise/metric"
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
	Root string // the working tree, absolute
	Dir  string // where the agent runs; "" is Root
	Home string // the folder of this tree's loops, see [ledger.Home]
	Task string // what the agent is told; "" when it knows
	Args []string
	Env  []string // of the agent; nil is that of this process
	Plan measure.Plan

	MaxIterations    int           // at least 1
	MaxTime          time.Duration // 0: none
	IterationTimeout time.Duration // 0: none
	IdleTimeout      time.Duration // 0: none
	Until            Until
	Level            *prompt.Level // fixed reinforcement level; nil follows the iteration
	AllowUntested    bool          // run although no test could be measured
	NoApply          bool          // leave the tree as the last iteration left it
	NoRepeat         bool          // measure the baseline once, however short it is

	Recovery recovery.Options
	Rules    detector.Options
	Weights  selector.Weights
	Select   selector.Options
	Snapshot snapshot.Options

	Terminal    *runner.Terminal                   // nil: the agent gets a terminal of its own, unseen
	Mirror      func(iteration int) io.WriteCloser // receives what the agent prints; nil: nobody
	Grace       runner.Grace
	OnInterrupt func() // the user asked at the terminal to stop
	OnEvent     func(Event)
	Log         logrus.FieldLogger
	Now         func() time.Time
}

// Outcome is how a loop ended.
type Outcome struct {
	LoopID   string
	Dir      string // the loop's folder
	Stop     Stop
	Choice   *selector.Choice // nil when nothing was there to choose from
	Baseline ledger.Iteration
	History  []ledger.Iteration // with the baseline first
	Verified *Verification      // nil when the selection was not measured again
}

// session is one loop while it runs.
type session struct {
	opts   Options
	id     string
	ledger *ledger.Ledger
	store  *snapshot.Store
	meter  *measure.Meter
	state  ledger.State

	history  []ledger.Iteration // all iterations, the baseline first
	accepted []detector.Observation
	errors   []string // of the latest iterations without a break, for stuck loops
	previous detector.Observation
	best     *detector.Observation
	measured map[string]measure.Result // by tree
	recovery recovery.State
	rejected *rejection // of the last iteration
	unread   int        // iterations in a row without readable tests
	flaky    map[metric.ID]bool
	// artefactPaths are what the checks themselves left in the tree.
	artefactPaths []string
	checks        time.Duration // spent in checks since the iteration began
}

type rejection struct {
	iteration int
	step      recovery.Step
	alerts    []detector.Alert
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
	if err != nil {
		s.fail(err)
		return s.outcome(stop), err
	}
	return s.finish(ctx, stop)
}

func (o Options) withDefaults() Options {
	if o.OnEvent == nil {
		o.OnEvent = func(Event) {}
	}
	if o.Mirror == nil {
		o.Mirror = func(int) io.WriteCloser { return discard{} }
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

func open(ctx context.Context, o Options) (*session, error) {
	name := o.Task
	if name == "" && len(o.Args) > 0 {
		name = o.Args[0]
	}
	s := &session{opts: o, id: ledger.NewID(name), measured: map[string]measure.Result{}, flaky: map[metric.ID]bool{}}
	s.state = ledger.State{
		LoopID: s.id, Status: ledger.Running, Task: o.Task, Agent: o.Args, Criterion: o.Until.String(),
		Workspace: o.Root, PID: os.Getpid(), StartedAt: o.Now(), UpdatedAt: o.Now(),
		History: []ledger.HistoryEntry{}, Regressions: []ledger.Regression{}, Config: o.configuration(),
	}
	var err error
	if s.ledger, err = ledger.Create(o.Home, s.state); err != nil {
		return nil, err
	}
	if err := s.openStore(ctx); err != nil {
		s.fail(err)
		return nil, errors.Join(err, s.ledger.Close())
	}
	measuring := measure.Options{Scratch: s.ledger.ScratchDir(), OnProgress: s.checked}
	if _, inside := ledger.Inside(o.Home, o.Root); inside {
		measuring.Ignore = o.Home
	}
	s.meter = measure.New(o.Plan, measuring)
	return s, nil
}

// openStore opens the snapshots of the tree, without the state if that lies in
// the tree.
func (s *session) openStore(ctx context.Context) (err error) {
	if s.store, err = snapshot.Open(ctx, s.opts.Root, s.ledger.SnapshotDir(), s.opts.Snapshot); err != nil {
		return err
	}
	if rel, inside := ledger.Inside(s.opts.Home, s.opts.Root); inside {
		if err := s.store.Exclude([]string{rel}); err != nil {
			return errors.Join(err, s.store.Close())
		}
	}
	return nil
}

func (o Options) configuration() ledger.Configuration {
	c := ledger.Configuration{
		MaxIterations: o.MaxIterations, TimeoutMinutes: o.MaxTime.Minutes(), MaxRetries: o.Recovery.MaxRetries,
		OnStall: "continue", PlanHash: o.Plan.Hash(),
	}
	if o.Recovery.StopOnStall {
		c.OnStall = "stop"
	}
	for _, check := range o.Plan.Checks {
		c.Checks = append(c.Checks, string(check.Kind)+": "+check.Line())
	}
	return c
}

func (s *session) close() {
	if err := errors.Join(s.store.Close(), s.ledger.Close()); err != nil {
		s.opts.Log.WithError(err).Warn("close the loop's folder")
	}
}

// run is the loop proper: the baseline, then iteration after iteration until
// one of them says stop.
func (s *session) run(ctx context.Context) (Stop, error) {
	s.event(LoopStarted, 0, Started{Dir: s.ledger.Dir(), Plan: s.opts.Plan, Agent: s.opts.Args, MaxIterations: s.opts.MaxIterations})
	if err := s.baseline(ctx); err != nil {
		return s.stopped(ctx, err)
	}
	deadline := s.opts.Now().Add(s.opts.MaxTime)
	for n := 1; n <= s.opts.MaxIterations; n++ {
		agentCtx, cancel := context.WithCancel(ctx)
		if s.opts.MaxTime > 0 {
			agentCtx, cancel = context.WithDeadline(ctx, deadline)
		}
		stop, err := s.iterate(ctx, agentCtx, n)
		timeUp := agentCtx.Err() != nil && ctx.Err() == nil
		cancel()
		if err != nil {
			return s.stopped(ctx, err)
		}
		if stop.Reason == "" && timeUp {
			stop = Stop{TimeLimit, fmt.Sprintf("the time limit of %s is reached", s.opts.MaxTime)}
		}
		if stop.Reason != "" {
			return stop, nil
		}
	}
	return s.exhausted(), nil
}

// stopped turns an interruption into a stop; any other error stays one.
func (s *session) stopped(ctx context.Context, err error) (Stop, error) {
	if ctx.Err() != nil {
		return Stop{Interrupted, "interrupted"}, nil //nolint:nilerr // the error is the interruption
	}
	return Stop{}, err
}

// exhausted is the stop at the last iteration. Without a criterion that could
// have been met before, that is what was asked for.
func (s *session) exhausted() Stop {
	text := "all of " + report.Count(s.opts.MaxIterations, "iteration", "iterations") + " done"
	if s.opts.Until.Kind == Never {
		return Stop{Done, text}
	}
	return Stop{IterationLimit, text + ", and the criterion is not met: " + s.opts.Until.String()}
}

// checked passes the progress of the checks on.
func (s *session) checked(p measure.Progress) {
	if p.Run == nil {
		s.event(CheckStarted, s.state.Iteration, Check{Name: p.Check.Name, Command: p.Check.Line()})
		return
	}
	s.checks += p.Run.Duration
	s.event(CheckFinished, s.state.Iteration, Check{
		Name: p.Check.Name, Command: p.Check.Line(), ExitCode: p.Run.ExitCode,
		DurationMS: p.Run.Duration.Milliseconds(), Why: p.Run.Why, Done: true,
	})
}

func (s *session) save() error {
	s.state.UpdatedAt = s.opts.Now()
	return s.ledger.Save(s.state)
}

// fail records that the loop ended by an error.
func (s *session) fail(err error) {
	s.state.Status, s.state.StopReason, s.state.StopText = ledger.Failed, string(Broken), err.Error()
	if errors.Is(err, ErrUnmeasurable) {
		s.state.StopReason = string(Unmeasurable)
	}
	s.state.ExitCode = Reason(s.state.StopReason).ExitCode()
	s.event(LoopFinished, s.state.Iteration, Finished{Reason: Reason(s.state.StopReason), Text: err.Error(), ExitCode: s.state.ExitCode})
	if err := s.save(); err != nil {
		s.opts.Log.WithError(err).Error("save the state")
	}
}

func (s *session) outcome(stop Stop) Outcome {
	out := Outcome{LoopID: s.id, Dir: s.ledger.Dir(), Stop: stop, History: s.history}
	if len(s.history) > 0 {
		out.Baseline = s.history[0]
	}
	return out
}
