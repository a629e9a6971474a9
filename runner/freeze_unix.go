//go:build linux || darwin

package runner

import (
	"os"
	"time"

	"golang.org/x/sys/unix"

	"supervise/runner/internal/proc"
)

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
