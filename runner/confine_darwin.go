package runner

import (
	"syscall"

	"supervise/runner/internal/mountns"
)

func (s *shim) forkFenced(_ string, _ []string, _ *syscall.ProcAttr, sp spec) (int, bool, error) {
	switch {
	case len(sp.Places) > 0:
		return 0, false, fenceError{mountns.View(nil)}
	case len(sp.ReadOnly) > 0:
		return 0, false, fenceError{mountns.Seal(stringsOf(sp.ReadOnly))}
	}
	return 0, false, fenceError{errNoLandlock}
}
