package gitdir

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"

	"supervise/internal/projectfile"
)

// GitCommand prepares git so that nothing of the user's or the agent's configuration can run a program: no hooks, no
// file system monitor, no global configuration, no GIT_* variables.
func GitCommand(ctx context.Context, dir string, args ...string) *exec.Cmd {
	safe := []string{"-c", "core.hooksPath=" + os.DevNull, "-c", "gc.auto=0", "-c", "core.fsmonitor=false", "-c", "safe.directory=*"}
	cmd := exec.CommandContext(ctx, "git", append(safe, args...)...)
	cmd.Dir = dir
	cmd.Env = append(WithoutGit(os.Environ(), nil),
		"GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_CONFIG_SYSTEM="+os.DevNull, "GIT_CONFIG_NOSYSTEM=1", "GIT_OPTIONAL_LOCKS=0",
		"GIT_TERMINAL_PROMPT=0", "GIT_NO_REPLACE_OBJECTS=1", "LC_ALL=C")
	return cmd
}

// WithoutGit drops the GIT_* variables except those named in keep.
func WithoutGit(env, keep []string) []string {
	var out []string
	for _, v := range env {
		name, _, _ := strings.Cut(v, "=")
		kept := !strings.HasPrefix(strings.ToUpper(name), "GIT_")
		for _, k := range keep {
			kept = kept || name == k
		}
		if kept {
			out = append(out, v)
		}
	}
	return out
}

// RunGit returns what git prints. The error holds what it says on stderr.
func RunGit(cmd *exec.Cmd) ([]byte, error) {
	if err := projectfile.GitReady(cmd.Dir, cmd.Args...); err != nil {
		return nil, err
	}
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil {
		return stdout.Bytes(), GitError(cmd, err, stderr.String())
	}
	return stdout.Bytes(), nil
}

// GitError is the error of a git command with what it printed on stderr.
func GitError(cmd *exec.Cmd, err error, stderr string) error {
	if errors.Is(err, exec.ErrNotFound) {
		return fmt.Errorf("run git: %w; install git or put it into PATH", err)
	}
	if msg := strings.TrimSpace(stderr); msg != "" {
		return fmt.Errorf("run git in %s: %w: %s", cmd.Dir, err, msg)
	}
	return fmt.Errorf("run git in %s: %w", cmd.Dir, err)
}

// RepoGit runs git for the repository whose working tree is root, and only for that one: a broken .git never makes it
// look into a repository further up.
func RepoGit(ctx context.Context, root string, args ...string) ([]byte, error) {
	return RunGit(GitCommand(ctx, root, append([]string{"--git-dir=" + filepath.Join(root, ".git"), "--work-tree=" + root}, args...)...))
}

// UserIgnoreFile is the file of ignore patterns that the user keeps for all repositories. Only here git reads the user's
// own configuration, which "git config --get" does without running anything. The file may not exist.
func UserIgnoreFile(ctx context.Context, root string) string {
	cmd := exec.CommandContext(ctx, "git", "-c", "safe.directory=*", "--git-dir="+filepath.Join(root, ".git"),
		"config", "--type=path", "--get", "core.excludesFile")
	cmd.Dir = root
	cmd.Env = WithoutGit(os.Environ(), []string{"GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM", "GIT_CONFIG_NOSYSTEM"})
	if out, err := RunGit(cmd); err == nil {
		return strings.TrimSuffix(string(out), "\n")
	}
	if dir := os.Getenv("XDG_CONFIG_HOME"); dir != "" {
		return filepath.Join(dir, "git", "ignore")
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return ""
	}
	return filepath.Join(home, ".config", "git", "ignore")
}

// IsDotGit recognises the name of git's own folder, also in other letter case where the file system ignores it.
func IsDotGit(name string) bool {
	if runtime.GOOS == "darwin" || runtime.GOOS == "windows" {
		return strings.EqualFold(name, ".git")
	}
	return name == ".git"
}
