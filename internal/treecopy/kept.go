package treecopy

import (
	"bytes"
	"context"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"supervise/internal/ledger"
	"supervise/internal/projectfile"
	"supervise/snapshot"
)

// Kept is a copy that is kept from one use to the next, at one path, so that tools reuse what they
// built there. It has no files that git ignores. It is not safe for concurrent use.
type Kept struct {
	dir   string              // its private parent; "" before the first use
	link  string              // to dir, if that is not in the scratch folder
	id    snapshot.ID         // of the files
	files map[string]exported // as they were written, by slash path
	built map[string]bool     // what the first use left besides the files, by slash path
	stamp time.Time           // of the last files that were written
}

// exported is a file as it was written.
type exported struct {
	hash     string
	mode     fs.FileMode
	size     int64
	modified time.Time
}

// WithKept is [Workspace.WithCopy] with the kept copy of the workspace, if it has one. Files that do not
// change keep their times. Of what runs there left, only what the first run built stays.
func (w Workspace) WithKept(ctx context.Context, id snapshot.ID, work func(Tree) error) error {
	k := w.Kept
	if k == nil {
		return w.WithCopy(ctx, id, work)
	}
	t, err := k.prepare(ctx, w, id)
	if err != nil && k.dir != "" && ctx.Err() == nil { // such as a folder that cannot be written
		if err = k.Remove(); err == nil {
			t, err = k.prepare(ctx, w, id)
		}
	}
	if err != nil {
		return err
	}
	if w.User != nil {
		if err := w.User.Chown(k.dir); err != nil {
			return err
		}
	}
	linked := k.others(t)
	err = work(t)
	if k.built == nil {
		k.built = k.others(t)
		for name := range linked {
			delete(k.built, name)
		}
	}
	return err
}

// Remove removes the copy.
func (k *Kept) Remove() error {
	dir, link := k.dir, k.link
	*k = Kept{}
	if dir == "" {
		return nil
	}
	err := ledger.RemoveTree(dir)
	if link != "" && err == nil {
		err = os.Remove(link)
	}
	return err
}

// prepare makes the copy that of a snapshot, without files that git ignores.
func (k *Kept) prepare(ctx context.Context, w Workspace, id snapshot.ID) (Tree, error) {
	files, err := w.cleanFiles(ctx, id)
	if err != nil {
		return Tree{}, err
	}
	if k.dir == "" {
		if err := k.makeDir(w); err != nil {
			return Tree{}, err
		}
	}
	t := Tree{w, filepath.Join(k.dir, filepath.Base(w.Root)), &k.stamp}
	if k.files == nil {
		k.stamp = time.Now()
		err = w.Store.Export(ctx, id, t.Path)
	} else {
		err = k.update(ctx, t, id, files)
	}
	if err != nil {
		return t, err
	}
	k.record(t, id, files)
	for name := range k.others(t) {
		if !k.built[name] {
			if err := ledger.RemoveTree(filepath.Join(t.Path, filepath.FromSlash(name))); err != nil {
				return t, err
			}
		}
	}
	return t, t.linkDependencies(ctx, files)
}

// makeDir makes the private parent where it has the fewest folders above it that the working tree has
// too, since programs look for settings and packages there. If that is not in the scratch folder, a
// link there leads to it, by which [ledger.SweepScratch] finds it.
func (k *Kept) makeDir(w Workspace) error {
	err := os.MkdirAll(w.Scratch, 0o700)
	if err != nil {
		return err
	}
	root := resolveLinks(w.Root)
	fewest := commonFolders(root, resolveLinks(w.Scratch))
	for _, dir := range []string{"/var/tmp", os.TempDir()} {
		if n := commonFolders(root, resolveLinks(dir)); n < fewest && filepath.IsAbs(dir) {
			if made, err := os.MkdirTemp(dir, ledger.CopyPrefix); err == nil {
				k.dir, k.link = made, filepath.Join(w.Scratch, filepath.Base(made))
				return os.Symlink(made, k.link)
			}
		}
	}
	k.dir, err = os.MkdirTemp(w.Scratch, "tree-")
	return err
}

// commonFolders returns how many folders two absolute paths have in common, without the top one.
func commonFolders(a, b string) int {
	n := 0
	for x, y := strings.Split(a, string(filepath.Separator))[1:], strings.Split(b, string(filepath.Separator))[1:]; n < len(x) && n < len(y) && x[n] == y[n]; n++ {
	}
	return n
}

// cleanFiles returns the files of a snapshot without those that git ignores, which snapshots have too.
func (w Workspace) cleanFiles(ctx context.Context, id snapshot.ID) ([]snapshot.File, error) {
	files, err := w.Store.Files(id)
	if err != nil {
		return nil, err
	}
	ignored, err := IgnoredFiles(ctx, w.Root)
	if err != nil {
		return files, ctx.Err() // without a repository nothing is ignored
	}
	return slices.DeleteFunc(slices.Clone(files), func(f snapshot.File) bool {
		return slices.ContainsFunc(ignored, func(name string) bool { return IsBelow(f.Path, name) })
	}), nil
}

// IsBelow reports whether a file is the one that is named, or in the folder that is. Both have slashes.
func IsBelow(file, name string) bool {
	name = strings.TrimSuffix(name, "/")
	return file == name || strings.HasPrefix(file, name+"/")
}

// update replaces the files that are not those of the snapshot, and removes what is next to the copy.
func (k *Kept) update(ctx context.Context, t Tree, id snapshot.ID, files []snapshot.File) error {
	entries, err := os.ReadDir(k.dir)
	for _, e := range entries {
		if name := filepath.Join(k.dir, e.Name()); err == nil && name != t.Path {
			err = ledger.RemoveTree(name)
		}
	}
	if err != nil {
		return err
	}
	stale := k.stale(t, files)
	if err := t.Restore(ctx, id, stale...); err != nil {
		return err
	}
	return t.Touch(stale...)
}

// stale lists the files of the copy that are not as they have to be.
func (k *Kept) stale(t Tree, files []snapshot.File) []string {
	var out []string
	now := make(map[string]bool, len(files))
	for _, f := range files {
		now[f.Path] = true
		if old, ok := k.files[f.Path]; !ok || old.hash != f.Hash || old.mode != f.Mode || !old.isUnchanged(t, f.Path) {
			out = append(out, f.Path)
		}
	}
	for name := range k.files {
		if !now[name] {
			out = append(out, name)
		}
	}
	return out
}

// record remembers the files as they are.
func (k *Kept) record(t Tree, id snapshot.ID, files []snapshot.File) {
	k.id, k.files = id, make(map[string]exported, len(files))
	for _, f := range files {
		if info, err := os.Lstat(filepath.Join(t.Path, filepath.FromSlash(f.Path))); err == nil { // otherwise it is excluded
			k.files[f.Path] = exported{f.Hash, f.Mode, info.Size(), info.ModTime()}
		}
	}
}

// isUnchanged reports whether a file is as it was written.
func (e exported) isUnchanged(t Tree, name string) bool {
	info, err := os.Lstat(filepath.Join(t.Path, filepath.FromSlash(name)))
	return err == nil && info.Size() == e.size && info.ModTime().Equal(e.modified)
}

// others lists the topmost files and folders of the copy that are not its files.
func (k *Kept) others(t Tree) map[string]bool {
	dirs := map[string]bool{".": true}
	for name := range k.files {
		for dir := path.Dir(name); !dirs[dir]; dir = path.Dir(dir) {
			dirs[dir] = true
		}
	}
	out := map[string]bool{}
	_ = filepath.WalkDir(t.Path, func(file string, d fs.DirEntry, err error) error {
		rel, fault := filepath.Rel(t.Path, file)
		name := filepath.ToSlash(rel)
		switch {
		case err != nil, fault != nil:
			return nil //nolint:nilerr // what cannot be read is left as it is
		case d.IsDir() && dirs[name]:
			return nil
		case d.IsDir():
			out[name] = true
			return filepath.SkipDir
		}
		if _, ok := k.files[name]; !ok {
			out[name] = true
		}
		return nil
	})
	return out
}

// Changed returns the files of the snapshot that are not as it has them, in no order.
func (k *Kept) Changed(ctx context.Context, t Tree) (out []string, err error) {
	for name, e := range k.files {
		if e.isUnchanged(t, name) || e.mode&fs.ModeSymlink != 0 {
			continue
		}
		was, err := t.Store.ReadFile(ctx, k.id, name)
		if err != nil {
			return nil, err
		}
		if is, err := projectfile.ReadAnywhere(filepath.Join(t.Path, filepath.FromSlash(name)), projectfile.Report); err != nil || !bytes.Equal(was, is) {
			out = append(out, name)
		}
	}
	return out, nil
}
