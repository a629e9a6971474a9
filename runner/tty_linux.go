package runner

import (
	"errors"

	"golang.org/x/sys/unix"
)

const getTermios = unix.TCGETS

// awaitInput waits until fd or wake can be read. It reports whether fd can.
func awaitInput(fd, wake int) (bool, error) {
	fds := []unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}, {Fd: int32(wake), Events: unix.POLLIN}}
	for {
		_, err := unix.Poll(fds, -1)
		if errors.Is(err, unix.EINTR) {
			continue
		}
		return err == nil && fds[1].Revents == 0, err
	}
}

// letFill waits for a moment, in which a terminal's buffer of some 12 KB does not
// overflow. The timers of the Go runtime are not as exact.
func letFill() { _ = unix.Nanosleep(&unix.Timespec{Nsec: 20_000}, nil) }
