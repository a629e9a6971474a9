package proc

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"
)

// OrphansReturn means that orphaned descendants become children of the reaper: if it has no
// child, the tree has ended.
const OrphansReturn = true

// FallbackContainment holds a tree together that has no cgroup.
const FallbackContainment = SubreaperContainment

// Info is an entry of the process list. Its PID and Start together are unique.
type Info struct {
	PID, PPID, Pgid, sid int    // the process, its parent, its process group and its session
	Start                uint64 // in clock ticks since boot
	Zombie               bool
	comm                 string // the kernel's name for it
}

// BecomeReaper makes this process the parent of its orphaned descendants.
func BecomeReaper() error {
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("adopt orphans: %w", err)
	}
	return nil
}

// SignalOnParentDeath makes the kernel signal the new process when the thread that started
// it ends (PR_SET_PDEATHSIG of prctl(2)).
func SignalOnParentDeath(attr *syscall.SysProcAttr, sig syscall.Signal) { attr.Pdeathsig = sig }

// WasStopped reports whether the child has been stopped since the last call. It does not
// collect the child.
func WasStopped(pid int) bool {
	var info unix.Siginfo
	err := unix.Waitid(unix.P_PID, pid, &info, unix.WSTOPPED|unix.WNOHANG, nil)
	return err == nil && info.Signo != 0
}

// List returns all visible processes.
func List() ([]Info, error) {
	dir, err := os.Open("/proc")
	if err != nil {
		return nil, fmt.Errorf("list processes: %w", err)
	}
	defer dir.Close()
	names, err := dir.Readdirnames(-1)
	if err != nil {
		return nil, fmt.Errorf("list processes: %w", err)
	}
	var all []Info
	for _, name := range names {
		pid, err := strconv.Atoi(name)
		if err != nil {
			continue
		}
		if p, err := Read(pid); err == nil { // it may have ended meanwhile
			all = append(all, p)
		}
	}
	return all, nil
}

// readOnce reads a kernel file that fits into buf with one read, and returns its length. It
// makes a third of the system calls of [os.ReadFile], which matters for thousands of
// processes.
func readOnce(path string, buf []byte) (int, error) {
	fd, err := unix.Open(path, unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return 0, err
	}
	defer unix.Close(fd)
	return unix.Read(fd, buf)
}

var errStat = errors.New("unknown form of /proc/PID/stat")

// Read reads /proc/PID/stat (proc_pid_stat(5)). The name in it may contain parentheses, so
// the other fields start after the last one.
func Read(pid int) (Info, error) {
	var buf [1024]byte // the file is shorter: 52 numbers and a name of at most 64 bytes
	n, err := readOnce("/proc/"+strconv.Itoa(pid)+"/stat", buf[:])
	if err != nil {
		return Info{}, err
	}

	text := string(buf[:n])
	from, to := strings.IndexByte(text, '('), strings.LastIndexByte(text, ')')
	if from < 0 || to < from {
		return Info{}, errStat
	}

	fields := strings.Fields(text[to+1:])
	if len(fields) < 20 {
		return Info{}, errStat
	}

	p := Info{PID: pid, comm: text[from+1 : to]}
	// A process whose first thread has ended looks like a zombie, but its other threads may
	// still run.
	p.Zombie = (fields[0] == "Z" && fields[17] == "1") || fields[0] == "X"
	p.PPID, _ = strconv.Atoi(fields[1]) // the kernel writes numbers
	p.Pgid, _ = strconv.Atoi(fields[2])
	p.sid, _ = strconv.Atoi(fields[3])
	p.Start, err = strconv.ParseUint(fields[19], 10, 64)
	return p, err
}

// identityTail makes the start of a process unique, since ticks count from the boot, and
// pids from 1 in each pid namespace.
var identityTail = sync.OnceValue(func() string {
	boot, _ := os.ReadFile("/proc/sys/kernel/random/boot_id") // absent in some sandboxes
	space, _ := os.Readlink("/proc/self/ns/pid")
	return strings.Trim(space, "pid:[]") + "-" + strings.TrimSpace(string(boot))
})

// identity returns the unique name of the process.
func (p Info) identity() Process {
	return Process{PID: p.PID, Start: strconv.FormatUint(p.Start, 10) + "-" + identityTail()}
}

// hasEnded reports whether the process has certainly ended, or was killed and is just
// ending. It is false if the process cannot be read.
func (p Process) hasEnded() bool {
	now, err := Read(p.PID)
	if err != nil {
		return errors.Is(err, unix.ENOENT) || errors.Is(err, unix.ESRCH)
	}
	return now.Zombie || now.identity() != p || hasPendingKill(p.PID)
}

// hasPendingKill reports whether a process has received SIGKILL. On a busy machine it may
// still be listed for a long time, with the signal pending.
func hasPendingKill(pid int) bool {
	var buf [4096]byte // the file is shorter, but for the groups of its user
	n, err := readOnce("/proc/"+strconv.Itoa(pid)+"/status", buf[:])
	if err != nil {
		return false
	}
	_, after, _ := strings.Cut(string(buf[:n]), "\nShdPnd:\t")
	mask, _, _ := strings.Cut(after, "\n")
	pending, err := strconv.ParseUint(mask, 16, 64)
	return err == nil && pending&(1<<(unix.SIGKILL-1)) != 0
}

// isInGroupOf reports whether the process is in the session or process group of a leader.
func (p Info) isInGroupOf(leader int) bool { return p.sid == leader || p.Pgid == leader }

// markVariable is the environment variable with the names of all shims above a process.
const markVariable = "SUPERVISE_TREE"

// Mark returns the environment with the shim's name added, so that the processes of a dead
// shim can be found.
func Mark(env []string, shim Process) []string {
	if shim.Start == "" {
		return env
	}
	marks := strings.TrimSpace(LastValue(env, markVariable) + " " + shim.mark())
	return append(env, markVariable+"="+marks)
}

// mark returns the name of a shim in the mark and in the name of its cgroup: the pid and the
// start, like 4711-90210-4026531836-BOOT.
func (p Process) mark() string { return strconv.Itoa(p.PID) + "-" + p.Start }

// hasMark reports whether the process was started with the shim's mark.
func (p Info) hasMark(shim Process) bool {
	if shim.Start == "" {
		return false
	}
	if ticks, _, _ := strings.Cut(shim.Start, "-"); !startedSince(p.Start, ticks) {
		return false
	}
	data, err := os.ReadFile("/proc/" + strconv.Itoa(p.PID) + "/environ")
	if err != nil {
		return false // another user's, or gone
	}
	marks := LastValue(strings.Split(string(data), "\x00"), markVariable)
	return slices.Contains(strings.Fields(marks), shim.mark())
}

// startedSince reports whether a process with that start did not start before ticks, a number
// of clock ticks since boot.
func startedSince(start uint64, ticks string) bool {
	from, err := strconv.ParseUint(ticks, 10, 64)
	return err == nil && start >= from
}

// Members returns the descendants of root. The other parameters matter only on other systems.
func Members(all []Info, root, _ int, _ map[int]Info) []Info {
	return descendants(all, func(p Info) bool { return p.PPID == root })
}

// Signal signals exactly this process: it opens a descriptor, and then checks that the pid was
// not reused. It ignores errors: the next list shows whether the process still runs.
func (p Info) Signal(sig unix.Signal) {
	fd, err := unix.PidfdOpen(p.PID, 0)
	if errors.Is(err, unix.ESRCH) {
		return
	}
	if err != nil { // older than Linux 5.3, or forbidden by a sandbox
		_ = unix.Kill(p.PID, sig)
		return
	}
	defer unix.Close(fd)
	if now, err := Read(p.PID); err == nil && now.Start == p.Start {
		_ = unix.PidfdSendSignal(fd, sig, nil, 0)
	}
}

// Command returns argument 0, or the kernel's name for the process.
func (p Info) Command() string {
	data, err := os.ReadFile("/proc/" + strconv.Itoa(p.PID) + "/cmdline")
	if name, _, _ := bytes.Cut(data, []byte{0}); err == nil && len(name) > 0 {
		return string(name)
	}
	return p.comm
}

// IsSupervised reports whether an ancestor of this process is a shim, or was started by one.
func IsSupervised() bool {
	pid := os.Getppid()
	for n := 0; pid > 1 && n < maxAncestors; n++ {
		dir := "/proc/" + strconv.Itoa(pid)
		command, _ := os.ReadFile(dir + "/cmdline") // empty if it cannot be read
		if bytes.HasPrefix(command, []byte(ShimName+"\x00")) {
			return true
		}
		environ, _ := os.ReadFile(dir + "/environ") // that of another user cannot be read
		if bytes.Contains(append([]byte{0}, environ...), []byte("\x00"+markVariable+"=")) {
			return true
		}
		p, err := Read(pid)
		if err != nil {
			return false
		}
		pid = p.PPID
	}
	return inForeignGroup()
}

// maxAncestors limits the search for ancestors: the parents in a changing process list could
// form a cycle.
const maxAncestors = 1000

// inForeignGroup reports whether this process is in a cgroup that a shim made.
func inForeignGroup() bool {
	data, err := os.ReadFile("/proc/self/cgroup")
	if err != nil {
		return false
	}
	for line := range bytes.Lines(data) {
		if _, ok := cgroupOwner(filepath.Base(string(bytes.TrimSpace(line)))); ok {
			return true
		}
	}
	return false
}
