package loop

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"supervise/internal/agent"
	"supervise/internal/event"
	"supervise/internal/ledger"
)

// How long is waited for the agent's service where nothing else is said: the
// first time, at most between two runs, and in all without a break.
const (
	DefaultFirstWait = 10 * time.Second
	maxStep          = 10 * time.Minute
	DefaultMaxWait   = 6 * time.Hour
)

// unserved reports whether an agent could not work because its service failed, or
// did not let it, or because there is no such command.
func unserved(run *ledger.AgentRun) bool {
	if run == nil {
		return false
	}
	o := agent.Outcome(run.Outcome)
	return o.Waits() || o.Hopeless()
}

// await waits for the service where a run failed by it, and says whether the
// agent is to be run again. Where it is not, and the loop cannot go on, it notes
// the stop.
func (s *session) await(ctx context.Context, w *work, r agent.Report) (again bool, err error) {
	run := w.it.Agent
	o := agent.Outcome(run.Outcome)
	if o.Hopeless() {
		w.unserved = s.refused(o, run)
	}
	if interrupted(ctx) || !o.Waits() {
		return false, nil
	}
	delay, told := s.delay(run, r)
	limit := cmp.Or(s.opts.MaxWait, DefaultMaxWait)
	deadline, timed := ctx.Deadline()
	switch {
	case run.Waited+delay > limit:
		w.unserved = event.Stop{Reason: event.Unavailable, Text: fmt.Sprintf("the agent's service is not available (%s), and limits.max_wait (%s) leaves no time to wait %s more", reasonOf(run), max(limit, 0), delay.Round(time.Second))}
		return false, nil
	case timed && s.opts.Now().Add(delay).After(deadline):
		w.unserved = event.Stop{Reason: event.TimeLimit, Text: fmt.Sprintf("the agent's service is not available (%s), and the time limit of %s comes before it may be asked again", reasonOf(run), s.opts.MaxTime)}
		return false, nil
	}
	return s.pause(ctx, w, delay, told)
}

// delay is how long to wait: until the service says, or twice as long each time. A
// service that says so little again and again is not believed.
func (s *session) delay(run *ledger.AgentRun, r agent.Report) (d time.Duration, told bool) {
	first := cmp.Or(s.opts.FirstWait, DefaultFirstWait)
	before := max(run.Runs-1, 0)
	step := min(first<<min(before, 20), max(maxStep, first))
	wait := r.Reset.Wait(s.opts.Now())
	if wait > 0 && (before == 0 || wait >= step) {
		return wait, true
	}
	return step, false
}

// pause waits, tells of it, and counts it.
func (s *session) pause(ctx context.Context, w *work, delay time.Duration, told bool) (again bool, err error) {
	run, from := w.it.Agent, s.opts.Now()
	until := from.Add(delay)
	s.state.Waiting = fmt.Sprintf("%s, until %s", reasonOf(run), until.Local().Format(time.DateTime))
	err = s.event(event.AgentWaiting, w.it.Number, event.Waiting{Outcome: run.Outcome, Message: run.Message, Until: until, DelayMS: delay.Milliseconds(), Told: told, Runs: max(run.Runs, 1)})
	if err != nil {
		return false, err
	}
	if err := s.save(); err != nil {
		return false, err
	}
	timer := time.NewTimer(delay)
	defer timer.Stop()
	select {
	case <-timer.C:
		again = true
	case <-ctx.Done():
	}
	run.Waited += s.opts.Now().Sub(from)
	s.state.Waiting = ""
	return again, s.save()
}

func reasonOf(run *ledger.AgentRun) string {
	if run.Message == "" {
		return words(run.Outcome)
	}
	return words(run.Outcome) + ": " + run.Message
}

// refused is the stop of a loop whose agent cannot do anything until somebody
// helps.
func (s *session) refused(o agent.Outcome, run *ledger.AgentRun) event.Stop {
	p, known := s.opts.program()
	if o == agent.NotFound {
		text := fmt.Sprintf("the agent's command was not found (status %d): %s", run.ExitCode, run.LastWords)
		if known {
			text += "; to install it: " + p.Install
		}
		return event.Stop{Reason: event.NoCommand, Text: text}
	}
	text := "the agent's service does not accept it: " + cmp.Or(run.Message, run.LastWords)
	if known {
		text += "; " + p.Login
	}
	return event.Stop{Reason: event.Refused, Text: text + "; then: supervise resume " + s.id}
}

// shortened ends a loop early that cannot go on: its agent was not served, or has
// consumed what it may. The stop of the iteration itself comes first where it is a
// good end.
func (s *session) shortened(w *work, stop event.Stop) event.Stop {
	switch {
	case stop.Reason == event.CriterionMet, stop.Reason == event.RetriesSpent:
		return stop
	case w.unserved.Reason != "":
		return w.unserved
	case stop.Reason != "":
		return stop
	}
	return s.spentOut(s.consumed(nil))
}
