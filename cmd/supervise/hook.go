package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"supervise/internal/config"
	"supervise/internal/hook"
	"supervise/internal/hook/standalone"
	"supervise/internal/ledger"
	"supervise/internal/rpc"

	"github.com/spf13/cobra"
)

// hookName is the name of the command that agents call for each of their hooks.
const hookName = "hook"

// hookOptions are the options of supervise hook.
type hookOptions struct{ client, event, socket, onError string }

// maxHookInput limits the JSON of a call, in bytes.
const maxHookInput = 16 << 20

// hookWait is how long a hook waits for its supervisor. It is long, because the supervisor may
// measure the tree when the agent wants to stop.
const hookWait = 10 * time.Minute

func newHookCmd(a *app) *cobra.Command {
	var o hookOptions
	cmd := &cobra.Command{
		Use: hookName + " CLIENT EVENT", Short: "Judge one tool call of an agent; agents' hooks run this",
		Long: `Judge one tool call of an agent; agents' hooks run this.

The call is read from standard input, and the answer is what the agent program
expects: nothing, a warning, or a denial with its reason. Within a loop the supervisor
answers: it keeps a snapshot before a destructive call and logs every call. Outside of
a loop the command judges by itself.

CLIENT is claude, codex, gemini, qwen, opencode or pi. EVENT is the client's own name
(PreToolUse, BeforeTool, ...), or pre_tool, post_tool, stop, session_start. An error
exits with 1, which lets the call pass, or with --on-error closed with 2, which denies
it.`,
		Example: `  supervise hooks install claude
  echo '{"tool_name":"Bash","tool_input":{"command":"rm -rf tests"}}' | supervise hook claude PreToolUse`,
		Args: cobra.ExactArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			o.client, o.event = args[0], args[1]
			a.code = runHook(cmd.Context(), a, o)
			return nil
		},
	}

	cmd.Flags().StringVar(&o.socket, "socket", os.Getenv(hook.SocketEnv), "socket of the supervisor (default $"+hook.SocketEnv+")")
	cmd.Flags().StringVar(&o.onError, "on-error", "open", "open: the call passes when the hook fails; closed: it is denied")
	return cmd
}

// runHookOnly runs the hook command and returns its exit status. It does not build the other
// commands, because this one runs for each tool call of an agent.
func (a *app) runHookOnly(args []string) int {
	cmd := newHookCmd(a)
	a.registerCommonFlags(cmd.Flags())
	cmd.SilenceUsage, cmd.SilenceErrors = true, true
	cmd.SetArgs(args)
	cmd.SetOut(a.doc)
	cmd.SetErr(a.err)
	if err := cmd.ExecuteContext(context.Background()); err != nil {
		fmt.Fprintf(a.err, "supervise hook: %v; see 'supervise hook --help'\n", err)
		return 1 // 2 would be a denial
	}
	return a.code
}

// runHook answers one call and returns the exit status. After an error that is 1, which agents
// ignore, or 2, which denies the call, as --on-error says.
func runHook(ctx context.Context, a *app, o hookOptions) int {
	out, err := a.answerCall(ctx, o)
	if err == nil {
		_, err = a.doc.Write(out)
	}
	if err == nil {
		return 0
	}
	fmt.Fprintf(a.err, "supervise hook: %v\n", err)
	if o.onError == "closed" {
		fmt.Fprintln(a.err, "the call is denied: hooks.on_error is closed")
		return 2
	}
	return 1
}

// answerCall returns the answer to one call, in the format of the client. It asks the supervisor,
// and judges the call itself if there is none.
func (a *app) answerCall(ctx context.Context, o hookOptions) ([]byte, error) {
	if o.onError != "open" && o.onError != "closed" {
		return nil, fmt.Errorf("--on-error is open or closed, not %s", o.onError)
	}
	input, err := io.ReadAll(io.LimitReader(a.in, maxHookInput))
	if err != nil {
		return nil, fmt.Errorf("read the call of %s: %w", o.client, err)
	}

	here, err := filepath.Abs(a.dir)
	if err != nil {
		return nil, fmt.Errorf("find the working tree: %w", err)
	}

	if o.socket != "" {
		r, err := rpc.Ask(o.socket, rpc.Request{Client: o.client, Event: o.event, Dir: here, Input: input}, hookWait)
		switch {
		case err == nil && r.Error != "":
			return nil, errors.New(r.Error)
		case err == nil:
			return r.Output, nil
		}
		fmt.Fprintf(a.err, "supervise hook: %v: judged without it\n", err)
	}

	call, err := hook.ReadCall(o.client, o.event, input)
	if err != nil {
		return nil, err
	}

	call.Dir = cmp.Or(call.Dir, here)
	d, err := a.judgeAlone(ctx, call)
	if err != nil {
		return nil, err
	}
	return hook.FormatAnswer(call, d), nil
}

// judgeAlone judges a call without a supervisor, by the configuration of the project.
func (a *app) judgeAlone(ctx context.Context, call hook.Call) (hook.Decision, error) {
	allow := hook.Decision{Verdict: hook.Allow}
	if !standalone.IsJudged(call) {
		return allow, nil
	}
	root, project := standalone.FindRoots(call.Dir, config.FileName)
	settings, err := a.loadSettings(project)
	if err != nil || settings.Hooks.Disabled() {
		return allow, err
	}
	opt := hook.Options{Mode: hook.Mode(settings.Mode), Integrity: settings.Integrity.Options()}
	opt.Home, _ = os.UserHomeDir() // without one, no path is in it
	if base, err := ledger.DefaultBase(os.Getenv); err == nil {
		opt.StateFiles = []string{base}
	}
	return standalone.Judge(ctx, call, root, opt), nil
}

// executablePath returns the absolute path of this program, "" if it is unknown.
func executablePath() string {
	if path, err := exec.LookPath(os.Args[0]); err == nil {
		if path, err = filepath.Abs(path); err == nil {
			return path
		}
	}
	path, err := os.Executable()
	if err != nil {
		return ""
	}
	return path
}
