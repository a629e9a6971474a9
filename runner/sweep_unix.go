//go:build linux || darwin

package runner

import (
	"maps"
	"os"
	"slices"
	"time"

	"golang.org/x/sys/unix"

	"supervise/runner/internal/proc"
)

// The limits of the cleanup.
const (
	sweepGrace = 250 * time.Millisecond // after SIGTERM to the leftovers
	groupLimit = time.Second            // for cgroup.kill
	groupPoll  = time.Millisecond
)

// freezeAfter is the number of passes after which killTree stops the tree before it kills it.
const freezeAfter = 3

// remaining returns the running processes of the tree, and whether the tree has ended. The
// list may miss new processes, so an empty one does not mean that the tree has ended.
func (s *shim) remaining() (left []proc.Info, gone bool) {
	none := s.collectChildren()
	if none && proc.OrphansReturn {
		return nil, true
	}
	left = s.refreshMembers()
	return left, none && len(left) == 0
}

// isGone reports whether the tree has ended, without a process list if possible.
func (s *shim) isGone() bool {
	if proc.OrphansReturn {
		return s.collectChildren()
	}
	_, gone := s.remaining()
	return gone
}

// refreshMembers updates and returns the known processes of the tree. On systems without
// subreapers a later list would miss orphans.
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

// sweep ends the processes that outlived the child: first with SIGTERM, and after sweepGrace
// by killTree. It returns the processes that are left, and whether the tree has ended.
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

// killTree kills the processes of the tree until it has ended. After a limit it gives up, and
// returns the processes that are left. gone says that the tree has ended.
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
		hasGroup := s.exitStatus == nil // until the leader is collected, its number is not reused
		if hasGroup {
			_ = unix.Kill(-s.leader, unix.SIGKILL) // usually nearly all, in one call
		}
		for _, p := range left {
			if !hasGroup || p.Pgid != s.leader {
				p.Signal(unix.SIGKILL)
			}
		}
		s.collectKilled()
	}
}

// collectKilled collects killed processes until none is left, none has ended for a while,
// or the limit is reached.
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

// killGroup kills the processes of the cgroup and collects them. The shim is the parent of
// orphans, so the tree has ended when it has no child left.
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
			// The remaining processes are just ending, or have left the cgroup.
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

// freezeTree stops the tree before it is killed, because it may start new processes as fast
// as they are killed. It returns all of them.
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
	return slices.Collect(maps.Values(frozen))
}

// noteNames records the names of leftovers while they run.
func (s *shim) noteNames(left []proc.Info) {
	for _, p := range left {
		if p.PID != s.leader && !p.Zombie {
			s.leftoverNames.Add(p)
		}
	}
}
