// Package xmlstream reads the XML that report writers really produce. It is often not
// standard XML: it has control characters, invalid UTF-8, a declaration that names the
// wrong encoding, or a stray '<' in an attribute. The reader returns one token at a
// time and keeps only one piece of the document in memory.
//
// Nothing is expanded or fetched. A DOCTYPE is skipped, and only the five predefined
// references and numeric ones are resolved. Other references stay as written, so no
// document can grow while it is read.
//
// The reader is strict where a mistake would change a count: an element that is not
// closed, or is closed by another name, is a [textstream.SyntaxError].
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
	MaxDepth = 4096    // of nested elements; a deeper document is an error
	MaxValue = 1 << 20 // bytes kept of one attribute value; the rest is dropped
	MaxAttrs = 1024    // attributes of one element; more are an error
	maxName  = 4096    // bytes of a name; a longer one is an error
	chunk    = 64 << 10
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
	UnknownRoot string // set by the caller: the last outermost element that it does not know

	src   io.Reader
	buf   []byte
	pos   int
	end   int
	rdErr error // the error that ended the source
	nulls int   // null bytes in a row at the end of what was read

	consumed int64 // bytes before buf[0]
	counted  int   // the lines before buf[counted] are counted
	line     int   // of buf[counted]

	stack   []string
	pending string // the name of an empty element whose End is next
	empty   bool
	mute    bool
	outside string // the first text outside of all elements
	attrs   []Attr
	kept    []byte

	names  [namesLen]knownName
	seed   maphash.Seed
	shared [sharedLen]string
}

// NewReader returns a reader of the document in src, whatever its encoding:
// see [textstream.UTF8].
func NewReader(src io.Reader) *Reader {
	return &Reader{
		src: textstream.UTF8(src), buf: make([]byte, chunk), line: 1,
		seed: maphash.MakeSeed(),
	}
}

// SkipText makes Next skip text, which is much faster: most text in a report is output that
// is not needed.
func (r *Reader) SkipText(on bool) { r.mute = on }

// TextOutside returns the beginning of the first text outside of all elements, "" if there
// is none. A report has no text there.
func (r *Reader) TextOutside() string { return r.outside }

// Next returns the next token. It returns [io.EOF] at the end of the document, and a
// [*textstream.SyntaxError] if the document cannot be read further or ends inside an
// element. Errors of the source are returned as they are. Processing instructions and
// DOCTYPEs are skipped.
func (r *Reader) Next() (Token, error) {
	if r.empty {
		r.empty = false
		return Token{Kind: End, Name: r.pending, Depth: len(r.stack)}, nil
	}
	for {
		c, err := r.peek()
		if err != nil {
			return Token{}, r.atEnd(err)
		}
		if c != '<' {
			if t, ok := r.text(); ok {
				return t, nil
			}
			continue
		}
		t, skipped, err := r.markup()
		if err != nil {
			return Token{}, r.atEnd(err)
		}
		if !skipped {
			return t, nil
		}
	}
}

// atEnd turns the end of the source into a syntax error if an element is still open.
func (r *Reader) atEnd(err error) error {
	switch {
	case errors.Is(err, io.ErrUnexpectedEOF):
		return r.fault("the document ends in the middle of a tag")
	case errors.Is(err, io.EOF) && len(r.stack) > 0:
		return r.fault("the document ends inside <%s>", r.stack[len(r.stack)-1])
	case errors.Is(err, errNull):
		return r.fault("%v", errNull)
	}
	return err
}

func (r *Reader) fault(format string, args ...any) error {
	return &textstream.SyntaxError{Line: r.Line(), Offset: r.consumed + int64(r.pos), Problem: fmt.Sprintf(format, args...)}
}

// markup reads what begins with '<'. It reports true if that is not a token.
func (r *Reader) markup() (t Token, skipped bool, err error) {
	if err := r.need(2); err != nil {
		return t, false, cut(err)
	}
	switch c := r.buf[r.pos+1]; {
	case c == '/':
		t, err = r.endTag()
		return t, false, err
	case c == '?':
		_, err = r.until("?>", 0)
		return t, true, err
	case c == '!':
		return r.declaration()
	case nameStart(c):
		t, err = r.startTag()
		return t, false, err
	}
	r.advance(1) // a '<' that opens nothing is text
	return Token{Kind: Text, Text: "<", Depth: len(r.stack)}, r.mute, nil
}

func (r *Reader) declaration() (t Token, skipped bool, err error) {
	if err := r.need(9); err != nil && !errors.Is(err, io.EOF) {
		return t, false, err
	}
	head := r.buf[r.pos:r.end]
	switch {
	case bytes.HasPrefix(head, []byte("<!--")):
		r.advance(4)
		text, err := r.until("-->", chunk)
		return Token{Kind: Comment, Text: strings.ToValidUTF8(string(text), "\uFFFD"), Depth: len(r.stack)}, false, err
	case bytes.HasPrefix(head, []byte("<![CDATA[")):
		r.advance(9)
		t, err = r.cdata()
		return t, r.mute, err
	}
	return t, true, r.doctype()
}

// cdata returns the text of a CDATA section in one token. It keeps the first 64 KiB,
// since no report has anything to count after that.
func (r *Reader) cdata() (Token, error) {
	if r.mute {
		_, err := r.until("]]>", 0)
		return Token{}, err
	}
	text, err := r.until("]]>", chunk)
	return Token{Kind: Text, Text: strings.ToValidUTF8(string(text), "\uFFFD"), Depth: len(r.stack)}, err
}

// doctype skips <!DOCTYPE …> with its internal subset, quoted strings and comments.
func (r *Reader) doctype() error {
	depth, quote := 0, byte(0)
	for {
		c, err := r.peek()
		if err != nil {
			return cut(err)
		}
		if quote == 0 && r.has("<!--") {
			if _, err := r.until("-->", 0); err != nil {
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

func (r *Reader) endTag() (Token, error) {
	r.advance(2)
	name, err := r.name()
	if err != nil {
		return Token{}, err
	}
	if c, err := r.peek(); err == nil && c == '>' {
		r.advance(1)
	} else if _, err := r.until(">", 0); err != nil {
		return Token{}, err
	}
	if len(r.stack) == 0 {
		return Token{}, r.fault("</%s> closes an element that was never opened", name)
	}
	if open := r.stack[len(r.stack)-1]; open != name {
		return Token{}, r.fault("<%s> is closed by </%s>", open, name)
	}
	r.stack = r.stack[:len(r.stack)-1]
	return Token{Kind: End, Name: name, Depth: len(r.stack)}, nil
}

func (r *Reader) startTag() (Token, error) {
	r.advance(1)
	name, err := r.name()
	if err != nil {
		return Token{}, err
	}
	if len(r.stack) >= MaxDepth {
		return Token{}, r.fault("elements are nested more than %d deep", MaxDepth)
	}
	closed, err := r.attributes(name)
	if err != nil {
		return Token{}, err
	}
	t := Token{Kind: Start, Name: name, Attrs: r.attrs, Depth: len(r.stack)}
	if closed {
		r.empty, r.pending = true, name
	} else {
		r.stack = append(r.stack, name)
	}
	return t, nil
}

// attributes reads up to and including the '>' of a start tag, and reports whether the
// element is empty.
func (r *Reader) attributes(element string) (closed bool, err error) {
	r.attrs = r.attrs[:0]
	for {
		c, err := r.skipSpace()
		if err != nil {
			return false, cut(err)
		}
		switch {
		case c == '>':
			r.advance(1)
			return false, nil
		case c == '/' && r.has("/>"):
			r.advance(2)
			return true, nil
		case !nameStart(c):
			return false, r.fault("found %q in the tag <%s>, want an attribute", string(rune(c)), element)
		}
		if len(r.attrs) >= MaxAttrs {
			return false, r.fault("<%s> has more than %d attributes", element, MaxAttrs)
		}
		if err := r.attribute(element); err != nil {
			return false, err
		}
	}
}

func (r *Reader) attribute(element string) error {
	name, err := r.name()
	if err != nil {
		return err
	}
	c, err := r.skipSpace()
	if err != nil {
		return cut(err)
	}
	if c != '=' { // an attribute without a value, as in HTML
		r.attrs = append(r.attrs, Attr{Name: name})
		return nil
	}
	r.advance(1)
	if c, err = r.skipSpace(); err != nil {
		return cut(err)
	}
	if c != '"' && c != '\'' {
		return r.fault("the value of attribute %s of <%s> is not in quotes", name, element)
	}
	r.advance(1)
	value, err := r.value(c)
	if err != nil {
		return err
	}
	r.attrs = append(r.attrs, Attr{Name: name, Value: value})
	return nil
}

// text reads character data up to the next markup, at most one buffer of it, and
// reports false if text is muted.
func (r *Reader) text() (Token, bool) {
	if r.mute && len(r.stack) > 0 {
		r.pass()
		return Token{}, false
	}
	_ = r.need(maxReference + utf8.UTFMax) // fewer are available only at the end of the source
	window := r.buf[r.pos:r.end]
	n := bytes.IndexByte(window, '<')
	if n < 0 {
		n = r.fullText(window)
	}
	text := decode(window[:n])
	r.advance(n)
	if len(r.stack) == 0 && r.outside == "" {
		r.outside = strings.TrimSpace(text)
		r.outside = strings.ToValidUTF8(r.outside[:min(len(r.outside), maxOutside)], "")
	}
	return Token{Kind: Text, Text: text, Depth: len(r.stack)}, !r.mute
}

// maxOutside is how much is kept of text outside of all elements.
const maxOutside = 512

// pass skips text up to the next markup or the end of the buffer.
func (r *Reader) pass() {
	window := r.buf[r.pos:r.end]
	n := bytes.IndexByte(window, '<')
	if n < 0 {
		n = len(window)
	}
	r.advance(n)
}
