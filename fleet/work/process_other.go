//go:build !unix

package work

import (
	"os"
	"os/exec"
)

func group(*exec.Cmd) {}

func terminate(p *os.Process) error { return p.Kill() }

func interrupt(cmd *exec.Cmd) { _ = terminate(cmd.Process) }

func kill(cmd *exec.Cmd) { _ = cmd.Process.Kill() }
