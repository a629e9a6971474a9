package snapshot

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// followRoot looks whether the folder of the tree is still the one that was opened. One that was deleted, or moved away,
// is made again, so that a restore can fill it; from one in its place the next snapshot is taken. Otherwise snapshots
// would be of a folder in which nobody works any more.
//
// A folder that its owner cannot enter any more gets back the permissions that it had when the store was opened.
func (s *Store) followRoot() error {
	s.unlockRoot()
	there, err := os.Stat(s.work)
	had, errHad := s.root.Stat(".")
	if errHad == nil && err == nil && os.SameFile(had, there) {
		return nil
	}
	if errors.Is(err, fs.ErrNotExist) {
		there, err = nil, os.MkdirAll(s.work, s.rootMode)
	}
	if err == nil && there != nil && !there.IsDir() {
		err = errors.New("something else is in its place")
	}
	if err != nil {
		return fmt.Errorf("find the working tree again: %w; make the folder %s again (an empty one will do), then supervise rollback or resume", err, s.work)
	}
	return s.reopenRoot()
}

// reopenRoot opens the folder that is there now.
func (s *Store) reopenRoot() error {
	// A link put in its place could lead anywhere.
	if real, err := filepath.EvalSymlinks(s.work); err != nil || real != s.work {
		return fmt.Errorf("find the working tree again: %s is a symbolic link now; remove it, make the folder again (an empty one will do), then supervise rollback or resume", s.work)
	}
	root, err := os.OpenRoot(s.work)
	if err != nil {
		return fmt.Errorf("open the working tree again: %w", err)
	}
	_ = s.root.Close() // nothing was written through it
	s.root, s.base = root, nil
	return nil
}

// unlockRoot gives the owner access to the folder of the tree; where it is not ours, what follows tells.
func (s *Store) unlockRoot() {
	fi, err := os.Lstat(s.work)
	if err == nil && fi.IsDir() && fi.Mode().Perm()&0o700 != 0o700 && s.rootMode&0o700 == 0o700 {
		_ = os.Chmod(s.work, s.rootMode)
	}
}
