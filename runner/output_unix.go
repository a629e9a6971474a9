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

// output is one source of output, and the writer that receives it. Output takes this path:
// pump reads it into an outputBuffer, which joins small pieces; a batch passes them to another
// goroutine, in which write calls the writer.
type output struct {
	from         *os.File       // the terminal or a pipe
	to           io.Writer      // of the caller
	batch        *batch         // between pump and write
	returns      returnInserter // for a terminal that sends no carriage returns
	err          error          // the first error of to
	drainExpired bool           // the deadline for draining has passed
}

// A switch of threads costs more than one read of a terminal, which returns at most 4 KiB.
// Therefore continuous output is read without the poller of the Go runtime, and collected
// before it is passed on. A pipe itself buffers up to 64 KiB.
const (
	flowGap       = time.Millisecond     // longest gap in continuous output
	maxGatherTime = 5 * time.Millisecond // longest time until output is passed on
	readSize      = 64 << 10             // bytes of an outputBuffer
	flushSize     = readSize - 8<<10     // bytes after which it is passed on
)

// pump reads until the source ends. A Linux terminal ends with EIO.
func (s *streams) pump(o *output) {
	g := outputBuffer{batch: o.batch, buf: make([]byte, readSize)}
	defer o.batch.close()
	defer g.flush()
	for more := drainMore; more > 0; {
		n, err := s.read(o, g.free(), g.size > 0)
		if n == 0 && err == nil {
			g.flush()
			continue
		}
		s.collect(o, &g, n)
		if o.drainExpired {
			more -= n
		}
		switch {
		case errors.Is(err, os.ErrDeadlineExceeded) && !o.drainExpired:
			o.drainExpired = true
		case err != nil:
			return
		}
		if o.drainExpired {
			_ = o.from.SetReadDeadline(time.Now().Add(20 * time.Millisecond))
		}
	}
}

// collect adds n bytes that were just read to g. It passes them on unless more output follows
// at once.
func (s *streams) collect(o *output, g *outputBuffer, n int) {
	now := time.Since(s.openedAt)
	flows := now-time.Duration(s.lastOutput.Load()) < flowGap
	if n > 0 {
		s.lastOutput.Store(int64(now))
		g.append(n, now, s.withoutReturns && s.lacksReturns())
	}
	if !flows || o.from != s.master {
		g.flush()
	}
	isPartOfPipe := o.from != s.master && n < readSize/4
	if flows && isPartOfPipe && !o.drainExpired {
		time.Sleep(flowGap) // lets the pipe buffer more output
	}
}

// outputBuffer collects output that was read, with or without carriage returns, until it
// is passed on.
type outputBuffer struct {
	batch        *batch
	buf          []byte
	size         int
	lacksReturns bool
	firstRead    time.Duration // when its first byte was read
}

// free returns the space for the next read.
func (g *outputBuffer) free() []byte { return g.buf[g.size:] }

// append adds n bytes that were read into the free part, at the time now. bare says that they
// have no carriage returns; pieces with and without are not mixed.
func (g *outputBuffer) append(n int, now time.Duration, bare bool) {
	if g.size > 0 && bare != g.lacksReturns {
		piece := bytes.Clone(g.buf[g.size : g.size+n])
		g.flush()
		copy(g.buf, piece)
	}
	if g.size == 0 {
		g.firstRead = now
	}
	g.size, g.lacksReturns = g.size+n, bare
	if g.size > flushSize || now-g.firstRead > maxGatherTime {
		g.flush()
	}
}

// flush passes the collected output on.
func (g *outputBuffer) flush() {
	if g.size > 0 {
		g.batch.put(g.buf[:g.size], g.lacksReturns)
		g.size = 0
	}
}

// read reads output into buf, and waits until there is some. If briefly is set, it waits only
// while the output is continuous, and may return nothing. The error is io.EOF at the end.
func (s *streams) read(o *output, buf []byte, briefly bool) (n int, err error) {
	if o.from != s.master {
		return o.from.Read(buf) //nolint:wrapcheck // for the caller's eyes alone
	}
	conn, err := o.from.SyscallConn()
	if err != nil {
		return 0, err //nolint:wrapcheck // for the caller's eyes alone
	}

	flows := briefly || time.Since(s.openedAt)-time.Duration(s.lastOutput.Load()) < flowGap
	failed := conn.Read(func(fd uintptr) bool {
		n, err = unix.Read(int(fd), buf)
		for errors.Is(err, unix.EINTR) || (errors.Is(err, unix.EAGAIN) && flows && terminal.AwaitInput(int(fd), flowGap)) {
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

// write passes the output on. After an error it discards the output, since a child whose
// output is not read would block.
func (o *output) write(mirror io.Writer) {
	for p, bare := o.batch.take(); p != nil; p, bare = o.batch.take() {
		p = o.returns.insertReturns(p, bare)
		if mirror != nil {
			_, _ = mirror.Write(p) // the user's terminal may be gone
		}
		if o.err == nil {
			_, o.err = o.to.Write(p)
		}
	}
}

// lacksReturns reports whether [returnInserter] has to add carriage returns to the output
// of the child's terminal. In the kernel (ONLCR) they cost more than all other processing,
// so an invisible terminal starts without them. If a program changes ONLCR or OPOST, its
// setting applies.
func (s *streams) lacksReturns() bool {
	lacks := true
	_ = s.withDescriptor(func(fd int) error {
		state, err := unix.IoctlGetTermios(fd, terminal.GetTermios)
		if err == nil {
			lacks = state.Oflag&unix.OPOST != 0 && state.Oflag&unix.ONLCR == 0
		}
		return err
	})
	return lacks
}

// returnInserter adds a carriage return before each line feed that has none.
type returnInserter struct {
	last byte // the last byte of the previous piece
	buf  []byte
}

// insertReturns returns p, with carriage returns if bare is set. The result is valid until
// the next call.
func (r *returnInserter) insertReturns(p []byte, bare bool) []byte {
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

// maxBatch limits the output that is read but not yet written, in bytes.
const maxBatch = 256 << 10

// batch passes output from the reading to the writing goroutine. Pieces that arrive during
// a write are joined and written together.
type batch struct {
	mu           sync.Mutex
	changed      *sync.Cond
	filling      []byte // output for the next take
	writing      []byte // buffer of the last take
	lacksReturns bool   // filling has no carriage returns
	busy         bool   // the last take is not written yet
	closed       bool
}

// newBatch returns an empty batch.
func newBatch() *batch {
	b := &batch{}
	b.changed = sync.NewCond(&b.mu)
	return b
}

// put adds a piece. It waits until there is space, and until output of the other kind (with
// or without carriage returns) was taken.
func (b *batch) put(p []byte, bare bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for len(b.filling) > 0 && (len(b.filling)+len(p) > maxBatch || b.lacksReturns != bare) {
		b.changed.Wait()
	}
	b.filling, b.lacksReturns = append(b.filling, p...), bare
	if !b.busy {
		b.changed.Signal()
	}
}

// take waits for output and returns all of it since the last take. It returns nil after close.
// bare says that the output has no carriage returns. The result is valid until the next call.
func (b *batch) take() (p []byte, bare bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.busy = false
	for len(b.filling) == 0 && !b.closed {
		b.changed.Wait()
	}
	if len(b.filling) == 0 {
		return nil, false
	}
	b.filling, b.writing = b.writing[:0], b.filling
	b.busy = true
	b.changed.Signal()
	return b.writing, b.lacksReturns
}

// close marks the end of the output.
func (b *batch) close() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.closed = true
	b.changed.Signal()
}

// isEmpty reports whether all output has been written.
func (b *batch) isEmpty() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return !b.busy && len(b.filling) == 0
}
