package originaltests

import (
	"testing"

	"supervise/internal/treecopy"
)

func TestFirstLineOfAMessage(t *testing.T) {
	r := &trialRun{tree: treecopy.Tree{Path: "/copy"}}
	for text, want := range map[string]string{
		"":                           "",
		"\n  /copy/a.py:3: no\nmore": "a.py:3: no",
		"got:\nA\nwant:\na\n":        "got: A, want: a",
		"got:\nA\nB\nwant:\na\n":     "got: A",
		"a.go:1: got 1\n  Trace:\nx": "a.go:1: got 1",
		"AssertionError:\n\n1 != 2":  "AssertionError: 1 != 2",
	} {
		if got := r.firstLine(text); got != want {
			t.Errorf("%q: %q, not %q", text, got, want)
		}
	}
}
