package snapshot

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"supervise/snapshot/internal/disk"
	"supervise/snapshot/internal/ignore"
)

// settle waits until a clock of the file system has moved on so far that folders are known by their times.
func settle(t *testing.T, dir string) {
	t.Helper()
	fi, err := os.Stat(dir)
	must(t, err)
	for probe := filepath.Join(t.TempDir(), "clock"); ; {
		must(t, os.WriteFile(probe, nil, 0o600))
		now, err := os.Stat(probe)
		must(t, err)
		if now.ModTime().Sub(fi.ModTime()) > 2*disk.RacyWindow {
			return
		}
		time.Sleep(disk.RacyWindow) // until then nothing else can happen
	}
}

// Folders that have not changed are not listed again. What can change in them all the same must be seen.
func TestUnchangedFoldersAreStillLookedAt(t *testing.T) {
	dir := workshop(t)
	write(t, dir, "conf/.env", strings.Repeat("x", ignore.MaxPrecious+1)) // precious, and too big for that
	write(t, dir, "conf/huge", strings.Repeat("x", ignore.MaxPrecious+2))
	write(t, dir, "conf/build.log", "ignored\n")
	write(t, dir, "deep/er/file", "one\n")
	makePipe(t, filepath.Join(dir, "conf/pipe"))
	s := open(t, dir, Options{MaxFile: ignore.MaxPrecious + 1})
	first := take(t, s)
	settle(t, filepath.Join(dir, "conf"))
	second := take(t, s) // its base is settled
	settle(t, dir)
	third := take(t, s)
	for _, i := range []Info{second, third} {
		if d := cmp.Diff([]any{first.Tree, first.Skipped, first.Files}, []any{i.Tree, i.Skipped, i.Files}); d != "" {
			t.Errorf("nothing changed (-want +got):\n%s", d)
		}
	}
	a, err := s.manifest(first.ID)
	must(t, err)
	b, err := s.manifest(third.ID)
	must(t, err)
	if d := cmp.Diff(a.Ignored, b.Ignored); d != "" {
		t.Errorf("ignored (-want +got):\n%s", d)
	}
	must(t, os.Truncate(filepath.Join(dir, "conf/.env"), 3))
	must(t, os.Truncate(filepath.Join(dir, "conf/huge"), 3))
	must(t, os.Chmod(filepath.Join(dir, "deep/er"), 0o700))
	must(t, os.WriteFile(filepath.Join(dir, "deep/er/file"), []byte("two\n"), 0o600))
	must(t, os.WriteFile(filepath.Join(dir, ".git/description"), []byte("changed\n"), 0o600))
	after := picture(t, dir)
	fourth := take(t, s)
	if got := len(third.Skipped) - len(fourth.Skipped); fourth.Files != third.Files+2 || got != 1 {
		t.Errorf("%d files were %d, and %d were skipped, not %d", fourth.Files, third.Files, len(fourth.Skipped), len(third.Skipped))
	}
	mustRestore(t, s, third.ID)
	if read(t, dir, "deep/er/file") != "one\n" || read(t, dir, ".git/description") == "changed\n" {
		t.Error("the changes were not undone")
	}
	mustRestore(t, s, fourth.ID)
	same(t, "changed again", after, picture(t, dir))
	storeIsSound(t, s)
}

// Names that come and go in a folder are seen although the base knew the folder as settled.
func TestNewNamesInSettledFolders(t *testing.T) {
	dir := plain(t)
	s := open(t, dir, Options{})
	take(t, s)
	settle(t, filepath.Join(dir, "sub"))
	first := take(t, s)
	settle(t, filepath.Join(dir, "sub"))
	write(t, dir, "sub/new", "new\n")
	if err := os.Rename(filepath.Join(dir, "sub/b.txt"), filepath.Join(dir, "sub/c.txt")); err != nil {
		t.Fatal(err)
	}
	second := take(t, s)
	list, err := s.Files(second.ID)
	must(t, err)
	var names []string
	for _, f := range list {
		names = append(names, f.Path)
	}
	if d := cmp.Diff([]string{"a.txt", "sub/c.txt", "sub/new"}, names); d != "" {
		t.Errorf("files (-want +got):\n%s", d)
	}
	mustRestore(t, s, first.ID)
	if exists(dir, "sub/new") || exists(dir, "sub/c.txt") || read(t, dir, "sub/b.txt") != "b\n" {
		t.Error("the names did not come back")
	}
}

// The hints never say no where git says yes, pattern by pattern.
func TestHintsAgreeWithGit(t *testing.T) {
	patterns := []string{
		"# comment", "*.log", "node_modules/", "/local", "build", "doc/**/*.pdf", "foo/", "Trailing  ", `esc\ aped\ `, "[ab]x", "*~", ".#*", `\#hash`, `\!bang`,
		"!keep.log", "a?c", "**/gen", "part/**", "*.o\r", "x[!y]z", "CaSe", `\*star`, "t\tab\t", "/src/*.tmp", "*a*b*", "\xef\xbb\xbfbom", "é", "/", "**", "two words", "x.pdf/ ", "s[r]c/local", `s\rc/local`,
	}
	names := []string{
		"a.log", "keep.log", "node_modules", "node_modules2", "local", "build", "x.pdf", "foo", "Trailing", "Trailing  ", "esc aped ", "ax", "bx", "cx", "a~", ".#a", "#hash",
		"!bang", "abc", "ac", "gen", "a.o", "xaz", "xyz", "case", "CASE", "*star", "t\tab", "t\tab\t", "a.tmp", "plain.go", "README", "log", "xaxbx", "ab", "bom", "é", "two words",
	}
	for _, folders := range []bool{false, true} {
		dir := filepath.Join(t.TempDir(), "work")
		must(t, os.MkdirAll(dir, 0o755))
		git(t, dir, "init", "-q")
		var paths []string
		for _, parent := range []string{"", "src/", "doc/x/", "part/"} {
			for _, n := range names {
				paths = append(paths, "./"+parent+n)
				if folders {
					must(t, os.MkdirAll(filepath.Join(dir, parent, n), 0o755))
				} else {
					write(t, dir, parent+n, "x")
				}
			}
		}
		for _, p := range patterns {
			write(t, dir, ".gitignore", p+"\n")
			h := ignore.NewHints()
			h.Add([]byte(p + "\n"))
			ignored := ignoredBy(t, dir, paths)
			for _, path := range paths {
				if ignored[path] && !h.MayMatch(filepath.Base(path), folders) {
					t.Errorf("%q makes git ignore %q (folder: %t)", p, path, folders)
				}
			}
			if known := strings.HasPrefix(p, "*.") || p == "CaSe" || p == "foo/"; known && h.MayMatch("plain.go", folders) {
				t.Errorf("%q says too much", p)
			}
		}
	}
}

// ignoredBy asks git.
func ignoredBy(t *testing.T, dir string, paths []string) map[string]bool {
	t.Helper()
	cmd := exec.Command("git", "check-ignore", "--no-index", "--stdin", "-z")
	cmd.Dir, cmd.Stdin = dir, strings.NewReader(strings.Join(paths, "\x00")+"\x00")
	out, err := cmd.Output()
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) && exit.ExitCode() != 1 { // none is ignored
		t.Fatal(err, string(exit.Stderr))
	}
	got := map[string]bool{}
	for p := range strings.SplitSeq(string(out), "\x00") {
		got[p] = true
	}
	return got
}
