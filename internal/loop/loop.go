// Package loop runs an agent once per iteration and judges each iteration by the
// rules. It only sequences the other packages: one iteration is one straight line of
// values from the prompt to the decision, see iteration.go.
package loop

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"supervise/internal/agentrun"
	"supervise/internal/event"
	"supervise/internal/judge"
	"supervise/internal/ledger"
	"supervise/internal/measure"
	"supervise/internal/notify"
	"supervise/internal/secrets"
	"supervise/internal/worktree"
	"supervise/runner"
	"supervise/selector"

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
	ID     string   // of the loop; "": one is made
	Hint   string   // a person's word for the first prompt; "" for none
	Person Person   // who can be asked
	Home   string   // the folder of this tree's loops, see [ledger.Home]
	Env    []string // of which agent and checks are given what Protect allows; nil is that of this process
	Self   string   // supervise, absolute, for the agent's hooks to call; "": none are installed
	// BaselineFrom is the folder of a loop in another tree with the same files, whose baseline
	// counts for this one; "": it is measured.
	BaselineFrom string
	ReadOnly     []string // further folders in which the agent can change nothing
	// WaitForTurn waits until the loop may run checks, and returns what is called when they have
	// run. It ends with the context. Nil: at once.
	WaitForTurn func(context.Context) (done func())
	Readable    []string // further folders that an agent in a sandbox sees
	// Steps is how many iterations this process does at most; then the loop ends by
	// [event.Stepped] if nothing else ends it, and nothing is given back. Nil: all.
	Steps *int

	Terminal    *runner.Terminal                   // nil: the agent gets a terminal of its own, unseen
	Mirror      func(iteration int) io.WriteCloser // receives what the agent prints; nil: nobody
	OnReport    func(agentrun.Progress)            // called when a known agent reports something new, may be nil
	WatchChecks measure.Watch                      // may be nil
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
	Choice   *selector.Selection // nil when nothing was there to choose from
	Baseline ledger.Iteration
	History  []ledger.Iteration  // with the baseline first
	Verified *event.Verification // nil when the selection was not measured again
}

// run is one loop while this process runs it.
type run struct {
	opts     Options
	ledger   *ledger.Ledger
	state    ledger.State
	journal  *event.Journal
	notifier *notify.Sender
	mask     secrets.Mask // of the secrets in the environment
	past     *judge.History
	until    int // the last iteration that this process does, by its steps

	tree     *worktree.Tree // nil before the store is open, as all below
	around   *surroundings
	checks   *checker
	agent    *agentrun.Agent
	prompts  *prompter
	approver *approver
	reports  *reports
}

// Run runs a loop to its end. The outcome is valid, as far as it got, also with
// an error. The error wraps [ErrUnmeasurable], [ledger.ErrLocked] or
// [runner.ErrNotFound] where those are the reason.
func Run(ctx context.Context, o Options) (Outcome, error) {
	r, err := open(ctx, o.withDefaults())
	if err != nil {
		return Outcome{}, err
	}
	defer r.close()
	stop, err := r.whole(ctx)
	return r.end(ctx, stop, err)
}

// whole is the loop proper: the baseline, then iteration after iteration until one of
// them says stop.
func (r *run) whole(ctx context.Context) (event.Stop, error) {
	if err := r.baseline(ctx); err != nil {
		return stopped(ctx, err)
	}
	return r.iterations(ctx, 1, 0)
}

// iterations runs the iterations from the given one on. spent is how much of the
// loop's time is gone already.
func (r *run) iterations(ctx context.Context, from int, spent time.Duration) (event.Stop, error) {
	if stop := r.opts.LimitStop(r.spent()); stop.Reason != "" {
		return stop, nil
	}
	r.approver.waited = 0
	begun := r.opts.Now().Add(-spent)
	for n := from; ; n++ {
		if stop, err := r.rest(n, n == from); stop.Reason != "" || err != nil {
			return stop, err
		}
		agentCtx, cancel := timed(ctx, r.opts.MaxTime, begun.Add(r.approver.waited))
		stop, err := r.iterate(ctx, agentCtx, n)
		over := r.opts.MaxTime > 0 && !r.opts.Now().Before(begun.Add(r.approver.waited+r.opts.MaxTime))
		cancel()
		switch {
		case err != nil || ctx.Err() != nil:
			return stopped(ctx, err)
		case stop.Reason != "":
			return stop, nil
		case over:
			return event.Stop{Reason: event.TimeLimit, Text: fmt.Sprintf("the time limit of %s is reached", r.opts.MaxTime)}, nil
		}
	}
}

// timed returns the context of an agent: it ends with the time limit of the loop,
// which began to count at the given time.
func timed(ctx context.Context, limit time.Duration, begun time.Time) (context.Context, context.CancelFunc) {
	if limit <= 0 {
		return context.WithCancel(ctx)
	}
	return context.WithDeadline(ctx, begun.Add(limit))
}

// end gives the best iteration back, or the last safe tree when something broke.
func (r *run) end(ctx context.Context, stop event.Stop, err error) (Outcome, error) {
	switch err = errors.Join(err, r.reports.catchUp()); {
	case err == nil && stop.Reason.Suspends():
		return r.setDown(stop)
	case err == nil:
		return r.finish(ctx, stop)
	}
	if r.past.SafeSnapshot != "" && !r.opts.NoApply {
		err = r.tree.RestoreAfterError(err, r.past.SafeSnapshot, r.state.LoopID) // what an agent left must not stay unjudged
	}
	r.fail(err)
	return r.outcome(stop), err
}

func (r *run) save() error {
	r.state.UpdatedAt = r.opts.Now()
	return r.ledger.Save(r.state)
}

// fail records that the loop ended by an error.
func (r *run) fail(err error) {
	reason := event.Broken
	if errors.Is(err, ErrUnmeasurable) {
		reason = event.Unmeasurable
	}
	r.state.Status, r.state.StopReason, r.state.StopText, r.state.ExitCode = ledger.Failed, string(reason), err.Error(), reason.ExitCode()
	text := err.Error()
	if err := r.save(); err != nil {
		r.opts.Log.WithError(err).Error("save the state")
	}
	r.journal.Note(event.LoopFinished, r.state.Iteration, r.ended(event.LoopEnd{Reason: reason, Text: text, ExitCode: r.state.ExitCode}))
}

func (r *run) outcome(stop event.Stop) Outcome {
	out := Outcome{LoopID: r.state.LoopID, Dir: r.ledger.Dir(), Stop: stop, History: r.past.Iterations}
	if len(r.past.Iterations) > 0 {
		out.Baseline = r.past.Iterations[0]
	}
	return out
}

// warn logs what does not keep the loop from going on.
func (r *run) warn(what string, err error) {
	if err != nil {
		r.opts.Log.WithError(err).Warn(what)
		return
	}
	r.opts.Log.Warn(what)
}

// number is that of the present iteration.
func (r *run) number() int { return r.state.Iteration }

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
