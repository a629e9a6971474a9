//go:build linux || darwin

package runner

import (
	"os"
	"time"

	"golang.org/x/sys/unix"

	"supervise/runner/internal/terminal"
)

const (
	// userHere is how long after a key the user is taken to sit at the terminal.
	// Nobody else may suspend the job: it would stay so for the night.
	userHere = 5 * time.Second
	// settleLimit bounds the wait for the last that a stopped child has printed.
	settleLimit = 500 * time.Millisecond
	// stopLimit is how long the kernel may take to stop this process. It does not
	// where no shell is there to continue it.
	stopLimit = 200 * time.Millisecond
)

// pause follows the stop of the child. When the user is there it was he who
// stopped it, by a key or by a command of the program, and the whole job is
// suspended. Otherwise it goes on, as one that has no shell above it does; only
// one that was stopped by SIGSTOP stays so, until a limit is passed.
func (s *session) pause(signal string) {
	switch {
	case s.stage != running || s.ended() || !s.freezing.since.IsZero():
	case s.console.holds() && s.streams.typedSince(userHere):
		s.suspend()
		s.link.order(orderContinue)
	case signal == unix.SignalName(unix.SIGTSTP):
		s.link.order(orderContinue)
	}
}

// suspend gives the user's terminal back, stops this process with its group, as
// Ctrl-Z does any other, and takes the terminal again when it is continued.
func (s *session) suspend() {
	from := time.Now()
	s.streams.settle()
	s.console.release()
	s.link.order(orderAway)
	stopOwnGroup(s.continued)
	s.limits.suspended(from, time.Now())
	s.resume()
}

// resume takes the terminal when this process has been continued, be it after a
// stop of its own or by somebody else. In the background it waits for it.
func (s *session) resume() {
	c := s.console
	if c == nil {
		return
	}
	if c.keyboard != nil && !inForeground(c.in) { // stopped by another one, and continued by bg
		c.keyboard.Stop()
		c.keyboard = nil
		s.link.order(orderAway)
	}
	if c.keyboard != nil && !c.keyboard.IsRaw() { // the shell has put it back
		c.release()
	}
	s.occupy()
}

// occupy takes the user's terminal where it is not ours and can be.
func (s *session) occupy() {
	if s.console.holds() {
		return
	}
	s.link.order(orderHeld) // first: it has to be put back from the very moment
	if err := s.console.take(); err != nil || !s.console.holds() {
		s.link.order(orderAway)
		return // without raw mode the user sees what happens, and cannot type
	}
	s.console.say((*terminal.Modes).Again)
	s.console.resize()
}

// stopOwnGroup stops all processes of the group, and returns when this one has
// been continued. A handler must never have been set for SIGTSTP: the Go runtime
// does not give that up.
func stopOwnGroup(continued <-chan os.Signal) {
	select {
	case <-continued: // of an earlier time
	default:
	}
	_ = unix.Kill(0, unix.SIGTSTP)
	select {
	case <-continued:
	case <-time.After(stopLimit):
	}
}
