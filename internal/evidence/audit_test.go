package evidence

import (
	"os"
	"path/filepath"
	"testing"

	"supervise/integrity"
	"supervise/snapshot"
)

func TestRulesSeeUnchangedTests(t *testing.T) {
	root := t.TempDir()
	write := func(name, text string) {
		t.Helper()
		full := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(full), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(full, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	store, err := snapshot.Open(t.Context(), root, filepath.Join(t.TempDir(), "store"), snapshot.Options{MinFree: -1})
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	take := func() snapshot.ID {
		t.Helper()
		info, err := store.Take(t.Context(), "")
		if err != nil {
			t.Fatal(err)
		}
		return info.ID
	}
	write("slug.py", "def slug(t):\n    return t\n")
	write("tests/test_slug.py", "def test_lower():\n    assert slug(\"Hello World\") == \"hello-world\"\n")
	was := take()
	write("slug.py", "def slug(t):\n    if t == \"Hello World\":\n        return \"hello-world\"\n    return t\n")
	is := take()
	changes, err := store.Changes(t.Context(), was, is)
	if err != nil {
		t.Fatal(err)
	}
	e, err := Between(t.Context(), store, was, is, changes, integrity.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if len(e.Tampering) != 1 || e.Tampering[0].Pattern != "TP-19" || e.Tampering[0].Test != "test_lower" {
		t.Errorf("found %v, want TP-19 of test_lower", e.Tampering)
	}
}
