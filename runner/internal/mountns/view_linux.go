package mountns

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sys/unix"
)

// devices are the visible devices in /dev, in addition to new terminals.
var devices = []string{"null", "zero", "full", "random", "urandom", "tty"}

// keptCapabilities are the capabilities that root keeps. None of them gives access to hidden
// files (by mounts, other processes, devices or file handles).
var keptCapabilities = []uintptr{
	unix.CAP_CHOWN, unix.CAP_DAC_OVERRIDE, unix.CAP_FOWNER, unix.CAP_FSETID, unix.CAP_KILL, unix.CAP_SETGID, unix.CAP_SETUID,
	unix.CAP_SETPCAP, unix.CAP_NET_BIND_SERVICE, unix.CAP_SYS_CHROOT, unix.CAP_AUDIT_WRITE, unix.CAP_SETFCAP,
}

// ShowOnly gives this thread, and its children, a mount namespace in which everything is
// read-only except for the mounts. Outer mounts are made before inner ones. It cannot be
// reverted, not even by root. It needs Linux 5.12.
func ShowOnly(places []Mount) error {
	if err := unix.Unshare(unix.CLONE_NEWIPC); err != nil {
		return fmt.Errorf("make a namespace of shared memory: %w", err)
	}
	if err := newMountNamespace(); err != nil {
		return err
	}

	places = slices.Clone(places)
	places = append(places, Mount{Path: "/proc", From: "/proc", Write: true}, Mount{Path: "/dev"}, Mount{Path: "/dev/shm", Write: true}, Mount{Path: "/dev/pts", Write: true})
	for _, name := range []string{"sys", "sysrq-trigger", "irq", "bus"} {
		places = append(places, Mount{Path: "/proc/" + name, From: "/proc/" + name})
	}
	for _, name := range devices {
		places = append(places, Mount{Path: "/dev/" + name, From: "/dev/" + name, Write: true})
	}
	slices.SortStableFunc(places, func(a, b Mount) int { return strings.Compare(a.Path, b.Path) })

	sources, err := openSources(places)
	if err != nil {
		return err
	}
	if err := unix.MountSetattr(unix.AT_FDCWD, "/", unix.AT_RECURSIVE, &unix.MountAttr{Attr_set: unix.MOUNT_ATTR_RDONLY}); err != nil {
		return fmt.Errorf("make everything read-only: %w", err)
	}

	var covers []string // made read-only after the mounts in them
	for i, p := range places {
		there, err := sources[i].mount(p)
		if err != nil {
			return fmt.Errorf("show %s: %w", p.Path, err)
		}
		if there && p.From == "" && !p.Write {
			covers = append(covers, p.Path)
		}
	}
	return closeView(covers)
}

// source is the content of a mount: a detached copy of the mounts, or a text.
type source struct {
	tree    int    // descriptor of the detached copy, 0 for none
	file    bool   // the source is a file
	text    []byte // content of a copied file
	missing bool   // the source does not exist, or cannot be read
}

// maxCopy limits the size of copied files, in bytes.
const maxCopy = 16 << 20

// openSources opens the contents of the mounts, before anything is hidden. The result has one
// source for each mount.
func openSources(places []Mount) ([]source, error) {
	out := make([]source, len(places))
	for i, p := range places {
		s := &out[i]
		if p.From == "" {
			continue
		}
		info, err := os.Stat(p.From)
		switch {
		case err != nil || p.Link:
		case p.Copy:
			s.text, err = readCopy(p.From)
		default:
			s.file = !info.IsDir()
			s.tree, err = cloneTree(p)
		}
		switch {
		case errors.Is(err, os.ErrNotExist), errors.Is(err, os.ErrPermission), errors.Is(err, unix.ENOTDIR):
			s.missing = true
		case err != nil:
			return nil, fmt.Errorf("take hold of %s: %w", p.From, err)
		}
	}
	return out, nil
}

// cloneTree returns a descriptor of a detached copy of the mounts at a path, which is
// read-only unless the mount allows changes.
func cloneTree(p Mount) (int, error) {
	tree, err := unix.OpenTree(unix.AT_FDCWD, p.From, unix.OPEN_TREE_CLONE|unix.OPEN_TREE_CLOEXEC|unix.AT_RECURSIVE)
	if err == nil && !p.Write {
		err = unix.MountSetattr(tree, "", unix.AT_EMPTY_PATH|unix.AT_RECURSIVE, &unix.MountAttr{Attr_set: unix.MOUNT_ATTR_RDONLY})
	}
	return tree, err
}

// readCopy reads a file, up to maxCopy bytes.
func readCopy(path string) ([]byte, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|unix.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, maxCopy))
}

// mount makes a mount, and reports whether it did. It does nothing if the source, or the
// folder to hide, does not exist.
func (s source) mount(p Mount) (there bool, err error) {
	if _, err := os.Stat(p.Path); s.missing || p.From == "" && !p.Write && errors.Is(err, os.ErrNotExist) {
		return false, nil
	}

	if p.Link {
		if _, err := os.Lstat(p.Path); err == nil {
			return true, nil // it is in a visible folder
		}
		return true, errors.Join(os.MkdirAll(filepath.Dir(p.Path), 0o755), os.Symlink(p.From, p.Path))
	}

	if p.Copy {
		return true, errors.Join(os.MkdirAll(filepath.Dir(p.Path), 0o700), os.WriteFile(p.Path, s.text, 0o600))
	}

	if err := s.mountpoint(p.Path); err != nil {
		return false, err
	}
	if s.tree != 0 {
		defer unix.Close(s.tree)
		return true, unix.MoveMount(s.tree, "", unix.AT_FDCWD, p.Path, unix.MOVE_MOUNT_F_EMPTY_PATH)
	}

	kind, data := "tmpfs", "mode=700"
	switch {
	case p.Path == "/dev/pts":
		kind, data = "devpts", "newinstance,ptmxmode=0666,mode=620"
	case p.Path == "/dev/shm":
		data = "mode=1777"
	case !p.Write:
		data = "mode=755"
	}
	return true, unix.Mount(kind, p.Path, kind, unix.MS_NOSUID, data)
}

// mountpoint creates the file or folder to mount on, if it is missing.
func (s source) mountpoint(path string) error {
	if _, err := os.Stat(path); err == nil {
		return nil
	}
	if !s.file {
		return os.MkdirAll(path, 0o755)
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	return f.Close()
}

// closeView makes the hidden folders read-only, and drops the rights to revert that.
func closeView(covers []string) error {
	for name, to := range map[string]string{"fd": "/proc/self/fd", "stdin": "/proc/self/fd/0", "stdout": "/proc/self/fd/1", "stderr": "/proc/self/fd/2", "ptmx": "pts/ptmx"} {
		if err := os.Symlink(to, "/dev/"+name); err != nil {
			return err
		}
	}

	for _, path := range covers {
		if err := unix.MountSetattr(unix.AT_FDCWD, path, 0, &unix.MountAttr{Attr_set: unix.MOUNT_ATTR_RDONLY}); err != nil {
			return fmt.Errorf("close %s: %w", path, err)
		}
	}

	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return err
	}
	if os.Geteuid() != 0 {
		return dropAmbientRights()
	}

	for c := uintptr(0); c <= unix.CAP_LAST_CAP; c++ {
		if slices.Contains(keptCapabilities, c) {
			continue
		}
		if err := unix.Prctl(unix.PR_CAPBSET_DROP, c, 0, 0, 0); err != nil && !errors.Is(err, unix.EINVAL) { // an older kernel does not know it
			return fmt.Errorf("give up a right: %w", err)
		}
	}
	return nil
}

// IsolateNetwork gives this thread, and its children, a network namespace with only a
// loopback device.
func IsolateNetwork() error {
	if err := unix.Unshare(unix.CLONE_NEWNET); err != nil {
		return fmt.Errorf("make a network namespace: %w", err)
	}
	sock, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return fmt.Errorf("start the loopback: %w", err)
	}
	defer unix.Close(sock)

	lo, err := unix.NewIfreq("lo")
	if err == nil {
		lo.SetUint16(unix.IFF_UP)
		err = unix.IoctlIfreq(sock, unix.SIOCSIFFLAGS, lo)
	}
	if err != nil {
		return fmt.Errorf("start the loopback: %w", err)
	}
	return nil
}
