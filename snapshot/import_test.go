package snapshot

import (
	"context"
	"os"
	"path/filepath"
	"testing"
)

// What was done in a copy of the tree comes into the tree itself, with nothing of the copy's repository.
func TestTakeOver(t *testing.T) {
	ctx := context.Background()
	work := workshop(t)
	mine, err := Open(ctx, work, filepath.Join(t.TempDir(), "mine"), Options{})
	must(t, err)
	defer mine.Close()
	base, err := mine.Take(ctx, "base")
	must(t, err)
	head := git(t, work, "rev-parse", "HEAD")

	dir := filepath.Join(t.TempDir(), "copy")
	must(t, mine.Export(ctx, base.ID, dir))
	git(t, dir, "init", "-q")
	theirs, err := Open(ctx, dir, filepath.Join(t.TempDir(), "theirs"), Options{})
	must(t, err)
	defer theirs.Close()
	start, err := theirs.Take(ctx, "start")
	must(t, err)
	write(t, dir, "made/by them.txt", "new\n", 0o755)
	write(t, dir, "report.xml", "of the checks\n")
	gone := firstFile(t, mine, base.ID)
	must(t, os.Remove(filepath.Join(dir, filepath.FromSlash(gone))))
	git(t, dir, "add", "-A", "made")
	git(t, dir, "commit", "-qm", "theirs")
	must(t, theirs.Exclude([]string{"report.xml"}))
	done, err := theirs.Take(ctx, "done")
	must(t, err)

	over, err := mine.Import(ctx, base.ID, Work{theirs, start.ID, done.ID}, "from the copy")
	must(t, err)
	before, err := mine.Changes(ctx, base.ID, over.ID)
	must(t, err)
	if len(before) != 2 {
		t.Errorf("the snapshot differs from the base by %v, want one file that came and one that went", before)
	}
	res, err := mine.Restore(ctx, over.ID)
	must(t, err)
	if len(res.Mismatches) > 0 || read(t, work, "made/by them.txt") != "new\n" || exists(work, gone) || exists(work, "report.xml") {
		t.Errorf("the tree was put back as %+v", res)
	}
	if now := git(t, work, "rev-parse", "HEAD"); now != head {
		t.Errorf("HEAD is %s, and was %s", now, head)
	}
	if _, err := mine.Restore(ctx, base.ID); err != nil || !exists(work, gone) || exists(work, "made") {
		t.Errorf("the tree as it was: %v", err)
	}
	if checked, err := Check(ctx, filepath.Dir(mine.GitDir())); err != nil || len(checked.Damage) > 0 {
		t.Errorf("the store: %+v, %v", checked, err)
	}
}

// firstFile is a plain file of a snapshot, at the top of the tree.
func firstFile(t *testing.T, s *Store, id ID) string {
	t.Helper()
	files, err := s.Files(id)
	must(t, err)
	for _, f := range files {
		if info, err := os.Lstat(filepath.Join(s.work, filepath.FromSlash(f.Path))); err == nil && info.Mode().IsRegular() && filepath.Dir(f.Path) == "." {
			return f.Path
		}
	}
	t.Fatal("there is no file")
	return ""
}
