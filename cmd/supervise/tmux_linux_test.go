package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"supervise/test/tools"
)

// pane is a terminal of tmux with a shell in it.
type pane struct {
	t      *testing.T
	socket string
}

func newPane(t *testing.T, w *world) *pane {
	t.Helper()
	tools.Need(t, "tmux", "bash", "vim")
	p := &pane{t: t, socket: filepath.Join(w.dir, "tmux")}
	start := w.command("tmux", "-S", p.socket, "-f", "/dev/null", "new-session", "-d", "-x", "90", "-y", "24", "bash --norc -i")
	start.Env = append(start.Env, "TERM=screen-256color", "HOME="+w.dir, "HISTFILE=/dev/null")
	if out, err := start.CombinedOutput(); err != nil {
		t.Fatalf("start tmux: %v: %s", err, out)
	}
	shell := strings.TrimSpace(p.tmux("display-message", "-p", "#{pane_pid}"))
	t.Cleanup(func() {
		p.press("exit", "Enter") // the last shell ends the server
		p.awaitEnd(shell)
	})
	return p
}

func (p *pane) tmux(args ...string) string {
	p.t.Helper()
	out, err := exec.Command("tmux", append([]string{"-S", p.socket}, args...)...).CombinedOutput()
	if err != nil {
		p.t.Fatalf("tmux %v: %v: %s", args, err, out)
	}
	return string(out)
}

func (p *pane) press(keys ...string) { p.tmux(append([]string{"send-keys"}, keys...)...) }

// await looks at the screen, its modes and its size until they have a text: what
// tmux has drawn no event tells.
func (p *pane) await(text string) {
	p.t.Helper()
	limit := time.After(60 * time.Second)
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		screen := p.tmux("display-message", "-p", "alternate=#{alternate_on} cursor=#{cursor_flag} mouse=#{mouse_any_flag} size=#{pane_width}x#{pane_height}") + p.tmux("capture-pane", "-p")
		if strings.Contains(screen, text) {
			return
		}
		select {
		case <-tick.C:
		case <-limit:
			p.t.Fatalf("%q does not come:\n%s", text, screen)
		}
	}
}

// awaitEnd waits for the end of the shell, which may still write files, and of the
// server; what a failed test left in the terminal is ended.
func (p *pane) awaitEnd(pid string) {
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for n := 0; ; n++ {
		_, shell := os.Stat("/proc/" + pid)
		err := exec.Command("tmux", "-S", p.socket, "list-sessions").Run()
		if shell != nil && err != nil {
			return
		}
		if n == 500 {
			_ = exec.Command("tmux", "-S", p.socket, "kill-server").Run()
		}
		<-tick.C
	}
}

// TestFullScreenAgent has an editor as the agent, under tmux: it draws, follows
// the size, is suspended and continued, edits, and when supervise is killed the
// shell is as it was.
func TestFullScreenAgent(t *testing.T) {
	w := newWorld(t)
	w.write("proj/report.xml", `<testsuite name="s"><testcase classname="c" name="n"/></testsuite>`)
	w.write("proj/text", "some text\n")
	w.write("vimrc", "set mouse=a\n")
	p := newPane(t, w)
	run := fmt.Sprintf("cd %s; clear; supervise run --max-iterations 1 --until never --allow-untested --test-cmd 'cat report.xml' -- vim -u ../vimrc -N text", w.root)
	p.await("bash")
	p.press(run, "Enter")
	p.await("some text")
	p.await("alternate=1 cursor=1 mouse=1")
	p.press("C-z")
	p.await("Stopped")
	p.await("alternate=0 cursor=1 mouse=0")
	p.tmux("resize-window", "-x", "70", "-y", "18")
	p.press("fg", "Enter")
	p.await("alternate=1 cursor=1 mouse=1 size=70x18")
	p.press(":set columns? lines?", "Enter")
	p.await("columns=70")
	p.await("lines=18")
	p.press("Enter", "ggOadded", "Escape", ":wq", "Enter")
	p.await("undo all")
	p.await("alternate=0 cursor=1 mouse=0")
	if text, err := os.ReadFile(filepath.Join(w.root, "text")); err != nil || !bytes.HasPrefix(text, []byte("added\n")) {
		t.Errorf("%q, %v; want what was typed", text, err)
	}
	p.press(run, "Enter")
	p.await("alternate=1 cursor=1 mouse=1")
	p.await("some text")
	supervisor := strings.TrimSpace(p.tmux("display-message", "-p", "#{pane_pid}"))
	out, err := exec.Command("pkill", "-9", "-P", supervisor, "supervise").CombinedOutput() // a child of that shell alone
	if err != nil {
		t.Fatalf("kill supervise: %v: %s", err, out)
	}
	p.await("alternate=0 cursor=1 mouse=0")
	p.press("clear; stty -a | grep -o ' icanon'; echo usable-$((40+2))", "Enter")
	p.await(" icanon")
	p.await("usable-42")
}
