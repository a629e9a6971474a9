// Package checkout makes a working tree of its own for commits of the user's
// repository, in which they are measured one after another. It has a repository of
// its own too, which reads the objects of the user's: no worktree is registered
// there, and no ref, index or file of it is touched.
package checkout

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"supervise/internal/ledger"
)

// Tree is a working tree of its own.
type Tree struct {
	Dir  string   // of the files
	Base string   // what is removed at the end; there is room beside Dir
	Lock *os.File // held while the tree is there
}

// New makes a tree below base, which nobody else uses, for the repository that the
// folder repo belongs to. What somebody who was killed left there is removed first.
// The error wraps [ledger.ErrLocked] while another process has a tree there.
func New(ctx context.Context, repo, base string) (*Tree, error) {
	if err := os.MkdirAll(base, 0o700); err != nil {
		return nil, fmt.Errorf("make a checkout: %w", err)
	}
	lock, err := ledger.HoldTree(base)
	if err != nil {
		return nil, fmt.Errorf("make a checkout: another process is at work there: %w", err)
	}
	t := &Tree{Dir: filepath.Join(base, "tree"), Base: base, Lock: lock}
	if err := t.create(ctx, repo); err != nil {
		return nil, errors.Join(err, t.Remove())
	}
	return t, nil
}

func (t *Tree) create(ctx context.Context, repo string) error {
	if err := removeAll(t.Dir); err != nil {
		return fmt.Errorf("remove what an earlier run left: %w", err)
	}
	objects, err := git(ctx, repo, "rev-parse", "--path-format=absolute", "--git-path", "objects")
	if err != nil {
		return err
	}
	format, err := git(ctx, repo, "rev-parse", "--show-object-format")
	if err != nil {
		return err
	}
	if err := os.MkdirAll(t.Dir, 0o700); err != nil {
		return fmt.Errorf("make a checkout: %w", err)
	}
	if _, err := t.Git(ctx, "init", "--quiet", "--template=", "--object-format="+strings.TrimSpace(format)); err != nil {
		return err
	}
	info := filepath.Join(t.Dir, ".git", "objects", "info")
	if err := os.MkdirAll(info, 0o700); err != nil {
		return fmt.Errorf("make a checkout: %w", err)
	}
	return ledger.WriteFile(filepath.Join(info, "alternates"), []byte(objects))
}

// CheckOut makes the tree that of the commit, whatever was in it.
func (t *Tree) CheckOut(ctx context.Context, commit string) error {
	if _, err := t.Git(ctx, "checkout", "--quiet", "--force", "--detach", commit, "--"); err != nil {
		return err
	}
	_, err := t.Git(ctx, "clean", "--quiet", "-ffdx")
	return err
}

// Git runs a command of git in the tree and returns what it prints.
func (t *Tree) Git(ctx context.Context, args ...string) (string, error) {
	return git(ctx, t.Dir, args...)
}

// git runs a command of git without anything of the user's settings that runs
// programs, fetches or asks.
func git(ctx context.Context, dir string, args ...string) (string, error) {
	own := []string{"-c", "core.hooksPath=" + os.DevNull, "-c", "core.fsmonitor=false", "-c", "gc.auto=0", "-c", "advice.detachedHead=false"}
	cmd := exec.CommandContext(ctx, "git", append(own, args...)...)
	cmd.Dir, cmd.Env = dir, append(withoutGit(os.Environ()), "GIT_LFS_SKIP_SMUDGE=1", "GIT_TERMINAL_PROMPT=0", "GIT_OPTIONAL_LOCKS=0", "GIT_NO_LAZY_FETCH=1")
	out, err := cmd.Output()
	var exit *exec.ExitError
	switch {
	case ctx.Err() != nil:
		return "", context.Cause(ctx)
	case errors.As(err, &exit):
		return "", fmt.Errorf("git %s for a checkout: %w: %s", args[0], err, strings.TrimSpace(string(exit.Stderr)))
	case err != nil:
		return "", fmt.Errorf("git %s for a checkout: %w", args[0], err)
	}
	return string(out), nil
}

// withoutGit returns an environment in which git looks for nothing elsewhere.
func withoutGit(env []string) []string {
	out := make([]string, 0, len(env)+4)
	for _, line := range env {
		if !strings.HasPrefix(line, "GIT_") {
			out = append(out, line)
		}
	}
	return out
}

// Remove takes the tree away.
func (t *Tree) Remove() error {
	err := removeAll(t.Base)
	if err != nil {
		err = fmt.Errorf("remove a checkout: %w; it can be deleted", err)
	}
	_ = os.Remove(filepath.Dir(t.Base)) // fails while another process has its checkout there
	return errors.Join(err, t.Lock.Close())
}

// removeAll removes a folder, also those within it that nobody may write to.
func removeAll(dir string) error {
	if os.RemoveAll(dir) == nil {
		return nil
	}
	_ = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() {
			_ = os.Chmod(path, 0o700) // what does not help shows below
		}
		return nil
	})
	return os.RemoveAll(dir)
}
