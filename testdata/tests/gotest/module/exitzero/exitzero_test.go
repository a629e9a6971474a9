package exitzero

import (
	"os"
	"testing"
)

func TestMain(m *testing.M) { os.Exit(0) }

func TestNeverRun(t *testing.T) { t.Fatal("this would fail") }
