package ledger

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// beginning is how old a folder is at least before it counts as left by the dead: it
// is made before it is locked.
const beginning = time.Minute

// NewScratchDir makes a private folder among the temporary files for one run of the command
// of that name, and removes what dead runs of it left there. remove is for the end of
// the run.
func NewScratchDir(name string) (dir string, remove func() error, err error) {
	prefix := "supervise-" + name + "-"
	sweepScratch(os.TempDir(), prefix, time.Now())
	if dir, err = os.MkdirTemp("", prefix); err != nil {
		return "", nil, fmt.Errorf("make a folder for %s: %w", name, err)
	}
	lock, _ := lockDir(dir) // without it, the folder only looks abandoned
	return dir, func() error {
		err := RemoveTree(dir)
		if lock != nil {
			err = errors.Join(err, lock.Close())
		}
		return err
	}, nil
}

// sweepScratch removes the folders of this user that begin with prefix and that no
// process holds. What cannot be removed stays.
func sweepScratch(parent, prefix string, now time.Time) {
	entries, err := os.ReadDir(parent)
	if err != nil {
		return
	}
	for _, e := range entries {
		if !e.IsDir() || !strings.HasPrefix(e.Name(), prefix) {
			continue
		}
		info, err := e.Info()
		if err != nil || !own(info) || now.Sub(info.ModTime()) < beginning {
			continue
		}
		dir := filepath.Join(parent, e.Name())
		if held, err := locked(dir); err == nil && !held {
			_ = RemoveTree(dir)
		}
	}
}
