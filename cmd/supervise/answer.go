package main

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"supervise/internal/approval"
	"supervise/internal/ledger"
	"supervise/runner"

	"github.com/spf13/cobra"
)

// errInside is the answer to an agent that tries to answer for a person.
var errInside = errors.New("this runs inside an agent that supervise started: answer from a terminal of your own")

// answerCmds are the commands that answer the question of a loop.
func (a *app) answerCmds() []*cobra.Command {
	var out []*cobra.Command
	for _, row := range []struct {
		choice      approval.Choice
		short, long string
	}{
		{approval.Approve, "Keep the iteration that a loop asks about", `Approve keeps the iteration that a paused loop asks about; the loop goes on from
it. What it was accused of counts as acknowledged in this loop. The reason is
written down.`},
		{approval.Reject, "Undo the iteration that a loop asks about", `Reject puts the tree back to what the iteration started from; it is tried again.
The reason, if there is one, is told to the agent.`},
		{approval.Abort, "End a loop: one that asks, or one that runs", `Abort undoes the iteration that a paused loop asks about and ends the loop, which
gives back the best iteration so far. A loop that runs and asks nothing is ended as
by Ctrl-C; then --revert puts the tree back to what it was before the loop, and
--keep-changes to what the agent left last.`},
	} {
		var reason string
		var f abortFlags
		cmd := &cobra.Command{
			Use: string(row.choice) + " [LOOP]", Short: row.short,
			Long: row.long + `

The latest loop is meant without a name. Only a person can answer: inside an agent
that supervise started the command is refused.`,
			Example: fmt.Sprintf("  supervise %s\n  supervise %s fix-tests --reason \"the feature was dropped\"", row.choice, row.choice),
			Args:    cobra.MaximumNArgs(1),
			RunE: func(cmd *cobra.Command, args []string) error {
				if row.choice == approval.Abort {
					if handled, err := a.abortRunning(cmd, first(args), f); handled || err != nil {
						return err
					}
				}
				return a.reply(cmd, first(args), approval.Answer{Choice: row.choice, Reason: strings.TrimSpace(reason)})
			},
		}
		cmd.Flags().StringVar(&reason, "reason", "", "why; it is written down")
		if row.choice == approval.Abort {
			cmd.Flags().BoolVar(&f.revert, "revert", false, "of a running loop: put the tree back to what it was before")
			cmd.Flags().BoolVar(&f.keep, "keep-changes", false, "of a running loop: leave what the agent left last")
		}
		out = append(out, cmd)
	}
	return out
}

func (a *app) reply(cmd *cobra.Command, name string, answer approval.Answer) error {
	if insideAgent() {
		return usageError{errInside}
	}
	if err := answer.Validate(); err != nil {
		return usageError{err}
	}
	dir, state, err := a.find(cmd, name)
	if err != nil {
		return err
	}
	free, err := ledger.Free(dir)
	if err != nil {
		return err
	}
	if _, asked := approval.Asked(dir); free || asked != nil {
		return usageError{notAsked(a.self(), state, free && asked == nil)}
	}
	answer.By, answer.At = userName(), time.Now()
	q, err := approval.Reply(dir, answer)
	if err != nil {
		return err
	}
	fmt.Fprintf(a.out, "iteration %d of %s is %s\n", q.Iteration, state.LoopID, answer)
	return nil
}

// notAsked says why there is nothing to answer. dead says that the loop had asked
// and was killed.
func notAsked(self string, s ledger.State, dead bool) error {
	if dead {
		return fmt.Errorf("loop %s had asked, and its supervise is gone: %s resume %s asks again", s.LoopID, self, s.LoopID)
	}
	return fmt.Errorf("loop %s (%s) asks nothing", s.LoopID, s.Status)
}

// insideAgent reports whether this process was started by an agent, or by a check,
// of a loop.
func insideAgent() bool {
	for _, name := range []string{"SUPERVISE_TREE", "SUPERVISE_LOOP_ID", "SUPERVISE_PROMPT_FILE"} {
		if os.Getenv(name) != "" {
			return true
		}
	}
	return runner.Inside()
}
