package snapshot

import (
	"os"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// mounting reports whether this process may mount file systems that no other process sees. If not, it runs the test again
// in one that may.
func mounting(t *testing.T) bool {
	t.Helper()
	if os.Getenv(insideEnv) == t.Name() {
		if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
			t.Skipf("make mounts private: %v", err)
		}
		return true
	}
	attr := &syscall.SysProcAttr{Cloneflags: unix.CLONE_NEWNS}
	if os.Geteuid() != 0 {
		attr.Cloneflags |= unix.CLONE_NEWUSER
		attr.UidMappings = []syscall.SysProcIDMap{{HostID: os.Getuid(), Size: 1}}
		attr.GidMappings = []syscall.SysProcIDMap{{HostID: os.Getgid(), Size: 1}}
	}
	again(t, t.TempDir(), attr)
	return false
}

// mount makes a file system of size bytes in memory.
func mount(t *testing.T, dir, size string) {
	t.Helper()
	must(t, os.MkdirAll(dir, 0o755))
	if err := unix.Mount("tmpfs", dir, "tmpfs", 0, "size="+size); err != nil {
		t.Skipf("mount a file system: %v", err)
	}
	t.Cleanup(func() { _ = unix.Unmount(dir, unix.MNT_DETACH) })
}
