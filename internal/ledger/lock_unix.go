//go:build unix

package ledger

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// lockFile takes the advisory lock of a file. Files are opened close-on-exec, so no child
// process keeps the lock.
func lockFile(path string) (*os.File, error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, err
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	return flock(f)
}

// lockDir takes the advisory lock of a folder, without writing to it.
func lockDir(path string) (*os.File, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	return flock(f)
}

// lockWait is how long to wait for the lock of a supervisor that has just ended, whose child
// processes are still being killed. lockPoll is the time between two attempts.
const (
	lockWait = 2 * time.Second
	lockPoll = 10 * time.Millisecond
)

// flock takes the lock of an open file, and waits for it up to lockWait. It closes the file if that
// fails.
func flock(f *os.File) (*os.File, error) {
	for waited := time.Duration(0); ; waited += lockPoll {
		err := tryLock(f)
		if err == nil {
			return f, nil
		}
		if !errors.Is(err, ErrLocked) || waited >= lockWait {
			f.Close()
			return nil, err
		}
		time.Sleep(lockPoll)
	}
}

// tryLock takes the lock of a file without waiting.
func tryLock(f *os.File) error {
	err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
	if errors.Is(err, unix.EWOULDBLOCK) {
		err = ErrLocked
	}
	return err
}

// isLocked reports whether a process holds the lock of the file.
func isLocked(path string) (bool, error) {
	f, err := os.Open(path)
	if errors.Is(err, os.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	defer f.Close()
	if err = tryLock(f); errors.Is(err, ErrLocked) {
		return true, nil
	}
	return false, err
}

// isOwnFile reports whether the file belongs to the current user.
func isOwnFile(info fs.FileInfo) bool {
	st, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(st.Uid) == os.Getuid()
}
