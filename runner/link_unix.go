//go:build linux || darwin

package runner

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"supervise/runner/internal/mountns"
	"supervise/runner/internal/proc"
)

// link is the supervisor's end of the two pipes to a shim.
type link struct {
	cmd      *exec.Cmd
	lifeline *os.File
	status   *os.File
	reports  chan report // closed when the shim is gone
	stderr   *Tail       // what the shim says when it panics
	shim     Process     // its name is empty where the system gives none
	leader   Process     // the child; its pid is 0 until it runs
	group    proc.Cgroup // of the child, where it has one
}

var (
	errNoAnswer = errors.New("start shim: it did not answer: main, and TestMain in tests, must call runner.ShimMain first")
	errNested   = errors.New("start shim: this process is itself one: main, and TestMain in tests, must call runner.ShimMain first")
	errLost     = errors.New("the shim process that watches the child's tree was killed")
	errStuck    = errors.New("the shim process that watches the child's tree does not answer")

	errTreeGone   = errors.New("the child was stopped, and nothing of its tree is left")
	errTreeUnsure = errors.New("the child was stopped, but a daemon of it that cleared its environment may still run")
)

// readyTimeout bounds the wait for a program that does not call ShimMain and goes
// about its own business instead.
const readyTimeout = 10 * time.Second

// startShim starts the shim with the child's three descriptors and the user's
// terminal, and waits until it has saved the state of that. The shim holds the
// further files as long as it lives.
func startShim(child [3]*os.File, termIn, termOut *os.File, c Command) (*link, error) {
	if isShim() {
		return nil, errNested // or we would start ourselves without end
	}
	program, err := ownProgram()
	if err != nil {
		return nil, err
	}
	theirLifeline, lifeline, err := os.Pipe()
	if err != nil {
		return nil, fmt.Errorf("start shim: %w", err)
	}
	status, theirStatus, err := os.Pipe()
	if err != nil {
		_, _ = lifeline.Close(), theirLifeline.Close()
		return nil, fmt.Errorf("start shim: %w", err)
	}
	l := &link{lifeline: lifeline, status: status, reports: make(chan report, 16+maxRefused), stderr: NewTail(4 << 10)}
	l.cmd = &exec.Cmd{
		Path: program, Args: []string{proc.ShimName}, Dir: "/", Stderr: l.stderr, WaitDelay: time.Second,
		ExtraFiles:  append([]*os.File{theirLifeline, theirStatus, child[0], child[1], child[2], termIn, termOut}, c.KeepOpen...),
		SysProcAttr: &syscall.SysProcAttr{Setsid: true},
	}
	// A stopped shim would not see that we died. When it is not stopped, and when
	// only the thread died that started it, this means nothing.
	proc.SignalOnParentDeath(l.cmd.SysProcAttr, unix.SIGCONT)
	if len(c.ReadOnly) > 0 || c.Sandbox != nil {
		mountns.PrepareProcess(l.cmd.SysProcAttr)
	}
	err = l.cmd.Start()
	// Only the shim may hold its ends, or the end of it would not show.
	_, _ = theirLifeline.Close(), theirStatus.Close()
	if err != nil {
		_, _ = lifeline.Close(), status.Close()
		return nil, fmt.Errorf("start shim: %w", err)
	}
	l.shim, _ = proc.Identify(l.cmd.Process.Pid)
	go l.read()
	if err := l.awaitReady(); err != nil {
		_ = l.cmd.Process.Kill()
		l.close()
		return nil, err
	}
	return l, nil
}

// ownProgram returns the path of this very program. On Linux that is a link to
// the running image: the file may have been replaced, or built away by go run.
func ownProgram() (string, error) {
	if runtime.GOOS == "linux" {
		return "/proc/self/exe", nil
	}
	path, err := os.Executable()
	if err != nil {
		return "", fmt.Errorf("start shim: %w", err)
	}
	return path, nil
}

// read passes on the reports. It ends when the shim does; the channel holds more
// than a shim ever says, so it blocks on nobody.
func (l *link) read() {
	defer close(l.reports)
	for dec := json.NewDecoder(l.status); ; {
		var r report
		if dec.Decode(&r) != nil {
			return
		}
		l.reports <- r
	}
}

func (l *link) awaitReady() error {
	select {
	case r, ok := <-l.reports:
		if ok && r.Step == stepReady {
			return nil
		}
	case <-time.After(readyTimeout):
	}
	return errNoAnswer
}

// start has the shim start the child. Whether it could shows in the reports: a
// child may stop its parent before that comes to report it.
func (l *link) start(c Command, r resolvedCommand) error {
	sp := spec{
		Path: []byte(r.path), Dir: []byte(r.dir), Args: toByteSlices(c.Args), Env: toByteSlices(r.env), Terminal: c.Terminal != nil, NoCgroup: c.NoCgroup,
		LimitWrites: c.Writable != nil, Writable: toByteSlices(c.Writable), ReadOnly: toByteSlices(c.ReadOnly), User: c.User,
	}
	if c.Sandbox != nil {
		sp.Network = c.Sandbox.Network
		for _, p := range c.Sandbox.Mounts {
			sp.Mounts = append(sp.Mounts, encodedMount{[]byte(p.Path), []byte(p.From), p.Write, p.Copy, p.Link})
		}
	}
	line, err := json.Marshal(sp)
	if err != nil {
		return fmt.Errorf("start %s: %w", r.path, err)
	}
	if _, err := l.lifeline.Write(append(line, '\n')); err != nil {
		return l.lostError()
	}
	return nil
}

// startError explains why the system refused to start a program, or why a fence that it
// was to have could not be put up.
func startError(path string, errno syscall.Errno, why string) error {
	switch {
	case why != "":
		return fmt.Errorf("start %s: %s", path, why)
	case errors.Is(errno, unix.ENOENT):
		return unstartableError{fmt.Errorf("start %s: %w: the interpreter that its first line names may be missing", path, errno)}
	case errors.Is(errno, unix.ENOEXEC):
		return unstartableError{fmt.Errorf("start %s: %w: a script needs a first line like #!/bin/sh", path, errno)}
	case errors.Is(errno, unix.E2BIG):
		return fmt.Errorf("start %s: %w: pass long texts as a file or on standard input", path, errno)
	case errors.Is(errno, unix.EACCES), errors.Is(errno, unix.ENOTDIR), errors.Is(errno, unix.ELOOP):
		return unstartableError{fmt.Errorf("start %s: %w", path, errno)}
	}
	return fmt.Errorf("start %s: %w", path, errno)
}

func toByteSlices(list []string) [][]byte {
	out := make([][]byte, len(list))
	for i, s := range list {
		out[i] = []byte(s)
	}
	return out
}

// wasStopped reports whether the shim has been stopped since it was asked last.
func (l *link) wasStopped() bool { return proc.WasStopped(l.cmd.Process.Pid) }

// continueShim continues the shim, should something in the tree have stopped it.
func (l *link) continueShim() { _ = l.cmd.Process.Signal(unix.SIGCONT) }

// send gives the shim an order. That it may be gone shows by the end of its
// reports.
func (l *link) send(o order) {
	l.continueShim()
	_, _ = l.lifeline.Write([]byte{byte(o)})
}

// lostError returns the error for a shim that is gone before its time.
func (l *link) lostError() error {
	if said := strings.TrimSpace(l.stderr.String()); said != "" {
		return fmt.Errorf("%w (%s): %w", errLost, said, l.killTree())
	}
	return fmt.Errorf("%w: %w", errLost, l.killTree())
}

// killStuck kills a shim that does not answer, and what can be found of its tree.
func (l *link) killStuck() error {
	_ = l.cmd.Process.Kill()
	return fmt.Errorf("%w: %w", errStuck, l.killTree())
}

// killTree kills what can be found of the child's tree when the shim cannot. The
// error says what became of it, in any case.
func (l *link) killTree() error {
	switch err := proc.KillLiving(l.shim, l.leader, l.group); {
	case err != nil:
		return err
	case l.group.Dir != "":
		return errTreeGone
	}
	return errTreeUnsure
}

// close lets the shim go and waits for it. The user's terminal is ours again.
func (l *link) close() {
	l.send(orderGoodbye)
	_ = l.lifeline.Close()
	_ = l.cmd.Wait() // its status says nothing that the reports did not
	for range l.reports {
	}
	_ = l.status.Close()
}
