package loop

import (
	"context"
	"errors"
	"time"

	"supervise/internal/event"
	"supervise/internal/ledger"
	"supervise/runner"
)

const criterionTimeout = 10 * time.Minute

// met reports whether the criterion holds for an iteration, and nil when there is
// none that could.
func (s *session) met(ctx context.Context, it ledger.Iteration) (*bool, error) {
	return s.opts.Until.Met(it, s.history[0].Set, func(command string) (bool, error) {
		env, _ := s.opts.Protect.ForChecks(s.opts.Env)
		if s.user != nil {
			env = s.user.Environ(env)
		}
		res, err := runner.Run(ctx, runner.Command{
			Args: []string{"/bin/sh", "-c", command}, Dir: s.opts.Plan.Root,
			Env: append(env, "CI=true"), Timeout: criterionTimeout,
			Hold: s.ledger.Held(), BeforeStart: s.journal.Starting(event.ChildCriterion, s.iteration), User: s.user,
		})
		if errors.Is(err, runner.ErrUnstartable) { // the agent may have taken its folder away
			return false, nil
		}
		return err == nil && res.Cause == runner.Exited && res.ExitCode == 0, err
	})
}
