// Package jsonstream reads JSON reports of any size piece by piece. It wraps the tokenizer of
// encoding/json/v2 and adds what reports need: it skips text of other programs around the
// documents, limits memory, and names the line in errors.
//
// [ReadDocuments] finds the documents in a text, and [ReadEvents] the objects in JSON Lines. A
// document is read from the outside in: [Reader.Object] and [Reader.Array] call a function for
// each member or item. The function must read the value: with [Reader.Value], [Reader.Skip], or
// again Object or Array.
package jsonstream

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"supervise/internal/regexp"
	"supervise/internal/textstream"
)

// MaxValue limits the memory of a value that is read completely.
const MaxValue = 32 << 20

// errTooLong is the error for a value above [MaxValue].
var errTooLong = fmt.Errorf("one value is longer than %d MiB: no report is like that", MaxValue>>20)

// Raw is a value as written in the document, to be decoded later with [Unmarshal].
type Raw = jsontext.Value

// Reader reads one JSON text. It is strict about the syntax, but accepts invalid UTF-8
// and repeated names in one object.
type Reader struct {
	dec *jsontext.Decoder
	src *countingReader
}

// NewReader returns a reader of the document at the start of src.
func NewReader(src io.Reader) *Reader {
	c := &countingReader{src: src, budget: MaxValue}
	return &Reader{dec: jsontext.NewDecoder(c, lenientOptions), src: c}
}

// lenientOptions accept what some tools write although JSON forbids it.
var lenientOptions = json.JoinOptions(jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))

// Unmarshal decodes a [Raw] value. Names must match exactly; members that v does not
// have are ignored.
func Unmarshal(raw []byte, v any) error {
	if err := json.Unmarshal(raw, v, lenientOptions); err != nil {
		return fmt.Errorf("decode JSON: %w", err)
	}
	return nil
}

// Kind returns the first byte of the next value: one of `{["0tfn`, or 0 if there is
// none. Numbers are '0'; closing brackets are '}' and ']'.
func (r *Reader) Kind() byte {
	r.src.budget = MaxValue
	return byte(r.dec.PeekKind())
}

// Value decodes the next value completely into v, a pointer.
func (r *Reader) Value(v any) error {
	r.src.budget = MaxValue
	return r.wrapError(json.UnmarshalDecode(r.dec, v))
}

// Text returns the next value if it is a string. It skips any other value and returns
// "".
func (r *Reader) Text() (string, error) {
	if r.Kind() != '"' {
		return "", r.Skip()
	}
	t, err := r.dec.ReadToken()
	if err != nil {
		return "", r.wrapError(err)
	}
	return t.String(), nil
}

// Skip skips the next value, of any size.
func (r *Reader) Skip() error {
	depth := r.dec.StackDepth()
	for {
		r.src.budget = MaxValue
		if _, err := r.dec.ReadToken(); err != nil {
			return r.wrapError(err)
		}
		if r.dec.StackDepth() <= depth {
			return nil
		}
	}
}

// Object calls f with the name of every member of the next value, which must be an object. f
// reads the value of the member. Null counts as an empty object.
func (r *Reader) Object(f func(name string) error) error {
	isObject, err := r.openContainer('{')
	if err != nil || !isObject {
		return err
	}
	for {
		r.src.budget = MaxValue
		t, err := r.dec.ReadToken()
		if err != nil {
			return r.wrapError(err)
		}
		if t.Kind() == '}' {
			return nil
		}
		if err := f(t.String()); err != nil {
			return err
		}
	}
}

// Array calls f for every item of the next value, which must be an array. f reads the item.
// Null counts as an empty array.
func (r *Reader) Array(f func() error) error {
	isArray, err := r.openContainer('[')
	if err != nil || !isArray {
		return err
	}
	for {
		if kind := r.Kind(); kind == ']' || kind == 0 { // 0 is an error, which ReadToken returns
			_, err := r.dec.ReadToken()
			return r.wrapError(err)
		}
		if err := f(); err != nil {
			return err
		}
	}
}

// openContainer reads the bracket that opens an object or array. It reports false for null, and
// returns an error for any other value.
func (r *Reader) openContainer(want jsontext.Kind) (bool, error) {
	r.src.budget = MaxValue
	t, err := r.dec.ReadToken()
	switch {
	case err != nil:
		return false, r.wrapError(err)
	case t.Kind() == 'n':
		return false, nil
	case t.Kind() != want:
		return false, r.Error("found %s, want %s", t.Kind(), want)
	}
	return true, nil
}

// Error returns a [textstream.SyntaxError] at the last place that was read.
func (r *Reader) Error(format string, args ...any) error {
	next := bytes.TrimLeft(r.dec.UnreadBuffer(), " \t\r\n,:")
	line := 1 + r.src.lines - bytes.Count(next, []byte{'\n'})
	return &textstream.SyntaxError{Line: line, Offset: r.src.startOffset + r.dec.InputOffset(), Problem: fmt.Sprintf(format, args...)}
}

// wrapError adds the position to an error of the tokenizer. nil stays nil.
func (r *Reader) wrapError(err error) error {
	if err == nil {
		return nil
	}
	var semantic *json.SemanticError
	var syntax *jsontext.SyntacticError
	switch {
	case errors.Is(err, errTooLong):
		return r.Error("%v", errTooLong)
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return r.Error("the report ends in the middle of a value: the tool was stopped, or its output was cut off")
	case errors.As(err, &semantic):
		return r.Error("found a JSON %s in %s, want a %v", semantic.JSONKind, pointerName(semantic.JSONPointer), semantic.GoType)
	case errors.As(err, &syntax):
		return r.Error("%v in %s", syntax.Err, pointerName(syntax.JSONPointer))
	}
	return fmt.Errorf("read report: %w", err)
}

// maxPointer limits the JSON pointer in an error message, in bytes.
const maxPointer = 200

// pointerName returns a JSON pointer for a message, shortened if it is long.
func pointerName(p jsontext.Pointer) string {
	if p == "" {
		return "the document"
	}
	return textstream.Truncate(string(p), maxPointer)
}

// countingReader counts lines, and fails when its budget of bytes is used up. The budget is
// renewed for each token, so this only happens inside a very long one.
type countingReader struct {
	src         io.Reader
	budget      int   // bytes that may still be read
	lines       int   // line feeds returned so far
	startOffset int64 // offset in the text of the first byte that it reads
}

// Read reads from src within the budget, and counts lines.
func (c *countingReader) Read(p []byte) (int, error) {
	if c.budget <= 0 {
		return 0, errTooLong
	}
	n, err := c.src.Read(p[:min(len(p), c.budget)])
	c.budget -= n
	c.lines += bytes.Count(p[:n], []byte{'\n'})
	return n, err
}

// ReadDocuments calls f for every document in src that starts a line; f must read it
// completely. The tools of one command often write several documents, with text of other
// programs between them. The first line of such text is returned as noise. An error of f or
// a truncated document ends the reading.
func ReadDocuments(src io.Reader, f func(*Reader) error) (noise string, err error) {
	in := &documentSource{src: src}
	for {
		head, err := in.peek()
		if len(head) == 0 {
			return noise, err
		}
		if color := colorPrefixRE.Find(head); color != nil {
			in.consume(len(color))
			continue
		}
		if startsDocument(head) {
			if err := in.readConsecutive(f); err != nil {
				return noise, err
			}
			continue
		}

		line := in.skipLine()
		if noise == "" {
			noise = textstream.CleanText(line)
		}
	}
}

// colorPrefixRE matches a color sequence before a document or line, as in "\x1b[0m{". Some
// tools reset colors before they write JSON to a pipe.
var colorPrefixRE = regexp.MustCompile(`^\s*\x1b\[[0-9;]*m`)

// documentSource is a text from which lines and documents are read alternately.
type documentSource struct {
	src    io.Reader
	buf    []byte // read and not yet consumed
	offset int64  // of buf in the text
	lines  int    // line feeds before buf
}

// Read returns the buffered bytes first. The tokenizer reads a document by it.
func (s *documentSource) Read(p []byte) (int, error) {
	if len(s.buf) > 0 {
		n := copy(p, s.buf)
		s.buf = s.buf[n:]
		return n, nil
	}
	return s.src.Read(p)
}

// peek returns the next 4 KiB, or the remaining text, without consuming it.
func (s *documentSource) peek() ([]byte, error) {
	if len(s.buf) >= peekSize {
		return s.buf, nil
	}
	more := make([]byte, 16*peekSize)
	n, err := io.ReadAtLeast(s.src, more, peekSize)
	s.buf = append(s.buf[:len(s.buf):len(s.buf)], more[:n]...)
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		err = nil
	}
	if err != nil {
		err = fmt.Errorf("read report: %w", err)
	}
	return s.buf, err
}

// peekSize is how much is inspected to distinguish a document from other text.
const peekSize = 4 << 10

// skipLine consumes a line of any length and returns its first KiB.
func (s *documentSource) skipLine() string {
	line := ""
	for {
		n := bytes.IndexByte(s.buf, '\n') + 1
		end := n > 0
		if !end {
			n = len(s.buf)
		}
		if line == "" {
			line = string(s.buf[:min(n, 1<<10)])
		}
		s.consume(n)
		if head, err := s.peek(); end || len(head) == 0 || err != nil {
			return line
		}
	}
}

// consume drops n buffered bytes.
func (s *documentSource) consume(n int) {
	s.lines += bytes.Count(s.buf[:n], []byte{'\n'})
	s.offset += int64(n)
	s.buf = s.buf[n:]
}

// readConsecutive calls f for each document until other text follows. The tokenizer reads
// ahead, so the bytes that it did not use return to the buffer.
func (s *documentSource) readConsecutive(f func(*Reader) error) error {
	r := NewReader(s)
	r.src.startOffset, r.src.lines = s.offset, s.lines
	for again := true; again; again = startsDocument(r.peekNext()) {
		if err := f(r); err != nil {
			return err
		}
	}

	rest := r.dec.UnreadBuffer()
	s.lines = r.src.lines - bytes.Count(rest, []byte{'\n'})
	s.offset += r.dec.InputOffset()
	s.buf = append(bytes.Clone(rest), s.buf...)
	return nil
}

// peekNext returns what the tokenizer has buffered after the last document, at least the start
// of the next value.
func (r *Reader) peekNext() []byte {
	_ = r.Kind() // reads on
	return r.dec.UnreadBuffer()
}

// startsDocument reports whether text begins with an object or array after white space. A log
// line like "[INFO] …" does not.
func startsDocument(text []byte) bool {
	text = bytes.TrimLeft(text, " \t\r\n")
	if len(text) == 0 {
		return false
	}
	inner := bytes.TrimLeft(text[1:], " \t\r\n")
	switch text[0] {
	case '{':
		return len(inner) == 0 || inner[0] == '"' || inner[0] == '}'
	case '[':
		return len(inner) == 0 || strings.IndexByte(`{["]`, inner[0]) >= 0
	}
	return false
}

// FindDocument returns the offset of the first document in text that starts a line, or -1.
func FindDocument(text []byte) int {
	at := 0
	for line := range bytes.Lines(text) {
		if trimmed := bytes.TrimLeft(line, " \t\r\n"); len(trimmed) > 0 && startsDocument(text[at:]) {
			return at
		}
		at += len(line)
	}
	return -1
}
