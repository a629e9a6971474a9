package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"supervise/internal/config"
	"supervise/internal/loop"
	"supervise/internal/projectfile"
	"supervise/internal/tasklist"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// runOptions are the options of supervise run.
type runOptions struct {
	checkFlags
	printFlags
	candidateFlags
	steps              stepsFlag
	flags              *pflag.FlagSet // the settings among them override the configuration
	agent              []string       // the command after --
	prompt, promptFile string
	hint               string
	dryRun, noApply    bool
	commit, again      bool
	commitMessage      string // template
}

func newRunCmd(a *app) *cobra.Command {
	var o runOptions
	cmd := &cobra.Command{
		Use: "run [flags] (--agent NAME | -- AGENT [ARGS...])", Short: "Run an agent in a supervised loop",
		Long: `supervise measures the working tree, then runs AGENT once per iteration and measures
again. An iteration with a critical finding (a test deleted, skipped or broken) is kept
as a snapshot and rolled back, and the next prompt explains why. At the end the best
iteration is restored and re-measured. At a terminal the last lines show what runs now;
supervise status --watch shows it in another one.

With --agent, supervise starts a known agent program and passes the prompt in the
way that program expects; arguments after -- are added to its command. Any other
agent finds the prompt in place of {{prompt}} or {{prompt_file}} in its arguments,
otherwise on standard input, and in the file $SUPERVISE_PROMPT_FILE.`,
		Example: `  supervise run --agent claude --yolo -P PROMPT.md --max-cost 5
  supervise run -p "Make the failing tests pass" -- claude -p --dangerously-skip-permissions
  supervise run --test-cmd 'pytest --junitxml=report.xml' --test-report report.xml -- ./agent.sh`,
		Args: storeArgs(&o.agent, agentArgs),
		RunE: inWorkspace(a.workspaceAndHome, func(ctx context.Context, at workspace) error { return runRun(ctx, a, at, o) }),
	}
	o.flags = cmd.Flags()

	flags, s := cmd.Flags(), config.Default()
	addFlagSection(flags, "Task", func(f *pflag.FlagSet) {
		f.StringVarP(&o.prompt, "prompt", "p", "", "`text` of the task")
		f.StringVarP(&o.promptFile, "prompt-file", "P", "", "`file` that holds the task, or several: a Markdown checklist and nothing else, or JSON")
		f.BoolVar(&o.commit, "commit", false, "commit the changes of each task that is done, signed off as you")
		f.StringVar(&o.commitMessage, "commit-message", "", "`template` of the message, with {{.Title}}, {{.Task}}, {{.Number}}, {{.Loop}}, {{.Iteration}} (default: title, iteration and loop)")
		f.BoolVar(&o.again, "again", false, "do tasks of a list that an earlier loop has done, too")
		f.StringVar(&o.hint, "hint", "", "`text` that the first prompt adds; later ones: supervise hint")
	})

	registerSettings(flags, &s)
	addFlagSection(flags, "Rules", o.registerIntent)
	addFlagSection(flags, "Limits", o.steps.register)
	addFlagSection(flags, "Candidates", o.candidateFlags.register)
	o.checkFlags.register(flags)
	addFlagSection(flags, "Output", func(f *pflag.FlagSet) {
		f.BoolVar(&o.noApply, "no-apply", false, "leave the tree as the last iteration left it")
		f.BoolVar(&o.dryRun, "dry-run", false, "print the plan and stop")
		o.printFlags.register(f)
	})
	return cmd
}

// agentArgs rejects arguments before --, so that a misspelled flag never becomes part of the
// agent's command.
func agentArgs(cmd *cobra.Command, args []string) error {
	if len(args) > 0 && cmd.ArgsLenAtDash() != 0 {
		return fmt.Errorf("unexpected argument %q: put the agent's command after --", args[0])
	}
	return nil
}

// registerSettings adds the flags that override settings of the configuration.
func registerSettings(flags *pflag.FlagSet, s *config.Settings) {
	addFlagSection(flags, "Agent", func(f *pflag.FlagSet) {
		f.StringVar(&s.Agent, "agent", s.Agent, "known agent program, by `name`; supervise agents lists them. NAME,NAME:MODEL: the next one continues when the service of one is used up for longer than --max-wait")
		f.StringVar(&s.Model, "model", s.Model, "`model` of that agent (default: its own choice)")
		f.StringVar(&s.Session, "session", s.Session, "fresh: a new session per iteration; continue: the previous one, except after a rollback")
		f.BoolVar(&s.Yolo, "yolo", s.Yolo, "let the agent do everything without asking, with its own flag for that")
		f.StringVar(&s.Pty, "pty", s.Pty, "whether the agent gets a terminal: auto, always, never (pipes)")
		f.StringVar(&s.Protect.State, "protect", s.Protect.State, "whether supervise's own files are kept from the agent: auto, off")
		f.BoolVar(&s.Protect.Sandbox, "sandbox", s.Protect.Sandbox, "hide credentials, other projects and the state from the agent, and limit its network to its service (Linux)")
		f.StringVar(&s.Hooks.Use, "hooks", s.Hooks.Use, "whether the agent's hooks ask supervise before each tool call: on, off")
		f.StringVar(&s.Reinforcement, "reinforcement", s.Reinforcement, "what the prompt adds to the task: adaptive, off, minimal, standard, aggressive")
	})

	addFlagSection(flags, "Limits", func(f *pflag.FlagSet) {
		l := &s.Limits
		f.IntVarP(&l.MaxIterations, "max-iterations", "m", l.MaxIterations, "maximum number of iterations")
		f.IntVar(&l.MaxRetries, "max-retries", l.MaxRetries, "how often a rejected iteration is retried before the loop ends")
		f.DurationVar(&l.MaxTime, "max-time", l.MaxTime, "time limit of the loop, for example 8h (default none)")
		f.Float64Var(&l.MaxCost, "max-cost", l.MaxCost, "cost limit of the loop in US dollars, for agents that report cost (default none)")
		f.Int64Var(&l.MaxTokens, "max-tokens", l.MaxTokens, "limit of tokens of all kinds in the loop (default none)")
		f.Var(&l.MaxWindow, "max-window", "share of a window of its service that the agent may use, like 80%, for agents that report it; then as at a usage limit (default all)")
		f.DurationVar(&l.MaxWait, "max-wait", l.MaxWait, "how long to wait while the agent's service is unavailable")
		f.DurationVar(&l.IterationTimeout, "iteration-timeout", l.IterationTimeout, "time limit of the agent in one iteration (default none)")
		f.Var(&l.IdleTimeout, "idle-timeout", "stop the agent when it prints nothing for this long, 0: never; auto: 30m without a person at the terminal")
		f.Var(&l.FirstOutput, "first-output-timeout", "stop the agent when it has printed nothing at all for this long; auto: 10m without a person there")
		f.IntVar(&l.MaxLoops, "max-loops", l.MaxLoops, "refuse to start while this many loops run on the machine (default: no limit)")
	})

	addFlagSection(flags, "Completion", func(f *pflag.FlagSet) {
		f.StringVar(&s.Until, "until", s.Until, "when the task is done: auto, green, guarded, idle, never, quality, or a command that succeeds then")
		f.StringVar(&s.Promise, "completion-promise", s.Promise, "`text` that the agent must also print before the task counts as done")
		f.Float64Var(&s.QualityTarget, "quality-target", s.QualityTarget, "quality `score` in [0,100] that must also be reached (90 with --until quality)")
		f.Var(&s.MinNoticed, "min-mutants-noticed", "share of the mutants of the change that tests must also notice (80% with --until guarded)")
		registerMinChangeCoverage(f, s)
		f.StringVar(&s.OnStall, "on-stall", s.OnStall, "what happens on a stall or a cycle: auto (a stall and an infinite loop end the loop), stop (an early cycle too), ask or continue")
		f.BoolVar(&s.Diminishing, "stop-on-diminishing", s.Diminishing, "stop when quality grows by less than 5 points twice in a row")
	})

	addFlagSection(flags, "Rules", func(f *pflag.FlagSet) {
		registerRules(f, s)
		f.StringVar(&s.Alarm.Action, "alarm-action", s.Alarm.Action, "what happens when tests vanish while the agent works: off, warn, stop")
		f.StringVar(&s.Reviewer.Agent, "reviewer", s.Reviewer.Agent, "known agent program, or `command`, that gives a second opinion on the selected tree")
		f.Var(config.SealFlag{HiddenTests: &s.HiddenTests}, "seal", "`share` of the failing tests that is taken out of the tree until the loop ends, like 0.3; or a folder outside the tree with tests that the agent does not see")
		f.StringVar(&s.HiddenTests.Dir, "hidden-tests", s.HiddenTests.Dir, "`folder` outside the tree with tests that the agent does not see")
		_ = f.MarkHidden("hidden-tests") // --seal
	})

	addFlagSection(flags, "Approval", func(f *pflag.FlagSet) {
		f.StringVar(&s.Approval, "approval", s.Approval, "what happens when an approval is needed and there is no terminal: reject, abort, wait")
		f.DurationVar(&s.ApprovalTimeout, "approval-timeout", s.ApprovalTimeout, "reject without an answer for this long (default: wait forever)")
		f.BoolVar(&s.Unattended, "unattended", s.Unattended, "never ask on the terminal: --approval decides")
	})
}

// registerMinChangeCoverage adds the flag for the coverage of the change.
func registerMinChangeCoverage(f *pflag.FlagSet, s *config.Settings) {
	f.Var(&s.MinChangeCoverage, "min-change-coverage", "share of the changed lines that tests must also execute, like 80% (default none)")
}

// registerRules adds the flags for judging and selecting iterations.
func registerRules(f *pflag.FlagSet, s *config.Settings) {
	f.StringVar(&s.Mode, "mode", s.Mode, "which rules apply: standard, minimal (critical findings only), aggressive (all), off")
	f.BoolVar(&s.Strict, "strict", s.Strict, "treat a renamed or moved test as deleted, compare coverage percentages as they are")
	f.BoolVar(&s.AllowUntested, "allow-untested", s.AllowUntested, "start even if no test can be measured; build and lint decide")
	f.StringVar(&s.Selection.Mode, "select", s.Selection.Mode, "how the best iteration is chosen: highest_quality_verified, highest_quality, most_recent_above_threshold")
}

// overlay sets in s the settings whose flags were given on the command line. register adds the
// flags of these settings to a flag set, and binds them to s.
func overlay(s *config.Settings, given *pflag.FlagSet, register func(*pflag.FlagSet, *config.Settings)) (err error) {
	settings := pflag.NewFlagSet("settings", pflag.ContinueOnError)
	register(settings, s)
	settings.VisitAll(func(f *pflag.Flag) {
		if flag := given.Lookup(f.Name); flag.Changed {
			err = errors.Join(err, f.Value.Set(flag.Value.String()))
		}
	})
	return err
}

// runRun runs a loop, or prints the plan with --dry-run.
func runRun(ctx context.Context, a *app, at workspace, o runOptions) error {
	if o.flags.Changed("seal") && o.flags.Changed("hidden-tests") {
		return usageError{errors.New("--hidden-tests is --seal with a folder: give one of them")}
	}
	if err := errors.Join(o.printFlags.validate(), o.candidateFlags.validate(o, o.flags)); err != nil {
		return err
	}
	task, tasks, err := o.task()
	if err != nil {
		return err
	}

	s, opts, err := a.loopOptions(planInput{at: at, checks: o.checkFlags, flags: o.flags, register: registerSettings})
	if err != nil {
		return err
	}
	if keys := s.Protect.LoosenedKeys(); len(keys) > 0 && a.config == "" {
		return usageError{fmt.Errorf("%s loosens the sandbox: that needs a file named with --config: the agent can write .supervise.yaml", strings.Join(keys, ", "))}
	}
	if o.dryRun {
		return a.showPlan(opts.Plan, o.json)
	}

	opts.Dir, opts.Task, opts.Args, opts.NoApply, opts.Hint, opts.Steps = at.here, task, o.agent, o.noApply, o.hint, o.steps.n
	if err := a.requireAgent(at, opts, o.flags.Changed("yolo")); err != nil {
		return err
	}
	if err := a.prepareLoop(ctx, at, &opts, s.Limits.MaxLoops, o.json); err != nil {
		return err
	}
	if !o.flags.Changed("hidden-tests") && !o.flags.Changed("seal") && !o.json {
		a.warnHiddenTests(at, opts)
	}

	a.applyLimits(s, &opts, o.json)
	return a.startLoops(ctx, at, opts, o, tasks)
}

// startLoops runs candidates, a list of tasks, or one loop, as the flags say.
func (a *app) startLoops(ctx context.Context, at workspace, opts loop.Options, o runOptions, tasks []tasklist.Task) error {
	several := tasks != nil || o.commit
	switch {
	case o.number > 0 && opts.Hidden.Seal > 0:
		return usageError{errors.New("--seal is for one loop: give it without --candidates")}
	case o.number > 0 && several:
		return usageError{errors.New("--candidates does one task: give it alone, without --commit")}
	case several && o.steps.n != nil:
		return usageError{errors.New("--steps is for one task: give it alone, without --commit")}
	case o.number > 0:
		return a.runCandidates(ctx, opts, o)
	case !several:
		return a.supervise(ctx, opts, o.printFlags, loop.Run)
	case tasks == nil:
		tasks = []tasklist.Task{{Text: opts.Task}}
	}
	return a.runList(ctx, at, opts, o, tasks)
}

// applyLimits notes which limit has no effect. Without a person at the terminal, it sets the
// default timeouts for a silent agent.
func (a *app) applyLimits(s config.Settings, opts *loop.Options, json bool) {
	notes := []string{opts.WindowNote()}
	if s.Unattended || json || !isTerminal(a.in) {
		notes = append(notes, s.Limits.ApplyUnattended(&opts.Setup))
	}
	if !json {
		a.printNotes(notes...)
	}
}

// task returns the text of the task. If the file of -P is a list of tasks, it also returns these
// tasks, otherwise nil.
func (o runOptions) task() (string, []tasklist.Task, error) {
	if o.promptFile == "" {
		return o.prompt, nil, nil
	}
	if o.prompt != "" {
		return "", nil, usageError{errors.New("give the prompt with -p or with -P, not both")}
	}
	text, err := projectfile.ReadNamed(o.promptFile, projectfile.Settings)
	if err != nil {
		return "", nil, usageError{fmt.Errorf("read the prompt: %w", err)}
	}
	tasks, err := tasklist.Read(o.promptFile, text)
	return string(text), tasks, asUsageError(err)
}

// printFlags are the flags for the output of a loop.
type printFlags struct {
	agentOutput, ui string
	json, bell      bool
}

// register adds the flags to the command.
func (p *printFlags) register(f *pflag.FlagSet) {
	f.StringVar(&p.agentOutput, "agent-output", "auto", "how the agent's output is shown: raw, lines, none (auto: raw on a terminal, otherwise none)")
	f.BoolVar(&p.json, "json", false, "print events as JSON lines")
	f.StringVar(&p.ui, "ui", "auto", "plain: no colours, no live lines; rich: both; json: as --json (auto: rich on a terminal)")
	f.BoolVar(&p.bell, "bell", false, "ring the terminal's bell when an approval is needed, at critical findings, and at the end")
}

// validate checks the values of the flags. --ui json becomes --json.
func (p *printFlags) validate() error {
	if !slices.Contains([]string{"auto", "plain", "rich", "json"}, p.ui) {
		return usageError{fmt.Errorf("--ui is auto, plain, rich or json, not %s", p.ui)}
	}
	p.json = p.json || p.ui == "json"
	if !slices.Contains([]string{"auto", "raw", "lines", "none"}, p.agentOutput) {
		return usageError{fmt.Errorf("--agent-output is auto, raw, lines or none, not %s", p.agentOutput)}
	}
	return nil
}
