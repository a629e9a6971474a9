package runner_test

import (
	"bytes"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"supervise/runner"
)

// transcribe writes n numbered lines to a transcript of 1 MiB and to a recording
// without a limit. The transcript is not closed.
func transcribe(t *testing.T, n int) (tr *runner.Transcript, path, full string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "transcript.cast")
	tr, err := runner.CreateTranscript(path, 1)
	if err == nil {
		err = tr.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	if tr, err = runner.CreateTranscript(path, 1<<20); err != nil { // over the one that is there
		t.Fatal(err)
	}
	var all bytes.Buffer
	for _, w := range []struct {
		to interface{ Write([]byte) (int, error) }
	}{{tr}, {&all}} {
		c := &clock{at: time.Unix(1000, 0), step: 1234567 * time.Nanosecond}
		cast := runner.NewCast(w.to, 80, 24, c.now)
		for i := range n {
			if _, err := fmt.Fprintf(cast, "line %d \x1b[31m€\x1b[0m\r\n", i); err != nil {
				t.Fatal(err)
			}
		}
		if err := cast.Close(); err != nil {
			t.Fatal(err)
		}
	}
	return tr, path, all.String()
}

func read(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func length(events []event) (seconds float64) {
	for _, e := range events {
		seconds += e.seconds
	}
	return seconds
}

func TestTranscriptKeepsBothEnds(t *testing.T) {
	tr, path, full := transcribe(t, 100_000)
	if err := tr.Close(); err != nil {
		t.Fatal(err)
	}
	text := read(t, path)
	_, events := readCast(t, []byte(text))
	at := strings.Index(text, `,"m","`)
	from := strings.LastIndex(text[:at], "\n") + 1
	to := at + strings.Index(text[at:], "\n") + 1
	var gap int
	if _, err := fmt.Sscanf(text[at:], `,"m","%d bytes`, &gap); err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(full, text[:from]) || !strings.HasSuffix(full, text[to:]) || from+gap+len(text)-to != len(full) {
		t.Errorf("kept %d bytes and %d, left out %d, of %d", from, len(text)-to, gap, len(full))
	}
	if len(text) > 1<<20 || from < 1<<16 || len(text)-to < 3<<18 {
		t.Errorf("%d bytes at the beginning and %d at the end are not what a limit of 1 MiB allows", from, len(text)-to)
	}
	if _, all := readCast(t, []byte(full)); math.Abs(length(all)-length(events)) > 0.001 {
		t.Errorf("lasts %f s, want %f", length(events), length(all))
	}
	wantAlone(t, path)
}

// wantAlone fails when there are files next to the one at path.
func wantAlone(t *testing.T, path string) {
	t.Helper()
	if entries, err := os.ReadDir(filepath.Dir(path)); err != nil || len(entries) != 1 {
		t.Errorf("files %v, %v; want the transcript alone", entries, err)
	}
}

func TestTranscriptBelowItsLimit(t *testing.T) {
	for _, lines := range []int{0, 10, 4_000, 12_000} { // of about 60 bytes
		tr, path, full := transcribe(t, lines)
		if err := tr.Close(); err != nil {
			t.Fatal(err)
		}
		if text := read(t, path); text != full {
			t.Errorf("%d lines: %d bytes differ from the %d of the full", lines, len(text), len(full))
		}
		wantAlone(t, path)
	}
}

// TestTranscriptAtAnyTime: what is there when we die are full recordings, and
// the last line is among them.
func TestTranscriptAtAnyTime(t *testing.T) {
	for _, lines := range []int{1, 5_000, 15_000, 100_000} {
		_, path, _ := transcribe(t, lines)
		files, err := filepath.Glob(filepath.Join(filepath.Dir(path), "*.cast"))
		if err != nil {
			t.Fatal(err)
		}
		found := false
		for _, file := range files {
			header, events := readCast(t, []byte(read(t, file)))
			if header["version"] != 3.0 {
				t.Errorf("%s has the header %v", file, header)
			}
			found = found || strings.HasSuffix(joined(events), fmt.Sprintf("line %d \x1b[31m€\x1b[0m\r\n", lines-1))
		}
		if !found {
			t.Errorf("%d lines: the last is in none of %v", lines, files)
		}
	}
}
