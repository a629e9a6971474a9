// Package recovery decides what follows an assessment: go on, put the tree back
// and try again, stop, or hand over to a human. It is a pure state machine of
// five phases: pause, diagnose, adapt, retry, escalate.
package recovery

import (
	"fmt"
	"slices"
	"time"

	"supervise/detector"
	"supervise/internal/approval"
)

// Move is what the loop does next.
type Move string

// The moves after an iteration.
const (
	Continue Move = "continue"
	Retry    Move = "retry"    // from the restored tree
	Stop     Move = "stop"     // nothing more is to be expected
	Escalate Move = "escalate" // a human would have to decide: the loop ends
	Abort    Move = "abort"    // a human, or the policy of the gate, ends the loop
)

// Options are the limits of the recovery.
type Options struct {
	MaxRetries  int  // retries per incident before a human is asked; at least 0
	StopOnStall bool // a stall and an infinite loop end the loop
	AskOnStall  bool `json:",omitempty"` // they ask a human, and so does an early cycle; without one it ends the loop
	StopOnCycle bool `json:",omitempty"` // an early cycle ends the loop
	AskLate     bool `json:",omitempty"` // a human is asked when the retries are spent, not at once
}

// State is what the machine remembers between iterations.
type State struct {
	Retries          int // of the running incident
	Attempts         int // in the whole loop
	RepeatedFindings int // retries in a row that were undone for the finding that they were to mend
}

// Case is an iteration that was judged, and what else is known of it.
type Case struct {
	Assessment detector.Assessment
	Evidence   Evidence
	Refused    []detector.Alert // of the iteration before, where that was undone
	Start      int              // the iteration whose tree this one started from
	Paused     time.Time        // when the agent was stopped, or had ended
	Now        time.Time
}

// Phase is a step that was taken in an incident.
type Phase struct {
	Phase PhaseName `json:"phase"`
	At    time.Time `json:"at"`
	Text  string    `json:"text"`
}

// PhaseName names a phase of the recovery.
type PhaseName string

// The phases, in their order. An incident ends with a retry or an escalation.
const (
	PhasePause    PhaseName = "pause"
	PhaseDiagnose PhaseName = "diagnose"
	PhaseAdapt    PhaseName = "adapt"
	PhaseRetry    PhaseName = "retry"
	PhaseEscalate PhaseName = "escalate"
)

// Step is what to do now.
type Step struct {
	Move      Move
	Reject    bool // the tree is put back to Target first
	Target    int  // the iteration whose tree is restored
	Retry     int  // which retry follows, from 1
	Reason    string
	Diagnosis *Diagnosis
	Strategy  Strategy // "" where nothing has to change
	Advice    string   // for the next prompt
	Phases    []Phase  // of this iteration
	// Ask is what a human is to be asked, if one can be; "" for nothing. Why says
	// why. Where none can be asked the step holds as it is.
	Ask approval.Kind
	Why string
}

// Next returns the step that follows an assessment, and the state after it. An
// accepted iteration ends the running incident.
func Next(s State, c Case, o Options) (Step, State) {
	r := c.Assessment.Recommendation
	if r.Action == detector.Rollback {
		return reject(s, c, o)
	}
	s.Retries, s.RepeatedFindings = 0, 0
	step := Step{Move: Continue, Reason: r.Reason, Target: c.Start}
	if move, ask := o.endOf(c.Assessment); ask {
		step.Move, step.Ask, step.Why = move, approval.Standstill, "the loop does not get on"
	} else {
		step.Move = move
	}
	step.Advice = wayOf(c.Assessment)
	if step.Ask == "" && step.Move == Continue {
		if message, found := suspicion(c.Assessment); found {
			step.Ask, step.Why = approval.Suspicion, "a change looks like a cheat: "+message
		}
	}
	if step.Move == Escalate {
		step.Phases = []Phase{{PhasePause, c.Paused, paused}, {PhaseEscalate, c.Now, r.Reason}}
	}
	return step, s
}

// endOf is the move that an assessment asks for which undoes nothing, and whether a human
// is asked. A stall, an early cycle and an infinite loop end what the user wants to end.
func (o Options) endOf(a detector.Assessment) (move Move, ask bool) {
	r := a.Recommendation
	ends := true
	switch {
	case r.Action == detector.Continue, r.Action == detector.Rollback:
		return Continue, false
	case r.Rule == detector.MetricCycling:
		ends = o.StopOnCycle
	case r.Rule == detector.InfiniteLoop, r.Action == detector.Stop && a.Class == detector.Stalled:
		ends = o.StopOnStall
	case r.Action == detector.Escalate:
		return Escalate, true
	}
	switch {
	case ends:
		return Stop, false
	case o.AskOnStall:
		return Stop, true
	}
	return Continue, false
}

// wayOf is what the next prompt contains about the way of the loop: that it goes in
// circles, or that an earlier tree is back.
func wayOf(a detector.Assessment) string {
	switch {
	case a.Cycle != nil:
		return "You are going in circles. " + a.Cycle.Message() + ". Do not return to what was there before; take another approach."
	case a.Returned != nil:
		return fmt.Sprintf("The last iteration put back the tree of iteration %d.", *a.Returned)
	}
	return ""
}

const paused = "the agent's processes are ended, and what it left is kept"

// suspicion returns the message of the first HIGH finding about integrity.
func suspicion(a detector.Assessment) (string, bool) {
	i := slices.IndexFunc(a.Alerts, func(alert detector.Alert) bool {
		return alert.Severity == detector.High && alert.CountsAtLeast(detector.High) && tampering(alert)
	})
	if i < 0 {
		return "", false
	}
	return a.Alerts[i].Message(), true
}

func reject(s State, c Case, o Options) (Step, State) {
	r := c.Assessment.Recommendation
	d := diagnose(c)
	p := plans[d.Cause]
	step := Step{
		Move: Retry, Reject: true, Target: r.Target, Reason: r.Reason, Diagnosis: &d, Strategy: p.strategy, Advice: p.advice,
		Phases: []Phase{
			{PhasePause, c.Paused, paused}, {PhaseDiagnose, c.Now, d.String()}, {PhaseAdapt, c.Now, string(p.strategy)},
		},
	}
	if p.strategy == Allow {
		s.Retries, s.RepeatedFindings = 0, 0
		step.Move, step.Reject, step.Target = Continue, false, 0
		return step, s
	}
	s.Attempts++
	s.Retries++
	if !o.AskLate {
		step.Ask, step.Why = escalation(c.Assessment, d)
	}
	step, s = again(step, s, c, o)
	return retry(step, s, c.Now, o)
}

// retry is the last phase of a rejected iteration.
func retry(step Step, s State, now time.Time, o Options) (Step, State) {
	if s.Retries <= o.MaxRetries {
		step.Retry = s.Retries
		step.Phases = append(step.Phases, Phase{PhaseRetry, now, fmt.Sprintf("retry %d of %d from iteration %d", s.Retries, o.MaxRetries, step.Target)})
		return step, s
	}
	step.Move = Escalate
	if s.RepeatedFindings+1 >= sameAtMost {
		step.Reason += "; " + step.Why
	} else {
		step.Reason = fmt.Sprintf("%s; %s spent", step.Reason, plural(o.MaxRetries, "retry", "retries"))
		step.Ask, step.Why = approval.Regression, plural(o.MaxRetries, "retry", "retries")+" did not help"
	}
	step.Phases = append(step.Phases, Phase{PhaseEscalate, now, step.Why})
	return step, s
}

// sure is the confidence from which on reward hacking is for a human to judge, and
// unsure the one below which every diagnosis is.
const (
	sure   = .85
	unsure = .50
)

// escalation says whether a human is to be asked at once, and why.
func escalation(a detector.Assessment, d Diagnosis) (approval.Kind, string) {
	switch {
	case slices.ContainsFunc(a.Alerts, func(alert detector.Alert) bool {
		return alert.Type == "test_deletion" && alert.Severity == detector.Critical
	}):
		return approval.Regression, "tests were deleted"
	case d.Cause == RewardHacking && d.Confidence >= sure && a.HasCritical():
		return approval.Regression, "the agent most likely games the checks"
	case d.Confidence < unsure:
		return approval.Regression, "the cause is not clear"
	}
	return "", ""
}

// ApplyAnswer returns the step and the state that follow from the answer to the question
// of a step. s is the state after that step.
//
// When a person rejects, the incident has all its retries again: there is another
// answer to end the loop. A policy or a timeout neither takes a retry away nor adds
// one.
func ApplyAnswer(step Step, s State, a approval.Answer, o Options) (Step, State) {
	step.Phases = slices.Clone(step.Phases)
	step.Phases = append(step.Phases, Phase{PhaseEscalate, a.At, a.String()})
	switch a.Choice {
	case approval.Approve:
		s.Retries, s.RepeatedFindings = 0, 0
		step.Move, step.Reject, step.Target, step.Retry = Continue, false, 0, 0
		step.Reason, step.Strategy = "approved: "+a.Reason, Allow
		step.Advice = "A person has looked at the last iteration and approved it: " + a.Reason
		return step, s
	case approval.Abort:
		step.Move, step.Retry, step.Reason = Abort, 0, reasonOf("the loop is aborted", a)
		step.Reject = step.Ask != approval.Standstill || step.Reject
		return step, s
	case approval.Reject:
	}
	person := a.Channel == approval.ByTerminal || a.Channel == approval.ByCommand
	if !person && step.Ask != approval.Suspicion {
		return step, s
	}
	if !step.Reject {
		step.Reject = true
		s.Attempts++
		s.Retries++
	}
	if person {
		s.RepeatedFindings = 0 // the agent reads what the person says
	}
	if person && step.Move == Escalate {
		s.Retries = min(1, o.MaxRetries)
	}
	step.Strategy, step.Advice = rejectedAdvice(step, a)
	if step.Move, step.Reason = Retry, reasonOf(step.Reason, a); person && o.MaxRetries == 0 {
		step.Phases = append(step.Phases, Phase{PhaseRetry, a.At, "from the tree before, as the person asked"})
		return step, s
	}
	return retry(step, s, a.At, o)
}

func reasonOf(text string, a approval.Answer) string {
	if a.Reason == "" {
		return text
	}
	return text + ": " + a.Reason
}

// rejectedAdvice is what the next prompt contains about a person's rejection.
func rejectedAdvice(step Step, a approval.Answer) (Strategy, string) {
	strategy, advice := step.Strategy, step.Advice
	if advice == "" {
		strategy, advice = Block, plans[Unknown].advice
	}
	if a.Reason != "" {
		advice = "A person rejected it: " + a.Reason + ". " + advice
	}
	return strategy, advice
}

func plural(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}
