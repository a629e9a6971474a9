package loop

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"supervise/internal/measure"
	"supervise/runner"
	"supervise/snapshot"
)

func TestMain(m *testing.M) {
	runner.ShimMain()
	os.Exit(m.Run())
}

// files are the files of a tree, by path.
type files map[string]string

// trialWorld is a project with its snapshots.
type trialWorld struct {
	t     *testing.T
	root  string
	store *snapshot.Store
	plan  measure.Plan
}

func newTrialWorld(t *testing.T, start files, check measure.Check) *trialWorld {
	t.Helper()
	w := &trialWorld{t: t, root: filepath.Join(t.TempDir(), "tree")}
	w.write(start)
	var err error
	w.store, err = snapshot.Open(context.Background(), w.root, filepath.Join(t.TempDir(), "store"), snapshot.Options{MinFree: -1})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = w.store.Close() })
	w.plan = measure.Plan{Root: w.root, Checks: []measure.Check{check}}
	return w
}

// write writes files; those without a text are deleted.
func (w *trialWorld) write(list files) {
	w.t.Helper()
	for name, text := range list {
		full := filepath.Join(w.root, filepath.FromSlash(name))
		if text == "" {
			if err := os.Remove(full); err != nil {
				w.t.Fatal(err)
			}
			continue
		}
		if err := os.MkdirAll(filepath.Dir(full), 0o755); err != nil {
			w.t.Fatal(err)
		}
		if err := os.WriteFile(full, []byte(text), 0o644); err != nil {
			w.t.Fatal(err)
		}
	}
}

func (w *trialWorld) take() snapshot.ID {
	w.t.Helper()
	info, err := w.store.Take(context.Background(), "")
	if err != nil {
		w.t.Fatal(err)
	}
	return info.ID
}
