package proc

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// OrphansReturn is false: an orphan becomes a child of launchd.
const OrphansReturn = false

// zombieState is SZOMB of <sys/proc.h>.
const zombieState = 5

// FallbackContainment is what holds a tree that has no cgroup.
const FallbackContainment = GroupContainment

// Info is one line of the process list. A pid alone names a process only as
// long as it lives; pid and start name it for good.
type Info struct {
	PID, PPID, Pgid int
	Start           uint64 // in microseconds since 1970
	Zombie          bool
	comm            string
}

// BecomeReaper has nothing to do: macOS has no subreaper.
func BecomeReaper() error { return nil }

// SignalOnParentDeath has nothing to do: macOS has no such signal.
func SignalOnParentDeath(*syscall.SysProcAttr, syscall.Signal) {}

// WasStopped is never true: macOS does not tell without collecting the child.
func WasStopped(int) bool { return false }

// List returns every process that can be seen.
func List() ([]Info, error) {
	list, err := unix.SysctlKinfoProcSlice("kern.proc.all")
	if err != nil {
		return nil, fmt.Errorf("list processes: %w", err)
	}
	all := make([]Info, 0, len(list))
	for i := range list {
		all = append(all, fromKernel(&list[i]))
	}
	return all, nil
}

// Read returns one process.
func Read(pid int) (Info, error) {
	k, err := unix.SysctlKinfoProc("kern.proc.pid", pid)
	if err != nil {
		return Info{}, err
	}
	return fromKernel(k), nil
}

func fromKernel(k *unix.KinfoProc) Info {
	return Info{
		PID: int(k.Proc.P_pid), PPID: int(k.Eproc.Ppid), Pgid: int(k.Eproc.Pgid),
		Start:  uint64(k.Proc.P_starttime.Sec)*1e6 + uint64(k.Proc.P_starttime.Usec),
		Zombie: k.Proc.P_stat == zombieState,
		comm:   unix.ByteSliceToString(k.Proc.P_comm[:]),
	}
}

// identity returns the name of the process.
func (p Info) identity() Process {
	return Process{PID: p.PID, Start: strconv.FormatUint(p.Start, 10)}
}

// isInGroupOf reports whether the process is in the process group of that number.
func (p Info) isInGroupOf(leader int) bool { return p.Pgid == leader }

// Mark changes nothing: macOS shows nobody the environment of another process.
func Mark(env []string, _ Process) []string { return env }

// hasMark is never true.
func (p Info) hasMark(Process) bool { return false }

// Members returns the descendants of root, the process group of leader, what
// was known before and still lives, and the descendants of all those. Zombies
// that are not ours to collect would never leave the list.
func Members(all []Info, root, leader int, known map[int]Info) []Info {
	found := descendants(all, func(p Info) bool {
		old, ok := known[p.PID]
		return p.PPID == root || p.Pgid == leader || (ok && old.Start == p.Start)
	})
	alive := found[:0]
	for _, p := range found {
		if !p.Zombie {
			alive = append(alive, p)
		}
	}
	return alive
}

// Signal signals the process. An error means that it is gone, or not ours; the
// next look at the tree shows which.
func (p Info) Signal(sig unix.Signal) { _ = unix.Kill(p.PID, sig) }

// Command returns the kernel's name for the process.
func (p Info) Command() string { return p.comm }

// maxAncestors bounds the way up: a process list that changes meanwhile could lead
// round and round.
const maxAncestors = 1000

// IsSupervised reports whether one of the processes above runs this very program, as
// a shim does. macOS shows nobody the environment of another process.
func IsSupervised() bool {
	own, err := Read(os.Getpid())
	if err != nil {
		return false
	}
	for pid, n := own.PPID, 0; pid > 1 && n < maxAncestors; n++ {
		p, err := Read(pid)
		if err != nil {
			return false
		}
		if p.comm == own.comm {
			return true
		}
		pid = p.PPID
	}
	return false
}

// Cgroup is nothing: macOS has none.
type Cgroup struct{ Dir string }

func NewCgroup(Process) (Cgroup, error) { return Cgroup{}, errors.ErrUnsupported }

func findCgroup(Process) Cgroup { return Cgroup{} }

func (Cgroup) ForkExec(path string, argv []string, attr *syscall.ProcAttr) (pid int, inside bool, err error) {
	pid, err = syscall.ForkExec(path, argv, attr)
	return pid, false, err
}

func (Cgroup) Kill() {}

func (Cgroup) Members(int) []Info { return nil }

func (Cgroup) KillOneByOne() {}

func (Cgroup) IsPopulated() bool { return false }

func (Cgroup) pids() map[int]bool { return nil }

func (Cgroup) awaitEmpty(time.Duration) bool { return true }

func (Cgroup) Remove() {}
