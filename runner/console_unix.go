//go:build linux || darwin

package runner

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"os/signal"
	"sync"
	"time"

	"golang.org/x/sys/unix"
	"golang.org/x/term"
)

// press is one Ctrl-C.
type press struct {
	at     time.Time
	raw    bool // the child had its terminal in raw mode, so the key is its own
	signal bool // it came as a signal to this process, and not to the child
}

// The forms of Ctrl-C: the byte, and what a terminal sends whose keyboard
// protocol (kitty's, or xterm's modifyOtherKeys) the child has switched on. The
// latter mean something only to a child in raw mode.
const ctrlC = 0x03

var ctrlCSequences = [][]byte{[]byte("\x1b[99;5u"), []byte("\x1b[27;5;99~")}

// forwardLimit is how long a child may refuse to take what is typed before that
// is thrown away: the next Ctrl-C has to be seen.
const forwardLimit = time.Second

// console is the user's terminal while a child has it.
type console struct {
	in, out *os.File // nil: nothing to read from, nowhere to mirror
	streams *streams
	presses chan<- press
	follow  bool // the child's terminal has the size of the user's
	state   *term.State
	modes   modes
	wake    *os.File // closing it ends the reading
	stopped chan struct{}
	work    sync.WaitGroup
}

// Size returns the size that the child's terminal has, or begins with, in
// characters.
func (t *Terminal) Size() (cols, rows uint16) {
	if t.Cols != 0 && t.Rows != 0 {
		return t.Cols, t.Rows
	}
	for _, f := range []*os.File{t.Out, t.In} {
		if f == nil {
			continue
		}
		size, err := unix.IoctlGetWinsize(int(f.Fd()), unix.TIOCGWINSZ)
		if err == nil && size.Col > 0 && size.Row > 0 {
			return size.Col, size.Row
		}
	}
	return DefaultCols, DefaultRows
}

// typingFile returns In where it is a terminal that this process may read.
func (t *Terminal) typingFile() *os.File {
	if t == nil || t.In == nil || !term.IsTerminal(int(t.In.Fd())) {
		return nil
	}
	// Another group in the foreground means that we are a background job, which
	// is stopped when it touches the terminal. An error means that the terminal
	// is not the one that controls us, and then it is nobody's job control.
	group, err := unix.IoctlGetInt(int(t.In.Fd()), unix.TIOCGPGRP)
	if err == nil && group != unix.Getpgrp() {
		return nil
	}
	return t.In
}

// openConsole takes the user's terminal over. Without one it returns nil, on
// which every method may be called.
func openConsole(t *Terminal, s *streams, presses chan<- press) (*console, error) {
	if t == nil || (t.In == nil && t.Out == nil) {
		return nil, nil //nolint:nilnil // documented
	}
	c := &console{
		in: t.typingFile(), out: t.Out, streams: s, presses: presses,
		follow: t.Cols == 0 || t.Rows == 0, stopped: make(chan struct{}),
	}
	if c.in != nil {
		state, err := term.MakeRaw(int(c.in.Fd()))
		if err != nil {
			return nil, fmt.Errorf("put terminal into raw mode: %w", err)
		}
		c.state = state
		asleep, wake, err := os.Pipe()
		if err != nil {
			c.restore()
			return nil, fmt.Errorf("read terminal: %w", err)
		}
		c.wake = wake
		c.work.Go(func() { c.read(asleep) })
	}
	if c.follow {
		sizes := make(chan os.Signal, 1)
		signal.Notify(sizes, unix.SIGWINCH)
		c.work.Go(func() { c.followSize(t, sizes) })
	}
	return c, nil
}

// read forwards what is typed until it is woken, or the terminal is gone. It
// reads only what is there already, so that nothing typed later is swallowed.
func (c *console) read(asleep *os.File) {
	defer asleep.Close()
	buf := make([]byte, 4096)
	fd := int(c.in.Fd())
	for {
		ready, err := awaitInput(fd, int(asleep.Fd()))
		if err != nil || !ready {
			return
		}
		n, err := unix.Read(fd, buf)
		if err != nil || n <= 0 {
			return
		}
		c.forward(buf[:n])
	}
}

// forward gives keys to the child, and tells of every Ctrl-C among them.
func (c *console) forward(keys []byte) {
	raw := !c.streams.isCooked()
	asked := bytes.Count(keys, []byte{ctrlC})
	if raw {
		for _, sequence := range ctrlCSequences {
			asked += bytes.Count(keys, sequence)
		}
	}
	_ = c.streams.master.SetWriteDeadline(time.Now().Add(forwardLimit))
	_, _ = c.streams.master.Write(keys) // what the child does not take is lost, as in any terminal
	for range asked {
		offer(c.presses, press{at: time.Now(), raw: raw})
	}
}

// offer never blocks: nobody presses faster than the channel is emptied.
func offer(presses chan<- press, p press) {
	select {
	case presses <- p:
	default:
	}
}

func (c *console) followSize(t *Terminal, sizes chan os.Signal) {
	defer signal.Stop(sizes)
	for {
		select {
		case <-sizes:
			cols, rows := t.Size()
			_ = c.streams.resize(cols, rows) // the child may just be gone
		case <-c.stopped:
			return
		}
	}
}

// mirror returns where the child's output goes besides; nil for nowhere.
func (c *console) mirror() io.Writer {
	if c == nil || c.out == nil {
		return nil
	}
	return io.MultiWriter(&c.modes, c.out)
}

// hush stops reading: what is typed from now on is for whoever reads next.
func (c *console) hush() {
	if c != nil && c.wake != nil {
		_ = c.wake.Close() // the second time it fails, to no harm
	}
}

// close stops reading and puts the terminal back. All output has to be mirrored
// by then.
func (c *console) close() {
	if c == nil {
		return
	}
	close(c.stopped)
	c.hush()
	c.work.Wait()
	if c.out != nil && term.IsTerminal(int(c.out.Fd())) {
		_, _ = io.WriteString(c.out, c.modes.reset()) // it may be gone
	}
	c.restore()
}

func (c *console) restore() {
	if c.state != nil {
		_ = term.Restore(int(c.in.Fd()), c.state)
	}
}
