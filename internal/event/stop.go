package event

import (
	"supervise/internal/ledger"
)

// Reason is why a loop ended.
type Reason string

// The reasons why a loop ends.
const (
	CriterionMet     Reason = "criterion_met"
	Done             Reason = "done" // all iterations, without a criterion
	IterationLimit   Reason = "iteration_limit"
	TimeLimit        Reason = "time_limit"
	CostLimit        Reason = "cost_limit"
	TokenLimit       Reason = "token_limit"
	Unavailable      Reason = "service_unavailable" // the service of the agent, for longer than the loop waits
	Refused          Reason = "agent_refused"       // by its service: no key or no credit
	NoCommand        Reason = "agent_not_found"
	Stalled          Reason = "stalled"
	Cycling          Reason = "infinite_loop"
	Stuck            Reason = "stuck"
	Diminishing      Reason = "diminishing_returns"
	RetriesExhausted Reason = "retries_exhausted"
	Aborted          Reason = "aborted"         // by a person, or by the approval policy
	Blocked          Reason = "agent_blocked"   // reported by the agent; a person has to decide
	StoppedByRule    Reason = "stopped_by_rule" // by a rule whose action is force_terminate or escalate
	NotReproduced    Reason = "not_reproduced"  // measuring the selected tree again gave other results
	NoneAcceptable   Reason = "no_acceptable_iteration"
	BaselineKept     Reason = "baseline_kept"        // no iteration was acceptable, and the baseline meets the criterion
	HiddenFail       Reason = "hidden_tests_failing" // on the selected tree
	FindingsOpen     Reason = "findings_open"        // integrity findings that a person has to read
	TestsWeakened    Reason = "tests_weakened"       // on the selected tree, only changed versions of tests pass
	Unmeasurable     Reason = "unmeasurable"
	Interrupted      Reason = "interrupted"
	PausedByUser     Reason = "paused"  // by supervise pause; resume continues
	Stepped          Reason = "stepped" // the process has done the iterations of --steps; resume continues
	Awaiting         Reason = "waiting" // for a person's answer; resume continues
	SessionEnded     Reason = "session_ended"
	NothingChanged   Reason = "nothing_changed" // in a watched session
	NotApplied       Reason = "not_applied"     // the tree had changed, so the chosen candidate was not restored
	CriticalLeft     Reason = "critical_left"   // critical findings at the end of a watched session
	Broken           Reason = "error"
)

// outcomes maps each reason to the exit status of supervise and the status of the loop.
var outcomes = []struct {
	reason Reason
	code   int
	status ledger.Status
}{
	{CriterionMet, 0, ledger.Completed},
	{Done, 0, ledger.Completed},
	{BaselineKept, 0, ledger.Completed},
	{SessionEnded, 0, ledger.Completed},
	{NothingChanged, 0, ledger.Completed},
	{Stepped, 0, ledger.Paused},
	{Broken, 1, ledger.Failed},
	{Refused, 2, ledger.Failed},
	{NoCommand, 2, ledger.Failed},
	{RetriesExhausted, 3, ledger.Failed},
	{Aborted, 3, ledger.Aborted},
	{Blocked, 3, ledger.Completed},
	{StoppedByRule, 3, ledger.Failed},
	{NotReproduced, 3, ledger.Failed},
	{FindingsOpen, 3, ledger.Completed},
	{TestsWeakened, 3, ledger.Completed},
	{CriticalLeft, 3, ledger.Completed},
	{NotApplied, 3, ledger.Completed},
	{IterationLimit, 4, ledger.Completed},
	{TimeLimit, 4, ledger.Completed},
	{CostLimit, 4, ledger.Completed},
	{TokenLimit, 4, ledger.Completed},
	{Unavailable, 4, ledger.Completed},
	{NoneAcceptable, 4, ledger.Failed},
	{HiddenFail, 4, ledger.Completed},
	{Stalled, 5, ledger.Completed},
	{Cycling, 5, ledger.Failed},
	{Stuck, 5, ledger.Failed},
	{Diminishing, 5, ledger.Completed},
	{Unmeasurable, 6, ledger.Failed},
	{Interrupted, 130, ledger.Aborted},
	{PausedByUser, 130, ledger.Paused},
	{Awaiting, 130, ledger.Paused},
}

// ExitCode returns the exit status of supervise for the reason.
func (r Reason) ExitCode() int {
	code, _ := r.outcome()
	return code
}

// Suspends reports whether only the process ended. The loop is not over, and its tree stays
// as the last iteration left it.
func (r Reason) Suspends() bool { return r == Stepped || r == Awaiting }

// Status returns the status of a loop that ended for the reason.
func (r Reason) Status() ledger.Status {
	_, status := r.outcome()
	return status
}

// outcome returns the exit code and the status of a loop that ends for this reason.
func (r Reason) outcome() (code int, status ledger.Status) {
	for _, row := range outcomes {
		if row.reason == r {
			return row.code, row.status
		}
	}
	return 0, ""
}

// Stop is a reason to end with its explanation. The zero value means that the loop continues.
type Stop struct {
	Reason Reason `json:"reason"`
	Text   string `json:"text"`
}
