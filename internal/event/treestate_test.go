package event

import "testing"

// Where a thing is must be said; of many caches with one name, how many there are.
func TestNamesOfIgnoredPaths(t *testing.T) {
	got := SummarizePaths([]string{".venv/bin/", "a/__pycache__/", "b/__pycache__/", "node_modules/", ".venv/lib64"})
	if want := ".venv/bin/, __pycache__/ (2), node_modules/, .venv/lib64"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}
