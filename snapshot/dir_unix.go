//go:build linux || darwin

package snapshot

import (
	"errors"
	"io"
	"os"

	"golang.org/x/sys/unix"
)

// dirFD is an open folder. Names in it are looked up from there, so that nobody can put another folder in its place, and
// symbolic links are never followed.
type dirFD int

const (
	openFolder = unix.O_RDONLY | unix.O_DIRECTORY | unix.O_NOFOLLOW | unix.O_CLOEXEC | unix.O_NONBLOCK
	openFile   = unix.O_RDONLY | unix.O_NOFOLLOW | unix.O_CLOEXEC | unix.O_NONBLOCK // never waits on a pipe
)

// openDir opens the folder of a root.
func openDir(root *os.Root) (dirFD, stat, error) {
	f, err := root.Open(".")
	if err != nil {
		return -1, stat{}, err
	}
	defer f.Close()
	return dirFD(int(f.Fd())).sub(".")
}

func (d dirFD) close() { _ = unix.Close(int(d)) } // nothing was written

// sub opens a folder in d.
func (d dirFD) sub(name string) (dirFD, stat, error) {
	fd, err := openAt(int(d), name, openFolder)
	if err != nil {
		return -1, stat{}, err
	}
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		_ = unix.Close(fd)
		return -1, stat{}, err
	}
	_, s := fromStat(&st)
	return dirFD(fd), s, nil
}

func openAt(dir int, name string, flags int) (int, error) {
	for {
		fd, err := unix.Openat(dir, name, flags, 0)
		if !errors.Is(err, unix.EINTR) {
			return fd, err
		}
	}
}

func (d dirFD) readlink(name string) (string, error) {
	for size := 256; ; size *= 4 {
		b := make([]byte, size)
		n, err := unix.Readlinkat(int(d), name, b)
		if err != nil {
			return "", err
		}
		if n < size {
			return string(b[:n]), nil
		}
	}
}

// file opens a file in d for reading; it may be anything but a symbolic link.
func (d dirFD) file(name string) (fileFD, error) {
	fd, err := openAt(int(d), name, openFile)
	return fileFD(fd), err
}

// fileFD is an open file, without the cost of an os.File.
type fileFD int

// Close ends the reading.
func (f fileFD) Close() error { return unix.Close(int(f)) }

// Read is that of io.Reader.
func (f fileFD) Read(b []byte) (int, error) {
	return ended(len(b), func() (int, error) { return unix.Read(int(f), b) })
}

// ReadAt is that of io.ReaderAt.
func (f fileFD) ReadAt(b []byte, off int64) (int, error) {
	done := 0
	for done < len(b) {
		n, err := ended(len(b)-done, func() (int, error) { return unix.Pread(int(f), b[done:], off+int64(done)) })
		done += n
		if err != nil {
			return done, err
		}
	}
	return done, nil
}

// ended repeats a read that a signal interrupted, and makes the end of the file an error.
func ended(want int, read func() (int, error)) (int, error) {
	for {
		n, err := read()
		switch {
		case errors.Is(err, unix.EINTR):
		case err != nil:
			return 0, err
		case n == 0 && want > 0:
			return 0, io.EOF
		default:
			return n, nil
		}
	}
}

func (f fileFD) stat() (kind, stat, error) {
	var st unix.Stat_t
	if err := unix.Fstat(int(f), &st); err != nil {
		return 0, stat{}, err
	}
	k, s := fromStat(&st)
	return k, s, nil
}

// lister reads folders; it keeps its memory from one to the next.
type lister struct {
	buf  []byte
	list []string
	st   unix.Stat_t
}

func (l *lister) lstat(d dirFD, name string) (kind, stat, error) {
	if err := unix.Fstatat(int(d), name, &l.st, unix.AT_SYMLINK_NOFOLLOW); err != nil {
		return 0, stat{}, err
	}
	k, s := fromStat(&l.st)
	return k, s, nil
}

func fromStat(st *unix.Stat_t) (kind, stat) {
	mode := uint32(st.Mode) //nolint:unconvert // 16 bits wide on macOS
	s := stat{
		size: st.Size, mtime: st.Mtim.Nano(), ctime: st.Ctim.Nano(),
		ino: st.Ino, dev: uint64(st.Dev), mode: mode & 0o7777, //nolint:unconvert // the type differs between systems
	}
	switch mode & unix.S_IFMT {
	case unix.S_IFREG:
		return kindFile, s
	case unix.S_IFDIR:
		return kindDir, s
	case unix.S_IFLNK:
		return kindLink, s
	default:
		return 0, s
	}
}
