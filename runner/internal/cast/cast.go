package cast

import (
	"bytes"
	"fmt"
	"io"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
)

// Cast records the output of a terminal as an asciicast of version 3
// (https://docs.asciinema.org/manual/asciicast/v3/): a header line, then one
// JSON line per event with the seconds since the previous event. Each line is
// one Write to the underlying writer, and at most 100 KiB long.
//
// No event ends within a character or an escape sequence. Bytes that are not
// UTF-8 become U+FFFD. It may be used from several goroutines.
type Cast struct {
	mu         sync.Mutex
	w          io.Writer
	now        func() time.Time
	header     []byte    // the first line, nil once it is written
	last       time.Time // the rounded time of the previous event
	incomplete []byte    // the start of a character or sequence whose rest is still to come
	line       []byte    // a buffer that each event reuses
	err        error     // the first error of w
}

// NewCast returns a recorder that writes to w. If cols or rows is 0, the default size is
// used. The clock defaults to [time.Now]. The header is written with the first event.
func NewCast(w io.Writer, cols, rows uint16, now ...func() time.Time) *Cast {
	if cols == 0 || rows == 0 {
		cols, rows = DefaultCols, DefaultRows
	}
	c := &Cast{w: w, now: time.Now}
	if len(now) > 0 && now[0] != nil {
		c.now = now[0]
	}
	c.last = c.now()
	c.header = fmt.Appendf(nil, `{"version":3,"term":{"cols":%d,"rows":%d},"timestamp":%d}`+"\n", cols, rows, c.last.Unix())
	return c
}

// maxEvent limits the output in one event, in bytes. JSON needs up to six bytes for each.
const maxEvent = 16 << 10

// Write records output. It reports the error of the underlying writer.
func (c *Cast) Write(p []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	data := p
	if len(c.incomplete) > 0 {
		data = append(c.incomplete, p...)
	}
	for c.err == nil && len(data) > 0 {
		n := completeLength(data[:min(len(data), maxEvent)])
		if n == 0 {
			break
		}
		c.writeEvent('o', data[:n])
		data = data[n:]
	}
	c.incomplete = append([]byte(nil), data...)
	if c.err != nil {
		return 0, c.err
	}
	return len(p), nil
}

// Resize records a new size of the terminal.
func (c *Cast) Resize(cols, rows uint16) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.writeEvent('r', fmt.Appendf(nil, "%dx%d", cols, rows))
	return c.err
}

// Close writes an incomplete character or sequence. It does not close the underlying
// writer. Do not call Write after it.
func (c *Cast) Close() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.incomplete) > 0 {
		c.writeEvent('o', c.incomplete)
	}
	c.writeHeader()
	return c.err
}

// writeEvent writes one event, like [0.248848,"o","text"]. The code is o for output and r for
// a new size. The time is relative to the rounded time of the previous event, so that rounding
// errors do not add up.
func (c *Cast) writeEvent(code byte, data []byte) {
	c.writeHeader()
	elapsed := max(0, c.now().Sub(c.last).Round(time.Microsecond))
	c.last = c.last.Add(elapsed)
	c.line = append(appendInterval(append(c.line[:0], '['), elapsed), ',', '"', code, '"', ',')
	c.line = append(appendJSON(c.line, data), ']', '\n')
	c.writeLine(c.line)
}

// appendInterval appends a duration as seconds with six decimals, like 0.248848.
func appendInterval(b []byte, d time.Duration) []byte {
	return fmt.Appendf(b, "%d.%06d", d/time.Second, d%time.Second/time.Microsecond)
}

// writeHeader writes the header before anything else.
func (c *Cast) writeHeader() {
	if header := c.header; header != nil {
		c.header = nil
		c.writeLine(header)
	}
}

// writeLine writes a line, and keeps the first error. After an error it does nothing.
func (c *Cast) writeLine(line []byte) {
	if c.err != nil {
		return
	}
	if _, err := c.w.Write(line); err != nil {
		c.err = fmt.Errorf("write recording: %w", err)
	}
}

// appendJSON appends text as a JSON string. Invalid UTF-8 becomes U+FFFD.
func appendJSON(b, text []byte) []byte {
	b, _ = jsontext.AppendQuote(b, text) // the error says that text is not valid UTF-8
	return b
}

const (
	esc = 0x1b
	// maxSequence limits an incomplete escape sequence, in bytes. Output after a longer one
	// is not held back.
	maxSequence = 256
)

// completeLength returns the length of b without an incomplete character or escape sequence
// at its end.
func completeLength(b []byte) int {
	n := len(b)
	for i := n - 1; i >= 0 && i >= n-utf8.UTFMax; i-- {
		if utf8.RuneStart(b[i]) {
			if !utf8.FullRune(b[i:]) {
				n = i
			}
			break
		}
	}

	start := max(0, n-maxSequence)
	at := bytes.LastIndexByte(b[start:n], esc)
	if at < 0 {
		return n
	}

	at += start
	// An ESC before a backslash ends a string that starts with another ESC.
	if open := openStringStart(b[start:at]); open >= 0 {
		at = start + open
	}

	if isCompleteSequence(b[at:n]) {
		return n
	}
	return at
}

// openStringStart returns the start of an operating system command (ESC ]) that does not end
// within b, or -1.
func openStringStart(b []byte) int {
	at := bytes.LastIndex(b, []byte{esc, ']'})
	if at < 0 || isCompleteSequence(b[at:]) {
		return -1
	}
	return at
}

// isCompleteSequence reports whether the escape sequence at the start of b is complete
// (ECMA-48, section 5.4, and OSC strings).
func isCompleteSequence(b []byte) bool {
	if len(b) < 2 {
		return false
	}
	rest := b[2:]
	switch b[1] {
	case '[':
		return bytes.ContainsFunc(rest, func(r rune) bool { return r >= 0x40 && r <= 0x7e })
	case ']':
		return bytes.IndexByte(rest, 0x07) >= 0 || bytes.Contains(rest, []byte{esc, '\\'})
	case '(', ')', '#', '%':
		return len(rest) > 0
	}
	return true
}

// The default size of a terminal, in characters.
const (
	DefaultCols = 120
	DefaultRows = 40
)
