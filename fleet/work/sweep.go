package work

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"time"
)

// maxIdle is after how long the folder of a candidate that another worker continued is removed.
const maxIdle = 72 * time.Hour

// Sweep removes folders that were not used for three days: of candidates that other workers
// continued, or whose task was cancelled while this worker was away. Their content is in the
// repository. Copies of repositories stay.
func (w *Worker) Sweep(ctx context.Context) error {
	dirs, err := filepath.Glob(filepath.Join(w.Dir, fleets, "*", "*", "*"))
	if err != nil {
		return err
	}
	var errs []error
	for _, dir := range dirs {
		if fi, err := os.Stat(dir); err != nil || !fi.IsDir() || time.Since(used(dir)) < maxIdle {
			continue
		}
		leave, err := w.lockFolder(ctx, dir)
		if err != nil {
			return err
		}
		if time.Since(used(dir)) >= maxIdle {
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
