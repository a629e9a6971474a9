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
func (s *Store) followRoot() error {
	had, errHad := s.root.Stat(".")
	there, err := os.Stat(s.work)
	if errHad == nil && err == nil && os.SameFile(had, there) {
		return nil
	}
	if errors.Is(err, fs.ErrNotExist) {
		mode := fs.FileMode(0o755)
		if errHad == nil {
			mode = had.Mode().Perm()
		}
		there, err = nil, os.MkdirAll(s.work, mode)
	}
	if err == nil && there != nil && !there.IsDir() {
		err = errors.New("something else is in its place")
	}
	if err != nil {
		return fmt.Errorf("find the working tree again: %w; make the folder %s again (an empty one will do), then supervise rollback or resume", err, s.work)
	}
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
