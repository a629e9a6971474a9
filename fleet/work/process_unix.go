//go:build unix

package work

import (
	"os/exec"
	"syscall"
)

// group gives a process a group of its own, so that an interruption of the worker does not
// reach it past the worker.
func group(cmd *exec.Cmd) { cmd.SysProcAttr = attributes() }

func interrupt(cmd *exec.Cmd) { _ = cmd.Process.Signal(syscall.SIGTERM) }

func kill(cmd *exec.Cmd) { _ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
