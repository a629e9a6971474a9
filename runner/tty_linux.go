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
