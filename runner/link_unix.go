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

// link is the supervisor's connection to a shim: two pipes, one for orders and one for
// reports.
type link struct {
	cmd      *exec.Cmd
	lifeline *os.File    // orders to the shim
	status   *os.File    // reports of the shim, which read passes to the channel
	reports  chan report // closed when the shim is gone
	stderr   *Tail       // output of a panicking shim
	shim     Process     // its Start is empty if unknown
	leader   Process     // the child; its pid is 0 until it runs
	group    proc.Cgroup // of the child, if it has one
}

var (
	errNoAnswer = errors.New("start shim: it did not answer: main, and TestMain in tests, must call runner.ShimMain first")
	errNested   = errors.New("start shim: this process is itself one: main, and TestMain in tests, must call runner.ShimMain first")
	errLost     = errors.New("the shim process that watches the child's tree was killed")
	errStuck    = errors.New("the shim process that watches the child's tree does not answer")

	errTreeGone   = errors.New("the child was stopped, and nothing of its tree is left")
	errTreeUnsure = errors.New("the child was stopped, but a daemon of it that cleared its environment may still run")
)

// readyTimeout bounds the wait for a shim: a program that does not call ShimMain never
// answers.
const readyTimeout = 10 * time.Second

// startShim starts the shim with the child's three descriptors and the user's terminal,
// and waits until it has saved the state of the terminal. The shim keeps c.KeepOpen open.
func startShim(child [3]*os.File, termIn, termOut *os.File, c Command) (*link, error) {
	if isShim() {
		return nil, errNested // otherwise the program would start itself endlessly
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
	// A stopped shim would not notice the death of this process. The signal is harmless
	// if only the thread that started the shim ended.
	proc.SignalOnParentDeath(l.cmd.SysProcAttr, unix.SIGCONT)
	if len(c.ReadOnly) > 0 || c.Sandbox != nil {
		mountns.PrepareProcess(l.cmd.SysProcAttr)
	}

	err = l.cmd.Start()
	// Only the shim may hold its ends of the pipes: they show when it ends.
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

// ownProgram returns the path of this program. On Linux it is a link to the running image,
// since the file may have been replaced, or deleted by go run.
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

// read sends the reports to the channel until the shim ends. It never blocks, because the
// channel has space for all reports of a shim.
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

// awaitReady waits for the first report of the shim.
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

// start orders the shim to start the child. A report says whether that succeeded.
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

// startError explains why the system refused to start a program. why is the reason if a
// restriction could not be applied.
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

// toByteSlices converts strings for a spec.
func toByteSlices(list []string) [][]byte {
	out := make([][]byte, len(list))
	for i, s := range list {
		out[i] = []byte(s)
	}
	return out
}

// wasStopped reports whether the shim has been stopped since the last call.
func (l *link) wasStopped() bool { return proc.WasStopped(l.cmd.Process.Pid) }

// continueShim continues the shim, in case a process of the tree has stopped it.
func (l *link) continueShim() { _ = l.cmd.Process.Signal(unix.SIGCONT) }

// send sends the shim an order. It ignores errors: if the shim has ended, the channel of
// reports is closed.
func (l *link) send(o order) {
	l.continueShim()
	_, _ = l.lifeline.Write([]byte{byte(o)})
}

// lostError kills the tree of a shim that ended too early. The error says so, and what
// happened to the tree.
func (l *link) lostError() error {
	if said := strings.TrimSpace(l.stderr.String()); said != "" {
		return fmt.Errorf("%w (%s): %w", errLost, said, l.killTree())
	}
	return fmt.Errorf("%w: %w", errLost, l.killTree())
}

// killStuck kills a shim that does not answer, and the processes of its tree.
func (l *link) killStuck() error {
	_ = l.cmd.Process.Kill()
	return fmt.Errorf("%w: %w", errStuck, l.killTree())
}

// killTree kills the processes of the child's tree if the shim cannot. The error is never
// nil: it says what happened to the tree.
func (l *link) killTree() error {
	switch err := proc.KillLiving(l.shim, l.leader, l.group); {
	case err != nil:
		return err
	case l.group.Dir != "":
		return errTreeGone
	}
	return errTreeUnsure
}

// close dismisses the shim and waits for it. This process then owns the user's terminal.
func (l *link) close() {
	l.send(orderGoodbye)
	_ = l.lifeline.Close()
	_ = l.cmd.Wait() // the reports have the same information
	for range l.reports {
	}
	_ = l.status.Close()
}
