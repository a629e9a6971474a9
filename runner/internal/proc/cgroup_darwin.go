package proc

import (
	"errors"
	"syscall"
	"time"
)

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

func (Cgroup) KillRest() {}

func (Cgroup) Populated() bool { return false }

func (Cgroup) pids() map[int]bool { return nil }

func (Cgroup) awaitEmpty(time.Duration) bool { return true }

func (Cgroup) Remove() {}
