package work

import (
	"os"
	"path/filepath"
	"testing"
	"time"
)

// TestSweep removes what was not used for days, and nothing else.
func TestSweep(t *testing.T) {
	t.Parallel()
	w := &Worker{Dir: t.TempDir()}
	long := time.Now().Add(-maxIdle - time.Hour)
	for name, old := range map[string]bool{"fleets/night/t0/candidate-1": true, "fleets/night/t0/candidate-2": false, "fleets/night/t1/base": true} {
		dir := filepath.Join(w.Dir, name)
		if err := os.MkdirAll(filepath.Join(dir, "tree"), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, packedName), []byte("x"), 0o600); err != nil {
			t.Fatal(err)
		}
		for _, path := range []string{filepath.Join(dir, packedName), dir} {
			if old {
				if err := os.Chtimes(path, long, long); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
	copied := filepath.Join(w.Dir, "repositories", "x.git", "objects")
	if err := os.MkdirAll(copied, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Chtimes(copied, long, long); err != nil {
		t.Fatal(err)
	}
	if err := w.Sweep(t.Context()); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]bool{"fleets/night/t0/candidate-1": false, "fleets/night/t0/candidate-2": true, "fleets/night/t1/base": false, "repositories/x.git/objects": true} {
		if _, err := os.Stat(filepath.Join(w.Dir, name)); (err == nil) != want {
			t.Errorf("%s: there %v, want %v", name, err == nil, want)
		}
	}
}
