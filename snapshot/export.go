package snapshot

import (
	"context"
	"fmt"
	"os"

	"supervise/snapshot/internal/restore"
)

// Export writes the working files of a snapshot to another folder, without git's own state. It creates the folder if it is
// missing and replaces existing files. With paths, only those files are written, and removed if the snapshot does not
// contain them. Absolute links into the working tree are changed to point into dir. Nothing is written outside dir, and
// nothing is synced, because the folder is meant to be temporary.
func (s *Store) Export(ctx context.Context, id ID, dir string, paths ...string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	m, err := s.manifest(id)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("export snapshot %s: %w", id, err)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return fmt.Errorf("export snapshot %s: %w", id, err)
	}
	defer root.Close()
	x := restore.Exporter{Objects: s.objects, Work: s.work, Root: root, Dir: dir}
	if len(paths) > 0 {
		err = x.ExportPaths(m, paths)
	} else {
		err = x.ExportAll(ctx, s.config.Excludes.Without(m.Work))
	}
	if err != nil {
		return fmt.Errorf("export snapshot %s: %w", id, err)
	}
	return nil
}
