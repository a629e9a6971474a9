package replay

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"supervise/internal/checkout"
	"supervise/internal/ledger"
	"supervise/internal/treediff"
	"supervise/snapshot"
)

// world is a separate repository.
type world struct {
	*testing.T
	dir string
}

func newWorld(t *testing.T) world {
	w := world{t, t.TempDir()}
	w.git("init", "-q", "-b", "main")
	return w
}

func (w world) git(args ...string) string {
	w.Helper()
	cmd := exec.Command("git", append([]string{"-c", "user.name=t", "-c", "user.email=t@localhost"}, args...)...)
	cmd.Dir = w.dir
	out, err := cmd.CombinedOutput()
	if err != nil {
		w.Fatalf("git %v: %v\n%s", args, err, out)
	}
	return strings.TrimSpace(string(out))
}

func (w world) write(path, text string) {
	w.Helper()
	full := filepath.Join(w.dir, path)
	if err := os.MkdirAll(filepath.Dir(full), 0o755); err != nil {
		w.Fatal(err)
	}
	if err := os.WriteFile(full, []byte(text), 0o644); err != nil {
		w.Fatal(err)
	}
}

func (w world) commit(subject string) {
	w.Helper()
	w.git("add", "-A")
	w.git("commit", "-q", "--allow-empty", "-m", subject)
}

func subjects(list []Commit) []string {
	var out []string
	for _, c := range list {
		out = append(out, c.Subject)
	}
	return out
}

func TestCommitsAlongFirstParentsWithTheOneBefore(t *testing.T) {
	w := newWorld(t)
	for _, s := range []string{"one", "two", "three"} {
		w.commit(s)
	}
	w.git("checkout", "-q", "-b", "side", "HEAD~1")
	w.commit("on the side")
	w.git("checkout", "-q", "main")
	w.git("merge", "-q", "--no-ff", "-m", "merged", "side")
	w.commit("four")
	for _, test := range []struct {
		span  string
		limit int
		want  []string
	}{
		{"HEAD~2..HEAD", 0, []string{"three", "merged", "four"}},
		{"HEAD~3..HEAD", 1, []string{"merged", "four"}},
		{"HEAD~4..HEAD~3", 0, []string{"one", "two"}},
		{"HEAD~2..", 0, []string{"three", "merged", "four"}},
	} {
		got, err := repo{treediff.Repo{Dir: w.dir}}.commits(t.Context(), test.span, test.limit)
		if err != nil || !slices.Equal(subjects(got), test.want) {
			t.Errorf("%s, at most %d: %v, %v, want %v", test.span, test.limit, subjects(got), err, test.want)
		}
	}
	for _, span := range []string{"HEAD..HEAD~1", "HEAD...HEAD~1", "nowhere..HEAD", "--all..HEAD"} {
		if got, err := (repo{treediff.Repo{Dir: w.dir}}).commits(t.Context(), span, 0); !errors.Is(err, ErrRange) {
			t.Errorf("%s: %v, %v, want ErrRange", span, subjects(got), err)
		}
	}
}

func TestChangesBetweenCommits(t *testing.T) {
	w := newWorld(t)
	w.write("gone.go", "package gone\n")
	w.write("same.go", "package same\n")
	w.write("run.sh", "echo\n")
	w.write("with space\n\"and line\".go", "package a\n")
	w.commit("one")
	w.git("rm", "-q", "gone.go")
	w.write("new/é.go", "package é\n")
	w.write("with space\n\"and line\".go", "")
	w.git("update-index", "--add", "--cacheinfo", "160000,"+w.git("rev-parse", "HEAD")+",module")
	w.git("update-index", "--chmod=+x", "run.sh")
	w.git("add", "new", "with space\n\"and line\".go")
	w.git("commit", "-q", "-m", "two")
	r := repo{treediff.Repo{Dir: w.dir}}
	list, err := r.commits(t.Context(), "HEAD~1..HEAD", 0)
	if err != nil {
		t.Fatal(err)
	}
	d, err := r.diff(t.Context(), list[0], list[1])
	if err != nil {
		t.Fatal(err)
	}
	want := []snapshot.Change{
		{Path: "gone.go", Kind: snapshot.Deleted},
		{Path: "new/é.go", Kind: snapshot.Added},
		{Path: "run.sh", Kind: snapshot.Mode},
		{Path: "with space\n\"and line\".go", Kind: snapshot.Modified},
	}
	if !slices.Equal(d.changes, want) {
		t.Errorf("changes %v, want %v", d.changes, want)
	}
	for _, text := range []struct {
		path  string
		after bool
		want  string
	}{
		{"gone.go", false, "package gone\n"},
		{"new/é.go", true, "package é\n"},
		{"with space\n\"and line\".go", false, "package a\n"},
		{"with space\n\"and line\".go", true, ""},
	} {
		if got, err := d.read(text.path, text.after); err != nil || string(got) != text.want {
			t.Errorf("%q, after %v: %q, %v, want %q", text.path, text.after, got, err, text.want)
		}
	}
}

// A checkout has the commit and nothing else, whatever a check left in it, and
// the repository that it reads is not written to.
func TestCheckoutHasTheCommitAlone(t *testing.T) {
	w := newWorld(t)
	w.write("a.txt", "one\n")
	w.write(".gitignore", "ignored\n")
	w.commit("one")
	w.write("a.txt", "two\n")
	w.commit("two")
	w.write(".git/hooks/post-checkout", "#!/bin/sh\ntouch hooked\n")
	if err := os.Chmod(filepath.Join(w.dir, ".git/hooks/post-checkout"), 0o755); err != nil {
		t.Fatal(err)
	}
	before := listing(t, w.dir)
	r := repo{treediff.Repo{Dir: w.dir}}
	list, err := r.commits(t.Context(), "HEAD~1..HEAD", 0)
	if err != nil {
		t.Fatal(err)
	}
	base := filepath.Join(t.TempDir(), "checkout", "1")
	killed := filepath.Join(base, "tree", "left by one that was killed")
	if err := os.MkdirAll(killed, 0o500); err != nil {
		t.Fatal(err)
	}
	tree, err := checkout.New(t.Context(), r.Dir, base)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := checkout.New(t.Context(), r.Dir, base); !errors.Is(err, ledger.ErrLocked) {
		t.Errorf("a second replay in one place: %v, want ErrLocked", err)
	}
	if err := tree.CheckOut(t.Context(), list[1].ID); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"ignored", "untracked", "a.txt"} {
		if err := os.WriteFile(filepath.Join(tree.Dir, name), []byte("left by a check\n"), 0o444); err != nil && name != "a.txt" {
			t.Fatal(err)
		}
	}
	if err := os.Mkdir(filepath.Join(tree.Dir, "nested"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := tree.CheckOut(t.Context(), list[0].ID); err != nil {
		t.Fatal(err)
	}
	entries, err := os.ReadDir(tree.Dir)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	if want := []string{".git", ".gitignore", "a.txt"}; !slices.Equal(names, want) {
		t.Errorf("the checkout holds %v, want %v", names, want)
	}
	if text, err := os.ReadFile(filepath.Join(tree.Dir, "a.txt")); err != nil || string(text) != "one\n" {
		t.Errorf("a.txt is %q, %v", text, err)
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	cause := errors.New("interrupted")
	cancel(cause)
	if err := tree.CheckOut(ctx, list[1].ID); !errors.Is(err, cause) {
		t.Errorf("interrupted: %v", err)
	}
	if err := tree.Remove(); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(filepath.Dir(base)); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the checkout is still there: %v", err)
	}
	if after := listing(t, w.dir); after != before {
		t.Errorf("the repository was written to:\n%s\nit was\n%s", after, before)
	}
}

// listing names all files below a folder with their sizes and times.
func listing(t *testing.T, dir string) string {
	t.Helper()
	var b strings.Builder
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err == nil {
			b.WriteString(path + " " + info.ModTime().String() + "\n")
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return b.String()
}
