//go:build linux || darwin

package runner

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"runtime"
	"strconv"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"
	"golang.org/x/term"

	"supervise/runner/internal/proc"
	"supervise/runner/internal/terminal"
)

// shim is the process between the supervisor and the child. It starts the child, follows the
// orders of the supervisor, adopts orphans of the tree, and reports on the status pipe (see
// protocol_unix.go).
type shim struct {
	orders           <-chan order      // closed when the supervisor is gone
	children         chan os.Signal    // SIGCHLD
	status           *json.Encoder     // errors are ignored: the supervisor may be dead
	statusMu         sync.Mutex        // guards status and refusedHosts
	refusedHosts     map[string]bool   // hosts that were reported already
	terminal         *savedTerminal    // the terminal to restore, nil for none
	terminalReleased bool              // the user has the terminal
	leader           int               // pid of the child
	exitStatus       *unix.WaitStatus  // status of the child, nil until it has ended
	group            proc.Cgroup       // cgroup of the tree; the zero value without one
	known            map[int]proc.Info // the tree when last listed
	leftoverNames    proc.Names        // of the leftovers
	stopped          map[int]bool      // pids that pauseTree has stopped
}

// serveShim runs the shim, and returns its exit status. It reads the spec, starts the child,
// and waits for the end of the tree.
func serveShim() int {
	if !isPipe(fdLifeline) || !isPipe(fdStatus) {
		fmt.Fprintln(os.Stderr, proc.ShimName+": started manually; only supervise starts it")
		return 2
	}
	closeOnExec()
	runtime.LockOSThread() // the child is signaled when this thread ends

	s := &shim{
		children: make(chan os.Signal, 1), leader: -1,
		refusedHosts: map[string]bool{}, known: map[int]proc.Info{}, leftoverNames: proc.Names{}, stopped: map[int]bool{},
		status: json.NewEncoder(os.NewFile(fdStatus, "status")), terminal: saveTerminal(),
	}
	// The signals are caught and dropped, since the child would inherit ignored ones.
	signal.Notify(make(chan os.Signal, 1), unix.SIGHUP, unix.SIGINT, unix.SIGQUIT, unix.SIGTERM,
		unix.SIGTTIN, unix.SIGTTOU, unix.SIGTSTP, unix.SIGUSR1, unix.SIGUSR2)
	signal.Notify(s.children, unix.SIGCHLD)

	if err := proc.BecomeReaper(); err != nil {
		fmt.Fprintln(os.Stderr, proc.ShimName+":", err)
		return 1
	}

	lifeline := bufio.NewReader(os.NewFile(fdLifeline, "lifeline"))
	s.report(report{Step: stepReady})
	if s.start(lifeline) {
		s.orders = readOrders(lifeline)
		s.watch()
		s.group.Remove()
		s.awaitGoodbye()
	}
	return 0
}

// isPipe reports whether a descriptor is an open pipe.
func isPipe(fd int) bool {
	var stat unix.Stat_t
	return unix.Fstat(fd, &stat) == nil && stat.Mode&unix.S_IFMT == unix.S_IFIFO
}

// report sends a report to the supervisor.
func (s *shim) report(r report) {
	s.statusMu.Lock()
	defer s.statusMu.Unlock()
	_ = s.status.Encode(r) // see status
}

// maxRefused is how many refused hosts are reported.
const maxRefused = 20

// reportRefused reports a host that the sandbox refused, once for each host.
func (s *shim) reportRefused(host string) {
	s.statusMu.Lock()
	news := !s.refusedHosts[host] && len(s.refusedHosts) < maxRefused
	if news {
		s.refusedHosts[host] = true
	}
	s.statusMu.Unlock()
	if news {
		s.report(report{Step: stepRefused, Host: host})
	}
}

// failureReport returns the report of why a child was not started.
func failureReport(err error) report {
	r := report{Step: stepFailed, Errno: unix.EINVAL}
	errors.As(err, &r.Errno)
	if fence := (confinementError{}); errors.As(err, &fence) {
		r.Why = fence.Error()
	}
	return r
}

// confinementError says why a restriction could not be applied.
type confinementError struct{ error }

// Unwrap returns the cause.
func (f confinementError) Unwrap() error { return f.error }

// closeOnExec keeps every descriptor except the first three from the child, including
// those that the supervisor inherited.
func closeOnExec() {
	for fd := 3; fd < fdEnd; fd++ {
		unix.CloseOnExec(fd)
	}
	entries, err := os.ReadDir("/dev/fd")
	if err != nil {
		return
	}
	for _, e := range entries {
		if fd, err := strconv.Atoi(e.Name()); err == nil && fd >= fdEnd {
			unix.CloseOnExec(fd)
		}
	}
}

// start reads the spec and starts the child; it reports whether that worked.
func (s *shim) start(lifeline *bufio.Reader) bool {
	line, err := lifeline.ReadBytes('\n')
	if err != nil { // the supervisor gave up, or it is dead
		if len(line) == 0 || order(line[0]) != orderGoodbye {
			s.terminal.restore()
		}
		return false
	}
	var sp spec
	if err := json.Unmarshal(line, &sp); err != nil {
		s.report(report{Step: stepFailed, Errno: unix.EINVAL})
		return false
	}
	self, _ := CurrentProcess() // on error the tree has no mark
	attr := &syscall.ProcAttr{
		Dir: string(sp.Dir), Env: proc.Mark(toStrings(sp.Env), self), Files: []uintptr{fdStdin, fdStdout, fdStderr},
		Sys: &syscall.SysProcAttr{Setsid: !sp.Terminal, Foreground: sp.Terminal, Ctty: fdStdout},
	}
	// The shim may be killed before it has reported the child. The child's own children do
	// not inherit this.
	proc.SignalOnParentDeath(attr.Sys, unix.SIGKILL)

	if u := sp.User; u != nil {
		attr.Sys.Credential = u.credential()
		if sp.Terminal {
			_ = unix.Fchown(fdStdout, int(u.UID), -1) // some open it by its name
		}
	}
	if !sp.NoCgroup {
		s.group, _ = proc.NewCgroup(self) // the report says what there is
		s.report(report{Step: stepContained, Cgroup: s.group.Dir})
	}

	fork := s.fork
	if sp.LimitWrites || len(sp.ReadOnly)+len(sp.Mounts) > 0 {
		fork = func(path string, args []string, attr *syscall.ProcAttr) (int, bool, error) {
			return s.forkConfined(path, args, attr, sp)
		}
	}

	pid, inside, err := fork(string(sp.Path), toStrings(sp.Args), attr)
	for fd := fdStdin; fd <= fdStderr; fd++ {
		_ = unix.Close(fd) // otherwise the output would never end
	}
	if !inside {
		s.group.Remove()
		s.group = proc.Cgroup{}
	}
	if err != nil {
		s.report(failureReport(err))
		return false
	}

	s.leader = pid
	leader, err := proc.Identify(pid) // the process exists until it is collected
	if err != nil {
		leader.PID = pid
	}
	s.report(report{Step: stepStarted, Leader: leader, Cgroup: s.group.Dir})
	return true
}

// toStrings converts byte slices of a spec.
func toStrings(list [][]byte) []string {
	out := make([]string, len(list))
	for i, b := range list {
		out[i] = string(b)
	}
	return out
}

// readOrders returns a channel of the supervisor's orders, which is closed at the end of the
// lifeline.
func readOrders(lifeline *bufio.Reader) <-chan order {
	orders := make(chan order)
	go func() {
		defer close(orders)
		for {
			b, err := lifeline.ReadByte()
			if err != nil {
				return
			}
			orders <- order(b)
		}
	}()
	return orders
}

// watch waits until the child and its tree have ended, and reports both.
func (s *shim) watch() {
	for none := false; s.exitStatus == nil && !none; {
		select {
		case <-s.children:
			none = s.collectChildren() // the exit status of the child may be unknown then
		case o, ok := <-s.orders:
			if s.followOrder(o, ok) {
				left, gone := s.killTree()
				s.reportEnd()
				s.reportTree(left, gone)
				return
			}
		}
	}
	s.reportEnd()
	s.reportTree(s.sweep())
}

// followOrder executes an order while the child runs. It reports whether the tree has to
// be killed.
func (s *shim) followOrder(o order, ok bool) bool {
	if !ok {
		return true // the supervisor is dead
	}
	if !proc.OrphansReturn {
		s.refreshMembers()
	}
	switch o {
	case orderInterrupt:
		s.signalGroup(unix.SIGINT)
	case orderTerminate:
		s.signalGroup(unix.SIGTERM)
	case orderKill:
		return true
	case orderFreeze:
		s.pauseTree()
	case orderThaw:
		s.continueTree()
	case orderContinue:
		_ = unix.Kill(-s.leader, unix.SIGCONT)
	case orderReleaseTerminal, orderHoldTerminal:
		s.terminalReleased = o == orderReleaseTerminal
	case orderGoodbye: // only awaitGoodbye handles it
	}
	return false
}

// signalGroup signals the child's process group, and continues it: a stopped process
// handles signals only after that.
func (s *shim) signalGroup(sig unix.Signal) {
	_ = unix.Kill(-s.leader, sig) // it may just have ended
	_ = unix.Kill(-s.leader, unix.SIGCONT)
}

// collectChildren collects all children that have ended, and reports if the child was stopped.
// It returns whether no child is left.
func (s *shim) collectChildren() bool {
	for {
		var status unix.WaitStatus
		pid, err := unix.Wait4(-1, &status, unix.WNOHANG|unix.WUNTRACED, nil)
		switch {
		case errors.Is(err, unix.EINTR):
		case err != nil:
			return true
		case pid == 0:
			return false
		case pid == s.leader && status.Stopped() && s.stopped[pid]: // by pauseTree
		case pid == s.leader && status.Stopped():
			s.report(report{Step: stepPaused, Signal: unix.SignalName(status.StopSignal())})
		case pid == s.leader:
			s.exitStatus = &status
		}
	}
}

// reportEnd reports how the child itself ended, if it did.
func (s *shim) reportEnd() {
	if s.exitStatus == nil {
		return
	}
	r := report{Step: stepEnded, Exit: s.exitStatus.ExitStatus()}
	if s.exitStatus.Signaled() {
		r.Exit, r.Signal = -1, unix.SignalName(s.exitStatus.Signal())
	}
	s.report(r)
}

// reportTree reports the leftovers of the tree, and the survivors in left. gone says that
// there are none.
func (s *shim) reportTree(left []proc.Info, gone bool) {
	r := report{Step: stepSwept, Gone: gone}
	for _, p := range left {
		r.Survivors = append(r.Survivors, p.String())
	}
	r.Leftovers = s.leftoverNames.Sorted()
	s.report(r)
}

// awaitGoodbye waits until the supervisor has finished. If it dies first, the shim restores
// the user's terminal.
func (s *shim) awaitGoodbye() {
	for o := range s.orders {
		if o == orderGoodbye {
			return
		}
	}
	if !s.terminalReleased {
		s.terminal.restore()
	}
}

// savedTerminal is the original state of the user's terminal.
type savedTerminal struct{ state *term.State }

// saveTerminal returns the state of the user's terminal, nil without one.
func saveTerminal() *savedTerminal {
	state, err := term.GetState(fdTermIn)
	if err != nil {
		return nil // the null device
	}
	return &savedTerminal{state: state}
}

// restore restores the terminal after the supervisor was killed. The output of the child is
// unknown, so it resets every mode.
func (t *savedTerminal) restore() {
	if t == nil {
		return
	}
	_, _ = unix.Write(fdTermOut, []byte(terminal.ResetAll()))
	_ = term.Restore(fdTermIn, t.state) // the terminal may be closed
}

// fork starts the child. On a terminal it does what a shell does: the shim leads the
// session, and the child leads the foreground process group. If the child led the session,
// Ctrl-Z could not stop it (POSIX.1-2017, 3.264, orphaned process group). The child enters
// the foreground before it executes the program, while its signals are blocked, so that
// the terminal does not stop it.
func (s *shim) fork(path string, args []string, attr *syscall.ProcAttr) (pid int, inCgroup bool, err error) {
	if attr.Sys.Foreground {
		if err := unix.IoctlSetInt(fdStdout, unix.TIOCSCTTY, 0); err != nil {
			return 0, false, err
		}
	}
	return s.group.ForkExec(path, args, attr)
}
