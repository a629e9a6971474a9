package main

import (
	"context"
	"errors"
	"fmt"

	"supervise/internal/candidate"
	"supervise/internal/config"
	"supervise/internal/ledger"
	"supervise/internal/loop"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// resumeOptions are the options of supervise resume.
type resumeOptions struct {
	printFlags
	loop   string
	limits loop.Settings // zero values stay as they were
	window config.Percent
	force  bool
}

func newResumeCmd(a *app) *cobra.Command {
	var o resumeOptions
	cmd := &cobra.Command{
		Use:   "resume [LOOP]",
		Short: "Continue a loop that was killed, interrupted or paused",
		Long: `Continue a loop that was killed, interrupted or paused.

Without a name this is the latest loop. It may have ended by a crash, a power cut,
kill -9, an interruption or a limit. What the agent had done in an unfinished
iteration is measured and judged; processes that are left of it are ended first.

The command, the checks and the rules are those that the loop started with, even if
the configuration has changed. If the tree is not as the loop left it, it is restored,
and its present state is kept as a snapshot. A loop that has done all its iterations
needs a higher --max-iterations.`,
		Example: `  supervise resume
  supervise resume fix-tests --max-iterations 30`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			o.loop = first(args)
			return runResume(cmd.Context(), a, o)
		},
	}
	l := &o.limits
	section(cmd.Flags(), "Limits", func(f *pflag.FlagSet) {
		f.IntVarP(&l.MaxIterations, "max-iterations", "m", 0, "maximum number of iterations, earlier ones included (default as before)")
		f.DurationVar(&l.MaxTime, "max-time", 0, "time limit of the whole loop, without interruptions (default as before)")
		f.Float64Var(&l.MaxCost, "max-cost", 0, "cost limit of the whole loop in US dollars (default as before)")
		f.Int64Var(&l.MaxTokens, "max-tokens", 0, "limit of tokens of all kinds in the whole loop (default as before)")
		f.Var(&o.window, "max-window", "share of a window of its service that the agent may use, like 80% (default as before)")
	})
	section(cmd.Flags(), "Approval", func(f *pflag.FlagSet) {
		f.StringVar((*string)(&l.Approval.Policy), "approval", "", "what happens when an approval is needed and there is no terminal: reject, abort, wait; also spelled --gate (default as before)")
		f.BoolVar(&l.Approval.Unattended, "unattended", false, "never ask on the terminal")
	})
	section(cmd.Flags(), "Output", func(f *pflag.FlagSet) {
		f.BoolVar(&o.force, "force", false, "continue although a later loop has worked in the same tree, or it is another repository now")
		o.printFlags.register(f)
	})
	return cmd
}

func runResume(ctx context.Context, a *app, o resumeOptions) error {
	if err := o.printFlags.check(); err != nil {
		return err
	}
	if l := o.limits; l.MaxIterations < 0 || l.MaxTime < 0 || l.MaxCost < 0 || l.MaxTokens < 0 {
		return usageError{errors.New("limits must not be negative")}
	}
	if !o.limits.Approval.Policy.Valid() {
		return usageError{fmt.Errorf("--approval is reject, abort or wait, not %s", o.limits.Approval.Policy)}
	}
	_, home, err := a.located(ctx)
	if err != nil {
		return err
	}
	_, state, err := a.find(ctx, o.loop)
	if err != nil {
		return err
	}
	if state.Kind == ledger.Recorded {
		return usageError{fmt.Errorf("the iterations of loop %s are run elsewhere: use supervise record", state.LoopID)}
	}
	o.limits.MaxWindow = float64(o.window)
	opts := loop.Options{Settings: o.limits, Home: home}
	if state.Kind == ledger.Competing {
		return a.contest(ctx, opts, o.printFlags, func(ctx context.Context, c candidate.Options) (candidate.Outcome, error) {
			return candidate.Resume(ctx, state.LoopID, c)
		})
	}
	return a.supervise(ctx, opts, o.printFlags, func(ctx context.Context, opts loop.Options) (loop.Outcome, error) {
		return loop.Resume(ctx, state.LoopID, opts, o.force)
	})
}
