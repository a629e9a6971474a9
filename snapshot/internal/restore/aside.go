package restore

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"

	"supervise/snapshot/internal/disk"
)

// AsideName is a folder of the tree for what is in the way of a restore, used where the store is on another disk: files
// cannot be moved there, and copies may be large, or impossible of what is unreadable. It is in no snapshot, and git
// ignores it.
const AsideName = ".supervise-displaced"

// otherDisk reports whether nothing of the tree can be moved into the store.
func (x *Restorer) otherDisk() bool {
	store, errStore := os.Stat(x.Store)
	work, errWork := x.Tree.Root.Stat(".")
	return errStore == nil && errWork == nil && disk.StatOf(store).Dev != disk.StatOf(work).Dev
}

// DisplacedTo is the folder in which what was in the way is kept.
func (x *Restorer) DisplacedTo() string {
	if x.otherDisk() {
		return filepath.Join(x.Tree.Work, AsideName, string(x.Result.Safety))
	}
	return filepath.Join(x.Store, "displaced", string(x.Result.Safety))
}

// moveAside moves something out of the way, within the tree.
func (a *applier) moveAside(p string) error {
	if err := a.excludeAside(); err != nil {
		return err
	}
	if err := a.root.MkdirAll(AsideName, 0o700); err != nil {
		return fmt.Errorf("make folder: %w", err)
	}
	if err := a.root.WriteFile(AsideName+"/.gitignore", []byte("*\n"), 0o600); err != nil {
		return fmt.Errorf("have git ignore the folder: %w", err)
	}
	base := path.Join(AsideName, string(a.Result.Safety), p)
	if err := a.root.MkdirAll(path.Dir(base), 0o700); err != nil {
		return fmt.Errorf("make folder: %w", err)
	}
	to := base
	for n := 1; ; n++ { // an earlier attempt of the same restore may have kept a file of that name
		if _, err := a.root.Lstat(to); errors.Is(err, fs.ErrNotExist) {
			return a.root.Rename(p, to)
		}
		to = base + "." + strconv.Itoa(n)
	}
}

// excludeAside keeps the folder out of all snapshots; the store is locked.
func (x *Restorer) excludeAside() error {
	if slices.Contains(x.Tree.Excludes, AsideName) {
		return nil
	}
	x.Tree.Excludes = append(x.Tree.Excludes, AsideName)
	return x.ExcludesSaved(x.Tree.Excludes)
}
