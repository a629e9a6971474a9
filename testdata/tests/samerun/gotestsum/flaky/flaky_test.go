package flaky

import (
	"os"
	"path/filepath"
	"testing"
)

func TestFlaky(t *testing.T) {
	mark := filepath.Join(os.TempDir(), "sample-flaky-mark")
	if _, err := os.Stat(mark); err != nil {
		os.WriteFile(mark, nil, 0o600)
		t.Error("not this time")
	}
}

func TestFails(t *testing.T) { t.Error("never") }

func TestSteady(t *testing.T) {}
