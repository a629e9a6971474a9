package integrity_test

import (
	"testing"

	"supervise/integrity"
)

func TestUnsilenced(t *testing.T) {
	for _, tt := range []struct{ name, path, was, is, want string }{
		{"one came", "a.go", "package a\n\nvar a = 1\n", "package a\n\nvar a = 1 //nolint:all\n", "package a\n\nvar a = 1 //xxxxxx:all\n"},
		{"beside one that was there", "a.go", "package a\n\nvar b = 1 //nolint:x\n", "package a\n\nvar a = 1 //nolint:y\nvar b = 1 //nolint:x\n", "package a\n\nvar a = 1 //xxxxxx:y\nvar b = 1 //nolint:x\n"},
		{"Python", "a.py", "import os\n", "import os  # noqa: F401\n", "import os  # xxxx: F401\n"},
		{"a block", "a.js", "f()\n", "/* eslint-disable */\nf()\n", "/* xxxxxxxxxxxxxx */\nf()\n"},
		{"an annotation stays", "a.rs", "fn a() {}\n", "#[allow(dead_code)]\nfn a() {}\n", ""},
		{"coverage stays", "a.py", "a = 1\n", "a = 1  # pragma: no cover\n", ""},
		{"one went", "a.go", "package a\n\nvar a = 1 //nolint:all\n", "package a\n\nvar a = 1\n", ""},
		{"in a text", "a.go", "package a\n", "package a\n\nvar a = \"//nolint:all\"\n", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := string(integrity.Unsilenced([]integrity.File{{Path: tt.path, Before: []byte(tt.was), After: []byte(tt.is)}})[tt.path])
			if got != tt.want {
				t.Errorf("%q, want %q", got, tt.want)
			}
		})
	}
}

// A comment that only moved to another file did not come.
func TestUnsilencedLeavesWhatMoved(t *testing.T) {
	with, without := []byte("package a\n\nvar a = 1 //nolint:all\n"), []byte("package a\n")
	moved := []integrity.File{{Path: "a.go", Before: with, After: without}, {Path: "b.go", Before: without, After: with}}
	if got := integrity.Unsilenced(moved); len(got) > 0 {
		t.Errorf("crossed out: %q", got)
	}
}
