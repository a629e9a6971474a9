package snapshot

import (
	"context"
	"os"
	"path/filepath"
	"testing"
)

// exported takes a snapshot of a small tree, changes it and takes another one.
func exportStore(t *testing.T) (s *Store, work string, was, is ID) {
	t.Helper()
	work = filepath.Join(t.TempDir(), "work")
	must(t, os.MkdirAll(work, 0o755))
	git(t, work, "init", "-q", "-b", "main")
	write(t, work, "run.sh", "echo 1\n", 0o755)
	write(t, work, "lib/a.txt", "a\n")
	write(t, work, "secret.txt", "s\n", 0o400)
	must(t, os.Symlink("a.txt", filepath.Join(work, "lib/near")))
	must(t, os.Symlink(filepath.Join(work, "lib"), filepath.Join(work, "far")))
	s, err := Open(context.Background(), work, filepath.Join(t.TempDir(), "store"), Options{MinFree: -1})
	must(t, err)
	t.Cleanup(func() { _ = s.Close() })
	first, err := s.Take(context.Background(), "first")
	must(t, err)
	write(t, work, "lib/a.txt", "b\n")
	write(t, work, "lib/new.txt", "n\n")
	must(t, os.Remove(filepath.Join(work, "run.sh")))
	second, err := s.Take(context.Background(), "second")
	must(t, err)
	return s, work, first.ID, second.ID
}

func TestExport(t *testing.T) {
	s, work, was, is := exportStore(t)
	dir := filepath.Join(t.TempDir(), "out")
	ctx := context.Background()
	must(t, s.Export(ctx, was, dir))
	if got := read(t, dir, "lib/a.txt") + read(t, dir, "lib/near") + read(t, dir, "secret.txt"); got != "a\na\ns\n" {
		t.Errorf("contents %q", got)
	}
	if fi, err := os.Stat(filepath.Join(dir, "run.sh")); err != nil || fi.Mode().Perm() != 0o755 {
		t.Errorf("run.sh: %v, %v", fi, err)
	}
	if exists(dir, ".git") {
		t.Error("git's own state was exported")
	}
	if to, _ := os.Readlink(filepath.Join(dir, "far")); to != filepath.Join(dir, "lib") {
		t.Errorf("the link into the tree leads to %s", to)
	}
	must(t, s.Export(ctx, is, dir, "lib/a.txt", "lib/new.txt", "run.sh", "nowhere/at/all"))
	if got := read(t, dir, "lib/a.txt") + read(t, dir, "lib/new.txt"); got != "b\nn\n" || exists(dir, "run.sh") {
		t.Errorf("single paths: %q, run.sh there: %t", got, exists(dir, "run.sh"))
	}
	if read(t, work, "lib/a.txt") != "b\n" {
		t.Error("the working tree was written to")
	}
	if err := s.Export(ctx, "99", dir); err == nil {
		t.Error("an unknown snapshot was exported")
	}
}

// TestExportStaysInside: neither a link that is there nor one of the tree
// leads out of the folder.
func TestExportStaysInside(t *testing.T) {
	s, _, was, _ := exportStore(t)
	dir, other := filepath.Join(t.TempDir(), "out"), t.TempDir()
	must(t, os.MkdirAll(dir, 0o755))
	must(t, os.Symlink(other, filepath.Join(dir, "lib")))
	if err := s.Export(context.Background(), was, dir); err == nil && exists(other, "a.txt") {
		t.Error("written through a link")
	}
	if exists(other, "a.txt") {
		t.Error("a file was written outside")
	}
}
