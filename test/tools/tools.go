// Package tools skips tests whose programs are missing. Only tests import it.
package tools

import (
	"cmp"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// versions are the arguments that print a version, if not --version.
var versions = map[string]string{"go": "version", "tmux": "-V"}

// Check runs each program and returns an error that names the first that fails. A program
// on PATH may be a proxy without anything behind it: cargo of a rustup without a toolchain. A program may have arguments, as
// "python3 -m pytest".
func Check(programs ...string) error {
	for _, program := range programs {
		version := cmp.Or(versions[program], "--version")
		command := append(strings.Fields(program), version)
		if out, err := exec.Command(command[0], command[1:]...).CombinedOutput(); err != nil {
			text, _, _ := strings.Cut(strings.TrimSpace(string(out)), "\n")
			return fmt.Errorf("%s is missing or does not run: %w: %s", program, err, text)
		}
	}
	return nil
}

// Need skips the test unless all programs run.
func Need(t testing.TB, programs ...string) {
	t.Helper()
	if err := Check(programs...); err != nil {
		t.Skip(err)
	}
}

// installed is the folder in which .ci/e2e installed the tools of other languages.
const installed = "SUPERVISE_E2E"

// Long skips a test that takes long in every run but that of .ci/e2e, which runs the tests
// whose names start with TestE2E, or where one of the variables is set that make sets for
// this test.
func Long(t testing.TB, variables ...string) {
	t.Helper()
	if !strings.HasPrefix(t.Name(), "TestE2E") {
		t.Fatalf(".ci/e2e would not run %s: its name has to start with TestE2E", t.Name())
	}
	set := func(variable string) bool { return os.Getenv(variable) != "" }
	if !slices.ContainsFunc(append(variables, installed), set) {
		t.Skip(installed + " is not set: .ci/e2e installs the tools of other languages and runs this test")
	}
}

// Installed returns the folder in which .ci/e2e installed the tools of other languages,
// and skips the test without it as [Long] does.
func Installed(t testing.TB) string {
	t.Helper()
	Long(t)
	return os.Getenv(installed)
}
