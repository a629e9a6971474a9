package runner

import "syscall"

func (s *shim) forkConfined(string, []string, *syscall.ProcAttr, []string) (int, bool, error) {
	return 0, false, errNoLandlock
}
