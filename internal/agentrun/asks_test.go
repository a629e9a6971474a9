package agentrun

import (
	"os"
	"path/filepath"
	"testing"
	"time"
)

func TestQuestion(t *testing.T) {
	screens, err := filepath.Glob("testdata/*.pty")
	if err != nil || len(screens) == 0 {
		t.Fatalf("%v: no screens", err)
	}
	for _, file := range screens {
		screen, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if question(string(screen)) == "" {
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
		if got := question(text); got != want {
			t.Errorf("%q asks %q, want %q", text, got, want)
		}
	}
}

// Only silence behind a question ends a run.
func TestAsking(t *testing.T) {
	ended := make(chan error, 2)
	a := &asking{after: time.Millisecond, end: func(err error) { ended <- err }}
	a.Write([]byte("Press enter to continue\n"))
	if err := <-ended; questionOf(err) != "it waits for a person: Press enter to continue" {
		t.Errorf("ended by %v", err)
	}
	a.stop()
	b := &asking{after: time.Hour, end: func(err error) { t.Errorf("ended by %v", err) }}
	b.Write([]byte("Press enter to continue\n"))
	b.Write([]byte("and it goes on\n"))
	for range 50 {
		b.Write([]byte("more\n"))
	}
	b.silent() // the question has left the screen
	b.stop()
}
