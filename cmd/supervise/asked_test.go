//go:build unix

package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"supervise/runner"

	"github.com/creack/pty"
)

// gateWorld is a project whose agent deletes a test in iteration 1, and tries to
// answer for the person in every way it knows.
func gateWorld(t *testing.T) *world {
	t.Helper()
	w := newWorld(t)
	w.write("proj/.supervise.yaml", shellPlan)
	w.write("proj/m_test.sh", "TestOne() { :; }\n\nTestTwo() { :; }\n")
	w.write("steps/1/_sh", `printf 'TestOne() { :; }\n' >m_test.sh
supervise approve --reason trust 2>>../said || true
env -u SUPERVISE_TREE -u SUPERVISE_LOOP_ID -u SUPERVISE_PROMPT_FILE supervise approve --reason me 2>>../said
true
`)
	w.git("init", "-q")
	w.git("add", ".")
	w.git("commit", "-qm", "start")
	return w
}

// onTerminal runs supervise at a terminal where a user types each text when what
// is before it in the list was shown.
func onTerminal(t *testing.T, w *world, typed [][2]string, args ...string) (screen string, code int) {
	t.Helper()
	user, tty, err := pty.Open()
	if err != nil {
		t.Skip(err)
	}
	defer user.Close()
	cmd := w.command("supervise", args...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = tty, tty, tty
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	done := make(chan string, 1)
	go func() {
		var shown strings.Builder
		buf := make([]byte, 4096)
		for seen := 0; ; {
			n, err := user.Read(buf)
			shown.Write(buf[:n])
			for len(typed) > 0 && strings.Contains(shown.String()[seen:], typed[0][0]) {
				seen += strings.Index(shown.String()[seen:], typed[0][0]) + len(typed[0][0])
				user.WriteString(typed[0][1])
				typed = typed[1:]
			}
			if err != nil {
				done <- shown.String()
				return
			}
		}
	}()
	err = cmd.Run()
	tty.Close()
	screen = <-done
	if exit := (*exec.ExitError)(nil); err != nil && !asExit(err, &exit) {
		t.Fatalf("%v:\n%s", err, screen)
	}
	if len(typed) > 0 {
		t.Fatalf("%q was not shown:\n%s", typed[0][0], screen)
	}
	return screen, cmd.ProcessState.ExitCode()
}

// A person at the terminal is shown what is gone, looks at the change, and decides;
// the agent cannot.
func TestApprovalAtTheTerminal(t *testing.T) {
	t.Parallel()
	if runner.IsSupervised() {
		t.Skip("an agent runs the tests")
	}
	for _, tt := range []struct {
		name  string
		typed [][2]string
		code  int
		shows string
		kept  bool
	}{
		{"rejected", [][2]string{{"Your choice: ", "d\n"}, {"-TestTwo() { :; }", ""}, {"Your choice: ", "1\n"}}, 0, "tree restored to the baseline", false},
		{"approved", [][2]string{{"Your choice: ", "2\n"}, {"(will be recorded): ", "TestTwo was wrong\n"}}, 0, "TestTwo was wrong", true},
		{"aborted", [][2]string{{"Your choice: ", "3\n"}}, 3, "the loop is aborted", false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			w := gateWorld(t)
			screen, code := onTerminal(t, w, tt.typed, "run", "--until", "never", "--max-iterations", "2", "--", "agent")
			for _, want := range []string{"REGRESSION DETECTED", "Test count decreased from 2 to 1", "- m: TestTwo", "2 of 2 pass → 1 of 1 pass", tt.shows} {
				if !strings.Contains(screen, want) {
					t.Errorf("the screen lacks %q:\n%s", want, screen)
				}
			}
			if code != tt.code {
				t.Errorf("exit status %d, want %d:\n%s", code, tt.code, screen)
			}
			if kept := w.git("status", "--porcelain") != ""; kept != tt.kept {
				t.Errorf("what the agent did stays: %v, want %v:\n%s", kept, tt.kept, screen)
			}
			said, err := os.ReadFile(filepath.Join(w.dir, "said"))
			if err != nil || strings.Count(string(said), "runs inside an agent") != 2 {
				t.Errorf("the agent's own answers: %s (%v)", said, err)
			}
		})
	}
	t.Run("unattended", func(t *testing.T) {
		t.Parallel()
		w := gateWorld(t)
		screen, code := onTerminal(t, w, nil, "run", "--unattended", "--until", "never", "--max-iterations", "2", "--", "agent")
		if code != 0 || strings.Contains(screen, "Your choice") || !strings.Contains(screen, "retry 1 of 3") {
			t.Errorf("exit status %d, want 0 and no question:\n%s", code, screen)
		}
	})
}

// The agent says that a test is wrong: a person at the terminal reads it and decides.
func TestBlockedAtTheTerminal(t *testing.T) {
	t.Parallel()
	if runner.IsSupervised() {
		t.Skip("an agent runs the tests")
	}
	approve := [][2]string{{"Your choice: ", "2\n"}, {"(will be recorded): ", "the specification says so\n"}}
	for _, tt := range []struct {
		name, said string
		typed      [][2]string
		code       int
		shows      []string
	}{
		{"approved", "--test TestTwo", approve, 0, []string{"[2] approve: the agent may change these tests", "- m: TestTwo", "the criterion is met"}},
		{"rejected", "--test TestTwo", [][2]string{{"Your choice: ", "1\n"}, {"Your choice: ", "3\n"}}, 3, []string{"[1] reject: the tests are right", "the loop is aborted"}},
		{"aborted", "--test TestTwo", [][2]string{{"Your choice: ", "3\n"}}, 3, []string{"the loop is aborted"}},
		{"the task", "", approve, 3, []string{"[2] approve: it cannot be done, and the loop ends", "approved by"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.write("proj/.supervise.yaml", shellPlan)
			w.write("proj/m_test.sh", "TestOne() { :; }\n\nTestTwo() { test 1 = 2; }\n")
			say := "supervise blocked " + tt.said + " --reason '1 is not 2'\n"
			w.write("steps/1/_sh", say)
			w.write("steps/2/_sh", "grep -q 'may be changed: m: TestTwo' \"$SUPERVISE_PROMPT_FILE\" && printf 'TestOne() { :; }\\n\\nTestTwo() { test 1 = 1; }\\n' >m_test.sh || "+say)
			w.git("init", "-q")
			w.git("add", ".")
			w.git("commit", "-qm", "start")
			screen, code := onTerminal(t, w, tt.typed, "run", "--max-iterations", "4", "-p", "Go on.", "--", "agent", "{{prompt}}")
			for _, want := range append(tt.shows, "THE AGENT IS BLOCKED", "1 is not 2") {
				if !strings.Contains(screen, want) {
					t.Errorf("the screen lacks %q:\n%s", want, screen)
				}
			}
			if code != tt.code {
				t.Errorf("exit status %d, want %d:\n%s", code, tt.code, screen)
			}
		})
	}
}
