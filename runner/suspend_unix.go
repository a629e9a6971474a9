//go:build linux || darwin

package runner

import (
	"os"
	"slices"
	"time"

	"golang.org/x/sys/unix"

	"supervise/runner/internal/proc"
	"supervise/runner/internal/terminal"
)

const (
	// userPresence is how long after a key the user counts as present. Without a user the
	// job is not suspended, since no one would continue it.
	userPresence = 5 * time.Second
	// settleLimit bounds the wait for the last output of a stopped child.
	settleLimit = 500 * time.Millisecond
	// stopLimit is how long the kernel may take to stop this process. Without a shell that
	// could continue the process, the kernel ignores the signal.
	stopLimit = 200 * time.Millisecond
)

// handlePause reacts to a stopped child. If the user is present, the user stopped it, and
// the entire job is suspended. Otherwise a child stopped by SIGTSTP is continued, as
// without a shell; one stopped by SIGSTOP stays stopped until a limit is passed.
func (s *session) handlePause(signal string) {
	switch {
	case s.stage != running || s.hasEnded() || !s.freezing.since.IsZero():
	case s.console.hasKeyboard() && s.streams.typedSince(userPresence):
		s.suspend()
		s.link.send(orderContinue)
	case signal == unix.SignalName(unix.SIGTSTP):
		s.link.send(orderContinue)
	}
}

// suspend restores the user's terminal, stops the process group of this process, and
// reopens the terminal when it is continued.
func (s *session) suspend() {
	from := time.Now()
	s.streams.awaitQuiet()
	s.console.release()
	s.link.send(orderReleaseTerminal)
	stopOwnGroup(s.continued)
	s.limits.exclude(from, time.Now())
	s.resumeTerminal()
}

// resumeTerminal reopens the terminal after this process was continued. In the background it
// waits until it is in the foreground.
func (s *session) resumeTerminal() {
	c := s.console
	if c == nil {
		return
	}
	if c.keyboard != nil && !inForeground(c.in) { // continued by bg
		c.keyboard.Stop()
		c.keyboard = nil
		s.link.send(orderReleaseTerminal)
	}
	if c.keyboard != nil && !c.keyboard.IsRaw() { // the shell has reset it
		c.release()
	}
	s.takeTerminal()
}

// takeTerminal opens the user's terminal, unless it is open or in use by another process.
func (s *session) takeTerminal() {
	if s.console.hasKeyboard() {
		return
	}
	s.link.send(orderHoldTerminal) // first, so that the shim restores it from now on
	if err := s.console.openKeyboard(); err != nil || !s.console.hasKeyboard() {
		s.link.send(orderReleaseTerminal)
		return // the user sees the output, but cannot type
	}
	s.console.writeModes((*terminal.Modes).Reapply)
	s.console.resize()
}

// stopOwnGroup stops the process group of this process, and returns when this process has
// been continued. No handler may ever have been set for SIGTSTP, because the Go runtime
// never removes it.
func stopOwnGroup(continued <-chan os.Signal) {
	select {
	case <-continued: // an old signal
	default:
	}
	_ = unix.Kill(0, unix.SIGTSTP)
	select {
	case <-continued:
	case <-time.After(stopLimit):
	}
}

// freezeState is the state of a freeze by [Control].
type freezeState struct {
	since   time.Time    // zero if the tree is not frozen
	answers []chan error // of requests that wait until the tree is stopped
}

// requests returns the channel of requests to freeze or thaw. It is nil until the child has
// started, so that requests wait.
func (s *session) requests() <-chan request {
	if s.link.leader.PID == 0 {
		return nil
	}
	return s.command.Control.requestsOrNil()
}

// handleRequest executes a request to freeze or to thaw.
func (s *session) handleRequest(r request) {
	switch {
	case s.hasEnded() || s.stage != running:
		r.answer <- ErrNotRunning
	case r.freeze:
		if s.freezing.since.IsZero() {
			s.freezing.since = time.Now()
		}
		s.freezing.answers = append(s.freezing.answers, r.answer)
		s.link.send(orderFreeze)
	default:
		s.thaw()
		r.answer <- nil
	}
}

// answerFrozen answers the requests after the tree was stopped.
func (s *session) answerFrozen() {
	for _, answer := range s.freezing.answers {
		answer <- nil
	}
	s.freezing.answers = nil
}

// thaw continues a frozen tree. It does nothing if the tree is not frozen.
func (s *session) thaw() {
	if s.freezing.since.IsZero() {
		return
	}
	s.limits.exclude(s.freezing.since, time.Now())
	s.freezing.since = time.Time{}
	s.link.send(orderThaw)
}

// freezeRounds bounds how often pauseTree looks for processes that started meanwhile.
const freezeRounds = 20

// pauseTree stops all processes of the tree, and reports when it is done.
func (s *shim) pauseTree() {
	for range freezeRounds {
		fresh := false
		for _, p := range s.listTree() {
			if !s.stopped[p.PID] {
				fresh = true
				s.stopped[p.PID] = true
				p.Signal(unix.SIGSTOP)
			}
		}
		if !fresh {
			break
		}
	}
	s.report(report{Step: stepFrozen})
}

// continueTree continues the processes that pauseTree has stopped, children before their
// parents: a shell that sees a stopped child would report a suspended job.
func (s *shim) continueTree() {
	for _, p := range slices.Backward(s.listTree()) {
		if s.stopped[p.PID] {
			p.Signal(unix.SIGCONT)
		}
	}
	clear(s.stopped)
}

// listTree lists the current processes of the tree, without zombies. It returns nil if
// processes cannot be listed.
func (s *shim) listTree() []proc.Info {
	all, err := proc.List()
	if err != nil {
		return nil
	}
	members := proc.Members(all, os.Getpid(), s.leader, s.known)
	return slices.DeleteFunc(members, func(p proc.Info) bool { return p.Zombie || p.PID == os.Getpid() })
}
