// Package git runs git for all other packages. Repositories are not trusted, so their settings
// never start a program: no hook, filter, text conversion, monitor or helper. Settings of the
// user and the system, such as the filter of git-lfs, apply.
//
// A [Command] gets options and variables that disable such programs (git.go). For commands
// that could start others, foreign.go asks for the configuration of the repository first.
// Before that, ready.go refuses repositories in which git would wait forever.
package git

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"time"
)

// Command is a command of git.
type Command struct {
	Dir   string
	Args  []string
	Env   []string // nil: the environment of supervise
	Stdin io.Reader
	// Stdout receives what git prints. If it is nil, Output returns that.
	Stdout io.Writer
	// Isolated ignores the settings of the user and the system, and reads repositories of any
	// owner.
	Isolated bool
	// KeepRepoEnv keeps the variables that name a repository, like GIT_DIR.
	KeepRepoEnv bool
	hooks       bool // does not override core.hooksPath
}

// NewCommand returns a command in a folder.
func NewCommand(dir string, args ...string) Command { return Command{Dir: dir, Args: args} }

// commonOptions are the options of every command.
var commonOptions = []string{
	"--no-pager",
	"-c", "core.fsmonitor=false", "-c", "gc.auto=0", "-c", "maintenance.auto=false", "-c", "log.showSignature=false", "-c", "push.gpgSign=false",
	"-c", "submodule.recurse=false", "-c", "fetch.recurseSubmodules=false", "-c", "status.submoduleSummary=false", "-c", "diff.ignoreSubmodules=dirty",
}

// commandOptions are additional options of some subcommands.
var commandOptions = map[string][]string{
	"diff":       {"--no-ext-diff", "--no-textconv"},
	"diff-files": {"--no-ext-diff", "--no-textconv"},
	"diff-index": {"--no-ext-diff", "--no-textconv"},
	"diff-tree":  {"--no-ext-diff", "--no-textconv"},
	"log":        {"--no-ext-diff", "--no-textconv"},
	"show":       {"--no-ext-diff", "--no-textconv"},
	"status":     {"--ignore-submodules=dirty"}, // git would be started in each
}

// passiveCommands are the commands that start no programs except those that commonOptions
// disable.
var passiveCommands = []string{
	"cat-file", "check-ignore", "commit-tree", "config", "for-each-ref", "init", "ls-files", "ls-tree", "merge-base",
	"mktree", "rev-list", "rev-parse", "symbolic-ref", "version", "write-tree",
}

// remoteCommands are the commands that may reach another repository.
var remoteCommands = []string{"fetch", "ls-remote", "push"}

// Prepare returns the command, ready to be started. It refuses a folder in which git would
// wait forever, see [CheckFiles].
func (c Command) Prepare(ctx context.Context) (*exec.Cmd, error) {
	cmd, _, err := c.prepare(ctx)
	return cmd, err
}

// prepare is Prepare, and also returns the keys of the settings that it has disabled.
func (c Command) prepare(ctx context.Context) (cmd *exec.Cmd, off []string, err error) {
	if err := CheckFiles(c.Dir, c.Args...); err != nil {
		return nil, nil, err
	}

	split := subcommandIndex(c.Args)
	before, after := c.Args[:split], c.Args[split:]

	env := c.environment()
	options := slices.Clone(commonOptions)
	if !c.hooks {
		options = append(options, "-c", "core.hooksPath="+os.DevNull)
	}
	if c.Isolated {
		options = append(options, "-c", "safe.directory=*")
	}

	var own overrides
	if len(after) > 0 && (!slices.Contains(passiveCommands, after[0]) || slices.Contains(after, "--modified")) {
		if own, err = c.overrides(ctx, slices.Concat(options, before), env); err != nil {
			return nil, nil, err
		}
	}

	args := slices.Concat(options, before, own.options)
	if len(after) > 0 {
		args = slices.Concat(args, after[:1], commandOptions[after[0]], own.remoteOptions(after[0]), after[1:])
		if slices.Contains(remoteCommands, after[0]) && own.namesProxy && !hasVar(env, "GIT_PROXY_COMMAND") {
			env = append(env, "GIT_PROXY_COMMAND=")
		}
	}
	cmd = exec.CommandContext(ctx, "git", args...)
	cmd.Dir, cmd.Env, cmd.Stdin, cmd.WaitDelay = c.Dir, env, c.Stdin, time.Second
	return cmd, own.disabledKeys, nil
}

// Output runs the command and returns its output. The error is the cause of ctx, or contains
// git's message.
func (c Command) Output(ctx context.Context) ([]byte, error) {
	cmd, off, err := c.prepare(ctx)
	switch {
	case err != nil && ctx.Err() != nil:
		return nil, context.Cause(ctx)
	case err != nil:
		return nil, err
	}

	var out, said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &said
	if c.Stdout != nil {
		cmd.Stdout = c.Stdout
	}

	err = cmd.Run()
	verb := c.subcommand()
	if verb == "checkout" || verb == "read-tree" {
		InvalidateChecks()
	}
	if err == nil {
		return out.Bytes(), nil
	}
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}

	err = CommandError(c.Dir, verb, err, said.String())
	if len(off) > 0 && slices.Contains(remoteCommands, verb) {
		err = fmt.Errorf("%w (not used, since the repository itself sets it: %s; set it for the user, or in the environment)", err, strings.Join(off, ", "))
	}
	return out.Bytes(), err
}

// CommandError returns the error of a command with its output on stderr.
func CommandError(dir, verb string, err error, stderr string) error {
	if errors.Is(err, exec.ErrNotFound) {
		return fmt.Errorf("run git: %w; install git or put it into PATH", err)
	}
	if said := strings.TrimSpace(stderr); said != "" {
		return fmt.Errorf("git %s in %s: %w: %s", verb, dir, err, said)
	}
	return fmt.Errorf("git %s in %s: %w", verb, dir, err)
}

// CommonDir returns the folder that the worktrees of a repository share.
func CommonDir(ctx context.Context, dir string) (string, error) {
	out, err := NewCommand(dir, "rev-parse", "--path-format=absolute", "--git-common-dir").Output(ctx)
	return strings.TrimSuffix(string(out), "\n"), err
}

// HooksDir returns the folder from which git would run hooks, possibly relative to dir.
func HooksDir(ctx context.Context, dir string, env []string) (string, error) {
	out, err := Command{Dir: dir, Args: []string{"rev-parse", "--git-path", "hooks"}, Env: env, hooks: true}.Output(ctx)
	return strings.TrimSuffix(string(out), "\n"), err
}

// subcommand returns the name of the subcommand, "" if there is none.
func (c Command) subcommand() string {
	if at := subcommandIndex(c.Args); at < len(c.Args) {
		return c.Args[at]
	}
	return ""
}

// subcommandIndex returns the index of the subcommand, after the options of git itself, and
// len(args) if there is none.
func subcommandIndex(args []string) int {
	for i := 0; i < len(args); i++ {
		switch {
		case args[i] == "-c" || args[i] == "-C":
			i++
		case !strings.HasPrefix(args[i], "-"):
			return i
		}
	}
	return len(args)
}

// kept are the variables for git that say what the user wants; remote commands keep all
// but those in repository.
var (
	keptVars       = []string{"GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM", "GIT_CONFIG_NOSYSTEM", "GIT_CONFIG_PARAMETERS", "GIT_CONFIG_COUNT", "GIT_CEILING_DIRECTORIES", "GIT_DISCOVERY_ACROSS_FILESYSTEM", "GIT_EXEC_PATH"}
	repositoryVars = []string{
		"GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_PREFIX", "GIT_OBJECT_DIRECTORY", "GIT_ALTERNATE_OBJECT_DIRECTORIES", "GIT_COMMON_DIR",
		"GIT_NAMESPACE", "GIT_GRAFT_FILE", "GIT_SHALLOW_FILE", "GIT_REPLACE_REF_BASE", "GIT_QUARANTINE_PATH", "GIT_INTERNAL_SUPER_PREFIX", "GIT_EXTERNAL_DIFF",
	}
)

// environment returns the environment of the command. It drops the variables for git, except
// those that say what the user wants, and adds some that prevent questions, editors and
// downloads, and the replacement of commits by others.
func (c Command) environment() []string {
	env := c.Env
	if env == nil {
		env = os.Environ()
	}

	far := slices.Contains(remoteCommands, c.subcommand())
	out := slices.DeleteFunc(slices.Clone(env), func(kv string) bool {
		name, _, _ := strings.Cut(kv, "=")
		switch {
		case !strings.HasPrefix(strings.ToUpper(name), "GIT_") || c.KeepRepoEnv && name != "GIT_EXTERNAL_DIFF":
			return false
		case c.Isolated:
			return true
		case far:
			return slices.Contains(repositoryVars, name)
		}
		return !slices.Contains(keptVars, name) && !strings.HasPrefix(name, "GIT_CONFIG_KEY_") && !strings.HasPrefix(name, "GIT_CONFIG_VALUE_")
	})
	switch {
	case !far:
		out = append(out, "GIT_ALLOW_PROTOCOL=none") // old versions of git may fetch missing objects
	case !hasVar(out, "GIT_ALLOW_PROTOCOL"):
		out = append(out, "GIT_ALLOW_PROTOCOL=file:git:http:https:ssh")
	}

	if c.Isolated {
		out = append(out, "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_CONFIG_SYSTEM="+os.DevNull, "GIT_CONFIG_NOSYSTEM=1")
	}
	return append(out, "GIT_NO_REPLACE_OBJECTS=1", "GIT_GRAFT_FILE="+os.DevNull, "GIT_NO_LAZY_FETCH=1", "GIT_OPTIONAL_LOCKS=0", "GIT_TERMINAL_PROMPT=0", "GIT_LFS_SKIP_SMUDGE=1",
		"GIT_EDITOR=true", "GIT_SEQUENCE_EDITOR=true", "LC_ALL=C")
}

// hasVar reports whether an environment has a variable.
func hasVar(env []string, name string) bool {
	return slices.ContainsFunc(env, func(kv string) bool { return strings.HasPrefix(kv, name+"=") })
}

// CleanEnv returns an environment without variables for git.
func CleanEnv(env []string) []string {
	return slices.DeleteFunc(slices.Clone(env), func(kv string) bool { return strings.HasPrefix(kv, "GIT_") })
}
