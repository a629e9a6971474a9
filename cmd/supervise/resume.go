package main

import (
	"context"
	"errors"
	"fmt"

	"supervise/internal/ledger"
	"supervise/internal/loop"

	"github.com/spf13/cobra"
)

func (a *app) resumeCmd() *cobra.Command {
	f := &runFlags{}
	var limits loop.Settings
	var force bool
	cmd := &cobra.Command{
		Use:   "resume [LOOP]",
		Short: "Go on with a loop that was killed or interrupted",
		Long: `Resume goes on with a loop, the latest without a name, where it stood when its
supervise ended: by a crash, a power cut, kill -9, an interruption or a limit.

What the agent had done in a broken-off iteration is measured and judged; what
still runs of it is ended first. The command, the checks and the rules are those
the loop was started with, also when the configuration has changed since. If the
tree is not as the loop left it, it is put back; what was there is kept as a
snapshot and named. A loop that has done all its iterations says so again;
--max-iterations gives it more.`,
		Example: "  supervise resume\n  supervise resume fix-tests --max-iterations 30",
		Args:    cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := f.checkShow(); err != nil {
				return err
			}
			return a.resume(cmd, f, args, limits, force)
		},
	}
	flags := cmd.Flags()
	flags.SortFlags = false
	flags.IntVarP(&limits.MaxIterations, "max-iterations", "m", 0, "how many iterations the loop has in all (default as before)")
	flags.DurationVar(&limits.MaxTime, "max-time", 0, "limit of the whole loop, without the time it lay still (default as before)")
	flags.Float64Var(&limits.MaxCost, "max-cost", 0, "limit of what the agent costs in the whole loop, in US dollars (default as before)")
	flags.Int64Var(&limits.MaxTokens, "max-tokens", 0, "the same in tokens of all kinds (default as before)")
	flags.StringVar((*string)(&limits.Gate.Policy), "gate", "", "what is done where a person should judge and no terminal is there: reject, abort, wait (default as before)")
	flags.BoolVar(&limits.Gate.Unattended, "unattended", false, "ask nobody at the terminal")
	flags.BoolVar(&force, "force", false, "go on although a later loop has worked in the same tree")
	f.registerShow(cmd)
	return cmd
}

func (a *app) resume(cmd *cobra.Command, f *runFlags, args []string, limits loop.Settings, force bool) error {
	if limits.MaxIterations < 0 || limits.MaxTime < 0 || limits.MaxCost < 0 || limits.MaxTokens < 0 {
		return usageError{errors.New("limits must not be negative")}
	}
	if !limits.Gate.Policy.Valid() {
		return usageError{fmt.Errorf("--gate is reject, abort or wait, not %s", limits.Gate.Policy)}
	}
	at, err := a.place(cmd.Context())
	if err != nil {
		return err
	}
	_, state, err := a.find(cmd, first(args))
	if err != nil {
		return err
	}
	if state.Kind == ledger.Recorded {
		return usageError{fmt.Errorf("loop %s has its iterations from elsewhere: supervise record goes on with it", state.LoopID)}
	}
	home, err := a.home(at.root)
	if err != nil {
		return err
	}
	opts := loop.Options{Settings: limits, Home: home}
	return a.supervise(cmd.Context(), opts, f, func(ctx context.Context, o loop.Options) (loop.Outcome, error) {
		return loop.Resume(ctx, state.LoopID, o, force)
	})
}
