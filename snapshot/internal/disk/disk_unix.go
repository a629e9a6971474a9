//go:build linux || darwin

package disk

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// Dir is an open folder. Names are looked up relative to it, so that the folder cannot be replaced meanwhile, and symbolic
// links are never followed.
type Dir int

const (
	openFolder = unix.O_RDONLY | unix.O_DIRECTORY | unix.O_NOFOLLOW | unix.O_CLOEXEC | unix.O_NONBLOCK
	openFile   = unix.O_RDONLY | unix.O_NOFOLLOW | unix.O_CLOEXEC | unix.O_NONBLOCK // never waits on a pipe
)

// OpenDir opens the folder of a root.
func OpenDir(root *os.Root) (Dir, Stat, error) {
	f, err := root.Open(".")
	if err != nil {
		return -1, Stat{}, err
	}
	defer f.Close()
	return Dir(int(f.Fd())).Sub(".")
}

// Close closes the folder.
func (d Dir) Close() { _ = unix.Close(int(d)) } // nothing was written

// Sub opens a folder in d.
func (d Dir) Sub(name string) (Dir, Stat, error) {
	fd, err := openAt(int(d), name, openFolder)
	if err != nil {
		return -1, Stat{}, err
	}
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		_ = unix.Close(fd)
		return -1, Stat{}, err
	}
	_, s := fromStat(&st)
	return Dir(fd), s, nil
}

// openAt opens a name in a folder, and tries again after a signal.
func openAt(dir int, name string, flags int) (int, error) {
	for {
		fd, err := unix.Openat(dir, name, flags, 0)
		if !errors.Is(err, unix.EINTR) {
			return fd, err
		}
	}
}

// Readlink returns the target of a symbolic link in d.
func (d Dir) Readlink(name string) (string, error) {
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

// File opens a file in d for reading; it may be anything but a symbolic link.
func (d Dir) File(name string) (File, error) {
	fd, err := openAt(int(d), name, openFile)
	return File(fd), err
}

// File is an open file that is cheaper than an os.File.
type File int

// Close closes the file.
func (f File) Close() error { return unix.Close(int(f)) }

// Read implements io.Reader.
func (f File) Read(b []byte) (int, error) {
	return readRetrying(len(b), func() (int, error) { return unix.Read(int(f), b) })
}

// ReadAt implements io.ReaderAt.
func (f File) ReadAt(b []byte, off int64) (int, error) {
	done := 0
	for done < len(b) {
		n, err := readRetrying(len(b)-done, func() (int, error) { return unix.Pread(int(f), b[done:], off+int64(done)) })
		done += n
		if err != nil {
			return done, err
		}
	}
	return done, nil
}

// readRetrying repeats a read that a signal interrupted, and returns io.EOF at the end of the file.
func readRetrying(want int, read func() (int, error)) (int, error) {
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

// Stat returns the type of the file and its Stat.
func (f File) Stat() (Kind, Stat, error) {
	var st unix.Stat_t
	if err := unix.Fstat(int(f), &st); err != nil {
		return 0, Stat{}, err
	}
	k, s := fromStat(&st)
	return k, s, nil
}

// Lister reads folders and reuses its buffers.
type Lister struct {
	buf  []byte
	list []string
	st   unix.Stat_t
}

// Lstat returns the type and Stat of an entry of d.
func (l *Lister) Lstat(d Dir, name string) (Kind, Stat, error) {
	if err := unix.Fstatat(int(d), name, &l.st, unix.AT_SYMLINK_NOFOLLOW); err != nil {
		return 0, Stat{}, err
	}
	k, s := fromStat(&l.st)
	return k, s, nil
}

// fromStat returns the type and Stat in a result of the system.
func fromStat(st *unix.Stat_t) (Kind, Stat) {
	mode := uint32(st.Mode) //nolint:unconvert // 16 bits wide on macOS
	s := Stat{
		Size: st.Size, Mtime: st.Mtim.Nano(), Ctime: st.Ctim.Nano(),
		Ino: st.Ino, Dev: uint64(st.Dev), Mode: mode & 0o7777, //nolint:unconvert // the type differs between systems
		Owner: Owner{st.Uid, st.Gid},
	}
	switch mode & unix.S_IFMT {
	case unix.S_IFREG:
		return KindFile, s
	case unix.S_IFDIR:
		return KindDir, s
	case unix.S_IFLNK:
		return KindLink, s
	default:
		return 0, s
	}
}

// HasInodes reports whether inodes and change times are available.
const HasInodes = true

// Perms returns the mode as in chmod(2): permission, set-id and sticky bits.
func Perms(fi fs.FileInfo) uint32 {
	if st, ok := fi.Sys().(*syscall.Stat_t); ok {
		return uint32(uint64(st.Mode) & 0o7777) // 16 or 32 bits wide
	}
	return uint32(fi.Mode().Perm())
}

// SyncDir makes renames in a folder durable.
func SyncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return fmt.Errorf("sync folder: %w", err)
	}
	defer d.Close()
	if err := d.Sync(); err != nil {
		return fmt.Errorf("sync folder %s: %w", dir, err)
	}
	return nil
}

// Lock takes an exclusive lock. If another process still has it after the given time, the
// error is ErrBusy. The lock ends with the process.
func Lock(f *os.File, wait time.Duration) error {
	for waited := time.Duration(0); ; waited += lockPoll {
		err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
		switch {
		case !errors.Is(err, unix.EWOULDBLOCK):
			return err
		case waited >= wait:
			return ErrBusy
		}
		time.Sleep(lockPoll)
	}
}

// lockPoll is the time between two attempts to take a lock.
const lockPoll = 20 * time.Millisecond

// Unlock releases the lock immediately. Closing the file is not enough: a child process that another goroutine is starting
// has the file open until it executes its program.
func Unlock(f *os.File) {
	unix.Flock(int(f.Fd()), unix.LOCK_UN) //nolint:errcheck // closing the file follows
}

// IsFatal reports whether every further write would fail with the same error.
func IsFatal(err error) bool {
	return errors.Is(err, unix.ENOSPC) || errors.Is(err, unix.EDQUOT) || errors.Is(err, unix.EROFS) || errors.Is(err, unix.EIO)
}

// Usage returns the disk space of a file, 0 if it has other hard links.
func Usage(fi fs.FileInfo) int64 {
	st, ok := fi.Sys().(*syscall.Stat_t)
	if !ok {
		return fi.Size()
	}
	if st.Nlink > 1 {
		return 0
	}
	return st.Blocks * 512
}

// FreeSpace returns the free bytes for this user, and the size, of the disk that contains a folder.
func FreeSpace(dir string) (free, total int64, err error) {
	var st unix.Statfs_t
	if err := unix.Statfs(dir, &st); err != nil {
		return 0, 0, fmt.Errorf("look at the free space of %s: %w", dir, err)
	}
	return int64(st.Bavail) * int64(st.Bsize), int64(st.Blocks) * int64(st.Bsize), nil //nolint:unconvert // the types differ between systems
}
