package protect

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestBesidesLeavesOutWhatIsKept(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"work/tree/src", "work/other", "state/loops", "free"} {
		if err := os.MkdirAll(filepath.Join(dir, name), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for link, to := range map[string]string{"link": "work/tree", "kept": "state"} {
		if err := os.Symlink(filepath.Join(dir, to), filepath.Join(dir, link)); err != nil {
			t.Fatal(err)
		}
	}
	var got []string
	for _, path := range PathsOutside(filepath.Join(dir, "work/tree"), filepath.Join(dir, "kept"), filepath.Join(dir, "gone")) {
		if rel, err := filepath.Rel(dir, path); err == nil && filepath.IsLocal(rel) {
			got = append(got, rel)
		}
		if strings.HasPrefix(dir, path+string(filepath.Separator)) {
			t.Errorf("%s is above what is kept", path)
		}
	}
	if want := []string{"free", "work/other"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestTemporaryFolderAboveTheStateIsNotGivenAway(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	home, tree := filepath.Join(dir, "tmp", "state"), filepath.Join(dir, "tree")
	for _, d := range []string{home, tree, filepath.Join(dir, "tmp", "other")} {
		if err := os.MkdirAll(d, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	got := writableNeighbors(home, tree, filepath.Join(dir, "tmp"))
	for _, path := range got {
		if strings.HasPrefix(home+"/", strings.TrimSuffix(path, "/")+"/") {
			t.Errorf("%s is above the state, or is it", path)
		}
	}
	for _, want := range []string{tree, filepath.Join(dir, "tmp", "other")} {
		if !slices.Contains(got, want) {
			t.Errorf("%s may not be written", want)
		}
	}
}
