// Package mountns gives a thread separate namespaces: a mount namespace with read-only or
// hidden folders, and a network namespace without devices.
package mountns

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"syscall"

	"golang.org/x/sys/unix"
)

// sshIncluded are the folders of files that the configuration of OpenSSH includes. OpenSSH
// refuses files that belong neither to root nor to the user. In a user namespace, files of
// root seem to belong to the overflow user (65534).
var sshIncluded = []string{"/etc/ssh/ssh_config.d", "/etc/crypto-policies/back-ends"}

// PrepareProcess gives a process of an ordinary user a user namespace, with the same user
// ID, so that it can call [MakeReadOnly], [ShowOnly] and [IsolateNetwork]. Root needs none.
func PrepareProcess(attr *syscall.SysProcAttr) {
	uid, gid := os.Geteuid(), os.Getegid()
	if uid == 0 {
		return
	}
	attr.Cloneflags |= unix.CLONE_NEWUSER
	attr.UidMappings = []syscall.SysProcIDMap{{ContainerID: uid, HostID: uid, Size: 1}}
	attr.GidMappings = []syscall.SysProcIDMap{{ContainerID: gid, HostID: gid, Size: 1}}
	attr.AmbientCaps = append(attr.AmbientCaps, unix.CAP_SYS_ADMIN, unix.CAP_NET_ADMIN)
}

// MakeReadOnly gives this thread, and its children, a mount namespace in which the folders
// are read-only. It ignores missing folders. Children of an ordinary user cannot revert it.
// It needs Linux 5.12.
func MakeReadOnly(folders []string) error {
	if err := newMountNamespace(); err != nil {
		return err
	}
	for _, dir := range folders {
		if err := bindReadOnly(dir); err != nil && !errors.Is(err, os.ErrNotExist) {
			return fmt.Errorf("make %s read-only: %w", dir, err)
		}
	}
	if os.Geteuid() == 0 {
		return nil
	}
	for _, dir := range sshIncluded {
		if err := copyFolder(dir); err != nil && !errors.Is(err, os.ErrNotExist) {
			return fmt.Errorf("show %s as the user's: %w", dir, err)
		}
	}
	return dropAmbientRights()
}

// newMountNamespace gives this thread a mount namespace. Mounts in it do not appear outside.
func newMountNamespace() error {
	if err := unix.Unshare(unix.CLONE_NEWNS); err != nil {
		return fmt.Errorf("make a mount namespace: %w", err)
	}
	// Later mounts outside also appear inside, but not vice versa.
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_SLAVE, ""); err != nil {
		return fmt.Errorf("keep mounts inside: %w", err)
	}
	return nil
}

// dropAmbientRights takes the right to mount from later programs of this thread.
func dropAmbientRights() error {
	if err := unix.Prctl(unix.PR_CAP_AMBIENT, unix.PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0); err != nil {
		return fmt.Errorf("give up the right to mount: %w", err)
	}
	return nil
}

// bindReadOnly makes a folder, and the mounts in it, read-only.
func bindReadOnly(dir string) error {
	if err := unix.Mount(dir, dir, "", unix.MS_BIND|unix.MS_REC, ""); err != nil {
		return err
	}
	return unix.MountSetattr(unix.AT_FDCWD, dir, unix.AT_RECURSIVE, &unix.MountAttr{Attr_set: unix.MOUNT_ATTR_RDONLY})
}

// copyFolder replaces the files of a folder by copies that belong to the user.
func copyFolder(dir string) error {
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) == 0 {
		return err
	}

	texts := map[string][]byte{}
	for _, e := range entries {
		if text, err := readSmallFile(filepath.Join(dir, e.Name())); err == nil {
			texts[e.Name()] = text
		}
	}

	if err := unix.Mount("tmpfs", dir, "tmpfs", unix.MS_NOSUID|unix.MS_NODEV|unix.MS_NOEXEC, "mode=755,size=1m"); err != nil {
		return err
	}

	for name, text := range texts {
		if err := os.WriteFile(filepath.Join(dir, name), text, 0o600); err != nil {
			return err
		}
	}
	return nil
}

// readSmallFile reads a regular file of at most 64 KB.
func readSmallFile(path string) ([]byte, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|unix.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil || !info.Mode().IsRegular() || info.Size() > 64<<10 {
		return nil, errors.Join(err, os.ErrInvalid)
	}
	return io.ReadAll(io.LimitReader(f, 64<<10))
}
