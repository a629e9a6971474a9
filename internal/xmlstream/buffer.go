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

// unexpectedEOF returns [io.ErrUnexpectedEOF] for [io.EOF], since the source ends inside a tag,
// and any other error as it is.
func unexpectedEOF(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}

// peek returns the next byte without consuming it.
func (r *Reader) peek() (byte, error) {
	if r.pos < r.end {
		return r.buf[r.pos], nil
	}
	if err := r.need(1); err != nil {
		return 0, err
	}
	return r.buf[r.pos], nil
}

// need makes at least n bytes available, or returns the error that ended the source. N is far
// below the size of the buffer.
func (r *Reader) need(n int) error {
	for r.end-r.pos < n {
		if r.srcErr != nil {
			return r.srcErr
		}
		r.fill()
	}
	return nil
}

// fill moves the unread bytes to the front of the buffer and reads more.
func (r *Reader) fill() {
	if r.pos > 0 {
		r.Line() // counts the lines that are dropped here
		copy(r.buf, r.buf[r.pos:r.end])
		r.consumed += int64(r.pos)
		r.end -= r.pos
		r.pos, r.countedTo = 0, 0
	}

	for range maxEmptyReads {
		n, err := r.src.Read(r.buf[r.end:])
		if valid := r.replaceNulls(r.buf[r.end : r.end+n]); valid < n {
			n, err = valid, errNull
		}
		r.end += n
		r.srcErr = err
		if n > 0 || err != nil {
			return
		}
	}
	r.srcErr = io.ErrNoProgress
}

// replaceNulls replaces null bytes by a byte that is invalid in UTF-8, which is read as
// U+FFFD: names of tests can contain them. It returns how many bytes are before a damaged
// part, which has many null bytes in a row.
func (r *Reader) replaceNulls(data []byte) int {
	for pos := 0; pos < len(data); pos++ {
		i := bytes.IndexByte(data[pos:], 0)
		if i != 0 {
			r.nulls = 0
		}
		if i < 0 {
			break
		}
		pos += i
		if r.nulls++; r.nulls == maxNulls {
			return max(0, pos-maxNulls+1)
		}
		data[pos] = 0xFF
	}
	return len(data)
}

// errNull ends a document with many null bytes. No tool writes them, but they are in a file
// after a crash of the system.
var errNull = errors.New("the document contains null bytes: the file is damaged")

// maxNulls is the number of null bytes in a row from which a file is damaged.
const maxNulls = 16

// maxEmptyReads is how often in a row a source may return neither bytes nor an error.
const maxEmptyReads = 100

// Line returns the line, from 1, that the next token starts on.
func (r *Reader) Line() int {
	r.line += bytes.Count(r.buf[r.countedTo:r.pos], []byte{'\n'})
	r.countedTo = r.pos
	return r.line
}

// advance consumes n available bytes.
func (r *Reader) advance(n int) { r.pos += n }

// hasNext reports whether the next bytes are s. It does not consume them.
func (r *Reader) hasNext(s string) bool {
	if err := r.need(len(s)); err != nil {
		return false
	}
	return string(r.buf[r.pos:r.pos+len(s)]) == s
}

// readUntil consumes everything up to and including the delimiter. It returns the first limit
// bytes before the delimiter, which are valid until the next call. It is an error if the source
// ends first.
func (r *Reader) readUntil(delimiter string, limit int) ([]byte, error) {
	r.keptText = r.keptText[:0]
	consume := func(n int) {
		if free := limit - len(r.keptText); free > 0 {
			r.keptText = append(r.keptText, r.buf[r.pos:r.pos+min(n, free)]...)
		}
		r.advance(n)
	}
	if cap(r.keptText) > chunkSize {
		r.keptText = nil // do not keep the memory of a long value
	}

	for {
		if err := r.need(len(delimiter)); err != nil {
			return nil, unexpectedEOF(err)
		}
		window := r.buf[r.pos:r.end]
		if n := bytes.Index(window, []byte(delimiter)); n >= 0 {
			consume(n)
			r.advance(len(delimiter))
			return r.keptText, nil
		}
		consume(len(window) - len(delimiter) + 1) // the remaining bytes may start the delimiter
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

// readName reads a name and returns it without its namespace prefix, "" if none is there.
func (r *Reader) readName() (string, error) {
	n, err := r.nameLength()
	if err != nil {
		return "", err
	}
	raw := r.buf[r.pos : r.pos+n]
	r.advance(n)
	if n == 0 {
		return "", nil
	}
	known := &r.knownNames[(n*31+int(raw[0])*7+int(raw[n-1]))%namesLen]
	if known.raw != string(raw) {
		known.raw = string(raw)
		known.name = strings.ToValidUTF8(known.raw[strings.LastIndexByte(known.raw, ':')+1:], "\uFFFD")
	}
	return known.name, nil
}

// knownName is a name as written, and without its prefix.
type knownName struct{ raw, name string }

// namesLen is how many names are cached.
const namesLen = 256

// nameLength returns the length of the name that starts at the next byte, 0 if none does.
func (r *Reader) nameLength() (int, error) {
	for n := 0; ; {
		for n < r.end-r.pos && isNamePart[r.buf[r.pos+n]] {
			n++
		}
		switch {
		case n > maxName:
			return 0, r.syntaxError("a name is longer than %d bytes", maxName)
		case n < r.end-r.pos:
			return n, nil
		}
		if err := r.need(n + 1); err != nil {
			return 0, unexpectedEOF(err)
		}
	}
}

// isNameStart reports whether a name can start with the byte. So can any byte of a character
// that is not ASCII.
func isNameStart(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '_' || c == ':' || c >= 0x80
}

// isNamePart is the set of bytes in names.
var isNamePart = func() (table [256]bool) {
	for c := range table {
		table[c] = isNameStart(byte(c)) || c >= '0' && c <= '9' || c == '-' || c == '.'
	}
	return table
}()

// readValue reads an attribute value up to and including its closing quote, which is not
// returned.
func (r *Reader) readValue(quote byte) (string, error) {
	if n := bytes.IndexByte(r.buf[r.pos:r.end], quote); n >= 0 {
		raw := r.buf[r.pos : r.pos+n]
		r.advance(n + 1)
		return r.sharedValue(raw), nil
	}
	raw, err := r.readUntil(string(rune(quote)), MaxValue)
	return decode(raw), err
}

// Values of up to maxShared bytes are looked up in a cache of recent values, since every
// test repeats the names of its class and file.
const (
	maxShared = 256
	sharedLen = 1 << 10
)

// sharedValue returns the decoded value. If an equal value is in the cache, it returns the
// same string.
func (r *Reader) sharedValue(raw []byte) string {
	if len(raw) > maxShared {
		return decode(raw)
	}
	known := &r.knownValues[maphash.Bytes(r.seed, raw)%sharedLen]
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

// completeTextLength returns the length of the complete text in a window without markup: all
// of it, except for a reference or character at its end that may be incomplete.
func (r *Reader) completeTextLength(window []byte) int {
	if r.srcErr != nil {
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

// predefined are the references that XML defines, without the & and the semicolon.
var predefined = map[string]string{"lt": "<", "gt": ">", "amp": "&", "quot": `"`, "apos": "'"}

// unescape resolves the references that need no DOCTYPE, as in "a &lt; b &#65;". All others,
// and any other '&', stay unchanged.
func unescape(raw []byte) string {
	var b strings.Builder
	b.Grow(len(raw))
	for i := bytes.IndexByte(raw, '&'); i >= 0; i = bytes.IndexByte(raw, '&') {
		b.Write(raw[:i])
		raw = raw[i:]
		end := bytes.IndexByte(raw[:min(len(raw), maxReference)], ';')
		value, ok := "", false
		if end > 0 {
			value, ok = resolveReference(string(raw[1:end]))
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

// resolveReference returns the text of a reference, which is without the & and the semicolon.
// It reports false for an unknown one. An invalid number gives U+FFFD.
func resolveReference(reference string) (string, bool) {
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
