package printed_test

import (
	"bufio"
	"io"
	"strings"
	"testing"

	"supervise/internal/measure/internal/printed"
)

// TestFollow reads what is written before it asks, what it waits for, and the end.
func TestFollow(t *testing.T) {
	t.Parallel()
	o, err := printed.Open(t.TempDir(), 1<<20)
	if err != nil {
		t.Fatal(err)
	}
	defer o.Close()
	lines := bufio.NewReader(o.Follow())
	for _, want := range []string{"one\n", "two\n"} {
		go func() { _, _ = io.WriteString(o, want) }()
		if got, err := lines.ReadString('\n'); got != want || err != nil {
			t.Fatalf("read %q, %v; want %q", got, err, want)
		}
	}
	go func() { _ = o.Rewind() }()
	if got, err := lines.ReadString('\n'); got != "" || err != io.EOF {
		t.Errorf("read %q, %v at the end", got, err)
	}
	if text, err := io.ReadAll(o.File()); string(text) != "one\ntwo\n" || err != nil {
		t.Errorf("the file has %q, %v", text, err)
	}
}

// TestFollowTooMuch ends with the reason why the stream is incomplete, and so does one that
// is closed before its command ended.
func TestFollowTooMuch(t *testing.T) {
	t.Parallel()
	o, err := printed.Open(t.TempDir(), 1<<20)
	if err != nil {
		t.Fatal(err)
	}
	out, errs := o.Follow(), o.Errors.Follow()
	go func() { _, _ = io.Copy(o, strings.NewReader(strings.Repeat("x", 2<<20))) }()
	if _, err := io.Copy(io.Discard, out); err == nil || !strings.Contains(err.Error(), "printed more than 1 MB") {
		t.Errorf("too much ended with %v", err)
	}
	go o.Close()
	if n, err := io.Copy(io.Discard, errs); n != 0 || err != nil {
		t.Errorf("a closed stream gave %d bytes and %v", n, err)
	}
}
