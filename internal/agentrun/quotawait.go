package agentrun

import (
	"context"
	"time"

	"supervise/internal/agent"
	"supervise/internal/event"
	"supervise/internal/ledger"
	"supervise/runner"
)

// rest is what the loop waits for before it runs the agent again: the run before was done,
// and told that the share is used which the loop may use.
type rest struct {
	why   *ledger.AgentRun
	until time.Time
}

// restFor has the next run wait until a window is given anew. Where there is no time for
// that, and no other program, it notes the stop.
func (r *run) restFor(ctx context.Context, full errWindow, report agent.Report) {
	why := &ledger.AgentRun{Program: r.record.Program, Cause: runner.NotStarted.String(), Outcome: string(agent.RateLimit), Message: r.masked(full.Error())}
	delay, _ := r.delay(why, report)
	r.rest = &rest{why: why, until: r.Now().Add(delay)}
	if stop := r.tooLong(ctx, why, delay); stop != (event.Stop{}) {
		if _, found := r.another(r.rest.until); !found {
			r.stop = stop
		}
	}
}

// takeRest waits before the first run of an iteration where that is due, and reports
// whether the agent may be run now.
func (r *run) takeRest(ctx context.Context) (rested bool, err error) {
	due := r.rest
	if r.rest = nil; due == nil || !due.until.After(r.Now()) {
		return true, nil
	}
	rested, err = r.outlast(ctx, due.why, due.until.Sub(r.Now()), true)
	if !rested {
		r.record = due.why // the agent was not run for it
	}
	return rested, err
}
