package snapshot

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
)

// Restored tells what a restore did. All paths are relative to the root of the tree, with slashes, and sorted.
type Restored struct {
	Target ID
	// Safety is the snapshot of the tree as it was before; restoring it undoes this restore.
	Safety ID
	// Written and Deleted are working files; files that were right already are in neither.
	Written, Deleted []string
	// GitFiles counts the files of git's own state that were written or deleted.
	GitFiles int
	// Shared is what was gone of the state that linked worktrees share and is there again, in the words of GitLost.
	Shared []string
	// Gone is what existed at the target, was not captured and does not exist now: ignored files and folders such as
	// node_modules, and skipped files. They cannot be brought back; what made them has to run again.
	Gone []string
	// Left is what was not there at the target, could not be captured, and is still there: a restore deletes nothing that
	// is in no snapshot.
	Left []string
	// Displaced is what was in the way and is not in the safety snapshot: files that are too big, unreadable or unstable,
	// or changed during the restore, and folders that still hold such or ignored files. They were moved into the folder
	// displaced/SAFETY of the store; if that is on another disk, into .supervise-displaced/SAFETY of the tree, which is in no
	// snapshot.
	Displaced []string
	// DisplacedTo is that folder, "" if nothing was displaced.
	DisplacedTo string
	// Mismatches is what differs from the target after all. Anything here means that the restore is not whole.
	Mismatches []Mismatch
}

// Mismatch is a path that is not as the target says.
type Mismatch struct{ Path, Why string }

// restorer changes the working tree and git's state from what one snapshot holds to what another holds.
type restorer struct {
	tree          *tree
	store         string // its folder
	objects       *objects
	pools         *pools
	token         string // in the names of temporary files
	r             *Restored
	excludesSaved func(excludes) error // makes a change of the excludes last
}

// apply changes the tree from present to target: working files, git's files, then git's objects.
func (x *restorer) apply(ctx context.Context, present, target *manifest) error {
	if err := x.sweep(present.temps); err != nil {
		return err
	}
	if err := x.clearObjects(present, target); err != nil {
		return err
	}
	leave := target.unknown()
	work := x.newApplier(x.tree.root, x.tree.work, present.work)
	todo := diff(x.tree.excludes.without(present.work), x.tree.excludes.without(target.work), leave)
	if err := work.run(todo, target.work); err != nil {
		return err
	}
	x.r.Written, x.r.Deleted = work.written, work.deleted
	git := x.newApplier(x.tree.root, x.tree.work, present.git)
	if err := git.run(diff(present.git, target.git, leave), target.git); err != nil {
		return err
	}
	x.r.GitFiles = len(git.written) + len(git.deleted)
	// Folders that held nothing but a nested repository are empty only now.
	if err := work.run(plan{rmdir: todo.rmdir}, target.work); err != nil {
		return err
	}
	return x.applyExternal(ctx, present, target)
}

// sweep removes the temporary files of an earlier attempt.
func (x *restorer) sweep(temps []string) error {
	for _, t := range temps {
		var err error
		if rel, outside := strings.CutPrefix(t, inExternal); outside {
			err = os.Remove(filepath.Join(x.tree.external.GitDir, filepath.FromSlash(rel)))
		} else {
			err = x.tree.root.Remove(t)
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("remove left-over temporary file: %w", err)
		}
	}
	return nil
}

// applyExternal restores the git folder outside of the tree, if there is one, and gives back objects inside and outside.
func (x *restorer) applyExternal(ctx context.Context, present, target *manifest) error {
	ext := x.tree.external
	if ext.GitDir == "" {
		return x.giveObjects(target)
	}
	if err := os.MkdirAll(ext.GitDir, 0o755); err != nil {
		return fmt.Errorf("make git folder: %w", err)
	}
	root, err := os.OpenRoot(ext.GitDir)
	if err != nil {
		return fmt.Errorf("open git folder: %w", err)
	}
	defer root.Close()
	a := x.newApplier(root, ext.GitDir, present.ext)
	p := diff(present.ext, target.ext, func(string) bool { return false })
	if err := a.run(p, target.ext); err != nil {
		return err
	}
	x.r.GitFiles += len(a.written) + len(a.deleted)
	if err := x.giveObjects(target); err != nil {
		return err
	}
	if ext.linked() {
		if err := x.restoreShared(ctx, present, target); err != nil {
			return err
		}
		if err := restoreBranch(ctx, ext.Common, target.Branch); err != nil {
			x.r.mismatch(target.Branch.Name, err.Error())
		}
	}
	return nil
}

// clearObjects empties the object databases that the target does not have; the pool keeps what was in them.
func (x *restorer) clearObjects(present, target *manifest) error {
	had := map[string]bool{}
	for _, d := range target.objectDirs {
		had[d] = true
	}
	leave := target.unknown()
	for _, d := range present.objectDirs {
		if had[d] || leave(d) || isLargeFilesKey(d) {
			continue // large files are no part of a tree: they are found by those that name them
		}
		p, err := x.pools.of(d)
		if err != nil {
			return err
		}
		if err := p.clear(x.tree.external.objectDir(x.tree.work, d)); err != nil {
			return err
		}
	}
	return nil
}

// giveObjects puts back what is missing from the target's object databases.
func (x *restorer) giveObjects(target *manifest) error {
	for _, key := range target.objectDirs {
		if isLargeFilesKey(key) && !strings.HasPrefix(key, inExternal) {
			_ = x.tree.root.MkdirAll(key, 0o755) // where it fails, realDir tells
		}
		if !strings.HasPrefix(key, inExternal) && !x.realDir(key) {
			continue // a mismatch that verify reports
		}
		p, err := x.pools.of(key)
		if err != nil {
			return err
		}
		if err := p.give(x.tree.external.objectDir(x.tree.work, key), seqOf(target.ID), target.Started); err != nil {
			return err
		}
	}
	return nil
}

// realDir tells whether a path of the tree is a folder that is reached without symbolic links.
func (x *restorer) realDir(p string) bool {
	for d := p; d != "."; d = path.Dir(d) {
		fi, err := x.tree.root.Lstat(d)
		if err != nil || !fi.IsDir() {
			return false
		}
	}
	return true
}

// mismatch notes a path once, with the first reason.
func (r *Restored) mismatch(p, why string) {
	for _, m := range r.Mismatches {
		if m.Path == p {
			return
		}
	}
	r.Mismatches = append(r.Mismatches, Mismatch{p, why})
}
