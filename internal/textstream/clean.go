package textstream

import (
	"fmt"
	"regexp"
	"strings"
)

// The first and last bytes that are kept of a longer text.
const (
	clipHead = 2 << 10
	clipTail = 6 << 10
)

// Clip keeps the beginning and the end of a text that may be of any length:
// 8 KiB in all. The zero value is empty.
type Clip struct {
	head, tail []byte
	dropped    bool
}

// Add puts s behind what was added before.
func (c *Clip) Add(s string) { add(c, s) }

// AddBytes puts s behind what was added before.
func (c *Clip) AddBytes(s []byte) { add(c, s) }

// Reset forgets what was added, and keeps the memory.
func (c *Clip) Reset() { *c = Clip{head: c.head[:0], tail: c.tail[:0]} }

func add[T string | []byte](c *Clip, s T) {
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

// String returns what was kept, cleaned for display.
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

// Clipped returns s as a [Clip] keeps it.
func Clipped(s string) string {
	if len(s) <= clipHead+clipTail {
		return CleanText(s)
	}
	var c Clip
	c.Add(s)
	return c.String()
}

var ansi = regexp.MustCompile("\x1b(\\[[0-9;:?]*[ -/]*[@-~]|\\][^\x07\x1b]*(\x07|\x1b\\\\)|[()*+][0-9A-Za-z]|[@-Z\\\\^_])")

// StripANSI removes the sequences that colour a terminal.
func StripANSI(s string) string {
	if strings.IndexByte(s, 0x1b) < 0 {
		return s
	}
	return ansi.ReplaceAllString(s, "")
}

// CleanText returns a message that is safe to show: no colours, no control
// characters but tab and line feed, valid UTF-8, no space around it.
func CleanText(s string) string {
	if plain(s, true) {
		return strings.TrimSpace(s)
	}
	s = strings.ToValidUTF8(StripANSI(s), "\uFFFD")
	s = strings.Map(func(r rune) rune {
		if r == '\n' || r == '\t' || !control(r) {
			return r
		}
		return -1
	}, s)
	return strings.TrimSpace(s)
}

// CleanName returns a name in which what cannot be shown is U+FFFD: dropping
// it could make two names one.
func CleanName(s string) string {
	if plain(s, false) {
		return s
	}
	return strings.Map(func(r rune) rune {
		if control(r) {
			return '\uFFFD'
		}
		return r
	}, strings.ToValidUTF8(StripANSI(s), "\uFFFD"))
}

// plain reports whether s is printable ASCII, as most names and messages are;
// with lines it may have tabs and line feeds as well.
func plain(s string, lines bool) bool {
	for i := range len(s) {
		if c := s[i]; c >= 0x7f || c < 0x20 && !(lines && (c == '\n' || c == '\t')) {
			return false
		}
	}
	return true
}

func control(r rune) bool { return r < 0x20 || r >= 0x7f && r < 0xa0 }

// FirstLine returns s up to its first line feed.
func FirstLine(s string) string {
	line, _, _ := strings.Cut(s, "\n")
	return line
}

// maxProblems is how many problems of one report are told one by one.
const maxProblems = 20

// Problems gathers what is odd about a report. The zero value holds none.
type Problems struct {
	list []string
	more int
}

// Add tells one problem.
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
