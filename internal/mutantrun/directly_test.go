package mutantrun

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"supervise/internal/measure"
)

// A program of the dependencies is started without its package manager: that of the
// nearest folder, with the folder on PATH as package managers have it.
func TestDirectly(t *testing.T) {
	root := t.TempDir()
	for _, name := range []string{"node_modules/.bin/mocha", "node_modules/.bin/tape", "part/node_modules/.bin/tape"} {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(root, name)), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(root, name), []byte("#!/bin/sh\n"), 0o700); err != nil { //nolint:gosec // a program
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(root, "part/.nycrc"), []byte(`{"require": ["ts-node/register"]}`), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct{ dir, command, want, path string }{
		{".", "npx --no-install tape test/*.js", "node_modules/.bin/tape test/*.js", "node_modules/.bin"},
		{"part", "pnpm exec tape x", "part/node_modules/.bin/tape x", "part/node_modules/.bin"},
		{"part", "npx --no-install mocha", "node_modules/.bin/mocha", "node_modules/.bin"},
		{".", "npx --no-install c8 --reporter=json mocha x", "node_modules/.bin/mocha x", "node_modules/.bin"},
		{".", "npx --no-install nyc --reporter=json mocha x", "node_modules/.bin/mocha x", "node_modules/.bin"},
		{"part", "npx --no-install nyc --reporter=json mocha x", "npx --no-install nyc --reporter=json mocha x", ""},
		{".", "npx --no-install c8 --reporter json mocha", "npx --no-install c8 --reporter json mocha", ""},
		{".", "npx --no-install jest", "npx --no-install jest", ""},
		{".", "npx --no-install --yes tape", "npx --no-install --yes tape", ""},
		{".", "npm test", "npm test", ""},
	} {
		got := startDirectly(root, "/bin", measure.Check{Dir: tt.dir, Command: strings.Fields(tt.command)})
		if line := strings.ReplaceAll(strings.Join(got.Command, " "), root+"/", ""); line != tt.want {
			t.Errorf("%s in %s: %s, want %s", tt.command, tt.dir, line, tt.want)
		}
		path := ""
		if len(got.Env) > 0 {
			path = strings.ReplaceAll(got.Env[0], root+"/", "")
		}
		if want := tt.path; want != "" && path != "PATH="+want+":/bin" || want == "" && path != "" {
			t.Errorf("%s in %s: %s", tt.command, tt.dir, path)
		}
	}
}
