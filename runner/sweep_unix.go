//go:build linux || darwin

package runner

import (
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"
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
func (s *shim) remaining() (left []process, gone bool) {
	none := s.reap()
	if none && orphansReturn {
		return nil, true
	}
	left = s.remember()
	return left, none && len(left) == 0
}

// gone reports whether nothing is left, without a list where none is needed.
func (s *shim) gone() bool {
	if orphansReturn {
		return s.reap()
	}
	_, gone := s.remaining()
	return gone
}

// remember notes who belongs to the tree: where orphans are not given to us, a
// later look would not find them.
func (s *shim) remember() []process {
	all, err := listProcesses()
	if err != nil {
		return nil
	}
	left := members(all, os.Getpid(), s.leader, s.known)
	clear(s.known)
	for _, p := range left {
		s.known[p.pid] = p
	}
	return left
}

// sweep ends what outlived the child. It returns what kill returns.
func (s *shim) sweep() (left []process, gone bool) {
	left, gone = s.remaining()
	if gone {
		return nil, true
	}
	s.name(left)
	for _, p := range left {
		p.signal(unix.SIGTERM)
		p.signal(unix.SIGCONT)
	}
	grace := time.After(sweepGrace)
	tick := time.NewTicker(sweepPoll)
	defer tick.Stop()
	for {
		if s.gone() {
			return nil, true
		}
		select {
		case <-s.children:
		case <-tick.C:
		case o, ok := <-s.orders:
			if !ok || o == orderKill {
				return s.kill()
			}
		case <-grace:
			return s.kill()
		}
	}
}

// kill kills the tree until it is gone, at once where it has a cgroup. When part
// of it resists, it gives up after a while and returns what is left.
func (s *shim) kill() (left []process, gone bool) {
	s.killGroup()
	end := time.Now().Add(sweepLimit)
	for pass := 0; ; pass++ {
		left, gone = s.remaining()
		switch {
		case gone:
			return nil, true
		case time.Now().After(end):
			return left, false
		case pass >= freezeAfter:
			left = s.freeze(left)
		default:
			s.name(left)
		}
		whole := s.end == nil // then the number of the group is still ours
		if whole {
			_ = unix.Kill(-s.leader, unix.SIGKILL) // as a rule nearly all: one call instead of thousands
		}
		for _, p := range left {
			if !whole || p.pgid != s.leader {
				p.signal(unix.SIGKILL)
			}
		}
		s.settle()
	}
}

// settle collects what has been killed until nothing is left, or nothing comes
// any more for a while. What starts anew all the time must not keep it.
func (s *shim) settle() {
	quiet, limit := time.NewTimer(sweepPoll), time.After(20*sweepPoll)
	defer quiet.Stop()
	for !s.reap() {
		select {
		case <-s.children:
			quiet.Reset(sweepPoll)
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
	if s.group.dir == "" {
		return
	}
	s.name(s.group.members(maxNamed + 1))
	s.group.kill()
	tick := time.NewTicker(groupPoll)
	defer tick.Stop()
	rest := time.After(restAfter)
	end, empty := time.Now().Add(groupLimit), false
	for !s.reap() && time.Now().Before(end) {
		if !empty && !s.group.populated() {
			// What is left now is on its last instructions, or got out of the cgroup.
			end, empty = time.Now().Add(10*groupPoll), true
		}
		select {
		case <-rest:
			s.group.killRest()
		case <-s.children:
		case <-tick.C:
		}
	}
}

// freeze stops the tree before it is killed: one that starts new processes as
// fast as they are killed has to hold still first. It returns all of it.
func (s *shim) freeze(left []process) []process {
	frozen := map[int]process{}
	for pass, fresh := 0, true; fresh && pass < freezePasses; pass++ {
		fresh = false
		for _, p := range left {
			if old, ok := frozen[p.pid]; ok && old.start == p.start {
				continue
			}
			p.signal(unix.SIGSTOP)
			frozen[p.pid], fresh = p, true
		}
		s.name(left)
		left = s.remember()
	}
	out := make([]process, 0, len(frozen))
	for _, p := range frozen {
		out = append(out, p)
	}
	return out
}

// name notes the names of leftovers, while they can still be read.
func (s *shim) name(left []process) {
	for _, p := range left {
		if _, ok := s.named[p.pid]; ok || p.pid == s.leader || p.zombie || len(s.named) >= maxNamed {
			continue
		}
		s.named[p.pid] = filepath.Base(p.command())
	}
}
