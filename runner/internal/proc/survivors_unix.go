//go:build linux || darwin

package proc

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// shimGrace is how long a shim without a supervisor may take to clean up, including the
// user's terminal.
const shimGrace = 2 * time.Second

// The times of the cleanup.
const (
	SweepLimit        = 5 * time.Second       // until processes that survive SIGKILL are reported
	SweepPoll         = 5 * time.Millisecond  // the end of a grandchild sends no signal
	KillOneByOneAfter = 50 * time.Millisecond // until processes that cgroup.kill skips are killed
)

// treeKiller finds and kills a child's tree without its shim. Processes belong to the tree if
// they are in its cgroup, are children of the shim, are in the leader's session, or have the
// mark of the shim in their environment; and so do all their descendants.
type treeKiller struct {
	shim, leader Process
	group        Cgroup
	leaderSeen   bool  // the leader was alive a moment ago, so its pid was not reused
	names        Names // of the processes that were found
}

// foundTree is the result of one search.
type foundTree struct {
	tree     []Info // without zombies and without the shim
	shim     *Info  // nil if it has ended
	inCgroup bool   // this process is in the tree's cgroup
	doubtful []Info // processes of the leader's session, or of a later one with the same number
}

// CurrentProcess identifies the calling process.
func CurrentProcess() (Process, error) { return Identify(os.Getpid()) }

// Identify returns the identity of a running process.
func Identify(pid int) (Process, error) {
	p, err := Read(pid)
	if err != nil {
		return Process{}, fmt.Errorf("find process %d: %w", pid, err)
	}
	return p.identity(), nil
}

// alive reports whether the process runs.
func alive(p Process) bool {
	now, err := Read(p.PID)
	return err == nil && !now.Zombie && now.identity() == p
}

// KillLiving kills the tree of a leader that was alive a moment ago.
func KillLiving(shim, leader Process, group Cgroup) error {
	h := &treeKiller{shim: shim, leader: leader, group: group, leaderSeen: true, names: Names{}}
	_, err := h.kill(context.Background())
	return err
}

// KillSurvivors kills the remaining processes of a child whose supervisor is dead.
func KillSurvivors(ctx context.Context, shim, leader Process) ([]string, error) {
	awaitShim(ctx, shim)
	h := &treeKiller{shim: shim, leader: leader, group: findCgroup(shim), names: Names{}}
	return h.kill(ctx)
}

// awaitShim gives the shim time to clean up. It continues the shim, which may be stopped.
func awaitShim(ctx context.Context, shim Process) {
	grace := time.After(shimGrace)
	tick := time.NewTicker(SweepPoll)
	defer tick.Stop()
	for shim.Alive() {
		_ = unix.Kill(shim.PID, unix.SIGCONT) // harmless for another process
		select {
		case <-tick.C:
		case <-grace:
			return
		case <-ctx.Done():
			return
		}
	}
}

// kill kills the tree until nothing is left, and returns the names of the processes that it
// found. It kills the shim last, because orphans become children of the shim.
func (h *treeKiller) kill(ctx context.Context) ([]string, error) {
	defer h.group.Remove()
	limit := time.After(SweepLimit)
	tick := time.NewTicker(SweepPoll)
	defer tick.Stop()
	for {
		found, err := h.freeze()
		if err != nil {
			return h.names.Sorted(), err
		}
		switch {
		case len(found.tree) > 0:
			if !found.inCgroup {
				h.group.Kill()
			}
			for _, p := range found.tree {
				p.Signal(unix.SIGKILL)
			}
		case found.shim != nil:
			found.shim.Signal(unix.SIGKILL)
		default:
			h.group.awaitEmpty(SweepLimit) // ending processes are not listed
			return h.names.Sorted(), survivorsError(ErrDoubtful, found.doubtful, "of the dead run, or of another one with the same number")
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return h.names.Sorted(), survivorsError(ErrSurvivors, found.tree, context.Cause(ctx).Error())
		case <-limit:
			return h.names.Sorted(), survivorsError(ErrSurvivors, found.tree, fmt.Sprintf("still there after %s", SweepLimit))
		}
	}
}

// freeze stops the tree until it finds no new processes, and returns it.
func (h *treeKiller) freeze() (found foundTree, err error) {
	frozen := map[int]uint64{}
	for pass, fresh := 0, true; fresh && pass < FreezePasses; pass++ {
		fresh = false
		if found, err = h.findTree(); err != nil {
			return found, err
		}
		for _, p := range found.tree {
			if start, ok := frozen[p.PID]; ok && start == p.Start {
				continue
			}
			p.Signal(unix.SIGSTOP)
			frozen[p.PID], fresh = p.Start, true
		}
		for _, p := range found.tree {
			h.names.Add(p)
		}
	}
	return found, nil
}

// MaxNamed is the maximum number of Names.
const MaxNamed = 64

// Names are the names of processes, by pid.
type Names map[int]string

// Add records the name of a process while it runs.
func (n Names) Add(p Info) {
	if _, known := n[p.PID]; !known && len(n) < MaxNamed {
		n[p.PID] = filepath.Base(p.Command())
	}
}

// Sorted returns the names in order.
func (n Names) Sorted() []string { return slices.Sorted(maps.Values(n)) }

// String returns the name and the pid of the process, like "sleep (4711)".
func (p Info) String() string { return fmt.Sprintf("%s (%d)", filepath.Base(p.Command()), p.PID) }

// survivorsError returns an error about remaining processes, nil for none.
func survivorsError(kind error, list []Info, why string) error {
	if len(list) == 0 {
		return nil
	}
	slices.SortFunc(list, func(a, b Info) int { return cmp.Compare(a.PID, b.PID) })
	var text []string
	for i, p := range list {
		if i == 10 {
			text = append(text, fmt.Sprintf("and %d more", len(list)-i))
			break
		}
		text = append(text, p.String())
	}
	return fmt.Errorf("%w: %s: %s: look at them with ps, and end those that are not wanted with kill -9", kind, strings.Join(text, ", "), why)
}

// findTree lists the current processes of the tree.
func (h *treeKiller) findTree() (foundTree, error) {
	all, err := List()
	if err != nil {
		return foundTree{}, err
	}

	members := h.group.pids()
	found := foundTree{inCgroup: members[os.Getpid()]}
	spared := withAncestors(all, os.Getpid())
	for i, p := range all {
		if !p.Zombie && p.identity() == h.shim {
			found.shim = &all[i]
			spared[p.PID] = true
		}
	}

	belongs, doubtful := h.matchers(all, members, found.shim != nil)
	for _, p := range descendants(all, belongs) {
		if !p.Zombie && !spared[p.PID] {
			found.tree = append(found.tree, p)
		}
	}
	for _, p := range all {
		if !p.Zombie && !spared[p.PID] && doubtful(p) && !slices.Contains(found.tree, p) {
			found.doubtful = append(found.doubtful, p)
		}
	}

	return found, nil
}

// withAncestors returns the pids of a process and of all its ancestors. kill spares those of
// the caller.
func withAncestors(all []Info, pid int) map[int]bool {
	parent := make(map[int]int, len(all))
	for _, p := range all {
		parent[p.PID] = p.PPID
	}
	line := map[int]bool{}
	for ; pid > 0 && !line[pid]; pid = parent[pid] {
		line[pid] = true
	}
	return line
}

// pidOwners says whether the pids of the dead run still belong to it.
type pidOwners struct {
	ours    bool // the leader is alive, or was a moment ago
	group   bool // the number of the leader's group was not reused
	session bool // the number of the session, which the shim leads on a terminal, was not reused
}

// pidOwners finds out from a process list which pids still belong to the dead run.
func (h *treeKiller) pidOwners(all []Info) pidOwners {
	owners := pidOwners{group: h.leader.PID > 0, session: h.shim.PID > 0}
	for _, p := range all {
		if p.PID == h.shim.PID && p.identity() != h.shim {
			owners.session = false
		}
		if p.PID == h.leader.PID {
			owners.ours = p.identity() == h.leader
			owners.group = owners.ours
			owners.session = owners.session && !(owners.ours && !p.isInGroupOf(h.shim.PID))
		}
	}
	owners.ours = owners.ours || (h.leaderSeen && owners.group)
	return owners
}

// matchers returns two functions: belongs selects processes of the tree, without their
// descendants, and doubtful selects processes that may belong to it. members are the pids in
// the cgroup.
func (h *treeKiller) matchers(all []Info, members map[int]bool, shimLives bool) (belongs, doubtful func(Info) bool) {
	owners := h.pidOwners(all)
	isInSession := func(p Info) bool {
		return (owners.group && p.isInGroupOf(h.leader.PID)) || (owners.session && p.isInGroupOf(h.shim.PID))
	}
	belongs = func(p Info) bool {
		isShimChild := shimLives && p.PPID == h.shim.PID
		return members[p.PID] || isShimChild || (owners.ours && isInSession(p)) || p.hasMark(h.shim)
	}
	doubtful = func(p Info) bool { return !owners.ours && isInSession(p) }
	return belongs, doubtful
}

// FreezePasses limits the attempts to stop a tree. A process of another user cannot be
// stopped, and may start new ones forever.
const FreezePasses = 100

// descendants returns the processes that match, and all their descendants, each of them once.
func descendants(all []Info, match func(Info) bool) []Info {
	children := make(map[int][]int, len(all))
	for i, p := range all {
		children[p.PPID] = append(children[p.PPID], i)
	}
	added := make([]bool, len(all))
	var out []Info
	var add func(i int)
	add = func(i int) {
		if added[i] {
			return
		}
		added[i] = true
		out = append(out, all[i])
		for _, c := range children[all[i].PID] {
			add(c)
		}
	}
	for i, p := range all {
		if match(p) {
			add(i)
		}
	}
	return out
}
