//go:build linux || darwin

package runner

import (
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/creack/pty"
	"golang.org/x/sys/unix"

	"supervise/runner/internal/terminal"
)

const (
	drainLimit = 500 * time.Millisecond // for output after the tree has ended
	// drainMore is how many available bytes are read after that limit. Pipes and terminals
	// hold at most 64 KiB, so a slow writer loses nothing, and a foreign process that
	// keeps writing cannot block the end.
	drainMore = 256 << 10
)

// streams are the child's three descriptors, and the goroutines that copy their bytes. With a
// terminal all three are the terminal, unless standard input is a pipe or a file.
type streams struct {
	child          [3]*os.File
	childFiles     []*os.File // the files of child to close once the shim has them
	stdinPipe      *os.File   // write end of the child's standard input; nil if it is a file
	master         *os.File   // of the pseudo-terminal, nil without one
	outputs        []*output
	withoutReturns bool // the child's terminal started without ONLCR
	openedAt       time.Time
	lastOutput     atomic.Int64 // time of the last output, in nanoseconds after openedAt; 0 for none
	lastTyped      atomic.Int64 // time of the last key, in nanoseconds since 1970
	sizeMu         sync.Mutex   // guards cols and rows
	cols           uint16
	rows           uint16
	stdinDone      chan struct{} // closed when standard input was copied
	pumps          sync.WaitGroup
}

var errNoTerminal = errors.New("open pseudo-terminal")

// openStreams opens the descriptors of a command. An error closes all of them again.
func openStreams(c Command) (*streams, error) {
	s := &streams{openedAt: time.Now(), stdinDone: make(chan struct{})}
	var err error
	if c.Terminal != nil {
		err = s.openTerminal(c)
	} else {
		err = s.openPipes(c)
	}
	if err == nil {
		err = s.openStdin(c)
	}
	if err != nil {
		s.release()
		s.close()
		return nil, err
	}
	return s, nil
}

// openTerminal opens a pseudo-terminal. The ioctls of creack/pty make a descriptor
// blocking, after which neither a deadline nor Close ends a Read (creack/pty#174).
// Therefore the master is replaced by a nonblocking copy.
func (s *streams) openTerminal(c Command) error {
	master, slave, err := pty.Open()
	if err != nil {
		return fmt.Errorf("%w: %w", errNoTerminal, err)
	}
	defer master.Close() // replaced by its copy
	s.childFiles = append(s.childFiles, slave)
	s.child = [3]*os.File{slave, slave, slave}

	fd, err := unix.FcntlInt(master.Fd(), unix.F_DUPFD_CLOEXEC, 3)
	if err != nil {
		return fmt.Errorf("open pseudo-terminal: %w", err)
	}
	if err := unix.SetNonblock(fd, true); err != nil {
		_ = unix.Close(fd)
		return fmt.Errorf("open pseudo-terminal: %w", err)
	}

	s.master = os.NewFile(uintptr(fd), "pseudo-terminal")
	s.outputs = append(s.outputs, &output{from: s.master, to: orDiscard(c.Stdout)})
	s.withoutReturns = c.Terminal.In == nil && c.Terminal.Out == nil && terminal.DisableReturns(slave)

	cols, rows := c.Terminal.Size()
	return s.resize(cols, rows)
}

// openPipes opens pipes for the two outputs, or a single one if both have the same writer.
func (s *streams) openPipes(c Command) error {
	to := []io.Writer{orDiscard(c.Stdout), orDiscard(c.Stderr)}
	for i, w := range to {
		if i == 1 && sameWriter(to[0], w) {
			s.child[2] = s.child[1]
			break
		}
		read, write, err := os.Pipe()
		if err != nil {
			return fmt.Errorf("open pipe: %w", err)
		}
		s.child[i+1] = write
		s.childFiles = append(s.childFiles, write)
		s.outputs = append(s.outputs, &output{from: read, to: w})
	}
	return nil
}

// orDiscard returns w, or a writer that discards everything if w is nil.
func orDiscard(w io.Writer) io.Writer {
	if w == nil {
		return io.Discard
	}
	return w
}

// sameWriter compares two writers. Types without equality panic, and count as different.
func sameWriter(a, b io.Writer) (same bool) {
	defer func() { _ = recover() }()
	return a == b
}

// openStdin opens standard input: the file of the command, a pipe for another reader, or the
// null device without either. With a terminal and no reader it is the terminal.
func (s *streams) openStdin(c Command) error {
	if file, ok := c.Stdin.(*os.File); ok {
		s.child[0] = file
		return nil
	}
	if c.Stdin != nil {
		read, write, err := os.Pipe()
		if err != nil {
			return fmt.Errorf("open pipe: %w", err)
		}
		s.child[0], s.stdinPipe = read, write
		s.childFiles = append(s.childFiles, read)
		return nil
	}
	if c.Terminal != nil {
		return nil
	}
	null, err := os.Open(os.DevNull)
	if err != nil {
		return fmt.Errorf("open empty standard input: %w", err)
	}
	s.child[0] = null
	s.childFiles = append(s.childFiles, null)
	return nil
}

// release closes the child's side of the streams, which the shim has inherited.
func (s *streams) release() {
	for _, f := range s.childFiles {
		_ = f.Close()
	}
	s.childFiles = nil
}

// start starts to copy bytes. Output is also written to mirror, unless that is nil.
func (s *streams) start(stdin io.Reader, mirror io.Writer) {
	if s.stdinPipe == nil {
		close(s.stdinDone)
	} else {
		go func() {
			defer close(s.stdinDone)
			_, _ = io.Copy(s.stdinPipe, stdin) // the child may close its end earlier
			_ = s.stdinPipe.Close()
		}()
	}
	for _, o := range s.outputs {
		o.batch = newBatch()
		s.pumps.Go(func() { s.pump(o) })
		s.pumps.Go(func() { o.write(mirror) })
	}
}

// lastOutputTime returns the time of the last output, zero for none.
func (s *streams) lastOutputTime() time.Time {
	last := s.lastOutput.Load()
	if last == 0 {
		return time.Time{}
	}
	return s.openedAt.Add(time.Duration(last))
}

// typedSince reports whether the user has pressed a key within the last d.
func (s *streams) typedSince(d time.Duration) bool {
	return time.Since(time.Unix(0, s.lastTyped.Load())) < d
}

// awaitQuiet waits until all output of a stopped child was read and passed on.
func (s *streams) awaitQuiet() {
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	limit := time.After(settleLimit)
	for still := 0; still < 4; still++ {
		select {
		case <-tick.C:
		case <-limit:
			return
		}
		if s.isReadable() || !s.outputs[0].batch.isEmpty() {
			still = 0
		}
	}
}

// isReadable reports whether the terminal has unread output.
func (s *streams) isReadable() (ready bool) {
	_ = s.withDescriptor(func(fd int) error {
		set := []unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}
		n, err := unix.Poll(set, 0)
		ready = n > 0 && set[0].Revents&unix.POLLIN != 0
		return err
	})
	return ready
}

// followSize resizes the child's terminal to the current size of t.
func (s *streams) followSize(t *Terminal) {
	s.sizeMu.Lock()
	defer s.sizeMu.Unlock()
	cols, rows := t.Size()
	if cols == s.cols && rows == s.rows {
		return
	}
	_ = s.resize(cols, rows) // the child may just have ended
	if t.OnResize != nil {
		t.OnResize(cols, rows)
	}
}

// drain reads the remaining output after the tree has ended, closes everything, and returns
// the errors of the writers.
func (s *streams) drain() error {
	for _, o := range s.outputs {
		_ = o.from.SetReadDeadline(time.Now().Add(drainLimit))
	}
	s.pumps.Wait()
	s.close()
	select {
	case <-s.stdinDone:
	case <-time.After(drainLimit): // the reader blocks although it must not
	}
	var errs []error
	for _, o := range s.outputs {
		if o.err != nil {
			errs = append(errs, fmt.Errorf("write output of child: %w", o.err))
		}
	}
	return errors.Join(errs...)
}

// close closes the supervisor's side of the streams.
func (s *streams) close() {
	for _, o := range s.outputs {
		_ = o.from.Close()
	}
	if s.stdinPipe != nil {
		_ = s.stdinPipe.Close()
	}
}

// resize changes the size of the child's terminal, which sends the child a SIGWINCH.
func (s *streams) resize(cols, rows uint16) error {
	s.cols, s.rows = cols, rows
	return s.withDescriptor(func(fd int) error {
		return unix.IoctlSetWinsize(fd, unix.TIOCSWINSZ, &unix.Winsize{Col: cols, Row: rows})
	})
}

// withDescriptor calls f with the descriptor of the pseudo-terminal. The method Fd would make
// it blocking.
func (s *streams) withDescriptor(f func(fd int) error) error {
	conn, err := s.master.SyscallConn()
	if err != nil {
		return fmt.Errorf("use pseudo-terminal: %w", err)
	}
	var failed error
	if err := conn.Control(func(fd uintptr) { failed = f(int(fd)) }); err != nil {
		return fmt.Errorf("use pseudo-terminal: %w", err)
	}
	if failed != nil {
		return fmt.Errorf("use pseudo-terminal: %w", failed)
	}
	return nil
}

// hasSignalKeys reports whether the child's terminal converts Ctrl-C to a signal.
func (s *streams) hasSignalKeys() bool {
	cooked := true
	_ = s.withDescriptor(func(fd int) error {
		state, err := unix.IoctlGetTermios(fd, terminal.GetTermios)
		if err == nil {
			cooked = state.Lflag&unix.ISIG != 0
		}
		return err
	})
	return cooked
}

// foregroundGroup returns the process group that the child's terminal signals, 0 if unknown.
func (s *streams) foregroundGroup() int {
	group := 0
	_ = s.withDescriptor(func(fd int) (err error) {
		group, err = unix.IoctlGetInt(fd, unix.TIOCGPGRP)
		return err
	})
	return group
}

// interruptForeground sends SIGINT to the foreground group, in raw mode too.
func (s *streams) interruptForeground() {
	_ = s.withDescriptor(func(fd int) error {
		return unix.IoctlSetInt(fd, unix.TIOCSIG, int(unix.SIGINT))
	})
}
