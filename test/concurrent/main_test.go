package main

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// A package is found by what it does, without any list to add it to.
func TestConcurrent(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"go.mod":                     "module m\n\ngo 1.26\n",
		"statement/a.go":             "package statement\n\nfunc f() { go f() }\n",
		"closure/a.go":               "package closure\n\nfunc f() {\n\tdefer func() {\n\t\tgo func() {}()\n\t}()\n}\n",
		"group/a.go":                 "package group\n\nimport \"sync\"\n\nfunc f(w *sync.WaitGroup) { w.Go(func() {}) }\n",
		"errors/a.go":                "package errors\n\nimport eg \"golang.org/x/sync/errgroup\"\n\nvar g eg.Group\n",
		"shared/a.go":                "package shared\n\nimport \"sync/atomic\"\n\nvar n atomic.Int64\n",
		"tested/a.go":                "package tested\n",
		"tested/a_test.go":           "package tested\n\nfunc f() { go f() }\n",
		"outer/a.go":                 "package outer\n",
		"outer/internal/a/a.go":      "package a\n",
		"outer/internal/a/b/b.go":    "package b\n\nfunc f() { go f() }\n",
		"once/a.go":                  "package once\n\nimport \"sync\"\n\nvar v = sync.OnceValue(func() int { return 1 })\n",
		"text/a.go":                  "package text\n\nvar s = `\ngo f()\nsync.Mutex`\n",
		"statement/testdata/x/x.go":  "package x\n\nfunc f() { go f() }\n",
		"outerother/internal/x/x.go": "package x\n",
	} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("GOFLAGS", "-mod=mod -e")
	got, err := concurrent(dir, "./...")
	want := []string{"m/closure", "m/errors", "m/group", "m/outer", "m/outer/internal/a/b", "m/shared", "m/statement", "m/tested"}
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("got %q, %v, want %q", got, err, want)
	}
}
