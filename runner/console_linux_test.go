package runner_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"supervise/runner"

	"golang.org/x/sys/unix"
)

func copyUntilClosed(w io.Writer, r io.Reader) { _, _ = io.Copy(w, r) }

// sitting is a user at a terminal who runs one child.
type sitting struct {
	keyboard, tty *os.File
	out           *watcher
	before        unix.Termios
	asked         chan struct{}
	ended         chan struct{}
	res           runner.Result
	err           error
}

// sit runs a child on the user's terminal. The child's output is watched for a
// text. Unless patient, the first request to stop cancels the run, after the
// OnInterrupt of c where that is set.
func sit(t *testing.T, c runner.Command, text string, patient bool) *sitting {
	t.Helper()
	s := &sitting{out: watchFor(text, 1), asked: make(chan struct{}, 8), ended: make(chan struct{})}
	s.keyboard, s.tty = userTerminal(t)
	s.before = stateOf(t, s.tty)
	ctx, cancel := context.WithCancel(context.Background())
	t.Cleanup(cancel)
	c.Terminal = &runner.Terminal{In: s.tty, Out: s.tty}
	c.Stdout = s.out
	first := c.OnInterrupt
	c.OnInterrupt = func() {
		s.asked <- struct{}{}
		if first != nil {
			first()
		}
		if !patient {
			cancel()
		}
	}
	go func() {
		defer close(s.ended)
		s.res, s.err = runner.Run(ctx, c)
	}()
	return s
}

func (s *sitting) press(t *testing.T, keys string) {
	t.Helper()
	if _, err := s.keyboard.WriteString(keys); err != nil {
		t.Fatal(err)
	}
}

// end waits for the end and checks that the terminal is as it was.
func (s *sitting) end(t *testing.T) {
	t.Helper()
	select {
	case <-s.ended:
	case <-time.After(20 * time.Second):
		t.Fatalf("the child does not end; output so far:\n%s", s.out)
	}
	if s.err != nil {
		t.Fatal(s.err)
	}
	if after := stateOf(t, s.tty); after != s.before {
		t.Errorf("the terminal was %+v and is %+v", s.before, after)
	}
}

func (s *sitting) wasAsked() bool { return len(s.asked) > 0 }

func TestCtrlCInCookedChildStops(t *testing.T) {
	// Two signals that arrive together are one, so the stop waits for the first to
	// be noticed.
	screen := watchFor("got-1", 1)
	s := sit(t, runner.Command{
		Args: []string{"/bin/sh", "-c", `n=0; trap 'n=$((n+1)); echo got-$n' INT; trap 'exit 9' TERM; echo ready; while :; do sleep 0.02; done`},
		// Long enough that a second SIGINT would be noticed.
		Grace:       runner.Grace{Interrupt: 300 * time.Millisecond, Terminate: time.Minute},
		OnInterrupt: func() { <-screen.seen },
	}, "ready", false)
	go copyUntilClosed(screen, s.keyboard)
	s.out.await(t)
	s.press(t, "\x03")
	s.end(t)
	if !s.wasAsked() || s.res.Cause != runner.Stopped || s.res.ExitCode != 9 {
		t.Errorf("got %+v, asked %t; want stopped after the user asked", s.res, s.wasAsked())
	}
	if out := s.out.String(); !strings.Contains(out, "got-1") || strings.Contains(out, "got-2") {
		t.Errorf("one Ctrl-C has to be one SIGINT: %q", out)
	}
}

func TestSecondCtrlCCutsGraceThirdKills(t *testing.T) {
	long := runner.Grace{Interrupt: time.Minute, Terminate: time.Minute}
	t.Run("second", func(t *testing.T) {
		s := sit(t, runner.Command{
			Args: []string{"/bin/sh", "-c", `trap '' INT; trap 'exit 9' TERM; echo ready; while :; do sleep 0.02; done`}, Grace: long,
		}, "ready", false)
		s.out.await(t)
		s.press(t, "\x03")
		<-s.asked
		s.press(t, "\x03")
		s.end(t)
		if s.res.ExitCode != 9 || s.res.Cause != runner.Stopped {
			t.Errorf("got %+v, want ended by SIGTERM", s.res)
		}
	})
	t.Run("third", func(t *testing.T) {
		pids := pidFile(t)
		s := sit(t, runner.Command{Args: self("hostile", pids), Grace: long}, "up\r\nup\r\nup\r\nup\r\nup\r\nup", false)
		s.out.await(t)
		s.press(t, "\x03\x03\x03")
		s.end(t)
		wantNothing(t, pids)
		if s.res.Signal != "SIGKILL" {
			t.Errorf("got %+v, want killed", s.res)
		}
	})
	t.Run("nobody listens", func(t *testing.T) {
		s := sit(t, runner.Command{Args: self("stubborn", pidFile(t)), Grace: long}, "up", true)
		s.out.await(t)
		s.press(t, "\x03\x03\x03")
		s.end(t)
		if s.res.Signal != "SIGKILL" || s.res.Cause != runner.Interrupted {
			t.Errorf("got %+v, want interrupted", s.res)
		}
	})
}

func TestCtrlCInRawChildIsTheChilds(t *testing.T) {
	t.Run("once", func(t *testing.T) {
		s := sit(t, runner.Command{Args: self("raw")}, "ready.", false)
		s.out.await(t)
		s.press(t, "\x03q")
		s.end(t)
		if s.wasAsked() || s.res.ExitCode != 0 || !strings.Contains(s.out.String(), "ready.03.71.") {
			t.Errorf("got %+v, asked %t, output %q; want only the byte", s.res, s.wasAsked(), s.out)
		}
	})
	for name, keys := range map[string]string{"twice": "\x03\x03", "twice by kitty's protocol": "\x1b[99;5u\x1b[99;5u"} {
		t.Run(name, func(t *testing.T) {
			s := sit(t, runner.Command{Args: self("raw"), Grace: quick}, "ready.", false)
			s.out.await(t)
			s.press(t, keys)
			s.end(t)
			if !s.wasAsked() || s.res.Cause != runner.Stopped {
				t.Errorf("got %+v, asked %t; want stopped", s.res, s.wasAsked())
			}
		})
	}
	t.Run("three times", func(t *testing.T) {
		s := sit(t, runner.Command{Args: self("raw"), Grace: runner.Grace{Interrupt: time.Minute, Terminate: time.Minute}}, "ready.", true)
		s.out.await(t)
		s.press(t, "\x03\x03\x03")
		s.end(t)
		if s.res.Signal != "SIGKILL" {
			t.Errorf("got %+v, want killed", s.res)
		}
	})
}

// TestInterruptSignal: where the terminal is not ours, Ctrl-C is a signal to the
// supervising process.
func TestInterruptSignal(t *testing.T) {
	pids := pidFile(t)
	out := watchFor("up\n", 1)
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	go func() {
		<-out.seen
		_ = unix.Kill(os.Getpid(), unix.SIGINT)
	}()
	res, err := runner.Run(ctx, runner.Command{Args: self("stubborn", pids), Stdout: out, Grace: quick, OnInterrupt: cancel})
	if err != nil || res.Cause != runner.Stopped {
		t.Errorf("got %+v, %v; want stopped", res, err)
	}
	wantNothing(t, pids)
}

// TestKeysReachTheChildUntouched: mouse, paste and any other bytes are passed on
// as they come, also more than a terminal takes as one line.
func TestKeysReachTheChildUntouched(t *testing.T) {
	s := sit(t, runner.Command{Args: self("raw")}, "ready.", false)
	s.out.await(t)
	keys := "\x1b[<0;10;5M\x1b[<0;10;5m\x1b[200~" + strings.Repeat("paste\r\n\x1a\x04\x13", 2000) + "ä\x1b[201~\x1b[I"
	go copyUntilClosed(io.Discard, s.keyboard)
	s.press(t, keys+"q")
	s.end(t)
	var want strings.Builder
	for _, b := range []byte(keys + "q") {
		fmt.Fprintf(&want, "%02x.", b)
	}
	if got := strings.TrimPrefix(s.out.String(), "ready."); got != want.String() {
		t.Errorf("%d bytes arrived that differ from the %d typed", len(got)/3, len(keys)+1)
	}
}

// TestPasteWaits: a child that is busy gets all that was pasted meanwhile, and a
// Ctrl-C behind it is seen all the same.
func TestPasteWaits(t *testing.T) {
	t.Parallel()
	s := sit(t, runner.Command{Args: self("busy", t.Name()), Grace: quick}, "ready.", false)
	s.out.await(t)
	paste := strings.Repeat("0123456789abcdef", 6<<10)
	s.press(t, paste)
	s.out.next("read " + fmt.Sprint(len(paste)))
	for _, pid := range childrenNamed(t, t.Name()) {
		if err := unix.Kill(pid, unix.SIGUSR1); err != nil {
			t.Fatal(err)
		}
	}
	s.out.await(t)
	s.press(t, paste+"\x03\x03")
	s.end(t)
	if !s.wasAsked() {
		t.Error("Ctrl-C behind what the child does not read was not seen")
	}
}

func TestTypingReachesTheChild(t *testing.T) {
	s := sit(t, runner.Command{Args: []string{"/bin/sh", "-c", `echo ready; read line; echo "<$line>"`}}, "ready", false)
	screen := watchFor("<hello>", 1)
	go copyUntilClosed(screen, s.keyboard)
	s.out.await(t)
	s.press(t, "hello\r")
	screen.await(t) // mirrored to the user
	s.end(t)
	if !strings.Contains(s.out.String(), "<hello>") {
		t.Errorf("output %q, want the line typed", s.out)
	}
}

// TestTypingAfterTheEndIsKept: no key is taken that the child cannot have.
func TestTypingAfterTheEndIsKept(t *testing.T) {
	s := sit(t, runner.Command{Args: self("exit", "0")}, "", false)
	s.end(t)
	s.press(t, "next\n")
	buf := make([]byte, 16)
	n, err := s.tty.Read(buf)
	if err != nil || string(buf[:n]) != "next\n" {
		t.Errorf("got %q, %v; want what was typed", buf[:n], err)
	}
}

func TestSizeFollowsTheUser(t *testing.T) {
	keyboard, tty := userTerminal(t)
	resize := func(cols, rows uint16) {
		if err := unix.IoctlSetWinsize(int(keyboard.Fd()), unix.TIOCSWINSZ, &unix.Winsize{Col: cols, Row: rows}); err != nil {
			t.Error(err)
		}
	}
	resize(90, 30)
	out := watchFor("ready", 1)
	go copyUntilClosed(io.Discard, keyboard)
	done := make(chan struct{})
	go func() {
		defer close(done)
		<-out.seen
		resize(91, 31)
		// The kernel signals the group in the foreground of that terminal, which this
		// test program is not.
		_ = unix.Kill(os.Getpid(), unix.SIGWINCH)
	}()
	var recording bytes.Buffer
	cast := runner.NewCast(&recording, 90, 30)
	terminal := &runner.Terminal{In: tty, Out: tty, OnResize: func(cols, rows uint16) {
		if err := cast.Resize(cols, rows); err != nil {
			t.Error(err)
		}
	}}
	mustRun(t, runner.Command{Args: self("resized"), Terminal: terminal, Stdout: io.MultiWriter(cast, out)})
	<-done
	if err := cast.Close(); err != nil {
		t.Fatal(err)
	}
	if _, events := readCast(t, recording.Bytes()); len(events) < 2 || !slices.ContainsFunc(events, func(e event) bool { return e.code == "r" && e.data == "91x31" }) {
		t.Errorf("the recording does not tell the size: %v", events)
	}
	if !strings.Contains(out.String(), "size=91x31") {
		t.Errorf("output %q, want the new size", out)
	}
}

func TestModesLeftOnAreSwitchedOff(t *testing.T) {
	for _, tc := range []struct{ child, want string }{
		{"modes", "\x1b[?1049h\x1b[?2004h\x1b[?25l\x1b[?1049l\x1b[?25h\x1b[?2004l\x1b[0mEND"},
		{"say", "plain\r\nEND"},
	} {
		keyboard, tty := userTerminal(t)
		screen := watchFor("END", 1)
		go copyUntilClosed(screen, keyboard)
		mustRun(t, runner.Command{Args: self(tc.child, "plain"), Terminal: &runner.Terminal{In: tty, Out: tty}})
		if _, err := tty.WriteString("END"); err != nil {
			t.Fatal(err)
		}
		screen.await(t)
		if screen.String() != tc.want {
			t.Errorf("%s: the screen got %q, want %q", tc.child, screen.String(), tc.want)
		}
	}
}
