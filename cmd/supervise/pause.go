package main

import (
	"errors"
	"fmt"
	"os"
	"time"

	"supervise/internal/approval"
	"supervise/internal/ledger"

	"github.com/spf13/cobra"
)

func (a *app) pauseCmd() *cobra.Command {
	return &cobra.Command{
		Use:   "pause [LOOP]",
		Short: "Have a running loop end when its iteration is over; resume goes on",
		Long: `Pause asks a running loop to end when the iteration that is under way is judged.
It gives back the best iteration so far, as at any end, and is paused: supervise
resume goes on where it stood. The latest loop is meant without a name.`,
		Example: "  supervise pause\n  supervise resume",
		Args:    cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			dir, state, err := a.running(cmd, first(args))
			if err != nil {
				return err
			}
			if state.Kind == ledger.Watched {
				return usageError{fmt.Errorf("%s is a session of your own that is watched: it ends with its agent", state.LoopID)}
			}
			if err := ledger.RequestPause(dir); err != nil {
				return err
			}
			fmt.Fprintf(a.out, "%s pauses when iteration %d is over; %s resume %s goes on\n", state.LoopID, state.Iteration, a.self(), state.LoopID)
			return nil
		},
	}
}

// running finds a loop that a supervise is at work on.
func (a *app) running(cmd *cobra.Command, name string) (string, ledger.State, error) {
	if insideAgent() {
		return "", ledger.State{}, usageError{errInside}
	}
	dir, state, err := a.find(cmd, name)
	if err != nil {
		return "", state, err
	}
	free, err := ledger.Free(dir)
	if err == nil && free {
		err = usageError{fmt.Errorf("loop %s (%s) does not run", state.LoopID, state.Status)}
	}
	return dir, state, err
}

// abortFlags are the flags of abort.
type abortFlags struct{ revert, keep bool }

// abortRunning ends a loop that asks nothing as Ctrl-C does, and waits until it is
// over. handled is false where it does ask.
func (a *app) abortRunning(cmd *cobra.Command, name string, f abortFlags) (handled bool, err error) {
	if f.revert && f.keep {
		return true, usageError{errors.New("--revert puts the tree back to the start, --keep-changes leaves the agent's last one: give one of them")}
	}
	dir, state, err := a.running(cmd, name)
	if err != nil {
		return true, err
	}
	if _, not := approval.Asked(dir); not == nil {
		return false, nil
	}
	p, err := os.FindProcess(state.PID)
	if err == nil {
		err = p.Signal(os.Interrupt)
	}
	if err != nil {
		return true, fmt.Errorf("interrupt loop %s (process %d): %w", state.LoopID, state.PID, err)
	}
	fmt.Fprintf(a.err, "%s is asked to end\n", state.LoopID)
	if err := a.awaitEnd(cmd, dir); err != nil {
		return true, err
	}
	switch {
	case f.revert:
		return true, a.rollback(cmd, state.LoopID, "baseline")
	case f.keep:
		return true, a.keepLast(cmd, state.LoopID)
	}
	fmt.Fprintf(a.out, "%s is over; its best iteration is in the tree\n", state.LoopID)
	return true, nil
}

// keepLast puts back what the agent left last, where anything of it was kept.
func (a *app) keepLast(cmd *cobra.Command, name string) error {
	dir, _, err := a.find(cmd, name)
	if err != nil {
		return err
	}
	its, err := ledger.Iterations(dir)
	if err != nil {
		return err
	}
	for i := len(its) - 1; i >= 0; i-- {
		if its[i].Snapshot != "" {
			return a.rollback(cmd, name, "s"+string(its[i].Snapshot))
		}
	}
	return nil
}

// endTimeout is how long a loop may take to end: the agent's processes are ended, the
// tree is put back and measured once more.
const endTimeout = 10 * time.Minute

// awaitEnd waits until nobody holds the loop any more.
func (a *app) awaitEnd(cmd *cobra.Command, dir string) error {
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for deadline := time.Now().Add(endTimeout); time.Now().Before(deadline); {
		free, err := ledger.Free(dir)
		if err != nil || free {
			return err
		}
		select {
		case <-cmd.Context().Done():
			return cmd.Context().Err()
		case <-tick.C:
		}
	}
	return fmt.Errorf("the loop in %s does not end: its processes may hang", dir)
}
