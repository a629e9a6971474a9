//go:build linux || darwin

package runner

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"
	"golang.org/x/term"

	"supervise/runner/internal/proc"
	"supervise/runner/internal/terminal"
)

// shim is the process between the supervisor and the child.
type shim struct {
	orders           <-chan order      // closed when the supervisor is gone
	children         chan os.Signal    // SIGCHLD
	status           *json.Encoder     // nobody reads it any more when the supervisor is gone, which is no error
	statusMu         sync.Mutex        // held while status and hosts are used
	refusedHosts     map[string]bool   // that were reported
	terminal         *savedTerminal    // nil: none to put back
	terminalReleased bool              // the user's terminal is not ours at present
	leader           int               // pid of the child
	exitStatus       *unix.WaitStatus  // of the child, once it has ended
	group            proc.Cgroup       // holds the tree, where the system has such
	known            map[int]proc.Info // the tree as seen so far
	leftoverNames    map[int]string    // the leftovers by pid
	stopped          map[int]bool      // what pauseTree has stopped
}

// serveShim is the whole life of the shim. It returns its exit status.
func serveShim() int {
	if !isPipe(fdLifeline) || !isPipe(fdStatus) {
		fmt.Fprintln(os.Stderr, proc.ShimName+": started by hand; it is started by supervise only")
		return 2
	}
	closeOnExec()
	runtime.LockOSThread() // the death of a parent is that of its thread
	s := &shim{
		children: make(chan os.Signal, 1), leader: -1,
		refusedHosts: map[string]bool{}, known: map[int]proc.Info{}, leftoverNames: map[int]string{}, stopped: map[int]bool{},
		status: json.NewEncoder(os.NewFile(fdStatus, "status")), terminal: saveTerminal(),
	}
	// Caught and dropped, not ignored: what is ignored would stay so in the child.
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

func isPipe(fd int) bool {
	var stat unix.Stat_t
	return unix.Fstat(fd, &stat) == nil && stat.Mode&unix.S_IFMT == unix.S_IFIFO
}

func (s *shim) report(r report) {
	s.statusMu.Lock()
	defer s.statusMu.Unlock()
	_ = s.status.Encode(r) // see the field
}

// maxRefused is how many hosts are reported that the child may not reach.
const maxRefused = 20

// reportRefused reports a host, once.
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

// failureReport reports why a child was not started.
func failureReport(err error) report {
	r := report{Step: stepFailed, Errno: unix.EINVAL}
	errors.As(err, &r.Errno)
	if fence := (confinementError{}); errors.As(err, &fence) {
		r.Why = fence.Error()
	}
	return r
}

// confinementError is why the child could not be given a fence.
type confinementError struct{ error }

func (f confinementError) Unwrap() error { return f.error }

// closeOnExec keeps every descriptor but the first three from the child: ours,
// and those that our supervisor was itself handed by whoever started it.
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
	if err != nil { // there will be no child: the supervisor gave up, or it is dead
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
	self, _ := CurrentProcess() // without a name nothing can be found by it
	attr := &syscall.ProcAttr{
		Dir: string(sp.Dir), Env: proc.Mark(toStrings(sp.Env), self), Files: []uintptr{fdStdin, fdStdout, fdStderr},
		Sys: &syscall.SysProcAttr{Setsid: !sp.Terminal, Foreground: sp.Terminal, Ctty: fdStdout},
	}
	// Somebody may kill the shim before anybody else knows of the child. What the
	// child starts does not inherit this.
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
		_ = unix.Close(fd) // or the output would never end
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
	leader, err := proc.Identify(pid) // it cannot be collected before
	if err != nil {
		leader.PID = pid
	}
	s.report(report{Step: stepStarted, Leader: leader, Cgroup: s.group.Dir})
	return true
}

func toStrings(list [][]byte) []string {
	out := make([]string, len(list))
	for i, b := range list {
		out[i] = string(b)
	}
	return out
}

// readOrders passes on what the supervisor says. Its goroutine ends with the
// lifeline, or with the process.
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

// watch returns when the child and its whole tree are gone, and has reported
// both.
func (s *shim) watch() {
	for none := false; s.exitStatus == nil && !none; {
		select {
		case <-s.children:
			none = s.collectChildren() // without having seen how the child ended: it is over all the same
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

// followOrder follows an order while the child runs. It reports whether the tree is to
// be killed.
func (s *shim) followOrder(o order, ok bool) bool {
	if !ok {
		return true // the supervisor is gone
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
	case orderGoodbye: // means something only at the very end
	}
	return false
}

// signalGroup signals the child's process group. A stopped process sees a signal
// only when it is continued.
func (s *shim) signalGroup(sig unix.Signal) {
	_ = unix.Kill(-s.leader, sig) // it may have ended in this moment
	_ = unix.Kill(-s.leader, unix.SIGCONT)
}

// collectChildren collects every child that has ended, and reports that the first one was
// stopped. It returns whether none is left.
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
		case pid == s.leader && status.Stopped() && s.stopped[pid]: // we did it
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

// reportTree reports what became of the rest.
func (s *shim) reportTree(left []proc.Info, gone bool) {
	r := report{Step: stepSwept, Gone: gone}
	for _, p := range left {
		r.Survivors = append(r.Survivors, fmt.Sprintf("%s (%d)", filepath.Base(p.Command()), p.PID))
	}
	for _, name := range s.leftoverNames {
		r.Leftovers = append(r.Leftovers, name)
	}
	slices.Sort(r.Leftovers)
	s.report(r)
}

// awaitGoodbye waits for the supervisor to settle its side. When it dies first, the
// user's terminal is ours to put back.
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

// savedTerminal is the state of the user's terminal before it is touched.
type savedTerminal struct{ state *term.State }

func saveTerminal() *savedTerminal {
	state, err := term.GetState(fdTermIn)
	if err != nil {
		return nil // the null device
	}
	return &savedTerminal{state: state}
}

// restore puts the terminal back after the supervisor was killed. It knows
// nothing of what the child printed, so it leaves every mode.
func (t *savedTerminal) restore() {
	if t == nil {
		return
	}
	_, _ = unix.Write(fdTermOut, []byte(terminal.ResetAll()))
	_ = term.Restore(fdTermIn, t.state) // the terminal may be gone as well
}

// fork starts the child. On a terminal it does so as a shell would: the shim
// leads the session, and the child the process group in the foreground. If it led
// the session itself, Ctrl-Z could not stop it, for nobody would be there to
// continue it (POSIX.1-2017, 3.264, orphaned process group). The child puts itself
// into the foreground before it executes the program, while its signals are
// blocked, so that the terminal does not stop it for that.
func (s *shim) fork(path string, args []string, attr *syscall.ProcAttr) (pid int, inCgroup bool, err error) {
	if attr.Sys.Foreground {
		if err := unix.IoctlSetInt(fdStdout, unix.TIOCSCTTY, 0); err != nil {
			return 0, false, err
		}
	}
	return s.group.ForkExec(path, args, attr)
}
