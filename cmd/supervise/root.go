package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"supervise/internal/config"
	"supervise/internal/document"
	"supervise/internal/loop"
	"supervise/internal/report/results"
	"supervise/runner"

	"github.com/sirupsen/logrus"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"golang.org/x/term"
)

// app is the state that all commands share in one call of supervise.
type app struct {
	output
	dir     string // value of -C
	config  string // value of --config
	state   string // value of --state-dir
	verbose bool
	code    int      // exit status of a command that ended without an error
	noted   []string // notes that were printed, see printNotes
	tree    string   // describes the state of the tree after the last restore; "" if there was none
}

// self returns the command line of supervise that finds the same loops as this call. It names the
// state folder, unless the environment does.
func (a *app) self() string {
	if a.state == "" || a.state == os.Getenv("SUPERVISE_STATE_DIR") {
		return "supervise"
	}
	return "supervise --state-dir " + runner.ShellQuote(a.state)
}

// run runs one command line and returns the exit status.
func run(args []string, s streams) int {
	a := &app{output: outputTo(s)}
	if len(args) > 0 && args[0] == hookName {
		return a.runHookOnly(args[1:])
	}
	root := a.newRootCmd()
	root.SetArgs(args)
	root.SetOut(a.raw.out) // completion scripts, help
	root.SetErr(a.err)
	ctx, stop := signalContext()
	defer stop()
	if err := root.ExecuteContext(ctx); err != nil {
		fmt.Fprintf(a.err, "supervise: %v\n", err)
		return exitCode(err)
	}
	return a.code
}

// signalContext returns a context that SIGINT, SIGTERM or SIGHUP cancels. Further signals have
// no effect, so that a restore of the tree is always completed. SIGPIPE is ignored, but not in child
// processes: they would inherit [signal.Ignore].
func signalContext() (context.Context, func()) {
	pipes := make(chan os.Signal, 1) // nothing reads it
	signal.Notify(pipes, syscall.SIGPIPE)
	interrupted, stopSignals := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP)
	ctx, cancel := context.WithCancelCause(context.Background())
	disconnect := context.AfterFunc(interrupted, func() { cancel(loop.ErrInterrupted) })
	return ctx, func() {
		disconnect()
		stopSignals()
		signal.Stop(pipes)
		cancel(nil)
	}
}

// newRootCmd returns the root command with all subcommands.
func (a *app) newRootCmd() *cobra.Command {
	cmd := &cobra.Command{
		Use: "supervise", Short: "Make coding agents safe to leave alone",
		Long: `supervise runs a coding agent in a loop, once per iteration. After each one it
runs the project's own tests and linters, compares every metric and every test with
the previous iteration, and rolls back what breaks the rules. At the end it restores
the best iteration, not the last.`,
		Example: `  supervise demo
  supervise run -P PROMPT.md -- claude -p --dangerously-skip-permissions
  supervise run --max-iterations 20 -p "Make the tests pass" -- codex exec {{prompt}}
  supervise status`,
		Version:      version(),
		RunE:         func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
		SilenceUsage: true, SilenceErrors: true,
	}

	a.registerCommonFlags(cmd.PersistentFlags())
	cmd.Flags().BoolP("version", "V", false, "print the version")
	cmd.SetVersionTemplate(versionLine() + "\n")
	cmd.SetFlagErrorFunc(func(c *cobra.Command, err error) error {
		text := err.Error()
		for _, f := range flagRemedies {
			text = f.pattern.ReplaceAllString(text, f.remedy)
		}
		return usageError{fmt.Errorf("%s%s; see '%s --help'", text, suggestFlags(c, err), c.CommandPath())}
	})

	cmd.AddCommand(newDemoAgentCmd(a), newManCmd())
	for _, add := range []func(*app) *cobra.Command{
		newAbortCmd, newAckCmd, newAgentsCmd, newAnalyticsCmd, newApproveCmd, newAuditCmd, newBaselineCmd, newBenchmarkCmd, newBlockedCmd, newCleanCmd, newCompareCmd,
		newDecideCmd, newDemoCmd, newDiffCmd, newDoctorCmd, newExplainCmd, newGateCmd, newHintCmd, newHookCmd, newHooksCmd, newInitCmd,
		newMeasureCmd, newMutantsCmd, newParseCmd, newPauseCmd, newRecordCmd, newRejectCmd, newReplayCmd, newReportCmd, newResumeCmd,
		newRollbackCmd, newRunCmd, newSealCmd, newSelectCmd, newStatusCmd, newVerifyCmd, newVersionCmd, newWatchCmd,
	} {
		cmd.AddCommand(add(a))
	}

	finishCommand(cmd)
	cmd.AddCommand(newExitStatusTopic())
	cmd.SetHelpFunc(showHelp)
	groupCommands(cmd)
	return cmd
}

// registerCommonFlags adds the flags that all commands have.
func (a *app) registerCommonFlags(flags *pflag.FlagSet) {
	flags.StringVarP(&a.dir, "dir", "C", "", "work in this folder instead of the current one")
	flags.StringVar(&a.config, "config", "", "configuration file (default "+config.FileName+" in the working tree)")
	flags.StringVar(&a.state, "state-dir", os.Getenv("SUPERVISE_STATE_DIR"), "folder for the state of loops (default $XDG_STATE_HOME/supervise)")
	flags.BoolVarP(&a.verbose, "verbose", "v", false, "log more, on standard error")
}

// paint returns the styles for w: colors on a terminal, unless NO_COLOR is set, and none otherwise.
func (a *app) paint(w io.Writer) document.Paint {
	if os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb" && isTerminal(w) {
		return document.ANSI
	}
	return document.NoPaint
}

// isTerminal reports whether a reader or writer is a terminal.
func isTerminal(w any) bool {
	if s, ok := w.(*maskingWriter); ok {
		w = s.to
	}
	f, ok := w.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// log returns the logger for warnings and --verbose. Results and progress are not logged.
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

// text returns the printer of results as text.
func (a *app) text() results.Printer {
	return results.Printer{Writer: a.out, Paint: a.paint(a.out), Self: a.self()}
}

// encode prints a result as indented JSON.
func (a *app) encode(v any) error { return a.encodeIndented("  ", v) }

// encodeLines prints values as JSON, one per line.
func (a *app) encodeLines(values ...any) error { return a.encodeIndented("", values...) }

// encodeIndented prints values as JSON one after another.
func (a *app) encodeIndented(indent string, values ...any) error {
	enc := json.NewEncoder(a.doc)
	enc.SetIndent("", indent)
	enc.SetEscapeHTML(false)
	for _, v := range values {
		if err := enc.Encode(v); err != nil {
			return err
		}
	}
	return nil
}
