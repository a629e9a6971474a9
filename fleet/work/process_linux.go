package work

import "syscall"

// attributes ask the kernel to interrupt supervise when the worker is gone.
func attributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGTERM}
}
