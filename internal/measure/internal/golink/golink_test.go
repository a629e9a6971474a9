package golink

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
)

// A digest is that of what a program is made of: another test or document leaves it alone,
// and there is none where something does not compile.
func TestDigest(t *testing.T) {
	if _, err := exec.LookPath("go"); err != nil {
		t.Skip("needs go")
	}
	dir := t.TempDir()
	write := func(name, text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	digest := func() string {
		t.Helper()
		words, ok := ListCommand([]string{"go", "build", "-o", os.DevNull, "./..."})
		if !ok {
			t.Fatal("no question")
		}
		cmd := exec.Command(words[0], words[1:]...)
		cmd.Dir, cmd.Env = dir, append(os.Environ(), "GOWORK=off")
		out, err := cmd.Output()
		if err != nil {
			t.Fatal(err)
		}
		return Digest(bytes.NewReader(out))
	}
	write("go.mod", "module example.com/p\n\ngo 1.21\n")
	write("main.go", "package main\n\nfunc main() { println(1) }\n")
	first := digest()
	write("main_test.go", "package main\n\nimport \"testing\"\n\nfunc TestNothing(*testing.T) {}\n")
	write("README.md", "# p\n")
	if again := digest(); first == "" || again != first {
		t.Errorf("after another test: %q, before %q", again, first)
	}
	write("main.go", "package main\n\nfunc main() { println(2) }\n")
	if other := digest(); other == "" || other == first {
		t.Errorf("of another program: %q, before %q", other, first)
	}
	write("main.go", "package main\n\nfunc main() { none() }\n")
	if broken := digest(); broken != "" {
		t.Errorf("of what does not compile: %q", broken)
	}
}

func TestQuestion(t *testing.T) {
	for _, build := range [][]string{nil, {"go", "build", "./..."}, {"go", "build", "-o", "tool", "."}, {"/bin/sh", "-c", "go build -o /dev/null ./..."}} {
		if words, ok := ListCommand(build); ok {
			t.Errorf("%q: asks %q", build, words)
		}
	}
	words, ok := ListCommand([]string{"go", "build", "-o", os.DevNull, "-tags=x", "./cmd/..."})
	if !ok || !slices.Equal(words[len(words)-2:], []string{"-tags=x", "./cmd/..."}) || words[1] != "list" {
		t.Errorf("asks %q", words)
	}
}
