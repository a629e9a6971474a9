// Package checkout makes a separate working tree, in which commits of the user's
// repository are measured one after another. The tree has its own repository, which reads
// the objects of the user's repository. It does not write to that repository: it registers
// no worktree, and changes no refs, index or files.
package checkout

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"supervise/internal/git"
	"supervise/internal/ledger"
	"supervise/snapshot"
)

// Tree is a separate working tree.
type Tree struct {
	Dir  string   // the root of the files
	Base string   // the parent of Dir for further files, removed at the end
	Lock *os.File // held while the tree exists
}

// New makes a tree below base, which no other process uses, for the repository that
// contains the folder repo; "" makes one without a repository. It first removes the tree
// of a killed process. The error wraps [ledger.ErrLocked] while another process has a tree
// there.
func New(ctx context.Context, repo, base string) (*Tree, error) {
	if err := os.MkdirAll(base, 0o700); err != nil {
		return nil, fmt.Errorf("make a checkout: %w", err)
	}
	lock, err := ledger.LockTree(base)
	if err != nil {
		return nil, fmt.Errorf("make a checkout: another process uses it: %w", err)
	}
	t := &Tree{Dir: filepath.Join(base, "tree"), Base: base, Lock: lock}
	if err := t.create(ctx, repo); err != nil {
		return nil, errors.Join(err, t.Remove())
	}
	return t, nil
}

// Reopen returns a tree that an earlier process left. The errors wrap those of [New], and
// [fs.ErrNotExist] if there is none.
func Reopen(base string) (*Tree, error) {
	t := &Tree{Dir: filepath.Join(base, "tree"), Base: base}
	if _, err := os.Stat(t.Dir); err != nil {
		return nil, fmt.Errorf("find a checkout: %w", err)
	}
	var err error
	if t.Lock, err = ledger.LockTree(base); err != nil {
		return nil, fmt.Errorf("find a checkout: another process uses it: %w", err)
	}
	return t, nil
}

// create makes the empty tree and its repository. That has no objects of its commits: git
// finds them in the user's repository, by objects/info/alternates.
func (t *Tree) create(ctx context.Context, repo string) error {
	if err := ledger.RemoveTree(t.Dir); err != nil {
		return fmt.Errorf("remove what an earlier run left: %w", err)
	}
	if repo == "" {
		return os.MkdirAll(t.Dir, 0o700)
	}

	objects, err := runGit(ctx, repo, "rev-parse", "--path-format=absolute", "--git-path", "objects")
	if err != nil {
		return err
	}
	format, err := runGit(ctx, repo, "rev-parse", "--show-object-format")
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
	return ledger.WriteFile(filepath.Join(info, "alternates"), []byte(t.linkObjects(strings.TrimSuffix(objects, "\n"))+"\n"))
}

// linkObjects returns the path by which git finds the objects of the user's repository. It is
// relative and leads through a link next to the tree, so that it is also valid in a tree that
// is made from snapshots of this one.
func (t *Tree) linkObjects(objects string) string {
	link := filepath.Join(t.Base, objectsName)
	_ = os.Remove(link) // of an earlier tree
	if os.Symlink(objects, link) != nil {
		return objects // a system without links
	}
	return "../../../" + objectsName // from .git/objects
}

// ObjectsLink returns the path of the link through which git finds the objects of the user's
// repository.
func (t *Tree) ObjectsLink() string { return filepath.Join(t.Base, objectsName) }

// objectsName is the name of that link.
const objectsName = "objects"

// CheckOut makes the tree equal to that of a commit, and removes all other files.
func (t *Tree) CheckOut(ctx context.Context, commit string) error {
	if _, err := t.Git(ctx, "checkout", "--quiet", "--force", "--detach", commit, "--"); err != nil {
		return err
	}
	_, err := t.Git(ctx, "clean", "--quiet", "-ffdx")
	return err
}

// OpenSnapshots opens a store for snapshots of the tree, which is removed with the tree. A new
// store fixes which files are ignored. At that time the tree is still empty, so that no commit
// can make git ignore a file of another one.
func (t *Tree) OpenSnapshots(ctx context.Context) (*snapshot.Store, error) {
	return snapshot.Open(ctx, t.Dir, filepath.Join(t.Base, "snapshots"), snapshot.Options{MinFree: -1})
}

// Snapshot checks out a commit and takes a snapshot of it.
func (t *Tree) Snapshot(ctx context.Context, s *snapshot.Store, commit string) (snapshot.ID, error) {
	if err := t.CheckOut(ctx, commit); err != nil {
		return "", err
	}
	info, err := s.Take(ctx, commit)
	return info.ID, err
}

// Git runs a git command in the tree and returns its output.
func (t *Tree) Git(ctx context.Context, args ...string) (string, error) {
	return runGit(ctx, t.Dir, args...)
}

// runGit runs a git command in dir and returns its output.
func runGit(ctx context.Context, dir string, args ...string) (string, error) {
	out, err := git.NewCommand(dir, append([]string{"-c", "advice.detachedHead=false"}, args...)...).Output(ctx)
	if err != nil {
		return "", fmt.Errorf("for a checkout: %w", err)
	}
	return string(out), nil
}

// Keep unlocks the tree, and leaves it to a later process.
func (t *Tree) Keep() error { return t.Lock.Close() }

// Remove removes the tree.
func (t *Tree) Remove() error {
	err := ledger.RemoveTree(t.Base)
	if err != nil {
		err = fmt.Errorf("remove a checkout: %w; it can be deleted", err)
	}
	_ = os.Remove(filepath.Dir(t.Base)) // fails while another process has its checkout there
	return errors.Join(err, t.Lock.Close())
}
