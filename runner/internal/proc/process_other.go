//go:build !linux && !darwin

package proc

import (
	"context"
	"errors"
)

func self() (Process, error) { return Process{}, ErrUnsupported }

func alive(Process) bool { return false }

func killSurvivors(context.Context, Process, Process) ([]string, error) { return nil, ErrUnsupported }

var ErrUnsupported = errors.New("start child: this system has neither the process tree nor the terminals that supervise needs: use Linux or macOS (on Windows, WSL works)")
