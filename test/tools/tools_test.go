package tools

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// What is on PATH and does not run is missing, and the message says why.
func TestCheckRunsThePrograms(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"cargo": "#!/bin/sh\necho 'error: rustup could not choose a version of cargo to run' >&2\nexit 1\n",
		"works": "#!/bin/sh\n[ \"$*\" = --version ]\n",
		"tmux":  "#!/bin/sh\n[ \"$*\" = -V ]\n",
		"py":    "#!/bin/sh\n[ \"$*\" = '-m pytest --version' ]\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o755); err != nil { //nolint:gosec // it has to run
			t.Fatal(err)
		}
	}
	t.Setenv("PATH", dir)
	if err := Check("works", "tmux", "py -m pytest"); err != nil {
		t.Error(err)
	}
	for program, want := range map[string]string{"cargo": "could not choose", "absent": "not found"} {
		if err := Check("works", program); err == nil || !strings.Contains(err.Error(), program) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %q", program, err, want)
		}
	}
}
