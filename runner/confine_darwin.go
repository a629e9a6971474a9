package runner

import (
	"syscall"

	"supervise/runner/internal/mountns"
)

func (s *shim) forkFenced(_ string, _ []string, _ *syscall.ProcAttr, sp spec) (int, bool, error) {
	if len(sp.ReadOnly) > 0 {
		return 0, false, mountns.Seal(stringsOf(sp.ReadOnly))
	}
	return 0, false, errNoLandlock
}
