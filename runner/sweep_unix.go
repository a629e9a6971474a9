//go:build linux || darwin

package runner

import (
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"

	"supervise/runner/internal/proc"
)

// What clearing up may take.
const (
	sweepGrace = 250 * time.Millisecond // after SIGTERM to what is left over
	groupLimit = time.Second            // until what survives cgroup.kill is looked for
	groupPoll  = time.Millisecond
)

// freezeAfter is how often a tree is killed as it is seen: most do not fight back.
const freezeAfter = 3

// remaining returns what still runs of the tree. An empty list does not mean
// that nothing is left, since it takes time to make one; gone does.
func (s *shim) remaining() (left []proc.Info, gone bool) {
	none := s.collectChildren()
	if none && proc.OrphansReturn {
		return nil, true
	}
	left = s.refreshMembers()
	return left, none && len(left) == 0
}

// isGone reports whether nothing is left, without a list where none is needed.
func (s *shim) isGone() bool {
	if proc.OrphansReturn {
		return s.collectChildren()
	}
	_, gone := s.remaining()
	return gone
}

// refreshMembers notes who belongs to the tree: where orphans are not given to us, a
// later look would not find them.
func (s *shim) refreshMembers() []proc.Info {
	all, err := proc.List()
	if err != nil {
		return nil
	}
	left := proc.Members(all, os.Getpid(), s.leader, s.known)
	clear(s.known)
	for _, p := range left {
		s.known[p.PID] = p
	}
	return left
}

// sweep ends what outlived the child. It returns what kill returns.
func (s *shim) sweep() (left []proc.Info, gone bool) {
	left, gone = s.remaining()
	if gone {
		return nil, true
	}
	s.noteNames(left)
	for _, p := range left {
		p.Signal(unix.SIGTERM)
		p.Signal(unix.SIGCONT)
	}
	grace := time.After(sweepGrace)
	tick := time.NewTicker(proc.SweepPoll)
	defer tick.Stop()
	for {
		if s.isGone() {
			return nil, true
		}
		select {
		case <-s.children:
		case <-tick.C:
		case o, ok := <-s.orders:
			if !ok || o == orderKill {
				return s.killTree()
			}
		case <-grace:
			return s.killTree()
		}
	}
}

// killTree kills the tree until it is gone, at once where it has a cgroup. When part
// of it resists, it gives up after a while and returns what is left.
func (s *shim) killTree() (left []proc.Info, gone bool) {
	s.killGroup()
	end := time.Now().Add(proc.SweepLimit)
	for pass := 0; ; pass++ {
		left, gone = s.remaining()
		switch {
		case gone:
			return nil, true
		case time.Now().After(end):
			return left, false
		case pass >= freezeAfter:
			left = s.freezeTree(left)
		default:
			s.noteNames(left)
		}
		whole := s.exitStatus == nil // then the number of the group is still ours
		if whole {
			_ = unix.Kill(-s.leader, unix.SIGKILL) // as a rule nearly all: one call instead of thousands
		}
		for _, p := range left {
			if !whole || p.Pgid != s.leader {
				p.Signal(unix.SIGKILL)
			}
		}
		s.collectKilled()
	}
}

// collectKilled collects what has been killed until nothing is left, or nothing comes
// any more for a while. What starts anew all the time must not keep it.
func (s *shim) collectKilled() {
	quiet, limit := time.NewTimer(proc.SweepPoll), time.After(20*proc.SweepPoll)
	defer quiet.Stop()
	for !s.collectChildren() {
		select {
		case <-s.children:
			quiet.Reset(proc.SweepPoll)
		case <-quiet.C:
			return
		case <-limit:
			return
		}
	}
}

// killGroup kills what is in the cgroup and collects it. As the shim is the
// parent of orphans, the tree is gone when it has no child left.
func (s *shim) killGroup() {
	if s.group.Dir == "" {
		return
	}
	s.noteNames(s.group.Members(proc.MaxNamed + 1))
	s.group.Kill()
	tick := time.NewTicker(groupPoll)
	defer tick.Stop()
	rest := time.After(proc.KillOneByOneAfter)
	end, empty := time.Now().Add(groupLimit), false
	for !s.collectChildren() && time.Now().Before(end) {
		if !empty && !s.group.IsPopulated() {
			// What is left now is on its last instructions, or got out of the cgroup.
			end, empty = time.Now().Add(10*groupPoll), true
		}
		select {
		case <-rest:
			s.group.KillOneByOne()
		case <-s.children:
		case <-tick.C:
		}
	}
}

// freezeTree stops the tree before it is killed: one that starts new processes as
// fast as they are killed has to hold still first. It returns all of it.
func (s *shim) freezeTree(left []proc.Info) []proc.Info {
	frozen := map[int]proc.Info{}
	for pass, fresh := 0, true; fresh && pass < proc.FreezePasses; pass++ {
		fresh = false
		for _, p := range left {
			if old, ok := frozen[p.PID]; ok && old.Start == p.Start {
				continue
			}
			p.Signal(unix.SIGSTOP)
			frozen[p.PID], fresh = p, true
		}
		s.noteNames(left)
		left = s.refreshMembers()
	}
	out := make([]proc.Info, 0, len(frozen))
	for _, p := range frozen {
		out = append(out, p)
	}
	return out
}

// noteNames notes the names of leftovers, while they can still be read.
func (s *shim) noteNames(left []proc.Info) {
	for _, p := range left {
		if _, ok := s.leftoverNames[p.PID]; ok || p.PID == s.leader || p.Zombie || len(s.leftoverNames) >= proc.MaxNamed {
			continue
		}
		s.leftoverNames[p.PID] = filepath.Base(p.Command())
	}
}
