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

// freezing is what a session knows of its frozen child.
type freezing struct {
	since   time.Time // zero when it is not frozen
	waiting []chan error
}

// controls is where requests come from once the child is known to have started: until
// then they wait.
func (s *session) controls() <-chan request {
	if s.link.leader.PID == 0 {
		return nil
	}
	return s.command.Control.asked()
}

// control follows a request to freeze or to thaw.
func (s *session) control(r request) {
	switch {
	case s.ended() || s.stage != running:
		r.answer <- ErrNotRunning
	case r.freeze:
		if s.freezing.since.IsZero() {
			s.freezing.since = time.Now()
		}
		s.freezing.waiting = append(s.freezing.waiting, r.answer)
		s.link.order(orderFreeze)
	default:
		s.thaw()
		r.answer <- nil
	}
}

// frozen passes on that the tree stands still.
func (s *session) frozen() {
	for _, answer := range s.freezing.waiting {
		answer <- nil
	}
	s.freezing.waiting = nil
}

// thaw continues a frozen tree.
func (s *session) thaw() {
	if s.freezing.since.IsZero() {
		return
	}
	s.limits.suspended(s.freezing.since, time.Now())
	s.freezing.since = time.Time{}
	s.link.order(orderThaw)
}

// freezeRounds bounds how often new processes are looked for: what starts one in
// the moment in which it is stopped itself has it stopped in the next round.
const freezeRounds = 20

// pauseTree stops everything that is in the tree.
func (s *shim) pauseTree() {
	for range freezeRounds {
		fresh := false
		for _, p := range s.tree() {
			if !s.still[p.PID] {
				fresh = true
				s.still[p.PID] = true
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
	all := s.tree()
	for i := len(all) - 1; i >= 0; i-- {
		if s.still[all[i].PID] {
			all[i].Signal(unix.SIGCONT)
		}
	}
	clear(s.still)
}

// tree lists what is in the tree now.
func (s *shim) tree() []proc.Info {
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
