package runner

import (
	"fmt"
	"strconv"
	"syscall"

	"golang.org/x/sys/unix"
)

// orphansReturn is false: an orphan becomes a child of launchd.
const orphansReturn = false

// zombieState is SZOMB of <sys/proc.h>.
const zombieState = 5

// withoutCgroup is what holds a tree that has no cgroup.
const withoutCgroup = ByGroup

// process is one line of the process list. A pid alone names a process only as
// long as it lives; pid and start name it for good.
type process struct {
	pid, ppid, pgid int
	start           uint64 // in microseconds since 1970
	zombie          bool
	comm            string
}

// becomeReaper has nothing to do: macOS has no subreaper.
func becomeReaper() error { return nil }

// signalOnParentDeath has nothing to do: macOS has no such signal.
func signalOnParentDeath(*syscall.SysProcAttr, syscall.Signal) {}

// wasStopped is never true: macOS does not tell without collecting the child.
func wasStopped(int) bool { return false }

// listProcesses returns every process that can be seen.
func listProcesses() ([]process, error) {
	list, err := unix.SysctlKinfoProcSlice("kern.proc.all")
	if err != nil {
		return nil, fmt.Errorf("list processes: %w", err)
	}
	all := make([]process, 0, len(list))
	for i := range list {
		all = append(all, fromKernel(&list[i]))
	}
	return all, nil
}

// readProcess returns one process.
func readProcess(pid int) (process, error) {
	k, err := unix.SysctlKinfoProc("kern.proc.pid", pid)
	if err != nil {
		return process{}, err
	}
	return fromKernel(k), nil
}

func fromKernel(k *unix.KinfoProc) process {
	return process{
		pid: int(k.Proc.P_pid), ppid: int(k.Eproc.Ppid), pgid: int(k.Eproc.Pgid),
		start:  uint64(k.Proc.P_starttime.Sec)*1e6 + uint64(k.Proc.P_starttime.Usec),
		zombie: k.Proc.P_stat == zombieState,
		comm:   unix.ByteSliceToString(k.Proc.P_comm[:]),
	}
}

// name returns the name of the process.
func (p process) name() Process {
	return Process{PID: p.pid, Start: strconv.FormatUint(p.start, 10)}
}

// led reports whether the process is in the process group of that number.
func (p process) led(leader int) bool { return p.pgid == leader }

// mark changes nothing: macOS shows nobody the environment of another process.
func mark(env []string, _ Process) []string { return env }

// marked is never true.
func (p process) marked(Process) bool { return false }

// members returns the descendants of root, the process group of leader, what
// was known before and still lives, and the descendants of all those. Zombies
// that are not ours to collect would never leave the list.
func members(all []process, root, leader int, known map[int]process) []process {
	found := descendants(all, func(p process) bool {
		old, ok := known[p.pid]
		return p.ppid == root || p.pgid == leader || (ok && old.start == p.start)
	})
	alive := found[:0]
	for _, p := range found {
		if !p.zombie {
			alive = append(alive, p)
		}
	}
	return alive
}

// signal signals the process. An error means that it is gone, or not ours; the
// next look at the tree shows which.
func (p process) signal(sig unix.Signal) { _ = unix.Kill(p.pid, sig) }

// command returns the kernel's name for the process.
func (p process) command() string { return p.comm }
