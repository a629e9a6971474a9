//go:build linux || darwin

package terminal

import (
	"fmt"
	"os"
	"sync"
	"time"

	"golang.org/x/sys/unix"
	"golang.org/x/term"
)

// Keyboard reads the keys of a terminal, which is in raw mode until Restore.
type Keyboard struct {
	tty    *os.File
	state  *term.State  // the mode to restore
	raw    unix.Termios // the raw mode
	onKeys func([]byte)
	wake   *os.File // closing it ends the reading
	once   sync.Once
	done   chan struct{} // closed when the reading has ended
}

// OpenKeyboard puts the terminal into raw mode and calls onKeys with all keys.
func OpenKeyboard(tty *os.File, typed func([]byte)) (*Keyboard, error) {
	state, err := term.MakeRaw(int(tty.Fd()))
	if err != nil {
		return nil, fmt.Errorf("put terminal into raw mode: %w", err)
	}
	k := &Keyboard{tty: tty, state: state, onKeys: typed, done: make(chan struct{})}
	if raw, err := unix.IoctlGetTermios(int(tty.Fd()), GetTermios); err == nil {
		k.raw = *raw
	}
	sleep, wake, err := os.Pipe()
	if err != nil {
		k.Restore()
		return nil, fmt.Errorf("read terminal: %w", err)
	}
	k.wake = wake
	go k.read(sleep)
	return k, nil
}

// read passes keys on until Stop, or until the terminal is closed. It reads only available
// keys, so that later ones are left to the next reader.
func (k *Keyboard) read(sleep *os.File) {
	defer close(k.done)
	defer sleep.Close()
	buf := make([]byte, 4096)
	fd := int(k.tty.Fd())
	for {
		ready, err := awaitInputOrWake(fd, int(sleep.Fd()))
		if err != nil || !ready {
			return
		}
		n, err := unix.Read(fd, buf)
		if err != nil || n <= 0 {
			return
		}
		k.onKeys(buf[:n])
	}
}

// Stop ends the reading.
func (k *Keyboard) Stop() {
	k.once.Do(func() { _ = k.wake.Close() })
	<-k.done
}

// IsRaw reports whether the terminal is still in the raw mode of the keyboard.
func (k *Keyboard) IsRaw() bool {
	now, err := unix.IoctlGetTermios(int(k.tty.Fd()), GetTermios)
	return err != nil || *now == k.raw
}

// Restore restores the original mode of the terminal.
func (k *Keyboard) Restore() { _ = term.Restore(int(k.tty.Fd()), k.state) }

// Press is one Ctrl-C.
type Press struct {
	At     time.Time
	Raw    bool // the child's terminal is in raw mode, so the child handles the key
	Signal bool // it was a signal to this process, which the child did not get
	Attack bool // not a key: the shim has been stopped too often
}

// CtrlC is the byte of Ctrl-C.
const CtrlC = 0x03

// CtrlCSequences are the sequences for Ctrl-C in the keyboard protocols of kitty and of
// xterm (modifyOtherKeys). They only apply to a child in raw mode.
var CtrlCSequences = [][]byte{[]byte("\x1b[99;5u"), []byte("\x1b[27;5;99~")}

// maxTyped limits the keys that wait for a child, in bytes. Further keys are dropped.
const maxTyped = 1 << 20

// Feeder writes keys to the child as fast as the child reads them. Add does not wait for the
// child.
type Feeder struct {
	to     *os.File
	mu     sync.Mutex
	more   *sync.Cond
	queue  []byte
	closed bool
}

// NewFeeder returns a feeder that writes to a file. Run does the writing.
func NewFeeder(to *os.File) *Feeder {
	f := &Feeder{to: to}
	f.more = sync.NewCond(&f.mu)
	return f
}

// Add adds keys. It does not block.
func (f *Feeder) Add(keys []byte) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if !f.closed && len(f.queue)+len(keys) <= maxTyped {
		f.queue = append(f.queue, keys...)
		f.more.Signal()
	}
}

// Run writes until the feeder is closed.
func (f *Feeder) Run() {
	for {
		f.mu.Lock()
		for len(f.queue) == 0 && !f.closed {
			f.more.Wait()
		}
		keys := f.queue
		f.queue = nil
		closed := f.closed
		f.mu.Unlock()
		if closed {
			return
		}
		_, _ = f.to.Write(keys) // the child may just have ended
	}
}

// Close ends Run and drops the remaining keys.
func (f *Feeder) Close() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.closed = true
	_ = f.to.SetWriteDeadline(time.Now())
	f.more.Signal()
}

// SendPress sends a press without blocking. If the channel is full, it drops the press.
func SendPress(presses chan<- Press, p Press) {
	select {
	case presses <- p:
	default:
	}
}
