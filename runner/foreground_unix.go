//go:build linux || darwin

package runner

import (
	"syscall"

	"golang.org/x/sys/unix"
)

// fork starts the child. On a terminal it does so as a shell would: the shim
// leads the session, and the child the process group in the foreground. If it led
// the session itself, Ctrl-Z could not stop it, for nobody would be there to
// continue it (POSIX.1-2017, 3.264, orphaned process group). The child puts itself
// into the foreground before it executes the program, while its signals are
// blocked, so that the terminal does not stop it for that.
func (s *shim) fork(path string, args []string, attr *syscall.ProcAttr) (pid int, inCgroup bool, err error) {
	if attr.Sys.Foreground {
		if err := unix.IoctlSetInt(fdStdout, unix.TIOCSCTTY, 0); err != nil {
			return 0, false, err
		}
	}
	return s.group.ForkExec(path, args, attr)
}
