package runner

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"

	"supervise/runner/internal/gateway"
	"supervise/runner/internal/mountns"
)

// The rights of Landlock's first version that change files and folders. [writeRights]
// adds those of later versions.
const (
	fileWrites = unix.LANDLOCK_ACCESS_FS_WRITE_FILE
	dirWrites  = unix.LANDLOCK_ACCESS_FS_REMOVE_DIR | unix.LANDLOCK_ACCESS_FS_REMOVE_FILE | unix.LANDLOCK_ACCESS_FS_MAKE_CHAR |
		unix.LANDLOCK_ACCESS_FS_MAKE_DIR | unix.LANDLOCK_ACCESS_FS_MAKE_REG | unix.LANDLOCK_ACCESS_FS_MAKE_SOCK |
		unix.LANDLOCK_ACCESS_FS_MAKE_FIFO | unix.LANDLOCK_ACCESS_FS_MAKE_BLOCK | unix.LANDLOCK_ACCESS_FS_MAKE_SYM
)

// CheckLandlock returns an error if the system cannot enforce [Command].Writable.
func CheckLandlock() error {
	_, err := landlockVersion()
	return err
}

// landlockVersion returns the version of Landlock in the kernel. The error says how to get
// Landlock.
func landlockVersion() (int, error) {
	v, _, errno := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, 0, 0, unix.LANDLOCK_CREATE_RULESET_VERSION)
	switch {
	case errno == unix.ENOSYS:
		return 0, errors.New("the kernel has no Landlock: it came with Linux 5.13")
	case errno == unix.EOPNOTSUPP:
		return 0, errors.New("the kernel was started without Landlock: add landlock to lsm= on its command line")
	case errno != 0:
		return 0, fmt.Errorf("ask the kernel for Landlock: %w", errno)
	}
	return int(v), nil
}

// writeRights returns the rights that a ruleset of a version restricts: those of a file, and
// those of everything. The first version always forbids moving files between folders; the
// right REFER of the second allows it if both folders are writable.
func writeRights(version int) (file, all uint64) {
	file, all = fileWrites, fileWrites|dirWrites
	if version >= 2 {
		all |= unix.LANDLOCK_ACCESS_FS_REFER
	}
	if version >= 3 {
		file |= unix.LANDLOCK_ACCESS_FS_TRUNCATE
		all |= unix.LANDLOCK_ACCESS_FS_TRUNCATE
	}
	return file, all
}

// confine lets this thread, and its children, write only below the given paths. It
// cannot be reverted. Missing paths are ignored.
func confine(writable []string) error {
	version, err := landlockVersion()
	if err != nil {
		return err
	}
	file, all := writeRights(version)
	attr := unix.LandlockRulesetAttr{Handled_access_fs: all}
	set, _, errno := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, uintptr(unsafe.Pointer(&attr)), unsafe.Sizeof(attr.Handled_access_fs), 0)
	if errno != 0 {
		return errno
	}

	defer unix.Close(int(set))
	for _, path := range writable {
		if err := allowPath(int(set), path, file, all); err != nil {
			return err
		}
	}

	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return err
	}
	if _, _, errno := unix.Syscall(unix.SYS_LANDLOCK_RESTRICT_SELF, set, 0, 0); errno != 0 {
		return errno
	}
	return nil
}

// allowPath adds a path to a ruleset, with the rights file if it is a file, and all if it is a
// folder. It ignores a path that does not exist.
func allowPath(set int, path string, file, all uint64) error {
	fd, err := unix.Open(path, unix.O_PATH|unix.O_CLOEXEC, 0)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	var stat unix.Stat_t
	if err := unix.Fstat(fd, &stat); err != nil {
		return err
	}
	access := all
	if stat.Mode&unix.S_IFMT != unix.S_IFDIR {
		access = file
	}
	rule := unix.LandlockPathBeneathAttr{Allowed_access: access, Parent_fd: int32(fd)} //nolint:gosec // a descriptor
	_, _, errno := unix.Syscall6(unix.SYS_LANDLOCK_ADD_RULE, uintptr(set), unix.LANDLOCK_RULE_PATH_BENEATH, uintptr(unsafe.Pointer(&rule)), 0, 0, 0)
	if errno != 0 {
		return errno
	}
	return nil
}

// forkConfined starts the child from a thread with the restrictions of the spec. The shim
// itself is not restricted, since it has a cgroup to remove. The thread lives as long as
// the shim, because the child would see its end as the death of its parent.
func (s *shim) forkConfined(path string, args []string, attr *syscall.ProcAttr, sp spec) (pid int, inCgroup bool, err error) {
	type outcome struct {
		pid    int
		inside bool
		err    error
	}
	done := make(chan outcome)
	go func() {
		runtime.LockOSThread()
		var o outcome
		if err := s.confineThread(sp); err != nil {
			o.err = confinementError{err}
		} else {
			o.pid, o.inside, o.err = s.fork(path, args, attr)
		}
		done <- o
		select {} // it ends with the process
	}()
	o := <-done
	return o.pid, o.inside, o.err
}

// confineThread applies the restrictions of the spec to this thread and its children. It
// cannot be reverted.
func (s *shim) confineThread(sp spec) error {
	if sp.Network != nil {
		gate := &gateway.Proxy{Hosts: sp.Network.Hosts, OnRefused: s.reportRefused}
		if err := mountns.IsolateNetwork(); err != nil {
			return err
		}
		if err := gate.Listen(); err != nil {
			return err
		}
	}

	if len(sp.Mounts) > 0 {
		places := make([]Mount, len(sp.Mounts))
		for i, p := range sp.Mounts {
			places[i] = Mount{Path: string(p.Path), From: string(p.From), Write: p.Write, Copy: p.Copy, Link: p.Link}
		}
		if err := mountns.ShowOnly(places); err != nil {
			return err
		}
	}

	if len(sp.ReadOnly) > 0 {
		if err := mountns.MakeReadOnly(toStrings(sp.ReadOnly)); err != nil {
			return err
		}
	}

	if sp.LimitWrites {
		return confine(toStrings(sp.Writable))
	}
	return nil
}
