package runner

import (
	"syscall"

	"supervise/runner/internal/mountns"
)

func (s *shim) forkConfined(_ string, _ []string, _ *syscall.ProcAttr, sp spec) (int, bool, error) {
	switch {
	case len(sp.Mounts) > 0:
		return 0, false, confinementError{mountns.ShowOnly(nil)}
	case len(sp.ReadOnly) > 0:
		return 0, false, confinementError{mountns.MakeReadOnly(toStrings(sp.ReadOnly))}
	}
	return 0, false, confinementError{errNoLandlock}
}
