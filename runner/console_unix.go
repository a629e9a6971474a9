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

// console is the user's terminal while a child uses it. It passes keys to the child, and shows
// the child's output. Its methods are called from the goroutine of Run, except Write.
type console struct {
	terminal   *Terminal
	in         *os.File // the terminal for keys, nil for none
	streams    *streams
	presses    chan<- terminal.Press // receives every Ctrl-C
	keyboard   *terminal.Keyboard    // nil while another process has the terminal
	feeder     *terminal.Feeder      // writes keys to the child
	nextLook   <-chan time.Time      // fires when openKeyboard should be called again; nil for never
	childEnded bool                  // keys are no longer forwarded
	stopped    chan struct{}         // closed by close
	goroutines sync.WaitGroup

	screenMu sync.Mutex // guards modes, and the output to the terminal
	modes    terminal.Modes
}

// lookEvery is how often a background job checks whether it is in the foreground now. No
// signal reports that to a job that was not stopped.
const lookEvery = 200 * time.Millisecond

// Size returns the current or initial size of the child's terminal, in characters.
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

// inputTerminal returns In if it is a terminal, and nil otherwise.
func (t *Terminal) inputTerminal() *os.File {
	if t == nil || t.In == nil || !term.IsTerminal(int(t.In.Fd())) {
		return nil
	}
	return t.In
}

// inForeground reports whether this process may use the terminal. The kernel stops a
// background job that uses its controlling terminal. An error means that this is not the
// controlling terminal, so that job control does not apply.
func inForeground(tty *os.File) bool {
	group, err := unix.IoctlGetInt(int(tty.Fd()), unix.TIOCGPGRP)
	return err != nil || group == unix.Getpgrp()
}

// openConsole opens the user's terminal for a child. Without one it returns nil, on which
// every method can be called.
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
		c.resize() // the size may have changed before Notify
		c.goroutines.Go(func() { c.followSize(sizes) })
	}
	return c, nil
}

// openKeyboard puts the terminal into raw mode and reads from it, if this process is in
// the foreground. Otherwise it schedules another attempt.
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

// hasKeyboard reports whether this process currently reads the terminal.
func (c *console) hasKeyboard() bool { return c != nil && c.keyboard != nil }

// lookTimer returns a channel that fires when openKeyboard should be called again.
func (c *console) lookTimer() <-chan time.Time {
	if c == nil {
		return nil
	}
	return c.nextLook
}

// followSize resizes the child's terminal when the user's terminal changes, until the console
// is closed.
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

// resize gives the child's terminal the size of the user's terminal.
func (c *console) resize() {
	c.streams.followSize(c.terminal)
}

// hasMirror reports whether the child's output is shown.
func (c *console) hasMirror() bool { return c != nil && c.terminal.Out != nil }

// Write shows the child's output. It never fails, since the terminal may be closed.
func (c *console) Write(p []byte) (int, error) {
	c.screenMu.Lock()
	defer c.screenMu.Unlock()
	_, _ = c.modes.Write(p)
	_, _ = c.terminal.Out.Write(p)
	return len(p), nil
}

// writeModes writes the sequences that reset, or apply again, the terminal modes of the child.
func (c *console) writeModes(sequences func(*terminal.Modes) string) {
	if c.terminal.Out == nil || !term.IsTerminal(int(c.terminal.Out.Fd())) {
		return
	}
	c.screenMu.Lock()
	defer c.screenMu.Unlock()
	_, _ = c.terminal.Out.WriteString(sequences(&c.modes)) // it may be gone
}

// stopReading stops reading keys, so that later ones go to the next reader.
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

// release restores the terminal and its screen.
func (c *console) release() {
	if c.keyboard == nil {
		return
	}
	c.keyboard.Stop()
	c.writeModes((*terminal.Modes).Reset)
	c.keyboard.Restore()
	c.keyboard = nil
}

// close stops reading and restores the terminal, after all output was mirrored.
func (c *console) close() {
	if c == nil {
		return
	}
	close(c.stopped)
	c.stopReading()
	c.goroutines.Wait()
	if c.keyboard == nil && (c.in == nil || inForeground(c.in)) {
		c.writeModes((*terminal.Modes).Reset) // output only
	}
	c.release()
}

// forward passes keys to the child, and reports every Ctrl-C among them.
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
