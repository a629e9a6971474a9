package textstream

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"supervise/internal/regexp"
)

// How many bytes at the start and at the end of a longer text are kept.
const (
	clipHead = 2 << 10
	clipTail = 6 << 10
)

// Clip keeps the beginning and the end of a text of any length, 8 KiB in all. The zero
// value is empty.
type Clip struct {
	head, tail []byte // the first bytes; the bytes after these, up to twice clipTail
	dropped    bool   // bytes between head and tail were dropped
}

// Add appends s.
func (c *Clip) Add(s string) { appendText(c, s) }

// AddBytes appends s.
func (c *Clip) AddBytes(s []byte) { appendText(c, s) }

// Reset drops the text and keeps the memory.
func (c *Clip) Reset() { *c = Clip{head: c.head[:0], tail: c.tail[:0]} }

// appendText appends s: to the head until that is full, and then to the tail, of which only the
// end is kept.
func appendText[T string | []byte](c *Clip, s T) {
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

// Empty reports whether nothing was added.
func (c *Clip) Empty() bool { return len(c.head) == 0 }

// String returns the kept text, cleaned for display.
func (c *Clip) String() string {
	tail := c.tail
	if len(tail) > clipTail {
		tail = tail[len(tail)-clipTail:]
	}
	middle := ""
	if c.dropped || len(tail) < len(c.tail) {
		middle = "\n[…]\n"
	}
	return CleanText(string(c.head) + middle + string(tail))
}

// ClipText returns s shortened as by a [Clip].
func ClipText(s string) string {
	if len(s) <= clipHead+clipTail {
		return CleanText(s)
	}
	var c Clip
	c.Add(s)
	return c.String()
}

// Truncate returns the text if it has at most the given number of bytes. A longer one is cut
// between characters so that it fits with a "…" at its end.
func Truncate(text string, most int) string {
	const ellipsis = "…"
	if len(text) <= most {
		return text
	}
	end := max(0, most-len(ellipsis))
	for end > 0 && !utf8.RuneStart(text[end]) {
		end--
	}
	return strings.TrimRight(text[:end], " \n") + ellipsis
}

// ansiRE matches an escape sequence of a terminal, such as the color "\x1b[31m" or a link,
// which starts with "\x1b]8;".
var ansiRE = regexp.MustCompile("\x1b(\\[[0-9;:?]*[ -/]*[@-~]|\\][^\x07\x1b]*(\x07|\x1b\\\\)|[()*+][0-9A-Za-z]|[@-Z\\\\^_])")

// StripANSI removes escape sequences of a terminal.
func StripANSI(s string) string {
	if strings.IndexByte(s, 0x1b) < 0 {
		return s
	}
	return ansiRE.ReplaceAllString(s, "")
}

// CleanText returns a message that is safe to show: valid UTF-8 without colors, surrounding
// space, and control characters other than tab and line feed.
func CleanText(s string) string {
	if isPlain(s, true) {
		return strings.TrimSpace(s)
	}
	s = strings.ToValidUTF8(StripANSI(s), "\uFFFD")
	s = strings.Map(func(r rune) rune {
		if r == '\n' || r == '\t' || !isControl(r) {
			return r
		}
		return -1
	}, s)
	return strings.TrimSpace(s)
}

// CleanName replaces every unprintable character of a name by U+FFFD. Dropping them
// could make two names equal.
func CleanName(s string) string {
	if isPlain(s, false) {
		return s
	}
	return strings.Map(func(r rune) rune {
		if isControl(r) {
			return '\uFFFD'
		}
		return r
	}, strings.ToValidUTF8(StripANSI(s), "\uFFFD"))
}

// isPlain reports whether s is printable ASCII, as most names and messages are. If lines is
// set, it may also contain tabs and line feeds.
func isPlain(s string, lines bool) bool {
	for i := range len(s) {
		if c := s[i]; c >= 0x7f || c < 0x20 && !(lines && (c == '\n' || c == '\t')) {
			return false
		}
	}
	return true
}

// isControl reports whether a rune is a control character.
func isControl(r rune) bool { return r < 0x20 || r >= 0x7f && r < 0xa0 }

// FirstLine returns s up to its first line feed.
func FirstLine(s string) string {
	line, _, _ := strings.Cut(s, "\n")
	return line
}

// maxProblems is how many problems of one report are listed.
const maxProblems = 20

// Problems collects oddities of a report. The zero value is empty.
type Problems struct {
	list []string
	more int
}

// Add adds a problem.
func (p *Problems) Add(format string, args ...any) {
	if len(p.list) < maxProblems {
		p.list = append(p.list, fmt.Sprintf(format, args...))
		return
	}
	p.more++
}

// All returns the first twenty problems, and how many more there are.
func (p *Problems) All() []string {
	if p.more == 0 {
		return p.list
	}
	return append(p.list[:len(p.list):len(p.list)], fmt.Sprintf("and %d more problems of this report", p.more))
}
