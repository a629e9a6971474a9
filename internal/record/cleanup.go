package record

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"supervise/internal/event"
	"supervise/internal/ledger"
	"supervise/snapshot"
)

// ErrStillActive is wrapped by the error of [Cleanup] for a loop that may continue and so needs
// its snapshots.
var ErrStillActive = errors.New("it is not over")

// CleanupResult lists what [Cleanup] dropped and kept, or would drop and keep in a dry run.
type CleanupResult struct {
	Dropped []string // names of snapshots, as in "s12", oldest first
	Kept    []string // names of snapshots
	Freed   int64    // bytes; 0 in a dry run
}

// Cleanup drops the snapshots of a loop that has ended, except the baseline, the selected and
// the best iteration, the last accepted tree, and the safety snapshots of the last restore and
// rollback. With dry it only lists them. The error wraps [ErrStillActive] if the loop may
// continue.
func Cleanup(ctx context.Context, home, id string, dry bool, now time.Time) (c CleanupResult, err error) {
	l, v, err := openView(home, id)
	if err != nil {
		return c, err
	}
	defer func() { err = errors.Join(err, l.Close()) }()

	if !slices.Contains([]ledger.Status{ledger.Completed, ledger.Failed, ledger.Aborted}, v.State.Status) {
		return c, fmt.Errorf("loop %s is %s: %w; resume or select first", id, v.State.Status, ErrStillActive)
	}
	store, err := snapshot.Open(ctx, v.State.Workspace, l.SnapshotDir(), v.Settings.Snapshot)
	if err != nil {
		return c, err
	}
	defer func() { err = errors.Join(err, store.Close()) }()

	keep, err := c.plan(store, v.neededSnapshots())
	if err != nil || dry {
		return c, err
	}
	return c, c.drop(ctx, l, store, keep, now)
}

// neededSnapshots returns the set of snapshots that [Cleanup] must keep.
func (v View) neededSnapshots() map[snapshot.ID]bool {
	out := map[snapshot.ID]bool{v.State.BaselineSnapshot: true}
	for _, b := range []*ledger.BestIteration{v.State.Selected, v.State.Best} {
		if b != nil {
			out[b.Snapshot] = true
		}
	}
	if i := v.startIndex(nil); i >= 0 {
		out[v.Iterations[i].Snapshot] = true
	}
	return out
}

// plan sorts the snapshots of the store into c.Kept and c.Dropped, and returns the IDs of those
// to keep.
func (c *CleanupResult) plan(store *snapshot.Store, needed map[snapshot.ID]bool) ([]snapshot.ID, error) {
	list, err := store.List()
	if err != nil {
		return nil, err
	}
	var keep []snapshot.ID
	for _, info := range list {
		if needed[info.ID] {
			keep = append(keep, info.ID)
			c.Kept = append(c.Kept, info.ID.Name())
		} else {
			c.Dropped = append(c.Dropped, info.ID.Name())
		}
	}
	return keep, nil
}

// drop drops all snapshots except keep, corrects c to what the store really dropped, and logs it.
func (c *CleanupResult) drop(ctx context.Context, l *ledger.Ledger, store *snapshot.Store, keep []snapshot.ID, now time.Time) error {
	done, err := store.Prune(ctx, keep)
	wanted := c.Dropped
	c.Dropped, c.Freed = nil, done.Freed
	for _, id := range done.Dropped {
		c.Dropped = append(c.Dropped, id.Name())
	}
	for _, name := range wanted {
		if !slices.Contains(c.Dropped, name) {
			c.Kept = append(c.Kept, name) // kept by the store
		}
	}
	if len(c.Dropped) == 0 {
		return err
	}
	use, errUse := store.Usage()
	data := event.DroppedSnapshots{Snapshots: c.Dropped, Freed: done.Freed, Bytes: use.Bytes}
	return errors.Join(err, errUse, l.Log(now, string(event.SnapshotsDropped), 0, 0, data))
}
