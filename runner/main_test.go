//go:build linux

package runner_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"supervise/runner"

	"golang.org/x/sys/unix"
	"golang.org/x/term"
)

// childMark is argument 1 of this test program when it acts as one of the
// children below. An argument, since a variable would not survive env -i.
const childMark = "act-as-child"

func TestMain(m *testing.M) {
	runner.ShimMain()
	children["wild"] = wild // which looks into a table that looks for children
	if len(os.Args) > 2 && os.Args[1] == childMark {
		os.Exit(children[os.Args[2]](os.Args[3:]))
	}
	// A program with the race detector takes a second to end, unless configured not to.
	if err := os.Setenv("GORACE", "atexit_sleep_ms=0"); err != nil {
		panic(err)
	}
	// Most tests wait for children most of the time.
	flag.Parse()
	if err := flag.Set("test.parallel", strconv.Itoa(max(4, flag.Lookup("test.parallel").Value.(flag.Getter).Get().(int)))); err != nil {
		panic(err)
	}
	os.Exit(m.Run())
}

// children are the programs that the tests run. They get what follows their
// name, and return their exit status.
var children = map[string]func(args []string) int{
	"exit":        func(args []string) int { n, _ := strconv.Atoi(args[0]); return n },
	"kill-self":   killSelf,
	"burst":       burst,
	"echo":        func([]string) int { _, _ = io.Copy(os.Stdout, os.Stdin); return 0 },
	"terminal":    describeTerminal,
	"raw":         becomeRaw,
	"stubborn":    func(args []string) int { return stubborn(args, nil) },
	"hostile":     hostile,
	"daemonize":   daemonize,
	"stop":        stopSelf,
	"background":  background,
	"headless":    headless,
	"respawn":     respawn,
	"modes":       func([]string) int { fmt.Print("\x1b[?1049h\x1b[?2004h\x1b[?25l"); return 0 },
	"chatty":      chatty,
	"supervisor":  supervisor,
	"stop-shim":   func([]string) int { return signalParent(unix.SIGSTOP) },
	"stop-end":    func([]string) int { _ = unix.Kill(os.Getppid(), unix.SIGSTOP); return 5 },
	"harass":      harass,
	"kill-shim":   func([]string) int { return signalParent(unix.SIGKILL) },
	"resized":     resized,
	"say":         func(args []string) int { fmt.Println(strings.Join(args, " ")); return 0 },
	"runs":        runs,
	"line-reader": lineReader,
	"editor":      editor,
	"busy":        busy,
	"without-pty": withoutPty,
	"probe":       prober,
}

// self returns the command line of a child.
func self(name string, args ...string) []string {
	program, err := os.Executable()
	if err != nil {
		panic(err)
	}
	return append([]string{program, childMark, name}, args...)
}

func spawn(attr *syscall.SysProcAttr, env []string, argv []string) {
	cmd := &exec.Cmd{Path: argv[0], Args: argv, Env: env, SysProcAttr: attr, Stdout: os.Stdout, Stderr: os.Stderr}
	if err := cmd.Start(); err != nil {
		panic(err)
	}
}

func killSelf([]string) int {
	_ = unix.Kill(os.Getpid(), unix.SIGKILL)
	select {}
}

func burst(args []string) int {
	n, _ := strconv.Atoi(args[0])
	_, _ = os.Stdout.Write(pattern(n))
	return 0
}

// pattern is n bytes of which every line differs.
func pattern(n int) []byte {
	var b bytes.Buffer
	for i := 0; b.Len() < n; i++ {
		fmt.Fprintf(&b, "line %d of the burst\n", i)
	}
	return b.Bytes()[:n]
}

func describeTerminal([]string) int {
	for fd := range 3 {
		fmt.Printf("fd%d=%t ", fd, term.IsTerminal(fd))
	}
	tty, err := os.OpenFile("/dev/tty", os.O_RDWR, 0)
	fmt.Printf("tty=%t ", err == nil)
	if err == nil {
		size, err := unix.IoctlGetWinsize(int(tty.Fd()), unix.TIOCGWINSZ)
		if err != nil {
			return 1
		}
		fmt.Printf("size=%dx%d ", size.Col, size.Row)
	}
	sid, _ := unix.Getsid(0)
	front, err := unix.IoctlGetInt(1, unix.TIOCGPGRP)
	fmt.Printf("leader=%t front=%t\n", sid == os.Getpid(), err == nil && front == unix.Getpgrp() && front == os.Getpid())
	return 0
}

// becomeRaw switches its terminal to raw mode and prints which bytes arrive,
// until it reads a q.
func becomeRaw([]string) int {
	if _, err := term.MakeRaw(0); err != nil {
		return 1
	}
	fmt.Print("ready.")
	buf := make([]byte, 1)
	for {
		if n, err := os.Stdin.Read(buf); n == 0 || err != nil {
			return 1
		}
		fmt.Printf("%02x.", buf[0])
		if buf[0] == 'q' {
			return 0
		}
	}
}

// busy has its terminal in raw mode and does not read from it until it gets a
// signal, for a very long time. It prints how much it has read, and
// then reads no more.
func busy([]string) int {
	wait := make(chan os.Signal, 1)
	signal.Notify(wait, unix.SIGUSR1)
	if _, err := term.MakeRaw(0); err != nil {
		return 1
	}
	fmt.Print("ready.")
	<-wait
	<-time.After(1500 * time.Millisecond) // this is the case under test, no wait for an event
	buf := make([]byte, 96<<10)
	n, err := io.ReadFull(os.Stdin, buf)
	fmt.Print("read ", n, err)
	return waitForEver()
}

func resized([]string) int {
	sizes := make(chan os.Signal, 1)
	signal.Notify(sizes, unix.SIGWINCH)
	fmt.Println("ready")
	<-sizes
	return describeTerminal(nil)
}

// stubborn ignores every polite signal and notes its pid in the file args[0].
// The pid is written when all that ready starts is under way.
func stubborn(args []string, ready func()) int {
	signal.Ignore(unix.SIGHUP, unix.SIGINT, unix.SIGTERM)
	notePid(args[0])
	if ready != nil {
		ready()
	}
	return waitForEver()
}

// waitForEver has a timer, or Go would call it a deadlock.
func waitForEver() int {
	<-time.After(time.Hour)
	return 0
}

func notePid(path string) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		panic(err)
	}
	fmt.Fprintln(f, os.Getpid())
	_ = f.Close()
	fmt.Println("up")
}

// hostile starts what the common ways to kill a process tree miss.
func hostile(args []string) int {
	return stubborn(args, func() {
		spawn(nil, nil, self("stubborn", args...))
		spawn(&syscall.SysProcAttr{Setsid: true}, nil, self("stubborn", args...))
		spawn(&syscall.SysProcAttr{Setsid: true}, []string{}, self("stubborn", args...))
		spawn(&syscall.SysProcAttr{Setpgid: true}, nil, self("daemonize", args...))
		spawn(&syscall.SysProcAttr{Setsid: true}, []string{}, self("respawn", append(args, "0")...))
	})
}

// hostileUps is how many lines a hostile tree prints when it is complete.
const hostileUps = 6

// daemonize leaves a grandchild behind that init would adopt.
func daemonize(args []string) int {
	spawn(&syscall.SysProcAttr{Setsid: true}, nil, self("stubborn", args...))
	return 0
}

// respawn is never the same process for long: each generation starts the next
// one and ends.
func respawn(args []string) int {
	generation, _ := strconv.Atoi(args[1])
	if generation == 3 {
		notePid(args[0])
	}
	signal.Ignore(unix.SIGHUP, unix.SIGINT, unix.SIGTERM)
	spawn(&syscall.SysProcAttr{Setsid: generation%2 == 0}, []string{}, self("respawn", args[0], strconv.Itoa(generation+1)))
	return 0
}

func chatty([]string) int {
	for range 8 {
		fmt.Println("still here")
		<-time.After(100 * time.Millisecond)
	}
	return 0
}

// signalParent signals the shim, as an agent may that kills what it finds.
func signalParent(sig unix.Signal) int {
	_ = unix.Kill(os.Getppid(), sig)
	fmt.Println("up")
	return waitForEver()
}

// supervisor is a program that runs the child args[1], to be killed, in the way
// that the words of args[0] say: on the terminal at descriptor 0, on a pty of its
// own, with descriptor 0 as the child's standard input, or without a cgroup. On
// standard error it prints which processes it started.
func supervisor(args []string) int {
	c := runner.Command{Args: self(args[1], args[2:]...), Stdout: os.Stdout, Stderr: os.Stderr}
	for _, word := range strings.Fields(args[0]) {
		switch word {
		case "terminal":
			c.Terminal = &runner.Terminal{In: os.Stdin, Out: os.Stdin}
		case "pty":
			c.Terminal = &runner.Terminal{}
		case "stdin":
			c.Stdin = os.Stdin
		case "nocgroup":
			c.NoCgroup = true
		}
	}
	c.OnStart = func(shim, leader runner.Process) {
		line, err := json.Marshal(started{os.Getpid(), shim, leader})
		if err != nil {
			panic(err)
		}
		fmt.Fprintln(os.Stderr, string(line))
	}
	_, err := runner.Run(context.Background(), c)
	fmt.Println("supervisor ended", err)
	return 1
}

// harass stops the shim again and again.
func harass(args []string) int {
	notePid(args[0])
	for {
		_ = unix.Kill(os.Getppid(), unix.SIGSTOP)
	}
}

// background starts another child, and stays.
func background(args []string) int {
	spawn(&syscall.SysProcAttr{Setsid: true}, nil, self(args[0], args[1:]...))
	return waitForEver()
}

// watcher is a writer that reports when it has seen a text n times.
type watcher struct {
	mu   sync.Mutex
	buf  bytes.Buffer
	text string
	n    int
	seen chan struct{}
	done bool
}

func watchFor(text string, n int) *watcher {
	return &watcher{text: text, n: n, seen: make(chan struct{})}
}

func (w *watcher) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.buf.Write(p)
	if !w.done && strings.Count(w.buf.String(), w.text) >= w.n {
		w.done = true
		close(w.seen)
	}
	return len(p), nil
}

// next has await wait for another text, in what comes from now on.
func (w *watcher) next(text string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.text, w.n, w.done, w.seen = text, strings.Count(w.buf.String(), text)+1, false, make(chan struct{})
}

func (w *watcher) String() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.buf.String()
}

// await waits until the text was there.
func (w *watcher) await(t *testing.T) {
	t.Helper()
	select {
	case <-w.seen:
	case <-time.After(20 * time.Second):
		t.Fatalf("%q did not come %d times; output so far:\n%s", w.text, w.n, w.String())
	}
}

// wait waits until the text was there, or ctx ends.
func (w *watcher) wait(ctx context.Context) {
	select {
	case <-w.seen:
	case <-ctx.Done():
	}
}

// survivors returns the processes that carry the marker in their arguments, but
// for this one.
func survivors(t *testing.T, marker string) []string {
	t.Helper()
	paths, err := filepath.Glob("/proc/[0-9]*/cmdline")
	if err != nil {
		t.Fatal(err)
	}
	var found []string
	for _, path := range paths {
		line, err := os.ReadFile(path)
		if err == nil && bytes.Contains(line, []byte(marker)) && !strings.HasPrefix(path, "/proc/"+strconv.Itoa(os.Getpid())+"/") {
			found = append(found, path+": "+strings.ReplaceAll(string(line), "\x00", " "))
		}
	}
	return found
}

// notedPids returns the pids in a file that notePid wrote.
func notedPids(t *testing.T, path string) []int {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var pids []int
	for lines := bufio.NewScanner(f); lines.Scan(); {
		pid, err := strconv.Atoi(lines.Text())
		if err != nil {
			t.Fatal(err)
		}
		pids = append(pids, pid)
	}
	return pids
}

// alive reports whether a process exists, be it as a zombie.
func alive(pid int) bool { return unix.Kill(pid, 0) == nil }
