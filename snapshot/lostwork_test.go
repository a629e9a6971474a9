package snapshot

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// underWay is a repository with work of the user's own that no commit holds.
func underWay(t *testing.T) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "work")
	must(t, os.MkdirAll(dir, 0o755))
	git(t, dir, "init", "-q", "-b", "main")
	write(t, dir, ".gitignore", "*.db\nnode_modules/\nprivate/\nbuild/\n*.log\ntool\n")
	write(t, dir, "clean.go", "package clean\n")
	write(t, dir, "edited.go", "package edited\n\nfunc One() int { return 1 }\n\nfunc Two() int { return 2 }\n")
	git(t, dir, "add", ".")
	git(t, dir, "commit", "-q", "-m", "one")
	write(t, dir, "edited.go", "package edited\n\nfunc One() int { return 11 }\n\nfunc Three() int {\n\tx := 3\n\treturn x\n}\n")
	write(t, dir, "notes.md", "first idea\nsecond idea\nthird idea\nfourth idea\n")
	write(t, dir, "staged.go", "package staged\n")
	write(t, dir, "both.go", "package both\n\nfunc Staged() int { return 1 }\n")
	git(t, dir, "add", "staged.go", "both.go")
	write(t, dir, "both.go", "package both\n\nfunc Staged() int { return 1 }\n\nfunc Later() int { return 2 }\n")
	write(t, dir, "app.db", "SQLite format 3\x00rows")
	write(t, dir, "private/deep/letter", "dear\n")
	write(t, dir, "private/node_modules/x.js", "installed\n")
	write(t, dir, "private/cached/CACHEDIR.TAG", "tag\n")
	write(t, dir, "node_modules/dep/index.js", "dep\n")
	write(t, dir, "build/out", "built\n")
	write(t, dir, "x.log", "log\n")
	write(t, dir, "tool", "\x7fELF tool\n")
	return dir
}

// losses are what an agent lost, in words.
func lossesOf(t *testing.T, s *Store, base, start ID) string {
	t.Helper()
	list, err := s.LostWork(t.Context(), base, start, take(t, s).ID)
	must(t, err)
	var out []string
	for _, l := range list {
		text := l.Path + " " + string(l.Kind)
		if l.Ignored {
			text += " ignored"
		}
		if !l.Kept {
			text += " unkept"
		}
		out = append(out, text)
	}
	return strings.Join(out, ", ")
}

// What an agent does to the user's work counts as lost where the work is nowhere any more, and only there.
func TestWorkLost(t *testing.T) {
	remove := func(names ...string) func(*testing.T, string) {
		return func(t *testing.T, dir string) {
			for _, name := range names {
				must(t, os.RemoveAll(filepath.Join(dir, name)))
			}
		}
	}
	for name, c := range map[string]struct {
		do   func(t *testing.T, dir string)
		want string
	}{
		"nothing":           {func(*testing.T, string) {}, ""},
		"reset and cleaned": {func(t *testing.T, dir string) { git(t, dir, "reset", "-q", "--hard"); git(t, dir, "clean", "-qfdx") }, "app.db deleted ignored, both.go deleted, edited.go edits undone, notes.md deleted, private/deep/letter deleted ignored, staged.go deleted"},
		"checked out":       {func(t *testing.T, dir string) { git(t, dir, "checkout", "-q", "edited.go") }, "edited.go edits undone"},
		"checked out, then worked on": {func(t *testing.T, dir string) {
			git(t, dir, "checkout", "-q", "edited.go")
			write(t, dir, "edited.go", read(t, dir, "edited.go")+"\nfunc Four() int { return 4 }\n")
		}, "edited.go overwritten"},
		"edited further": {func(t *testing.T, dir string) {
			write(t, dir, "edited.go", strings.Replace(read(t, dir, "edited.go"), "x := 3", "x := 4", 1))
			write(t, dir, "notes.md", "only the fourth idea\nfourth idea\n")
			write(t, dir, "app.db", "SQLite format 3\x00other rows")
		}, ""},
		"overwritten": {func(t *testing.T, dir string) { write(t, dir, "notes.md", "mine\n") }, "notes.md overwritten"},
		"emptied":     {func(t *testing.T, dir string) { write(t, dir, "notes.md", "") }, "notes.md emptied"},
		"moved": {func(t *testing.T, dir string) {
			must(t, os.Rename(filepath.Join(dir, "notes.md"), filepath.Join(dir, "ideas.md")))
		}, ""},
		"moved, edited": {func(t *testing.T, dir string) {
			remove("notes.md")(t, dir)
			write(t, dir, "ideas.md", "first idea\nthird idea\nmine\n")
		}, ""},
		"made again": {remove("node_modules", "build", "x.log", "tool", "clean.go", "private/node_modules", "private/cached"), ""},
		"committed, then deleted": {func(t *testing.T, dir string) {
			git(t, dir, "add", "-A")
			git(t, dir, "commit", "-qm", "all")
			git(t, dir, "rm", "-q", "notes.md", "edited.go")
			git(t, dir, "commit", "-qm", "gone")
		}, ""},
		"edited, committed, then deleted": {func(t *testing.T, dir string) {
			write(t, dir, "notes.md", read(t, dir, "notes.md")+"mine\n")
			git(t, dir, "add", "notes.md")
			git(t, dir, "commit", "-qm", "all")
			git(t, dir, "rm", "-q", "notes.md")
		}, ""},
		"stashed":                                {func(t *testing.T, dir string) { git(t, dir, "stash", "-qu") }, ""},
		"an edit of what is staged, checked out": {func(t *testing.T, dir string) { git(t, dir, "checkout", "-q", "both.go") }, "both.go edits undone"},
		"what is staged committed, the rest reset": {func(t *testing.T, dir string) {
			git(t, dir, "commit", "-qm", "staged")
			git(t, dir, "reset", "-q", "--hard")
		}, "both.go edits undone, edited.go edits undone"},
		"all of it committed":  {func(t *testing.T, dir string) { git(t, dir, "commit", "-qam", "all") }, ""},
		"stashed, and dropped": {func(t *testing.T, dir string) { git(t, dir, "stash", "-qu"); git(t, dir, "stash", "drop", "-q") }, "both.go deleted, edited.go edits undone, notes.md deleted, staged.go deleted"},
		"another branch":       {func(t *testing.T, dir string) { git(t, dir, "checkout", "-qfb", "other", "main") }, "both.go deleted, edited.go edits undone, staged.go deleted"},
		"the repository":       {remove(".git", "notes.md"), "notes.md deleted"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := underWay(t)
			s := open(t, dir, Options{})
			first := take(t, s)
			c.do(t, dir)
			if got := lossesOf(t, s, first.ID, first.ID); got != c.want {
				t.Errorf("lost %q\nwant %q", got, c.want)
			}
			later := take(t, s)
			if got := lossesOf(t, s, first.ID, later.ID); got != "" {
				t.Errorf("lost again: %q", got)
			}
			before := picture(t, dir)
			r := mustRestore(t, s, first.ID)
			if got := lossesOf(t, s, first.ID, first.ID); got != "" {
				t.Errorf("lost after the restore: %q", got)
			}
			if _, tree := before["notes.md"]; tree && c.want == "" && len(r.Ignored) > 1 {
				t.Errorf("ignored files were written: %q", r.Ignored)
			}
		})
	}
}

// Kept ignored files come back, with their folders and permissions; what tools regenerate is named.
func TestIgnoredFilesComeBack(t *testing.T) {
	dir := underWay(t)
	must(t, os.Chmod(filepath.Join(dir, "app.db"), 0o640))
	s := open(t, dir, Options{})
	first := take(t, s)
	git(t, dir, "clean", "-qffdx")
	write(t, dir, "new.db", "of the agent")
	r := mustRestore(t, s, first.ID)
	for name, want := range map[string]string{"app.db": "SQLite format 3\x00rows", "private/deep/letter": "dear\n"} {
		if got := read(t, dir, name); got != want {
			t.Errorf("%s holds %q", name, got)
		}
	}
	if fi, err := os.Stat(filepath.Join(dir, "app.db")); err != nil || fi.Mode().Perm() != 0o640 {
		t.Errorf("app.db has %v, %v", fi.Mode(), err)
	}
	got := Restored{Ignored: r.Ignored, New: r.New, Uncompared: r.Uncompared, Gone: r.Gone}
	want := Restored{
		Ignored: []string{"app.db", "private/deep/letter", "tool"}, New: []string{"new.db"},
		Uncompared: []string{"build/", "node_modules/", "private/cached/", "private/node_modules/", "x.log"},
		Gone:       []string{"build", "node_modules", "private/cached", "private/node_modules", "x.log"},
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("restored (-want +got):\n%s", d)
	}
	again := take(t, s)
	if more := mustRestore(t, s, again.ID); len(more.Ignored)+len(more.New) > 0 {
		t.Errorf("a tree that is right was written: %q %q", more.Ignored, more.New)
	}
}

// Over the limit the largest ignored files are not kept; they are named when they vanish, and when they change.
func TestIgnoredFilesOverTheLimit(t *testing.T) {
	dir := underWay(t)
	write(t, dir, "large.db", strings.Repeat("x", 600))
	write(t, dir, "larger.db", strings.Repeat("x", 2000))
	s := open(t, dir, Options{MaxIgnored: 500})
	first := take(t, s)
	want := []Skip{{Path: "large.db", Reason: OverKept, Size: 600}, {Path: "larger.db", Reason: OverKept, Size: 2000}}
	if d := cmp.Diff(want, first.Skipped, untimed); d != "" {
		t.Errorf("skipped (-want +got):\n%s", d)
	}
	write(t, dir, "large.db", strings.Repeat("y", 600))
	must(t, os.Remove(filepath.Join(dir, "larger.db")))
	must(t, os.Remove(filepath.Join(dir, "app.db")))
	if got := lossesOf(t, s, first.ID, first.ID); got != "app.db deleted ignored, larger.db deleted ignored unkept" {
		t.Errorf("lost %q", got)
	}
	r := mustRestore(t, s, first.ID)
	if d := cmp.Diff([][]string{{"large.db"}, {"larger.db"}, {"app.db"}}, [][]string{r.Altered, r.Gone, r.Ignored}); d != "" {
		t.Errorf("altered, gone, written (-want +got):\n%s", d)
	}
}

// A kept ignored file that a program has open is left alone and named.
func TestIgnoredFileInUse(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("only Linux says which files are open")
	}
	dir := underWay(t)
	s := open(t, dir, Options{})
	first := take(t, s)
	write(t, dir, "app.db", "changed")
	holder := exec.Command("sh", "-c", `exec 3<"$0"; echo; exec cat`, filepath.Join(dir, "app.db"))
	in, errIn := holder.StdinPipe()
	out, errOut := holder.StdoutPipe()
	must(t, errors.Join(errIn, errOut, holder.Start()))
	_, err := out.Read(make([]byte, 1)) // it has the file open now
	must(t, err)
	r := mustRestore(t, s, first.ID)
	if got := read(t, dir, "app.db"); got != "changed" || !cmp.Equal(r.InUse, []string{"app.db"}) {
		t.Errorf("app.db holds %q, in use: %q", got, r.InUse)
	}
	must(t, in.Close())
	must(t, holder.Wait())
	r = mustRestore(t, s, first.ID)
	if got := read(t, dir, "app.db"); got != "SQLite format 3\x00rows" || len(r.InUse) > 0 {
		t.Errorf("app.db holds %q, in use: %q", got, r.InUse)
	}
}
