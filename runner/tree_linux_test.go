package runner_test

import (
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"supervise/runner"

	"github.com/creack/pty"
	"golang.org/x/sys/unix"
	"golang.org/x/term"
)

// dupWithoutCloseOnExec returns a copy of f that children inherit.
func dupWithoutCloseOnExec(f *os.File) (*os.File, error) {
	fd, err := unix.FcntlInt(f.Fd(), unix.F_DUPFD, 20)
	if err != nil {
		return nil, err
	}
	return os.NewFile(uintptr(fd), "leaked"), nil
}

// pidFile returns the path of a new pid file; it marks a tree as well.
func pidFile(t *testing.T) string {
	t.Helper()
	return filepath.Join(t.TempDir(), "pids")
}

// wantNothing fails when something of a tree is left.
func wantNothing(t *testing.T, pids string) {
	t.Helper()
	if left := survivors(t, pids); len(left) > 0 {
		t.Errorf("left over:\n%s", strings.Join(left, "\n"))
	}
	for _, pid := range notedPids(t, pids) {
		if alive(pid) {
			t.Errorf("process %d is left", pid)
		}
	}
}

// TestStopHostileTree stops a child that ignores every polite signal and has
// what escapes a group, a session, an environment marker and a single look.
func TestStopHostileTree(t *testing.T) {
	for _, way := range ways {
		t.Run(way.name, func(t *testing.T) {
			pids := pidFile(t)
			ctx, cancel := context.WithCancel(context.Background())
			defer cancel()
			out := watchFor("up\r", hostileUps)
			if way.terminal == nil {
				out = watchFor("up\n", hostileUps)
			}
			ended := make(chan struct{})
			var res runner.Result
			var err error
			go func() {
				defer close(ended)
				res, err = runner.Run(ctx, runner.Command{Args: self("hostile", pids), Terminal: way.terminal, Stdout: out, Grace: quick})
			}()
			out.await(t)
			if len(survivors(t, pids)) < hostileUps-1 {
				t.Fatalf("the tree is not there: %v", survivors(t, pids))
			}
			started := time.Now()
			cancel()
			<-ended
			if took := time.Since(started); took > 3*time.Second {
				t.Errorf("the stop took %v", took)
			}
			wantNothing(t, pids)
			if err != nil || res.Cause != runner.Stopped || res.Signal != "SIGKILL" || res.ExitCode != -1 {
				t.Errorf("got %+v, %v; want stopped by SIGKILL", res, err)
			}
			if len(res.Leftovers) < 4 || !slices.Contains(res.Leftovers, filepath.Base(os.Args[0])) {
				t.Errorf("leftovers %v do not name the tree", res.Leftovers)
			}
		})
	}
}

// TestStopPolitely: one who listens is not killed.
func TestStopPolitely(t *testing.T) {
	for _, tc := range []struct {
		name, script string
		grace        runner.Grace
		code         int
	}{
		{"interrupt", `trap 'exit 7' INT; echo ready; while :; do sleep 0.02; done`, runner.Grace{}, 7},
		{"terminate", `trap '' INT; trap 'exit 8' TERM; echo ready; while :; do sleep 0.02; done`, runner.Grace{Interrupt: 20 * time.Millisecond}, 8},
		{"terminate at once", `trap 'exit 7' INT; trap 'exit 8' TERM; echo ready; while :; do sleep 0.02; done`, runner.Grace{Interrupt: -1}, 8},
	} {
		for _, way := range ways {
			t.Run(tc.name+"/"+way.name, func(t *testing.T) {
				ctx, cancel := context.WithCancel(context.Background())
				defer cancel()
				out := watchFor("ready", 1)
				go func() { <-out.seen; cancel() }()
				res, err := runner.Run(ctx, runner.Command{Args: []string{"/bin/sh", "-c", tc.script}, Terminal: way.terminal, Stdout: out, Grace: tc.grace})
				if err != nil || res.ExitCode != tc.code || res.Cause != runner.Stopped {
					t.Errorf("got %+v, %v; want exit status %d", res, err, tc.code)
				}
			})
		}
	}
}

// TestStopSequence: a child that ignores signals gets SIGINT, SIGTERM and SIGKILL, after two
// and five seconds.
func TestStopSequence(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	ready, asked, terminated := watchFor("ready", 1), watchFor("INT", 1), watchFor("TERM", 1)
	var stopped, notifiedAt time.Time
	watched := make(chan struct{})
	go func() {
		defer close(watched)
		ready.wait(t.Context())
		stopped = time.Now()
		cancel()
		terminated.wait(t.Context())
		notifiedAt = time.Now()
	}()
	res, err := runner.Run(ctx, runner.Command{
		Args:   []string{"/bin/sh", "-c", `trap 'echo INT' INT; trap 'echo TERM' TERM; echo ready; while :; do sleep 0.02; done`},
		Stdout: io.MultiWriter(ready, asked, terminated),
	})
	took := time.Since(stopped)
	<-watched
	if err != nil || res.Cause != runner.Stopped || res.Signal != "SIGKILL" {
		t.Errorf("got %+v, %v; want stopped by SIGKILL", res, err)
	}
	asked.await(t)
	if early := notifiedAt.Sub(stopped); early < 2*time.Second || took < 7*time.Second {
		t.Errorf("SIGTERM came after %v and the end after %v, want two and seven seconds", early, took)
	}
	if text := asked.String(); strings.Index(text, "INT") > strings.Index(text, "TERM") {
		t.Errorf("got %q, want SIGINT first", text)
	}
}

func TestStopsStoppedChild(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	out := watchFor("ready", 1)
	go func() { <-out.seen; cancel() }()
	res, err := runner.Run(ctx, runner.Command{
		Args: []string{"/bin/sh", "-c", `trap 'exit 7' INT
			( until grep -q '^State:.T' /proc/$$/status; do :; done; echo ready ) &
			kill -STOP $$; while :; do sleep 0.02; done`}, Stdout: out,
	})
	if err != nil || res.ExitCode != 7 {
		t.Errorf("got %+v, %v; want exit status 7", res, err)
	}
}

func TestTimeout(t *testing.T) {
	t.Parallel()
	for _, way := range ways {
		t.Run(way.name, func(t *testing.T) {
			t.Parallel()
			pids := pidFile(t)
			res := mustRun(t, runner.Command{Args: self("stubborn", pids), Terminal: way.terminal, Timeout: 200 * time.Millisecond, Grace: quick})
			if res.Cause != runner.TimedOut || res.Signal != "SIGKILL" {
				t.Errorf("got %+v, want timed out", res)
			}
			if survivors := survivors(t, pids); len(survivors) > 0 {
				t.Errorf("left over: %v", survivors)
			}
		})
	}
}

// TestFirstOutput: one that says nothing at all is stopped early, one that has
// said something may be silent.
func TestFirstOutput(t *testing.T) {
	for _, way := range ways {
		t.Run(way.name, func(t *testing.T) {
			c := runner.Command{Args: []string{"/bin/sleep", "300"}, Terminal: way.terminal, FirstOutput: 200 * time.Millisecond, Idle: time.Minute, Grace: quick}
			if res := mustRun(t, c); res.Cause != runner.NoOutput || res.Signal != "SIGINT" {
				t.Errorf("silent: got %+v, want no output", res)
			}
			c.Args, c.FirstOutput = []string{"/bin/sh", "-c", "echo x; sleep 1.2"}, time.Second
			if res := mustRun(t, c); res.Cause != runner.Exited || res.Ended.Sub(res.Started) < c.FirstOutput {
				t.Errorf("silent after a word: got %+v, want exited", res)
			}
		})
	}
}

func TestIdle(t *testing.T) {
	for _, way := range ways {
		t.Run(way.name, func(t *testing.T) {
			c := runner.Command{Args: self("stubborn", pidFile(t)), Terminal: way.terminal, Idle: 300 * time.Millisecond, Grace: quick}
			if res := mustRun(t, c); res.Cause != runner.WentIdle {
				t.Errorf("silent: got %+v, want idle", res)
			}
			c.Args, c.Idle = self("chatty"), 600*time.Millisecond
			if res := mustRun(t, c); res.Cause != runner.Exited || res.Ended.Sub(res.Started) < c.Idle {
				t.Errorf("chatty: got %+v, want exited after more than %v", res, c.Idle)
			}
		})
	}
}

// TestLeftovers: a daemon that outlives a child which ended well is gone when Run
// returns, is named, and does not hold Run up although it holds the output open.
func TestLeftovers(t *testing.T) {
	t.Parallel()
	for _, way := range ways {
		for _, tc := range []struct {
			name   string
			args   func(pids string) []string
			leaves string
		}{
			{"polite", func(pids string) []string {
				return []string{"/bin/sh", "-c", `echo $$ >"$0"; setsid sh -c 'sleep 300 & exec sleep 301' & exit 0`, pids}
			}, ""},
			{"background", func(pids string) []string {
				return []string{"/bin/sh", "-c", `sleep 300 & echo $! >"$0"; until grep -q sleep /proc/$!/comm; do :; done; exit 0`, pids}
			}, "sleep"},
			{"stubborn daemon", func(pids string) []string {
				// Through a FIFO the child learns that the daemon is up.
				return []string{"/bin/sh", "-c", `mkfifo "$1.f"; "$0" act-as-child stubborn "$1" >"$1.f" & read up <"$1.f"; exit 0`, os.Args[0], pids}
			}, filepath.Base(os.Args[0])},
		} {
			t.Run(way.name+"/"+tc.name, func(t *testing.T) {
				t.Parallel()
				pids := pidFile(t)
				started := time.Now()
				res := mustRun(t, runner.Command{Args: append([]string{"/usr/bin/env"}, tc.args(pids)...), Terminal: way.terminal})
				wantNothing(t, pids)
				if res.Cause != runner.Exited || res.ExitCode != 0 {
					t.Errorf("got %+v, want exit status 0", res)
				}
				if took := time.Since(started); took > 5*time.Second {
					t.Errorf("took %v", took)
				}
				// On a terminal the kernel itself hangs up the foreground group when its
				// leader ends, so what listens to that may be gone before it is seen.
				if tc.leaves != "" && way.terminal == nil && !slices.Contains(res.Leftovers, tc.leaves) {
					t.Errorf("leftovers %v do not name %s", res.Leftovers, tc.leaves)
				}
			})
		}
	}
}

// TestForeignHolder: a process outside the tree that got hold of the output must
// not hold Run up.
func TestForeignHolder(t *testing.T) {
	var res runner.Result
	fifo := filepath.Join(t.TempDir(), "fifo")
	if err := unix.Mkfifo(fifo, 0o600); err != nil {
		t.Fatal(err)
	}
	go func() {
		// Opens the child's output by way of /proc and says so; holds it until the
		// test ends.
		pid, err := os.ReadFile(fifo)
		if err != nil {
			return
		}
		f, err := os.OpenFile("/proc/"+strings.TrimSpace(string(pid))+"/fd/1", os.O_WRONLY, 0)
		if err == nil {
			t.Cleanup(func() { f.Close() })
		}
		_ = os.WriteFile(fifo, []byte("held\n"), 0o600)
	}()
	started := time.Now()
	res = mustRun(t, runner.Command{Args: []string{"/bin/sh", "-c", `echo $$ >"$0"; read held <"$0"; echo done`, fifo}})
	if took := time.Since(started); res.ExitCode != 0 || took > 3*time.Second || took < 400*time.Millisecond {
		t.Errorf("got %+v after %v, want exit status 0 after the time for draining", res, took)
	}
}

// userTerminal is a pseudo-terminal in the role of the user's.
func userTerminal(t *testing.T) (keyboard, tty *os.File) {
	t.Helper()
	keyboard, tty, err := pty.Open()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { keyboard.Close(); tty.Close() })
	return keyboard, tty
}

func stateOf(t *testing.T, tty *os.File) unix.Termios {
	t.Helper()
	state, err := unix.IoctlGetTermios(int(tty.Fd()), unix.TCGETS)
	if err != nil {
		t.Fatal(err)
	}
	return *state
}

// TestSupervisorKilled kills a supervising process in the only way that cannot
// be caught: the shim clears up and puts the terminal back.
func TestSupervisorKilled(t *testing.T) {
	pids := pidFile(t)
	keyboard, tty := userTerminal(t)
	screen := watchFor("\x1b[?1049l", 1)
	go copyUntilClosed(screen, keyboard)
	before := stateOf(t, tty)
	argv := self("supervisor", "terminal", "hostile", pids)
	out := watchFor("up", hostileUps)
	cmd := &exec.Cmd{Path: argv[0], Args: argv, Stdin: tty, Stdout: out, SysProcAttr: &syscall.SysProcAttr{Setsid: true}}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	out.await(t)
	if stateOf(t, tty).Lflag&unix.ICANON != 0 {
		t.Error("the terminal is not in raw mode while the child runs")
	}
	fds := pidDescriptors(t, notedPids(t, pids))
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait()
	screen.await(t) // the shim writes it after the tree is gone
	awaitGone(t, fds)
	if left := survivors(t, pids); len(left) > 0 {
		t.Errorf("left over:\n%s", strings.Join(left, "\n"))
	}
	awaitState(t, tty, before)
}

// pidDescriptors pins those of the processes that still are.
func pidDescriptors(t *testing.T, pids []int) []int {
	t.Helper()
	var fds []int
	for _, pid := range pids {
		fd, err := unix.PidfdOpen(pid, 0)
		if errors.Is(err, unix.ESRCH) {
			continue // a generation of the respawner
		}
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = unix.Close(fd) })
		fds = append(fds, fd)
	}
	return fds
}

// awaitGone waits for the end of pinned processes.
func awaitGone(t *testing.T, fds []int) {
	t.Helper()
	for _, fd := range fds {
		set := []unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}
		if n, err := unix.Poll(set, 5000); err != nil || n != 1 {
			t.Errorf("a process of the tree is left (%v)", err)
		}
	}
}

// awaitState waits until the terminal is as before: the shim changes it in its
// last moment, which no event reports.
func awaitState(t *testing.T, tty *os.File, want unix.Termios) {
	t.Helper()
	limit := time.After(5 * time.Second)
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for stateOf(t, tty) != want {
		select {
		case <-tick.C:
		case <-limit:
			t.Fatalf("the terminal is %+v, was %+v", stateOf(t, tty), want)
		}
	}
}

// TestShimAttacked: what the child does to its parent costs it its life, too.
func TestShimAttacked(t *testing.T) {
	t.Run("stopped", func(t *testing.T) {
		ctx, cancel := context.WithCancel(context.Background())
		defer cancel()
		out := watchFor("up", 1)
		go func() { <-out.seen; cancel() }()
		res, err := runner.Run(ctx, runner.Command{Args: self("stop-shim"), Stdout: out, Grace: quick})
		if err != nil || res.Cause != runner.Stopped {
			t.Errorf("got %+v, %v; want stopped", res, err)
		}
	})
	t.Run("stopped again and again", func(t *testing.T) {
		for _, way := range ways {
			pids := pidFile(t)
			res, err := runner.Run(t.Context(), runner.Command{Args: self("harass", pids), Terminal: way.terminal})
			if err != nil || res.Cause != runner.Attacked {
				t.Errorf("%s: got %+v, %v; want attacked", way.name, res, err)
			}
			wantNothing(t, pids)
		}
	})
	t.Run("stopped by one that ends", func(t *testing.T) {
		if res := mustRun(t, runner.Command{Args: self("stop-end")}); res.ExitCode != 5 || res.Cause != runner.Exited {
			t.Errorf("got %+v, want exit status 5", res)
		}
	})
	t.Run("stopped, and its supervisor killed", func(t *testing.T) {
		_, tty := userTerminal(t)
		errs := watchFor("\n", 1)
		argv := self("supervisor", "terminal", "stubborn", pidFile(t))
		cmd := &exec.Cmd{Path: argv[0], Args: argv, Stdin: tty, Stderr: errs}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		run := startedIn(t, errs)
		child, shim := run.Leader.PID, run.Shim.PID
		fds := pidDescriptors(t, []int{child, shim})
		// Stopped itself, the supervisor cannot continue the shim.
		for _, pid := range []int{cmd.Process.Pid, shim} {
			if err := unix.Kill(pid, unix.SIGSTOP); err != nil {
				t.Fatal(err)
			}
		}
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		awaitGone(t, fds)
	})
	t.Run("killed", func(t *testing.T) {
		res, err := runner.Run(context.Background(), runner.Command{Args: append(self("kill-shim"), t.Name()), NoCgroup: true})
		if err == nil || !strings.Contains(err.Error(), "was killed") {
			t.Errorf("got %+v, %v; want an error that says what happened", res, err)
		}
		if left := survivors(t, t.Name()); len(left) > 0 {
			t.Errorf("left over: %v", left)
		}
	})
}

func TestMakesNoTerminalOfAFile(t *testing.T) {
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer null.Close()
	res := mustRun(t, runner.Command{Args: self("exit", "4"), Terminal: &runner.Terminal{In: null, Out: null}})
	if res.ExitCode != 4 || term.IsTerminal(int(null.Fd())) {
		t.Errorf("got %+v, want exit status 4", res)
	}
}
