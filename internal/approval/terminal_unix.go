//go:build linux || darwin

package approval

import (
	"bytes"
	"errors"
	"fmt"

	"golang.org/x/sys/unix"
)

// terminal is the terminal at which the person is asked. A nil one reads and shows
// nothing.
type terminal struct {
	fd         int // -1 after it hung up
	typed      []byte
	emptyReads int // ends of input read in a row
}

// maxEmptyReads is the number of ends of input in a row after which the terminal counts as
// gone. A person may type one; a terminal that hung up returns nothing else.
const maxEmptyReads = 5

// openTerminal opens the terminal, and discards input from before the question.
func openTerminal(path string) (*terminal, error) {
	if path == "" {
		return nil, nil //nolint:nilnil // no terminal is a valid one
	}
	fd, err := unix.Open(path, unix.O_RDWR|unix.O_NOCTTY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, fmt.Errorf("ask at %s: %w", path, err)
	}
	if fd >= unix.FD_SETSIZE {
		_ = unix.Close(fd)
		return nil, fmt.Errorf("ask at %s: too many files are open", path)
	}
	flush(fd)
	return &terminal{fd: fd}, nil
}

// Write shows text. Reading notices if the terminal is gone.
func (t *terminal) Write(p []byte) (int, error) {
	if t == nil || t.fd < 0 {
		return len(p), nil
	}
	text := bytes.ReplaceAll(p, []byte("\n"), []byte("\r\n"))
	for len(text) > 0 {
		n, err := unix.Write(t.fd, text)
		if err != nil && !errors.Is(err, unix.EINTR) {
			break
		}
		text = text[max(n, 0):]
	}
	return len(p), nil
}

// line returns a typed line, if there is one. It does not wait.
func (t *terminal) line() (string, bool) {
	if t == nil {
		return "", false
	}
	t.read()
	line, remaining, found := bytes.Cut(t.typed, []byte("\n"))
	if !found {
		return "", false
	}
	t.typed = remaining
	return string(line), true
}

func (t *terminal) read() {
	if t.fd < 0 {
		return
	}
	var set unix.FdSet
	set.Set(t.fd)
	if n, err := unix.Select(t.fd+1, &set, nil, nil, &unix.Timeval{}); err != nil || n == 0 {
		return
	}
	buf := make([]byte, 4096)
	n, err := unix.Read(t.fd, buf)
	switch {
	case errors.Is(err, unix.EINTR), errors.Is(err, unix.EAGAIN):
	case err != nil:
		t.close()
	case n == 0:
		if t.emptyReads++; t.emptyReads >= maxEmptyReads {
			t.close()
		}
	default:
		t.emptyReads = 0
		t.typed = append(t.typed, buf[:n]...)
	}
}

func (t *terminal) close() {
	if t != nil && t.fd >= 0 {
		_ = unix.Close(t.fd)
		t.fd = -1
	}
}

// TerminalPath returns the path of the terminal at which this process may ask, "" if it has
// none or runs in its background.
func TerminalPath() string {
	const path = "/dev/tty"
	fd, err := unix.Open(path, unix.O_RDWR|unix.O_NOCTTY|unix.O_CLOEXEC, 0)
	if err != nil {
		return ""
	}
	defer unix.Close(fd)
	if group, err := unix.IoctlGetInt(fd, unix.TIOCGPGRP); err != nil || group != unix.Getpgrp() {
		return ""
	}
	return path
}
