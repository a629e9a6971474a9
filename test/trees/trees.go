// Package trees makes real projects for tests: files in a tree with snapshots and a meter.
package trees

import (
	"os"
	"path/filepath"
	"testing"

	"supervise/internal/measure"
	"supervise/snapshot"
)

// Write writes files below root, by their slash paths. Those without a text are deleted.
func Write(t testing.TB, root string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		full := filepath.Join(root, filepath.FromSlash(name))
		if text == "" {
			if err := os.Remove(full); err != nil {
				t.Fatal(err)
			}
			continue
		}
		if err := os.MkdirAll(filepath.Dir(full), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(full, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// Open opens a store for the tree, until the test ends, and a meter of one check.
func Open(t testing.TB, root string, check measure.Check) (*snapshot.Store, measure.Plan, *measure.Meter) {
	t.Helper()
	store, err := snapshot.Open(t.Context(), root, filepath.Join(t.TempDir(), "store"), snapshot.Options{MinFree: -1})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = store.Close() })
	plan := measure.Plan{Root: root, Checks: []measure.Check{check}}
	return store, plan, measure.New(plan, measure.Options{Scratch: t.TempDir()})
}
