//go:build linux || darwin

package runner

import (
	"os"
	"time"

	"golang.org/x/sys/unix"

	"supervise/runner/internal/proc"
	"supervise/runner/internal/terminal"
)

const (
	// userPresence is how long after a key the user is taken to sit at the terminal.
	// Nobody else may suspend the job: it would stay so for the night.
	userPresence = 5 * time.Second
	// settleLimit bounds the wait for the last that a stopped child has printed.
	settleLimit = 500 * time.Millisecond
	// stopLimit is how long the kernel may take to stop this process. It does not
	// where no shell is there to continue it.
	stopLimit = 200 * time.Millisecond
)

// handlePause follows the stop of the child. When the user is there it was he who
// stopped it, by a key or by a command of the program, and the whole job is
// suspended. Otherwise it goes on, as one that has no shell above it does; only
// one that was stopped by SIGSTOP stays so, until a limit is passed.
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

// suspend gives the user's terminal back, stops this process with its group, as
// Ctrl-Z does any other, and takes the terminal again when it is continued.
func (s *session) suspend() {
	from := time.Now()
	s.streams.awaitQuiet()
	s.console.release()
	s.link.send(orderReleaseTerminal)
	stopOwnGroup(s.continued)
	s.limits.exclude(from, time.Now())
	s.resumeTerminal()
}

// resumeTerminal takes the terminal when this process has been continued, be it after a
// stop of its own or by somebody else. In the background it waits for it.
func (s *session) resumeTerminal() {
	c := s.console
	if c == nil {
		return
	}
	if c.keyboard != nil && !inForeground(c.in) { // stopped by another one, and continued by bg
		c.keyboard.Stop()
		c.keyboard = nil
		s.link.send(orderReleaseTerminal)
	}
	if c.keyboard != nil && !c.keyboard.IsRaw() { // the shell has put it back
		c.release()
	}
	s.takeTerminal()
}

// takeTerminal takes the user's terminal where it is not ours and can be.
func (s *session) takeTerminal() {
	if s.console.hasKeyboard() {
		return
	}
	s.link.send(orderHoldTerminal) // first: it has to be put back from the very moment
	if err := s.console.openKeyboard(); err != nil || !s.console.hasKeyboard() {
		s.link.send(orderReleaseTerminal)
		return // without raw mode the user sees what happens, and cannot type
	}
	s.console.writeModes((*terminal.Modes).Reapply)
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

// freezeState is what a session knows of its frozen child.
type freezeState struct {
	since   time.Time // zero when it is not frozen
	answers []chan error
}

// requests is where requests come from once the child is known to have started: until
// then they wait.
func (s *session) requests() <-chan request {
	if s.link.leader.PID == 0 {
		return nil
	}
	return s.command.Control.requestsOrNil()
}

// handleRequest follows a request to freeze or to thaw.
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

// answerFrozen passes on that the tree stands still.
func (s *session) answerFrozen() {
	for _, answer := range s.freezing.answers {
		answer <- nil
	}
	s.freezing.answers = nil
}

// thaw continues a frozen tree.
func (s *session) thaw() {
	if s.freezing.since.IsZero() {
		return
	}
	s.limits.exclude(s.freezing.since, time.Now())
	s.freezing.since = time.Time{}
	s.link.send(orderThaw)
}

// freezeRounds bounds how often new processes are looked for: what starts one in
// the moment in which it is stopped itself has it stopped in the next round.
const freezeRounds = 20

// pauseTree stops everything that is in the tree.
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

// continueTree continues what pauseTree has stopped, the children before their parents: a
// shell that sees its child stopped would take that for a key of the user's.
func (s *shim) continueTree() {
	all := s.listTree()
	for i := len(all) - 1; i >= 0; i-- {
		if s.stopped[all[i].PID] {
			all[i].Signal(unix.SIGCONT)
		}
	}
	clear(s.stopped)
}

// listTree lists what is in the tree now.
func (s *shim) listTree() []proc.Info {
	all, err := proc.List()
	if err != nil {
		return nil
	}
	var out []proc.Info
	for _, p := range proc.Members(all, os.Getpid(), s.leader, s.known) {
		if !p.Zombie && p.PID != os.Getpid() {
			out = append(out, p)
		}
	}
	return out
}
