package main

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"time"

	"supervise/internal/agent"
	"supervise/internal/agentcheck"
	"supervise/internal/config"
	"supervise/internal/criterion"
	"supervise/internal/ledger"
	"supervise/internal/loop"

	"github.com/spf13/cobra"
)

// agentsOptions are the options of supervise agents and of supervise agents check.
type agentsOptions struct {
	json, yolo bool
	model      string
	timeout    time.Duration
	args       []string // the name of the agent, and arguments for its program
}

func newAgentsCmd(a *app) *cobra.Command {
	var o agentsOptions
	cmd := &cobra.Command{
		Use: "agents", Short: "List the agent programs that supervise knows",
		Long: `For each one: whether it is installed, in which version, and what of it was tested.
A file NAME.yaml in ` + "~/.config/supervise/agents" + ` adds an agent, or replaces a built-in one.
Exits with 2 if such a file is broken.`,
		Example: `  supervise agents
  supervise agents --json
  supervise agents check claude --yolo`,
		RunE: func(cmd *cobra.Command, _ []string) error { return runAgents(cmd.Context(), a, o) },
	}
	cmd.Flags().BoolVar(&o.json, "json", false, "print as JSON")
	cmd.AddCommand(newAgentsCheckCmd(a))
	return cmd
}

func newAgentsCheckCmd(a *app) *cobra.Command {
	var o agentsOptions
	cmd := &cobra.Command{
		Use:   "check NAME [flags] [-- ARGS...]",
		Short: "Run one turn of an agent in a scratch project, and show how its output is read",
		Long: `The agent is asked to write one small file in a temporary git repository. What follows
is read as in a loop: outcome, usage and cost, session, and whether consent and hooks
had an effect. This needs the agent's account, and costs one short turn.

Exits with 0 if the agent did it and said so, 2 if it cannot work without your help
(not installed, not signed in, no such model), and 4 otherwise. The folder is then kept.`,
		Example: `  supervise agents check claude --yolo
  supervise agents check opencode --yolo --model anthropic/claude-sonnet-4-5 --json`,
		Args: storeArgs(&o.args, cobra.MinimumNArgs(1)),
		RunE: func(cmd *cobra.Command, _ []string) error { return runAgentsCheck(cmd.Context(), a, o) },
	}

	cmd.Flags().BoolVar(&o.yolo, "yolo", false, "the agent may do everything without asking, as in supervise run")
	cmd.Flags().StringVar(&o.model, "model", "", "`name` of the model, as the agent calls it")
	cmd.Flags().DurationVar(&o.timeout, "timeout", 5*time.Minute, "how long the turn may take")
	cmd.Flags().BoolVar(&o.json, "json", false, "print as JSON")
	return cmd
}

// runAgents lists the known agents.
func runAgents(ctx context.Context, a *app, o agentsOptions) error {
	list := agentcheck.List(ctx, agent.Names())
	for _, row := range list {
		if row.Error != "" {
			a.code = exitCode(usageError{errors.New(row.Error)})
		}
	}
	if o.json {
		return a.encode(list)
	}
	a.text().PrintAgents(list)
	return nil
}

// runAgentsCheck runs an agent once and prints what supervise understood. It keeps the scratch
// folder if the check failed.
func runAgentsCheck(ctx context.Context, a *app, o agentsOptions) error {
	p, err := agent.ByName(o.args[0])
	if err != nil {
		return usageError{err}
	}
	if o.timeout <= 0 {
		return usageError{errors.New("--timeout must be above 0, like 5m")}
	}

	dir, err := os.MkdirTemp("", "supervise-agents-check-")
	if err != nil {
		return err
	}
	if dir, err = filepath.EvalSymlinks(dir); err != nil {
		return err
	}

	turn, err := a.runAgentTurn(ctx, dir, p, o)
	if err != nil {
		return errors.Join(err, ledger.RemoveTree(dir))
	}

	if a.code = turn.ExitStatus(); a.code == 0 {
		turn.Folder = ""
		if err := ledger.RemoveTree(dir); err != nil {
			return err
		}
	}

	if o.json {
		return a.encode(turn)
	}
	a.text().PrintTurn(turn)
	return nil
}

// runAgentTurn runs a loop of one iteration in a scratch project below dir, and returns what it
// shows about the agent.
func (a *app) runAgentTurn(ctx context.Context, dir string, p agent.Preset, o agentsOptions) (agentcheck.Turn, error) {
	turn := agentcheck.Turn{Agent: p.Name, Consent: o.yolo, Hooks: agentcheck.HooksNone, Folder: dir}
	root := filepath.Join(dir, "project")
	if err := agentcheck.CreateProject(ctx, root); err != nil {
		return turn, err
	}

	opts, err := agentCheckOptions(root, p.Name, o)
	if err != nil {
		return turn, err
	}

	opts.Home, opts.Log, opts.Self, opts.OnEvent = ledger.Home(filepath.Join(dir, "state"), root), a.log(), executablePath(), turn.Record
	if err := a.requireAgent(workspace{root: root, here: root, project: root}, opts, o.yolo); err != nil {
		return turn, err
	}
	if _, err := loop.Run(ctx, opts); err != nil {
		return turn, err
	}

	turn.Command = opts.CommandLine()
	if agent.Outcome(turn.Run.Outcome).NeedsPerson() {
		turn.Remedy = p.Login
	}

	_, err = os.Stat(filepath.Join(root, agentcheck.TargetFile))
	turn.Done = err == nil
	return turn, nil
}

// agentCheckOptions returns the options of a loop of one iteration that waits for nothing.
func agentCheckOptions(root, name string, o agentsOptions) (loop.Options, error) {
	s := config.Default()
	s.Agent, s.Model, s.Yolo, s.Unattended = name, o.model, o.yolo, true
	s.Checks.Test = config.List{{Command: config.Shell(agentcheck.CheckCommand)}}
	s.Limits.MaxIterations, s.Limits.MaxWait, s.Limits.MaxRetries, s.Limits.IterationTimeout = 1, 0, 0, o.timeout
	s.Until, s.Reinforcement, s.EvidenceTokens = string(criterion.Never), "off", 0
	opts, err := scratchOptions(s, root)
	opts.Task, opts.Args, opts.NoApply = agentcheck.Task, o.args[1:], true
	return opts, err
}
