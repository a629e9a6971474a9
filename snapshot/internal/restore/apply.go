package restore

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"sort"
	"strconv"
	"syscall"

	"golang.org/x/sync/errgroup"

	"supervise/snapshot/internal/disk"
	"supervise/snapshot/internal/manifest"
)

// applier executes the plan for one part of the tree. Every step can be repeated. Content that is not in the snapshot of the
// current tree is never destroyed.
type applier struct {
	*Restorer
	root     *os.Root // the tree, or the git folder outside the tree
	rootPath string
	now      []manifest.Entry // the current entries of the part

	written, deleted []string          // the changed paths
	modes            map[string]uint32 // folder → final permissions
	temps            int               // number of temporary files so far
	hardlinks        hardlinks         // of the target
	ready            map[string]string // path → temporary file with its new content
}

// newApplier returns an applier for the part of the tree with the current entries now.
func (x *Restorer) newApplier(root *os.Root, rootPath string, now []manifest.Entry) *applier {
	return &applier{Restorer: x, root: root, rootPath: rootPath, now: now, modes: map[string]uint32{}, ready: map[string]string{}}
}

// run executes the plan. Errors of single paths become mismatches. An error that would affect all other paths too, such as a
// full disk, ends it.
func (a *applier) run(p plan, want []manifest.Entry) error {
	for _, step := range []struct {
		list []manifest.Entry
		do   func(manifest.Entry) error
	}{{p.openDirs, a.openDir}, {p.removals, a.remove}, {p.removeDirs, a.rmdir}, {p.makeDirs, a.mkdir}} {
		if err := a.forEach(step.list, step.do); err != nil {
			return err
		}
	}

	for chunk := range slices.Chunk(p.writes, writeAhead) {
		a.fillAhead(chunk)
		err := a.forEach(chunk, a.write)
		a.removeUnused()
		if err != nil {
			return err
		}
	}

	if err := errors.Join(a.forEach(p.chmods, a.chmod), a.forEach(p.relinks, a.relink)); err != nil {
		return err
	}
	a.setDirModes(want)
	return nil
}

// forEach executes one step of the plan for every entry. If a step lacks permission, it makes
// the folder writable and tries again.
func (a *applier) forEach(list []manifest.Entry, do func(manifest.Entry) error) error {
	for _, e := range list {
		err := do(e)
		if errors.Is(err, fs.ErrPermission) && a.makeWritable(path.Dir(e.Path)) {
			err = do(e)
		}
		if disk.IsFatal(err) {
			return err
		}
		if err != nil {
			a.Result.addMismatch(e.Path, err.Error())
		}
	}
	return nil
}

// openDir gives the owner access to a folder whose permissions are changed later.
func (a *applier) openDir(e manifest.Entry) error {
	a.modes[e.Path] = e.Stat.Mode
	a.giveOwner(e.Path, e)
	return a.root.Chmod(e.Path, disk.Mode(e.Stat.Mode|0o700))
}

// giveOwner changes the owner of a path to that of an entry, and reports whether it did. It
// clears set-id bits. Usually only root may do that; Verify reports paths with another owner.
func (a *applier) giveOwner(p string, e manifest.Entry) bool {
	fi, err := a.root.Lstat(p)
	if err != nil || !e.Stat.Owner.DiffersFrom(disk.StatOf(fi).Owner) {
		return false
	}
	return a.root.Lchown(p, int(e.Stat.Owner.UID), int(e.Stat.Owner.GID)) == nil || a.root.Lchown(p, -1, int(e.Stat.Owner.GID)) == nil
}

// makeWritable makes a folder writable until setDirModes, and reports whether it was not writable before.
func (a *applier) makeWritable(dir string) bool {
	if _, done := a.modes[dir]; done || dir == "." {
		return false
	}
	fi, err := a.root.Lstat(dir)
	if err != nil || !fi.IsDir() {
		return false
	}
	a.modes[dir] = disk.Perms(fi)
	return a.root.Chmod(dir, disk.Mode(disk.Perms(fi)|0o700)) == nil
}

// setDirModes sets the final permissions of folders, deepest first.
func (a *applier) setDirModes(want []manifest.Entry) {
	dirs := make([]string, 0, len(a.modes))
	for d := range a.modes {
		if i := manifest.Lookup(want, d); i >= 0 && want[i].Kind == disk.KindDir {
			a.modes[d] = want[i].Stat.Mode
		}
		dirs = append(dirs, d)
	}
	sort.Slice(dirs, func(i, j int) bool { return depth(dirs[i]) > depth(dirs[j]) })
	for _, d := range dirs {
		if err := a.root.Chmod(d, disk.Mode(a.modes[d])); err != nil && !errors.Is(err, fs.ErrNotExist) {
			a.Result.addMismatch(d, err.Error())
		}
	}
}

// errChangedMeanwhile says that a file is not the one in the snapshot of the current tree.
var errChangedMeanwhile = errors.New("changed during the restore")

// isCaptured reports whether the file at a path is the one in the snapshot of the current tree. The change time is not
// compared: it changes when another hard link is removed.
func (a *applier) isCaptured(p string, fi fs.FileInfo) bool {
	i := manifest.Lookup(a.now, p)
	if i < 0 {
		return false
	}
	e, st := &a.now[i], disk.StatOf(fi)
	return e.Kind == disk.KindOf(fi) && st.Size == e.Stat.Size && st.Mtime == e.Stat.Mtime && st.Ino == e.Stat.Ino && st.Dev == e.Stat.Dev
}

// remove removes a file or link, if it is the captured one.
func (a *applier) remove(e manifest.Entry) error {
	fi, err := a.root.Lstat(e.Path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if errors.Is(err, syscall.ENOTDIR) {
		return nil // its folder was moved away
	}
	if err != nil {
		return err
	}
	if !a.isCaptured(e.Path, fi) {
		return errChangedMeanwhile
	}
	if err := a.root.Remove(e.Path); err != nil {
		return err
	}
	a.deleted = append(a.deleted, e.Path)
	return nil
}

// rmdir removes a folder if it is empty. Folders with ignored files stay.
func (a *applier) rmdir(e manifest.Entry) error {
	fi, err := a.root.Lstat(e.Path)
	if err != nil || !fi.IsDir() {
		return nil //nolint:nilerr // already removed
	}
	err = a.root.Remove(e.Path)
	if errors.Is(err, fs.ErrPermission) {
		return err
	}
	return nil
}

// mkdir makes a folder. A file or link at its path is moved away if it is not captured. The
// final permissions are set by setDirModes.
func (a *applier) mkdir(e manifest.Entry) error {
	fi, err := a.root.Lstat(e.Path)
	if err == nil && !fi.IsDir() {
		if err := a.clearPath(e.Path, fi); err != nil {
			return err
		}
		if err := disk.IgnoreMissing(a.root.Remove(e.Path)); err != nil {
			return err
		}
	}
	a.modes[e.Path] = e.Stat.Mode
	if err == nil && fi.IsDir() {
		return a.root.Chmod(e.Path, disk.Mode(e.Stat.Mode|0o700))
	}
	if err := a.root.Mkdir(e.Path, 0o700); err != nil {
		return err
	}
	a.giveOwner(e.Path, e)
	return nil
}

// chmod gives a file or link with the correct content the permissions and owner of its entry.
func (a *applier) chmod(e manifest.Entry) error {
	fi, err := a.root.Lstat(e.Path)
	if err != nil {
		return err
	}
	given := a.giveOwner(e.Path, e)
	wrong := e.Kind == disk.KindFile && (given || disk.Perms(fi) != e.Stat.Mode)
	if wrong {
		if err := a.root.Chmod(e.Path, disk.Mode(e.Stat.Mode)); err != nil {
			return err
		}
	}
	if given || wrong {
		a.written = append(a.written, e.Path)
	}
	return nil
}

// write replaces a file or link atomically, by renaming a temporary file.
func (a *applier) write(e manifest.Entry) error {
	fi, err := a.root.Lstat(e.Path)
	if err == nil {
		err = a.clearPath(e.Path, fi)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}

	temp, filled := a.ready[e.Path]
	delete(a.ready, e.Path)
	if !filled {
		temp = a.newTempName(e)
		if err := a.fillTemp(temp, e); err != nil {
			return errors.Join(err, disk.IgnoreMissing(a.root.Remove(temp)))
		}
	}

	if err := a.root.Rename(temp, e.Path); err != nil {
		return errors.Join(err, disk.IgnoreMissing(a.root.Remove(temp)))
	}
	a.written = append(a.written, e.Path)
	return nil
}

// writeAhead is how many temporary files are written before they are renamed.
const writeAhead = 256

// fillAhead writes temporary files in parallel, because a restore spends most of its time creating files. Files that fail
// are written again by write, which reports the error.
func (a *applier) fillAhead(list []manifest.Entry) {
	temps := make([]string, len(list))
	for i, e := range list {
		temps[i] = a.newTempName(e)
	}

	var group errgroup.Group
	group.SetLimit(runtime.GOMAXPROCS(0))
	for i, e := range list {
		group.Go(func() error {
			if err := a.fillTemp(temps[i], e); err != nil {
				_ = a.root.Remove(temps[i])
				temps[i] = ""
			}
			return nil
		})
	}

	_ = group.Wait()
	for i, e := range list {
		if temps[i] != "" {
			a.ready[e.Path] = temps[i]
		}
	}
}

// removeUnused removes temporary files that were not renamed.
func (a *applier) removeUnused() {
	for p, temp := range a.ready {
		_ = a.root.Remove(temp)
		delete(a.ready, p)
	}
}

// newTempName returns the name of a new temporary file in the folder of e.
func (a *applier) newTempName(e manifest.Entry) string {
	a.temps++
	return manifest.Join(manifest.Dir(e.Path), disk.TempPrefix+a.Token+"-"+strconv.Itoa(a.temps))
}

// fillTemp writes the content of an entry to a new temporary file, with the owner and
// permissions of the entry.
func (a *applier) fillTemp(temp string, e manifest.Entry) error {
	if e.Kind == disk.KindLink {
		target, err := a.Objects.Content(e.OID)
		if err != nil {
			return err
		}
		if err := a.root.Symlink(string(target), temp); err != nil {
			return err
		}
		a.giveOwner(temp, e)
		return nil
	}

	f, err := a.root.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	err = a.Objects.CopyTo(f, e.OID)
	a.giveOwner(temp, e)
	err = errors.Join(err, f.Chmod(disk.Mode(e.Stat.Mode)))
	if !disk.SyncsTrees && err == nil {
		err = f.Sync()
	}
	return errors.Join(err, f.Close())
}

// clearPath makes sure that the file at a path can be replaced. That is the case if it is
// captured, or a socket or pipe; anything else is moved to the displaced files.
func (a *applier) clearPath(p string, fi fs.FileInfo) error {
	switch disk.KindOf(fi) {
	case disk.KindFile, disk.KindLink:
		if a.isCaptured(p, fi) {
			return nil
		}
	case disk.KindDir: // captured files in it were removed; the others are in no snapshot
	default:
		return nil
	}
	if fi.IsDir() {
		delete(a.modes, p)
	}
	if err := a.keepDisplaced(p, fi); err != nil {
		return fmt.Errorf("keep what is in the way: %w", err)
	}
	a.Result.Displaced = append(a.Result.Displaced, p)
	return nil
}

// keepDisplaced moves a file or folder to the displaced files.
func (a *applier) keepDisplaced(p string, fi fs.FileInfo) error {
	if a.rootPath == a.Tree.Work && a.isStoreOnOtherDisk() {
		return a.moveWithinTree(p)
	}
	to := freeName(filepath.Join(a.Store, DisplacedName, string(a.Result.Safety), filepath.FromSlash(p)), os.Lstat)
	return moveOrCopy(filepath.Join(a.rootPath, filepath.FromSlash(p)), to, fi)
}

// moveOrCopy moves a file, link or folder to a new path. The original of a file or link
// remains, and is replaced later.
func moveOrCopy(from, to string, fi fs.FileInfo) error {
	if fi.Mode().IsRegular() {
		return disk.LinkOrCopy(from, to)
	}
	if fi.IsDir() {
		if err := os.MkdirAll(filepath.Dir(to), 0o700); err != nil {
			return err
		}
		if err := os.Rename(from, to); err != nil {
			return fmt.Errorf("a folder with files that are not in any snapshot; move it away and restore again: %w", err)
		}
		return nil
	}
	target, err := os.Readlink(from)
	if err == nil {
		err = os.MkdirAll(filepath.Dir(to), 0o700)
	}
	if err != nil {
		return err
	}
	return os.Symlink(target, to)
}

// KeepRoot moves a file or link at the path of the tree to the store, and returns its new path.
func KeepRoot(store, work string, fi fs.FileInfo) (string, error) {
	to := freeName(filepath.Join(store, DisplacedName, "root", filepath.Base(work)), os.Lstat)
	return to, moveOrCopy(work, to, fi)
}

// freeName returns base, or base with a number appended if it exists, for instance from an
// earlier attempt of the same restore.
func freeName(base string, lstat func(string) (fs.FileInfo, error)) string {
	name := base
	for n := 1; ; n++ {
		if _, err := lstat(name); errors.Is(err, fs.ErrNotExist) {
			return name
		}
		name = base + "." + strconv.Itoa(n)
	}
}

// DisplacedName is the folder of a store with files that were in the way of a restore and are in no snapshot.
const DisplacedName = "displaced"

// DisplacedDirInTree is the folder in the tree for displaced files if the store is on another disk. Files cannot be moved to
// another disk, copies may be large, and unreadable files cannot be copied. The folder is in no snapshot, and git ignores
// it.
const DisplacedDirInTree = ".supervise-displaced"

// isStoreOnOtherDisk reports whether files of the tree cannot be moved to the store.
func (x *Restorer) isStoreOnOtherDisk() bool {
	store, errStore := os.Stat(x.Store)
	work, errWork := x.Tree.Root.Stat(".")
	return errStore == nil && errWork == nil && disk.StatOf(store).Dev != disk.StatOf(work).Dev
}

// DisplacedTo returns the folder of displaced files.
func (x *Restorer) DisplacedTo() string {
	if x.isStoreOnOtherDisk() {
		return filepath.Join(x.Tree.Work, DisplacedDirInTree, string(x.Result.Safety))
	}
	return filepath.Join(x.Store, DisplacedName, string(x.Result.Safety))
}

// moveWithinTree moves a file or folder to DisplacedDirInTree.
func (a *applier) moveWithinTree(p string) error {
	if err := a.excludeDisplacedDir(); err != nil {
		return err
	}
	base := path.Join(DisplacedDirInTree, string(a.Result.Safety), p)
	if err := a.root.MkdirAll(path.Dir(base), 0o700); err != nil {
		return fmt.Errorf("make folder: %w", err)
	}
	if err := a.root.WriteFile(DisplacedDirInTree+"/.gitignore", []byte("*\n"), 0o600); err != nil {
		return fmt.Errorf("have git ignore the folder: %w", err)
	}
	return a.root.Rename(p, freeName(base, a.root.Lstat))
}

// excludeDisplacedDir excludes DisplacedDirInTree from all snapshots. The store must be locked.
func (x *Restorer) excludeDisplacedDir() error {
	if slices.Contains(x.Tree.Excludes, DisplacedDirInTree) {
		return nil
	}
	x.Tree.Excludes = append(x.Tree.Excludes, DisplacedDirInTree)
	return x.ExcludesSaved(x.Tree.Excludes)
}
