package snapshot

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// repository makes a small repository with one commit, and settings as in git config.
func repository(t *testing.T, settings ...[2]string) string {
	t.Helper()
	dir := plain(t)
	git(t, dir, "init", "-q", "-b", "main")
	for _, s := range settings {
		git(t, dir, "config", s[0], s[1])
	}
	git(t, dir, "add", ".")
	git(t, dir, "commit", "-q", "-m", "one")
	return dir
}

// A required filter whose program is missing makes git add refuse everything.
func TestRequiredFilterMissing(t *testing.T) {
	dir := repository(t)
	write(t, dir, ".gitattributes", "*.bin filter=lfs\n*.utf16 working-tree-encoding=UTF-16\n*.id ident\n")
	write(t, dir, "large.bin", "kept by nobody else\n")
	write(t, dir, "text.utf16", "\xff\xfea\x00\n\x00")
	write(t, dir, "text.id", "$ID: mine $\n")
	for _, c := range [][2]string{{"filter.lfs.clean", "no-such-program"}, {"filter.lfs.smudge", "no-such-program"}, {"filter.lfs.required", "true"}} {
		git(t, dir, "config", c[0], c[1])
	}
	if out, err := gitTry(dir, "add", "-A"); err == nil {
		t.Fatalf("git took it after all: %s", out)
	}
	bringsBack(t, dir, func() {
		write(t, dir, "large.bin", "changed\n")
		write(t, dir, "text.utf16", "\xff\xfeb\x00\n\x00")
		write(t, dir, "text.id", "$ID$\n")
		must(t, os.Remove(filepath.Join(dir, ".gitattributes")))
	})
}

// The index knows files that are not there, and is configured not to look at others.
func TestSparseCheckoutAndFilesThatGitDoesNotLookAt(t *testing.T) {
	dir := repository(t)
	for _, f := range []string{"in/a", "out/b", "assumed", "skipped"} {
		write(t, dir, f, f)
	}
	git(t, dir, "add", ".")
	git(t, dir, "commit", "-q", "-m", "two")
	git(t, dir, "sparse-checkout", "set", "--cone", "in")
	git(t, dir, "update-index", "--assume-unchanged", "assumed")
	git(t, dir, "update-index", "--skip-worktree", "skipped")
	write(t, dir, "skipped", "changed before\n")
	if exists(dir, "out") {
		t.Fatal("the checkout is not sparse")
	}
	bringsBack(t, dir, func() {
		write(t, dir, "assumed", "changed by the agent\n")
		write(t, dir, "skipped", "changed by the agent\n")
		write(t, dir, "out/b", "outside of the sparse checkout\n")
		git(t, dir, "sparse-checkout", "disable")
		git(t, dir, "update-index", "--no-assume-unchanged", "assumed")
	})
}

// Git misses such an edit when it is configured to trust modification times alone.
func TestForgedTimeWithoutTrustInChangeTimes(t *testing.T) {
	dir := repository(t, [2]string{"core.trustctime", "false"})
	// A file that is younger than the index is one that git reads again: else it would be fooled here, and not any more
	// once the file has been restored.
	young := time.Now().Add(time.Hour)
	must(t, os.Chtimes(filepath.Join(dir, "a.txt"), young, young))
	git(t, dir, "update-index", "--refresh")
	bringsBack(t, dir, func() {
		write(t, dir, "a.txt", "b\n")
		must(t, os.Chtimes(filepath.Join(dir, "a.txt"), young, young))
	})
}

func TestDirtySubmodule(t *testing.T) {
	lib := repository(t)
	dir := repository(t)
	git(t, dir, "submodule", "add", "-q", lib, "dep")
	git(t, dir, "commit", "-q", "-m", "submodule")
	write(t, dir, "dep/a.txt", "dirty\n")
	write(t, dir, "dep/new", "untracked in the submodule\n")
	git(t, filepath.Join(dir, "dep"), "add", "a.txt")
	bringsBack(t, dir, func() {
		git(t, filepath.Join(dir, "dep"), "commit", "-q", "-am", "agent")
		write(t, dir, "dep/a.txt", "agent\n")
		must(t, os.Remove(filepath.Join(dir, "dep/new")))
		git(t, dir, "add", "dep")
	})
}

// Files that share their content before come back with the right content; that they shared it is not kept.
func TestHardLinks(t *testing.T) {
	dir := repository(t)
	must(t, os.Link(filepath.Join(dir, "a.txt"), filepath.Join(dir, "second")))
	must(t, os.Link(filepath.Join(dir, "a.txt"), filepath.Join(dir, "sub/third")))
	bringsBack(t, dir, func() {
		f, err := os.OpenFile(filepath.Join(dir, "second"), os.O_WRONLY|os.O_APPEND, 0)
		must(t, err)
		_, err = f.WriteString("written through one name\n")
		must(t, errors.Join(err, f.Close()))
		must(t, os.Remove(filepath.Join(dir, "sub/third")))
		must(t, os.Link(filepath.Join(dir, "sub/b.txt"), filepath.Join(dir, "fourth")))
	})
}

func TestCaseOnlyRename(t *testing.T) {
	dir := repository(t)
	write(t, dir, "Folder/Inner.txt", "x\n")
	bringsBack(t, dir, func() {
		for _, r := range [][2]string{{"a.txt", "A.TXT"}, {"Folder", "folder"}, {"folder/Inner.txt", "folder/inner.txt"}} {
			must(t, os.Rename(filepath.Join(dir, r[0]), filepath.Join(dir, r[1])))
		}
	})
}

// Editing every file in sight, git's objects among them, is what careless commands such as find -exec sed -i do.
func TestObjectsOfGitRewritten(t *testing.T) {
	dir := repository(t)
	git(t, dir, "repack", "-q", "-a", "-d")
	write(t, dir, "a.txt", "two\n")
	git(t, dir, "commit", "-q", "-am", "two")
	s := open(t, dir, Options{})
	before, first := picture(t, dir), take(t, s)
	objects, err := filepath.Glob(filepath.Join(dir, ".git/objects/[0-9a-fp]*/*"))
	must(t, err)
	for _, o := range objects {
		must(t, os.Rename(o, o+".old"))
		must(t, os.WriteFile(o, []byte("edited\n"), 0o600))
		must(t, os.Remove(o+".old"))
	}
	if out, err := gitTry(dir, "log"); err == nil {
		t.Fatalf("git does not mind: %s", out)
	}
	mustRestore(t, s, first.ID)
	same(t, "restored", before, picture(t, dir))
}

// A file of 5 GB is neither read nor copied, however often it is met, and never lost.
func TestFileOf5GB(t *testing.T) {
	const size = 5 << 30
	dir := repository(t)
	image := filepath.Join(dir, "disk.img")
	sparse := func(name string) os.FileInfo {
		f, err := os.OpenFile(name, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
		must(t, err)
		if err := f.Truncate(size); err != nil {
			t.Skipf("the file system has no sparse files: %v", err)
		}
		must(t, f.Close())
		fi, err := os.Stat(name)
		must(t, err)
		return fi
	}
	was := sparse(image)
	s := open(t, dir, Options{})
	first := take(t, s)
	if d := cmp.Diff([]Skip{{Path: "disk.img", Reason: TooBig, Size: size}}, first.Skipped, untimed); d != "" {
		t.Errorf("skipped (-want +got):\n%s", d)
	}
	inTheWay := sparse(filepath.Join(dir, "a.txt"))
	r := mustRestore(t, s, first.ID)
	if now, err := os.Stat(image); err != nil || !os.SameFile(was, now) || !now.ModTime().Equal(was.ModTime()) {
		t.Errorf("the large file was touched: %v", err)
	}
	kept, err := os.Stat(filepath.Join(r.DisplacedTo, "a.txt"))
	if err != nil || !os.SameFile(kept, inTheWay) || read(t, dir, "a.txt") != "a\n" {
		t.Errorf("the large file in the way of a small one: %v, %v", r.Displaced, err)
	}
	must(t, os.Remove(image))
	if r := mustRestore(t, s, first.ID); !cmp.Equal(r.Gone, []string{"disk.img"}) {
		t.Errorf("a large file that cannot come back is not named: %v", r.Gone)
	}
}

// What is there and was never captured is named when it is gone.
func TestPipesAreLeftAloneAndMissed(t *testing.T) {
	dir := repository(t)
	makePipe(t, filepath.Join(dir, "pipe"))
	s := open(t, dir, Options{})
	first := take(t, s)
	must(t, os.Remove(filepath.Join(dir, "a.txt")))
	makePipe(t, filepath.Join(dir, "a.txt"))
	if r := mustRestore(t, s, first.ID); read(t, dir, "a.txt") != "a\n" || !exists(dir, "pipe") || len(r.Gone) > 0 {
		t.Errorf("a pipe in the way of a file: %+v", r)
	}
	must(t, os.Remove(filepath.Join(dir, "pipe")))
	if r := mustRestore(t, s, first.ID); !cmp.Equal(r.Gone, []string{"pipe"}) {
		t.Errorf("gone: %v", r.Gone)
	}
}

// A snapshot needs no lock of git's, and a lock is captured like any other file.
func TestTakeWithHeldIndexLock(t *testing.T) {
	dir := repository(t)
	write(t, dir, ".git/index.lock", "")
	if out, err := gitTry(dir, "add", "."); err == nil {
		t.Fatalf("git does not mind the lock: %s", out)
	}
	bringsBack(t, dir, func() {
		must(t, os.Remove(filepath.Join(dir, ".git/index.lock")))
		write(t, dir, "a.txt", "changed\n")
		git(t, dir, "commit", "-q", "-am", "agent")
	})
}

// Files that change while they are read are captured whole or not at all, and never make a snapshot fail.
func TestAgentWritesDuringCapture(t *testing.T) {
	dir := repository(t)
	const large = 1 << 20
	write(t, dir, "swapped", strings.Repeat("a", large))
	s := open(t, dir, Options{})
	stop, stopped := make(chan struct{}), make(chan error, 1)
	go func() { stopped <- keepWriting(dir, large, stop) }()
	var taken []Info
	for range 20 {
		taken = append(taken, take(t, s))
	}
	close(stop)
	must(t, <-stopped)
	for _, info := range taken {
		text, err := s.ReadFile(context.Background(), info.ID, "swapped")
		switch {
		case errors.Is(err, os.ErrNotExist): // it was between two names, or never held still
		case err != nil:
			t.Error(err)
		case len(text) != large || strings.Trim(string(text), string(text[:1])) != "":
			t.Errorf("snapshot %s holds parts of two files, %d bytes", info.ID, len(text))
		}
		log, err := s.ReadFile(context.Background(), info.ID, "log")
		if err == nil && strings.Trim(string(log), "line\n") != "" {
			t.Errorf("snapshot %s holds a torn log", info.ID)
		}
	}
	last, before := take(t, s), picture(t, dir)
	mustRestore(t, s, taken[0].ID)
	mustRestore(t, s, last.ID)
	same(t, "after the writer ended", before, picture(t, dir))
	storeIsSound(t, s)
}

// keepWriting replaces a file by others, appends to one, and makes and deletes folders until stop is closed.
func keepWriting(dir string, large int, stop chan struct{}) error {
	log, err := os.OpenFile(filepath.Join(dir, "log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer log.Close()
	for i := 0; ; i++ {
		select {
		case <-stop:
			return nil
		default:
		}
		temp := filepath.Join(dir, "swapped.new")
		_, errLog := log.WriteString("line\n")
		err := errors.Join(errLog,
			os.WriteFile(temp, []byte(strings.Repeat(string(rune('a'+i%26)), large)), 0o600),
			os.Rename(temp, filepath.Join(dir, "swapped")),
			os.MkdirAll(filepath.Join(dir, "made/and/gone"), 0o750),
			os.WriteFile(filepath.Join(dir, "made/and/gone/file"), []byte("x"), 0o600),
			os.RemoveAll(filepath.Join(dir, "made")),
		)
		if err != nil {
			return err
		}
	}
}

// Two processes that take snapshots of one tree at the same time wait for each other, and both get theirs.
func TestTwoProcessesAtOneStore(t *testing.T) {
	dir := repository(t)
	s := open(t, dir, Options{})
	first := take(t, s)
	write(t, dir, "a.txt", "changed\n")
	before := picture(t, dir)
	done := make(chan error)
	const processes = 4
	for range processes {
		go func() { done <- child("take", dir, s.dir).Run() }()
	}
	for range processes {
		must(t, <-done)
	}
	list, err := s.List()
	must(t, err)
	for i, info := range list {
		if info.ID != ID(strconv.Itoa(i+1)) || i > 0 && info.Tree != list[1].Tree {
			t.Errorf("snapshot %d is %+v", i+1, info)
		}
	}
	if len(list) != 1+processes {
		t.Errorf("%d snapshots", len(list))
	}
	mustRestore(t, s, first.ID)
	mustRestore(t, s, list[processes].ID)
	same(t, "restored", before, picture(t, dir))
	storeIsSound(t, s)
}
