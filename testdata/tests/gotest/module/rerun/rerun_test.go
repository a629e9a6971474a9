package rerun

import (
	"os"
	"testing"
)

func TestFlaky(t *testing.T) {
	if os.Getenv("SECOND_TRY") == "" {
		t.Error("not this time")
	}
}

func TestSteady(t *testing.T) {}
