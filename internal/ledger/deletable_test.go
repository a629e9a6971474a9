package ledger

import (
	"os"
	"path/filepath"
	"testing"
	"time"
)

// A loop whose deletion was cut short is none any more, and the rest of it goes later. One with an interrupted restore
// stays: nothing else holds what that was replacing.
func TestCleanIsFinished(t *testing.T) {
	t.Parallel()
	home, tree := t.TempDir(), t.TempDir()
	over := State{Status: Completed, Workspace: tree, StartedAt: time.Unix(1, 0), UpdatedAt: time.Unix(1, 0)}
	for _, id := range []string{"a", "half", "unfinished"} {
		over.LoopID = id
		l, err := Create(home, over)
		if err == nil {
			err = l.Save(over)
		}
		if err == nil {
			err = l.Close()
		}
		if err == nil {
			err = os.MkdirAll(SnapshotDir(LoopDir(home, id)), 0o700)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(SnapshotDir(LoopDir(home, "unfinished")), "restore.json"), []byte(`{"Target":"1","Safety":"2"}`), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(home, deletedFolder), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(LoopDir(home, "half"), filepath.Join(home, deletedFolder, "half")); err != nil {
		t.Fatal(err)
	}
	list, _, err := FindDeletable(home, tree, 0, time.Now())
	if err != nil || len(list) != 1 || list[0].LoopID != "a" {
		t.Fatalf("to be deleted: %+v, %v; want the loop a", list, err)
	}
	if err := FinishDeleting(home); err != nil {
		t.Error(err)
	}
	if _, err := list[0].Delete(); err != nil {
		t.Error(err)
	}
	left, _ := filepath.Glob(filepath.Join(home, "*", "*"))
	for _, path := range left {
		if filepath.Base(path) != "unfinished" {
			t.Errorf("left: %s", path)
		}
	}
	if len(left) != 2 {
		t.Errorf("left: %q, want the unfinished loop and its snapshots", left)
	}
}
