package evidence

import (
	"context"
	"fmt"

	"supervise/detector"
	"supervise/snapshot"
)

// Trees are the snapshots of the baseline, of the tree from which an iteration started, and
// of the tree after it.
type Trees struct{ Baseline, Start, Now snapshot.ID }

// FindLostWork lists what an iteration lost of the user's own work.
func FindLostWork(ctx context.Context, store *snapshot.Store, t Trees) ([]detector.LostWork, error) {
	if t.Baseline == "" || t.Start == "" {
		return nil, nil
	}
	list, err := store.LostWork(ctx, t.Baseline, t.Start, t.Now)
	if err != nil {
		return nil, fmt.Errorf("look for lost work: %w", err)
	}
	var out []detector.LostWork
	for _, l := range list {
		out = append(out, detector.LostWork{Path: l.Path, How: string(l.Kind), Ignored: l.Ignored, NotInSnapshot: !l.Kept})
	}
	return out, nil
}
