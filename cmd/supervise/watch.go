package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"supervise/internal/agentrun"
	"supervise/internal/config"
	"supervise/internal/loop"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"golang.org/x/term"
)

// watchOptions are the options of supervise watch.
type watchOptions struct {
	checkFlags
	flags *pflag.FlagSet // the settings among them override the configuration
	agent []string       // the command after --
	rest  time.Duration  // how long the agent must be idle before the tree is measured
}

func newWatchCmd(a *app) *cobra.Command {
	var o watchOptions
	cmd := &cobra.Command{
		Use:   "watch [flags] -- AGENT [ARGS...]",
		Short: "Watch your own session with an agent, and measure when it is idle",
		Long: `supervise measures the working tree and starts AGENT on your terminal. Whenever the
agent is idle and files have changed, the tree is measured and judged like an iteration
of supervise run. The agent is idle when its hooks report a stop, or when it has printed
nothing and no file was written for --rest.

Nothing is rolled back. Findings appear in the title of the terminal between turns, in
supervise status --watch in another terminal, and below the session when it ends.
supervise rollback restores any iteration.`,
		Example: `  supervise watch -- claude
  supervise watch --rest 1m -- aider
  supervise status --watch`,
		Args: storeArgs(&o.agent, agentArgs),
		RunE: inWorkspace(a.workspaceAndHome, func(ctx context.Context, at workspace) error { return runWatch(ctx, a, at, o) }),
	}
	o.flags = cmd.Flags()

	s := config.Default()
	registerWatched(cmd.Flags(), &s)
	addFlagSection(cmd.Flags(), "Rules", o.registerIntent)
	cmd.Flags().DurationVar(&o.rest, "rest", loop.DefaultIdleTime, "how long the agent prints nothing and no file is written until it counts as idle")
	o.checkFlags.register(cmd.Flags())
	return cmd
}

// registerWatched adds the flags that override settings of a watched session.
func registerWatched(flags *pflag.FlagSet, s *config.Settings) {
	addFlagSection(flags, "Rules", func(f *pflag.FlagSet) {
		registerRules(f, s)
		f.StringVar(&s.Hooks.Use, "hooks", s.Hooks.Use, "whether the agent's hooks report that it stopped: on, off")
	})
}

// runWatch runs a session of the user with an agent, and measures the tree whenever the agent is
// idle.
func runWatch(ctx context.Context, a *app, at workspace, o watchOptions) error {
	if o.rest <= 0 {
		return usageError{fmt.Errorf("--rest must be above 0, not %s", o.rest)}
	}
	if !term.IsTerminal(int(a.in.Fd())) || !isTerminal(a.out) {
		return usageError{errors.New("watch is for your own session and needs a terminal: supervise run works without one")}
	}

	s, opts, err := a.loopOptions(planInput{at: at, checks: o.checkFlags, flags: o.flags, register: registerWatched})
	if err != nil {
		return err
	}

	opts.IdleAfter, opts.Dir, opts.Args, opts.Program = o.rest, at.here, o.agent, agentrun.Program{}
	if err := a.requireAgent(at, opts, false); err != nil {
		return err
	}
	if err := a.prepareLoop(ctx, at, &opts, s.Limits.MaxLoops, false); err != nil {
		return err
	}
	return a.supervise(ctx, opts, printFlags{agentOutput: "raw"}, loop.Watch)
}
