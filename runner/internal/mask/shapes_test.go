package mask

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
)

// sample returns a key of the shape. The file holds none, since tools look for them.
func (s shape) sample() string {
	var body strings.Builder
	for n := 7; body.Len() < s.minLength-len(s.inner); n++ {
		if c := byte(n*37%75 + '0'); s.set[c] && alphabets["alnum"] != "" && wordBytes[c] {
			body.WriteByte(c)
		}
	}
	return s.prefix + body.String()[:body.Len()/2] + s.inner + body.String()[body.Len()/2:]
}

func pem(kind string) string {
	return "-----BEGIN " + kind + "-----\n" + strings.Repeat(strings.Repeat("MIIabc0/", 8)+"\n", 3) + "-----END " + kind + "-----"
}

// TestShapesOfKeys masks a key of each shape: in words, in JSON, behind colours and in
// URLs, as a full and in pieces of every length.
func TestShapesOfKeys(t *testing.T) {
	m := NewMasker(nil)
	keys := map[string]string{pem("RSA PRIVATE KEY"): "private-key", pem("PRIVATE KEY"): "private-key", strings.ReplaceAll(pem("OPENSSH PRIVATE KEY"), "\n", `\n`): "private-key"}
	for _, list := range shapes().byFirstByte {
		for _, s := range list {
			keys[s.sample()] = s.name
		}
	}
	if len(keys) < 110 {
		t.Fatalf("%d shapes are known", len(keys))
	}
	for key, name := range keys {
		for _, around := range []string{"key: %s, and more", `{"text":"a\n%s"}`, "\x1b[1;32m%s\x1b[0m", "https://x?k=%s&a=1", "K=%%3D%s ", "+%s\r\n-%s"} {
			text, want := strings.ReplaceAll(around, "%s", key), strings.ReplaceAll(around, "%s", "["+name+"]")
			if got := m.String(text); got != want {
				t.Errorf("got %q, want %q", got, want)
			}
			for size := range len(text) {
				if got := inPieces(t, m, text, size+1); got != want {
					t.Fatalf("pieces of %d: got %q, want %q", size+1, got, want)
				}
			}
		}
	}
}

func inPieces(t *testing.T, m *Masker, text string, size int) string {
	t.Helper()
	var out bytes.Buffer
	w := m.Writer(&out)
	for len(text) > 0 {
		n := min(size, len(text))
		if _, err := w.Write([]byte(text[:n])); err != nil {
			t.Fatal(err)
		}
		text = text[n:]
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// TestKeysThatAreNone: ordinary text stays, and does not wait.
func TestKeysThatAreNone(t *testing.T) {
	m := NewMasker(nil)
	for _, text := range []string{
		"a task-runner-with-a-long-name-2 and risk-averse-configuration-2000", "sk-the-quick-brown-fox-jumps", "go.opentelemetry.io/otel/sdk/trace.TestSpan",
		"AKIA and ghp_ and sk-ant- and eyJ", "ghp_tooshort1", "/usr/lib/python3/dist-packages/_pytest/assertion/rewrite.py:186",
		"if strings.Contains(s, \"-----BEGIN RSA PRIVATE KEY-----\") {", "-----BEGIN CERTIFICATE-----\nMIIabc\n-----END CERTIFICATE-----",
		"-------------------- Captured stdout --------------------", "0123456789abcdef0123456789abcdef01234567", "the PRIVATE KEY is not here", "eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9aaaaaaaaaaaaaaaaaaaaa",
	} {
		if got := m.String(text); got != text {
			t.Errorf("%q became %q", text, got)
		}
		for size := range 7 {
			if got := inPieces(t, m, text, size+1); got != text {
				t.Errorf("pieces of %d: %q became %q", size+1, text, got)
			}
		}
	}
	var out bytes.Buffer
	if _, _ = m.Writer(&out).Write([]byte("running tests ....")); out.String() != "running tests ...." {
		t.Errorf("held back: %q came", out.String())
	}
}

// TestEndlessKeys: a key of any length is masked, and is neither kept nor looked at again
// and again.
func TestEndlessKeys(t *testing.T) {
	if testing.Short() {
		t.Skip("it looks for time and memory, not for races")
	}
	m := NewMasker(nil)
	for _, text := range []string{
		"x " + "ghp_" + strings.Repeat("a1", 1<<20), "x " + strings.TrimSuffix(pem("PRIVATE KEY"), "-----END PRIVATE KEY-----") + strings.Repeat("MIIa", 1<<20),
		"x " + "eyJ" + strings.Repeat("-eyJ", 1<<18), strings.Repeat("-----BEGIN PRIVATE KEY", 1<<15), strings.Repeat("sk-", 1<<19),
	} {
		if got, full := inPieces(t, m, text, 4096), m.String(text); len(text) > 1<<21 && len(got) > 100 || strings.HasPrefix(text, "x ghp") && got != full {
			t.Errorf("%.40q became %.40q, %d bytes; full %.40q", text, got, len(got), full)
		}
	}
}

func BenchmarkKeys(b *testing.B) {
	m := NewMasker(nil)
	var prose bytes.Buffer
	for i := range 1000 {
		fmt.Fprintf(&prose, "--- PASS: TestSomething/with_a_case_%d (0.00s)\n    /home/user/project/internal/pkg/file_test.go:%d: the value is as it was before\n", i, i)
	}
	var one [1]byte
	b.Run("reference", func(b *testing.B) { // a table looked up for each byte
		b.SetBytes(int64(prose.Len()))
		for b.Loop() {
			for _, c := range prose.Bytes() {
				if !keyBytes[c] {
					one[0]++
				}
			}
		}
	})
	for name, text := range map[string][]byte{"prose": prose.Bytes(), "run": bytes.Repeat([]byte("abcdefgh"), 1<<14), "dots": bytes.Repeat([]byte("."), 1<<17)} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			w := m.Writer(discard{})
			for b.Loop() {
				for at := 0; at < len(text); at += 4096 {
					_, _ = w.Write(text[at:min(len(text), at+4096)])
				}
			}
		})
	}
}

type discard struct{}

func (discard) Write(p []byte) (int, error) { return len(p), nil }
