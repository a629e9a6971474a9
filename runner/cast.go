package runner

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"sync"
	"time"
	"unicode/utf8"
)

// DefaultCastLimit is the size that a recording may reach, in bytes.
const DefaultCastLimit = 64 << 20

// Cast records the output of a terminal as an asciicast of version 3
// (https://docs.asciinema.org/manual/asciicast/v3/): a header line, then one
// JSON line per event with the seconds since the event before it.
//
// No event ends within a character or an escape sequence. Bytes that are not
// UTF-8 become U+FFFD. Of a recording that would pass its limit the beginning
// and the end are kept, with a marker between them that counts what is left out.
// It may be used from several goroutines.
type Cast struct {
	mu     sync.Mutex
	w      io.Writer
	now    func() time.Time
	limit  int64
	header castHeader
	last   time.Time
	size   int64  // bytes written to w
	held   []byte // the beginning of a character or sequence
	end    *Tail  // nil until the head is full
	err    error
}

type castHeader struct {
	Version   int      `json:"version"`
	Term      castTerm `json:"term"`
	Timestamp int64    `json:"timestamp"`
}

type castTerm struct {
	Cols uint16 `json:"cols"`
	Rows uint16 `json:"rows"`
}

// NewCast returns a recorder that writes to w. Where cols or rows is 0 the size
// is the default one. The clock is [time.Now] unless another is given. The
// header is written with the first event.
func NewCast(w io.Writer, cols, rows uint16, now ...func() time.Time) *Cast {
	if cols == 0 || rows == 0 {
		cols, rows = DefaultCols, DefaultRows
	}
	c := &Cast{w: w, now: time.Now, limit: DefaultCastLimit}
	if len(now) > 0 && now[0] != nil {
		c.now = now[0]
	}
	c.last = c.now()
	c.header = castHeader{Version: 3, Term: castTerm{Cols: cols, Rows: rows}, Timestamp: c.last.Unix()}
	return c
}

// SetLimit sets the size that the recording may reach, in bytes. It has to be
// called before the first event; below 4096 it is 4096.
func (c *Cast) SetLimit(limit int64) { c.limit = max(limit, 4096) }

// endSize is how much raw output of the end is kept for a recording that is too
// long. A byte takes up to six in JSON, so it fits into 6/16 of the limit.
func (c *Cast) endSize() int64 { return min(1<<20, c.limit/16) }

// Write records output. It reports the error of the underlying writer.
func (c *Cast) Write(p []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.err != nil {
		return 0, c.err
	}
	if c.end != nil {
		return c.end.Write(p)
	}
	data := append(c.held, p...)
	n := wholeLength(data)
	text := data[:n]
	c.held = bytes.Clone(data[n:])
	if n == 0 {
		return len(p), nil
	}
	if line := c.line("o", string(text)); c.size+int64(len(line)) <= c.limit-7*c.endSize() {
		c.put(line)
	} else {
		c.end = NewTail(int(c.endSize()))
		_, _ = c.end.Write(data) // a Tail never fails
		c.held = nil
	}
	if c.err != nil {
		return 0, c.err
	}
	return len(p), nil
}

// Resize records that the terminal has another size now.
func (c *Cast) Resize(cols, rows uint16) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.end == nil && c.err == nil {
		c.put(c.line("r", fmt.Sprintf("%dx%d", cols, rows)))
	}
	return c.err
}

// Close writes what is held back, and the end of a recording that was too long.
// It does not close the underlying writer. Nothing may be written after it.
func (c *Cast) Close() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.err != nil {
		return c.err
	}
	switch {
	case c.end != nil:
		kept := c.end.Bytes()
		for len(kept) > 0 && !utf8.RuneStart(kept[0]) {
			kept = kept[1:]
		}
		c.put(c.line("m", fmt.Sprintf("%d bytes left out", c.end.Written()-int64(len(kept)))))
		c.put(c.line("o", string(kept)))
	case len(c.held) > 0:
		c.put(c.line("o", string(c.held)))
	case c.size == 0:
		c.put(nil)
	}
	return c.err
}

// line returns one event. Its time counts from the event before it, which moves
// by what is written and not by what passed: rounding errors must not add up.
func (c *Cast) line(code, data string) []byte {
	elapsed := max(0, c.now().Sub(c.last).Round(time.Microsecond))
	c.last = c.last.Add(elapsed)
	return encodeLine([]any{json.Number(fmt.Sprintf("%.6f", elapsed.Seconds())), code, data})
}

// put writes one line, and the header before the first one.
func (c *Cast) put(line []byte) {
	if c.size == 0 {
		line = append(encodeLine(c.header), line...)
	}
	n, err := c.w.Write(line)
	c.size += int64(n)
	if err != nil {
		c.err = fmt.Errorf("write recording: %w", err)
	}
}

func encodeLine(v any) []byte {
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(v) // numbers and strings always encode
	return buf.Bytes()
}

const (
	escape = 0x1b
	// maxHeld bounds the escape sequence that is waited for. What is longer is
	// no sequence of this world, and output must not be withheld for it.
	maxHeld = 256
)

// wholeLength returns how much of b ends neither within a character nor within
// an escape sequence.
func wholeLength(b []byte) int {
	n := len(b)
	for i := n - 1; i >= 0 && i >= n-utf8.UTFMax; i-- {
		if utf8.RuneStart(b[i]) {
			if !utf8.FullRune(b[i:]) {
				n = i
			}
			break
		}
	}
	start := max(0, n-maxHeld)
	at := bytes.LastIndexByte(b[start:n], escape)
	if at < 0 {
		return n
	}
	at += start
	// An ESC right before a backslash ends a string that began with another one.
	if open := stringStart(b[start:at]); open >= 0 {
		at = start + open
	}
	if sequenceEnds(b[at:n]) {
		return n
	}
	return at
}

// stringStart returns where an operating system command begins that has not
// ended within b, or -1.
func stringStart(b []byte) int {
	at := bytes.LastIndex(b, []byte{escape, ']'})
	if at < 0 || sequenceEnds(b[at:]) {
		return -1
	}
	return at
}

// sequenceEnds reports whether the escape sequence at the start of b is whole
// (ECMA-48, section 5.4, and OSC strings).
func sequenceEnds(b []byte) bool {
	if len(b) < 2 {
		return false
	}
	rest := b[2:]
	switch b[1] {
	case '[':
		return bytes.ContainsFunc(rest, func(r rune) bool { return r >= 0x40 && r <= 0x7e })
	case ']':
		return bytes.IndexByte(rest, 0x07) >= 0 || bytes.Contains(rest, []byte{escape, '\\'})
	case '(', ')', '#', '%':
		return len(rest) > 0
	}
	return true
}
