//go:build linux || darwin

package runner

import (
	"bytes"
	"os"
	"os/signal"
	"sync"
	"time"

	"golang.org/x/sys/unix"
	"golang.org/x/term"

	"supervise/runner/internal/terminal"
)

// console is the user's terminal while a child has it. Its methods are called
// from the goroutine of Run, but for Write.
type console struct {
	terminal   *Terminal
	in         *os.File // a terminal to type at, nil for none
	streams    *streams
	presses    chan<- terminal.Press
	keyboard   *terminal.Keyboard // nil while the terminal is not ours
	feeder     *terminal.Feeder
	nextLook   <-chan time.Time
	childEnded bool // the child has ended: what is typed is not for it
	stopped    chan struct{}
	goroutines sync.WaitGroup

	screenMu sync.Mutex // over what follows, and what is written to the terminal
	modes    terminal.Modes
}

// lookEvery is how often a job in the background looks whether it is in the
// foreground by now, which no signal reports to one that was not stopped.
const lookEvery = 200 * time.Millisecond

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

// inputTerminal returns In where it is a terminal.
func (t *Terminal) inputTerminal() *os.File {
	if t == nil || t.In == nil || !term.IsTerminal(int(t.In.Fd())) {
		return nil
	}
	return t.In
}

// inForeground reports whether this process may use the terminal. Another group
// in the foreground means that we are a background job, which is stopped when it
// touches the terminal. An error means that the terminal is not the one that
// controls us, and then it is nobody's job control.
func inForeground(tty *os.File) bool {
	group, err := unix.IoctlGetInt(int(tty.Fd()), unix.TIOCGPGRP)
	return err != nil || group == unix.Getpgrp()
}

// openConsole takes the user's terminal over. Without one it returns nil, on
// which every method may be called.
func openConsole(t *Terminal, s *streams, presses chan<- terminal.Press) (*console, error) {
	if t == nil || (t.In == nil && t.Out == nil) {
		return nil, nil //nolint:nilnil // documented
	}
	c := &console{terminal: t, in: t.inputTerminal(), streams: s, presses: presses, feeder: terminal.NewFeeder(s.master), stopped: make(chan struct{})}
	if err := c.openKeyboard(); err != nil {
		return nil, err
	}
	c.goroutines.Go(c.feeder.Run)
	if t.Cols == 0 || t.Rows == 0 {
		sizes := make(chan os.Signal, 1)
		signal.Notify(sizes, unix.SIGWINCH)
		c.resize() // it may have changed before that
		c.goroutines.Go(func() { c.followSize(sizes) })
	}
	return c, nil
}

// openKeyboard puts the terminal into raw mode and reads from it, as soon as this
// process is in the foreground.
func (c *console) openKeyboard() (err error) {
	c.nextLook = nil
	switch {
	case c.in == nil || c.childEnded || c.keyboard != nil:
		return nil
	case !inForeground(c.in):
		c.nextLook = time.After(lookEvery)
		return nil
	}
	c.keyboard, err = terminal.OpenKeyboard(c.in, c.forward)
	return err
}

// hasKeyboard reports whether the terminal is ours at present.
func (c *console) hasKeyboard() bool { return c != nil && c.keyboard != nil }

// lookTimer returns a channel that fires when take should be called.
func (c *console) lookTimer() <-chan time.Time {
	if c == nil {
		return nil
	}
	return c.nextLook
}

func (c *console) followSize(sizes chan os.Signal) {
	defer signal.Stop(sizes)
	for {
		select {
		case <-sizes:
			c.resize()
		case <-c.stopped:
			return
		}
	}
}

// resize gives the child's terminal the size of the user's.
func (c *console) resize() {
	c.streams.followSize(c.terminal)
}

// hasMirror reports whether the child's output is shown.
func (c *console) hasMirror() bool { return c != nil && c.terminal.Out != nil }

// Write shows what the child prints; it never fails, for the terminal may be
// gone.
func (c *console) Write(p []byte) (int, error) {
	c.screenMu.Lock()
	defer c.screenMu.Unlock()
	_, _ = c.modes.Write(p)
	_, _ = c.terminal.Out.Write(p)
	return len(p), nil
}

// writeModes writes to the screen what puts modes back that the child has switched, or
// switches them again.
func (c *console) writeModes(sequences func(*terminal.Modes) string) {
	if c.terminal.Out == nil || !term.IsTerminal(int(c.terminal.Out.Fd())) {
		return
	}
	c.screenMu.Lock()
	defer c.screenMu.Unlock()
	_, _ = c.terminal.Out.WriteString(sequences(&c.modes)) // it may be gone
}

// stopReading stops reading: what is typed from now on is for whoever reads next.
func (c *console) stopReading() {
	if c == nil {
		return
	}
	c.childEnded, c.nextLook = true, nil
	if c.keyboard != nil {
		c.keyboard.Stop()
	}
	c.feeder.Close()
}

// release gives the terminal back as it was, the screen included.
func (c *console) release() {
	if c.keyboard == nil {
		return
	}
	c.keyboard.Stop()
	c.writeModes((*terminal.Modes).Reset)
	c.keyboard.Restore()
	c.keyboard = nil
}

// close stops reading and puts the terminal back. All output has to be mirrored
// by then.
func (c *console) close() {
	if c == nil {
		return
	}
	close(c.stopped)
	c.stopReading()
	c.goroutines.Wait()
	if c.keyboard == nil && (c.in == nil || inForeground(c.in)) {
		c.writeModes((*terminal.Modes).Reset) // shown, but not typed at
	}
	c.release()
}

// forward gives keys to the child, and reports every Ctrl-C among them.
func (c *console) forward(keys []byte) {
	raw := !c.streams.hasSignalKeys()
	asked := bytes.Count(keys, []byte{terminal.CtrlC})
	if raw {
		for _, sequence := range terminal.CtrlCSequences {
			asked += bytes.Count(keys, sequence)
		}
	}
	c.streams.lastTyped.Store(time.Now().UnixNano())
	c.feeder.Add(keys)
	for range asked {
		terminal.SendPress(c.presses, terminal.Press{At: time.Now(), Raw: raw})
	}
}
