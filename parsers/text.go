package parsers

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"regexp"
	"strings"
	"time"
)

// maxLine is how much of one line is kept. No event of go test and no message
// of a compiler comes near it.
const maxLine = 4 << 20

// textLine is one line of a report, without its end.
type textLine struct {
	text   []byte // valid until the next line is read
	number int    // from 1
	offset int64  // of its first byte
	whole  bool   // its end was there: it is not a cut off last line
	long   bool   // more than maxLine, and cut there
}

// lineReader reads lines of any length in bounded memory.
type lineReader struct {
	src    *bufio.Reader
	buf    []byte
	number int
	offset int64
}

func newLineReader(r io.Reader) *lineReader { return &lineReader{src: bufio.NewReaderSize(r, 64<<10)} }

// next returns the next line, or the error that ends the text.
func (l *lineReader) next() (textLine, error) {
	line := textLine{number: l.number + 1, offset: l.offset}
	l.buf = l.buf[:0]
	for {
		part, err := l.src.ReadSlice('\n')
		l.offset += int64(len(part))
		if room := maxLine - len(l.buf); len(part) > room {
			line.long, part = true, part[:room]
		}
		l.buf = append(l.buf, part...)
		if errors.Is(err, bufio.ErrBufferFull) {
			continue
		}
		if err != nil && (len(l.buf) == 0 || !errors.Is(err, io.EOF)) {
			return textLine{}, err
		}
		l.number++
		line.whole = err == nil
		line.text = bytes.TrimRight(l.buf, "\r\n")
		return line, nil
	}
}

// eachLine calls f with every line, and returns what ended the text if that is
// not its end.
func eachLine(r io.Reader, f func(textLine)) error {
	lines := newLineReader(r)
	for {
		line, err := lines.next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("read report: %w", err)
		}
		f(line)
	}
}

// The first and last bytes that are kept of a longer text.
const (
	clipHead = 2 << 10
	clipTail = 6 << 10
)

// clip keeps the beginning and the end of a text that may be of any length.
type clip struct {
	head, tail []byte
	dropped    bool
}

func (c *clip) add(s string) {
	if room := clipHead - len(c.head); room > 0 {
		n := min(room, len(s))
		c.head = append(c.head, s[:n]...)
		s = s[n:]
	}
	c.tail = append(c.tail, s[max(0, len(s)-clipTail):]...)
	c.dropped = c.dropped || len(s) > clipTail
	if len(c.tail) > 2*clipTail {
		c.tail = append(c.tail[:0], c.tail[len(c.tail)-clipTail:]...)
		c.dropped = true
	}
}

func (c *clip) empty() bool { return len(c.head) == 0 }

// String returns what was kept, cleaned for display.
func (c *clip) String() string {
	tail := c.tail
	if len(tail) > clipTail {
		tail = tail[len(tail)-clipTail:]
	}
	middle := ""
	if c.dropped || len(tail) < len(c.tail) {
		middle = "\n[…]\n"
	}
	return cleanText(string(c.head) + middle + string(tail))
}

var ansi = regexp.MustCompile("\x1b(\\[[0-9;:?]*[ -/]*[@-~]|\\][^\x07\x1b]*(\x07|\x1b\\\\)|[@-Z\\\\^_])")

// stripANSI removes the sequences that colour a terminal.
func stripANSI(s string) string {
	if strings.IndexByte(s, 0x1b) < 0 {
		return s
	}
	return ansi.ReplaceAllString(s, "")
}

// cleanText returns a message that is safe to show: no colours, no control
// characters but tab and line feed, valid UTF-8, no space around it.
func cleanText(s string) string {
	s = strings.ToValidUTF8(stripANSI(s), "\uFFFD")
	s = strings.Map(func(r rune) rune {
		if r == '\n' || r == '\t' || !control(r) {
			return r
		}
		return -1
	}, s)
	return strings.TrimSpace(s)
}

// cleanName returns a name in which what cannot be shown is U+FFFD: dropping
// it could make two names one.
func cleanName(s string) string {
	return strings.Map(func(r rune) rune {
		if control(r) {
			return '\uFFFD'
		}
		return r
	}, strings.ToValidUTF8(stripANSI(s), "\uFFFD"))
}

func control(r rune) bool { return r < 0x20 || r >= 0x7f && r < 0xa0 }

// seconds turns a number of seconds into a duration; what is no sensible time
// is none.
func seconds(s float64) time.Duration {
	if math.IsNaN(s) || s <= 0 || s > 1e9 {
		return 0
	}
	return time.Duration(math.Round(s * float64(time.Second)))
}

// maxProblems is how many problems of one kind are told one by one.
const maxProblems = 20

// problems gathers what is odd about a report.
type problems struct {
	list []string
	more int
}

func (p *problems) add(format string, args ...any) {
	if len(p.list) < maxProblems {
		p.list = append(p.list, fmt.Sprintf(format, args...))
		return
	}
	p.more++
}

func (p *problems) all() []string {
	if p.more == 0 {
		return p.list
	}
	return append(p.list[:len(p.list):len(p.list)], fmt.Sprintf("and %d more problems of this report", p.more))
}
