package main

import (
	"context"
	"errors"
	"fmt"

	"supervise/internal/ledger"

	"github.com/spf13/cobra"
)

func newHintCmd(a *app) *cobra.Command {
	return &cobra.Command{
		Use: "hint LOOP TEXT", Short: "Add a hint to the next prompt of a loop",
		Long: `LOOP is the name of a loop, a part of it, or latest. The text is added to one prompt:
that of the next iteration, also if the loop is resumed later.`,
		Example: `  supervise hint latest "the parser is in internal/old, not in internal/parse"
  supervise run --hint "start with the failing test" -p "Fix the tests" -- claude`,
		Args: cobra.ExactArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error { return runHint(cmd.Context(), a, args[0], args[1]) },
	}
}

// runHint stores a text for the next prompt of a loop, or of all candidates that run.
func runHint(ctx context.Context, a *app, loop, text string) error {
	if insideAgent() {
		return usageError{errInside}
	}
	dir, state, err := a.find(ctx, loop)
	if err != nil {
		return err
	}
	if state.Kind == ledger.KindWatched || state.Kind == ledger.KindRecorded {
		return usageError{fmt.Errorf("supervise writes no prompts in %s: another program runs it", state.LoopID)}
	}

	for _, dir := range promptedLoops(dir, state) {
		if err := ledger.AddHint(dir, text); errors.Is(err, ledger.ErrHint) {
			return usageError{err}
		} else if err != nil {
			return err
		}
	}

	when := "in the next iteration"
	if free, err := ledger.IsUnlocked(dir); err == nil && free {
		when = "when the loop continues: " + a.self() + " resume " + state.LoopID
	}

	fmt.Fprintf(a.out, "%s: the agent gets the hint %s\n", state.LoopID, when)
	return nil
}
