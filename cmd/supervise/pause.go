package main

import (
	"context"
	"fmt"

	"supervise/internal/ledger"

	"github.com/spf13/cobra"
)

func newPauseCmd(a *app) *cobra.Command {
	var loop string
	return &cobra.Command{
		Use: "pause [LOOP]", Short: "Stop a running loop after its current iteration",
		Long: `Without a name this is the latest loop. The loop restores its best iteration so far
and is paused; supervise resume continues it.`,
		Example: `  supervise pause
  supervise resume`,
		Args: optionalArg(&loop),
		RunE: func(cmd *cobra.Command, _ []string) error { return runPause(cmd.Context(), a, loop) },
	}
}

// runPause asks a loop, or all candidates that run, to pause after the current iteration.
func runPause(ctx context.Context, a *app, loop string) error {
	dir, state, err := a.findRunning(ctx, loop)
	if err != nil {
		return err
	}
	if state.Kind == ledger.KindWatched {
		return usageError{fmt.Errorf("%s is a watched session: it ends with its agent", state.LoopID)}
	}
	for _, dir := range promptedLoops(dir, state) {
		if err := ledger.RequestPause(dir); err != nil {
			return err
		}
	}
	fmt.Fprintf(a.out, "%s pauses after iteration %d; %s resume %s continues it\n", state.LoopID, state.Iteration, a.self(), state.LoopID)
	return nil
}
