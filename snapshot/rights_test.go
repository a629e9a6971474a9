//go:build linux || darwin

package snapshot

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Owners, hard links and the permissions of the tree's own folder come back, and what an ordinary user cannot restore is
// named.
func TestRightsAndHardLinksComeBack(t *testing.T) {
	work := filepath.Join(t.TempDir(), "work")
	for name, text := range map[string]string{"one": "1", "other": "1", "deep/file": "2", "mine": "3"} {
		write(t, work, name, text)
	}
	at := func(name string) string { return filepath.Join(work, name) }
	must(t, os.Link(at("one"), at("two")))
	must(t, os.Chmod(work, 0o750))
	root := os.Geteuid() == 0
	if root {
		for _, name := range []string{"mine", "deep", "deep/file"} {
			must(t, os.Lchown(at(name), 12, 34))
		}
	}
	store := open(t, work, Options{})
	info := take(t, store)
	must(t, os.Remove(at("two")))
	write(t, work, "two", "1")
	must(t, os.Remove(at("other")))
	must(t, os.Link(at("one"), at("other"))) // the same content: nothing else differs
	must(t, os.Chmod(work, 0o777))
	if root {
		must(t, os.Lchown(at("mine"), 0, 0))
		must(t, os.RemoveAll(at("deep")))
		must(t, os.Chown(work, 12, 34))
	}
	res, err := store.Restore(t.Context(), info.ID)
	if err != nil || len(res.Mismatches)+len(res.Unlike) > 0 {
		t.Fatalf("%v, differs %v, unlike %v", err, res.Mismatches, res.Unlike)
	}
	same := func(a, b string) bool {
		x, errX := os.Lstat(at(a))
		y, errY := os.Lstat(at(b))
		return errX == nil && errY == nil && os.SameFile(x, y)
	}
	if !same("one", "two") || same("one", "other") {
		t.Errorf("one and two are one file: %v, one and other: %v", same("one", "two"), same("one", "other"))
	}
	for name, want := range map[string]uint32{"mine": 12, "deep": 12, "deep/file": 12, "one": 0, ".": 0} {
		fi, err := os.Lstat(at(name))
		must(t, err)
		if st, ok := fi.Sys().(*syscall.Stat_t); root && (!ok || st.Uid != want) {
			t.Errorf("%s belongs to %d, want %d", name, st.Uid, want)
		}
	}
	if fi, err := os.Stat(work); err != nil || fi.Mode().Perm() != 0o750 {
		t.Errorf("the folder of the tree: %v, %v", fi.Mode(), err)
	}
}

// A file of git in whose place a pipe is, is lost; without HEAD there is no repository.
func TestPipesInThePlaceOfGitsFilesAreLost(t *testing.T) {
	dir := refsAndStashes(t)
	s := open(t, dir, Options{})
	first := take(t, s)
	for _, step := range []struct {
		name string
		want []string
	}{{"config", []string{"file config (a pipe, socket or device now)"}}, {"HEAD", []string{".git"}}} {
		must(t, os.Remove(filepath.Join(dir, ".git", step.name)))
		must(t, syscall.Mkfifo(filepath.Join(dir, ".git", step.name), 0o600))
		if d := cmp.Diff(step.want, gitLost(t, s, first.ID, take(t, s).ID)); d != "" {
			t.Errorf("%s (-want +got):\n%s", step.name, d)
		}
	}
	mustRestore(t, s, first.ID)
}
