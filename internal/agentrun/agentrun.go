// Package agentrun runs the agent of a loop. It starts the program with its prompt, answers
// its hooks, watches the tree, keeps a transcript, and waits and retries if the agent's
// service fails. It returns a record of the run, without a verdict.
package agentrun

import (
	"context"
	"errors"
	"io"
	"time"

	"supervise/integrity"
	"supervise/internal/agent"
	"supervise/internal/event"
	"supervise/internal/hook"
	"supervise/internal/ledger"
	"supervise/internal/protect"
	"supervise/runner"
	"supervise/snapshot"
)

// Options configure the agent of a loop.
type Options struct {
	Setup
	LoopID  string
	Home    string   // supervise's own folder, which is none of the agent's business
	Env     []string // of which the agent is given what Protect allows
	Self    string   // supervise, absolute, for the agent's hooks to call; "": none are installed
	Promise string   // the text by which the agent claims that the task is done; "": none

	Terminal    *runner.Terminal                   // nil: the agent gets a separate, invisible terminal
	Mirror      func(iteration int) io.WriteCloser // receives what the agent prints
	OnReport    func(Progress)                     // called when a known agent reports something new, may be nil
	Grace       runner.Grace
	OnInterrupt func()                       // the user asked at the terminal to stop
	Warn        func(what string, err error) // of what does not keep the agent from running; err may be nil
	Now         func() time.Time

	Mode      hook.Mode // how strictly calls of tools are judged
	Integrity integrity.Options
	Checks    []string // files that the checks start, relative to the tree

	Shield  protect.Shield // what keeps the agent from supervise's state
	User    *runner.User   // whom the agent runs as; nil: as this process does
	Masker  *runner.Masker
	Ledger  *ledger.Ledger
	Store   *snapshot.Store
	Journal *event.Journal
}

// Progress is what a known agent has reported so far.
type Progress struct {
	Text  string      // the end of what it last said, "" for nothing
	Usage agent.Usage // in the whole loop
	// Window is the one of which most is used, nil if none was reported.
	Window *agent.Window
}

// Agent is the agent of one loop. Its runs do not overlap.
type Agent struct {
	Options
	session          agentSession
	silenceReported  bool                 // that no hook was called was reported
	programs         []Program            // all programs that may do the work
	unavailableUntil map[string]time.Time // until when one may not be asked again, by its name
	quotaWait        *quotaWait           // before the next run
}

// agentSession is the session of the agent that the next run may continue.
type agentSession struct {
	id          string
	requestedID string      // that the present run was to continue
	usage       agent.Usage // of the whole session so far, where its numbers grow
}

// New returns the agent of a loop.
func New(o Options) *Agent { return &Agent{Options: o, programs: o.Programs()} }

// ResetSession makes the next run start a new session: a continued one would not know that
// its changes were rolled back. It accepts a nil agent.
func (a *Agent) ResetSession() {
	if a != nil {
		a.session = agentSession{}
	}
}

// Task is the work of one iteration.
type Task struct {
	Iteration int
	Prompt    string
	Evidence  map[string]string // files next to the prompt, by name: see [agent.EvidenceEnv]
	Notes     string            // the agent's own of earlier iterations
	Start     snapshot.ID       // the tree that the agent starts from
	StartedAt time.Time
	Spent     agent.Usage // of the loop before

	// SessionContext is what hooks add at the start of the agent's session, Beware what
	// they add to a warning, and Unmet what is missing when it wants to stop, "" for
	// nothing.
	SessionContext string
	AddWarning     func(hook.Decision) hook.Decision
	FindUnmet      func(context.Context) string
	// FindTests returns a statement about the tests that match the agent's names.
	FindTests func(names []string) ledger.Block
	// OnWait is called with a text for people when the loop starts to wait for the agent's
	// service, and with "" when it continues.
	OnWait func(text string) error
}

// Result is the result of the runs of one iteration.
type Result struct {
	Run *ledger.AgentRun // all runs as one
	// Stop is why the agent cannot run again; the zero value if it can.
	Stop event.Stop
}

// run is one iteration of the agent.
type run struct {
	*Agent
	task      Task
	hooks     *hooks
	record    *ledger.AgentRun // of the runs so far
	waited    time.Duration    // for the service
	notes     notes
	promptDir string // folder with the prompt for another user, while the agent runs
	stop      event.Stop
}

// Run runs the agent until its process tree has ended. While the service fails, it waits and
// starts the agent again.
func (a *Agent) Run(ctx context.Context, t Task) (Result, error) {
	r := &run{Agent: a, task: t}
	err := r.runUntilDone(ctx)
	return Result{Run: r.record, Stop: r.stop}, err
}

func (r *run) runUntilDone(ctx context.Context) (err error) {
	if rested, err := r.awaitQuota(ctx); err != nil || !rested {
		return err
	}
	if r.hooks, err = r.openHooks(); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, r.hooks.close(r.record)) }()
	for {
		report, err := r.attempt(ctx)
		if err != nil {
			return err
		}
		again, err := r.awaitService(ctx, report)
		if err != nil || !again {
			return err
		}
	}
}

// masked returns a text without the secrets of the environment.
func (a *Agent) masked(text string) string { return a.Masker.String(text) }
