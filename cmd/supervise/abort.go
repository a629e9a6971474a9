package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"supervise/internal/approval"
	"supervise/internal/event"
	"supervise/internal/ledger"

	"github.com/spf13/cobra"
)

// abortOptions are the options of supervise abort.
type abortOptions struct {
	loop, reason string
	revert, keep bool // which tree remains of a loop that does not wait for approval
}

func newAbortCmd(a *app) *cobra.Command {
	var o abortOptions
	cmd := &cobra.Command{
		Use: "abort [LOOP]", Short: "End a loop that runs or waits for approval",
		Long: `A loop that waits for approval rolls back the iteration it asks about and restores the
best iteration so far. Any other loop ends as after Ctrl-C; then --revert restores the
tree from before the loop, and --keep-changes the last tree of the agent.` + onlyPeople,
		Example: `  supervise abort
  supervise abort fix-tests --reason "the feature was dropped"
  supervise abort fix-tests --revert`,
		Args: optionalArg(&o.loop),
		RunE: func(cmd *cobra.Command, _ []string) error { return runAbort(cmd.Context(), a, o) },
	}

	cmd.Flags().StringVar(&o.reason, "reason", "", "why, for the log")
	cmd.Flags().BoolVar(&o.revert, "revert", false, "restore the tree from before the loop")
	cmd.Flags().BoolVar(&o.keep, "keep-changes", false, "restore the last tree of the agent")
	return cmd
}

// runAbort answers the open question of a loop, or else interrupts the loop and waits for its end.
func runAbort(ctx context.Context, a *app, o abortOptions) error {
	if o.revert && o.keep {
		return usageError{errors.New("give one of --revert (the tree from before the loop) and --keep-changes (the last tree of the agent)")}
	}
	if _, state, err := a.find(ctx, o.loop); err == nil && state.StopReason == string(event.Awaiting) {
		return runAnswer(ctx, a, answerOptions{loop: o.loop, choice: approval.Abort, reason: o.reason})
	}

	dir, state, err := a.findRunning(ctx, o.loop)
	if err != nil {
		return err
	}
	if _, noQuestion := approval.OpenQuestion(dir); noQuestion == nil {
		return runAnswer(ctx, a, answerOptions{loop: o.loop, choice: approval.Abort, reason: o.reason})
	}

	p, err := os.FindProcess(state.PID)
	if err == nil {
		err = p.Signal(os.Interrupt)
	}
	if err != nil {
		return fmt.Errorf("interrupt loop %s (process %d): %w", state.LoopID, state.PID, err)
	}

	fmt.Fprintf(a.err, "%s is asked to end\n", state.LoopID)
	if err := awaitEnd(ctx, dir); err != nil {
		return err
	}

	switch {
	case o.revert:
		return runRollback(ctx, a, rollbackOptions{loop: state.LoopID, tree: "baseline"})
	case o.keep:
		return a.restoreLast(ctx, dir, state.LoopID)
	}

	fmt.Fprintf(a.out, "%s is over\n", state.LoopID)
	if _, ended, err := a.find(ctx, state.LoopID); err == nil {
		a.tree = ended.TreeText
	}

	a.lastLine()
	return nil
}

// restoreLast restores the last tree of the agent in the loop name, if there is a snapshot of it.
func (a *app) restoreLast(ctx context.Context, dir, name string) error {
	its, err := ledger.ReadIterations(dir)
	if err != nil {
		return err
	}
	for i := len(its) - 1; i >= 0; i-- {
		if its[i].Snapshot != "" {
			return runRollback(ctx, a, rollbackOptions{loop: name, tree: its[i].Snapshot.Name()})
		}
	}
	return nil
}

// endTimeout is how long a loop may take to end. In this time it ends the processes of the agent,
// restores the tree and measures it again.
const endTimeout = 10 * time.Minute

// awaitEnd waits until no process works on the loop in the folder dir.
func awaitEnd(ctx context.Context, dir string) error {
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for deadline := time.Now().Add(endTimeout); time.Now().Before(deadline); {
		free, err := ledger.IsUnlocked(dir)
		if err != nil || free {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-tick.C:
		}
	}
	return fmt.Errorf("the loop in %s does not end: its processes may hang", dir)
}
