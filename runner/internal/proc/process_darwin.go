package proc

import (
	"errors"
	"fmt"
	"os"
	"slices"
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

// Info is an entry of the process list. Its PID and Start together are unique.
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

// WasStopped is never true: macOS cannot report that without collecting the child.
func WasStopped(int) bool { return false }

// List returns all visible processes.
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

// Mark changes nothing: macOS does not show the environment of other processes.
func Mark(env []string, _ Process) []string { return env }

// hasMark is never true.
func (p Info) hasMark(Process) bool { return false }

// Members returns the descendants of root, the process group of leader, the known processes
// that still run, and the descendants of all those. It skips zombies, since those of other
// parents would stay in the list.
func Members(all []Info, root, leader int, known map[int]Info) []Info {
	found := descendants(all, func(p Info) bool {
		old, ok := known[p.PID]
		isKnown := ok && old.Start == p.Start
		return p.PPID == root || p.Pgid == leader || isKnown
	})
	return slices.DeleteFunc(found, func(p Info) bool { return p.Zombie })
}

// Signal signals the process. It ignores errors: the next list shows whether the process
// still runs.
func (p Info) Signal(sig unix.Signal) { _ = unix.Kill(p.PID, sig) }

// Command returns the kernel's name for the process.
func (p Info) Command() string { return p.comm }

// maxAncestors limits the search for ancestors: the parents in a changing process list could
// form a cycle.
const maxAncestors = 1000

// IsSupervised reports whether an ancestor runs the same program, as a shim does. macOS does
// not show the environment of other processes.
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
