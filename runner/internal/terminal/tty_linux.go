package terminal

import (
	"errors"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// GetTermios is the request that reads the settings of a terminal.
const GetTermios = unix.TCGETS

// awaitInputOrWake waits until fd or wake can be read. It reports whether fd can.
func awaitInputOrWake(fd, wake int) (bool, error) {
	fds := []unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}, {Fd: int32(wake), Events: unix.POLLIN}}
	for {
		_, err := unix.Poll(fds, -1)
		if errors.Is(err, unix.EINTR) {
			continue
		}
		return err == nil && fds[1].Revents == 0, err
	}
}

// AwaitInput waits until fd can be read, for at most atMost, and reports whether it can.
func AwaitInput(fd int, atMost time.Duration) bool {
	n, err := unix.Poll([]unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}, int(atMost.Milliseconds()))
	return err == nil && n > 0
}

// DisableReturns makes a terminal send no carriage returns before line feeds, and reports
// whether that succeeded.
func DisableReturns(tty *os.File) bool {
	state, err := unix.IoctlGetTermios(int(tty.Fd()), unix.TCGETS)
	if err != nil || state.Oflag&unix.OPOST == 0 || state.Oflag&unix.ONLCR == 0 {
		return false
	}
	state.Oflag &^= unix.ONLCR
	return unix.IoctlSetTermios(int(tty.Fd()), unix.TCSETS, state) == nil
}
