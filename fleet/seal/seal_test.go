package seal

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"go.temporal.io/sdk/temporal"
)

func with(value string) func(string) string {
	return func(name string) string {
		if name == KeyVariable {
			return value
		}
		return ""
	}
}

// TestSealed keeps texts and errors from who has no key, or another one.
func TestSealed(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "key")
	if err := os.WriteFile(file, []byte(strings.Repeat("ab", 32)+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	data, failures, err := Converters(with(strings.Repeat("ab", 32)))
	if err != nil {
		t.Fatal(err)
	}
	p, err := data.ToPayload("the prompt")
	if err != nil || bytes.Contains(p.Data, []byte("prompt")) {
		t.Errorf("%q, %v", p.Data, err)
	}
	if f := failures.ErrorToFailure(temporal.NewApplicationError("a secret", "x")); strings.Contains(f.String(), "secret") {
		t.Error(f)
	}
	var text string
	other, _, err := Converters(with(file))
	if err != nil || other.FromPayload(p, &text) != nil || text != "the prompt" {
		t.Errorf("with the key from a file: %q, %v", text, err)
	}
	wrong, _, err := Converters(with(strings.Repeat("cd", 32)))
	if err != nil || !errors.Is(wrong.FromPayload(p, &text), errSealed) {
		t.Errorf("another key opens it: %v", err)
	}
	plain, _, err := Converters(with(""))
	if err != nil || plain.FromPayload(p, &text) == nil {
		t.Errorf("no key opens it: %v", err)
	}
}

func TestKeys(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "key")
	if err := os.WriteFile(file, []byte("too short"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, value := range []string{"abcd", file, filepath.Join(t.TempDir(), "none")} {
		if _, _, err := Converters(with(value)); err == nil || !strings.Contains(err.Error(), "openssl rand -hex 32") {
			t.Errorf("%s: %v", value, err)
		}
	}
}
