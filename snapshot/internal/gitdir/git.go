package gitdir

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"supervise/internal/git"
)

// IsolatedGit returns a git command that uses only the configuration of the repository itself.
func IsolatedGit(dir string, args ...string) git.Command {
	return git.Command{Dir: dir, Args: args, Isolated: true}
}

// RepoGit runs git for the repository whose working tree is root. If its .git is broken, git does not search for a
// repository in the parent folders.
func RepoGit(ctx context.Context, root string, args ...string) ([]byte, error) {
	return IsolatedGit(root, append([]string{"--git-dir=" + filepath.Join(root, ".git"), "--work-tree=" + root}, args...)...).Output(ctx)
}

// UserIgnoreFile returns the path of the user's global ignore file, which may not exist. This is the only git command that
// reads the configuration of the user; "git config --get" runs nothing from it.
func UserIgnoreFile(ctx context.Context, root string) string {
	args := []string{"-c", "safe.directory=*", "--git-dir=" + filepath.Join(root, ".git"), "config", "--type=path", "--get", "core.excludesFile"}
	if out, err := git.NewCommand(root, args...).Output(ctx); err == nil {
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

// IsDotGit reports whether name is .git, in any letter case on systems whose file names are case-insensitive.
func IsDotGit(name string) bool {
	if runtime.GOOS == "darwin" || runtime.GOOS == "windows" {
		return strings.EqualFold(name, ".git")
	}
	return name == ".git"
}

// fsckTime is how long git fsck may take.
const fsckTime = 20 * time.Second

// Fsck checks with git whether all objects that refs and the index need exist and can be read. It returns the first line of
// the problems, "" if there are none or the check could not be completed.
func Fsck(ctx context.Context, root string) string {
	ctx, cancel := context.WithTimeout(ctx, fsckTime)
	defer cancel()
	out, err := RepoGit(ctx, root, "fsck", "--connectivity-only", "--no-dangling", "--no-progress")
	var failed *exec.ExitError
	if !errors.As(err, &failed) || ctx.Err() != nil {
		return ""
	}
	text := strings.TrimSpace(string(out))
	if text == "" {
		_, text, _ = strings.Cut(err.Error(), failed.Error()+": ")
	}
	line, _, _ := strings.Cut(text, "\n")
	return line
}
