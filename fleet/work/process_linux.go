package work

import "syscall"

// attributes ask the kernel to end supervise when the worker is gone, as if somebody had
// interrupted it.
func attributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGTERM}
}
