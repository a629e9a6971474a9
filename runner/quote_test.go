package runner_test

import (
	"os/exec"
	"strings"
	"testing"

	"supervise/runner"
)

func TestShellQuoted(t *testing.T) {
	sh, err := exec.LookPath("sh")
	if err != nil {
		t.Skip("no shell")
	}
	words := []string{"plain", "a b", "it's", "", "$HOME", "*", `back\slash`, "new\nline", "-x=1", "~", "#no", "é"}
	out, err := exec.Command(sh, "-c", `printf '%s|' `+runner.ShellQuote(words...)).Output()
	if got := strings.Split(strings.TrimSuffix(string(out), "|"), "|"); err != nil || strings.Join(got, "|") != strings.Join(words, "|") {
		t.Errorf("the shell reads %q (%v), want %q", got, err, words)
	}
	if got := runner.ShellQuote("go", "test", "./..."); got != "go test ./..." {
		t.Errorf("plain words became %q", got)
	}
}
