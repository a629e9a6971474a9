package snapshot

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// sabotages are things that agents do. None of them touches ignored files, which are not restored.
var sabotages = []struct {
	name string
	do   func(t *testing.T, dir string)
}{
	{"edit", func(t *testing.T, dir string) {
		write(t, dir, "main.go", "package broken\n")
		write(t, dir, "untracked.go", "overwritten\n")
		write(t, dir, "crlf.txt", "one\ntwo\n")
		write(t, dir, "data.dat", "FILTERED\n")
		write(t, dir, ".env", "TOKEN=stolen\n")
		write(t, dir, "bin/tool", "changed\n")
		write(t, dir, "nested/a", "changed\n")
		write(t, dir, "nested/x.log", "changed\n")
		write(t, dir, "unborn/b", "changed\n")
	}},
	{"delete", func(t *testing.T, dir string) {
		for _, p := range []string{"lib", "untracked.go", ".env", "empty", "link", "with space", "bin/tool", "nested/a", ":colon", "[work]", "latin-\xe9"} {
			must(t, os.RemoveAll(filepath.Join(dir, p)))
		}
	}},
	{"create", func(t *testing.T, dir string) {
		write(t, dir, "new/deep/er/file.go", "package er\n")
		write(t, dir, ".env.local", "not ignored\n")
		must(t, os.MkdirAll(filepath.Join(dir, "new/empty"), 0o755))
		must(t, os.Symlink("/etc/passwd", filepath.Join(dir, "new/passwd")))
		write(t, dir, "nested/new", "new\n")
	}},
	{"rename", func(t *testing.T, dir string) {
		must(t, os.Rename(filepath.Join(dir, "lib"), filepath.Join(dir, "library")))
		must(t, os.Rename(filepath.Join(dir, "main.go"), filepath.Join(dir, "Main.go")))
	}},
	{"chmod", func(t *testing.T, dir string) {
		must(t, os.Chmod(filepath.Join(dir, "run.sh"), 0o644))
		must(t, os.Chmod(filepath.Join(dir, "secret.conf"), 0o644))
		must(t, os.Chmod(filepath.Join(dir, "main.go"), 0o777))
		must(t, os.Chmod(filepath.Join(dir, "empty"), 0o700))
		must(t, os.Chmod(filepath.Join(dir, "lib"), 0o500))
	}},
	{"file becomes folder, folder becomes file, link becomes file", func(t *testing.T, dir string) {
		must(t, os.Remove(filepath.Join(dir, "main.go")))
		write(t, dir, "main.go/inside", "x\n")
		must(t, os.RemoveAll(filepath.Join(dir, "lib")))
		write(t, dir, "lib", "a file now\n")
		must(t, os.Remove(filepath.Join(dir, "link")))
		write(t, dir, "link", "a file now\n")
		must(t, os.Remove(filepath.Join(dir, "run.sh")))
		must(t, os.Symlink("main.go", filepath.Join(dir, "run.sh")))
	}},
	{"commit", func(t *testing.T, dir string) {
		git(t, dir, "add", "main.go", "lib", "untracked.go")
		git(t, dir, "commit", "-q", "-m", "agent")
	}},
	{"reset hard and clean", func(t *testing.T, dir string) {
		git(t, dir, "reset", "-q", "--hard", "HEAD~1")
		git(t, dir, "clean", "-q", "-fd")
	}},
	{"switch and create branches", func(t *testing.T, dir string) {
		git(t, dir, "stash", "-q")
		git(t, dir, "switch", "-q", "other")
		git(t, dir, "switch", "-q", "-c", "agent/work")
		git(t, dir, "branch", "-q", "-D", "main")
		git(t, dir, "tag", "v1")
	}},
	{"stash", func(t *testing.T, dir string) { git(t, dir, "stash", "-q", "-u") }},
	{"drop everything that git remembers", func(t *testing.T, dir string) {
		git(t, dir, "stash", "clear")
		git(t, dir, "reset", "-q", "--hard", "other")
		git(t, dir, "reflog", "expire", "--expire=now", "--expire-unreachable=now", "--all")
		git(t, dir, "gc", "-q", "--prune=now")
		if out, err := gitTry(dir, "rev-parse", "HEAD@{1}"); err == nil {
			t.Fatalf("the sabotage did not work: %s", out)
		}
	}},
	{"plant a hook and configuration", func(t *testing.T, dir string) {
		write(t, dir, ".git/hooks/post-checkout", "#!/bin/sh\ntouch pwned\n", 0o755)
		git(t, dir, "config", "core.sshCommand", "touch pwned")
		git(t, dir, "config", "alias.status", "!rm -rf .")
	}},
	{"delete .git", func(t *testing.T, dir string) { must(t, os.RemoveAll(filepath.Join(dir, ".git"))) }},
	{"delete .git and start another", func(t *testing.T, dir string) {
		must(t, os.RemoveAll(filepath.Join(dir, ".git")))
		git(t, dir, "init", "-q", "-b", "trunk")
		git(t, dir, "add", "main.go")
		git(t, dir, "commit", "-q", "-m", "all mine")
	}},
	{"start a nested repository", func(t *testing.T, dir string) {
		git(t, filepath.Join(dir, "lib"), "init", "-q", "-b", "main")
		git(t, filepath.Join(dir, "lib"), "add", ".")
		git(t, filepath.Join(dir, "lib"), "commit", "-q", "-m", "sub")
	}},
	{"delete the nested repository", func(t *testing.T, dir string) {
		must(t, os.RemoveAll(filepath.Join(dir, "nested/.git")))
		must(t, os.RemoveAll(filepath.Join(dir, "unborn")))
	}},
	{"pack refs, leave a merge and a stale lock", func(t *testing.T, dir string) {
		git(t, dir, "pack-refs", "--all")
		write(t, dir, ".git/MERGE_HEAD", git(t, dir, "rev-parse", "other"))
		write(t, dir, ".git/index.lock", "")
	}},
	{"ignore more", func(t *testing.T, dir string) { write(t, dir, ".gitignore", "*\n") }},
	{"a folder in place of the ignore file", func(t *testing.T, dir string) {
		must(t, os.Remove(filepath.Join(dir, ".gitignore")))
		write(t, dir, ".gitignore/sub/x", "x\n")
	}},
	{"ignore nothing", func(t *testing.T, dir string) { must(t, os.Remove(filepath.Join(dir, ".gitignore"))) }},
}

func TestRestoreBringsBackEverything(t *testing.T) {
	for _, c := range sabotages {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			dir := workshop(t)
			bringsBack(t, dir, func() { c.do(t, dir) })
		})
	}
}

// bringsBack takes the tree, has it damaged, and restores it, undoes that and restores it again: each time everything is
// there byte for byte, the state of git included. It returns the store.
func bringsBack(t *testing.T, dir string, sabotage func()) *Store {
	t.Helper()
	s := open(t, dir, Options{})
	before := picture(t, dir)
	first := take(t, s)
	same(t, "taking a snapshot changed the tree", before, picture(t, dir))
	sabotage()
	after := picture(t, dir)
	if cmp.Equal(before, after) {
		t.Fatal("the sabotage changed nothing")
	}
	r := mustRestore(t, s, first.ID)
	same(t, "restored", before, picture(t, dir))
	again := mustRestore(t, s, first.ID)
	if len(again.Written)+len(again.Deleted)+again.GitFiles > 0 {
		t.Errorf("second restore did something: %+v", again)
	}
	same(t, "restored twice", before, picture(t, dir))
	s = reopen(t, s)
	mustRestore(t, s, r.Safety)
	same(t, "undone", after, picture(t, dir))
	mustRestore(t, s, first.ID)
	same(t, "restored after undo", before, picture(t, dir))
	storeIsSound(t, s)
	return s
}

// storeIsSound lets git judge what we wrote, and compares our trees with those that git makes of the same files.
func storeIsSound(t *testing.T, s *Store) {
	t.Helper()
	// The workshop holds a file named git~1, which git finds suspicious.
	out := git(t, s.GitDir(), "-c", "fsck.hasDotgit=ignore", "fsck", "--full", "--strict", "--no-dangling", "--no-progress")
	if out != "notice: HEAD points to an unborn branch (none)\n" {
		t.Errorf("git fsck of the store: %s", out)
	}
	list, err := s.List()
	must(t, err)
	for _, i := range list {
		git(t, s.GitDir(), "cat-file", "-e", i.ID.Ref()+"^{tree}")
	}
}

func TestTreeIsTheOneGitMakes(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "work")
	for _, f := range []string{"a", "a-b", "a.d/x", "a/../ab/y", "ab.c", "z/1/2", "z/1-2", "z/1.2", "sub/run"} {
		write(t, dir, f, f)
	}
	must(t, os.Chmod(filepath.Join(dir, "sub/run"), 0o755))
	must(t, os.Symlink("a", filepath.Join(dir, "l")))
	must(t, os.MkdirAll(filepath.Join(dir, "empty/er"), 0o755))
	s := open(t, dir, Options{})
	info := take(t, s)
	ours := git(t, s.GitDir(), "rev-parse", info.ID.Ref()+"^{tree}")
	git(t, dir, "init", "-q")
	git(t, dir, "add", "-A")
	if theirs := git(t, dir, "write-tree"); ours != theirs {
		t.Errorf("tree is %s, git makes %s", ours, theirs)
	}
}

// Refs are not synced, so that a crash of the system may leave them empty or missing.
func TestLostRefsAreMadeAgain(t *testing.T) {
	s := open(t, plain(t), Options{})
	first, second := take(t, s), take(t, s)
	refs := git(t, s.GitDir(), "for-each-ref")
	must(t, os.Truncate(filepath.Join(s.GitDir(), first.ID.Ref()), 0))
	must(t, os.Remove(filepath.Join(s.GitDir(), "refs/state", string(second.ID))))
	reopen(t, s)
	if d := cmp.Diff(refs, git(t, s.GitDir(), "for-each-ref")); d != "" {
		t.Errorf("refs (-want +got):\n%s", d)
	}
}

// A restore says what it is about to replace while nothing is changed yet, and can be given up then. One that changes
// nothing says nothing.
func TestOnRestore(t *testing.T) {
	t.Parallel()
	dir := small(t)
	s := open(t, dir, Options{})
	first := take(t, s)
	havoc(t, dir)
	second, before := take(t, s), picture(t, dir)
	no := errors.New("no")
	var got PlannedRestore
	s.OnRestore(func(b PlannedRestore) error {
		same(t, "the tree when it is said", before, picture(t, dir))
		got = b
		return no
	})
	if _, err := s.Restore(t.Context(), first.ID); !errors.Is(err, no) || ReadUnfinished(s.dir) != nil {
		t.Errorf("Restore: %v, want it given up", err)
	}
	same(t, "given up", before, picture(t, dir))
	if got.Target != first.ID || got.Safety == "" || got.Files == 0 || got.GitFiles == 0 || !got.IsSavedIn(second.ID) || got.IsSavedIn(first.ID) {
		t.Errorf("said: %+v", got)
	}
	if _, err := s.Restore(t.Context(), second.ID); err != nil {
		t.Errorf("a restore that changes nothing: %v", err)
	}
	s.OnRestore(nil)
	mustRestore(t, s, first.ID)
	mustRestore(t, s, got.Safety)
	same(t, "what was said brings it back", before, picture(t, dir))
}

// A restored ignored file has its old time: if it was built of older sources, tools build it again.
func TestRestoredIgnoredFilesKeepTheirTime(t *testing.T) {
	t.Parallel()
	dir := small(t)
	write(t, dir, ".gitignore", "*.bin\n")
	write(t, dir, "a.bin", "built\n")
	old := time.Unix(1_000_000_000, 0)
	must(t, os.Chtimes(filepath.Join(dir, "a.bin"), old, old))
	s := open(t, dir, Options{})
	first := take(t, s)
	write(t, dir, "a.bin", "built of a change\n")
	take(t, s)
	mustRestore(t, s, first.ID)
	info, err := os.Stat(filepath.Join(dir, "a.bin"))
	if must(t, err); read(t, dir, "a.bin") != "built\n" || !info.ModTime().Equal(old) {
		t.Errorf("%q of %s", read(t, dir, "a.bin"), info.ModTime())
	}
}

// A tree is not that of a snapshot if an ignored file came later that is about to be
// replaced. One that stays where it is does not count.
func TestHolds(t *testing.T) {
	t.Parallel()
	dir := small(t)
	write(t, dir, ".gitignore", "*.db\n")
	write(t, dir, "kept.db", "the user's\n")
	s := open(t, dir, Options{})
	first := take(t, s)
	havoc(t, dir)
	must(t, os.Remove(filepath.Join(dir, "kept.db")))
	second := take(t, s)
	var holds bool
	s.OnRestore(func(b PlannedRestore) error {
		holds = b.IsSavedIn(second.ID)
		return errors.New("enough")
	})
	for name, want := range map[string]bool{"other.db": true, "kept.db": false} {
		write(t, dir, name, "came later\n")
		if _, err := s.Restore(t.Context(), first.ID); err == nil || holds != want {
			t.Errorf("with %s: holds %v, want %v (%v)", name, holds, want, err)
		}
		must(t, os.Remove(filepath.Join(dir, name)))
	}
}
