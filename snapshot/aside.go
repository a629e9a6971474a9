package snapshot

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
)

// asideName is a folder of the tree for what is in the way of a restore, used where the store is on another disk: files
// cannot be moved there, and copies may be large, or impossible of what is unreadable. It is in no snapshot, and git
// ignores it.
const asideName = ".supervise-displaced"

// otherDisk tells whether nothing of the tree can be moved into the store.
func (x *restorer) otherDisk() bool {
	store, errStore := os.Stat(x.store)
	work, errWork := x.tree.root.Stat(".")
	return errStore == nil && errWork == nil && statOf(store).dev != statOf(work).dev
}

// displacedTo is the folder in which what was in the way is kept.
func (x *restorer) displacedTo() string {
	if x.otherDisk() {
		return filepath.Join(x.tree.work, asideName, string(x.r.Safety))
	}
	return filepath.Join(x.store, "displaced", string(x.r.Safety))
}

// moveAside moves something out of the way, within the tree.
func (a *applier) moveAside(p string) error {
	if err := a.excludeAside(); err != nil {
		return err
	}
	if err := a.root.MkdirAll(asideName, 0o700); err != nil {
		return fmt.Errorf("make folder: %w", err)
	}
	if err := a.root.WriteFile(asideName+"/.gitignore", []byte("*\n"), 0o600); err != nil {
		return fmt.Errorf("have git ignore the folder: %w", err)
	}
	base := path.Join(asideName, string(a.r.Safety), p)
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
func (x *restorer) excludeAside() error {
	if slices.Contains(x.tree.excludes, asideName) {
		return nil
	}
	x.tree.excludes = append(x.tree.excludes, asideName)
	return x.excludesSaved(x.tree.excludes)
}
