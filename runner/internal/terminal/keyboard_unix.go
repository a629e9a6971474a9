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

// Keyboard reads what is typed at a terminal that is in raw mode as long as the
// Keyboard is.
type Keyboard struct {
	tty    *os.File
	state  *term.State // before
	raw    unix.Termios
	onKeys func([]byte)
	wake   *os.File // closing it ends the reading
	once   sync.Once
	done   chan struct{}
}

// OpenKeyboard puts the terminal into raw mode and passes on what is typed.
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

// read passes on what is typed until it is woken, or the terminal is gone. It
// reads only what is there already, so that nothing typed later is swallowed.
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

// IsRaw reports whether the terminal still is as the keyboard put it.
func (k *Keyboard) IsRaw() bool {
	now, err := unix.IoctlGetTermios(int(k.tty.Fd()), GetTermios)
	return err != nil || *now == k.raw
}

// Restore puts the terminal back.
func (k *Keyboard) Restore() { _ = term.Restore(int(k.tty.Fd()), k.state) }

// Press is one Ctrl-C.
type Press struct {
	At     time.Time
	Raw    bool // the child had its terminal in raw mode, so the key is its own
	Signal bool // it came as a signal to this process, and not to the child
	Attack bool // it is none: the shim has been stopped too often
}

// CtrlC is the byte of Ctrl-C.
const CtrlC = 0x03

// CtrlCSequences are what a terminal sends for it whose keyboard protocol
// (kitty's, or xterm's modifyOtherKeys) the child has switched on. They mean
// something only to a child in raw mode.
var CtrlCSequences = [][]byte{[]byte("\x1b[99;5u"), []byte("\x1b[27;5;99~")}

// maxTyped bounds what waits for a child that does not read, in bytes. What is
// typed beyond that is thrown away: the next Ctrl-C has to be seen.
const maxTyped = 1 << 20

// Feeder gives the child what is typed, as fast as it takes it.
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
		_, _ = f.to.Write(keys) // the child may just be gone
	}
}

// Close ends run; what is left in the queue is thrown away.
func (f *Feeder) Close() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.closed = true
	_ = f.to.SetWriteDeadline(time.Now())
	f.more.Signal()
}

// SendPress never blocks: nobody presses faster than the channel is emptied.
func SendPress(presses chan<- Press, p Press) {
	select {
	case presses <- p:
	default:
	}
}
