package ledger

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"supervise/snapshot"
)

// The limits of the copies of changed files, in bytes; the snapshot has all of them.
const (
	maxArtifact  = 1 << 20
	maxArtifacts = 32 << 20
)

// ReadChangedFiles reads the changed files from a snapshot, up to the size limits.
func ReadChangedFiles(ctx context.Context, store *snapshot.Store, id snapshot.ID, changes []snapshot.Change) (Files, error) {
	out, left := Files{}, maxArtifacts
	for _, c := range changes {
		if c.Kind == snapshot.Deleted || left <= 0 {
			continue
		}
		data, err := store.ReadFile(ctx, id, c.Path)
		if errors.Is(err, fs.ErrNotExist) {
			continue // too big or unreadable: not in the snapshot
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

// Output is the difference between a selected tree and the baseline.
type Output struct {
	Changed, Removed []string // paths
	Files            Files    // contents of the changed files, up to the size limits
}

// CompareOutput compares two trees of the store.
func CompareOutput(ctx context.Context, store *snapshot.Store, baseline, selected snapshot.ID) (Output, error) {
	changes, err := store.Changes(ctx, baseline, selected)
	if err != nil {
		return Output{}, fmt.Errorf("compare the selection with the baseline: %w", err)
	}
	var out Output
	for _, change := range changes {
		if change.Kind == snapshot.Deleted {
			out.Removed = append(out.Removed, change.Path)
			continue
		}
		out.Changed = append(out.Changed, change.Path)
	}
	out.Files, err = ReadChangedFiles(ctx, store, selected, changes)
	return out, err
}

// WriteOutput replaces final-output/ with the changed files of the selected iteration.
func (l *Ledger) WriteOutput(files Files) error {
	dir, err := l.clearOutput()
	if err != nil {
		return err
	}
	return writeArtifacts(dir, files)
}

// clearOutput empties final-output/ and returns its path.
func (l *Ledger) clearOutput() (string, error) {
	dir := filepath.Join(l.dir, "final-output")
	if err := errors.Join(os.RemoveAll(dir), os.MkdirAll(dir, 0o700)); err != nil {
		return "", fmt.Errorf("write final output: %w", err)
	}
	return dir, nil
}
