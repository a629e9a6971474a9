package main

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// streaming is a test command that prints ten thousand tests as go test -json does, in two
// halves. It waits before each at a named pipe.
const streaming = `await() { until read -r line <../$1; do :; done 2>/dev/null; }
event() { printf '{"Action":"%s","Package":"example.com/many"%s}\n' "$@"; }
half() { seq $1 $2 | sed 's/.*/{"Action":"run","Package":"example.com\/many","Test":"Test&"}\n{"Action":"pass","Package":"example.com\/many","Test":"Test&"}/'; }
event start
await first
half 1 5000
event run ',"Test":"TestBad"'
event fail ',"Test":"TestBad"'
await second
half 5002 10000
event fail
exit 1
`

// seenWorld is a project with that test command and an agent that waits.
func seenWorld(t *testing.T) *world {
	t.Helper()
	w := newWorld(t)
	w.write("check", `cd "$(dirname "$0")/proj"`+"\n"+streaming) // from a copy too
	w.write("talker", "await() { until read -r line <../$1; do :; done 2>/dev/null; }\nawait say\nprintf 'first line\\nnow \\033[2J\\033]0;evil\\007 this\\n'\nawait done\n")
	for _, name := range []string{"first", "second", "say", "done"} {
		if err := unix.Mkfifo(filepath.Join(w.dir, name), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return w
}

// let lets what waits at a named pipe continue.
func (w *world) let(names ...string) {
	w.t.Helper()
	for _, name := range names {
		f, err := os.OpenFile(filepath.Join(w.dir, name), os.O_WRONLY, 0) // blocks until it waits
		if err == nil {
			_, err = f.WriteString("go\n")
			f.Close()
		}
		if err != nil {
			w.t.Fatal(err)
		}
	}
}

// screen is what is on the screen, and history what has left it as well. Lines that the
// terminal has wrapped are joined.
func (p *pane) screen() string  { return p.tmux("capture-pane", "-p") }
func (p *pane) history() string { return p.tmux("capture-pane", "-p", "-J", "-S", "-") }

// drawn counts the lines of the region in a text.
func drawn(text string) int {
	return len(regexp.MustCompile(`(?m) in all$|^ +check \d of \d `).FindAllString(text, -1))
}

// TestRegion has a loop under tmux: what it does now is under the table, follows the
// size, is taken away and shown again with Ctrl-Z and fg, and is gone in the end. Another
// terminal shows the same.
func TestRegion(t *testing.T) {
	w := seenWorld(t)
	p := newPane(t, w)
	p.tmux("pipe-pane", "cat >"+filepath.Join(w.dir, "raw"))
	p.await("bash")
	p.press(fmt.Sprintf("cd %s; PS1='$ '; clear", w.root), "Enter")
	p.press(fmt.Sprintf("supervise run --agent-output none --max-iterations 1 --until never --test-cmd 'sh %s/check' -- sh ../talker", w.dir), "Enter")
	p.await("check 1 of 1  test  0s")
	w.let("first")
	p.await("5001 tests, 1 failed")
	p.await("✗ TestBad")
	p.await("baseline, ")

	p.tmux("resize-window", "-x", "50", "-y", "14")
	p.await("size=50x14")
	p.await("✗ TestBad")
	p.tmux("resize-window", "-x", "120", "-y", "30")
	p.await("size=120x30")
	p.await("✗ TestBad")
	if all := p.history(); drawn(all) != 2 {
		t.Errorf("after another size the region is there %d times:\n%s", drawn(all), all)
	}

	p.press("C-z")
	p.await("Stopped")
	p.press("echo usable-$((40+2))", "Enter")
	p.await("usable-42")
	stood := p.screen()
	p.press("clear; fg", "Enter")
	p.await("5001 tests, 1 failed")
	if drawn(stood) != 2 || !strings.Contains(stood, "✗ TestBad\n^Z") && !strings.Contains(stood, "✗ TestBad\n\n") {
		t.Errorf("while it was stopped:\n%s", stood)
	}

	p.tmux("new-window", fmt.Sprintf("cd %s; supervise status --watch", w.root))
	p.await("5001 tests, 1 failed")
	p.await("running")
	p.tmux("select-window", "-t", ":0")

	w.let("second")
	p.await("baseline, measured again to find flaky tests")
	p.await("check 1 of 1  test  0s  (last time ")
	w.let("first")
	p.await("5001 of 10000 tests, 1 failed")
	w.let("second", "say")
	p.await("│ now")
	p.await("left: 0 iterations after this")
	p.tmux("select-window", "-t", ":1")
	p.await("│ now")
	p.await("the agent works")
	p.tmux("select-window", "-t", ":0")
	w.let("done")
	p.await("the end, ") // the agent changed nothing, so that nothing was measured before
	w.let("first", "second")
	p.await("undo all")
	p.await("\n$\n")
	if all := p.history(); drawn(all) != 0 || strings.Contains(all, "evil") {
		raw, err := os.ReadFile(filepath.Join(w.dir, "raw"))
		t.Errorf("what is left of the region when the loop is over:\n%s\nwhat the terminal was given, %v:\n%q", all, err, raw)
	}
}

// TestRegionNowhere has no region on a terminal that cannot replace lines, with --ui
// plain, and where the output goes through a pipe to the same terminal.
func TestRegionNowhere(t *testing.T) {
	for name, command := range map[string]string{
		"dumb":  "TERM=dumb supervise run %s",
		"plain": "supervise run --ui plain %s",
		"pipe":  "supervise run %s | cat",
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.write("proj/.supervise.yaml", shellPlan)
			w.write("proj/m_test.sh", "TestOne() { :; }\n")
			p := newPane(t, w)
			p.await("bash")
			p.press(fmt.Sprintf("cd %s; clear", w.root), "Enter")
			p.press(fmt.Sprintf(command, "--max-iterations 1 --agent-output none -- true"), "Enter")
			p.await("undo all")
			all := p.history()
			if drawn(all) != 0 || !strings.Contains(all, "     test …\n") || !strings.Contains(all, "iteration 1 of 1: the agent works") {
				t.Errorf("the screen:\n%s", all)
			}
		})
	}
}
