package xmlstream

import (
	"bytes"
	"errors"
	"hash/maphash"
	"io"
	"strconv"
	"strings"
	"unicode/utf8"
)

// cut returns an error for a source that ends inside a tag.
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

// fill moves the unread rest to the front of the buffer and reads once.
func (r *Reader) fill() {
	if r.pos > 0 {
		r.Line() // counts the lines that are dropped here
		copy(r.buf, r.buf[r.pos:r.end])
		r.consumed += int64(r.pos)
		r.end -= r.pos
		r.pos, r.counted = 0, 0
	}
	for range maxEmptyReads {
		n, err := r.src.Read(r.buf[r.end:])
		if kept := r.withoutNulls(r.buf[r.end : r.end+n]); kept < n {
			n, err = kept, errNull
		}
		r.end += n
		r.rdErr = err
		if n > 0 || err != nil {
			return
		}
	}
	r.rdErr = io.ErrNoProgress
}

// withoutNulls replaces null bytes by one that no text has, which is read as U+FFFD: names
// of tests can hold them. It returns how much comes before a damaged part.
func (r *Reader) withoutNulls(data []byte) int {
	for at := 0; at < len(data); at++ {
		i := bytes.IndexByte(data[at:], 0)
		if i != 0 {
			r.nulls = 0
		}
		if i < 0 {
			break
		}
		at += i
		if r.nulls++; r.nulls == manyNulls {
			return max(0, at-manyNulls+1)
		}
		data[at] = 0xFF
	}
	return len(data)
}

// errNull ends a document with many null bytes in it. No report writer produces them; a
// disk that lost a part of the file does.
var errNull = errors.New("null bytes stand in the document: the file is damaged")

// manyNulls is how many null bytes in a row are damage.
const manyNulls = 16

// maxEmptyReads is how often in a row a source may return neither bytes nor an error.
const maxEmptyReads = 100

// Line returns the line, from 1, that the next token starts on.
func (r *Reader) Line() int {
	r.line += bytes.Count(r.buf[r.counted:r.pos], []byte{'\n'})
	r.counted = r.pos
	return r.line
}

// advance takes n available bytes.
func (r *Reader) advance(n int) { r.pos += n }

// has reports whether s is next in the source.
func (r *Reader) has(s string) bool {
	if err := r.need(len(s)); err != nil {
		return false
	}
	return string(r.buf[r.pos:r.pos+len(s)]) == s
}

// until takes everything up to and including the delimiter. It returns the first keep
// bytes before the delimiter, valid until the next call.
func (r *Reader) until(delimiter string, keep int) ([]byte, error) {
	r.kept = r.kept[:0]
	take := func(n int) {
		if room := keep - len(r.kept); room > 0 {
			r.kept = append(r.kept, r.buf[r.pos:r.pos+min(n, room)]...)
		}
		r.advance(n)
	}
	if cap(r.kept) > chunk {
		r.kept = nil // one long value is not a reason to keep its memory
	}
	for {
		if err := r.need(len(delimiter)); err != nil {
			return nil, cut(err)
		}
		window := r.buf[r.pos:r.end]
		if n := bytes.Index(window, []byte(delimiter)); n >= 0 {
			take(n)
			r.advance(len(delimiter))
			return r.kept, nil
		}
		take(len(window) - len(delimiter) + 1) // the delimiter may begin in what is left
	}
}

// skipSpace skips white space and returns the byte after it.
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
	n, err := r.nameLength()
	if err != nil {
		return "", err
	}
	raw := r.buf[r.pos : r.pos+n]
	r.advance(n)
	if n == 0 {
		return "", nil
	}
	known := &r.names[(n*31+int(raw[0])*7+int(raw[n-1]))%namesLen]
	if known.raw != string(raw) {
		known.raw = string(raw)
		known.name = strings.ToValidUTF8(known.raw[strings.LastIndexByte(known.raw, ':')+1:], "\uFFFD")
	}
	return known.name, nil
}

// knownName is a name as written, and without its prefix.
type knownName struct{ raw, name string }

// namesLen is how many names are remembered at a time.
const namesLen = 256

func (r *Reader) nameLength() (int, error) {
	for n := 0; ; {
		for n < r.end-r.pos && namePart[r.buf[r.pos+n]] {
			n++
		}
		switch {
		case n > maxName:
			return 0, r.fault("a name is longer than %d bytes", maxName)
		case n < r.end-r.pos:
			return n, nil
		}
		if err := r.need(n + 1); err != nil {
			return 0, cut(err)
		}
	}
}

func nameStart(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '_' || c == ':' || c >= 0x80
}

// namePart is the set of bytes that names are made of.
var namePart = func() (table [256]bool) {
	for c := range table {
		table[c] = nameStart(byte(c)) || c >= '0' && c <= '9' || c == '-' || c == '.'
	}
	return table
}()

// value reads an attribute value up to and including its closing quote.
func (r *Reader) value(quote byte) (string, error) {
	if n := bytes.IndexByte(r.buf[r.pos:r.end], quote); n >= 0 {
		raw := r.buf[r.pos : r.pos+n]
		r.advance(n + 1)
		return r.share(raw), nil
	}
	raw, err := r.until(string(rune(quote)), MaxValue)
	return decode(raw), err
}

// Values up to maxShared bytes are looked up in a table of recent ones, since every
// test repeats the names of its class and file.
const (
	maxShared = 256
	sharedLen = 1 << 10
)

// share returns the decoded value. It returns the same string as for an equal earlier
// value, if that is still remembered.
func (r *Reader) share(raw []byte) string {
	if len(raw) > maxShared {
		return decode(raw)
	}
	known := &r.shared[maphash.Bytes(r.seed, raw)%sharedLen]
	if *known == string(raw) {
		return *known
	}
	value := decode(raw)
	if value == string(raw) {
		*known = value
	}
	return value
}

// decode returns valid UTF-8 with its references resolved.
func decode(raw []byte) string {
	var s string
	if bytes.IndexByte(raw, '&') < 0 {
		s = string(raw)
	} else {
		s = unescape(raw)
	}
	if !utf8.ValidString(s) {
		s = strings.ToValidUTF8(s, "\uFFFD")
	}
	return s
}

// maxReference is longer than any reference that is resolved.
const maxReference = 12

// fullText returns how much of a window without markup is complete text: all of it,
// except for a reference or character that may continue after it.
func (r *Reader) fullText(window []byte) int {
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

// unescape resolves the references that XML has without a DOCTYPE. All others stay as
// they are, and so does an '&' that begins none.
func unescape(raw []byte) string {
	var b strings.Builder
	b.Grow(len(raw))
	for i := bytes.IndexByte(raw, '&'); i >= 0; i = bytes.IndexByte(raw, '&') {
		b.Write(raw[:i])
		raw = raw[i:]
		end := bytes.IndexByte(raw[:min(len(raw), maxReference)], ';')
		value, ok := "", false
		if end > 0 {
			value, ok = resolve(string(raw[1:end]))
		}
		if !ok {
			value, end = "&", 0
		}
		b.WriteString(value)
		raw = raw[end+1:]
	}
	b.Write(raw)
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
