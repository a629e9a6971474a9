package originaltests

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"supervise/internal/treecopy"
)

func writeAll(t *testing.T, dir string, list files) {
	t.Helper()
	for name, text := range list {
		full := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(full), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(full, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// What is laid over a tree stays in it, whatever the tree links to.
func TestHiddenFilesAreLaidIntoTheTreeAlone(t *testing.T) {
	dir, tree, other := t.TempDir(), t.TempDir(), t.TempDir()
	writeAll(t, dir, files{"a/hidden_test.go": "hidden", ".git/config": "no test", "b/c.txt": "hidden"})
	writeAll(t, tree, files{"a/a.go": "code", "b/c.txt": "code"})
	writeAll(t, other, files{"mine": "mine"})
	link := filepath.Join(tree, "a", "hidden_test.go")
	if err := os.Symlink(filepath.Join(other, "mine"), link); err != nil {
		t.Fatal(err)
	}
	list, err := ReadHiddenFiles(dir)
	if err != nil {
		t.Fatal(err)
	}
	if err := treecopy.Files(list).Write(tree); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{
		link: "hidden", filepath.Join(tree, "b/c.txt"): "hidden", filepath.Join(tree, "a/a.go"): "code", filepath.Join(other, "mine"): "mine",
	} {
		if got, err := os.ReadFile(path); err != nil || string(got) != want {
			t.Errorf("%s holds %q (%v), want %q", path, got, err, want)
		}
	}
	if _, err := os.Lstat(filepath.Join(tree, ".git")); err == nil {
		t.Error(".git of the hidden tests was laid over the tree")
	}
	escaping := t.TempDir()
	if err := os.Symlink(other, filepath.Join(escaping, "a")); err != nil {
		t.Fatal(err)
	}
	if err := treecopy.Files(list).Write(escaping); err == nil {
		t.Error("a folder of the tree that leads out of it is written to")
	}
}

func TestHiddenFilesHaveASum(t *testing.T) {
	sum := func(list files) string {
		dir := t.TempDir()
		writeAll(t, dir, list)
		l, err := ReadHiddenFiles(dir)
		if err != nil {
			t.Fatal(err)
		}
		return l.Sum()
	}
	was := sum(files{"a": "1", "b": "2"})
	if again := sum(files{"b": "2", "a": "1"}); again != was {
		t.Error("the same files have two sums")
	}
	for _, other := range []files{{"a": "1"}, {"a": "1", "b": "3"}, {"a": "1", "c": "2"}, {"a": "12", "b": ""}} {
		if sum(other) == was {
			t.Errorf("%v has the sum of other files", other)
		}
	}
}

func TestHiddenFilesThatCannotBeUsed(t *testing.T) {
	empty := t.TempDir()
	for dir, want := range map[string]string{empty: "there is no file in", filepath.Join(empty, "gone"): "gone"} {
		if _, err := ReadHiddenFiles(dir); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want an error with %q", err, want)
		}
	}
}
