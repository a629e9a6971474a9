package ledger

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"supervise/snapshot"
)

// Deletable is a loop that cannot be continued, with the size of its folders in bytes.
type Deletable struct {
	State
	Dir   string
	Bytes int64
}

// Clean lists the loops of a tree that are over, except the latest keep ones and
// those that changed, or whose tree was restored, after a time; young counts the latter.
// One of which a restore was interrupted is needed to finish it.
func Clean(home, root string, keep int, before time.Time) (list []Deletable, young int, err error) {
	loops, err := Loops(home, root) // the latest first
	if err != nil {
		return nil, 0, err
	}
	for _, s := range loops[min(keep, len(loops)):] {
		if s.Status != Completed && s.Status != Failed {
			continue
		}
		dir := Dir(home, s.LoopID)
		if r, err := snapshot.LastRollback(SnapshotDir(dir)); s.UpdatedAt.After(before) || err == nil && r.At.After(before) {
			young++
			continue
		}
		if free, err := Free(dir); err == nil && free && snapshot.UnfinishedIn(SnapshotDir(dir)) == nil {
			list = append(list, Deletable{s, dir, sizeOf(dir) + sizeOf(SnapshotDir(dir))})
		}
	}
	return list, young, nil
}

// Delete deletes the loop with its snapshots. These go first, so that a deletion that is
// cut short can be repeated. Files that a restore moved out of the way are in no snapshot
// and stay: kept is their folder, "" if there are none.
func (d Deletable) Delete() (kept string, err error) {
	store := SnapshotDir(d.Dir)
	list, err := os.ReadDir(store)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", fmt.Errorf("delete the snapshots: %w", err)
	}
	for _, f := range list {
		if path := filepath.Join(store, f.Name()); f.Name() == snapshot.DisplacedName {
			kept = path
		} else if err := RemoveTree(path); err != nil {
			return kept, err
		}
	}
	if kept == "" {
		err = RemoveTree(store)
	}
	if err == nil || errors.Is(err, fs.ErrNotExist) {
		err = errors.Join(RemoveTree(scratchDir(d.Dir)), RemoveTree(d.Dir))
	}
	return kept, err
}

// sizeOf is the sum of the sizes of the files in a folder that can be read.
func sizeOf(dir string) (sum int64) {
	_ = filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error {
		if err != nil {
			return nil //nolint:nilerr // what cannot be read does not count
		}
		if info, err := d.Info(); err == nil && info.Mode().IsRegular() {
			sum += info.Size()
		}
		return nil
	})
	return sum
}
