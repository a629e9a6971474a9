package loop

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"supervise/internal/event"
	"supervise/internal/holdout"
	"supervise/internal/ledger"
	"supervise/runner"
	"supervise/selector"
)

const criterionTimeout = 10 * time.Minute

// met reports whether the criterion holds for an iteration, and nil when there is
// none that could.
func (s *session) met(ctx context.Context, it ledger.Iteration) (*bool, error) {
	return s.opts.Until.Met(it, s.past.Iterations[0].Set, func(command string) (bool, error) {
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

// hiddenStop corrects the reason to end where hidden tests of the selection fail:
// whatever the visible ones say, the work is not done.
func (s *session) hiddenStop(stop event.Stop, h *ledger.Hidden) event.Stop {
	why := s.judging().HiddenFailing(h, s.past)
	if why == "" {
		return stop
	}
	return event.Stop{Reason: event.HiddenFail, Text: "the hidden tests do not pass over the selected tree: " + why + " (" + stop.Text + ")"}
}

// heldOpen says why the loop does not end although its criterion holds: findings
// are open. The agent has one iteration to mend what it was told of; then a
// person has to look.
func heldOpen(it ledger.Iteration) event.Stop {
	if slices.ContainsFunc(it.Open, func(o ledger.OpenFinding) bool { return o.Iteration == it.Number }) {
		return event.Stop{}
	}
	return event.Stop{Reason: event.FindingsOpen, Text: "the criterion holds, but " + openText(it.Open)}
}

// openStop corrects the reason to end where findings stand open against the tree
// that was selected, or against the last one that was accepted.
func (s *session) openStop(stop event.Stop, c selector.Choice) event.Stop {
	open := s.past.Iterations[c.Iteration].Open
	if len(open) == 0 {
		open = s.past.Iterations[s.past.Previous.Iteration].Open
	}
	if code := stop.Reason.ExitCode(); len(open) == 0 || stop.Reason == event.FindingsOpen || code != 0 && code != 4 && code != 5 {
		return stop
	}
	return event.Stop{Reason: event.FindingsOpen, Text: openText(open) + " (" + stop.Text + ")"}
}

func openText(open []ledger.OpenFinding) string {
	first := fmt.Sprintf("%s %s of iteration %d", open[0].Severity, open[0].Rule, open[0].Iteration)
	if len(open) == 1 {
		return "a finding about integrity is open: " + first
	}
	return fmt.Sprintf("%d findings about integrity are open: %s, and others", len(open), first)
}

// hiddenReady refuses a state folder where the agent would see the results of the hidden
// tests, and a folder without tests.
func (s *session) hiddenReady() error {
	if s.opts.Hidden.Dir == "" {
		return nil
	}
	if _, inside := ledger.Inside(s.opts.Home, s.opts.Root); inside {
		return fmt.Errorf("hidden tests: the state folder %s is in the working tree, where the agent would see what it says of them: give another --state-dir", s.opts.Home)
	}
	if _, err := holdout.ReadFiles(s.opts.Hidden.Dir); err != nil {
		return fmt.Errorf("hidden tests: %w", err)
	}
	return nil
}
