//go:build unix

package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"supervise/internal/ledger"

	"github.com/creack/pty"
	"golang.org/x/sys/unix"
	"golang.org/x/term"
)

// The user types Ctrl-C while an agent runs that ignores every polite signal
// and has a grandchild in a separate session: within the grace period nothing
// of it is left, the terminal is as before, the state says interrupted, and the
// exit status is 130.
func TestCtrlC(t *testing.T) {
	t.Parallel()
	w, fifo := hangingWorld(t)
	user, tty, err := pty.Open()
	if err != nil {
		t.Fatal(err)
	}
	defer user.Close()
	before, err := term.GetState(int(tty.Fd()))
	if err != nil {
		t.Fatal(err)
	}
	cmd := w.command("supervise", "run", "--", "agent")
	cmd.Stdin, cmd.Stdout, cmd.Stderr = tty, tty, tty
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	screen := drain(user)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ids := awaitIDs(t, fifo)
	if _, err := user.Write([]byte{3}); err != nil {
		t.Fatal(err)
	}
	waitInterrupted(t, cmd, screen)
	gone(t, ids)
	after, err := term.GetState(int(tty.Fd()))
	if err != nil {
		t.Fatal(err)
	}
	if fmt.Sprint(*before) != fmt.Sprint(*after) {
		t.Errorf("the terminal is not as before: %v, was %v", *after, *before)
	}
	interrupted(t, w)
}

// While the agent has the terminal nothing of ours comes between what it prints:
// it would be somewhere on its screen.
func TestScreenIsTheAgents(t *testing.T) {
	w := newWorld(t)
	w.write("proj/report.xml", `<testsuite name="s"><testcase classname="c" name="n"/></testsuite>`)
	user, tty, err := pty.Open()
	if err != nil {
		t.Fatal(err)
	}
	defer user.Close()
	// The event is logged before it is printed, so there is still something to wait
	// for that leaves no trace.
	script := `printf "<begin"; until grep -q agent_spawned "$(dirname "$SUPERVISE_PROMPT_FILE")"/../../hook-log.jsonl; do :; done; sleep 0.2; printf "end>"`
	cmd := w.command("supervise", "run", "--max-iterations", "3", "--until", "never", "--on-stall", "continue", "--allow-untested", "--test-cmd", "cat report.xml", "--", "sh", "-c", script)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = tty, tty, tty
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	screen := drain(user)
	if err := cmd.Run(); err != nil {
		t.Fatalf("%v:\n%s", err, screen)
	}
	if text := screen.String(); strings.Count(text, "<beginend>") != 3 {
		t.Errorf("something came between: %q", text)
	}
}

// The same by a signal, without a terminal.
func TestInterruptSignal(t *testing.T) {
	t.Parallel()
	w, fifo := hangingWorld(t)
	cmd := w.command("supervise", "run", "--", "agent")
	screen := &safeBuffer{}
	cmd.Stdout, cmd.Stderr = screen, screen
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ids := awaitIDs(t, fifo)
	if err := cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	waitInterrupted(t, cmd, screen)
	gone(t, ids)
	interrupted(t, w)
}

// hangingWorld is a small project whose agent hangs in iteration 1 after it
// wrote the process ids of itself and its grandchild to the fifo.
func hangingWorld(t *testing.T) (*world, string) {
	t.Helper()
	w := newWorld(t)
	w.write("proj/.supervise.yaml", shellPlan)
	w.write("proj/m_test.sh", "TestOne() { :; }\n")
	w.git("init", "-q")
	w.git("add", ".")
	w.git("commit", "-qm", "start")
	fifo := filepath.Join(w.dir, "ids")
	if err := unix.Mkfifo(fifo, 0o600); err != nil {
		t.Fatal(err)
	}
	w.write("steps/1/_hang", fifo)
	w.write("steps/1/.work", "half done\n")
	return w, fifo
}

// awaitIDs waits until the agent has written its process ids.
func awaitIDs(t *testing.T, fifo string) []int {
	t.Helper()
	f, err := os.Open(fifo) // blocks until the agent opens it
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	ids := make([]int, 2)
	if _, err := fmt.Fscan(f, &ids[0], &ids[1]); err != nil {
		t.Fatalf("read the agent's process ids: %v", err)
	}
	return ids
}

// waitInterrupted waits for the end, which has to come within the grace period
// of seven seconds and some for the machine.
func waitInterrupted(t *testing.T, cmd *exec.Cmd, screen fmt.Stringer) {
	t.Helper()
	done := make(chan error, 1)
	go func() { done <- cmd.Wait() }()
	select {
	case <-done:
	case <-time.After(30 * time.Second):
		cmd.Process.Kill()
		t.Fatalf("still running 30 s after the interruption:\n%s", screen)
	}
	if code := cmd.ProcessState.ExitCode(); code != 130 {
		t.Errorf("exit status %d, want 130:\n%s", code, screen)
	}
}

func gone(t *testing.T, ids []int) {
	t.Helper()
	for _, id := range ids {
		if err := syscall.Kill(id, 0); !errors.Is(err, syscall.ESRCH) {
			t.Errorf("process %d of the agent is still there (%v)", id, err)
			syscall.Kill(id, syscall.SIGKILL)
		}
	}
}

func interrupted(t *testing.T, w *world) {
	t.Helper()
	s := state(t, w)
	if s.Status != ledger.Aborted || s.StopReason != "interrupted" || s.ExitCode != 130 {
		t.Errorf("state %s, %s, %d, want aborted, interrupted, 130", s.Status, s.StopReason, s.ExitCode)
	}
}

// safeBuffer collects output from several goroutines.
type safeBuffer struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (b *safeBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.Write(p)
}

func (b *safeBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.String()
}

// drain reads what is shown on a terminal, so that no process waits to write there.
func drain(f *os.File) *safeBuffer {
	b := &safeBuffer{}
	go io.Copy(b, f)
	return b
}
