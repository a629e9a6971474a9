package runner

import (
	"bytes"
	"context"
	"os"
	"strings"
	"testing"

	"github.com/creack/pty"
	"github.com/google/go-cmp/cmp"
)

// TestLineEnds: a terminal ends lines as programs have set it, also where the
// carriage returns are put by us.
func TestLineEnds(t *testing.T) {
	for _, tc := range []struct{ name, script, want string }{
		{"text", `printf 'one\ntwo\r\n\nthree'`, "one\r\ntwo\r\n\r\nthree"},
		{"without processing", `stty -opost; printf 'one\ntwo\r\n'`, "one\ntwo\r\n"},
		{"with the system's processing", `stty onlcr; printf 'one\ntwo\n'`, "one\r\ntwo\r\n"},
		{"put back by stty", `old=$(stty -g); stty raw; stty "$old"; printf 'one\ntwo\n'`, "one\r\ntwo\r\n"},
		{"set to what is usual", `stty sane; printf 'one\ntwo\n'`, "one\r\ntwo\r\n"},
		{"nobody looks", `stty -a | tr ' ' '\n' | grep onlcr`, "-onlcr\r\n"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, printed(t, tc.script, nil)); diff != "" {
				t.Errorf("what arrived (-want +got):\n%s", diff)
			}
		})
	}
	t.Run("somebody looks", func(t *testing.T) {
		master, slave, err := pty.Open()
		if err != nil {
			t.Fatal(err)
		}
		defer master.Close()
		defer slave.Close()
		if got := printed(t, `stty -a | tr ' ' '\n' | grep onlcr`, slave); got != "onlcr\r\n" {
			t.Errorf("a terminal that is shown is not an ordinary one: %q", got)
		}
	})
}

// printed returns what arrives of what a script prints on a terminal that is shown
// on out.
func printed(t *testing.T, script string, out *os.File) string {
	t.Helper()
	var b bytes.Buffer
	_, err := Run(context.Background(), Command{Args: []string{"/bin/sh", "-c", script}, Terminal: &Terminal{Out: out}, Stdout: &b})
	if err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// TestReturnsInPieces: where the pieces end that are read makes no difference.
func TestReturnsInPieces(t *testing.T) {
	const text = "\na\r\n\n\r\r\nbc\rd\ne"
	const want = "\r\na\r\n\r\n\r\r\nbc\rd\r\ne"
	for size := 1; size <= len(text); size++ {
		var r returnInserter
		var got strings.Builder
		for rest := text; rest != ""; {
			n := min(size, len(rest))
			got.Write(r.insertReturns([]byte(rest[:n]), true))
			rest = rest[n:]
		}
		if got.String() != want {
			t.Errorf("in pieces of %d: %q, want %q", size, got.String(), want)
		}
	}
}

// TestLineEndsChange: what a program printed before it changed its terminal is not
// mixed with what it prints after that.
func TestLineEndsChange(t *testing.T) {
	b := newBatch()
	go func() {
		defer b.close()
		for _, text := range []string{"a\n", "b\n"} {
			b.put([]byte(text), true)
			b.put([]byte(text), false)
		}
	}()
	var got strings.Builder
	var r returnInserter
	for p, bare := b.take(); p != nil; p, bare = b.take() {
		got.Write(r.insertReturns(p, bare))
	}
	if want := "a\r\na\nb\r\nb\n"; got.String() != want {
		t.Errorf("got %q, want %q", got.String(), want)
	}
}
