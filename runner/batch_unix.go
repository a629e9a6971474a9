//go:build linux || darwin

package runner

import "sync"

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
