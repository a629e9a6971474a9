package originaltests

import (
	"os"
	"path/filepath"
	"testing"

	"supervise/internal/treecopy"
)

// An empty file, and one that a formatter changed, say the same as the original.
func TestRewrittenOriginal(t *testing.T) {
	r := trialRun{tree: treecopy.Tree{Path: t.TempDir()}, laid: map[string][]byte{"a.py": []byte("x = 1\n"), "empty.py": nil}}
	for _, c := range []struct{ text, want string }{{"x = 1\n", ""}, {"x=1  # formatted\n", ""}, {"x = 2\n", "a.py"}} {
		for name, text := range map[string]string{"a.py": c.text, "empty.py": ""} {
			if err := os.WriteFile(filepath.Join(r.tree.Path, name), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if got := r.rewrittenOriginal(); got != c.want {
			t.Errorf("%q: got %q, want %q", c.text, got, c.want)
		}
	}
	if err := os.Remove(filepath.Join(r.tree.Path, "empty.py")); err != nil {
		t.Fatal(err)
	}
	if got := r.rewrittenOriginal(); got == "" {
		t.Error("a deleted original is not found")
	}
}
