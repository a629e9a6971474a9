//go:build linux || darwin

package runner

import (
	"fmt"
	"os"
	"sync"
	"time"

	"golang.org/x/sys/unix"
	"golang.org/x/term"
)

// keyboard reads what is typed at a terminal that is in raw mode as long as the
// keyboard is.
type keyboard struct {
	tty    *os.File
	state  *term.State // before
	raw    unix.Termios
	typed  func([]byte)
	wake   *os.File // closing it ends the reading
	once   sync.Once
	asleep chan struct{}
}

func openKeyboard(tty *os.File, typed func([]byte)) (*keyboard, error) {
	state, err := term.MakeRaw(int(tty.Fd()))
	if err != nil {
		return nil, fmt.Errorf("put terminal into raw mode: %w", err)
	}
	k := &keyboard{tty: tty, state: state, typed: typed, asleep: make(chan struct{})}
	if raw, err := unix.IoctlGetTermios(int(tty.Fd()), getTermios); err == nil {
		k.raw = *raw
	}
	sleep, wake, err := os.Pipe()
	if err != nil {
		k.restore()
		return nil, fmt.Errorf("read terminal: %w", err)
	}
	k.wake = wake
	go k.read(sleep)
	return k, nil
}

// read passes on what is typed until it is woken, or the terminal is gone. It
// reads only what is there already, so that nothing typed later is swallowed.
func (k *keyboard) read(sleep *os.File) {
	defer close(k.asleep)
	defer sleep.Close()
	buf := make([]byte, 4096)
	fd := int(k.tty.Fd())
	for {
		ready, err := awaitInput(fd, int(sleep.Fd()))
		if err != nil || !ready {
			return
		}
		n, err := unix.Read(fd, buf)
		if err != nil || n <= 0 {
			return
		}
		k.typed(buf[:n])
	}
}

// stop ends the reading.
func (k *keyboard) stop() {
	k.once.Do(func() { _ = k.wake.Close() })
	<-k.asleep
}

// isRaw reports whether the terminal still is as the keyboard put it.
func (k *keyboard) isRaw() bool {
	now, err := unix.IoctlGetTermios(int(k.tty.Fd()), getTermios)
	return err != nil || *now == k.raw
}

func (k *keyboard) restore() { _ = term.Restore(int(k.tty.Fd()), k.state) }

// press is one Ctrl-C.
type press struct {
	at     time.Time
	raw    bool // the child had its terminal in raw mode, so the key is its own
	signal bool // it came as a signal to this process, and not to the child
	attack bool // it is none: the shim has been stopped too often
}

// The forms of Ctrl-C: the byte, and what a terminal sends whose keyboard
// protocol (kitty's, or xterm's modifyOtherKeys) the child has switched on. The
// latter mean something only to a child in raw mode.
const ctrlC = 0x03

var ctrlCSequences = [][]byte{[]byte("\x1b[99;5u"), []byte("\x1b[27;5;99~")}

// maxTyped bounds what waits for a child that does not read, in bytes. What is
// typed beyond that is thrown away: the next Ctrl-C has to be seen.
const maxTyped = 1 << 20

// feeder gives the child what is typed, as fast as it takes it.
type feeder struct {
	to     *os.File
	mu     sync.Mutex
	more   *sync.Cond
	queue  []byte
	closed bool
}

func newFeeder(to *os.File) *feeder {
	f := &feeder{to: to}
	f.more = sync.NewCond(&f.mu)
	return f
}

// put adds keys. It does not block.
func (f *feeder) put(keys []byte) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if !f.closed && len(f.queue)+len(keys) <= maxTyped {
		f.queue = append(f.queue, keys...)
		f.more.Signal()
	}
}

// run writes until the feeder is closed.
func (f *feeder) run() {
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

// close ends run; what is left in the queue is thrown away.
func (f *feeder) close() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.closed = true
	_ = f.to.SetWriteDeadline(time.Now())
	f.more.Signal()
}

// offer never blocks: nobody presses faster than the channel is emptied.
func offer(presses chan<- press, p press) {
	select {
	case presses <- p:
	default:
	}
}
