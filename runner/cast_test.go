package runner_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"supervise/runner"
)

// clock advances by step at each look.
type clock struct {
	at   time.Time
	step time.Duration
}

func (c *clock) now() time.Time {
	c.at = c.at.Add(c.step)
	return c.at
}

type event struct {
	seconds    float64
	code, data string
}

// readCast parses a recording; every line has to be JSON of the right shape.
func readCast(t *testing.T, recording []byte) (header map[string]any, events []event) {
	t.Helper()
	lines := bytes.Split(bytes.TrimSuffix(recording, []byte("\n")), []byte("\n"))
	if err := json.Unmarshal(lines[0], &header); err != nil {
		t.Fatalf("header: %v in %q", err, lines[0])
	}
	for _, line := range lines[1:] {
		var e event
		if err := json.Unmarshal(line, &[]any{&e.seconds, &e.code, &e.data}); err != nil {
			t.Fatalf("event: %v in %q", err, line)
		}
		events = append(events, e)
	}
	return header, events
}

func TestCastIsExact(t *testing.T) {
	var buf bytes.Buffer
	c := &clock{at: time.Unix(1000, 0), step: 250 * time.Millisecond}
	cast := runner.NewCast(&buf, 100, 30, c.now)
	for _, p := range []string{"<a>\r\n", "ä"} {
		if _, err := cast.Write([]byte(p)); err != nil {
			t.Fatal(err)
		}
	}
	if err := cast.Resize(80, 24); err != nil {
		t.Fatal(err)
	}
	if err := cast.Close(); err != nil {
		t.Fatal(err)
	}
	want := `{"version":3,"term":{"cols":100,"rows":30},"timestamp":1000}
[0.250000,"o","<a>\r\n"]
[0.250000,"o","ä"]
[0.250000,"r","80x24"]
`
	if buf.String() != want {
		t.Errorf("got\n%s\nwant\n%s", buf.String(), want)
	}
}

// TestCastTearsNothing splits a text at every place.
func TestCastTearsNothing(t *testing.T) {
	const text = "a\x1b[1;31mrot\x1b[0m \x1b]0;titel ✳\x07ü€𝄞 \x1b]8;;http://x\x1b\\link\x1b(Bz\x1b7."
	for i := range len(text) {
		var buf bytes.Buffer
		cast := runner.NewCast(&buf, 0, 0)
		for _, p := range []string{text[:i], text[i:]} {
			if n, err := cast.Write([]byte(p)); err != nil || n != len(p) {
				t.Fatalf("Write: %d, %v", n, err)
			}
		}
		if err := cast.Close(); err != nil {
			t.Fatal(err)
		}
		_, events := readCast(t, buf.Bytes())
		var all strings.Builder
		for _, e := range events {
			all.WriteString(e.data)
			if torn(e.data) {
				t.Errorf("split at %d: event %q is torn", i, e.data)
			}
		}
		if all.String() != text {
			t.Errorf("split at %d: got %q", i, all.String())
		}
	}
}

// torn reports whether an escape sequence of the text above begins in s and
// does not end.
func torn(s string) bool {
	for _, sequence := range []string{"\x1b[1;31m", "\x1b[0m", "\x1b]0;titel ✳\x07", "\x1b]8;;http://x\x1b\\", "\x1b(B", "\x1b7"} {
		s = strings.ReplaceAll(s, sequence, "")
	}
	return strings.Contains(s, "\x1b") || strings.Contains(s, "\ufffd")
}

func TestCastTakesAnything(t *testing.T) {
	var buf bytes.Buffer
	cast := runner.NewCast(&buf, 0, 0)
	for _, p := range []string{"\xff\xfe\x00\x7f\"\\", "\x1b]0;" + strings.Repeat("x", 5000), "\xe2\x82"} {
		if _, err := cast.Write([]byte(p)); err != nil {
			t.Fatal(err)
		}
	}
	if err := cast.Close(); err != nil {
		t.Fatal(err)
	}
	_, events := readCast(t, buf.Bytes())
	if len(events) == 0 || !strings.HasPrefix(events[0].data, "\ufffd\ufffd\x00\x7f\"\\") || !strings.HasSuffix(joined(events), strings.Repeat("x", 5000)+"\ufffd\ufffd") {
		t.Errorf("got %.200v", events)
	}
}

func joined(events []event) string {
	var all strings.Builder
	for _, e := range events {
		if e.code == "o" {
			all.WriteString(e.data)
		}
	}
	return all.String()
}

func TestCastReportsItsWriter(t *testing.T) {
	cast := runner.NewCast(fullDisk{}, 0, 0)
	if _, err := cast.Write([]byte("x")); !errors.Is(err, errNoSpace) {
		t.Errorf("Write: got %v", err)
	}
	if err := cast.Close(); !errors.Is(err, errNoSpace) {
		t.Errorf("Close: got %v", err)
	}
}

var errNoSpace = errors.New("no space")

type fullDisk struct{}

func (fullDisk) Write([]byte) (int, error) { return 0, errNoSpace }

func TestEmptyCastHasAHeader(t *testing.T) {
	var buf bytes.Buffer
	if err := runner.NewCast(&buf, 0, 0).Close(); err != nil {
		t.Fatal(err)
	}
	header, events := readCast(t, buf.Bytes())
	if header["version"] != 3.0 || len(events) != 0 {
		t.Errorf("got %v and %v", header, events)
	}
}

func TestTail(t *testing.T) {
	for _, tc := range []struct {
		name   string
		limit  int
		pieces []string
		want   string
	}{
		{"nothing", 4, nil, ""},
		{"less", 4, []string{"ab"}, "ab"},
		{"exactly", 4, []string{"ab", "cd"}, "abcd"},
		{"one more", 4, []string{"abcd", "e"}, "bcde"},
		{"wraps", 4, []string{"abc", "defgh", "ij"}, "ghij"},
		{"one longer piece", 4, []string{"a", "bcdefgh"}, "efgh"},
		{"after a longer piece", 4, []string{"ab", "c", "defghi", "j", "kl"}, "ijkl"},
		{"default", 0, []string{strings.Repeat("x", 1000)}, strings.Repeat("x", 1000)},
	} {
		t.Run(tc.name, func(t *testing.T) {
			tail := runner.NewTail(tc.limit)
			for _, p := range tc.pieces {
				n, err := tail.Write([]byte(p))
				if err != nil || n != len(p) {
					t.Fatalf("Write: %d, %v", n, err)
				}
			}
			if tail.String() != tc.want {
				t.Errorf("got %q, want %q", tail, tc.want)
			}
		})
	}
}

func TestCauseText(t *testing.T) {
	for c := runner.NotStarted; c <= runner.Interrupted; c++ {
		text, err := json.Marshal(c)
		if err != nil {
			t.Fatal(err)
		}
		var back runner.Cause
		if err := json.Unmarshal(text, &back); err != nil || back != c {
			t.Errorf("%s: got %v back, %v", text, back, err)
		}
	}
	var c runner.Cause
	if err := c.UnmarshalText([]byte("bored")); err == nil {
		t.Error("an unknown cause was read")
	}
}

// FuzzCast divides any bytes anywhere: the recording is always JSON, and holds
// them all.
func FuzzCast(f *testing.F) {
	f.Add([]byte("a\x1b[1;31mrot\x1b]0;t\x07ü€\xff\xe2\x82 \x1b\\\x7f\"\\\x00"), uint8(3))
	f.Fuzz(func(t *testing.T, text []byte, step uint8) {
		var buf bytes.Buffer
		cast := runner.NewCast(&buf, 0, 0)
		for rest := text; len(rest) > 0; {
			n := min(len(rest), int(step)+1)
			if _, err := cast.Write(rest[:n]); err != nil {
				t.Fatal(err)
			}
			rest = rest[n:]
		}
		if err := cast.Close(); err != nil {
			t.Fatal(err)
		}
		if _, events := readCast(t, buf.Bytes()); joined(events) != string([]rune(string(text))) {
			t.Errorf("got %q of %q", joined(events), text)
		}
	})
}
