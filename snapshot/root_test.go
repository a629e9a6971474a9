package snapshot

import (
	"os"
	"path/filepath"
	"testing"
)

// withoutIgnored removes from a workshop what no snapshot keeps.
func withoutIgnored(t *testing.T, dir string) {
	t.Helper()
	for _, f := range []string{"bin/ignored", "build.log", "nested/x.tmp", "node_modules"} {
		must(t, os.RemoveAll(filepath.Join(dir, f)))
	}
}

// What becomes of the folder of the tree itself while a store is open.
func TestRootOfTheTreeIsGone(t *testing.T) {
	for name, do := range map[string]func(t *testing.T, dir string){
		"deleted": func(t *testing.T, dir string) { must(t, os.RemoveAll(dir)) },
		"moved":   func(t *testing.T, dir string) { must(t, os.Rename(dir, dir+"2")) },
		"replaced": func(t *testing.T, dir string) {
			must(t, os.Rename(dir, dir+"2"))
			write(t, dir, "other", "of the agent\n")
		},
		"replaced by a clone": func(t *testing.T, dir string) {
			must(t, os.Rename(dir, dir+"2"))
			git(t, filepath.Dir(dir), "clone", "-q", dir+"2", dir)
		},
		"deleted with what is above it": func(t *testing.T, dir string) { must(t, os.RemoveAll(filepath.Dir(dir))) },
	} {
		t.Run(name, func(t *testing.T) {
			dir := workshop(t)
			s := open(t, dir, Options{})
			withoutIgnored(t, dir)
			before := picture(t, dir)
			first := take(t, s)
			do(t, dir)
			second := take(t, s)
			if second.Tree == first.Tree {
				t.Error("the snapshot is of a folder that is no longer there")
			}
			left := picture(t, dir)
			mustRestore(t, s, first.ID)
			same(t, "restored", before, picture(t, dir))
			mustRestore(t, s, second.ID)
			same(t, "as it was left", left, picture(t, dir))
		})
	}
}

// An agent takes from the owner every right to the folder of the tree.
func TestRootClosedToItsOwner(t *testing.T) {
	if !asNobody(t) { // root enters every folder
		return
	}
	dir := workshop(t)
	s := open(t, dir, Options{})
	before, first := picture(t, dir), take(t, s)
	write(t, dir, "new", "of the agent\n")
	must(t, os.Chmod(dir, 0))
	if second := take(t, s); second.Tree == first.Tree {
		t.Error("what the agent left is not in the snapshot")
	}
	must(t, os.Chmod(dir, 0))
	mustRestore(t, s, first.ID)
	same(t, "restored", before, picture(t, dir))
	if fi, err := os.Stat(dir); err != nil || fi.Mode().Perm() != 0o755 {
		t.Errorf("the folder has %v, %v", fi.Mode(), err)
	}
}

// What an agent puts in the place of the tree, a link or a file, is moved away and kept; a link is never followed, since a
// restore would delete what it leads to.
func TestRootReplaced(t *testing.T) {
	outside := t.TempDir()
	write(t, outside, "precious", "not yours\n")
	for name, put := range map[string]func(t *testing.T, dir string){
		"by a link out":       func(t *testing.T, dir string) { must(t, os.Symlink(outside, dir)) },
		"by a link to itself": func(t *testing.T, dir string) { must(t, os.Symlink(dir, dir)) },
		"by a file":           func(t *testing.T, dir string) { must(t, os.WriteFile(dir, []byte("file\n"), 0o600)) },
		"by a pipe":           makePipe,
	} {
		t.Run(name, func(t *testing.T) {
			dir := workshop(t)
			withoutIgnored(t, dir)
			s := open(t, dir, Options{})
			before, first := picture(t, dir), take(t, s)
			must(t, os.Rename(dir, dir+"2"))
			put(t, dir)
			if left := take(t, s); left.Files != 0 {
				t.Errorf("%d files are in the tree that is not there", left.Files)
			}
			r := mustRestore(t, s, first.ID)
			same(t, "restored", before, picture(t, dir))
			if kept := exists(r.Replaced, ""); kept == (name == "by a pipe") {
				t.Errorf("what was in the place of the tree is kept: %v, as %q", kept, r.Replaced)
			}
			if got := read(t, outside, "precious"); got != "not yours\n" {
				t.Errorf("precious holds %q", got)
			}
		})
	}
}
