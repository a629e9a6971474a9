package disk

import (
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"golang.org/x/sys/unix"
)

// Names lists a folder; the slice is valid until the next call.
func (l *Lister) Names(d Dir) ([]string, error) {
	fd, err := unix.FcntlInt(uintptr(d), unix.F_DUPFD_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	f := os.NewFile(uintptr(fd), "folder")
	defer f.Close()
	l.list, err = f.Readdirnames(-1)
	return l.list, err
}

// StatOf returns the Stat of a file; fi must come from Lstat or Stat of package os.
func StatOf(fi fs.FileInfo) Stat {
	st, ok := fi.Sys().(*syscall.Stat_t)
	if !ok {
		return Stat{Size: fi.Size(), Mtime: fi.ModTime().UnixNano(), Mode: Perms(fi)}
	}
	return Stat{
		Size: st.Size, Mtime: st.Mtimespec.Nano(), Ctime: st.Ctimespec.Nano(),
		Ino: st.Ino, Dev: uint64(st.Dev), Mode: Perms(fi),
		Owner: Owner{st.Uid, st.Gid},
	}
}

// BirthOf returns the Birth of the folder at a path, without following a link; zero if there is none.
func BirthOf(dir string) Birth {
	fi, err := os.Lstat(dir)
	if err != nil || !fi.IsDir() {
		return Birth{}
	}
	st, ok := fi.Sys().(*syscall.Stat_t)
	if !ok {
		return Birth{}
	}
	return Birth{Ino: st.Ino, Born: st.Birthtimespec.Nano()}
}

// Clone copies a file by sharing its blocks. It fails if the file system does not support that.
func Clone(from, to string) error {
	if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
		return err
	}
	return unix.Clonefile(from, to, unix.CLONE_NOFOLLOW)
}
