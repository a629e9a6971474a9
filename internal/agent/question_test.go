package agent

import (
	"os"
	"path/filepath"
	"testing"
)

func TestQuestion(t *testing.T) {
	screens, err := filepath.Glob("testdata/screens/*.pty")
	if err != nil || len(screens) == 0 {
		t.Fatalf("%v: no screens", err)
	}
	for _, file := range screens {
		screen, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if FindQuestion(string(screen)) == "" {
			t.Errorf("%s asks nothing", file)
		}
	}
	for text, want := range map[string]string{
		"│ Do you trust the files in this folder? │\r\n│ 1. Yes │":         "Do you trust the files in this folder?",
		`{"type":"text","text":"Press Enter to continue"}`:                 "",
		"running the tests of the login method\n":                          "",
		"\x1b[1mEnter\x1b[7Gthe authorization code:":                       "Enter the authorization code:",
		"fmt.Print(\"Press any key\")\n12 tests passed\nworking on it ...": "",
	} {
		if got := FindQuestion(text); got != want {
			t.Errorf("%q asks %q, want %q", text, got, want)
		}
	}
}
