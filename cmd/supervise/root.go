package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"

	"supervise/internal/ack"
	"supervise/internal/config"
	"supervise/internal/ledger"
	"supervise/internal/loop"
	"supervise/internal/mergegate"
	"supervise/internal/protect"
	"supervise/internal/replay"
	"supervise/internal/report"
	"supervise/runner"

	"github.com/sirupsen/logrus"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"golang.org/x/term"
)

// streams are where a command reads and writes.
type streams struct {
	in       *os.File
	out, err io.Writer
}

// app is what all subcommands share.
type app struct {
	streams
	dir     string // -C
	config  string // --config
	state   string // --state-dir
	verbose bool
	code    int      // exit status of a command that ended without an error
	noted   []string // said already
}

// self returns how supervise is called to find the loops of this call: with the
// folder of their state, unless the environment names it.
func (a *app) self() string {
	if a.state == "" || a.state == os.Getenv("SUPERVISE_STATE_DIR") {
		return "supervise"
	}
	return "supervise --state-dir " + runner.ShellQuoted(a.state)
}

const exitStatus = `
EXIT STATUS
  0    done: the criterion is met, or no regression
  1    an error of supervise itself
  2    wrong usage or configuration
  3    a critical finding is left unresolved
  4    no acceptable iteration, or a limit was reached without meeting the criterion
  5    stalled, cycling or stuck
  6    unmeasurable: the checks gave nothing that can be judged
  130  interrupted
The agent's own exit status goes into the state, it is never that of supervise.`

// usageError marks errors that another command line would mend.
type usageError struct{ error }

func (e usageError) Unwrap() error { return e.error }

// run runs one command line and returns the exit status.
func run(args []string, s streams) int {
	a := &app{streams: s}
	if len(args) > 0 && args[0] == hookName {
		return a.hookAlone(args[1:])
	}
	root := a.root()
	root.SetArgs(args)
	root.SetOut(s.out)
	root.SetErr(s.err)
	ctx, stop := interruptible()
	defer stop()
	if err := root.ExecuteContext(ctx); err != nil {
		fmt.Fprintf(s.err, "supervise: %v\n", err)
		return exitCode(err)
	}
	return a.code
}

// exitCodes maps errors to exit statuses; the first that fits counts.
var exitCodes = []struct {
	err  error
	code int
}{
	{loop.ErrInterrupted, 130},
	{context.Canceled, 130},
	{loop.ErrUnmeasurable, 6},
	{protect.ErrUnavailable, 2},
	{config.ErrInvalid, 2},
	{ack.ErrInvalid, 2},
	{ledger.ErrNoLoop, 2},
	{ledger.ErrLocked, 2},
	{ledger.ErrHome, 2},
	{ledger.ErrChanged, 2},
	{loop.ErrNotBegun, 2},
	{loop.ErrOverlaid, 2},
	{mergegate.ErrUnmeasurable, 6},
	{mergegate.ErrBase, 6},
	{mergegate.ErrRatchet, 2},
	{replay.ErrRange, 2},
	{replay.ErrNothing, 6},
	{runner.ErrNotFound, 2},
}

func exitCode(err error) int {
	var usage usageError
	if errors.As(err, &usage) {
		return 2
	}
	for _, row := range exitCodes {
		if errors.Is(err, row.err) {
			return row.code
		}
	}
	return 1
}

// interruptible returns a context that SIGINT, SIGTERM or SIGHUP ends. Later
// ones change nothing: a tree that is being put back is put back whole. Nor does
// a reader of the output that goes away end the process.
func interruptible() (context.Context, func()) {
	ctx, cancel := context.WithCancelCause(context.Background())
	signals, pipes := make(chan os.Signal, 1), make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP)
	signal.Notify(pipes, syscall.SIGPIPE)
	done := make(chan struct{})
	go func() {
		for {
			select {
			case <-signals:
				cancel(loop.ErrInterrupted)
			case <-pipes:
			case <-done:
				return
			}
		}
	}()
	return ctx, func() {
		signal.Stop(signals)
		signal.Stop(pipes)
		close(done)
		cancel(nil)
	}
}

func (a *app) root() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "supervise",
		Short: "Make coding agents safe to leave alone",
		Long: `supervise runs a coding agent in a loop, once per iteration. After each one it
runs the project's own tests and linters, compares every number and every test
with the iteration before, undoes what breaks the rules, and at the end gives
back the best iteration, not the last.`,
		Example: `  supervise demo
  supervise run -P PROMPT.md -- claude -p --dangerously-skip-permissions
  supervise run --max-iterations 20 -p "Make the tests pass" -- codex exec {{prompt}}
  supervise status`,
		RunE:         func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
		SilenceUsage: true, SilenceErrors: true,
	}
	a.register(cmd.PersistentFlags())
	cmd.SetFlagErrorFunc(func(c *cobra.Command, err error) error {
		text := err.Error()
		for _, f := range flagFaults {
			text = f.of.ReplaceAllString(text, f.remedy)
		}
		return usageError{fmt.Errorf("%s; see '%s --help'", text, c.CommandPath())}
	})
	cmd.AddCommand(a.replayCmd())
	cmd.AddCommand(a.runCmd(), a.initCmd(), a.doctorCmd(), a.measureCmd(), a.parseCmd(), a.resumeCmd(), a.statusCmd(), a.reportCmd(), a.explainCmd(), a.ackCmd(), a.diffCmd(), a.rollbackCmd(), a.demoCmd(), a.demoAgentCmd(), a.versionCmd())
	cmd.AddCommand(a.selectCmd(), a.hookCmd(), a.hooksCmd(), a.recordCmd(), a.decideCmd(), a.auditCmd(), a.gateCmd(), a.baselineCmd())
	cmd.AddCommand(a.verifyCmd(), a.analyticsCmd(), a.cleanCmd(), a.benchmarkCmd(), a.manCmd(), a.pauseCmd(), a.watchCmd())
	cmd.AddCommand(a.answerCmds()...)
	for _, sub := range append(cmd.Commands(), cmd) {
		finish(sub)
	}
	group(cmd)
	return cmd
}

// groups are the commands as the help lists them.
var groups = []struct {
	title    string
	commands []string
}{
	{"Start", []string{"demo", "init", "doctor", "run", "watch", "resume"}},
	{"See what happened", []string{"status", "report", "explain", "diff", "analytics", "verify"}},
	{"Decide", []string{"approve", "reject", "abort", "pause", "ack", "select", "rollback", "clean"}},
	{"Merges and histories", []string{"gate", "baseline", "audit", "replay"}},
	{"Agents and orchestrators", []string{"hooks", "hook", "record", "decide"}},
	{"Measure", []string{"measure", "parse", "benchmark"}},
}

// group sorts the commands of the help into groups.
func group(cmd *cobra.Command) {
	of := map[string]string{}
	for _, g := range groups {
		cmd.AddGroup(&cobra.Group{ID: g.title, Title: g.title + ":"})
		for _, name := range g.commands {
			of[name] = g.title
		}
	}
	for _, sub := range cmd.Commands() {
		sub.GroupID = of[sub.Name()]
	}
}

// register adds the flags that all commands have.
func (a *app) register(flags *pflag.FlagSet) {
	flags.StringVarP(&a.dir, "dir", "C", "", "work in this folder instead of the current one")
	flags.StringVar(&a.config, "config", "", "configuration file (default "+config.FileName+" in the working tree)")
	flags.StringVar(&a.state, "state-dir", os.Getenv("SUPERVISE_STATE_DIR"), "folder for the state of loops (default $XDG_STATE_HOME/supervise)")
	flags.BoolVarP(&a.verbose, "verbose", "v", false, "log more, on standard error")
}

// finish gives a command what all of them have: the exit statuses in its help,
// and wrong arguments as wrong usage.
func finish(cmd *cobra.Command) {
	if cmd.Long == "" {
		cmd.Long = cmd.Short + "."
	}
	cmd.Long += "\n" + exitStatus
	args := cmd.Args
	if args == nil {
		args = cobra.NoArgs
	}
	cmd.Args = func(c *cobra.Command, list []string) error {
		err := args(c, list)
		switch {
		case err == nil:
			return nil
		case !ofCobra.MatchString(err.Error()):
			return usageError{fmt.Errorf("%w; see '%s --help'", err, c.CommandPath())}
		}
		if !c.HasParent() && len(list) > 0 {
			return usageError{unknownCommand(c, list[0])}
		}
		usage, _, _ := strings.Cut(c.UseLine(), " [flags]")
		what := "something is missing"
		if len(list) > 0 {
			what = "these arguments do not fit: " + strings.Join(list, " ")
		}
		return usageError{fmt.Errorf("%s; write: %s (see '%s --help')", what, usage, c.CommandPath())}
	}
}

// flagFaults are what the errors of flags say about the insides of Go, and what helps
// instead.
var flagFaults = []struct {
	of     *regexp.Regexp
	remedy string
}{
	{regexp.MustCompile(`time: .*`), "give a time with its unit, like 90s, 30m or 8h"},
	{regexp.MustCompile(`strconv\.Parse(Int|Uint).*`), "give a whole number"},
	{regexp.MustCompile(`strconv\.ParseFloat.*`), "give a number"},
	{regexp.MustCompile(`strconv\.ParseBool.*`), "give true or false"},
}

// ofCobra are errors of cobra about how many arguments there are.
var ofCobra = regexp.MustCompile(`^(accepts |requires |unknown command )`)

// unknownCommand is the error about a command that is none, with what may be meant.
func unknownCommand(root *cobra.Command, name string) error {
	root.SuggestionsMinimumDistance = 2
	if list := root.SuggestionsFor(name); len(list) > 0 {
		return fmt.Errorf("there is no command %s; did you mean %s?", name, strings.Join(list, ", "))
	}
	return fmt.Errorf("there is no command %s; see 'supervise --help'", name)
}

// treeOf finds out which loop and which of its trees are meant: without a loop it is
// the latest.
func treeOf(args []string) []string {
	if len(args) > 0 && treeName.MatchString(args[0]) {
		return append([]string{"latest"}, args...)
	}
	return args
}

// treeName is what stands for a tree of a loop. A loop is not named so shortly.
var treeName = regexp.MustCompile(`^(s?[0-9]{1,5}|best|baseline|now)$`)

// loopAndTrees accepts a loop and so many of its trees, or those alone.
func loopAndTrees(least, most int) cobra.PositionalArgs {
	return func(c *cobra.Command, args []string) error {
		return cobra.RangeArgs(1+least, 1+most)(c, treeOf(args))
	}
}

// place is where a command works.
type place struct {
	here    string // the folder the user is in: the agent runs there
	project string // the nearest folder, upwards, with a configuration or a known project: the checks run there
	root    string // the working tree: the top of the git checkout, else the project
}

// place finds out where the user is.
func (a *app) place(ctx context.Context) (place, error) {
	here, err := filepath.Abs(a.dir)
	if err != nil {
		return place{}, fmt.Errorf("find the working tree: %w", err)
	}
	if here, err = filepath.EvalSymlinks(here); errors.Is(err, os.ErrNotExist) {
		err = fmt.Errorf("%w; if it was deleted, make an empty folder there: supervise rollback fills it again", err)
	}
	if err != nil {
		return place{}, usageError{fmt.Errorf("find the working tree: %w", err)}
	}
	top := topLevel(ctx, here)
	p := place{here: here, project: here, root: top}
	for dir := here; ; dir = filepath.Dir(dir) {
		if config.Is(dir) {
			p.project = dir
			break
		}
		if dir == top || dir == filepath.Dir(dir) || top == "" {
			break
		}
	}
	if p.root == "" {
		p.root = p.project
	}
	return p, nil
}

// home returns the folder of the loops in root.
func (a *app) home(root string) (string, error) {
	if a.state != "" {
		if filepath.IsAbs(a.state) {
			return filepath.Clean(a.state), nil
		}
		return filepath.Join(root, a.state), nil
	}
	base, err := ledger.DefaultBase(os.Getenv)
	if err != nil {
		return "", err
	}
	return ledger.Home(base, root), nil
}

// settings loads the configuration of the working tree.
func (a *app) settings(dir string) (config.Settings, error) {
	if a.config != "" {
		return config.Load(a.config, true)
	}
	return config.Load(config.Path(dir), false)
}

// paint colours for a terminal, unless NO_COLOR asks not to.
func (a *app) paint(w io.Writer) report.Paint {
	if os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb" && isTerminal(w) {
		return report.ANSI
	}
	return report.NoPaint
}

func isTerminal(w any) bool {
	f, ok := w.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// log is for people who look for a fault; results and progress do not pass it.
func (a *app) log() logrus.FieldLogger {
	l := logrus.New()
	l.SetOutput(a.err)
	l.SetLevel(logrus.WarnLevel)
	if a.verbose {
		l.SetLevel(logrus.DebugLevel)
	}
	l.SetFormatter(&logrus.TextFormatter{DisableTimestamp: true, DisableColors: true})
	return l
}
