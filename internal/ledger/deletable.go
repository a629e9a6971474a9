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

// FindDeletable lists the finished loops of a tree that may be deleted. The latest keep
// loops stay, and so do loops that were updated or rolled back after the given time; young
// counts those. A loop with an interrupted restore stays too: it is needed to finish it.
func FindDeletable(home, root string, keep int, before time.Time) (list []Deletable, young int, err error) {
	loops, err := ListLoops(home, root) // the latest first
	if err != nil {
		return nil, 0, err
	}
	for _, s := range loops[min(keep, len(loops)):] {
		if s.Status != Completed && s.Status != Failed {
			continue
		}
		dir := LoopDir(home, s.LoopID)
		if r, err := snapshot.LastRollback(SnapshotDir(dir)); s.UpdatedAt.After(before) || err == nil && r.At.After(before) {
			young++
			continue
		}
		if free, err := IsUnlocked(dir); err == nil && free && snapshot.ReadUnfinished(SnapshotDir(dir)) == nil {
			list = append(list, Deletable{s, dir, dirSize(dir) + dirSize(SnapshotDir(dir)) + dirSize(candidatesDir(dir))})
		}
	}
	return list, young, nil
}

// Delete deletes the loop and its snapshots. The first step removes the loop from the
// list of loops; [FinishDeleting] completes a deletion that was interrupted. Files that a
// restore moved out of the way are in no snapshot and are kept: kept is their folder, ""
// if there are none.
func (d Deletable) Delete() (kept string, err error) {
	home := filepath.Dir(filepath.Dir(d.Dir))
	trash := filepath.Join(home, deletedFolder, filepath.Base(d.Dir))
	if err := os.MkdirAll(filepath.Dir(trash), 0o700); err != nil {
		return "", fmt.Errorf("make the folder of deleted loops: %w", err)
	}
	if err := os.Rename(d.Dir, trash); err != nil {
		return "", fmt.Errorf("move the loop away: %w", err)
	}
	return finishDeleting(home, trash)
}

// deletedFolder is the folder, next to that of the loops, of loops whose deletion has
// started.
const deletedFolder = "deleted"

// FinishDeleting completes interrupted deletions of loops.
func FinishDeleting(home string) error {
	dirs, _ := filepath.Glob(filepath.Join(home, deletedFolder, "*"))
	for _, dir := range dirs {
		if _, err := finishDeleting(home, dir); err != nil {
			return fmt.Errorf("delete %s: %w", filepath.Base(dir), err)
		}
	}
	return nil
}

func finishDeleting(home, dir string) (kept string, err error) {
	loop := LoopDir(home, filepath.Base(dir))
	store := SnapshotDir(loop)
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
		err = errors.Join(RemoveTree(scratchDir(loop)), RemoveTree(candidatesDir(loop)), RemoveTree(dir))
	}
	_ = os.Remove(filepath.Dir(dir)) // succeeds only if it is empty
	return kept, err
}

// candidatesDir returns the folder of the candidates of the loop in dir, if it has any.
func candidatesDir(dir string) string {
	return filepath.Join(filepath.Dir(filepath.Dir(dir)), "candidates", filepath.Base(dir))
}

// dirSize returns the sum of the sizes of the readable files in a folder.
func dirSize(dir string) (sum int64) {
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
