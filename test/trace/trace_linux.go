package trace

import (
	"encoding/binary"
	"errors"
	"os/exec"
	"runtime"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// steps are the system calls by which a process changes files. Between two of them nothing happens that a later process
// could see, so that a process that was killed before each of them, one after another, was killed everywhere.
var steps = map[uint64]bool{
	unix.SYS_WRITE: true, unix.SYS_PWRITE64: true, unix.SYS_FSYNC: true, unix.SYS_FDATASYNC: true, unix.SYS_SYNCFS: true, unix.SYS_FTRUNCATE: true,
	unix.SYS_RENAMEAT: true, unix.SYS_RENAMEAT2: true, unix.SYS_UNLINKAT: true, unix.SYS_MKDIRAT: true, unix.SYS_LINKAT: true,
	unix.SYS_SYMLINKAT: true, unix.SYS_FCHMOD: true, unix.SYS_FCHMODAT: true, unix.SYS_FCHMODAT2: true, unix.SYS_COPY_FILE_RANGE: true,
}

// Program is a program that Run runs. Its steps are counted, of all its threads but not of programs that it starts.
type Program struct {
	Cmd   *exec.Cmd
	Kill  int         // SIGKILL comes before this step, counted from 1; 0: never
	From  func() bool // steps count from where it returns true on; nil: from the beginning
	Steps int         // how many there were
	Code  int         // the exit status, where the program was not killed

	entry map[int]bool // the threads that are inside a system call
}

// Run returns whether the program was killed before it ended. Where processes may not be traced, the error is EPERM.
func (tr *Program) Run() (killed bool, err error) {
	runtime.LockOSThread() // a traced process belongs to the thread that started it
	defer runtime.UnlockOSThread()
	if tr.Cmd.SysProcAttr == nil {
		tr.Cmd.SysProcAttr = &syscall.SysProcAttr{}
	}
	tr.Cmd.SysProcAttr.Ptrace = true
	tr.Cmd.SysProcAttr.Setpgid = !tr.Cmd.SysProcAttr.Setsid // it is waited for by its group
	if err := tr.Cmd.Start(); err != nil {
		return false, err
	}
	pid := tr.Cmd.Process.Pid
	tr.entry = map[int]bool{}
	var ws unix.WaitStatus
	if _, err := unix.Wait4(pid, &ws, 0, nil); err != nil {
		return false, err
	}
	const options = unix.PTRACE_O_TRACESYSGOOD | unix.PTRACE_O_TRACECLONE | unix.PTRACE_O_EXITKILL
	if err := errors.Join(unix.PtraceSetOptions(pid, options), unix.PtraceSyscall(pid, 0)); err != nil {
		return false, err
	}
	for {
		tid, err := unix.Wait4(-pid, &ws, unix.WALL|unix.WNOTHREAD, nil)
		switch {
		case errors.Is(err, unix.EINTR):
		case err != nil:
			return killed, err
		case tid == pid && ws.Exited():
			tr.Code = ws.ExitStatus()
			return false, nil
		case tid == pid && ws.Signaled():
			return true, nil
		case ws.Stopped():
			if err := tr.stopped(pid, tid, ws); err != nil {
				return false, err
			}
		}
	}
}

// stopped lets a thread continue, or kills the program.
func (tr *Program) stopped(pid, tid int, ws unix.WaitStatus) error {
	sig := ws.StopSignal()
	switch {
	case sig == unix.SIGTRAP|0x80:
		tr.entry[tid] = !tr.entry[tid]
		if !tr.entry[tid] {
			break
		}
		if nr, ok := entered(tid); ok && steps[nr] && tr.counts() {
			if tr.Steps++; tr.Steps == tr.Kill {
				return unix.Kill(pid, unix.SIGKILL)
			}
		}
	case sig != unix.SIGTRAP && sig != unix.SIGSTOP:
		return gone(unix.PtraceSyscall(tid, int(sig)))
	}
	return gone(unix.PtraceSyscall(tid, 0))
}

func (tr *Program) counts() bool {
	if tr.From != nil && tr.From() {
		tr.From = nil
	}
	return tr.From == nil
}

// gone overlooks that a thread is there no more.
func gone(err error) error {
	if errors.Is(err, unix.ESRCH) {
		return nil
	}
	return err
}

// entered asks which system call a thread is about to make (PTRACE_GET_SYSCALL_INFO, Linux 5.3).
func entered(tid int) (uint64, bool) {
	var info [88]byte
	const getSyscallInfo, entry = 0x420e, 1
	_, _, errno := unix.Syscall6(unix.SYS_PTRACE, getSyscallInfo, uintptr(tid), unsafe.Sizeof(info), uintptr(unsafe.Pointer(&info)), 0, 0)
	return binary.NativeEndian.Uint64(info[24:]), errno == 0 && info[0] == entry
}
