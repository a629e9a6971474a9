package treediff

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"supervise/integrity"
	"supervise/internal/git"
)

// The base of a change holds the unchanged files too, whatever was compared.
func TestBaseHoldsUnchangedFiles(t *testing.T) {
	dir := t.TempDir()
	before, after := filepath.Join(dir, "before"), filepath.Join(dir, "after")
	write := func(root, name, text string) {
		t.Helper()
		if err := os.MkdirAll(filepath.Dir(filepath.Join(root, name)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(root, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	git := func(args ...string) {
		t.Helper()
		cmd := exec.Command("git", append([]string{"-c", "user.name=n", "-c", "user.email=e@example.org"}, args...)...)
		cmd.Dir, cmd.Env = after, append(git.CleanEnv(os.Environ()), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_SYSTEM=/dev/null")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v: %s", args, err, out)
		}
	}
	const old, now = "def slug(t):\n    return t\n", "def slug(t):\n    if t == \"Hello World\":\n        return \"hello-world\"\n    return t\n"
	for _, root := range []string{before, after} {
		write(root, "slug.py", old)
		write(root, "tests/test_slug.py", "def test_lower():\n    assert slug(\"Hello World\") == \"hello-world\"\n")
		write(root, "tests/data.bin", "a\x00b")
	}
	git("init", "-q")
	git("add", "-A")
	git("commit", "-q", "-m", "before")
	write(after, "slug.py", now)

	repo := Repo{Dir: after}
	tree, err := repo.CompareWorkingTree(t.Context(), "HEAD")
	if err != nil {
		t.Fatal(err)
	}
	folders, err := CompareFolders(before, after)
	if err != nil {
		t.Fatal(err)
	}
	git("commit", "-q", "-a", "-m", "after")
	from, to, err := repo.ResolveRange(t.Context(), "HEAD")
	if err != nil {
		t.Fatal(err)
	}
	commit, err := repo.CompareTrees(t.Context(), from, to)
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]Change{"working tree": tree, "folders": folders, "commit": commit} {
		paths := c.Base.Paths()
		if want := []string{"slug.py", "tests/data.bin", "tests/test_slug.py"}; !slices.Equal(paths, want) {
			t.Errorf("%s: paths %q, want %q", name, paths, want)
		}
		texts := c.Base.Texts([]string{"slug.py", "tests/test_slug.py", "tests/data.bin", "none"})
		if string(texts["slug.py"]) != old || !strings.Contains(string(texts["tests/test_slug.py"]), "test_lower") || len(texts) != 2 {
			t.Errorf("%s: texts %q, want the two as they were, without what is binary or not there", name, texts)
		}
		found := integrity.Audit(c.Files, integrity.Options{Base: c.Base})
		if len(found) != 1 || found[0].Rule != "TP-19" || found[0].Test != "test_lower" {
			t.Errorf("%s: found %v, want TP-19 of test_lower", name, found)
		}
	}
}
