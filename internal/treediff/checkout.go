package treediff

import (
	"context"
	"errors"
	"os/exec"
	"path/filepath"
	"strings"

	"supervise/internal/git"
)

// runUserGit runs git with the user's environment, which may select the repository and its
// ignored files.
func runUserGit(ctx context.Context, dir string, args ...string) ([]byte, error) {
	return git.Command{Dir: dir, Args: args, KeepRepoEnv: true}.Output(ctx)
}

// TopLevel returns the root of the git checkout that contains r.Dir, "" if there is none.
func (r Repo) TopLevel(ctx context.Context) string {
	out, err := runUserGit(ctx, r.Dir, "rev-parse", "--show-toplevel")
	if err != nil {
		return ""
	}
	return strings.TrimSuffix(string(out), "\n")
}

// HasCommits reports whether the checkout at r has any commit.
func (r Repo) HasCommits(ctx context.Context) bool {
	_, err := runUserGit(ctx, r.Dir, "rev-parse", "--verify", "--quiet", "HEAD")
	return err == nil
}

// Refusal returns why git refuses to work in r.Dir although there is a repository, for
// example because of its owner; "" if git works or there is none.
func (r Repo) Refusal(ctx context.Context) string {
	_, err := runUserGit(ctx, r.Dir, "rev-parse", "--show-toplevel")
	var exit *exec.ExitError
	if !errors.As(err, &exit) || strings.Contains(err.Error(), "not a git repository") {
		return ""
	}
	_, message, _ := strings.Cut(err.Error(), exit.Error()+": ")
	firstLine, _, _ := strings.Cut(message, "\n")
	return strings.TrimPrefix(firstLine, "fatal: ")
}

// IsIgnored reports whether git ignores a path. Tracked files, and folders with tracked files,
// are not ignored.
func IsIgnored(ctx context.Context, path string) bool { return checkIgnore(ctx, path) }

// IsIgnoredByPattern reports whether a pattern ignores a path, tracked or not.
func IsIgnoredByPattern(ctx context.Context, path string) bool {
	return checkIgnore(ctx, path, "--no-index")
}

// checkIgnore reports whether git check-ignore, with additional flags, says that a path is
// ignored.
func checkIgnore(ctx context.Context, path string, flags ...string) bool {
	args := append(append([]string{"check-ignore", "--quiet"}, flags...), "--", filepath.Base(path))
	_, err := runUserGit(ctx, filepath.Dir(path), args...)
	return err == nil
}
