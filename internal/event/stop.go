package event

import (
	"supervise/internal/ledger"
)

// Reason says why a loop ended.
type Reason string

// The reasons to end.
const (
	CriterionMet     Reason = "criterion_met"
	Done             Reason = "done" // all iterations, and no criterion was asked for
	IterationLimit   Reason = "iteration_limit"
	TimeLimit        Reason = "time_limit"
	CostLimit        Reason = "cost_limit"
	TokenLimit       Reason = "token_limit"
	Unavailable      Reason = "service_unavailable" // of the agent, for longer than the loop waits
	Refused          Reason = "agent_refused"       // by its service: no key, no money
	NoCommand        Reason = "agent_not_found"
	Stalled          Reason = "stalled"
	Cycling          Reason = "infinite_loop"
	Stuck            Reason = "stuck"
	Diminishing      Reason = "diminishing_returns"
	RetriesExhausted Reason = "retries_exhausted"
	Aborted          Reason = "aborted"         // by a person, or by the policy of the gate
	Blocked          Reason = "agent_blocked"   // as it said itself; a person has to decide
	StoppedByRule    Reason = "stopped_by_rule" // a rule whose action is force_terminate or escalate
	NotReproduced    Reason = "not_reproduced"  // the selected tree gave other numbers when it was measured again
	NoneAcceptable   Reason = "no_acceptable_iteration"
	BaselineKept     Reason = "baseline_kept"        // it met the criterion, and no iteration was acceptable
	HiddenFail       Reason = "hidden_tests_failing" // of the selected tree, whatever the visible ones say
	FindingsOpen     Reason = "findings_open"        // about integrity, which a person has to look at
	TestsWeakened    Reason = "tests_weakened"       // over the selected tree: only their changed versions pass
	Unmeasurable     Reason = "unmeasurable"
	Interrupted      Reason = "interrupted"
	PausedByUser     Reason = "paused"  // by supervise pause; resume continues
	Stepped          Reason = "stepped" // the process has done the iterations that it was to do; resume continues
	Awaiting         Reason = "waiting" // for a person's answer; resume continues
	SessionEnded     Reason = "session_ended"
	NothingChanged   Reason = "nothing_changed" // in a session that was watched
	NotApplied       Reason = "not_applied"     // the tree had changed, so the candidate that was chosen was not put into it
	CriticalLeft     Reason = "critical_left"   // in the tree at the end of a session that was watched
	Broken           Reason = "error"
)

// reasons says how supervise exits, and what becomes of the loop.
var reasons = []struct {
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
	code, _ := r.ending()
	return code
}

// Suspends reports whether only the process ended: the loop is as its last iteration left it,
// and nothing was given back.
func (r Reason) Suspends() bool { return r == Stepped || r == Awaiting }

// Status returns the status of a loop that ended for the reason.
func (r Reason) Status() ledger.Status {
	_, status := r.ending()
	return status
}

func (r Reason) ending() (code int, status ledger.Status) {
	for _, row := range reasons {
		if row.reason == r {
			return row.code, row.status
		}
	}
	return 0, ""
}

// Stop is a reason to end, with its text for people. The zero value is none.
type Stop struct {
	Reason Reason `json:"reason"`
	Text   string `json:"text"`
}
