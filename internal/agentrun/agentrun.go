// Package agentrun runs the agent of a loop, and returns a record of the run without a
// verdict.
//
// [Agent.Run] does the work of one iteration. It calls attempt (attempt.go), which starts the
// program once, until the service of the agent has answered or the loop cannot continue
// (await.go, fallback.go, quotawait.go). During an attempt, command.go prepares the prompt and
// the command, hooks.go answers the hooks of the agent, alarms.go watches the tree for missing
// tests, asks.go notices an agent that waits for a person, and transcript.go records the
// output. [Agent.RunSession] watches a session of the user instead.
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
	LoopID string
	Home   string   // supervise's own folder, which the agent must not touch
	Env    []string // the environment; the agent gets the variables that Protect allows
	Self   string   // absolute path of supervise, which the agent's hooks call; "" installs no hooks
	// Promise is the text by which the agent claims that the task is done, "" for none.
	Promise string

	Terminal    *runner.Terminal                   // nil: the agent gets a separate, invisible terminal
	Mirror      func(iteration int) io.WriteCloser // receives what the agent prints
	OnReport    func(Progress)                     // called when a known agent reports something new, may be nil
	Grace       runner.Grace
	OnInterrupt func() // the user asked at the terminal to stop
	// Warn reports a problem that does not stop the agent; err may be nil.
	Warn func(what string, err error)
	Now  func() time.Time

	Mode      hook.Mode // how strictly calls of tools are judged
	Integrity integrity.Options
	Checks    []string // files that the checks start, relative to the tree

	Shield  protect.Shield // protects the state of supervise from the agent
	User    *runner.User   // the user that the agent runs as; nil is the user of this process
	Masker  *runner.Masker
	Ledger  *ledger.Ledger
	Store   *snapshot.Store
	Journal *event.Journal
}

// Progress is what a known agent has reported so far.
type Progress struct {
	Text  string      // the end of what it last said, "" for nothing
	Usage agent.Usage // in the loop so far
	// Window is the window with the largest used share, nil if none was reported.
	Window *agent.Window
}

// Agent is the agent of one loop. Only one run is active at a time.
type Agent struct {
	Options
	session          agentSession
	silenceReported  bool                 // the user knows that no hook was called
	programs         []Program            // all programs that may do the work
	unavailableUntil map[string]time.Time // when each unavailable program may be used again, by name
	quotaWait        *quotaWait           // the wait before the next run, nil for none
}

// agentSession is the session of the agent that the next run may continue.
type agentSession struct {
	id          string
	requestedID string      // the session that the current run should continue, "" for a new one
	usage       agent.Usage // usage of all runs of the session, if the numbers include earlier runs
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
	Notes     string            // the agent's own notes from earlier iterations
	Start     snapshot.ID       // the tree that the agent starts from
	StartedAt time.Time
	Spent     agent.Usage // the usage of earlier iterations

	// SessionContext is the text that hooks add at the start of the agent's session.
	// AddWarning adds the current warning to a decision about a tool call. FindUnmet returns
	// what is missing when the agent wants to stop, "" if nothing is.
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
	// Stop is why the agent cannot run again; it is the zero value if the agent can.
	Stop event.Stop
}

// run is one iteration of the agent.
type run struct {
	*Agent
	task      Task
	hooks     *hooks
	record    *ledger.AgentRun // the attempts so far as one record, nil before the first
	waited    time.Duration    // total wait for the service
	notes     notes
	promptDir string     // folder with the prompt for another user, while the agent runs
	stop      event.Stop // why the agent cannot run again; the zero value if it can
}

// Run runs the agent until its process tree has ended. While the service fails, it waits and
// starts the agent again.
func (a *Agent) Run(ctx context.Context, t Task) (Result, error) {
	r := &run{Agent: a, task: t}
	err := r.runUntilDone(ctx)
	return Result{Run: r.record, Stop: r.stop}, err
}

// runUntilDone makes attempts until no further one is needed or possible.
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
