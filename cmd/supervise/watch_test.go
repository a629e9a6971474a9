//go:build unix

package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"supervise/internal/ledger"

	"github.com/creack/pty"
	"golang.org/x/sys/unix"
)

// visited is a session with an agent on a terminal, under supervise watch.
type visited struct {
	w      *world
	cmd    *exec.Cmd
	user   *os.File // what is typed
	screen *safeBuffer
}

// visit starts the session. The project has two tests, of which one fails until the
// file fixed is there; the agent is a script, and waits at $1 of its function await.
func visit(t *testing.T, check, agent string, args ...string) *visited {
	t.Helper()
	w := newWorld(t)
	w.write("proj/.supervise.yaml", "checks: {test: sh ../project.sh}\n")
	w.write("project.sh", check+"\nsh ../check.sh\n")
	w.write("proj/a_test.sh", "TestOne() { :; }\n")
	w.write("proj/b_test.sh", "TestTwo() { test -e fixed; }\n")
	w.git("init", "-q")
	w.git("add", ".")
	w.git("commit", "-qm", "start")
	w.write("bin/claude", "#!/bin/sh\nawait() { until read -r line <../$1; do :; done 2>/dev/null; }\n"+agent)
	if err := os.Chmod(filepath.Join(w.dir, "bin/claude"), 0o755); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"one", "two", "measuring"} {
		if err := unix.Mkfifo(filepath.Join(w.dir, name), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	user, tty, err := pty.Open()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { user.Close() })
	v := &visited{w: w, user: user, screen: drain(user)}
	v.cmd = w.command("supervise", append(append([]string{"watch"}, args...), "--", "../bin/claude", "mine")...)
	v.cmd.Stdin, v.cmd.Stdout, v.cmd.Stderr = tty, tty, tty
	v.cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if err := v.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = v.cmd.Process.Kill() }) // as a rule it has ended
	return v
}

// let lets the agent, or the check, continue that waits at the name.
func (v *visited) let(name string) {
	v.w.t.Helper()
	f, err := os.OpenFile(filepath.Join(v.w.dir, name), os.O_WRONLY, 0) // blocks until it waits
	if err == nil {
		_, err = f.WriteString("go\n")
		f.Close()
	}
	if err != nil {
		v.w.t.Fatal(err)
	}
}

// until waits until something holds that no event tells to another process.
func (v *visited) until(what string, holds func() bool) {
	v.w.t.Helper()
	limit := time.After(2 * time.Minute)
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for !holds() {
		select {
		case <-tick.C:
		case <-limit:
			v.w.t.Fatalf("%s does not come:\n%s", what, v.screen)
		}
	}
}

// awaitIteration waits until status shows the iteration.
func (v *visited) awaitIteration(n int) {
	v.w.t.Helper()
	v.until("the iteration", func() bool {
		out, code := v.w.supervise("status", "--json")
		var s ledger.State
		return code == 0 && json.Unmarshal([]byte(out), &s) == nil && len(s.History) > n && s.Status == ledger.Running
	})
}

// end waits for the end of the session.
func (v *visited) end(code int) string {
	v.w.t.Helper()
	_ = v.cmd.Wait()
	if got := v.cmd.ProcessState.ExitCode(); got != code {
		v.w.t.Fatalf("exit status %d, want %d:\n%s", got, code, v.screen)
	}
	v.until("the last line", func() bool { return strings.Contains(v.screen.String(), "output-selection-report.md") })
	return v.screen.String()
}

// A session that rests twice and ends: each rest is an iteration, what is found stands
// in the title, nothing is undone, every Ctrl-C is the agent's, and all that looks at
// loops looks at it.
func TestWatch(t *testing.T) {
	t.Parallel()
	v := visit(t, "", `
trap 'printf "caught;"' INT
printf '<%s %s>' "$*" "$(tty | cut -c1-4)"
touch fixed; await one
rm a_test.sh; await two
printf 'TestOne() { :; }\nTestThree() { :; }\n' >../new; mv ../new a_test.sh
`, "--rest", "300ms", "--hooks", "off")
	v.awaitIteration(1)
	for n := 1; n <= 4; n++ {
		if _, err := v.user.Write([]byte{3}); err != nil {
			t.Fatal(err)
		}
		v.until("the agent's answer to Ctrl-C", func() bool { return strings.Count(v.screen.String(), "caught;") == n })
	}
	v.let("one")
	v.awaitIteration(2)
	const title = "\x1b]2;" + "supervise 2: regression, 1/1 pass, CRITICAL Test count decreased from 2 to 1"
	v.until("the title", func() bool { return strings.Contains(v.screen.String(), title) })
	if _, err := os.Stat(filepath.Join(v.w.root, "a_test.sh")); err == nil {
		t.Error("the tree was put back while the session lasted")
	}
	v.let("two")
	screen := v.end(0)
	for _, want := range []string{"<mine /dev>", "\x1b[22;2t", "\x1b[23;2t", "the session is over", "Not restored: the tree is as"} {
		if !strings.Contains(screen, want) {
			t.Errorf("%q is not on the screen:\n%s", want, screen)
		}
	}
	if s := state(t, v.w); s.Kind != ledger.KindWatched || s.Status != ledger.Completed || len(s.History) != 4 || s.History[2].Rejected {
		t.Errorf("state %+v, want three iterations of a watched session, none rejected", s)
	}
	for _, tt := range []struct{ args, want string }{
		{"replay latest", ""},
		{"verify", ""},
		{"explain latest 2", "Test count decreased from 2 to 1"},
		{"report", "Iteration"},
		{"diff latest 2", "deleted file"},
		{"resume", "the session is over"},
		{"rollback latest 2", ""},
	} {
		if out, code := v.w.supervise(strings.Fields(tt.args)...); code != 0 || !strings.Contains(out, tt.want) {
			t.Errorf("%s: status %d, want 0 and %q:\n%s", tt.args, code, tt.want, out)
		}
	}
	if _, err := os.Stat(filepath.Join(v.w.root, "a_test.sh")); err == nil {
		t.Error("rollback did not put back iteration 2")
	}
}

// An agent that tells by its hooks that it stopped is measured at once, and a session
// that ends with a test deleted ends with status 3.
func TestWatchStopHook(t *testing.T) {
	t.Parallel()
	v := visit(t, "", `
case "$1" in --settings) touch fixed;; esac
echo '{"hook_event_name":"Stop"}' | supervise hook claude Stop; await one
rm a_test.sh
`, "--rest", "1h")
	v.awaitIteration(1)
	v.until("the title", func() bool { return strings.Contains(v.screen.String(), "\x1b]2;"+"supervise 1: forward, 2/2 pass") })
	v.let("one")
	if screen := v.end(3); !strings.Contains(screen, "critical findings are left in iteration 2") {
		t.Error(screen)
	}
	if s := state(t, v.w); s.StopReason != "critical_left" || s.Selected.Iteration != 1 {
		t.Errorf("%s, selected %+v; want 1, which the hook reported", s.StopReason, s.Selected)
	}
}

// What is measured while the agent is at work again does not count.
func TestWatchStale(t *testing.T) {
	t.Parallel()
	v := visit(t, `test -e fixed && test ! -e ../once && { touch ../once ../held; read -r line <../measuring; }`, `
touch fixed; await two
rm a_test.sh; printf 'at work again'; await one
git checkout -q a_test.sh
`, "--rest", "300ms", "--hooks", "off")
	v.until("the measurement", func() bool { _, err := os.Stat(filepath.Join(v.w.dir, "held")); return err == nil })
	v.let("two")
	v.until("its work", func() bool { return strings.Contains(v.screen.String(), "at work again") })
	v.let("measuring")
	v.awaitIteration(1)
	v.let("one")
	v.end(0)
	s := state(t, v.w)
	logs, err := filepath.Glob(filepath.Join(v.w.dir, "state/supervise/*/loops", s.LoopID, "hook-log.jsonl"))
	if err != nil || len(logs) != 1 {
		t.Fatal(logs, err)
	}
	if text, err := os.ReadFile(logs[0]); err != nil || strings.Count(string(text), "measurement_stale") != 1 {
		t.Errorf("%v; want one stale measurement:\n%s", err, text)
	}
	if s.History[1].Class.String() != "regression" {
		t.Errorf("iteration 1 is %s; want the tree judged that lacks a test, not the one before", s.History[1].Class)
	}
}

// A session that changes nothing ends well, and says so.
func TestWatchNothing(t *testing.T) {
	t.Parallel()
	v := visit(t, "", `printf 'only talk'`, "--rest", "300ms", "--hooks", "off")
	screen := v.end(0)
	if !strings.Contains(screen, "no file has changed") || strings.Contains(strings.ToLower(screen), "acceptable") {
		t.Errorf("it does not say that nothing changed:\n%s", screen)
	}
	if s := state(t, v.w); s.StopReason != "nothing_changed" || len(s.History) != 1 {
		t.Errorf("%s with %d iterations, want nothing_changed with the baseline", s.StopReason, len(s.History))
	}
}

func TestWatchNeedsATerminal(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	if out, code := w.supervise("watch", "--", "true"); code != 2 || !strings.Contains(out, "supervise run works without one") {
		t.Errorf("status %d: %s", code, out)
	}
	if out, code := w.supervise("watch", "--rest", "0s", "--", "true"); code != 2 || !strings.Contains(out, "--rest must be above 0") {
		t.Errorf("status %d: %s", code, out)
	}
}

// What a session left whose supervisor was killed is measured by resume, and stays.
func TestWatchKilled(t *testing.T) {
	t.Parallel()
	v := visit(t, "", `
touch fixed
echo '{"hook_event_name":"Stop"}' | supervise hook claude Stop; await one
rm a_test.sh; touch ../cut; await two
`, "--rest", "1h")
	v.awaitIteration(1)
	v.let("one")
	v.until("its work", func() bool { _, err := os.Stat(filepath.Join(v.w.dir, "cut")); return err == nil })
	if err := v.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = v.cmd.Wait()
	out, code := v.w.supervise("resume")
	if code != 3 || !strings.Contains(out, "critical findings are left in iteration 2") {
		t.Errorf("status %d:\n%s", code, out)
	}
	if _, err := os.Stat(filepath.Join(v.w.root, "a_test.sh")); err == nil {
		t.Error("the tree was put back")
	}
	if s := state(t, v.w); s.Status != ledger.Completed || len(s.History) != 3 {
		t.Errorf("state %s with %d iterations, want completed with 3", s.Status, len(s.History))
	}
}
