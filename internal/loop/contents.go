package loop

import (
	"context"
	"errors"
	"fmt"
	"io/fs"

	"supervise/internal/ledger"
	"supervise/snapshot"
)

// Bounds of the copies of changed files; the snapshot has them all.
const (
	maxArtifact  = 1 << 20
	maxArtifacts = 32 << 20
)

func contents(ctx context.Context, store *snapshot.Store, id snapshot.ID, changes []snapshot.Change) (ledger.Files, error) {
	out, left := ledger.Files{}, maxArtifacts
	for _, c := range changes {
		if c.Kind == snapshot.Deleted || left <= 0 {
			continue
		}
		data, err := store.ReadFile(ctx, id, c.Path)
		if errors.Is(err, fs.ErrNotExist) {
			continue // it has become too big or unreadable, and is in no snapshot
		}
		if err != nil {
			return nil, fmt.Errorf("keep changed file: %w", err)
		}
		if len(data) <= min(maxArtifact, left) {
			out[c.Path] = data
			left -= len(data)
		}
	}
	return out, nil
}
