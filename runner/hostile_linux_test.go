package runner_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
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

// trait is something by which a tree gets away from those who want to end it.
type trait struct {
	name string
	ups  int // lines it prints until it is complete, its leader's included
	tree func(lock string)
	// leader is what the leader does when the tree is complete, before it says done.
	leader func()
	// endsRun says that the run breaks off by what the leader does.
	endsRun bool
	// needsCgroup says that nothing else finds the tree.
	needsCgroup bool
}

func setsid() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setsid: true} }

// many returns how many processes the largest tree has: more than are ever named,
// and in make torrent a thousand.
func many() int {
	if os.Getenv("SUPERVISE_RUNS") != "" {
		return 1000
	}
	return 300
}

var traits = []trait{
	{name: "ignores signals", ups: 2, tree: func(lock string) { spawn(nil, nil, self("stubborn", lock)) }},
	{name: "double fork", ups: 2, tree: func(lock string) { spawn(nil, nil, self("daemonize", lock)) }},
	{name: "setsid", ups: 2, tree: func(lock string) { spawn(setsid(), nil, self("stubborn", lock)) }},
	{name: "cleared environment", ups: 2, tree: func(lock string) { spawn(setsid(), []string{}, self("daemonize", lock)) }},
	{name: "respawns", ups: 2, tree: func(lock string) { spawn(setsid(), []string{}, self("respawn", lock, "0")) }},
	{name: "ended first thread", ups: 2, tree: func(lock string) { spawn(setsid(), nil, self("headless", lock)) }},
	{name: "stops itself", ups: 3, tree: func(lock string) {
		spawn(setsid(), nil, self("stubborn", lock))
		spawn(setsid(), nil, self("stop", lock))
	}, leader: func() { fmt.Println("done"); _ = unix.Kill(os.Getpid(), unix.SIGSTOP) }},
	{name: "stops the shim", ups: 2, tree: func(lock string) {
		spawn(setsid(), nil, self("stubborn", lock))
	}, leader: func() { _ = unix.Kill(os.Getppid(), unix.SIGSTOP) }},
	{name: "kills the shim", ups: 2, tree: func(lock string) {
		spawn(setsid(), nil, self("daemonize", lock))
	}, leader: func() { _ = unix.Kill(os.Getppid(), unix.SIGKILL) }, endsRun: true},
	{name: "kills the shim, cleared environment", ups: 2, tree: func(lock string) {
		spawn(setsid(), []string{}, self("daemonize", lock))
	}, leader: func() { _ = unix.Kill(os.Getppid(), unix.SIGKILL) }, endsRun: true, needsCgroup: true},
	{name: "many processes", ups: 2, tree: func(string) {
		spawn(nil, nil, []string{"/bin/sh", "-c", fmt.Sprintf(`trap "" HUP INT TERM; i=0; while [ $((i+=1)) -lt %d ]; do sleep 300 & done; echo up; wait`, many()-1)})
	}},
}

// wild is the leader of a tree with the trait args[0]. All of the tree holds a
// lock on the file args[1], by a descriptor that nothing closes: neither a new
// session nor another environment, parent or name hides it.
func wild(args []string) int {
	i := slices.IndexFunc(traits, func(tr trait) bool { return tr.name == args[0] })
	fd, err := unix.Open(args[1], unix.O_RDWR|unix.O_CREAT, 0o600)
	if err == nil {
		err = unix.Flock(fd, unix.LOCK_SH)
	}
	if err != nil {
		panic(err)
	}
	return stubborn(args[1:], func() {
		traits[i].tree(args[1])
		// The reader of its output knows when the tree is complete.
		if word, _ := io.ReadAll(os.Stdin); string(word) == "exit" {
			os.Exit(0)
		}
		if traits[i].leader != nil {
			traits[i].leader()
		}
		fmt.Println("done")
	})
}

// stopSelf says that it is up, and stops.
func stopSelf(args []string) int {
	notePid(args[0])
	_ = unix.Kill(os.Getpid(), unix.SIGSTOP)
	return waitForEver()
}

// The first thread belongs to what runs first.
func init() {
	if len(os.Args) > 2 && os.Args[2] == "headless" {
		runtime.LockOSThread()
	}
}

// headless looks like a zombie and is none: its first thread has ended.
func headless(args []string) int {
	signal.Ignore(unix.SIGHUP, unix.SIGINT, unix.SIGTERM)
	go func() {
		for first, err := os.ReadFile("/proc/self/stat"); err == nil && !bytes.Contains(first, []byte(") Z ")); {
			first, err = os.ReadFile("/proc/self/stat")
		}
		notePid(args[0])
	}()
	_, _, _ = unix.Syscall(unix.SYS_EXIT, 0, 0, 0)
	return 1
}

// wantFree fails when a process holds the lock, and ends it.
func wantFree(t *testing.T, lock string) {
	t.Helper()
	f, err := os.Open(lock)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB) == nil {
		return
	}
	left := holders(t, lock)
	t.Errorf("%d processes are left: %v", len(left), left)
	for pid := range left {
		_ = unix.Kill(pid, unix.SIGKILL)
	}
}

// awaitFree waits until no process holds the lock.
func awaitFree(t *testing.T, lock string) {
	t.Helper()
	f, err := os.Open(lock)
	if err != nil {
		t.Fatal(err)
	}
	free := make(chan error, 1)
	go func() { defer f.Close(); free <- unix.Flock(int(f.Fd()), unix.LOCK_EX) }()
	select {
	case err := <-free:
		if err != nil {
			t.Fatal(err)
		}
	case <-time.After(10 * time.Second):
		wantFree(t, lock)
	}
}

// holders returns the processes that have the file open, with their names.
func holders(t *testing.T, path string) map[int]string {
	t.Helper()
	links, err := filepath.Glob("/proc/[0-9]*/fd/*")
	if err != nil {
		t.Fatal(err)
	}
	found := map[int]string{}
	for _, link := range links {
		var pid, fd int
		target, err := os.Readlink(link)
		if _, scan := fmt.Sscanf(link, "/proc/%d/fd/%d", &pid, &fd); err == nil && scan == nil && target == path && pid != os.Getpid() {
			comm, _ := os.ReadFile(fmt.Sprintf("/proc/%d/comm", pid))
			found[pid] = strings.TrimSpace(string(comm))
		}
	}
	return found
}

// holding is a way in which a tree is held.
type holding struct {
	name     string
	terminal *runner.Terminal
	noCgroup bool
}

var holdings = []holding{
	{"cgroup, terminal", &runner.Terminal{}, false},
	{"cgroup, pipes", nil, false},
	{"subreaper, terminal", &runner.Terminal{}, true},
	{"subreaper, pipes", nil, true},
}

// word is what the supervisor program takes for the way.
func (h holding) word() string {
	word := "stdin"
	if h.terminal != nil {
		word += " pty"
	}
	if h.noCgroup {
		word += " nocgroup"
	}
	return word
}

// cgroups reports whether a child can have a separate cgroup here.
func cgroups(t *testing.T) bool {
	t.Helper()
	switch res := mustRun(t, runner.Command{Args: self("exit", "0")}); res.Containment {
	case runner.CgroupContainment:
		return true
	case runner.SubreaperContainment:
		return false
	default:
		t.Fatalf("the child was held by %v", res.Containment)
		return false
	}
}

// TestHostileTree: of every kind of tree nothing is left, however it ends and
// however it is held.
func TestHostileTree(t *testing.T) {
	has := cgroups(t)
	for _, how := range holdings {
		for _, tr := range traits {
			for _, end := range []struct {
				name string
				run  func(*testing.T, holding, trait, string)
			}{{"stop", stopTree}, {"exit", exitTree}, {"supervisor killed", orphanTree}} {
				t.Run(how.name+"/"+tr.name+"/"+end.name, func(t *testing.T) {
					switch {
					case !how.noCgroup && !has:
						t.Skip("this system lets us make no cgroup")
					case how.noCgroup && tr.needsCgroup:
						t.Skip("out of reach without a cgroup, as docs/threat-model.md says")
					case tr.endsRun && end.name == "exit":
						t.Skip("its leader cannot end by itself")
					}
					if !strings.HasPrefix(tr.name, "many") {
						t.Parallel()
					}
					end.run(t, how, tr, filepath.Join(t.TempDir(), "lock"))
				})
			}
		}
	}
}

// runTree runs the tree until it is complete, instructs its leader whether to exit,
// and waits for the end of the run. Without an exit it is stopped.
func runTree(t *testing.T, how holding, tr trait, lock string, exit bool) (runner.Result, error) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	in, say, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	up, done, started := watchFor("up", tr.ups), watchFor("done", 1), make(chan struct{})
	go func() {
		defer say.Close()
		up.wait(ctx)
		select {
		case <-started: // the shim has said so: the tree may kill it now
		case <-ctx.Done():
		}
		if exit {
			fmt.Fprint(say, "exit")
			return
		}
		say.Close()
		if done.wait(ctx); !tr.endsRun {
			cancel()
		}
	}()
	return runner.Run(ctx, runner.Command{
		Args: self("wild", tr.name, lock), Stdin: in, Stdout: io.MultiWriter(up, done), Terminal: how.terminal, NoCgroup: how.noCgroup,
		Grace: quick, Timeout: 30 * time.Second, OnStart: func(runner.Process, runner.Process) { close(started) },
	})
}

func stopTree(t *testing.T, how holding, tr trait, lock string) {
	res, err := runTree(t, how, tr, lock, false)
	wantFree(t, lock)
	wantHeld(t, how, res)
	if tr.endsRun && res.Containment == runner.CgroupContainment {
		if err != nil || res.Cause != runner.Attacked {
			t.Errorf("got %+v, %v; want an attack", res, err)
		}
		return
	}
	if tr.endsRun {
		if err == nil || !strings.Contains(err.Error(), "was killed") {
			t.Errorf("got %+v, %v; want an error that says what happened", res, err)
		}
		return
	}
	if err != nil || res.Cause != runner.Stopped || res.Signal != "SIGKILL" {
		t.Errorf("got %+v, %v; want stopped by SIGKILL", res, err)
	}
}

func exitTree(t *testing.T, how holding, tr trait, lock string) {
	res, err := runTree(t, how, tr, lock, true)
	wantFree(t, lock)
	wantHeld(t, how, res)
	if err != nil || res.Cause != runner.Exited || res.ExitCode != 0 {
		t.Errorf("got %+v, %v; want exit status 0", res, err)
	}
	if len(res.Leftovers) == 0 {
		t.Error("the tree is not named")
	}
}

// wantHeld fails when another thing held the tree, or a cgroup of it is left.
func wantHeld(t *testing.T, how holding, res runner.Result) {
	t.Helper()
	want := runner.CgroupContainment
	if how.noCgroup {
		want = runner.SubreaperContainment
	}
	if res.Containment != want {
		t.Errorf("held by %v, want %v", res.Containment, want)
	}
}

// orphanTree kills the supervisor in the only way that cannot be caught.
func orphanTree(t *testing.T, how holding, tr trait, lock string) {
	in, say, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	up, done, errs := watchFor("up", tr.ups), watchFor("done", 1), watchFor("\n", 1)
	argv := self("supervisor", how.word(), "wild", tr.name, lock)
	cmd := &exec.Cmd{Path: argv[0], Args: argv, Stdin: in, Stdout: io.MultiWriter(up, done), Stderr: errs, SysProcAttr: setsid()}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	in.Close()
	t.Cleanup(func() { _ = cmd.Process.Kill() })
	up.await(t)
	run := startedIn(t, errs)
	say.Close()
	if !tr.endsRun {
		done.await(t)
	}
	_ = cmd.Process.Kill()
	_ = cmd.Wait()
	if tr.endsRun { // the supervisor may have died before it was done with it
		if _, err := runner.KillSurvivors(t.Context(), run.Shim, run.Leader); err != nil {
			t.Error(err)
		}
	}
	awaitFree(t, lock)
}
