package proc

import (
	"syscall"
	"testing"
)

// TestStartsOutside: where the system does not let a process start in its cgroup,
// it starts outside, and says so.
func TestStartsOutside(t *testing.T) {
	for name, g := range map[string]Cgroup{"none": {}, "no cgroup": {t.TempDir()}, "gone": {t.TempDir() + "/gone"}} {
		pid, inside, err := g.ForkExec("/bin/true", []string{"true"}, &syscall.ProcAttr{Sys: &syscall.SysProcAttr{Setsid: true}})
		if err != nil || inside {
			t.Errorf("%s: inside %t, %v; want outside", name, inside, err)
			continue
		}
		var status syscall.WaitStatus
		if _, err := syscall.Wait4(pid, &status, 0, nil); err != nil || status.ExitStatus() != 0 {
			t.Errorf("%s: %v, %v", name, status, err)
		}
	}
}

// TestCgroupOwner: only the names that we give are ours.
func TestCgroupOwner(t *testing.T) {
	self, err := CurrentProcess()
	if err != nil {
		t.Fatal(err)
	}
	if owner, ok := cgroupOwner(cgroupPrefix + self.mark()); !ok || owner != self {
		t.Errorf("got %+v, %t; want %+v", owner, ok, self)
	}
	for _, name := range []string{
		"", "supervise", "supervise-", "supervise-1", "supervise-x-" + self.Start, "supervise.service", "user.slice",
		cgroupPrefix + "1-2-3-another-boot", "other-" + self.mark(), cgroupPrefix + self.mark() + "x",
	} {
		if owner, ok := cgroupOwner(name); ok {
			t.Errorf("%s is taken for that of %+v", name, owner)
		}
	}
}
