// Package loop runs an agent in a loop: it measures the baseline, then repeats an iteration of
// prompt, agent, measurement, verdict and decision, and finally restores the best iteration.
//
// [Run] starts a loop, [Resume] continues one after its process ended, and [Watch] measures an
// interactive session. All of them prepare a [run] (open.go) and end with [run.finishOrFail]. In
// between, [run.iterate] takes the steps of one iteration (iteration.go). Each step is the work of
// another package; this one only puts them in order. The log and the ledger are written before
// each change of the tree, so that [Resume] can continue at any point.
package loop

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"supervise/detector"
	"supervise/internal/agentrun"
	"supervise/internal/event"
	"supervise/internal/judge"
	"supervise/internal/ledger"
	"supervise/internal/measure"
	"supervise/internal/notify"
	"supervise/internal/secrets"
	"supervise/internal/treecopy"
	"supervise/internal/worktree"
	"supervise/runner"
	"supervise/selector"
	"supervise/snapshot"

	"github.com/sirupsen/logrus"
)

// ErrInterrupted is the cancellation cause of the loop's context if the user interrupts it.
var ErrInterrupted = errors.New("interrupted")

// ErrUnmeasurable is wrapped by the error for a baseline that has no results that iterations can be
// compared with.
var ErrUnmeasurable = errors.New("nothing to judge by")

// Options configure a loop in this process.
type Options struct {
	Settings
	ID     string // ID of the loop; "" generates one
	Hint   string // text that a person adds to the first prompt; "" means none
	Person Person // who can be asked
	// Accepted are findings that a person accepted since the loop started.
	Accepted []detector.Acknowledgement
	Home     string   // the folder of this tree's loops, see [ledger.Home]
	Env      []string // environment of agent and checks, as far as Protect allows; nil means that of this process
	Self     string   // absolute path of supervise, for the agent's hooks; "" installs no hooks
	// BaselineFrom is the folder of a loop in another tree with the same files. Its baseline is
	// used instead of measuring one. "" means none.
	BaselineFrom string
	ReadOnly     []string // additional folders that the agent must not change
	// WaitForTurn blocks until the loop may run checks or the context ends. The loop calls done
	// after the checks. Nil means no waiting.
	WaitForTurn func(context.Context) (done func())
	Readable    []string // additional folders that an agent in a sandbox can read
	// Steps is the maximum number of iterations of this process; nil means no limit. After them
	// the loop stops with [event.Stepped], and its tree stays as it is.
	Steps *int

	Terminal    *runner.Terminal                   // nil gives the agent a separate, invisible terminal
	Mirror      func(iteration int) io.WriteCloser // receives the output of the agent; may be nil
	OnReport    func(agentrun.Progress)            // called when a known agent reports something new; may be nil
	WatchChecks measure.Watch                      // may be nil
	Grace       runner.Grace
	OnInterrupt func() // called when the user interrupts the agent at the terminal
	OnEvent     func(event.Event)
	Log         logrus.FieldLogger
	Now         func() time.Time
}

// Outcome is how a loop ended.
type Outcome struct {
	LoopID   string
	Dir      string // the loop's folder
	Stop     event.Stop
	Choice   *selector.Selection // nil if there was no iteration to select
	Baseline ledger.Iteration
	History  []ledger.Iteration   // the baseline first
	Verified *ledger.Verification // nil if the selection was not measured again
}

// run is a loop that this process runs.
type run struct {
	opts          Options
	ledger        *ledger.Ledger
	state         ledger.State
	journal       *event.Journal
	notifier      *notify.Sender
	lastCriterion criterionRun // see commandMet
	lastClean     cleanRun     // see measureClean
	kept          treecopy.Kept
	mask          secrets.Mask // masks the secrets in the environment
	past          *judge.History
	until         int         // the last iteration of this process, if Steps is set
	original      snapshot.ID // the tree with its sealed tests; "" without any

	tree        *worktree.Tree // this field and the following ones are set by prepare
	environment *environmentWatch
	checks      *checker
	agent       *agentrun.Agent
	prompts     *prompter
	approver    *approver
	reports     *reports
}

// Run runs a new loop to its end. If it returns an error, the outcome is valid as far as the loop
// got. The error may wrap [ErrUnmeasurable], [ledger.ErrLocked] or [runner.ErrNotFound].
func Run(ctx context.Context, o Options) (Outcome, error) {
	r, err := open(ctx, o.withDefaults())
	if err != nil {
		return Outcome{}, err
	}
	defer r.close()
	stop, err := r.runLoop(ctx)
	return r.finishOrFail(ctx, stop, err)
}

// runLoop measures the baseline, then runs iterations until one of them returns a stop.
func (r *run) runLoop(ctx context.Context) (event.Stop, error) {
	if err := r.takeBaseline(ctx); err != nil {
		return stopFor(ctx, err)
	}
	return r.runIterations(ctx, 1, 0)
}

// runIterations runs the iterations starting with number from, until one of them returns a stop or
// a limit is reached. spent is how much time the loop used in earlier processes. The time in which
// the loop waited for people does not count.
func (r *run) runIterations(ctx context.Context, from int, spent time.Duration) (event.Stop, error) {
	if stop := r.opts.LimitStop(r.agentUsage()); stop.Reason != "" {
		return stop, nil
	}
	r.approver.waitedForPeople = 0
	start := r.opts.Now().Add(-spent)
	for n := from; ; n++ {
		if stop, err := r.stopBefore(n, n == from); stop.Reason != "" || err != nil {
			return stop, err
		}
		agentCtx, cancel := agentContext(ctx, r.opts.MaxTime, start.Add(r.approver.waitedForPeople))
		stop, err := r.iterate(ctx, agentCtx, n)
		cancel()
		deadline := start.Add(r.approver.waitedForPeople + r.opts.MaxTime)
		switch {
		case err != nil || ctx.Err() != nil:
			return stopFor(ctx, err)
		case stop.Reason != "":
			return stop, nil
		case r.opts.MaxTime > 0 && !r.opts.Now().Before(deadline):
			return event.Stop{Reason: event.TimeLimit, Text: fmt.Sprintf("the time limit of %s is reached", r.opts.MaxTime)}, nil
		}
	}
}

// agentContext returns the context of an agent. It ends with the time limit of the loop, which
// counts from start.
func agentContext(ctx context.Context, limit time.Duration, start time.Time) (context.Context, context.CancelFunc) {
	if limit <= 0 {
		return context.WithCancel(ctx)
	}
	return context.WithDeadline(ctx, start.Add(limit))
}

// finishOrFail ends the loop, or suspends it if the stop says so. After an error it restores the
// last safe tree instead of the best iteration.
func (r *run) finishOrFail(ctx context.Context, stop event.Stop, err error) (Outcome, error) {
	err = errors.Join(err, r.reports.completeTrackers())
	switch {
	case err == nil && stop.Reason.Suspends():
		return r.suspend(stop)
	case err == nil:
		return r.finish(ctx, stop)
	}
	if r.past.SafeSnapshot != "" && !r.opts.NoApply {
		err = r.tree.RestoreAfterError(err, r.past.SafeSnapshot, r.state.LoopID) // unjudged changes must not stay in the tree
	}
	err = errors.Join(err, r.restoreSealed())
	r.fail(err)
	return r.outcome(stop), err
}

// save writes the state of the loop.
func (r *run) save() error {
	r.state.UpdatedAt = r.opts.Now()
	return r.ledger.Save(r.state)
}

// fail records in the state and in the log that the loop ended by an error.
func (r *run) fail(err error) {
	reason := event.Broken
	if errors.Is(err, ErrUnmeasurable) {
		reason = event.Unmeasurable
	}
	r.setStop(event.Stop{Reason: reason, Text: err.Error()})
	if saveErr := r.save(); saveErr != nil {
		r.opts.Log.WithError(saveErr).Error("save the state")
	}
	r.reportEnd(event.LoopEnd{})
}

// setStop records in the state why the loop ends.
func (r *run) setStop(stop event.Stop) {
	r.state.Status, r.state.StopReason, r.state.StopText = stop.Reason.Status(), string(stop.Reason), stop.Text
	r.state.ExitCode = stop.Reason.ExitCode()
}

// outcome returns the outcome for a stop, without a selection.
func (r *run) outcome(stop event.Stop) Outcome {
	out := Outcome{LoopID: r.state.LoopID, Dir: r.ledger.Dir(), Stop: stop, History: r.past.Iterations}
	if len(r.past.Iterations) > 0 {
		out.Baseline = r.past.Iterations[0]
	}
	return out
}

// warn logs a problem that does not stop the loop. err may be nil.
func (r *run) warn(what string, err error) {
	if err != nil {
		r.opts.Log.WithError(err).Warn(what)
		return
	}
	r.opts.Log.Warn(what)
}

// iterationNumber returns the number of the current iteration.
func (r *run) iterationNumber() int { return r.state.Iteration }

// withDefaults returns the options with defaults for missing functions, environment and log.
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

// discard is an [io.WriteCloser] that ignores everything.
type discard struct{}

func (discard) Write(p []byte) (int, error) { return len(p), nil }

func (discard) Close() error { return nil }
