//go:build linux || darwin

package runner

import (
	"bytes"
	"errors"
	"io"
	"os"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"supervise/runner/internal/terminal"
)

// output is one source of bytes, and where they go.
type output struct {
	from  *os.File
	to    io.Writer
	batch *batch
	lines returns
	err   error // the first one of to
	over  bool  // the deadline for draining has passed
}

// Every change of the running thread costs more than what a terminal gives at
// once, which is 4 KiB. Output that flows is therefore waited for without the
// poller of the Go runtime, and gathered before it is handed on. A pipe gathers it
// itself, up to 64 KiB, while nobody reads.
const (
	flowing   = time.Millisecond // how long the next piece may take
	gathering = 5 * time.Millisecond
	readSize  = 64 << 10
	enough    = readSize - 8<<10
)

// pump reads until the source ends, on Linux by EIO when it is a terminal.
func (s *streams) pump(o *output) {
	g := gathered{batch: o.batch, buf: make([]byte, readSize)}
	defer o.batch.end()
	defer g.pass()
	for more := drainMore; more > 0; {
		n, err := s.read(o, g.room(), g.size > 0)
		if n == 0 && err == nil {
			g.pass()
			continue
		}
		now := time.Since(s.born)
		flows := now-time.Duration(s.last.Load()) < flowing
		if n > 0 {
			s.last.Store(int64(now))
			g.add(n, now, s.bare && s.lacksReturns())
		}
		if !flows || o.from != s.master {
			g.pass()
		}
		if flows {
			s.rest(o, n)
		}
		if o.over {
			more -= n
		}
		switch {
		case errors.Is(err, os.ErrDeadlineExceeded) && !o.over:
			o.over = true
		case err != nil:
			return
		}
		if o.over {
			_ = o.from.SetReadDeadline(time.Now().Add(20 * time.Millisecond))
		}
	}
}

// rest lets a pipe gather more, after n bytes of output that flows.
func (s *streams) rest(o *output, n int) {
	if o.from != s.master && n < readSize/4 && !o.over {
		time.Sleep(flowing)
	}
}

// gathered is output of one kind that has been read and not handed on.
type gathered struct {
	batch *batch
	buf   []byte
	size  int
	bare  bool
	since time.Duration // when the first of it was read
}

func (g *gathered) room() []byte { return g.buf[g.size:] }

// add takes in n bytes that were read into the room.
func (g *gathered) add(n int, now time.Duration, bare bool) {
	if g.size > 0 && bare != g.bare {
		piece := bytes.Clone(g.buf[g.size : g.size+n])
		g.pass()
		copy(g.buf, piece)
	}
	if g.size == 0 {
		g.since = now
	}
	g.size, g.bare = g.size+n, bare
	if g.size > enough || now-g.since > gathering {
		g.pass()
	}
}

// pass hands on what there is.
func (g *gathered) pass() {
	if g.size > 0 {
		g.batch.put(g.buf[:g.size], g.bare)
		g.size = 0
	}
}

// read reads what there is, and waits when there is nothing. With briefly it waits
// for as long as output flows, and may return nothing.
func (s *streams) read(o *output, buf []byte, briefly bool) (n int, err error) {
	if o.from != s.master {
		return o.from.Read(buf) //nolint:wrapcheck // for the caller's eyes alone
	}
	conn, err := o.from.SyscallConn()
	if err != nil {
		return 0, err //nolint:wrapcheck // for the caller's eyes alone
	}
	flows := briefly || time.Since(s.born)-time.Duration(s.last.Load()) < flowing
	failed := conn.Read(func(fd uintptr) bool {
		n, err = unix.Read(int(fd), buf)
		for errors.Is(err, unix.EINTR) || (errors.Is(err, unix.EAGAIN) && flows && terminal.AwaitMore(int(fd), flowing)) {
			n, err = unix.Read(int(fd), buf)
		}
		return briefly || !errors.Is(err, unix.EAGAIN)
	})
	n = max(n, 0)
	switch {
	case failed != nil:
		return n, failed //nolint:wrapcheck // for the caller's eyes alone
	case errors.Is(err, unix.EAGAIN):
		return 0, nil
	case n == 0 && err == nil:
		return 0, io.EOF
	}
	return n, err //nolint:wrapcheck // for the caller's eyes alone
}

// write passes on what was read. What cannot be written is thrown away, for a
// child that nobody reads would stop.
func (o *output) write(mirror io.Writer) {
	for p, bare := o.batch.take(); p != nil; p, bare = o.batch.take() {
		p = o.lines.complete(p, bare)
		if mirror != nil {
			_, _ = mirror.Write(p) // the user's terminal may be gone
		}
		if o.err == nil {
			_, o.err = o.to.Write(p)
		}
	}
}

// lacksReturns reports whether lines come from the child's terminal without the
// carriage returns that they should have. To put one before each line feed (ONLCR)
// costs the system more than all the rest, so a terminal that nobody sees begins
// without it, and [returns] does that. Once a program has asked for something
// else, for them or for no processing at all (OPOST), it gets that.
func (s *streams) lacksReturns() bool {
	lacks := true
	_ = s.control(func(fd int) error {
		state, err := unix.IoctlGetTermios(fd, terminal.GetTermios)
		if err == nil {
			lacks = state.Oflag&unix.OPOST != 0 && state.Oflag&unix.ONLCR == 0
		}
		return err
	})
	return lacks
}

// returns puts a carriage return before each line feed that has none.
type returns struct {
	last byte // of the piece before
	buf  []byte
}

// complete returns p, with its carriage returns if it is bare. It is valid until
// the next call.
func (r *returns) complete(p []byte, bare bool) []byte {
	before := r.last
	r.last = p[len(p)-1]
	if !bare {
		return p
	}
	r.buf = r.buf[:0]
	for {
		at := bytes.IndexByte(p, '\n')
		if at < 0 {
			r.buf = append(r.buf, p...)
			return r.buf
		}
		if at > 0 {
			before = p[at-1]
		}
		r.buf = append(r.buf, p[:at]...)
		if before != '\r' {
			r.buf = append(r.buf, '\r')
		}
		r.buf, before, p = append(r.buf, '\n'), '\n', p[at+1:]
	}
}

// maxBatch bounds what is read and not yet written, in bytes.
const maxBatch = 256 << 10

// batch takes output from who reads it to who writes it. A terminal gives it in
// small pieces; whatever comes while the last is written is written as one.
type batch struct {
	mu      sync.Mutex
	changed *sync.Cond
	filling []byte
	writing []byte // of the last take, to be used again
	bare    bool   // the lines of filling lack their carriage returns
	busy    bool   // what was taken is not written yet
	ended   bool
}

func newBatch() *batch {
	b := &batch{}
	b.changed = sync.NewCond(&b.mu)
	return b
}

// put adds a piece, when there is room for it and it is of the same kind.
func (b *batch) put(p []byte, bare bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for len(b.filling) > 0 && (len(b.filling)+len(p) > maxBatch || b.bare != bare) {
		b.changed.Wait()
	}
	b.filling, b.bare = append(b.filling, p...), bare
	if !b.busy {
		b.changed.Signal()
	}
}

// take returns all of one kind that was put since the last take, nil after the
// end. It is valid until the next one.
func (b *batch) take() (p []byte, bare bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.busy = false
	for len(b.filling) == 0 && !b.ended {
		b.changed.Wait()
	}
	if len(b.filling) == 0 {
		return nil, false
	}
	b.filling, b.writing = b.writing[:0], b.filling
	b.busy = true
	b.changed.Signal()
	return b.writing, b.bare
}

// end says that nothing more is put.
func (b *batch) end() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.ended = true
	b.changed.Signal()
}

// idle reports whether all that was put has been written.
func (b *batch) idle() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return !b.busy && len(b.filling) == 0
}
