// Package recovery decides what follows an assessment: go on, put the tree back
// and try again, stop, or hand over to a human. It is a pure state machine of
// five phases: pause, diagnose, adapt, retry, escalate.
package recovery

import (
	"fmt"
	"strings"

	"supervise/detector"
)

// Move is what the loop does next.
type Move string

// The moves after an iteration.
const (
	Continue Move = "continue"
	Retry    Move = "retry"    // from the restored tree
	Stop     Move = "stop"     // nothing more is to be expected
	Escalate Move = "escalate" // a human has to decide
)

// Cause is why an iteration went wrong, as far as the evidence tells.
type Cause string

// The causes that are told apart.
const (
	RewardHacking  Cause = "reward_hacking"
	TaskComplexity Cause = "task_complexity"
	Environment    Cause = "environment"
	Unknown        Cause = "unknown"
)

// Diagnosis is the likely cause of a rejected iteration. Confidence is in
// [0,1].
type Diagnosis struct {
	Cause      Cause    `json:"cause"`
	Confidence float64  `json:"confidence"`
	Evidence   []string `json:"evidence"`
}

// Options are the limits of the recovery.
type Options struct {
	MaxRetries  int  // retries per incident before a human is asked; at least 0
	StopOnStall bool // a stall ends the loop
}

// State is what the machine remembers between iterations.
type State struct {
	Retries  int // of the running incident
	Attempts int // in the whole loop
}

// Step is what to do now.
type Step struct {
	Move      Move
	Reject    bool // the tree is put back to Target first
	Target    int  // the iteration whose tree is restored
	Retry     int  // which retry follows, from 1
	Reason    string
	Diagnosis *Diagnosis
	Advice    string // for the next prompt
}

// Next returns the step that follows an assessment, and the state after it. An
// accepted iteration ends the running incident.
func Next(s State, a detector.Assessment, o Options) (Step, State) {
	if a.Recommendation.Action == detector.Rollback {
		return reject(s, a, o)
	}
	s.Retries = 0
	step := Step{Move: Continue, Reason: a.Recommendation.Reason}
	switch a.Recommendation.Action {
	case detector.Stop:
		if a.Class != detector.Stalled || o.StopOnStall {
			step.Move = Stop
		}
	case detector.Escalate:
		step.Move = Escalate
	case detector.Continue, detector.Rollback:
	}
	return step, s
}

func reject(s State, a detector.Assessment, o Options) (Step, State) {
	d := diagnose(a)
	step := Step{
		Move: Retry, Reject: true, Target: a.Recommendation.Target, Reason: a.Recommendation.Reason,
		Diagnosis: &d, Advice: advice[d.Cause],
	}
	s.Attempts++
	if s.Retries++; s.Retries > o.MaxRetries {
		step.Move = Escalate
		step.Reason = fmt.Sprintf("%s; %s spent", step.Reason, plural(o.MaxRetries, "retry", "retries"))
		return step, s
	}
	step.Retry = s.Retries
	return step, s
}

func plural(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}

// advice is what the next prompt says about the cause.
var advice = map[Cause]string{
	RewardHacking:  "Mend the code under test. Tests are the specification: none may be removed, skipped or emptied to make the numbers look better.",
	TaskComplexity: "Take a smaller step: change as little as is needed for one failing test, and keep everything that passes passing.",
	Environment:    "A tool could not be run. Do not work around it in the project; leave the checks as they are.",
	Unknown:        "Take another way than the one that was rejected.",
}

// causes maps alert types to what they speak for. The first row whose type was
// alerted decides.
var causes = []struct {
	kind       string
	cause      Cause
	confidence float64
}{
	{"test_deletion", RewardHacking, .85},
	{"test_skipping", RewardHacking, .85},
	{"functionality_loss", TaskComplexity, .60},
	{"coverage_regression", TaskComplexity, .55},
}

func diagnose(a detector.Assessment) Diagnosis {
	d := Diagnosis{Cause: Unknown, Confidence: .50}
	for _, alert := range a.Alerts {
		if alert.Severity >= detector.High {
			d.Evidence = append(d.Evidence, alert.Message())
		}
	}
	for _, row := range causes {
		for _, alert := range a.Alerts {
			if alert.Type == row.kind && alert.Severity >= detector.High {
				d.Cause, d.Confidence = row.cause, row.confidence
				return d
			}
		}
	}
	return d
}

// String returns the diagnosis in one line.
func (d Diagnosis) String() string {
	return fmt.Sprintf("%s (confidence %.2f): %s", d.Cause, d.Confidence, strings.Join(d.Evidence, "; "))
}
