package runner_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"supervise/runner"
)

var secrets = []runner.Secret{
	{Name: "API_KEY", Value: "sk-live-0123456789"},
	{Name: "API_KEY_OLD", Value: "sk-live-0123456789-old"}, // begins with the one before
	{Name: "TOKEN", Value: "9-oldfriend-token"},            // begins with the end of the one before
	{Name: "REPEATS", Value: "aaaaaaaaab"},
	{Name: "PEM", Value: "-----BEGIN KEY-----\nMIIabcdef\n-----END KEY-----\n"},
	{Name: "SHORT", Value: "1234567"},
}

const maskedText = "<sk-live-0123456789> <sk-live-0123456789-old> sk-live-012345678 9-oldfriend-token aaaaaaaaaaaaaaab " +
	"-----BEGIN KEY-----\r\nMIIabcdef\r\n-----END KEY-----\r\n 1234567 sk-live-0123456789-oldfriend-token ä."

const maskedWant = "<[API_KEY]> <[API_KEY_OLD]> sk-live-012345678 [TOKEN] aaaaaa[REPEATS] [PEM]\r\n 1234567 [API_KEY_OLD]friend-token ä."

func TestMask(t *testing.T) {
	m := runner.NewMasker(secrets)
	if got := m.String(maskedText); got != maskedWant {
		t.Errorf("String:\n got %q\nwant %q", got, maskedWant)
	}
	if got := (*runner.Masker)(nil).String(maskedText); got != maskedText {
		t.Errorf("without secrets: got %q", got)
	}
	if got := runner.NewMasker([]runner.Secret{{Name: "A", Value: "short"}}).String("a short value"); got != "a short value" {
		t.Errorf("a short value is looked for: %q", got)
	}
}

// write writes text in pieces that end at the given places and returns what came through.
func writeMasked(t *testing.T, m *runner.Masker, text string, ends ...int) string {
	t.Helper()
	var out bytes.Buffer
	w := m.Writer(&out)
	from := 0
	for _, end := range append(ends, len(text)) {
		if n, err := w.Write([]byte(text[from:end])); err != nil || n != end-from {
			t.Fatalf("Write: %d, %v", n, err)
		}
		from = end
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// TestMaskAcrossWrites divides the text at every two places, and at all.
func TestMaskAcrossWrites(t *testing.T) {
	m := runner.NewMasker(secrets)
	for i := range len(maskedText) {
		for j := i; j < len(maskedText); j += 3 {
			if got := writeMasked(t, m, maskedText, i, j); got != maskedWant {
				t.Fatalf("divided at %d and %d:\n got %q\nwant %q", i, j, got, maskedWant)
			}
		}
	}
	var all []int
	for i := range len(maskedText) {
		all = append(all, i)
	}
	if got := writeMasked(t, m, maskedText, all...); got != maskedWant {
		t.Errorf("byte by byte:\n got %q\nwant %q", got, maskedWant)
	}
}

// TestMaskAtTheEnd: a secret that the end cuts off is one as soon as it is of
// use, and ordinary text does not wait.
func TestMaskAtTheEnd(t *testing.T) {
	m := runner.NewMasker(secrets)
	for text, want := range map[string]string{
		"x sk-live": "x sk-live", "x sk-live-": "x [API_KEY_OLD]", "x sk-live-0123456789": "x [API_KEY]", "x sk-live-0123456789-ol": "x [API_KEY]-ol",
	} {
		if got := writeMasked(t, m, text); got != want {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
	}
	var out bytes.Buffer
	w := m.Writer(&out)
	if _, err := w.Write([]byte("nothing of it ")); err != nil || out.String() != "nothing of it " {
		t.Errorf("held back: %q of it came, %v", out.String(), err)
	}
}

func TestMaskManySecrets(t *testing.T) {
	var many []runner.Secret
	var text, want strings.Builder
	random := rand.New(rand.NewPCG(1, 2))
	for i := range 500 {
		value := fmt.Sprintf("v%08x%08x", random.Uint32(), random.Uint32())
		many = append(many, runner.Secret{Name: fmt.Sprint("S", i), Value: value})
		fmt.Fprintf(&text, "%d %s\r\n", i, value)
		fmt.Fprintf(&want, "%d [S%d]\r\n", i, i)
	}
	m := runner.NewMasker(many)
	if got := writeMasked(t, m, text.String(), 1000, 1001, 5000); got != want.String() {
		t.Error("not all of 500 secrets are masked")
	}
}

// FuzzMask holds the writer to the text masked as a full, and looks for what
// must not be there.
func FuzzMask(f *testing.F) {
	f.Add("secret-1 abcabcabcabcab", "abcabcabcab", "abcabcabd", uint8(3))
	f.Add(maskedText, secrets[0].Value, secrets[1].Value, uint8(7))
	f.Add("a ghp_0123456789abcdefghijABCDEFGHIJ456789, -----BEGIN RSA PRIVATE KEY-----\n"+strings.Repeat("MIIabc0/", 12)+"\n-----END", "", "", uint8(5))
	f.Fuzz(func(t *testing.T, text, one, two string, step uint8) {
		m := runner.NewMasker([]runner.Secret{{Name: "1", Value: one}, {Name: "2", Value: two}})
		var ends []int
		for i := 0; i < len(text); i += int(step)%13 + 1 {
			ends = append(ends, i)
		}
		got := writeMasked(t, m, text, ends...)
		full := m.String(text)
		if got != full && !strings.HasSuffix(got, "]") { // the end may be cut off within a secret
			t.Errorf("divided %q, full %q", got, full)
		}
	})
}
