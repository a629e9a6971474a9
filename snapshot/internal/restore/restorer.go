package restore

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"sort"
	"strings"
	"time"

	"supervise/snapshot/internal/disk"
	"supervise/snapshot/internal/gitdir"
	"supervise/snapshot/internal/gitstate"
	"supervise/snapshot/internal/manifest"
	"supervise/snapshot/internal/pack"
	"supervise/snapshot/internal/pool"
)

// Restored is the result of a restore. All paths are relative to the root of the tree, with slashes, and sorted.
type Restored struct {
	Target manifest.ID
	// Safety is the snapshot of the tree before the restore; restoring it reverses the restore.
	Safety manifest.ID
	// Written and Deleted are the changed working files.
	Written, Deleted []string
	// GitFiles counts the written or deleted files of git's own state.
	GitFiles int
	// Shared lists the recreated state that linked worktrees share, in the words of Store.LostGitState.
	Shared []string
	// Gone are paths that existed in the target, were not captured and are missing now: ignored files and folders such as
	// node_modules, and skipped files. They cannot be restored and have to be created again.
	Gone []string
	// Left are paths that did not exist in the target and could not be captured. They are kept, since a restore does not
	// delete files that are in no snapshot.
	Left []string
	// Displaced are paths that were in the way and are not in the safety snapshot: files that are too large, unreadable or
	// unstable, or changed during the restore, and folders with such or ignored files. They were moved to displaced/SAFETY
	// in the store or, if that is on another disk, to .supervise-displaced/SAFETY in the tree, which is in no snapshot.
	Displaced []string
	// DisplacedTo is this folder, "" if nothing was displaced.
	DisplacedTo string
	// Ignored are the captured ignored files that were written.
	Ignored []string
	// InUse are captured ignored files that still differ from the target: another program has them open or writes them, or
	// they are not writable.
	InUse []string
	// New are ignored files that did not exist in the target. They are kept.
	New []string
	// Altered are paths that were captured neither in the target nor now and have another size or time.
	Altered []string
	// Uncompared are the ignored files and folders in the target and now that are not captured. Folders end in a slash.
	Uncompared []string
	// Compared counts the files that were compared with the target at the end.
	Compared Compared
	// Replaced is the new path of a file or link that was at the path of the tree; "" if there was none.
	Replaced string
	// Fsck is the first problem found by git fsck; "" if there is none, or no git files were written.
	Fsck string
	// Unlike are paths with the correct content, but another owner or other hard links than in the target.
	Unlike []Mismatch
	// Mismatches are paths that still differ from the target. The restore is complete only if there are none.
	Mismatches []Mismatch
}

// Compared counts files and links: working files, those of git's own state, and kept ignored ones.
type Compared struct{ Work, Git, Ignored int }

// Mismatch is a path that differs from the target.
type Mismatch struct{ Path, Why string }

// Restorer changes the working tree and git's state from the content of one snapshot to that
// of another.
type Restorer struct {
	Tree          *gitdir.Tree
	Store         string // folder of the store
	Objects       *pack.Objects
	Pools         *pool.Pools
	Token         string // mark in the names of temporary files
	Result        *Restored
	ExcludesSaved func(gitdir.Excludes) error // saves changed excludes
}

// Apply changes the tree from present to target: first the working files, then git's files,
// captured ignored files, and git's objects. Problems of single paths are recorded in
// x.Result.
func (x *Restorer) Apply(ctx context.Context, present, target *manifest.Manifest) error {
	if err := x.removeTemps(present.Temps); err != nil {
		return err
	}
	if err := x.clearObjects(present, target); err != nil {
		return err
	}

	leave := target.UnknownPaths()
	work := x.newApplier(x.Tree.Root, x.Tree.Work, present.Work)
	todo := makePlan(x.Tree.Excludes.Without(present.Work), x.Tree.Excludes.Without(target.Work), leave)
	if err := work.run(todo, target.Work); err != nil {
		return err
	}

	work.hardlinks = findHardlinks(target)
	if err := work.run(work.planHardlinks(present, target), target.Work); err != nil {
		return err
	}
	x.Result.Written, x.Result.Deleted = work.written, work.deleted

	git := x.newApplier(x.Tree.Root, x.Tree.Work, present.Git)
	if err := git.run(makePlan(present.Git, target.Git, leave), target.Git); err != nil {
		return err
	}
	x.Result.GitFiles = len(git.written) + len(git.deleted)
	// Folders that contained only a nested repository are empty now.
	if err := work.run(plan{removeDirs: todo.removeDirs}, target.Work); err != nil {
		return err
	}

	if err := x.applyKept(present, target); err != nil {
		return err
	}

	if target.Root != nil {
		if _, err := target.Root.ApplyTo(x.Tree.Work); err != nil {
			x.Result.addMismatch(".", err.Error())
		}
	}
	return x.applyExternal(ctx, present, target)
}

// applyKept restores captured ignored files. It deletes none of them, and replaces none that
// another program has open.
func (x *Restorer) applyKept(present, target *manifest.Manifest) error {
	y := *x
	y.Result = &Restored{Safety: x.Result.Safety} // mismatches of ignored files are not errors
	a := y.newApplier(x.Tree.Root, x.Tree.Work, present.Kept)
	want := x.Tree.Excludes.Without(target.Kept)
	p := makePlan(present.Kept, want, func(string) bool { return true })

	var open map[string]bool
	p.writes = slices.DeleteFunc(p.writes, func(e manifest.Entry) bool {
		if manifest.Lookup(present.Kept, e.Path) < 0 {
			return false
		}
		if open == nil {
			open = gitdir.ListOpenFiles(x.Tree.Work)
		}
		return open[e.Path]
	})

	err := a.run(p, want)
	// A built file that looks newer than the sources would not be built again.
	for _, name := range a.written {
		if e := &want[manifest.Lookup(want, name)]; e.Kind == disk.KindFile && e.Stat.Mtime != 0 {
			at := time.Unix(0, e.Stat.Mtime)
			err = errors.Join(err, a.root.Chtimes(name, at, at))
		}
	}
	x.Result.Ignored, x.Result.Displaced = a.written, append(x.Result.Displaced, y.Result.Displaced...)
	return err
}

// removeTemps removes the temporary files of an earlier attempt.
func (x *Restorer) removeTemps(temps []string) error {
	for _, t := range temps {
		var err error
		if rel, outside := strings.CutPrefix(t, gitdir.InExternal); outside {
			err = os.Remove(filepath.Join(x.Tree.External.GitDir, filepath.FromSlash(rel)))
		} else {
			err = x.Tree.Root.Remove(t)
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("remove left-over temporary file: %w", err)
		}
	}
	return nil
}

// applyExternal restores the git folder outside the tree, if there is one, and the objects inside and outside.
func (x *Restorer) applyExternal(ctx context.Context, present, target *manifest.Manifest) error {
	ext := x.Tree.External
	if ext.GitDir == "" {
		return x.restoreObjects(target)
	}
	if err := os.MkdirAll(ext.GitDir, 0o755); err != nil {
		return fmt.Errorf("make git folder: %w", err)
	}
	root, err := os.OpenRoot(ext.GitDir)
	if err != nil {
		return fmt.Errorf("open git folder: %w", err)
	}
	defer root.Close()

	a := x.newApplier(root, ext.GitDir, present.Ext)
	p := makePlan(present.Ext, target.Ext, func(string) bool { return false })
	if err := a.run(p, target.Ext); err != nil {
		return err
	}
	x.Result.GitFiles += len(a.written) + len(a.deleted)

	if err := x.restoreObjects(target); err != nil {
		return err
	}

	if ext.Linked() {
		if err := x.restoreShared(ctx, present, target); err != nil {
			return err
		}
		if err := gitstate.RestoreBranch(ctx, ext.Common, target.Branch); err != nil {
			x.Result.addMismatch(target.Branch.Name, err.Error())
		}
	}
	return nil
}

// clearObjects empties the object databases that are not in the target. The pools keep their content.
func (x *Restorer) clearObjects(present, target *manifest.Manifest) error {
	leave := target.UnknownPaths()
	for _, d := range present.ObjectDirs {
		if slices.Contains(target.ObjectDirs, d) || leave(d) || gitdir.IsLargeFileKey(d) {
			continue // large files are not part of a tree: only pointers refer to them
		}
		p, err := x.Pools.Get(d)
		if err != nil {
			return err
		}
		if err := p.Clear(x.Tree.External.ObjectDir(x.Tree.Work, d)); err != nil {
			return err
		}
	}
	return nil
}

// restoreObjects restores missing files in the object databases of the target.
func (x *Restorer) restoreObjects(target *manifest.Manifest) error {
	for _, key := range target.ObjectDirs {
		if gitdir.IsLargeFileKey(key) && !strings.HasPrefix(key, gitdir.InExternal) {
			_ = x.Tree.Root.MkdirAll(key, 0o755) // after an error isRealDir returns false
		}
		if !strings.HasPrefix(key, gitdir.InExternal) && !x.isRealDir(key) {
			continue // Verify reports a mismatch
		}
		p, err := x.Pools.Get(key)
		if err != nil {
			return err
		}
		given, err := p.Restore(x.Tree.External.ObjectDir(x.Tree.Work, key), manifest.Seq(target.ID), target.Started)
		if err != nil {
			return err
		}
		for _, name := range []string{key + "/pack", key + "/info", key} { // which may have been made accessible
			if i := manifest.Lookup(target.Git, name); i >= 0 && target.Git[i].Kind == disk.KindDir {
				_ = x.Tree.Root.Chmod(name, disk.Mode(target.Git[i].Stat.Mode))
			}
		}
		x.Result.GitFiles += given.Files
		for _, n := range given.Damaged {
			x.Result.addMismatch(strings.TrimPrefix(key, gitdir.InExternal)+"/"+n, "damaged in place, and no intact copy is left")
		}
	}
	return nil
}

// isRealDir reports whether a path of the tree is a folder, without symbolic links in the path.
func (x *Restorer) isRealDir(p string) bool {
	for d := p; d != "."; d = path.Dir(d) {
		fi, err := x.Tree.Root.Lstat(d)
		if err != nil || !fi.IsDir() {
			return false
		}
	}
	return true
}

// addMismatch adds a path unless it was already added.
func (r *Restored) addMismatch(p, why string) {
	if !r.hasMismatch(p) {
		r.Mismatches = append(r.Mismatches, Mismatch{p, why})
	}
}

// Verify compares the current tree with the target, and completes the result.
func (x *Restorer) Verify(now, target *manifest.Manifest) {
	leave := target.UnknownPaths()
	for _, part := range []struct{ now, want []manifest.Entry }{
		{x.Tree.Excludes.Without(now.Work), x.Tree.Excludes.Without(target.Work)}, {now.Git, target.Git}, {now.Ext, target.Ext},
	} {
		p := makePlan(part.now, part.want, leave)
		for _, e := range slices.Concat(p.openDirs, p.makeDirs, p.writes, p.chmods) {
			if i := manifest.Lookup(part.now, e.Path); i < 0 || !part.now[i].RestoresSame(&e) { // more than the owner differs
				x.Result.addMismatch(e.Path, "differs from the snapshot")
			}
		}
		for _, e := range p.removals {
			x.Result.addMismatch(e.Path, "did not exist in the snapshot")
		}
	}

	if now.Root != nil && target.Root != nil && now.Root.Mode != target.Root.Mode {
		x.Result.addMismatch(".", "differs from the snapshot")
	}

	x.verifyKept(now, target)
	x.Result.Unlike = x.findOwnerAndLinkDifferences(now, target)
	x.countCompared(target)
	x.Result.Altered, x.Result.Uncompared = x.findAltered(now, target), append(target.UnkeptIgnored(), now.UnkeptIgnored()...)
	sort.Strings(x.Result.Uncompared)
	x.Result.Uncompared = slices.Compact(x.Result.Uncompared)
	x.Result.Gone, x.Result.Left = x.findGone(target), findLeft(now, target)

	sort.Strings(x.Result.Ignored)
	sort.Strings(x.Result.Written)
	sort.Strings(x.Result.Deleted)
	sort.Strings(x.Result.Displaced)
	if len(x.Result.Displaced) > 0 {
		x.Result.DisplacedTo = x.DisplacedTo()
	}
	sort.SliceStable(x.Result.Mismatches, func(i, k int) bool { return x.Result.Mismatches[i].Path < x.Result.Mismatches[k].Path })
}

// verifyKept compares the captured ignored files. It records new ones, and those that still
// differ.
func (x *Restorer) verifyKept(now, target *manifest.Manifest) {
	manifest.ForEachPair(now.Kept, x.Tree.Excludes.Without(target.Kept), func(n, w *manifest.Entry) {
		switch {
		case w == nil:
			if n.Kind != disk.KindDir && !target.HasSkipped(n.Path) && !x.Tree.Excludes.Has(n.Path) {
				x.Result.New = append(x.Result.New, n.Path)
			}
		case n != nil && n.RestoresSame(w):
		default:
			x.Result.InUse = append(x.Result.InUse, w.Path)
		}
	})
}

// countCompared records how many files Verify has compared.
func (x *Restorer) countCompared(target *manifest.Manifest) {
	files := func(list []manifest.Entry) (n int) {
		for i := range list {
			if list[i].Kind != disk.KindDir {
				n++
			}
		}
		return n
	}
	x.Result.Compared = Compared{
		Work: files(x.Tree.Excludes.Without(target.Work)), Git: files(target.Git) + files(target.Ext),
		Ignored: files(x.Tree.Excludes.Without(target.Kept)) - len(x.Result.InUse),
	}
}

// findAltered lists the skipped files of the target that have changed.
func (x *Restorer) findAltered(now, target *manifest.Manifest) []string {
	var out []string
	for _, s := range target.Skipped {
		current := now.FindSkipped(s.Path)
		captured := manifest.Lookup(now.Work, s.Path) >= 0 || manifest.Lookup(now.Kept, s.Path) >= 0
		changed := current != nil && s.Mtime != 0 && (current.Size != s.Size || current.Mtime != s.Mtime)
		if (changed || captured && s.Mtime != 0) && !x.Tree.Excludes.Has(s.Path) {
			out = append(out, s.Path)
		}
	}
	return out
}

// findGone lists the paths that the target has seen and not captured, and that are missing
// now, sorted.
func (x *Restorer) findGone(target *manifest.Manifest) []string {
	var out []string
	note := func(p string) {
		p = strings.TrimSuffix(p, "/")
		if _, err := x.Tree.Root.Lstat(p); errors.Is(err, fs.ErrNotExist) && !x.Tree.Excludes.Has(p) {
			out = append(out, p)
		}
	}
	for _, p := range target.Ignored {
		note(p)
	}
	for _, skip := range target.Skipped {
		note(skip.Path)
	}
	sort.Strings(out)
	return slices.Compact(out)
}

// findLeft lists existing paths that were not captured and that the target has not seen.
func findLeft(now, target *manifest.Manifest) []string {
	var out []string
	unknown := target.UnknownPaths()
	for _, skip := range now.Skipped {
		p := strings.TrimSuffix(skip.Path, "/")
		if !unknown(p) && manifest.Lookup(target.Work, p) < 0 && manifest.Lookup(target.Git, p) < 0 && manifest.Lookup(target.Kept, p) < 0 {
			out = append(out, p)
		}
	}
	return out
}

// restoreShared recreates the state that linked worktrees share, as far as it is missing. If
// the repository was deleted, it recreates that.
func (x *Restorer) restoreShared(ctx context.Context, present, target *manifest.Manifest) error {
	want, err := gitstate.ReadShared(x.Objects, target)
	if err != nil || len(want) == 0 {
		return err
	}

	common := x.Tree.External.Common
	if _, err := os.Lstat(filepath.Join(common, "HEAD")); errors.Is(err, fs.ErrNotExist) {
		return x.remakeShared(want)
	}

	lost, err := gitstate.FindLostShared(x.Objects, want, present.SharedList)
	if err != nil {
		return err
	}

	for _, l := range lost {
		if l.Commit == "" || l.Name == target.Branch.Name {
			continue
		}
		args := []string{"--git-dir=" + common, "update-ref", "-m", "supervise: restore", l.Name, l.Commit, strings.Repeat("0", len(l.Commit))}
		if l.Name == gitstate.StashRef {
			args = []string{"--git-dir=" + common, "update-ref", "--create-reflog", "-m", l.Subject, l.Name, l.Commit}
		}
		if _, err := gitdir.IsolatedGit(common, args...).Output(ctx); err != nil {
			x.Result.addMismatch(l.Name, err.Error())
			continue
		}
		x.Result.Shared = append(x.Result.Shared, l.Text)
	}
	return nil
}

// remakeShared writes the missing files of a deleted repository.
func (x *Restorer) remakeShared(want []manifest.Entry) error {
	root, err := os.OpenRoot(x.Tree.External.Common)
	if err != nil {
		return fmt.Errorf("open shared git folder: %w", err)
	}
	defer root.Close()
	for _, e := range want {
		if _, err := root.Lstat(e.Path); err == nil {
			continue
		}
		data, err := x.Objects.Content(e.OID)
		if err != nil {
			return fmt.Errorf("read shared git state: %w", err)
		}
		if dir := manifest.Dir(e.Path); dir != "" {
			if err := root.MkdirAll(dir, 0o755); err != nil {
				return fmt.Errorf("make shared git folder: %w", err)
			}
		}
		if err := root.WriteFile(e.Path, data, disk.Mode(e.Stat.Mode)); err != nil {
			return fmt.Errorf("write shared git folder: %w", err)
		}
	}

	for _, dir := range []string{"refs", "objects"} { // required in a repository
		if err := root.MkdirAll(dir, 0o755); err != nil {
			return fmt.Errorf("make shared git folder: %w", err)
		}
	}
	x.Result.Shared = append(x.Result.Shared, "the repository "+x.Tree.External.Common)
	return nil
}
