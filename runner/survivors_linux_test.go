package runner_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"supervise/runner"

	"golang.org/x/sys/unix"
)

// started is what a supervisor writes down of its child.
type started struct {
	Supervisor   int // pid
	Shim, Leader runner.Process
}

// dead is a run that is to die.
type dead struct {
	words    string // of the supervisor
	child    string
	ups      int  // of the child
	killShim bool // else it is stopped
	slowly   bool // the killed shim is held in its last moment until the test ends
}

// deadRun starts a supervisor with the child and kills it. It returns what was
// written down, and descriptors of every process that was noted.
func deadRun(t *testing.T, d dead, pids string) (started, []int) {
	t.Helper()
	_, tty := userTerminal(t)
	out, errs := watchFor("up", d.ups), watchFor("\n", 1)
	argv := self("supervisor", "terminal "+d.words, d.child, pids)
	if d.child == "background" {
		argv = self("supervisor", "terminal "+d.words, d.child, "stubborn", pids)
	}
	cmd := &exec.Cmd{Path: argv[0], Args: argv, Stdin: tty, Stdout: out, Stderr: errs, SysProcAttr: &syscall.SysProcAttr{Setsid: true}}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill() }) // where the test breaks off before
	out.await(t)
	run := startedIn(t, errs)
	if !run.Shim.Alive() || !run.Leader.Alive() {
		t.Fatalf("not alive: %+v", run)
	}
	fds := pidDescriptors(t, append(notedPids(t, pids), run.Shim.PID, run.Leader.PID))
	// Stopped itself, the supervisor cannot continue the shim.
	for _, pid := range []int{cmd.Process.Pid, run.Shim.PID} {
		if err := unix.Kill(pid, unix.SIGSTOP); err != nil {
			t.Fatal(err)
		}
	}
	if d.slowly {
		holdExit(t, run.Shim.PID)
	}
	if d.killShim {
		_ = unix.Kill(run.Shim.PID, unix.SIGKILL)
	}
	_ = cmd.Process.Kill()
	_ = cmd.Wait()
	return run, fds
}

// holdExit has a process that is killed stay in its last moment until the test ends,
// as it may on a busy machine: its tracer does not continue it.
func holdExit(t *testing.T, pid int) {
	t.Helper()
	tracing, done, over := make(chan error), make(chan struct{}), make(chan struct{})
	go func() {
		defer close(over)
		runtime.LockOSThread() // never unlocked: the end of the thread lets the process go
		_, _, errno := unix.Syscall6(unix.SYS_PTRACE, unix.PTRACE_SEIZE, uintptr(pid), 0, unix.PTRACE_O_TRACEEXIT, 0, 0)
		if errno != 0 {
			tracing <- errno
			return
		}
		tracing <- nil
		<-done
	}()
	t.Cleanup(func() { close(done); <-over })
	if err := <-tracing; err != nil {
		t.Skipf("this system lets us trace no process: %v", err)
	}
}

// startedIn waits for what a supervisor prints about its child and returns it.
func startedIn(t *testing.T, errs *watcher) started {
	t.Helper()
	errs.await(t)
	var run started
	if err := json.Unmarshal([]byte(errs.String()), &run); err != nil {
		t.Fatalf("read %q: %v", errs, err)
	}
	return run
}

func TestKillSurvivors(t *testing.T) {
	for _, tc := range []struct {
		name     string
		dead     dead
		cgroup   bool // needed
		nameless bool // another program may have started to sweep
	}{
		{"shim stopped", dead{child: "hostile", ups: hostileUps}, false, true},
		{"shim killed", dead{child: "hostile", ups: hostileUps, killShim: true}, true, true},
		{"shim killed, no cgroup", dead{child: "background", ups: 1, killShim: true, words: "nocgroup"}, false, false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if tc.cgroup && !cgroups(t) {
				t.Skip("this system lets us make no cgroup")
			}
			pids := pidFile(t)
			run, fds := deadRun(t, tc.dead, pids)
			names, err := runner.KillSurvivors(t.Context(), run.Shim, run.Leader)
			t.Cleanup(func() { reapByMarker(t, pids) })
			if err != nil {
				t.Error(err)
			}
			// The leader is named too where it has not yet died of the hangup.
			if want := filepath.Base(os.Args[0]); !tc.nameless && !slices.Equal(slices.Compact(names), []string{want}) {
				t.Errorf("named are %q, want %q", names, want)
			}
			awaitGone(t, fds)
			if run.Shim.Alive() || run.Leader.Alive() {
				t.Errorf("alive: %+v", run)
			}
		})
	}
}

// TestSweep: what a dead run has left in its cgroup ends when the next one starts.
func TestSweep(t *testing.T) {
	if !cgroups(t) {
		t.Skip("this system lets us make no cgroup")
	}
	for name, slowly := range map[string]bool{"shim dead": false, "shim dying": true} {
		t.Run(name, func(t *testing.T) {
			pids := pidFile(t)
			t.Cleanup(func() { reapByMarker(t, pids) })
			run, fds := deadRun(t, dead{child: "hostile", ups: hostileUps, killShim: true, slowly: slowly}, pids)
			if slowly {
				if !run.Shim.Alive() {
					t.Fatal("the shim is dead already")
				}
				fds = fds[:len(fds)-2] // the last are the shim, which stays, and the leader again
			}
			mustRun(t, runner.Command{Args: self("exit", "0")})
			awaitGone(t, fds)
			if left := survivors(t, pids); len(left) > 0 {
				t.Errorf("left over:\n%s", strings.Join(left, "\n"))
			}
		})
	}
}

// TestSweepSparesTheSupervised: the cgroup of a dead run in which another process is
// being supervised stays.
func TestSweepSparesTheSupervised(t *testing.T) {
	if !cgroups(t) {
		t.Skip("this system lets us make no cgroup")
	}
	lock := filepath.Join(t.TempDir(), "lock")
	up, errs := watchFor("up", 2), watchFor("\n", 2)
	argv := self("supervisor", "", "background", "supervisor", "", "wild", traits[0].name, lock)
	cmd := &exec.Cmd{Path: argv[0], Args: argv, Stdout: up, Stderr: errs, WaitDelay: time.Millisecond}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	up.await(t)
	errs.await(t)
	runs := map[bool]started{} // by whether it is the outer one
	for line := range strings.Lines(errs.String()) {
		var run started
		if err := json.Unmarshal([]byte(line), &run); err != nil {
			t.Fatalf("read %q: %v", line, err)
		}
		runs[run.Supervisor == cmd.Process.Pid] = run
	}
	outer, inner := runs[true], runs[false]
	_ = unix.Kill(cmd.Process.Pid, unix.SIGSTOP)
	_ = unix.Kill(outer.Shim.PID, unix.SIGKILL)
	_ = cmd.Process.Kill()
	_ = cmd.Wait()
	mustRun(t, runner.Command{Args: self("exit", "0")})
	if !inner.Leader.Alive() || !inner.Shim.Alive() {
		t.Errorf("swept: %+v", inner)
	}
	names, err := runner.KillSurvivors(t.Context(), outer.Shim, outer.Leader)
	if err != nil || len(names) == 0 {
		t.Errorf("killed %v, %v", names, err)
	}
	awaitFree(t, lock)
}

// reapByMarker kills what a failed test would leave running.
func reapByMarker(t *testing.T, marker string) {
	for _, line := range survivors(t, marker) {
		var pid int
		if _, err := fmt.Sscanf(line, "/proc/%d/", &pid); err == nil {
			_ = unix.Kill(pid, unix.SIGKILL)
		}
	}
}

// TestKillSurvivorsOfAnotherLife: the processes that have the pids now are left alone.
func TestKillSurvivorsOfAnotherLife(t *testing.T) {
	cmd := exec.Command("/bin/sh", "-c", "sleep 300 & echo up; wait")
	out := watchFor("up", 1)
	cmd.Stdout, cmd.SysProcAttr = out, &syscall.SysProcAttr{Setsid: true}
	cmd.WaitDelay = time.Second
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = unix.Kill(-cmd.Process.Pid, unix.SIGKILL); _ = cmd.Wait() })
	out.await(t)
	self, err := runner.CurrentProcess()
	if err != nil || !self.Alive() {
		t.Fatalf("%+v: %v", self, err)
	}
	earlier := runner.Process{PID: cmd.Process.Pid, Start: "1" + self.Start}
	rebooted := runner.Process{PID: self.PID, Start: self.Start + "0"}
	for _, p := range []runner.Process{earlier, rebooted, {PID: self.PID}, {}} {
		if p.Alive() {
			t.Errorf("%+v is alive", p)
		}
	}
	names, err := runner.KillSurvivors(t.Context(), earlier, earlier)
	if err != nil || len(names) != 0 {
		t.Errorf("killed %v, %v", names, err)
	}
	if unix.Kill(cmd.Process.Pid, 0) != nil {
		t.Error("the innocent one is dead")
	}
}

// TestKillSurvivorsInDoubt: a session whose leader is gone may be that of a later
// process with the same pid. What bears no mark is named and left alone.
func TestKillSurvivorsInDoubt(t *testing.T) {
	out := watchFor("\n", 1)
	cmd := exec.Command("/bin/sh", "-c", "sleep 300 & until grep -q sleep /proc/$!/comm; do :; done; echo $!")
	cmd.Stdout, cmd.SysProcAttr = out, &syscall.SysProcAttr{Setsid: true}
	cmd.WaitDelay = time.Millisecond
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	self, err := runner.CurrentProcess()
	if err != nil {
		t.Fatal(err)
	}
	out.await(t)
	_ = cmd.Wait()
	t.Cleanup(func() { _ = unix.Kill(-cmd.Process.Pid, unix.SIGKILL) })
	leader := runner.Process{PID: cmd.Process.Pid, Start: self.Start}
	_, err = runner.KillSurvivors(t.Context(), runner.Process{}, leader)
	pid := strings.TrimSpace(out.String())
	if !errors.Is(err, runner.ErrDoubtful) || !strings.Contains(err.Error(), "sleep ("+pid+")") {
		t.Errorf("got %v, want the name of the process %s", err, pid)
	}
	if _, err := os.Stat("/proc/" + pid); err != nil {
		t.Error(err)
	}
}

// TestOnStart: the processes are named once, before the child ends.
func TestOnStart(t *testing.T) {
	var seen []runner.Process
	c := runner.Command{Args: []string{"/bin/sh", "-c", `read go; exit 3`}, Stdout: watchFor("", 0)}
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	c.Stdin = r
	c.OnStart = func(shim, leader runner.Process) {
		seen = append(seen, shim, leader)
		if !shim.Alive() || !leader.Alive() {
			t.Errorf("not alive: %+v %+v", shim, leader)
		}
		fmt.Fprintln(w, "go")
		_ = w.Close()
	}
	res, err := runner.Run(context.Background(), c)
	if err != nil || res.ExitCode != 3 {
		t.Fatalf("got %+v, %v", res, err)
	}
	if len(seen) != 2 || slices.ContainsFunc(seen, runner.Process.Alive) {
		t.Errorf("seen %+v, want two that are gone", seen)
	}
}
