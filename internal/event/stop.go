package event

import (
	"slices"

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

// outcomes are the exit statuses of supervise and the statuses of the loop, with their reasons.
var outcomes = []struct {
	code    int
	status  ledger.Status
	reasons []Reason
}{
	{0, ledger.Completed, []Reason{CriterionMet, Done, BaselineKept, SessionEnded, NothingChanged}},
	{0, ledger.Paused, []Reason{Stepped}},
	{1, ledger.Failed, []Reason{Broken}},
	{2, ledger.Failed, []Reason{Refused, NoCommand}},
	{3, ledger.Failed, []Reason{RetriesExhausted, StoppedByRule, NotReproduced}},
	{3, ledger.Aborted, []Reason{Aborted}},
	{3, ledger.Completed, []Reason{Blocked, FindingsOpen, TestsWeakened, CriticalLeft, NotApplied}},
	{4, ledger.Completed, []Reason{IterationLimit, TimeLimit, CostLimit, TokenLimit, Unavailable, HiddenFail}},
	{4, ledger.Failed, []Reason{NoneAcceptable}},
	{5, ledger.Completed, []Reason{Stalled, Diminishing}},
	{5, ledger.Failed, []Reason{Cycling, Stuck}},
	{6, ledger.Failed, []Reason{Unmeasurable}},
	{130, ledger.Aborted, []Reason{Interrupted}},
	{130, ledger.Paused, []Reason{PausedByUser, Awaiting}},
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
		if slices.Contains(row.reasons, r) {
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
