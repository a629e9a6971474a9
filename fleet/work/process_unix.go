//go:build unix

package work

import (
	"os"
	"os/exec"
	"syscall"
)

// group starts a process in a new process group, so that an interruption of the worker does
// not reach it directly.
func group(cmd *exec.Cmd) { cmd.SysProcAttr = attributes() }

func terminate(p *os.Process) error { return p.Signal(syscall.SIGTERM) }

func interrupt(cmd *exec.Cmd) { _ = terminate(cmd.Process) }

func kill(cmd *exec.Cmd) { _ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
