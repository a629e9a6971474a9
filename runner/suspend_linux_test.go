package runner_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"syscall"
	"testing"
	"time"

	"supervise/runner"

	"golang.org/x/sys/unix"
	"golang.org/x/term"
)

// runs is a program that runs the child args[0] for the user at its terminal,
// and nothing else.
func runs(args []string) int {
	res, err := runner.Run(context.Background(), runner.Command{
		Args: self(args[0], args[1:]...), Terminal: &runner.Terminal{In: os.Stdin, Out: os.Stdout},
	})
	fmt.Println("ended", res.Cause, res.ExitCode, err)
	return 0
}

// lineReader leaves its terminal as it is, prints when it is continued, and reads
// lines until one says quit.
func lineReader([]string) int {
	continued := make(chan os.Signal, 1)
	signal.Notify(continued, unix.SIGCONT)
	go func() {
		for range continued {
			size, _ := unix.IoctlGetWinsize(0, unix.TIOCGWINSZ)
			fmt.Printf("continued %dx%d\n", size.Col, size.Row)
		}
	}()
	fmt.Println("ready")
	for {
		var line string
		if _, err := fmt.Scanln(&line); err != nil {
			return 1
		}
		fmt.Printf("<%s>\n", line)
		if line == "quit" {
			return 3
		}
	}
}

// editor has its terminal in raw mode and suspends itself at Ctrl-Z, as vim does.
func editor([]string) int {
	state, err := term.MakeRaw(0)
	if err != nil {
		return 1
	}
	enter := func() { fmt.Print("\x1b[?1049h\x1b[?2004h\x1b[?1006heditor.") }
	enter()
	buf := make([]byte, 1)
	for {
		if n, err := os.Stdin.Read(buf); n == 0 || err != nil {
			return 1
		}
		switch buf[0] {
		case 0x1a:
			fmt.Print("\x1b[?1006l\x1b[?2004l\x1b[?1049l")
			_ = term.Restore(0, state)
			stopWithGroup()
			_, _ = term.MakeRaw(0)
			enter()
		case 'q':
			return 0
		default:
			fmt.Printf("%02x.", buf[0])
		}
	}
}

// stopWithGroup returns when this process has been stopped and continued.
func stopWithGroup() {
	continued := make(chan os.Signal, 1)
	signal.Notify(continued, unix.SIGCONT)
	defer signal.Stop(continued)
	_ = unix.Kill(0, unix.SIGTSTP)
	<-continued
}

// atShell starts an interactive shell on a separate terminal.
func atShell(t *testing.T) (s *sitting, screen *watcher) {
	t.Helper()
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Skip("needs bash, a shell with job control")
	}
	s = &sitting{}
	s.keyboard, s.tty = userTerminal(t)
	screen = watchFor("$>", 1)
	go copyUntilClosed(screen, s.keyboard)
	cmd := &exec.Cmd{
		Path: bash, Args: []string{"bash", "--norc", "--noediting", "-i"}, Env: []string{"PS1=$> ", "PATH=" + os.Getenv("PATH"), "TERM=dumb"},
		Stdin: s.tty, Stdout: s.tty, Stderr: s.tty, SysProcAttr: &syscall.SysProcAttr{Setsid: true, Setctty: true},
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	screen.await(t)
	s.before = stateOf(t, s.tty)
	return s, screen
}

// type types and waits until a text has come n times since.
func (s *sitting) typeFor(t *testing.T, screen *watcher, keys, text string) {
	t.Helper()
	screen.next(text)
	s.press(t, keys)
	screen.await(t)
}

func command(args []string) string { return "'" + strings.Join(args, "' '") + "'" }

func isRaw(t *testing.T, tty *os.File) bool { return stateOf(t, tty).Lflag&unix.ICANON == 0 }

// TestSuspend: Ctrl-Z and fg at a shell do what they do to any other program,
// whether the child leaves the key to its terminal or acts on it itself.
func TestSuspend(t *testing.T) {
	for _, tc := range []struct{ child, ready, back, quit string }{
		{"line-reader", "ready", "continued 97x31", "quit\r"},
		{"editor", "editor.", "editor.", "q"},
	} {
		t.Run(tc.child, func(t *testing.T) {
			s, screen := atShell(t)
			s.typeFor(t, screen, command(self("runs", tc.child))+"\n", tc.ready)
			if !isRaw(t, s.tty) {
				t.Error("the user's terminal is not raw while the child runs")
			}
			for _, cols := range []uint16{90, 97} {
				s.typeFor(t, screen, "\x1a", "Stopped")
				s.typeFor(t, screen, "echo shell-$((40+2))\n", "shell-42")
				if state := stateOf(t, s.tty); state != s.before {
					t.Errorf("suspended, the terminal is %+v, was %+v", state, s.before)
				}
				if err := unix.IoctlSetWinsize(int(s.keyboard.Fd()), unix.TIOCSWINSZ, &unix.Winsize{Col: cols, Row: 31}); err != nil {
					t.Fatal(err)
				}
				s.typeFor(t, screen, "fg\n", strings.Replace(tc.back, "97", fmt.Sprint(cols), 1))
				if !isRaw(t, s.tty) {
					t.Error("after fg the user's terminal is not raw")
				}
			}
			s.typeFor(t, screen, tc.quit, "ended exited")
			s.typeFor(t, screen, "echo shell-$((40+3))\n", "shell-43")
			if state := stateOf(t, s.tty); state != s.before {
				t.Errorf("at the end the terminal is %+v, was %+v", state, s.before)
			}
		})
	}
}

// TestSuspendedIsNotOurs: killed while it is suspended, we leave the terminal to
// its current user.
func TestSuspendedIsNotOurs(t *testing.T) {
	s, screen := atShell(t)
	s.typeFor(t, screen, command(self("runs", "line-reader"))+"\n", "ready")
	s.typeFor(t, screen, "\x1a", "Stopped")
	pids := pidDescriptors(t, withParents(t, childrenNamed(t, "line-reader")))
	s.typeFor(t, screen, "kill -9 %1; echo killed-$((40+1))\n", "killed-41")
	awaitGone(t, pids)
	s.typeFor(t, screen, "echo shell-$((40+2))\n", "shell-42")
	if text := screen.String(); strings.Contains(text, "\x1b[?1049l") {
		t.Errorf("the screen of the shell was reset: %q", text)
	}
}

// TestTerminalIsLeftAloneInTheBackground: started in the background, Run does not
// touch the user's terminal until the shell gives it to us.
func TestTerminalIsLeftAloneInTheBackground(t *testing.T) {
	s, screen := atShell(t)
	s.typeFor(t, screen, command(self("runs", "line-reader"))+" &\n", "ready")
	s.typeFor(t, screen, "echo shell-$((40+2))\n", "shell-42")
	s.press(t, "fg\n")
	awaitRaw(t, s.tty)
	s.typeFor(t, screen, "hello\r", "<hello>")
	s.typeFor(t, screen, "quit\r", "ended exited")
}

func awaitRaw(t *testing.T, tty *os.File) {
	t.Helper()
	limit := time.After(10 * time.Second)
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for !isRaw(t, tty) {
		select {
		case <-tick.C:
		case <-limit:
			t.Fatal("the terminal is not put into raw mode")
		}
	}
}

// childrenNamed returns the pids of this program acting as that child.
func childrenNamed(t *testing.T, name string) (pids []int) {
	t.Helper()
	for _, line := range survivors(t, name) {
		var pid int
		if _, err := fmt.Sscanf(line, "/proc/%d/", &pid); err == nil {
			pids = append(pids, pid)
		}
	}
	return pids
}

// withParents adds the shims, which do not show whose they are.
func withParents(t *testing.T, pids []int) []int {
	t.Helper()
	for _, pid := range pids {
		stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
		if err != nil {
			t.Fatal(err)
		}
		var state string
		var parent int
		if _, err := fmt.Sscanf(string(stat[strings.LastIndexByte(string(stat), ')')+1:]), "%s %d", &state, &parent); err != nil {
			t.Fatal(err)
		}
		if name, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", parent)); strings.HasPrefix(string(name), "supervise-shim") {
			pids = append(pids, parent)
		}
	}
	return pids
}

// TestChildThatStopsItselfDoesNotSuspendRun: only a stop that follows the user's
// key suspends Run, so that a child that stops itself does not block it.
func TestChildThatStopsItselfDoesNotSuspendRun(t *testing.T) {
	out := watchFor("back", 1)
	res := mustRun(t, runner.Command{
		Args: []string{"/bin/sh", "-c", "kill -TSTP $$; echo back; exit 6"}, Terminal: &runner.Terminal{}, Stdout: out, Timeout: 20 * time.Second,
	})
	if res.ExitCode != 6 || res.Cause != runner.Exited {
		t.Errorf("got %+v and %q, want exit status 6", res, out)
	}
}
