//go:build linux || darwin

package disk

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// HasInodes tells that files can be recognised by inode and change time.
const HasInodes = true

// Perms is the mode of chmod(2): permission, set-id and sticky bits.
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

// Lock takes an exclusive lock that ends with the process, and waits for it.
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

const lockPoll = 20 * time.Millisecond

// Unlock gives the lock up at once. Closing alone would not do: a child that another goroutine is just starting has
// the file open until it executes its program.
func Unlock(f *os.File) {
	unix.Flock(int(f.Fd()), unix.LOCK_UN) //nolint:errcheck // closing the file follows
}

// Fatal tells errors that every further write would meet too.
func Fatal(err error) bool {
	return errors.Is(err, unix.ENOSPC) || errors.Is(err, unix.EDQUOT) || errors.Is(err, unix.EROFS) || errors.Is(err, unix.EIO)
}

// Bytes is what a file takes of the disk, nothing if it has other names.
func Bytes(fi fs.FileInfo) int64 {
	st, ok := fi.Sys().(*syscall.Stat_t)
	if !ok {
		return fi.Size()
	}
	if st.Nlink > 1 {
		return 0
	}
	return st.Blocks * 512
}

// Free tells how many bytes of the disk that holds a folder are free for this user, and how many it has.
func Free(dir string) (free, total int64, err error) {
	var st unix.Statfs_t
	if err := unix.Statfs(dir, &st); err != nil {
		return 0, 0, fmt.Errorf("look at the free space of %s: %w", dir, err)
	}
	return int64(st.Bavail) * int64(st.Bsize), int64(st.Blocks) * int64(st.Bsize), nil //nolint:unconvert // the types differ between systems
}
