package terminal

import (
	"errors"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// GetTermios is the request that reads the settings of a terminal.
const GetTermios = unix.TIOCGETA

var errManyFiles = errors.New("too many open files to wait for the terminal")

// awaitInputOrWake waits until fd or wake can be read. It reports whether fd can.
// poll(2) of macOS does not work for every terminal device, select(2) does.
func awaitInputOrWake(fd, wake int) (bool, error) {
	if max(fd, wake) >= unix.FD_SETSIZE {
		return false, errManyFiles
	}
	for {
		var set unix.FdSet
		set.Set(fd)
		set.Set(wake)
		_, err := unix.Select(max(fd, wake)+1, &set, nil, nil, nil)
		if errors.Is(err, unix.EINTR) {
			continue
		}
		return err == nil && !set.IsSet(wake), err
	}
}

// AwaitInput does nothing: the Go runtime waits instead.
func AwaitInput(int, time.Duration) bool { return false }

// DisableReturns does nothing: it was only tested on Linux.
func DisableReturns(*os.File) bool { return false }
