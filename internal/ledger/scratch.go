package ledger

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// minAbandonedAge is the minimum age of an unlocked folder that counts as abandoned: a new
// folder is created before it is locked.
const minAbandonedAge = time.Minute

// NewScratchDir creates a private temporary folder for one run of the named command, and
// removes the folders of earlier runs that were killed. The caller must call remove when the
// run ends.
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

// sweepScratch removes the folders of this user that start with prefix and that no process
// has locked. Errors are ignored.
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
		if err != nil || !isOwnFile(info) || now.Sub(info.ModTime()) < minAbandonedAge {
			continue
		}
		dir := filepath.Join(parent, e.Name())
		if held, err := isLocked(dir); err == nil && !held {
			_ = RemoveTree(dir)
		}
	}
}
