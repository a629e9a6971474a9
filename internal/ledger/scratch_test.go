//go:build unix

package ledger

import (
	"os"
	"path/filepath"
	"testing"
	"time"
)

// What dead runs left is removed: not what a run holds, is about to hold, or has
// nothing to do with it.
func TestScratch(t *testing.T) {
	tmp := t.TempDir()
	t.Setenv("TMPDIR", tmp)
	ago := time.Now().Add(-time.Hour)
	folder := func(name string, age time.Time) string {
		dir := filepath.Join(tmp, name)
		for _, err := range []error{os.Mkdir(dir, 0o700), os.WriteFile(filepath.Join(dir, "file"), nil, 0o600), os.Chtimes(dir, age, age)} {
			if err != nil {
				t.Fatal(err)
			}
		}
		return dir
	}
	dead := folder("supervise-gate-1", ago)
	held, young, other := folder("supervise-gate-2", ago), folder("supervise-gate-3", time.Now()), folder("supervise-demo-1", ago)
	otherDir := folder("otherDir", ago)
	link := filepath.Join(tmp, "supervise-gate-4")
	if err := os.Symlink(otherDir, link); err != nil {
		t.Fatal(err)
	}
	lock, err := lockDir(held)
	if err != nil {
		t.Fatal(err)
	}
	defer lock.Close()

	dir, remove, err := NewScratchDir("gate")
	if err != nil {
		t.Fatal(err)
	}
	if busy, err := isLocked(dir); err != nil || !busy {
		t.Errorf("the new folder is held: %v, %v, want true", busy, err)
	}
	if _, err := os.Lstat(dead); !os.IsNotExist(err) {
		t.Errorf("what a dead run left is there: %v", err)
	}
	for _, dir := range []string{held, young, other, filepath.Join(otherDir, "file"), link} {
		if _, err := os.Lstat(dir); err != nil {
			t.Error(err)
		}
	}
	if err := remove(); err != nil {
		t.Error(err)
	}
	if _, err := os.Lstat(dir); !os.IsNotExist(err) {
		t.Errorf("the folder of the run is there after its end: %v", err)
	}
}
