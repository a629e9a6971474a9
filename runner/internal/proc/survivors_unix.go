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

// shimGrace is how long a shim without a supervisor may take to clear up by
// itself, which includes to put the user's terminal back.
const shimGrace = 2 * time.Second

// What clearing up may take.
const (
	SweepLimit        = 5 * time.Second       // until what resists SIGKILL is reported
	SweepPoll         = 5 * time.Millisecond  // a grandchild's end sends us no signal
	KillOneByOneAfter = 50 * time.Millisecond // until what cgroup.kill passes over is killed one by one
)

// treeKiller looks for a child's tree from outside.
type treeKiller struct {
	shim, leader Process
	group        Cgroup
	leaderSeen   bool // the leader was seen alive a moment ago: its pid cannot belong to another
	names        map[int]string
}

// foundTree is what a look around has found.
type foundTree struct {
	tree     []Info // without zombies and without the shim
	shim     *Info  // nil: gone
	inCgroup bool   // this process is in the tree's cgroup
	doubtful []Info // of the leader's session, or of another one that has its number
}

// CurrentProcess returns the name of the calling process.
func CurrentProcess() (Process, error) { return Identify(os.Getpid()) }

// Identify returns the name of a process that exists.
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

// KillLiving ends the tree of a leader that was seen alive a moment ago.
func KillLiving(shim, leader Process, group Cgroup) error {
	h := &treeKiller{shim: shim, leader: leader, group: group, leaderSeen: true, names: map[int]string{}}
	_, err := h.kill(context.Background())
	return err
}

// KillSurvivors ends what is left of a child whose supervisor is dead.
func KillSurvivors(ctx context.Context, shim, leader Process) ([]string, error) {
	awaitShim(ctx, shim)
	h := &treeKiller{shim: shim, leader: leader, group: findCgroup(shim), names: map[int]string{}}
	return h.kill(ctx)
}

// awaitShim gives the shim time to end what it has to. It may have been stopped.
func awaitShim(ctx context.Context, shim Process) {
	grace := time.After(shimGrace)
	tick := time.NewTicker(SweepPoll)
	defer tick.Stop()
	for shim.Alive() {
		_ = unix.Kill(shim.PID, unix.SIGCONT) // harmless to whom it is not meant for
		select {
		case <-tick.C:
		case <-grace:
			return
		case <-ctx.Done():
			return
		}
	}
}

// kill kills what find finds until there is nothing more, and the shim last: as
// long as it is there, orphans are its children and cannot get lost.
func (h *treeKiller) kill(ctx context.Context) ([]string, error) {
	defer h.group.Remove()
	limit := time.After(SweepLimit)
	tick := time.NewTicker(SweepPoll)
	defer tick.Stop()
	for {
		q, err := h.freeze()
		if err != nil {
			return h.sortedNames(), err
		}
		switch {
		case len(q.tree) > 0:
			if !q.inCgroup {
				h.group.Kill()
			}
			for _, p := range q.tree {
				p.Signal(unix.SIGKILL)
			}
		case q.shim != nil:
			q.shim.Signal(unix.SIGKILL)
		default:
			h.group.awaitEmpty(SweepLimit) // what is on its last instructions is in no list
			return h.sortedNames(), survivorsError(ErrDoubtful, q.doubtful, "of the dead run, or of another one that has its number by now")
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return h.sortedNames(), survivorsError(ErrSurvivors, q.tree, context.Cause(ctx).Error())
		case <-limit:
			return h.sortedNames(), survivorsError(ErrSurvivors, q.tree, fmt.Sprintf("still there after %s", SweepLimit))
		}
	}
}

// freeze stops what find finds until it finds nothing new, and returns it.
func (h *treeKiller) freeze() (q foundTree, err error) {
	frozen := map[int]uint64{}
	for pass, fresh := 0, true; fresh && pass < FreezePasses; pass++ {
		fresh = false
		if q, err = h.findTree(); err != nil {
			return q, err
		}
		for _, p := range q.tree {
			if start, ok := frozen[p.PID]; ok && start == p.Start {
				continue
			}
			p.Signal(unix.SIGSTOP)
			frozen[p.PID], fresh = p.Start, true
		}
		h.noteNames(q.tree)
	}
	return q, nil
}

// noteNames remembers the names, while they can still be read.
func (h *treeKiller) noteNames(list []Info) {
	for _, p := range list {
		if _, ok := h.names[p.PID]; !ok && len(h.names) < MaxNamed {
			h.names[p.PID] = filepath.Base(p.Command())
		}
	}
}

func (h *treeKiller) sortedNames() []string { return slices.Sorted(maps.Values(h.names)) }

// survivorsError returns the error for processes that are left, nil for none.
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
		text = append(text, fmt.Sprintf("%s (%d)", filepath.Base(p.Command()), p.PID))
	}
	return fmt.Errorf("%w: %s: %s: look at them with ps, and end those that are not wanted with kill -9", kind, strings.Join(text, ", "), why)
}

// findTree looks around once.
func (h *treeKiller) findTree() (foundTree, error) {
	all, err := List()
	if err != nil {
		return foundTree{}, err
	}
	members := h.group.pids()
	q := foundTree{inCgroup: members[os.Getpid()]}
	spared := withAncestors(all, os.Getpid())
	for i, p := range all {
		if !p.Zombie && p.identity() == h.shim {
			q.shim = &all[i]
			spared[p.PID] = true
		}
	}
	belongs, doubtful := h.matchers(all, members, q.shim != nil)
	for _, p := range descendants(all, belongs) {
		if !p.Zombie && !spared[p.PID] {
			q.tree = append(q.tree, p)
		}
	}
	for _, p := range all {
		if !p.Zombie && !spared[p.PID] && doubtful(p) && !slices.Contains(q.tree, p) {
			q.doubtful = append(q.doubtful, p)
		}
	}
	return q, nil
}

// withAncestors returns a process and all its ancestors: whoever asks for survivors to
// be killed does not mean himself.
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

// pidOwners say to which processes the pids of the dead run belong by now.
type pidOwners struct {
	ours    bool // the leader lives, or did a moment ago
	group   bool // the number of the leader's group still is that
	session bool // and that of the session, which on a terminal the shim leads
}

func (h *treeKiller) pidOwners(all []Info) pidOwners {
	n := pidOwners{group: h.leader.PID > 0, session: h.shim.PID > 0}
	for _, p := range all {
		if p.PID == h.shim.PID && p.identity() != h.shim {
			n.session = false
		}
		if p.PID == h.leader.PID {
			n.ours = p.identity() == h.leader
			n.group = n.ours
			n.session = n.session && !(n.ours && !p.isInGroupOf(h.shim.PID))
		}
	}
	n.ours = n.ours || (h.leaderSeen && n.group)
	return n
}

// matchers return who belongs to the tree, apart from what descends from those,
// and who may.
func (h *treeKiller) matchers(all []Info, members map[int]bool, shimLives bool) (belongs, doubtful func(Info) bool) {
	n := h.pidOwners(all)
	led := func(p Info) bool {
		return (n.group && p.isInGroupOf(h.leader.PID)) || (n.session && p.isInGroupOf(h.shim.PID))
	}
	belongs = func(p Info) bool {
		return members[p.PID] || (shimLives && p.PPID == h.shim.PID) || (n.ours && led(p)) || p.hasMark(h.shim)
	}
	doubtful = func(p Info) bool { return !n.ours && led(p) }
	return belongs, doubtful
}

// FreezePasses bounds the attempts to hold a tree still. What cannot be stopped,
// a process of another user, may start new ones for ever.
const FreezePasses = 100

// MaxNamed bounds the list of leftovers: a tree may hold thousands.
const MaxNamed = 64

// descendants returns the processes that match, and everything below them.
func descendants(all []Info, match func(Info) bool) []Info {
	children := make(map[int][]int, len(all))
	for i, p := range all {
		children[p.PPID] = append(children[p.PPID], i)
	}
	taken := make([]bool, len(all))
	var out []Info
	var take func(i int)
	take = func(i int) {
		if taken[i] {
			return
		}
		taken[i] = true
		out = append(out, all[i])
		for _, c := range children[all[i].PID] {
			take(c)
		}
	}
	for i, p := range all {
		if match(p) {
			take(i)
		}
	}
	return out
}
