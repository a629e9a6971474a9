package work

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"time"
)

// idle is after how long the folder of a candidate that went on elsewhere is removed.
const idle = 72 * time.Hour

// Sweep removes the folders that nobody has used for three days: of candidates that went on
// at other workers, or whose task was cancelled while this one was away. What was in them is
// in the repository. Copies of repositories stay.
func (w *Worker) Sweep(ctx context.Context) error {
	dirs, err := filepath.Glob(filepath.Join(w.Dir, fleets, "*", "*", "*"))
	if err != nil {
		return err
	}
	var errs []error
	for _, dir := range dirs {
		if fi, err := os.Stat(dir); err != nil || !fi.IsDir() || time.Since(used(dir)) < idle {
			continue
		}
		leave, err := w.hold(ctx, dir)
		if err != nil {
			return err
		}
		if time.Since(used(dir)) >= idle {
			errs = append(errs, os.RemoveAll(dir))
		}
		leave()
	}
	return errors.Join(errs...)
}

// used is when the folder of a candidate was last used.
func used(dir string) (last time.Time) {
	for _, name := range []string{".", packedName, runningName} {
		if fi, err := os.Stat(filepath.Join(dir, name)); err == nil && fi.ModTime().After(last) {
			last = fi.ModTime()
		}
	}
	return last
}
