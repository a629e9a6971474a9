package cast

import "sync"

// defaultTail is what a Tail keeps that was not told how much, in bytes.
const defaultTail = 64 << 10

// Tail is a writer that keeps the last bytes written to it. The zero value
// keeps 64 KiB. It may be used from several goroutines.
type Tail struct {
	mu      sync.Mutex
	limit   int
	buf     []byte
	next    int // where the oldest byte is, once buf is full
	written int64
}

// NewTail returns a Tail that keeps the last limit bytes; a limit below 1 means
// the default.
func NewTail(limit int) *Tail { return &Tail{limit: limit} }

// Write keeps the end of p; it never fails.
func (t *Tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.limit < 1 {
		t.limit = defaultTail
	}
	n := len(p)
	t.written += int64(n)
	if n >= t.limit {
		t.buf, t.next = append(t.buf[:0], p[n-t.limit:]...), 0
		return n, nil
	}
	room := min(t.limit-len(t.buf), n)
	t.buf = append(t.buf, p[:room]...)
	for p = p[room:]; len(p) > 0; {
		k := copy(t.buf[t.next:], p)
		p, t.next = p[k:], (t.next+k)%t.limit
	}
	return n, nil
}

// Bytes returns a copy of what is kept.
func (t *Tail) Bytes() []byte {
	t.mu.Lock()
	defer t.mu.Unlock()
	return append(append(make([]byte, 0, len(t.buf)), t.buf[t.next:]...), t.buf[:t.next]...)
}

// String returns what is kept.
func (t *Tail) String() string { return string(t.Bytes()) }

// Written returns the number of bytes written so far, kept or not.
func (t *Tail) Written() int64 {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.written
}
