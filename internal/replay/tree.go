package replay

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

// tree is a checkout of its own, in which the commits are measured one after
// another. It has a repository of its own too, which reads the objects of the
// user's: no worktree is registered there, and no ref, index or file is touched.
type tree struct {
	dir  string // of the checkout
	base string // what is removed at the end
	lock *os.File
}

// newTree makes the checkout below base, which nobody else uses. What a replay
// that was killed left there is removed first. The error wraps
// [ledger.ErrLocked] when another replay is at work there.
func newTree(ctx context.Context, r repo, base string) (*tree, error) {
	if err := os.MkdirAll(base, 0o700); err != nil {
		return nil, fmt.Errorf("make a tree for the replay: %w", err)
	}
	lock, err := ledger.HoldTree(base)
	if err != nil {
		return nil, fmt.Errorf("another replay of this project is at work: %w", err)
	}
	t := &tree{dir: filepath.Join(base, "tree"), base: base, lock: lock}
	if err := t.create(ctx, r); err != nil {
		return nil, errors.Join(err, t.remove())
	}
	return t, nil
}

func (t *tree) create(ctx context.Context, r repo) error {
	if err := removeAll(t.dir); err != nil {
		return fmt.Errorf("remove what an earlier replay left: %w", err)
	}
	objects, err := r.git(ctx, nil, "rev-parse", "--path-format=absolute", "--git-path", "objects")
	if err != nil {
		return err
	}
	format, err := r.git(ctx, nil, "rev-parse", "--show-object-format")
	if err != nil {
		return err
	}
	if err := os.MkdirAll(t.dir, 0o700); err != nil {
		return fmt.Errorf("make a tree for the replay: %w", err)
	}
	if err := t.git(ctx, "init", "--quiet", "--template=", "--object-format="+strings.TrimSpace(string(format))); err != nil {
		return err
	}
	info := filepath.Join(t.dir, ".git", "objects", "info")
	if err := os.MkdirAll(info, 0o700); err != nil {
		return fmt.Errorf("make a tree for the replay: %w", err)
	}
	return ledger.WriteFile(filepath.Join(info, "alternates"), objects)
}

// checkOut makes the tree that of the commit, whatever was in it.
func (t *tree) checkOut(ctx context.Context, c Commit) error {
	if err := t.git(ctx, "checkout", "--quiet", "--force", "--detach", c.ID, "--"); err != nil {
		return err
	}
	return t.git(ctx, "clean", "--quiet", "-ffdx")
}

func (t *tree) git(ctx context.Context, args ...string) error {
	own := []string{"-c", "core.hooksPath=" + os.DevNull, "-c", "core.fsmonitor=false", "-c", "gc.auto=0", "-c", "advice.detachedHead=false"}
	cmd := exec.CommandContext(ctx, "git", append(own, args...)...)
	cmd.Dir, cmd.Env = t.dir, append(withoutGit(os.Environ()), "GIT_LFS_SKIP_SMUDGE=1", "GIT_TERMINAL_PROMPT=0")
	out, err := cmd.CombinedOutput()
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if err != nil {
		return fmt.Errorf("git %s for the replay: %w: %s", args[0], err, strings.TrimSpace(string(out)))
	}
	return nil
}

// remove takes the checkout away.
func (t *tree) remove() error {
	err := removeAll(t.base)
	if err != nil {
		err = fmt.Errorf("remove the tree of the replay: %w; it can be deleted", err)
	}
	_ = os.Remove(filepath.Dir(t.base)) // fails while another worker has its checkout there
	return errors.Join(err, t.lock.Close())
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
