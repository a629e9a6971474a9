package disk

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// direntName is the offset of the name in a struct linux_dirent64, after inode (8 bytes), offset (8), length (2) and type
// (1); see getdents64(2).
const direntName = 19

// Names lists a folder; the slice is valid until the next call.
func (l *Lister) Names(d Dir) ([]string, error) {
	if l.buf == nil {
		l.buf = make([]byte, 1<<15)
	}
	l.list = l.list[:0]
	for {
		n, err := unix.ReadDirent(int(d), l.buf)
		switch {
		case errors.Is(err, unix.EINTR):
			continue
		case err != nil:
			return nil, err
		case n <= 0:
			return l.list, nil
		}
		l.parse(string(l.buf[:n])) // one string for all names
	}
}

// parse adds the names in a result of getdents64(2). entries is a copy of l.buf.
func (l *Lister) parse(entries string) {
	for at := 0; at+direntName < len(entries); {
		size := int(binary.NativeEndian.Uint16(l.buf[at+16:]))
		name, _, _ := strings.Cut(entries[at+direntName:at+size], "\x00")
		if name != "." && name != ".." {
			l.list = append(l.list, name)
		}
		at += size
	}
}

// StatOf returns the Stat of a file; fi must come from Lstat or Stat of package os.
func StatOf(fi fs.FileInfo) Stat {
	st, ok := fi.Sys().(*syscall.Stat_t)
	if !ok {
		return Stat{Size: fi.Size(), Mtime: fi.ModTime().UnixNano(), Mode: Perms(fi)}
	}
	return Stat{
		Size: st.Size, Mtime: st.Mtim.Nano(), Ctime: st.Ctim.Nano(),
		Ino: st.Ino, Dev: uint64(st.Dev), Mode: Perms(fi), //nolint:unconvert // the type differs between architectures
		Owner: Owner{st.Uid, st.Gid},
	}
}

// BirthOf returns the Birth of the folder at a path, without following a link; zero if there is none.
func BirthOf(dir string) Birth {
	var st unix.Statx_t
	err := unix.Statx(unix.AT_FDCWD, dir, unix.AT_SYMLINK_NOFOLLOW, unix.STATX_TYPE|unix.STATX_INO|unix.STATX_BTIME, &st)
	if err != nil || st.Mode&unix.S_IFMT != unix.S_IFDIR {
		return Birth{}
	}
	return Birth{Ino: st.Ino, Born: st.Btime.Sec*1e9 + int64(st.Btime.Nsec)}
}

// SyncsTrees reports whether SyncTree makes all written files durable at once.
const SyncsTrees = true

// SyncTree syncs the file system of root.
func SyncTree(root *os.Root) error {
	d, err := root.Open(".")
	if err != nil {
		return fmt.Errorf("sync working tree: %w", err)
	}
	defer d.Close()
	if err := unix.Syncfs(int(d.Fd())); err != nil {
		return fmt.Errorf("sync working tree: %w", err)
	}
	return nil
}

// Clone copies a file by sharing its blocks. It fails if the file system does not support that.
func Clone(from, to string) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
		return err
	}
	out, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o444)
	if err != nil {
		return err
	}
	if err := unix.IoctlFileClone(int(out.Fd()), int(in.Fd())); err != nil {
		return errors.Join(err, out.Close(), os.Remove(to))
	}
	return out.Close()
}
