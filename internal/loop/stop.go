package loop

import (
	"context"
	"errors"
	"fmt"

	"supervise/internal/ledger"
	"supervise/metric"
	"supervise/runner"
)

// Reason says why a loop ended.
type Reason string

// The reasons to end.
const (
	CriterionMet   Reason = "criterion_met"
	Done           Reason = "done" // all iterations, and no criterion was asked for
	IterationLimit Reason = "iteration_limit"
	TimeLimit      Reason = "time_limit"
	CostLimit      Reason = "cost_limit"
	TokenLimit     Reason = "token_limit"
	Unavailable    Reason = "service_unavailable" // of the agent, for longer than the loop waits
	Refused        Reason = "agent_refused"       // by its service: no key, no money
	NoCommand      Reason = "agent_not_found"
	Stalled        Reason = "stalled"
	Cycling        Reason = "infinite_loop"
	Stuck          Reason = "stuck"
	Diminishing    Reason = "diminishing_returns"
	RetriesSpent   Reason = "retries_spent"
	GateAborted    Reason = "aborted"         // by a person, or by the policy of the gate
	StoppedByRule  Reason = "stopped_by_rule" // a rule whose action is force_terminate or escalate
	NotReproduced  Reason = "not_reproduced"  // the selected tree gave other numbers when it was measured again
	NoneAcceptable Reason = "no_acceptable_iteration"
	HiddenFail     Reason = "hidden_tests_failing" // of the selected tree, whatever the visible ones say
	FindingsOpen   Reason = "findings_open"        // about integrity, which a person has to look at
	Unmeasurable   Reason = "unmeasurable"
	Interrupted    Reason = "interrupted"
	PausedByUser   Reason = "paused" // by supervise pause; resume goes on
	SessionOver    Reason = "session_over"
	CriticalLeft   Reason = "critical_left" // in the tree at the end of a session that was watched
	Broken         Reason = "error"
)

// exitCodes and statuses are what the reasons mean to the outside.
var reasons = map[Reason]struct {
	code   int
	status ledger.Status
}{
	CriterionMet:   {0, ledger.Completed},
	Done:           {0, ledger.Completed},
	Broken:         {1, ledger.Failed},
	RetriesSpent:   {3, ledger.Failed},
	GateAborted:    {3, ledger.Aborted},
	StoppedByRule:  {3, ledger.Failed},
	NotReproduced:  {3, ledger.Failed},
	FindingsOpen:   {3, ledger.Completed},
	IterationLimit: {4, ledger.Completed},
	TimeLimit:      {4, ledger.Completed},
	CostLimit:      {4, ledger.Completed},
	TokenLimit:     {4, ledger.Completed},
	Unavailable:    {4, ledger.Completed},
	Refused:        {2, ledger.Failed},
	NoCommand:      {2, ledger.Failed},
	NoneAcceptable: {4, ledger.Failed},
	HiddenFail:     {4, ledger.Completed},
	Stalled:        {5, ledger.Completed},
	Cycling:        {5, ledger.Failed},
	Stuck:          {5, ledger.Failed},
	Diminishing:    {5, ledger.Completed},
	Unmeasurable:   {6, ledger.Failed},
	Interrupted:    {130, ledger.Aborted},
	PausedByUser:   {0, ledger.Paused},
	SessionOver:    {0, ledger.Completed},
	CriticalLeft:   {3, ledger.Completed},
}

// ExitCode returns the exit status of supervise for the reason.
func (r Reason) ExitCode() int { return reasons[r].code }

// Stop is a reason to end, with its text for people. The zero value is none.
type Stop struct {
	Reason Reason `json:"reason"`
	Text   string `json:"text"`
}

// UntilKind is the kind of a completion criterion.
type UntilKind string

// The kinds of criteria. Auto is Green when the baseline is not green, else
// Idle.
const (
	Auto    UntilKind = ""
	Green   UntilKind = "green"
	Idle    UntilKind = "idle"
	Never   UntilKind = "never"
	Command UntilKind = "command"
)

// green reports whether no test fails, at least one passes, the build stands
// and there are no more errors than at the baseline.
func green(set, baseline metric.Set) bool {
	n := set.Tests.Counts()
	if n.Passed == 0 || n.Failed > 0 || len(set.Tests.Broken) > 0 || set.Tests.Failure != "" {
		return false
	}
	if set.Build != nil && set.Build.Status == metric.BuildFailure {
		return false
	}
	now, ok := set.Value(metric.ErrorCount)
	then, had := baseline.Value(metric.ErrorCount)
	return !ok || !had || now <= then
}

// met reports whether the criterion holds for an iteration, and nil when there
// is none to hold.
func (s *session) met(ctx context.Context, it ledger.Iteration) (*bool, error) {
	fine := it.Hidden.Green() && green(it.Judged(), s.history[0].Set)
	holds := fine
	switch s.opts.Until.Kind {
	case Green:
	case Command:
		env, _ := s.opts.checksEnv()
		if s.user != nil {
			env = s.user.Environ(env)
		}
		res, err := runner.Run(ctx, runner.Command{
			Args: []string{"/bin/sh", "-c", s.opts.Until.Command}, Dir: s.opts.Plan.Root,
			Env: append(env, "CI=true"), Timeout: criterionTimeout,
			Hold: s.ledger.Held(), BeforeStart: s.starting(childCriterion), User: s.user,
		})
		if err != nil && !errors.Is(err, runner.ErrUnstartable) { // the agent may have taken its folder away
			return nil, fmt.Errorf("run the criterion: %w", err)
		}
		holds = err == nil && res.Cause == runner.Exited && res.ExitCode == 0
	case Idle, Never, Auto:
		return nil, nil //nolint:nilnil // no criterion is a third answer
	}
	if u := s.opts.Until; u.Promise != "" || u.Quality > 0 {
		holds = holds && fine && u.also(it)
	}
	return &holds, nil
}

// idle reports whether the agent came to rest by itself: it ended well, changed
// nothing, and the checks are green. One that breaks off has not finished.
func (s *session) idle(it ledger.Iteration) bool {
	return s.opts.Until.Kind == Idle && len(it.Changed) == 0 && it.Agent != nil &&
		it.Agent.ExitCode == 0 && it.Agent.Well() && it.Agent.Cause == runner.Exited.String() && it.Hidden.Green() && green(it.Set, s.history[0].Set)
}
