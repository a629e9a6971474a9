package snapshot

import (
	"encoding/binary"
	"errors"
	"math/rand/v2"
	"os"
	"os/exec"
	"runtime"
	"syscall"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"
)

// steps are the system calls by which a process changes files. Between two of them nothing happens that a later process
// could see, so that a process which was killed before each of them in turn was killed everywhere.
var steps = map[uint64]bool{
	unix.SYS_WRITE: true, unix.SYS_PWRITE64: true, unix.SYS_FSYNC: true, unix.SYS_FDATASYNC: true, unix.SYS_SYNCFS: true, unix.SYS_FTRUNCATE: true,
	unix.SYS_RENAMEAT: true, unix.SYS_RENAMEAT2: true, unix.SYS_UNLINKAT: true, unix.SYS_MKDIRAT: true, unix.SYS_LINKAT: true,
	unix.SYS_SYMLINKAT: true, unix.SYS_FCHMOD: true, unix.SYS_FCHMODAT: true, unix.SYS_FCHMODAT2: true, unix.SYS_COPY_FILE_RANGE: true,
}

// tracer runs a program and counts its steps, of all its threads but not of programs that it starts.
type tracer struct {
	cmd   *exec.Cmd
	kill  int // SIGKILL comes before this step, counted from 1; 0: never
	steps int
	entry map[int]bool // the threads that are inside a system call
}

// run returns whether the program was killed before it ended.
func (tr *tracer) run() (killed bool, err error) {
	runtime.LockOSThread() // a traced process belongs to the thread that started it
	defer runtime.UnlockOSThread()
	tr.cmd.SysProcAttr = &syscall.SysProcAttr{Ptrace: true}
	if err := tr.cmd.Start(); err != nil {
		return false, err
	}
	pid := tr.cmd.Process.Pid
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
		// Without __WNOTHREAD the children of other tests would be waited for too.
		tid, err := unix.Wait4(-1, &ws, unix.WALL|unix.WNOTHREAD, nil)
		switch {
		case errors.Is(err, unix.EINTR):
		case err != nil:
			return killed, err
		case tid == pid && ws.Exited():
			if ws.ExitStatus() != 0 {
				return false, errors.New("the traced program failed")
			}
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

// stopped lets a thread go on, or kills the program.
func (tr *tracer) stopped(pid, tid int, ws unix.WaitStatus) error {
	sig := ws.StopSignal()
	switch {
	case sig == unix.SIGTRAP|0x80:
		tr.entry[tid] = !tr.entry[tid]
		if !tr.entry[tid] {
			break
		}
		if nr, ok := entered(tid); ok && steps[nr] {
			if tr.steps++; tr.steps == tr.kill {
				return unix.Kill(pid, unix.SIGKILL)
			}
		}
	case sig != unix.SIGTRAP && sig != unix.SIGSTOP:
		return gone(unix.PtraceSyscall(tid, int(sig)))
	}
	return gone(unix.PtraceSyscall(tid, 0))
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

// allSteps makes killedAt try each step of every test. That takes minutes.
const allSteps = "SNAPSHOT_TEST_ALL_STEPS"

// killedAt calls check after a child that did what args say was killed before one of its steps: at first before none, then
// before about three of them, evenly spread from a random one on. setup comes before each round.
func killedAt(t *testing.T, setup func(t *testing.T) (args []string, check func(killed bool))) {
	t.Helper()
	if testing.Short() {
		t.Skip("kills a process that works alone: nothing for the race detector")
	}
	round := func(step int) (count int) {
		args, check := setup(t)
		tr := tracer{cmd: child(args...), kill: step}
		killed, err := tr.run()
		if errors.Is(err, unix.EPERM) {
			t.Skipf("this system does not let processes be traced: %v", err)
		}
		must(t, err)
		if killed != (step > 0 && step <= tr.steps) {
			t.Fatalf("killed before step %d of %d: %v", step, tr.steps, killed)
		}
		check(killed)
		if t.Failed() {
			t.Fatalf("the process was killed before step %d", step)
		}
		return tr.steps
	}
	count := round(0)
	stride := max(1, count/3)
	if os.Getenv(allSteps) != "" {
		stride = 1
	}
	first := 1 + rand.IntN(stride)
	t.Logf("%d steps, killed before every %d. from %d on", count, stride, first)
	for step := first; step <= count; step += stride {
		round(step)
	}
}
