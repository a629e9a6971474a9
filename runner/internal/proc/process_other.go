//go:build !linux && !darwin

package proc

import (
	"context"
	"errors"
)

// ErrUnsupported means that the system cannot hold a process tree together.
var ErrUnsupported = errors.New("start child: this system has neither the process tree nor the terminals that supervise needs: use Linux or macOS (on Windows, WSL works)")

// CurrentProcess is not supported here.
func CurrentProcess() (Process, error) { return Process{}, ErrUnsupported }

func alive(Process) bool { return false }

// IsSupervised is always false here.
func IsSupervised() bool { return false }

// KillSurvivors is not supported here.
func KillSurvivors(context.Context, Process, Process) ([]string, error) { return nil, ErrUnsupported }
