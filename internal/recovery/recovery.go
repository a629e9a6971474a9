// Package recovery decides what follows the assessment of an iteration: continue, roll back
// and retry, stop, or escalate to a person.
//
// It is a state machine without side effects. A rejected iteration passes through the phases
// pause, diagnose, adapt, and retry or escalate. [Next] takes the assessment, [ApplyAnswer]
// the answer of a person.
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
	Stop     Move = "stop"     // further iterations are pointless
	Escalate Move = "escalate" // a person has to decide: the loop ends
	Abort    Move = "abort"    // a person, or the approval policy, ends the loop
)

// Options are the limits of the recovery.
type Options struct {
	MaxRetries  int  // retries per incident before a person is asked; at least 0
	StopOnStall bool // a stall and an infinite loop end the loop
	AskOnStall  bool `json:",omitempty"` // a stall, an infinite loop and an early cycle ask a person; without one the loop ends
	StopOnCycle bool `json:",omitempty"` // an early cycle ends the loop
	AskLate     bool `json:",omitempty"` // a person is asked after the last retry, not before
}

// State is the state of the machine between iterations.
type State struct {
	Retries          int // of the current incident
	Attempts         int // in the entire loop
	RepeatedFindings int // consecutive retries that were rolled back for the finding they should fix
}

// Case is a judged iteration with its context.
type Case struct {
	Assessment detector.Assessment
	Evidence   Evidence
	Refused    []detector.Alert // of the previous iteration, if it was rolled back
	Start      int              // the iteration whose tree this one started from
	Paused     time.Time        // when the agent was stopped or had ended
	Now        time.Time
}

// Phase is a phase of an incident that has happened.
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

// Step is what the loop does next.
type Step struct {
	Move      Move
	Reject    bool // the tree is restored to Target first
	Target    int  // the iteration whose tree is restored
	Retry     int  // which retry follows, from 1
	Reason    string
	Diagnosis *Diagnosis
	Strategy  Strategy // "" if nothing has to change
	Advice    string   // for the next prompt
	Phases    []Phase  // of this iteration
	// Ask is the question for a person, with its reason in Why; "" means no question. If no
	// person can be asked, the step applies unchanged.
	Ask approval.Kind
	Why string
}

// Next returns the step that follows an assessment, and the state after it. An
// accepted iteration ends the current incident.
func Next(s State, c Case, o Options) (Step, State) {
	r := c.Assessment.Recommendation
	if r.Action == detector.Rollback {
		return rejectIteration(s, c, o)
	}
	s.Retries, s.RepeatedFindings = 0, 0
	step := Step{Reason: r.Reason, Target: c.Start, Advice: trajectoryAdvice(c.Assessment)}
	move, ask := o.moveFor(c.Assessment)
	step.Move = move
	if ask {
		step.Ask, step.Why = approval.Standstill, "the loop does not get on"
	} else if message, found := firstSuspicion(c.Assessment); found && step.Move == Continue {
		step.Ask, step.Why = approval.Suspicion, "a change looks like a cheat: "+message
	}
	if step.Move == Escalate {
		step.Phases = []Phase{{PhasePause, c.Paused, pauseText}, {PhaseEscalate, c.Now, r.Reason}}
	}
	return step, s
}

// moveFor returns the move after an accepted iteration, and whether a person is asked. The
// options decide whether a stall, an early cycle or an infinite loop ends the loop.
func (o Options) moveFor(a detector.Assessment) (move Move, ask bool) {
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

// trajectoryAdvice returns the advice for a loop that goes in circles or returns to an
// earlier tree.
func trajectoryAdvice(a detector.Assessment) string {
	switch {
	case a.Cycle != nil:
		return "You are going in circles. " + a.Cycle.Message() + ". Do not return to what was there before; take another approach."
	case a.Returned != nil:
		return fmt.Sprintf("The last iteration restored the tree of iteration %d.", *a.Returned)
	}
	return ""
}

// pauseText describes the pause phase.
const pauseText = "the agent's processes are ended, and what it left is kept"

// firstSuspicion returns the message of the first HIGH finding about integrity.
func firstSuspicion(a detector.Assessment) (string, bool) {
	i := slices.IndexFunc(a.Alerts, func(alert detector.Alert) bool { return isTamperingOf(detector.High, alert) })
	if i < 0 {
		return "", false
	}
	return a.Alerts[i].Message(), true
}

// rejectIteration returns the step after an iteration that the rules reject.
func rejectIteration(s State, c Case, o Options) (Step, State) {
	r := c.Assessment.Recommendation
	d := diagnose(c)
	p := responses[d.Cause]
	step := Step{
		Move: Retry, Reject: true, Target: r.Target, Reason: r.Reason, Diagnosis: &d, Strategy: p.strategy, Advice: p.advice,
		Phases: []Phase{
			{PhasePause, c.Paused, pauseText}, {PhaseDiagnose, c.Now, d.String()}, {PhaseAdapt, c.Now, string(p.strategy)},
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
		step.Ask, step.Why = escalationReason(c.Assessment, d)
	}
	step, s = handleRepeatedFinding(step, s, c, o)
	return retryOrEscalate(step, s, c.Now, o)
}

// retryOrEscalate adds the last phase of a rejected iteration: a retry if any is left,
// otherwise an escalation.
func retryOrEscalate(step Step, s State, now time.Time, o Options) (Step, State) {
	if s.Retries <= o.MaxRetries {
		step.Retry = s.Retries
		step.Phases = append(step.Phases, Phase{PhaseRetry, now, fmt.Sprintf("retry %d of %d from iteration %d", s.Retries, o.MaxRetries, step.Target)})
		return step, s
	}
	step.Move = Escalate
	if s.RepeatedFindings+1 >= maxSameFinding {
		step.Reason += "; " + step.Why
	} else {
		step.Reason = fmt.Sprintf("%s; %s spent", step.Reason, plural(o.MaxRetries, "retry", "retries"))
		step.Ask, step.Why = approval.Regression, plural(o.MaxRetries, "retry", "retries")+" did not help"
	}
	step.Phases = append(step.Phases, Phase{PhaseEscalate, now, step.Why})
	return step, s
}

// A person judges reward hacking from certainConfidence upwards, and every diagnosis below
// unclearConfidence.
const (
	certainConfidence = .85
	unclearConfidence = .50
)

// escalationReason returns what a person is asked before the first retry, and why; "" if
// no person is asked.
func escalationReason(a detector.Assessment, d Diagnosis) (approval.Kind, string) {
	switch {
	case slices.ContainsFunc(a.Alerts, func(alert detector.Alert) bool {
		return alert.Type == "test_deletion" && alert.Severity == detector.Critical
	}):
		return approval.Regression, "tests were deleted"
	case d.Cause == RewardHacking && d.Confidence >= certainConfidence && a.HasCritical():
		return approval.Regression, "the agent most likely games the checks"
	case d.Confidence < unclearConfidence:
		return approval.Regression, "the cause is not clear"
	}
	return "", ""
}

// ApplyAnswer returns the step and the state after the answer to the question of a step. s is
// the state after that step.
//
// A rejection by a person gives the incident all its retries again: the answer to end the
// loop is abort. A policy or a timeout changes the number of retries in neither direction.
func ApplyAnswer(step Step, s State, a approval.Answer, o Options) (Step, State) {
	step.Phases = append(slices.Clone(step.Phases), Phase{PhaseEscalate, a.At, a.String()})
	switch a.Choice {
	case approval.Approve:
		s.Retries, s.RepeatedFindings = 0, 0
		step.Move, step.Reject, step.Target, step.Retry = Continue, false, 0, 0
		step.Reason, step.Strategy = "approved: "+a.Reason, Allow
		step.Advice = "A person has looked at the last iteration and approved it: " + a.Reason
		return step, s
	case approval.Abort:
		step.Move, step.Retry, step.Reason = Abort, 0, withReason("the loop is aborted", a)
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
		s.RepeatedFindings = 0 // the agent gets the reason of the person
	}
	if person && step.Move == Escalate {
		s.Retries = min(1, o.MaxRetries)
	}
	step.Strategy, step.Advice = rejectionAdvice(step, a)
	step.Move, step.Reason = Retry, withReason(step.Reason, a)
	if person && o.MaxRetries == 0 {
		step.Phases = append(step.Phases, Phase{PhaseRetry, a.At, "from the tree before, as the person asked"})
		return step, s
	}
	return retryOrEscalate(step, s, a.At, o)
}

// withReason appends the reason of the answer, if any.
func withReason(text string, a approval.Answer) string {
	if a.Reason == "" {
		return text
	}
	return text + ": " + a.Reason
}

// rejectionAdvice returns the strategy and the advice after a rejection by a person.
func rejectionAdvice(step Step, a approval.Answer) (Strategy, string) {
	strategy, advice := step.Strategy, step.Advice
	if advice == "" {
		strategy, advice = Block, responses[Unknown].advice
	}
	if a.Reason != "" {
		advice = "A person rejected it: " + a.Reason + ". " + advice
	}
	return strategy, advice
}

func plural(n int, one, many string) string {
	if n == 1 {
		many = one
	}
	return fmt.Sprintf("%d %s", n, many)
}
