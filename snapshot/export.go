package snapshot

import (
	"context"
	"fmt"
	"os"

	"supervise/snapshot/internal/restore"
)

// Export writes the working files of a snapshot into another folder, which is made if it is not there; what is in
// their place is replaced. Git's own state is not among them. With paths, only those files are brought to what the
// snapshot holds: what it lacks of them is removed. Links that lead into the working tree by its absolute path lead into
// dir instead. Nothing is written outside dir, and nothing is synced: it is for a tree that is soon thrown away.
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
