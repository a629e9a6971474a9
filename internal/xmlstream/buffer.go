package xmlstream

import (
	"bytes"
	"errors"
	"io"
	"strconv"
	"strings"
	"unicode/utf8"
)

// cut says that the source ended where a tag had begun.
func cut(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}

// peek returns the next byte without taking it.
func (r *Reader) peek() (byte, error) {
	if r.pos < r.end {
		return r.buf[r.pos], nil
	}
	if err := r.need(1); err != nil {
		return 0, err
	}
	return r.buf[r.pos], nil
}

// need makes at least n bytes available, n far below the size of the buffer.
func (r *Reader) need(n int) error {
	for r.end-r.pos < n {
		if r.rdErr != nil {
			return r.rdErr
		}
		r.fill()
	}
	return nil
}

// fill moves what is left to the front of the buffer and reads once.
func (r *Reader) fill() {
	if r.pos > 0 {
		copy(r.buf, r.buf[r.pos:r.end])
		r.consumed += int64(r.pos)
		r.end -= r.pos
		r.pos = 0
	}
	for range maxEmptyReads {
		n, err := r.src.Read(r.buf[r.end:])
		r.end += n
		r.rdErr = err
		if n > 0 || err != nil {
			return
		}
	}
	r.rdErr = io.ErrNoProgress
}

// maxEmptyReads is how often a source may give neither bytes nor an error.
const maxEmptyReads = 100

// advance takes n available bytes.
func (r *Reader) advance(n int) {
	r.line += bytes.Count(r.buf[r.pos:r.pos+n], []byte{'\n'})
	r.pos += n
}

// has reports whether the source goes on with s.
func (r *Reader) has(s string) bool {
	if err := r.need(len(s)); err != nil {
		return false
	}
	return string(r.buf[r.pos:r.pos+len(s)]) == s
}

// until takes everything up to and with the delimiter and returns the first
// keep bytes of what stood before it.
func (r *Reader) until(delimiter string, keep int) (string, error) {
	var kept []byte
	take := func(n int) {
		if room := keep - len(kept); room > 0 {
			kept = append(kept, r.buf[r.pos:r.pos+min(n, room)]...)
		}
		r.advance(n)
	}
	for {
		if err := r.need(len(delimiter)); err != nil {
			return "", cut(err)
		}
		window := r.buf[r.pos:r.end]
		if n := bytes.Index(window, []byte(delimiter)); n >= 0 {
			take(n)
			r.advance(len(delimiter))
			return string(kept), nil
		}
		take(len(window) - len(delimiter) + 1) // the delimiter may begin in what is left
	}
}

// skipSpace passes over white space and returns the byte behind it.
func (r *Reader) skipSpace() (byte, error) {
	for {
		c, err := r.peek()
		if err != nil || c != ' ' && c != '\n' && c != '\t' && c != '\r' {
			return c, err
		}
		r.advance(1)
	}
}

// name reads a name and returns it without its namespace prefix.
func (r *Reader) name() (string, error) {
	n := 0
	for {
		if err := r.need(n + 1); err != nil {
			return "", cut(err)
		}
		if !namePart(r.buf[r.pos+n]) {
			break
		}
		if n++; n > maxName {
			return "", r.fault("a name is longer than %d bytes", maxName)
		}
	}
	raw := r.buf[r.pos : r.pos+n]
	if i := bytes.LastIndexByte(raw, ':'); i >= 0 {
		raw = raw[i+1:]
	}
	name, known := r.names[string(raw)]
	if !known {
		name = strings.ToValidUTF8(string(raw), "\uFFFD")
		if len(r.names) < 256 {
			r.names[name] = name
		}
	}
	r.advance(n)
	return name, nil
}

func nameStart(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '_' || c == ':' || c >= 0x80
}

func namePart(c byte) bool {
	return nameStart(c) || c >= '0' && c <= '9' || c == '-' || c == '.'
}

// maxReference is longer than any reference that is resolved.
const maxReference = 12

// wholeText returns how much of a window without markup is text on its own:
// all of it, except for a reference or character that may go on behind it.
func (r *Reader) wholeText(window []byte) int {
	if r.rdErr != nil {
		return len(window)
	}
	n := len(window)
	if i := bytes.LastIndexByte(window, '&'); i > 0 && n-i < maxReference {
		n = i
	}
	for back := 1; back < utf8.UTFMax && back < n; back++ {
		if tail := window[n-back : n]; utf8.RuneStart(tail[0]) {
			if !utf8.FullRune(tail) {
				n -= back
			}
			break
		}
	}
	return n
}

var predefined = map[string]string{"lt": "<", "gt": ">", "amp": "&", "quot": `"`, "apos": "'"}

// unescape resolves the references that XML knows without a DOCTYPE; all
// others, and an '&' that begins none, stay as they are.
func unescape(s string) string {
	i := strings.IndexByte(s, '&')
	if i < 0 {
		return s
	}
	var b strings.Builder
	for ; i >= 0; i = strings.IndexByte(s, '&') {
		b.WriteString(s[:i])
		s = s[i:]
		end := strings.IndexByte(s[:min(len(s), maxReference)], ';')
		value, ok := "", false
		if end > 0 {
			value, ok = resolve(s[1:end])
		}
		if !ok {
			value, end = "&", 0
		}
		b.WriteString(value)
		s = s[end+1:]
	}
	b.WriteString(s)
	return b.String()
}

func resolve(reference string) (string, bool) {
	number, numeric := strings.CutPrefix(reference, "#")
	if !numeric {
		s, ok := predefined[reference]
		return s, ok
	}
	base := 10
	if hex := strings.TrimLeft(number, "xX"); hex != number {
		number, base = hex, 16
	}
	n, err := strconv.ParseUint(number, base, 32)
	if err != nil {
		return "", false
	}
	if n > utf8.MaxRune || !utf8.ValidRune(rune(n)) {
		return "\uFFFD", true
	}
	return string(rune(n)), true
}
