package loop

import (
	"context"
	"errors"
	"fmt"

	"supervise/internal/event"
	"supervise/internal/ledger"
	"supervise/metric"
	"supervise/runner"
)

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
		env, _ := s.opts.Protect.ForChecks(s.opts.Env)
		if s.user != nil {
			env = s.user.Environ(env)
		}
		res, err := runner.Run(ctx, runner.Command{
			Args: []string{"/bin/sh", "-c", s.opts.Until.Command}, Dir: s.opts.Plan.Root,
			Env: append(env, "CI=true"), Timeout: criterionTimeout,
			Hold: s.ledger.Held(), BeforeStart: s.journal.Starting(event.ChildCriterion, s.iteration), User: s.user,
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
