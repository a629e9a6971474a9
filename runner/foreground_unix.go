//go:build linux || darwin

package runner

import (
	"syscall"

	"golang.org/x/sys/unix"
)

// forkExec starts a process. Forked says, where that is known, that there was one,
// if only until the program could not be executed.
type forkExec func(*syscall.ProcAttr) (pid int, forked bool, err error)

// fork starts the child. On a terminal it does so as a shell would: the shim
// leads the session, and the child the process group in the foreground. If it led
// the session itself, Ctrl-Z could not stop it, for nobody would be there to
// continue it (POSIX.1-2017, 3.264, orphaned process group).
func (s *shim) fork(path string, args []string, attr *syscall.ProcAttr) (pid int, inCgroup bool, err error) {
	if !attr.Sys.Foreground {
		return s.group.forkExec(attr, func(attr *syscall.ProcAttr) (pid int, forked bool, err error) {
			pid, err = syscall.ForkExec(path, args, attr)
			return pid, false, err
		})
	}
	if err := unix.IoctlSetInt(fdStdout, unix.TIOCSCTTY, 0); err != nil {
		return 0, false, err
	}
	return s.group.forkExec(attr, func(attr *syscall.ProcAttr) (pid int, forked bool, err error) {
		done, ushered := make(chan struct{}), make(chan bool)
		go func() { ushered <- s.usher(done) }()
		pid, err = syscall.ForkExec(path, args, attr)
		close(done)
		forked = <-ushered
		select {
		case s.children <- unix.SIGCHLD: // the usher may have taken the only one
		default:
		}
		return pid, forked, err
	})
}

// usher brings the child into the foreground, and reports whether it did. The
// child tries that itself before it executes the program, as a group in the
// background, and is stopped by the terminal for it until the shim, which is in
// the foreground, has done it. So it is done before the program can print or be
// interrupted.
func (s *shim) usher(done <-chan struct{}) bool {
	for {
		select {
		case <-s.children:
		case <-done:
			return false
		}
		var status unix.WaitStatus
		pid, err := unix.Wait4(-1, &status, unix.WNOHANG|unix.WUNTRACED, nil)
		if err == nil && pid > 0 && status.Stopped() {
			_ = unix.IoctlSetPointerInt(fdStdout, unix.TIOCSPGRP, pid) // it may have been killed
			_ = unix.Kill(pid, unix.SIGCONT)
			return true
		}
	}
}
