package agentrun

import (
	"context"
	"time"

	"supervise/internal/agent"
	"supervise/internal/event"
	"supervise/internal/ledger"
	"supervise/runner"
)

// quotaWait is a wait before the next run of the agent, because the previous run has reached
// the limit of a window.
type quotaWait struct {
	why   *ledger.AgentRun // the record that explains the wait
	until time.Time
}

// scheduleQuotaWait makes the next run wait until a window is reset. If that takes too long and
// there is no other program, it sets r.stop.
func (r *run) scheduleQuotaWait(ctx context.Context, full windowError, report agent.Report) {
	why := &ledger.AgentRun{Program: r.record.Program, Cause: runner.NotStarted.String(), Outcome: string(agent.RateLimit), Message: r.masked(full.Error())}
	delay, _ := r.waitTime(why, report)
	r.quotaWait = &quotaWait{why: why, until: r.Now().Add(delay)}
	if stop := r.waitStop(ctx, why, delay); stop != (event.Stop{}) {
		if _, found := r.findFallback(r.quotaWait.until); !found {
			r.stop = stop
		}
	}
}

// awaitQuota waits before the first run of an iteration if necessary, and reports whether the
// agent can run now.
func (r *run) awaitQuota(ctx context.Context) (rested bool, err error) {
	due := r.quotaWait
	if r.quotaWait = nil; due == nil || !due.until.After(r.Now()) {
		return true, nil
	}
	rested, err = r.waitOrHandOver(ctx, due.why, due.until.Sub(r.Now()), true)
	if !rested {
		r.record = due.why // the agent was not run for it
	}
	return rested, err
}
