package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// Two commits of a real repository through the real program: the one expects something
// else of the same code, the other cannot be run.
func TestExecutedCommitsAreCountedApart(t *testing.T) {
	if testing.Short() {
		t.Skip("it builds the program")
	}
	dir := t.TempDir()
	binary := filepath.Join(dir, "supervise")
	build := exec.Command("go", "build", "-o", binary, "./cmd/supervise")
	build.Dir = "../.."
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	repo := filepath.Join(dir, "m")
	commit := func(files map[string]string) {
		t.Helper()
		for name, text := range files {
			if err := os.MkdirAll(repo, 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(repo, name), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		for _, args := range [][]string{{"init", "-q"}, {"add", "."}, {"-c", "user.name=t", "-c", "user.email=t@localhost", "commit", "-qm", "change"}} {
			cmd := exec.Command("git", args...)
			cmd.Dir = repo
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Fatalf("git %v: %v\n%s", args, err, out)
			}
		}
	}
	test := func(want string) string {
		return "package m\n\nimport \"testing\"\n\nfunc TestOne(t *testing.T) {\n\tif got := One(); got != " + want + " {\n\t\tt.Error(got)\n\t}\n}\n"
	}
	commit(map[string]string{"go.mod": "module m\n\ngo 1.21\n", "m.go": "package m\n\nfunc One() int { return 1 }\n", "m_test.go": test("2")})
	commit(map[string]string{"m_test.go": test("1")})
	commit(map[string]string{"go.mod": "module m\n\ngo 1.21\n\nnonsense\n", "m.go": "package m\n\nfunc One() int { return 1 + 0 }\n"})

	var out strings.Builder
	f := &flags{binary: binary, executed: true, each: time.Minute, report: []string{repo}, set: settings{negatives: 2, maxFiles: 10}}
	if err := executeAll(f, &out); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"| ran, and touch tests | 100.0 [20.7–100.0] 1/1 |", "CRITICAL tests_weakened (executed)", "| all | 2 | "} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("no %q in\n%s", want, out.String())
		}
	}
}
