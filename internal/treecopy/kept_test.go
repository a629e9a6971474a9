package treecopy_test

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"supervise/internal/treecopy"
	"supervise/snapshot"
)

// A kept copy has the files of each snapshot, keeps what tools built at first and the times of files
// that do not change, and nothing else that was left there.
func TestKeptCopy(t *testing.T) {
	root := t.TempDir()
	store, err := snapshot.Open(t.Context(), root, filepath.Join(t.TempDir(), "store"), snapshot.Options{MinFree: -1})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = store.Close() })
	take := func(files map[string]string) snapshot.ID {
		for name, text := range files {
			write(t, filepath.Join(root, name), text)
		}
		info, err := store.Take(t.Context(), "test")
		if err != nil {
			t.Fatal(err)
		}
		return info.ID
	}
	one := take(map[string]string{"shop.go": "one", "lib/price.go": "price"})
	two := take(map[string]string{"shop.go": "two", "new/tax.go": "tax"})
	kept := &treecopy.Kept{}
	w := treecopy.Workspace{Store: store, Root: root, Scratch: t.TempDir(), Kept: kept}
	use := func(id snapshot.ID, work func(tree treecopy.Tree)) {
		t.Helper()
		err := w.WithKept(t.Context(), id, func(tree treecopy.Tree) error {
			work(tree)
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	var first string
	use(one, func(tree treecopy.Tree) {
		first = tree.Path
		write(t, filepath.Join(tree.Path, "build/object"), "1") // what a tool builds
		write(t, filepath.Join(tree.Path, "lib/price.go"), "changed by a check")
		if got := changed(t.Context(), t, kept, tree); !slices.Equal(got, []string{"lib/price.go"}) {
			t.Errorf("changed: %v", got)
		}
	})
	use(two, func(tree treecopy.Tree) {
		if tree.Path != first {
			t.Errorf("the copy moved from %s to %s", first, tree.Path)
		}
		expect(t, tree.Path, map[string]string{"shop.go": "two", "lib/price.go": "price", "new/tax.go": "tax", "build/object": "1"})
		write(t, filepath.Join(tree.Path, "answers.json"), "left")
		write(t, filepath.Join(tree.Path, "build/object"), "2")
	})
	before, err := os.Stat(filepath.Join(first, "lib/price.go"))
	if err != nil {
		t.Fatal(err)
	}
	use(one, func(tree treecopy.Tree) {
		expect(t, tree.Path, map[string]string{"shop.go": "one", "lib/price.go": "price", "build/object": "2", "new/tax.go": "", "new": "", "answers.json": ""})
		if info, err := os.Stat(filepath.Join(tree.Path, "lib/price.go")); err != nil || !info.ModTime().Equal(before.ModTime()) {
			t.Errorf("a file that did not change was written again: %v", err)
		}
	})
	if err := kept.Remove(); err != nil {
		t.Fatal(err)
	}
	expect(t, first, map[string]string{".": ""})
}

func write(t *testing.T, file, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func changed(ctx context.Context, t *testing.T, k *treecopy.Kept, tree treecopy.Tree) []string {
	t.Helper()
	out, err := k.Changed(ctx, tree)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// expect compares files with their texts; "" says that there is none.
func expect(t *testing.T, dir string, files map[string]string) {
	t.Helper()
	for name, want := range files {
		text, err := os.ReadFile(filepath.Join(dir, name))
		if _, missing := os.Lstat(filepath.Join(dir, name)); string(text) != want || (want == "") != (missing != nil) { // want is empty if nothing may be there
			t.Errorf("%s: %q, want %q (%v)", name, text, want, err)
		}
	}
}
