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

// IsolatedGit is a command of git to which only the repository's own configuration matters.
func IsolatedGit(dir string, args ...string) git.Command {
	return git.Command{Dir: dir, Args: args, Isolated: true}
}

// RepoGit runs git for the repository whose working tree is root, and only for that one: a broken .git never makes it
// look into a repository further up.
func RepoGit(ctx context.Context, root string, args ...string) ([]byte, error) {
	return IsolatedGit(root, append([]string{"--git-dir=" + filepath.Join(root, ".git"), "--work-tree=" + root}, args...)...).Output(ctx)
}

// UserIgnoreFile is the file of ignore patterns that the user keeps for all repositories. Only here git reads the user's
// own configuration, which "git config --get" does without running anything. The file may not exist.
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

// IsDotGit recognises the name of git's own folder, also in other letter case where the file system ignores it.
func IsDotGit(name string) bool {
	if runtime.GOOS == "darwin" || runtime.GOOS == "windows" {
		return strings.EqualFold(name, ".git")
	}
	return name == ".git"
}

// fsckTime is how long git may look for what is missing. In a repository for which that is not enough, nothing is known.
const fsckTime = 20 * time.Second

// Fsck asks git whether all objects that refs and the index need are there and can be read. It returns the first line of
// what git finds, "" if all is well, or git does not know.
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
