// Package xmlstream reads the XML that report writers really produce. It is often not standard
// XML: it has control characters, invalid UTF-8, a declaration that names the wrong encoding,
// or a stray '<' in an attribute. The reader returns one token at a time and keeps only one
// piece of the document in memory.
//
// Nothing is expanded or fetched. A DOCTYPE is skipped, and only the five predefined references
// and numeric ones are resolved. Other references stay as written, so no document can grow
// while it is read.
//
// The reader is strict where a mistake would change a count: an element that is not closed, or
// is closed by another name, is a [textstream.SyntaxError].
//
// The file xmlstream.go makes tokens of the markup. It reads from the buffer in buffer.go, which
// also has names, values and references. The methods in walk.go read an element with everything
// in it.
package xmlstream

import (
	"bytes"
	"errors"
	"fmt"
	"hash/maphash"
	"io"
	"strings"
	"unicode/utf8"

	"supervise/internal/textstream"
)

// Limits far above what any report needs.
const (
	MaxDepth  = 4096     // of nested elements; a deeper document is an error
	MaxValue  = 1 << 20  // bytes kept of one attribute value; the rest is dropped
	MaxAttrs  = 1024     // attributes of one element; more are an error
	maxName   = 4096     // bytes of a name; a longer one is an error
	chunkSize = 64 << 10 // bytes of the buffer, of a text token, and of a comment
)

// Kind is the kind of a [Token].
type Kind uint8

// The kinds of tokens.
const (
	Start Kind = iota + 1
	End
	Text
	Comment
)

// Attr is one attribute of an element, with its references resolved and without a
// namespace prefix in its name.
type Attr struct{ Name, Value string }

// Token is a piece of the document. An empty element gives a Start and an End. The text
// of one element may come in several Text tokens of at most 64 KiB each; CDATA is text.
// At most 64 KiB of a comment are kept.
type Token struct {
	Kind  Kind
	Name  string // of Start and End, without its namespace prefix
	Attrs []Attr // of Start; valid until the next call of Next
	Text  string // of Text and Comment, valid UTF-8
	Depth int    // how many elements enclose the token, without itself
}

// Attr returns the value of the attribute, and whether the element has it.
func (t Token) Attr(name string) (string, bool) {
	for _, a := range t.Attrs {
		if a.Name == name {
			return a.Value, true
		}
	}
	return "", false
}

// Value returns the value of the attribute, "" if the element does not have it.
func (t Token) Value(name string) string {
	v, _ := t.Attr(name)
	return v
}

// Reader reads one document, or several that were written one after another.
type Reader struct {
	UnknownRoot string      // set by the caller: the last root element that it does not know
	OnComment   func(Token) // called by EachChild for each comment, may be nil

	src    io.Reader // in UTF-8
	buf    []byte    // the current part of the document
	pos    int       // index of the next byte in buf
	end    int       // number of bytes in buf
	srcErr error     // the error that ended the source, nil before its end
	nulls  int       // null bytes in a row at the end of the bytes that were read

	consumed  int64 // bytes before buf[0]
	countedTo int   // index in buf up to which lines are counted
	line      int   // line number at countedTo, from 1

	stack       []string // names of the open elements
	emptyName   string   // the name of that element
	endPending  bool     // the End of an empty element is next
	skipText    bool     // see SkipText
	textOutside string   // the first text outside of all elements
	attrs       []Attr   // memory for the attributes of one element
	keptText    []byte   // memory for readUntil

	knownNames  [namesLen]knownName // recent names, by a hash of their bytes
	seed        maphash.Seed
	knownValues [sharedLen]string // recent values, by a hash with the seed
}

// NewReader returns a reader of the document in src, whatever its encoding:
// see [textstream.UTF8].
func NewReader(src io.Reader) *Reader {
	return &Reader{
		src: textstream.UTF8(src), buf: make([]byte, chunkSize), line: 1,
		seed: maphash.MakeSeed(),
	}
}

// SkipText makes Next skip text, which is much faster: most text in a report is output that
// is not needed.
func (r *Reader) SkipText(on bool) { r.skipText = on }

// TextOutside returns the beginning of the first text outside of all elements, "" if there
// is none. A report has no text there.
func (r *Reader) TextOutside() string { return r.textOutside }

// Next returns the next token. It returns [io.EOF] at the end of the document, and a
// [*textstream.SyntaxError] if the document cannot be read further or ends inside an
// element. Errors of the source are returned as they are. Processing instructions and
// DOCTYPEs are skipped.
func (r *Reader) Next() (Token, error) {
	if r.endPending {
		r.endPending = false
		return Token{Kind: End, Name: r.emptyName, Depth: len(r.stack)}, nil
	}
	for {
		c, err := r.peek()
		if err != nil {
			return Token{}, r.endError(err)
		}
		if c != '<' {
			if t, ok := r.readText(); ok {
				return t, nil
			}
			continue
		}
		t, skipped, err := r.readMarkup()
		if err != nil {
			return Token{}, r.endError(err)
		}
		if !skipped {
			return t, nil
		}
	}
}

// endError turns the end of the source into a syntax error if an element is still open.
func (r *Reader) endError(err error) error {
	switch {
	case errors.Is(err, io.ErrUnexpectedEOF):
		return r.syntaxError("the document ends in the middle of a tag")
	case errors.Is(err, io.EOF) && len(r.stack) > 0:
		return r.syntaxError("the document ends inside <%s>", r.stack[len(r.stack)-1])
	case errors.Is(err, errNull):
		return r.syntaxError("%v", errNull)
	}
	return err
}

// syntaxError returns a [textstream.SyntaxError] at the next byte.
func (r *Reader) syntaxError(format string, args ...any) error {
	return &textstream.SyntaxError{Line: r.Line(), Offset: r.consumed + int64(r.pos), Problem: fmt.Sprintf(format, args...)}
}

// readMarkup reads what starts with '<': a tag, a comment, CDATA, or something that is skipped.
// Skipped is true if the result is not a token for the caller.
func (r *Reader) readMarkup() (t Token, skipped bool, err error) {
	if err := r.need(2); err != nil {
		return t, false, unexpectedEOF(err)
	}
	switch c := r.buf[r.pos+1]; {
	case c == '/':
		t, err = r.readEndTag()
		return t, false, err
	case c == '?':
		_, err = r.readUntil("?>", 0)
		return t, true, err
	case c == '!':
		return r.readDeclaration()
	case isNameStart(c):
		t, err = r.readStartTag()
		return t, false, err
	}
	r.advance(1) // any other '<' is text
	return Token{Kind: Text, Text: "<", Depth: len(r.stack)}, r.skipText, nil
}

// readDeclaration reads what starts with "<!": a comment, CDATA, or a DOCTYPE, which is
// skipped.
func (r *Reader) readDeclaration() (t Token, skipped bool, err error) {
	if err := r.need(9); err != nil && !errors.Is(err, io.EOF) {
		return t, false, err
	}
	head := r.buf[r.pos:r.end]
	switch {
	case bytes.HasPrefix(head, []byte("<!--")):
		r.advance(4)
		text, err := r.readUntil("-->", chunkSize)
		return Token{Kind: Comment, Text: strings.ToValidUTF8(string(text), "\uFFFD"), Depth: len(r.stack)}, false, err
	case bytes.HasPrefix(head, []byte("<![CDATA[")):
		r.advance(9)
		t, err = r.readCDATA()
		return t, r.skipText, err
	}
	return t, true, r.skipDoctype()
}

// readCDATA returns the text of a CDATA section in one token. It keeps the first 64 KiB,
// since no report has anything to count after that.
func (r *Reader) readCDATA() (Token, error) {
	if r.skipText {
		_, err := r.readUntil("]]>", 0)
		return Token{}, err
	}
	text, err := r.readUntil("]]>", chunkSize)
	return Token{Kind: Text, Text: strings.ToValidUTF8(string(text), "\uFFFD"), Depth: len(r.stack)}, err
}

// skipDoctype skips <!DOCTYPE …> with its internal subset, quoted strings and comments.
func (r *Reader) skipDoctype() error {
	depth, quote := 0, byte(0)
	for {
		c, err := r.peek()
		if err != nil {
			return unexpectedEOF(err)
		}
		if quote == 0 && r.hasNext("<!--") {
			if _, err := r.readUntil("-->", 0); err != nil {
				return err
			}
			continue
		}

		r.advance(1)
		switch {
		case quote != 0:
			if c == quote {
				quote = 0
			}
		case c == '"' || c == '\'':
			quote = c
		case c == '<' || c == '[':
			depth++
		case c == '>' || c == ']':
			depth--
		}

		if depth == 0 {
			return nil
		}
	}
}

// readEndTag reads an end tag, which has to close the innermost element.
func (r *Reader) readEndTag() (Token, error) {
	r.advance(2)
	name, err := r.readName()
	if err != nil {
		return Token{}, err
	}
	if c, err := r.peek(); err == nil && c == '>' {
		r.advance(1)
	} else if _, err := r.readUntil(">", 0); err != nil {
		return Token{}, err
	}

	if len(r.stack) == 0 {
		return Token{}, r.syntaxError("</%s> closes an element that was never opened", name)
	}
	if open := r.stack[len(r.stack)-1]; open != name {
		return Token{}, r.syntaxError("<%s> is closed by </%s>", open, name)
	}

	r.stack = r.stack[:len(r.stack)-1]
	return Token{Kind: End, Name: name, Depth: len(r.stack)}, nil
}

// readStartTag reads a start tag with its attributes. For an empty element, Next returns the
// End after it.
func (r *Reader) readStartTag() (Token, error) {
	r.advance(1)
	name, err := r.readName()
	if err != nil {
		return Token{}, err
	}
	if len(r.stack) >= MaxDepth {
		return Token{}, r.syntaxError("elements are nested more than %d deep", MaxDepth)
	}
	closed, err := r.readAttributes(name)
	if err != nil {
		return Token{}, err
	}
	t := Token{Kind: Start, Name: name, Attrs: r.attrs, Depth: len(r.stack)}
	if closed {
		r.endPending, r.emptyName = true, name
	} else {
		r.stack = append(r.stack, name)
	}
	return t, nil
}

// readAttributes reads up to and including the '>' of a start tag, and reports whether the
// element is empty.
func (r *Reader) readAttributes(element string) (closed bool, err error) {
	r.attrs = r.attrs[:0]
	for {
		c, err := r.skipSpace()
		if err != nil {
			return false, unexpectedEOF(err)
		}
		switch {
		case c == '>':
			r.advance(1)
			return false, nil
		case c == '/' && r.hasNext("/>"):
			r.advance(2)
			return true, nil
		case !isNameStart(c):
			return false, r.syntaxError("found %q in the tag <%s>, want an attribute", string(rune(c)), element)
		}
		if len(r.attrs) >= MaxAttrs {
			return false, r.syntaxError("<%s> has more than %d attributes", element, MaxAttrs)
		}
		if err := r.readAttribute(element); err != nil {
			return false, err
		}
	}
}

// readAttribute reads an attribute and appends it to attrs. An attribute without a value has
// the value "".
func (r *Reader) readAttribute(element string) error {
	name, err := r.readName()
	if err != nil {
		return err
	}

	c, err := r.skipSpace()
	if err != nil {
		return unexpectedEOF(err)
	}
	if c != '=' { // an attribute without a value, as in HTML
		r.attrs = append(r.attrs, Attr{Name: name})
		return nil
	}

	r.advance(1)
	if c, err = r.skipSpace(); err != nil {
		return unexpectedEOF(err)
	}
	if c != '"' && c != '\'' {
		return r.syntaxError("the value of attribute %s of <%s> is not in quotes", name, element)
	}
	r.advance(1)
	value, err := r.readValue(c)
	if err != nil {
		return err
	}
	r.attrs = append(r.attrs, Attr{Name: name, Value: value})
	return nil
}

// readText reads text up to the next markup, at most one buffer of it. It reports false if text
// is skipped.
func (r *Reader) readText() (Token, bool) {
	if r.skipText && len(r.stack) > 0 {
		r.skipToMarkup()
		return Token{}, false
	}
	_ = r.need(maxReference + utf8.UTFMax) // fewer are available only at the end of the source
	window := r.buf[r.pos:r.end]
	n := bytes.IndexByte(window, '<')
	if n < 0 {
		n = r.completeTextLength(window)
	}

	text := decode(window[:n])
	r.advance(n)

	if len(r.stack) == 0 && r.textOutside == "" {
		r.textOutside = strings.TrimSpace(text)
		r.textOutside = strings.ToValidUTF8(r.textOutside[:min(len(r.textOutside), maxOutside)], "")
	}
	return Token{Kind: Text, Text: text, Depth: len(r.stack)}, !r.skipText
}

// maxOutside is how many bytes of text outside of all elements are kept.
const maxOutside = 512

// skipToMarkup skips text up to the next markup or the end of the buffer.
func (r *Reader) skipToMarkup() {
	window := r.buf[r.pos:r.end]
	n := bytes.IndexByte(window, '<')
	if n < 0 {
		n = len(window)
	}
	r.advance(n)
}
