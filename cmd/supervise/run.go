package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"supervise/internal/agent"
	"supervise/internal/config"
	"supervise/internal/ledger"
	"supervise/internal/loop"
	"supervise/internal/prompt"
	"supervise/internal/report"

	"github.com/spf13/cobra"
)

// runFlags are the flags of run.
type runFlags struct {
	planFlags
	set                config.Settings // values of the flags that override settings
	prompt, promptFile string
	dryRun, noApply    bool
	show, ui           string
	json, bell         bool
	maxLoops           int // of the settings
}

func (a *app) runCmd() *cobra.Command {
	f := &runFlags{set: config.Default()}
	cmd := &cobra.Command{
		Use:   "run [flags] (--agent NAME | -- AGENT [ARGS…])",
		Short: "Run an agent in a supervised loop",
		Long: `Run measures the working tree, then runs AGENT once per iteration and measures
again. An iteration with a critical finding (a test deleted, skipped or broken) is
kept as a snapshot and undone, and the next prompt says what was rejected and why.
At the end the best iteration is restored and measured once more.

With --agent supervise starts a known agent program by itself, and knows how it is
given its prompt; arguments behind -- are added to it. Otherwise the prompt reaches
the agent where {{prompt}} or {{prompt_file}} stand in its arguments, else on standard input.
It is also the file $SUPERVISE_PROMPT_FILE. Flags end at --: everything behind it is
the agent's.`,
		Example: `  supervise run --agent claude --yolo -P PROMPT.md --max-cost 5
  supervise run -p "Make the failing tests pass" -- claude -p --dangerously-skip-permissions
  supervise run -P PROMPT.md --max-iterations 20 --max-time 8h -- codex exec {{prompt}}
  supervise run --test-cmd 'pytest --junitxml=report.xml' --test-report report.xml -- ./agent.sh
  supervise run --dry-run`,
		Args: f.args,
		RunE: func(cmd *cobra.Command, args []string) error { return a.runLoop(cmd, f, args) },
	}
	f.register(cmd)
	return cmd
}

// args refuses what does not stand behind --, so that a misspelt flag is never
// taken for a part of the agent's command.
func (f *runFlags) args(cmd *cobra.Command, args []string) error {
	if len(args) > 0 && cmd.ArgsLenAtDash() != 0 {
		return fmt.Errorf("unexpected argument %q: the agent's command stands behind --", args[0])
	}
	return nil
}

func (f *runFlags) register(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.SortFlags = false
	s := &f.set
	flags.StringVarP(&f.prompt, "prompt", "p", "", "what the agent is to do")
	flags.StringVarP(&f.promptFile, "prompt-file", "P", "", "file that says what the agent is to do")
	flags.StringVar(&s.Agent, "agent", "", "a known agent program: "+strings.Join(agent.Names(), ", "))
	flags.StringVar(&s.Model, "model", "", "the model of that agent (default its own choice)")
	flags.StringVar(&s.Session, "session", s.Session, "fresh: a new session in each iteration; continue: that of the one before, but for rollbacks")
	flags.BoolVar(&s.Yolo, "yolo", false, "the agent may do everything without asking: you agree to its flag for that")
	flags.IntVarP(&s.Limits.MaxIterations, "max-iterations", "m", s.Limits.MaxIterations, "how many times the agent is run at most")
	flags.DurationVar(&s.Limits.MaxTime, "max-time", 0, "limit of the whole loop, for instance 8h (default none)")
	flags.Float64Var(&s.Limits.MaxCost, "max-cost", 0, "limit of what the agent costs in the whole loop, in US dollars, where it tells (default none)")
	flags.Int64Var(&s.Limits.MaxTokens, "max-tokens", 0, "the same in tokens of all kinds (default none)")
	flags.DurationVar(&s.Limits.MaxWait, "max-wait", s.Limits.MaxWait, "how long to wait for the agent's service when it is not available")
	flags.DurationVar(&s.Limits.IterationTimeout, "iteration-timeout", 0, "limit of the agent in one iteration (default none)")
	flags.DurationVar(&s.Limits.IdleTimeout, "idle-timeout", 0, "stop the agent when it prints nothing for so long (default none)")
	flags.DurationVar(&s.Limits.FirstOutput, "first-output-timeout", 0, "stop the agent when it has printed nothing at all for so long (default none)")
	flags.StringVar(&s.Pty, "pty", s.Pty, "whether the agent has a terminal: auto, always, never (pipes)")
	flags.IntVar(&s.Limits.MaxLoops, "max-loops", 0, "refuse to start when so many loops run already, in whatever tree (default any)")
	flags.IntVar(&s.Limits.MaxRetries, "max-retries", s.Limits.MaxRetries, "how often a rejected iteration is tried again before the loop ends")
	flags.StringVar(&s.Until, "until", s.Until, "when the task is done: auto, green, idle, never, quality, or a command that succeeds then")
	flags.StringVar(&s.Promise, "completion-promise", "", "a text that the agent has to say as well, besides green checks, for the task to be done")
	flags.Float64Var(&s.QualityTarget, "quality-target", 0, "a quality score in [0,100] that has to be reached as well (90 with --until quality)")
	flags.StringVar(&s.OnStall, "on-stall", s.OnStall, "what a stall does: stop, ask or continue")
	flags.StringVar(&s.Gate, "gate", s.Gate, "what is done where a person should judge and no terminal is there: reject, abort, wait (for supervise approve, reject or abort)")
	flags.DurationVar(&s.GateTimeout, "gate-timeout", 0, "reject what nobody has judged for so long (default: wait for ever)")
	flags.StringVar(&s.Watch.Action, "watch-action", s.Watch.Action, "what is done when tests vanish while the agent works: off, warn, stop")
	flags.BoolVar(&s.Unattended, "unattended", false, "ask nobody at the terminal: --gate decides")
	flags.BoolVar(&s.Diminishing, "stop-on-diminishing", false, "end the loop when quality grows by less than 5 points twice in a row")
	flags.StringVar(&s.Reinforcement, "reinforcement", s.Reinforcement, "what the prompt says beside the task: adaptive, off, minimal, standard, aggressive")
	flags.StringVar(&s.Mode, "mode", s.Mode, "which rules apply: standard, minimal (critical findings alone), aggressive (all), off")
	flags.BoolVar(&s.Strict, "strict", false, "a renamed or moved test counts as a deleted one")
	flags.BoolVar(&s.AllowUntested, "allow-untested", false, "run although no test can be measured, judged by build and lint alone")
	flags.StringVar(&s.Selection.Mode, "select", s.Selection.Mode, "how the best is chosen: highest_quality_verified, highest_quality, most_recent_above_threshold")
	flags.StringVar(&s.Hooks.Use, "hooks", s.Hooks.Use, "whether the agent's own hooks ask supervise before each tool call: on, off")
	flags.StringVar(&s.HoldOut.Dir, "holdout-dir", "", "folder outside the tree with tests that the agent does not see")
	f.planFlags.register(cmd)
	flags.BoolVar(&f.noApply, "no-apply", false, "leave the tree as the last iteration left it")
	flags.BoolVar(&f.dryRun, "dry-run", false, "print the plan and stop")
	f.registerShow(cmd)
}

// registerShow adds the flags about what is printed.
func (f *runFlags) registerShow(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&f.show, "agent-output", "auto", "what is shown of the agent's output: raw, lines, none (auto: raw on a terminal, else none)")
	flags.BoolVar(&f.json, "json", false, "print events as JSON lines on standard output")
	flags.StringVar(&f.ui, "ui", "auto", "plain: no colours and no lines that are replaced; rich: both; json: as --json (auto: rich on a terminal)")
	flags.BoolVar(&f.bell, "bell", false, "ring the terminal's bell when somebody has to answer, at critical findings, and at the end")
}

func (f *runFlags) checkShow() error {
	if !slices.Contains([]string{"auto", "plain", "rich", "json"}, f.ui) && f.ui != "" {
		return usageError{fmt.Errorf("--ui is auto, plain, rich or json, not %s", f.ui)}
	}
	f.json = f.json || f.ui == "json"
	if !slices.Contains([]string{"auto", "raw", "lines", "none"}, f.show) {
		return usageError{fmt.Errorf("--agent-output is auto, raw, lines or none, not %s", f.show)}
	}
	return nil
}

// overrides copies the value of each flag that was given over the setting.
var overrides = map[string]func(to, from *config.Settings){
	"max-iterations":       func(to, from *config.Settings) { to.Limits.MaxIterations = from.Limits.MaxIterations },
	"max-time":             func(to, from *config.Settings) { to.Limits.MaxTime = from.Limits.MaxTime },
	"agent":                func(to, from *config.Settings) { to.Agent = from.Agent },
	"model":                func(to, from *config.Settings) { to.Model = from.Model },
	"session":              func(to, from *config.Settings) { to.Session = from.Session },
	"yolo":                 func(to, from *config.Settings) { to.Yolo = from.Yolo },
	"max-cost":             func(to, from *config.Settings) { to.Limits.MaxCost = from.Limits.MaxCost },
	"max-tokens":           func(to, from *config.Settings) { to.Limits.MaxTokens = from.Limits.MaxTokens },
	"max-wait":             func(to, from *config.Settings) { to.Limits.MaxWait = from.Limits.MaxWait },
	"completion-promise":   func(to, from *config.Settings) { to.Promise = from.Promise },
	"quality-target":       func(to, from *config.Settings) { to.QualityTarget = from.QualityTarget },
	"iteration-timeout":    func(to, from *config.Settings) { to.Limits.IterationTimeout = from.Limits.IterationTimeout },
	"idle-timeout":         func(to, from *config.Settings) { to.Limits.IdleTimeout = from.Limits.IdleTimeout },
	"first-output-timeout": func(to, from *config.Settings) { to.Limits.FirstOutput = from.Limits.FirstOutput },
	"pty":                  func(to, from *config.Settings) { to.Pty = from.Pty },
	"max-loops":            func(to, from *config.Settings) { to.Limits.MaxLoops = from.Limits.MaxLoops },
	"max-retries":          func(to, from *config.Settings) { to.Limits.MaxRetries = from.Limits.MaxRetries },
	"until":                func(to, from *config.Settings) { to.Until = from.Until },
	"on-stall":             func(to, from *config.Settings) { to.OnStall = from.OnStall },
	"gate":                 func(to, from *config.Settings) { to.Gate = from.Gate },
	"gate-timeout":         func(to, from *config.Settings) { to.GateTimeout = from.GateTimeout },
	"watch-action":         func(to, from *config.Settings) { to.Watch = from.Watch },
	"unattended":           func(to, from *config.Settings) { to.Unattended = from.Unattended },
	"stop-on-diminishing":  func(to, from *config.Settings) { to.Diminishing = from.Diminishing },
	"reinforcement":        func(to, from *config.Settings) { to.Reinforcement = from.Reinforcement },
	"mode":                 func(to, from *config.Settings) { to.Mode = from.Mode },
	"strict":               func(to, from *config.Settings) { to.Strict = from.Strict },
	"allow-untested":       func(to, from *config.Settings) { to.AllowUntested = from.AllowUntested },
	"hooks":                func(to, from *config.Settings) { to.Hooks.Use = from.Hooks.Use },
	"holdout-dir":          func(to, from *config.Settings) { to.HoldOut.Dir = from.HoldOut.Dir },
	"select":               func(to, from *config.Settings) { to.Selection.Mode = from.Selection.Mode },
}

func (a *app) runLoop(cmd *cobra.Command, f *runFlags, args []string) error {
	if err := f.checkShow(); err != nil {
		return err
	}
	at, err := a.place(cmd.Context())
	if err != nil {
		return err
	}
	task, err := f.task()
	if err != nil {
		return err
	}
	opts, err := a.asked(cmd, at, f)
	if err != nil {
		return err
	}
	if f.dryRun {
		if f.json {
			return a.encode(opts.Plan)
		}
		a.printPlan(opts.Plan)
		return nil
	}
	opts.Dir, opts.Task, opts.Args, opts.NoApply = at.here, task, args, f.noApply
	if err := a.prepare(cmd, at, &opts, f); err != nil {
		return err
	}
	if !cmd.Flags().Changed("holdout-dir") && !f.json {
		a.readable(at, opts)
	}
	return a.supervise(cmd.Context(), opts, f, loop.Run)
}

// asked returns what a loop is asked to do: the flags over the file over what is
// recognised.
func (a *app) asked(cmd *cobra.Command, at place, f *runFlags) (loop.Options, error) {
	settings, plan, err := a.plan(at.project, &f.planFlags)
	if err != nil {
		return loop.Options{}, err
	}
	for name, set := range overrides {
		if cmd.Flags().Changed(name) {
			set(&settings, &f.set)
		}
	}
	opts, err := settings.Loop(at.root)
	opts.Plan, f.maxLoops = plan, settings.Limits.MaxLoops
	return opts, err
}

// prepare makes sure that a loop can be started, and says what should be known.
func (a *app) prepare(cmd *cobra.Command, at place, opts *loop.Options, f *runFlags) (err error) {
	if err := a.ready(cmd, at, *opts); err != nil {
		return err
	}
	if err := kept(cmd.Context(), at); err != nil {
		return err
	}
	if opts.Home, err = a.home(at.root); err != nil {
		return err
	}
	if err := a.room(opts.Home, f.maxLoops); err != nil {
		return err
	}
	return a.before(cmd.Context(), at, opts, f)
}

// room refuses a loop where as many run already as may, in whatever tree.
func (a *app) room(home string, limit int) error {
	if limit == 0 {
		return nil
	}
	pattern := home
	if a.state == "" {
		pattern = filepath.Join(filepath.Dir(home), "*")
	}
	running, err := ledger.AtWork(pattern)
	if err != nil || len(running) < limit {
		return err
	}
	var names []string
	for _, s := range running {
		names = append(names, s.LoopID+" in "+s.Workspace)
	}
	return usageError{fmt.Errorf("%s already, and limits.max_loops is %d: %s", report.Count(len(running), "loop runs", "loops run"), limit, strings.Join(names, ", "))}
}

// ownTexts reads the texts of prompts that the project has, and tries them.
func ownTexts(project string) (map[string]string, error) {
	dir := filepath.Join(project, ".supervise", "prompts")
	own, err := prompt.Read(dir)
	if err == nil {
		_, err = prompt.Parse(own, dir)
	}
	if err != nil {
		return nil, usageError{err}
	}
	return own, nil
}

// before reads what the user had accepted, and says what should be known before
// a loop starts.
func (a *app) before(ctx context.Context, at place, opts *loop.Options, f *runFlags) error {
	var err error
	if opts.Texts, err = ownTexts(at.project); err != nil {
		return err
	}
	list, known, err := accepted(ctx, at.project, time.Now())
	if err != nil {
		return err
	}
	opts.Rules.Acknowledged = list
	for _, note := range []string{versioned(ctx, at.root), partlyKept(ctx, at), known} {
		if note != "" && !f.json {
			fmt.Fprintf(a.err, "note: %s\n", note)
		}
	}
	return nil
}

// readable says that the agent can find the hidden tests by what stands in the tree.
func (a *app) readable(at place, opts loop.Options) {
	path := cmp.Or(a.config, config.Path(at.project))
	if abs, err := filepath.Abs(path); err == nil {
		path = abs
	}
	if rel, err := filepath.Rel(at.root, path); opts.Hidden.Dir != "" && err == nil && filepath.IsLocal(rel) {
		fmt.Fprintf(a.err, "note: the agent can read %s, which says where the hidden tests are: give --holdout-dir, or a --config outside the tree\n", rel)
	}
}

// task returns what the agent is to do.
func (f *runFlags) task() (string, error) {
	if f.promptFile == "" {
		return f.prompt, nil
	}
	if f.prompt != "" {
		return "", usageError{errors.New("give the prompt with -p or with -P, not both")}
	}
	text, err := os.ReadFile(f.promptFile)
	if err != nil {
		return "", usageError{fmt.Errorf("read the prompt: %w", err)}
	}
	return string(text), nil
}

// supervise runs the loop with this process's terminal and prints what happens.
func (a *app) supervise(ctx context.Context, opts loop.Options, f *runFlags, start func(context.Context, loop.Options) (loop.Outcome, error)) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	opts.OnInterrupt = func() { cancel(loop.ErrInterrupted) }
	opts.Log, opts.Self = a.log(), program()
	a.attach(&opts, f)
	defer context.AfterFunc(ctx, func() {
		if errors.Is(context.Cause(ctx), loop.ErrInterrupted) {
			fmt.Fprint(a.err, "\r\ninterrupted: ending the agent and putting the tree in order …\r\n")
		}
	})()
	out, err := start(ctx, opts)
	if err != nil {
		return err
	}
	a.code = out.Stop.Reason.ExitCode()
	return nil
}
