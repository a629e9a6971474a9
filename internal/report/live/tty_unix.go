//go:build unix

package live

import (
	"os"
	"os/signal"

	"golang.org/x/sys/unix"
)

// signals are the signals that change what has to be drawn.
type signals struct {
	resized   chan os.Signal // SIGWINCH
	continued chan os.Signal // SIGCONT, after Ctrl-Z. There is no signal before the stop: see stopOwnGroup in runner
}

// listenForSignals starts receiving the signals, until close is called.
func listenForSignals() signals {
	s := signals{make(chan os.Signal, 1), make(chan os.Signal, 1)}
	signal.Notify(s.resized, unix.SIGWINCH)
	signal.Notify(s.continued, unix.SIGCONT)
	return s
}

func (s signals) close() {
	signal.Stop(s.resized)
	signal.Stop(s.continued)
}

// isForeground reports whether this process may draw on a terminal. A job in the background would
// draw into what the user does meanwhile.
func isForeground(tty *os.File) bool {
	group, err := unix.IoctlGetInt(int(tty.Fd()), unix.TIOCGPGRP)
	return err != nil || group == unix.Getpgrp()
}
