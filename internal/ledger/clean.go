package ledger

import (
	"io/fs"
	"path/filepath"
	"time"
)

// Deletable is a loop that cannot be continued, with the size of its folder in bytes.
type Deletable struct {
	State
	Dir   string
	Bytes int64
}

// Clean lists the loops of a tree that are over, except the latest keep ones and
// those that changed after a time; young counts the latter.
func Clean(home, root string, keep int, before time.Time) (list []Deletable, young int, err error) {
	loops, err := Loops(home, root) // the latest first
	if err != nil {
		return nil, 0, err
	}
	for _, s := range loops[min(keep, len(loops)):] {
		if s.Status != Completed && s.Status != Failed {
			continue
		}
		if s.UpdatedAt.After(before) {
			young++
			continue
		}
		dir := Dir(home, s.LoopID)
		if free, err := Free(dir); err == nil && free {
			list = append(list, Deletable{s, dir, sizeOf(dir)})
		}
	}
	return list, young, nil
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
