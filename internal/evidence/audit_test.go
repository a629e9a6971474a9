package evidence

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"supervise/integrity"
	"supervise/internal/ledger"
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
	e, err := CompareSnapshots(t.Context(), store, was, is, changes, integrity.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if len(e.Tampering) != 1 || e.Tampering[0].Pattern != "TP-19" || e.Tampering[0].Test != "test_lower" {
		t.Errorf("found %v, want TP-19 of test_lower", e.Tampering)
	}
}

// The changed files are distinguished by their role. Comments in product code do not
// make a change of tests one of the product.
func TestChangedFilesByWhatTheyAreFor(t *testing.T) {
	base := map[string]string{
		"calc.py": "def total():\n    return 5\n", "helpers.py": "def assert_total(x):\n    assert x == 5\n",
		"test_calc.py": "from calc import total\nfrom helpers import assert_total\n", "pytest.ini": "[pytest]\n", "package.json": `{"scripts": {"test": "jest"}}`,
	}
	change := func(files map[string]string) ledger.Evidence {
		t.Helper()
		var changes []snapshot.Change
		for _, name := range slices.Sorted(maps.Keys(files)) {
			changes = append(changes, snapshot.Change{Path: name, Kind: snapshot.Modified})
		}
		tree := integrity.Tree{Paths: func() []string { return slices.Collect(maps.Keys(base)) }, Texts: func(paths []string) map[string][]byte {
			out := map[string][]byte{}
			for _, p := range paths {
				out[p] = []byte(base[p])
			}
			return out
		}}
		e, err := Collect(changes, integrity.Options{Base: tree}, func(path string, after bool) ([]byte, error) {
			if after {
				return []byte(files[path]), nil
			}
			return []byte(base[path]), nil
		})
		if err != nil {
			t.Fatal(err)
		}
		return e
	}
	e := change(map[string]string{
		"helpers.py": "def assert_total(x):\n    pass\n", "pytest.ini": "[pytest]\naddopts = -x\n", "package.json": `{"scripts": {"test": "true"}}`,
		"calc.py": "# adds up\ndef total():\n    return 5\n",
	})
	if !slices.Equal(e.TestFiles, []string{"helpers.py"}) || !slices.Equal(e.RunnerFiles, []string{"package.json", "pytest.ini"}) || !slices.Equal(e.MixedRunnerFiles, []string{"package.json"}) || !e.OnlyTestsChanged {
		t.Errorf("got %q, %q, %q, %t", e.TestFiles, e.RunnerFiles, e.MixedRunnerFiles, e.OnlyTestsChanged)
	}
	if e := change(map[string]string{"helpers.py": "", "calc.py": "def total():\n    return 6\n"}); e.OnlyTestsChanged {
		t.Error("product code changed")
	}
	if e := change(map[string]string{"calc.py": "# adds up\n" + base["calc.py"]}); e.OnlyTestsChanged {
		t.Error("no test changed")
	}
}

// A byte order mark is no part of the first line.
func TestByteOrderMarkIsNoChange(t *testing.T) {
	const text = "def test_a():\n    assert f() == 1\n"
	files, err := ReadChangedFiles([]snapshot.Change{{Path: "test_a.py", Kind: snapshot.Modified}}, func(_ string, current bool) ([]byte, error) {
		if current {
			return []byte("\ufeff" + text), nil
		}
		return []byte(text), nil
	})
	if err != nil || len(files) != 1 || string(files[0].After) != text {
		t.Errorf("files %+v, %v; want the text without the mark", files, err)
	}
}
