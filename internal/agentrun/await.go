package agentrun

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"time"

	"supervise/internal/agent"
	"supervise/internal/event"
	"supervise/internal/ledger"
)

// The default waiting times for the agent's service: the first wait, the longest one between
// two runs, and the longest total wait without a break.
const (
	DefaultFirstWait = 10 * time.Second
	maxStep          = 10 * time.Minute
	DefaultMaxWait   = 6 * time.Hour
)

// WasUnavailable reports whether an agent could not work because its service failed or
// refused it, or because its command is missing.
func WasUnavailable(run *ledger.AgentRun) bool {
	if run == nil {
		return false
	}
	o := agent.Outcome(run.Outcome)
	return o.IsTemporary() || o.NeedsPerson()
}

// awaitService decides what follows an attempt. It waits if the service failed, and reports
// whether to run the agent again. If the loop cannot continue, it sets r.stop.
func (r *run) awaitService(ctx context.Context, report agent.Report) (again bool, err error) {
	o := agent.Outcome(r.record.Outcome)
	if o.NeedsPerson() {
		r.stop = r.refusedStop(o)
	}
	full, over := r.fullWindow(report)
	if over && report.Reset.IsZero() {
		report.Reset.At = full.Reset
	}
	isRunning := ctx.Err() == nil // the loop is not being stopped
	switch {
	case isRunning && o.IsTemporary():
		delay, byService := r.waitTime(r.record, report)
		return r.waitOrHandOver(ctx, r.record, delay, byService)
	case isRunning && over:
		r.scheduleQuotaWait(ctx, full, report)
	}
	return false, nil
}

// waitOrHandOver waits for the service, or switches to another program if the wait is too
// long. It reports whether to run the agent again; if neither is possible, it sets r.stop.
// byService means that the service named the delay.
func (r *run) waitOrHandOver(ctx context.Context, why *ledger.AgentRun, delay time.Duration, byService bool) (again bool, err error) {
	stop := r.waitStop(ctx, why, delay)
	if stop == (event.Stop{}) {
		return r.waitFor(ctx, why, delay, byService)
	}
	if again, err := r.handOver(why, r.Now().Add(delay)); again || err != nil {
		return again, err
	}
	r.stop = stop
	return false, nil
}

// waitStop returns the stop of a loop whose limits do not allow the delay, and the zero value
// if they do.
func (r *run) waitStop(ctx context.Context, why *ledger.AgentRun, delay time.Duration) event.Stop {
	limit := cmp.Or(r.MaxWait, DefaultMaxWait)
	deadline, timed := ctx.Deadline()
	switch {
	case why.Waited+delay > limit:
		return event.Stop{Reason: event.Unavailable, Text: fmt.Sprintf("the agent's service is not available (%s), and limits.max_wait (%s) leaves no time to wait %s more", reasonOf(why), max(limit, 0), delay.Round(time.Second))}
	case timed && r.Now().Add(delay).After(deadline):
		return event.Stop{Reason: event.TimeLimit, Text: fmt.Sprintf("the agent's service is not available (%s), and the time limit of %s comes before it may be asked again", reasonOf(why), r.MaxTime)}
	}
	return event.Stop{}
}

// waitTime returns how long to wait before the next attempt. It is the time that the service
// asks for, or else a step that doubles after each attempt, up to maxStep. If a service fails
// repeatedly, times shorter than the step are ignored.
func (a *Agent) waitTime(run *ledger.AgentRun, report agent.Report) (d time.Duration, byService bool) {
	first := cmp.Or(a.FirstWait, DefaultFirstWait)
	before := max(run.Runs-1, 0)
	step := min(first<<min(before, 20), max(maxStep, first))

	wait := report.Reset.Wait(a.Now())
	if wait > 0 && (before == 0 || wait >= step) {
		return wait, true
	}
	return step, false
}

// runCount returns how often the agent ran in this iteration.
func (r *run) runCount() int {
	if r.record == nil {
		return 0
	}
	return max(r.record.Runs, 1)
}

// waitFor waits, and records the wait in the journal and in why. again is false if the context
// ended first.
func (r *run) waitFor(ctx context.Context, why *ledger.AgentRun, delay time.Duration, byService bool) (again bool, err error) {
	from := r.Now()
	until := from.Add(delay)
	err = r.Journal.Write(event.AgentWaiting, r.task.Iteration, event.Waiting{
		Outcome: why.Outcome, Message: why.Message, Until: until, DelayMS: delay.Milliseconds(), ByService: byService, Runs: r.runCount(),
	})
	if err != nil {
		return false, err
	}
	if err := r.task.OnWait(fmt.Sprintf("%s, until %s", reasonOf(why), until.Local().Format(time.DateTime))); err != nil {
		return false, err
	}

	timer := time.NewTimer(delay)
	defer timer.Stop()
	select {
	case <-timer.C:
		again = true
	case <-ctx.Done():
	}

	r.waited += r.Now().Sub(from)
	why.Waited = r.waited
	return again, r.task.OnWait("")
}

// reasonOf returns the outcome and message of a run for people, like "rate limit: try again in
// 5 minutes".
func reasonOf(run *ledger.AgentRun) string {
	outcome := strings.ReplaceAll(run.Outcome, "_", " ")
	if run.Message == "" {
		return outcome
	}
	return outcome + ": " + run.Message
}

// refusedStop returns the stop of a loop whose agent needs the help of a person.
func (r *run) refusedStop(o agent.Outcome) event.Stop {
	p, known := r.Preset()
	if o == agent.NotFound {
		text := fmt.Sprintf("the agent's command was not found (status %d): %s", r.record.ExitCode, r.record.LastOutput)
		if known {
			text += "; to install it: " + p.Install
		}
		return event.Stop{Reason: event.NoCommand, Text: text}
	}

	text := "the agent's service does not accept it: " + cmp.Or(r.record.Message, r.record.LastOutput)
	switch {
	case o == agent.AsksPerson:
		text = "no one can answer the agent, and " + r.record.Message + "; start it once manually and answer it"
	case o == agent.BadRequest:
		text += "; name a model that you have (--model), or give it a shorter task"
	case known:
		text += "; " + p.Login
	}
	return event.Stop{Reason: event.Refused, Text: text + "; then: supervise resume " + r.LoopID}
}
