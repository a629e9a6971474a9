package main

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"supervise/internal/config"
	"supervise/internal/hook"
	"supervise/internal/ledger"
	"supervise/internal/rpc"

	"github.com/spf13/cobra"
)

const hookName = "hook"

// hookFlags are the flags of hook.
type hookFlags struct{ socket, onError string }

// maxHookInput bounds what is read of what a client tells its hook.
const maxHookInput = 16 << 20

// hookWait is how long a hook waits for its supervisor: a Stop may be measured.
const hookWait = 10 * time.Minute

func (a *app) hookCmd() *cobra.Command {
	f := &hookFlags{}
	cmd := &cobra.Command{
		Use:   hookName + " CLIENT EVENT",
		Short: "Judge one tool call of an agent, called by the agent's own hooks",
		Long: `Hook reads what an agent program tells its hook from standard input and answers as
that program expects it: nothing, a warning, or a denial with its reason. Within a
loop the supervisor answers; it keeps a snapshot before what may destroy something
and writes all into the log of the loop. Elsewhere hook judges by itself.

CLIENT is claude, codex, gemini, qwen, opencode or pi. EVENT is what the client
calls it (PreToolUse, BeforeTool …), or pre_tool, post_tool, stop, session_start.
An error ends with status 1, which lets the call pass, or with --on-error closed
with status 2, which denies it.`,
		Example: `  supervise hooks install claude
  echo '{"tool_name":"Bash","tool_input":{"command":"rm -rf tests"}}' | supervise hook claude PreToolUse`,
		Args: cobra.ExactArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			a.code = a.hook(cmd.Context(), f, args[0], args[1])
			return nil
		},
	}
	cmd.Flags().StringVar(&f.socket, "socket", os.Getenv(hook.SocketEnv), "socket of the supervisor (default $"+hook.SocketEnv+")")
	cmd.Flags().StringVar(&f.onError, "on-error", "open", "open: the call passes when the hook fails; closed: it is denied")
	return cmd
}

// hookAlone runs hook without putting all other commands together first: it is
// called for each tool call of an agent.
func (a *app) hookAlone(args []string) int {
	cmd := a.hookCmd()
	a.register(cmd.Flags())
	cmd.SilenceUsage, cmd.SilenceErrors = true, true
	cmd.SetArgs(args)
	cmd.SetOut(a.out)
	cmd.SetErr(a.err)
	if err := cmd.ExecuteContext(context.Background()); err != nil {
		fmt.Fprintf(a.err, "supervise hook: %v; see 'supervise hook --help'\n", err)
		return 1 // 2 would be a denial
	}
	return a.code
}

// hook answers one call and returns the exit status.
func (a *app) hook(ctx context.Context, f *hookFlags, client, event string) int {
	out, err := a.hookAnswer(ctx, f, client, event)
	if err == nil {
		_, err = a.out.Write(out)
	}
	if err == nil {
		return 0
	}
	fmt.Fprintf(a.err, "supervise hook: %v\n", err)
	if f.onError == "closed" {
		fmt.Fprintln(a.err, "the call is denied: hooks.on_error is closed")
		return 2
	}
	return 1
}

func (a *app) hookAnswer(ctx context.Context, f *hookFlags, client, event string) ([]byte, error) {
	if f.onError != "open" && f.onError != "closed" {
		return nil, fmt.Errorf("--on-error is open or closed, not %s", f.onError)
	}
	input, err := io.ReadAll(io.LimitReader(a.in, maxHookInput))
	if err != nil {
		return nil, fmt.Errorf("read what %s tells: %w", client, err)
	}
	here, err := filepath.Abs(a.dir)
	if err != nil {
		return nil, fmt.Errorf("find the working tree: %w", err)
	}
	if f.socket != "" {
		r, err := rpc.Ask(f.socket, rpc.Request{Client: client, Event: event, Dir: here, Input: input}, hookWait)
		switch {
		case err == nil && r.Error != "":
			return nil, errors.New(r.Error)
		case err == nil:
			return r.Output, nil
		}
		fmt.Fprintf(a.err, "supervise hook: %v: judged without it\n", err)
	}
	who, err := hook.ParseClient(client)
	if err != nil {
		return nil, err
	}
	call, err := hook.Read(who, event, input)
	if err != nil {
		return nil, err
	}
	call.Dir = cmp.Or(call.Dir, here)
	d, err := a.judgeAlone(ctx, call)
	if err != nil {
		return nil, err
	}
	return hook.Answer(call, d), nil
}

// judgeAlone judges a call without a supervisor: by what git tracks, and by what the
// files are now.
func (a *app) judgeAlone(ctx context.Context, call hook.Call) (hook.Decision, error) {
	allow := hook.Decision{Verdict: hook.Allow}
	if call.Event == hook.Stop || call.Event == hook.OtherEvent || call.Kind == hook.OtherTool {
		return allow, nil
	}
	root, project := above(call.Dir)
	settings, err := a.settings(project)
	if err != nil || settings.Hooks.Off() {
		return allow, err
	}
	opt := hook.Options{Mode: hook.Mode(settings.Mode), Integrity: settings.Integrity.Options(), Tree: diskTree(ctx, root)}
	opt.Home, _ = os.UserHomeDir() // without one nothing lies below it
	if base, err := ledger.DefaultBase(os.Getenv); err == nil {
		opt.Own = []string{base}
	}
	switch call.Event {
	case hook.PreTool:
		return hook.Judge(call, opt), nil
	case hook.PostTool:
		later := hook.Later(call, opt)
		opt.Tree.Before = func(rel string) ([]byte, bool) { return gitText(ctx, root, rel) }
		risks := hook.After(call, opt, nil)
		allow.Risks, allow.Context = risks, strings.TrimSpace(later+"\n"+hook.Warning(risks))
	case hook.SessionStart:
		allow.Context = hook.Opening(0, 0)
	case hook.Stop, hook.OtherEvent:
	}
	return allow, nil
}

// above returns the top of the git checkout that dir lies in, and the nearest folder
// with a configuration; dir itself where there are none.
func above(dir string) (root, project string) {
	if real, err := filepath.EvalSymlinks(dir); err == nil {
		dir = real
	}
	for at := dir; ; at = filepath.Dir(at) {
		if _, err := os.Stat(filepath.Join(at, config.FileName)); err == nil && project == "" {
			project = at
		}
		if _, err := os.Lstat(filepath.Join(at, ".git")); err == nil {
			return at, cmp.Or(project, at)
		}
		if at == filepath.Dir(at) {
			return cmp.Or(project, dir), cmp.Or(project, dir)
		}
	}
}

// diskTree is a project as it is on the disk. What must not get lost is what git
// tracks.
func diskTree(ctx context.Context, root string) hook.Tree {
	return hook.Tree{
		Root: root,
		Files: func() []string {
			out, err := gitOutput(ctx, root, "ls-files", "-z")
			if err != nil {
				return nil
			}
			return strings.FieldsFunc(string(out), func(r rune) bool { return r == 0 })
		},
		Read:    func(rel string) ([]byte, bool) { return readSmall(filepath.Join(root, filepath.FromSlash(rel))) },
		Outside: readSmall,
	}
}

// readSmall reads a file; false where there is none, or it is long.
func readSmall(path string) ([]byte, bool) {
	if info, err := os.Stat(path); err != nil || !info.Mode().IsRegular() || info.Size() > maxHookInput {
		return nil, false
	}
	text, err := os.ReadFile(path)
	return text, err == nil
}

// gitText returns a file as it was committed last.
func gitText(ctx context.Context, root, rel string) ([]byte, bool) {
	text, err := gitOutput(ctx, root, "cat-file", "blob", "HEAD:"+rel)
	return text, err == nil
}

// gitOutput asks git, without anything that the repository could have it run.
func gitOutput(ctx context.Context, root string, args ...string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, "git", append([]string{"-c", "core.fsmonitor=false", "-C", root}, args...)...)
	var out bytes.Buffer
	cmd.Stdout = &out
	err := cmd.Run()
	return out.Bytes(), err
}

// program returns how this program can be started again, absolute; "" where that
// cannot be told.
func program() string {
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
