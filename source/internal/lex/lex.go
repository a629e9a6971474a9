package lex

import (
	"bytes"
	"slices"
	"strings"

	"supervise/source/internal/language"
)

// Kind says what a byte of a source file belongs to.
type Kind uint8

// What a byte may belong to.
const (
	code    Kind = iota // also white space, and the quotes around a string
	Comment             // with its delimiters
	Text                // inside a string, a regular expression or a here-document
)

// quote is one way of writing text in a language, and while that text is
// being read, the place where it ends.
type quote struct {
	open, close string
	escape      bool   // a backslash takes the next byte with it
	line        bool   // ends at the end of the line even if not closed
	double      bool   // the closing quote written twice is the character itself
	greedy      bool   // of a longer run of quotes, the last ones close
	heredoc     bool   // close is on its own line
	interp      string // opens code within the text: "${"
	interpLine  bool   // such code cannot continue over the end of the line
	nest        byte   // an opening bracket that is closed again within the text
	as          Kind   // what the body is; the zero value represents text
}

// frame is one level of nesting: text when quote is set, else code.
type frame struct {
	*quote
	opener, closer byte // of code within text, its brackets
	depth          int  // brackets open at this level
	outer          int  // brackets that were open where it began
}

// heredoc is a here-document whose body starts on the next line.
type heredoc = quote

// lexer separates code, comments and text. One loop serves every language;
// what differs is in the grammar. It keeps its own stack, so that no input can
// exhaust that of the program, and it always moves on, so that it always ends.
type lexer struct {
	g        *grammar
	words    *[256]bool // see wordBytes
	src      []byte
	kinds    []Kind
	pos      int
	stack    []frame
	pending  []*heredoc
	last     byte                      // last byte of code that was no white space, 0 at the start
	word     []byte                    // last word of code, as long as last belongs to it
	inLine   int                       // level of the outermost text with interpLine, 0 without one
	failed   struct{ line, times int } // regular expressions without an end, on the line that ends there
	brackets int                       // brackets open in code, for statements over several lines
	tags     map[string]int            // last place of each line that may end a here-document
}

// Classify returns the kind of every byte of src.
func Classify(lang language.Language, src []byte) []Kind { return classifyInto(nil, lang, src) }

// classifyInto does so in a given list, where that is long enough.
func classifyInto(kinds []Kind, lang language.Language, src []byte) []Kind {
	kinds = slices.Grow(kinds[:0], len(src))[:len(src)]
	clear(kinds)
	if lang == language.Unknown || int(lang) >= language.Count {
		return kinds
	}
	l := &lexer{g: &grammars[lang], words: wordBytes[lang], src: src, kinds: kinds, stack: make([]frame, 1, 8)}
	if l.g.outside != nil {
		l.stack = append(l.stack, frame{quote: l.g.outside})
	}
	if HasPrefix(src, "#!") && !HasPrefix(src, "#![") { // the latter is an attribute of Rust
		l.lineComment()
	}
	for l.pos < len(src) {
		if l.top().quote != nil {
			l.readText()
		} else {
			l.readCode()
		}
	}
	return kinds
}

func (l *lexer) top() *frame { return &l.stack[len(l.stack)-1] }

func (l *lexer) pop() {
	l.stack = l.stack[:len(l.stack)-1]
	if l.inLine == len(l.stack) {
		l.inLine = 0
	}
}

// at reports whether the rest of the source begins with s.
func (l *lexer) at(s string) bool { return HasPrefix(l.src[l.pos:], s) }

// peek returns the byte n after the current one, 0 beyond the end.
func (l *lexer) peek(n int) byte {
	if i := l.pos + n; i >= 0 && i < len(l.src) {
		return l.src[i]
	}
	return 0
}

// take gives the next n bytes a kind and steps over them.
func (l *lexer) take(n int, k Kind) {
	end := min(l.pos+n, len(l.src))
	for ; l.pos < end; l.pos++ {
		l.kinds[l.pos] = k
	}
}

// readCode takes one word, one blank or one other token of code.
func (l *lexer) readCode() {
	switch c := l.src[l.pos]; {
	case c == '\n':
		l.newline()
	case IsSpace(c):
		l.pos++
	case l.words[c]:
		l.readWord()
	case l.readComment():
	case l.g.special != nil && l.g.special(l):
	case l.readQuote():
	default:
		l.readPunct(c)
	}
}

// newline ends a line of code: here-documents begin, and code within a string
// that must end with its line ends.
func (l *lexer) newline() {
	l.pos++
	if len(l.pending) > 0 { // what follows is not a line of code, even if it begins with some
		l.kinds[l.pos-1] = Text
	}
	if l.inLine > 0 {
		l.brackets = l.stack[l.inLine].outer
		l.stack = l.stack[:l.inLine]
		l.inLine = 0
	}
	for i := len(l.pending) - 1; i >= 0; i-- { // the first is read first, so it is on top
		l.stack = append(l.stack, frame{quote: l.pending[i]})
	}
	l.pending = l.pending[:0]
}

func (l *lexer) readWord() {
	start := l.pos
	for l.pos < len(l.src) && l.words[l.src[l.pos]] {
		l.pos++
		if l.g.digitQuote && l.digitSeparator(start) {
			l.pos++
		}
	}
	l.word = l.src[start:l.pos]
	l.last = l.src[l.pos-1]
	if l.g.afterWord != nil {
		l.g.afterWord(l, start)
	}
}

// digitSeparator reports whether the quote that follows belongs to a number,
// as in 1'000'000 of C++.
func (l *lexer) digitSeparator(start int) bool {
	return l.peek(0) == '\'' && IsDigit(l.src[start]) && isAlnum(l.peek(1))
}

// readComment takes a comment, if one starts here.
func (l *lexer) readComment() bool {
	for _, b := range l.g.blocks {
		if l.at(b.open) {
			l.blockComment(b)
			return true
		}
	}
	for _, mark := range l.g.lines {
		if l.at(mark) && (l.g.noComment == nil || !l.g.noComment(l)) {
			l.lineComment()
			return true
		}
	}
	return false
}

func (l *lexer) lineComment() {
	end := l.lineEnd(l.pos)
	if l.g.continued { // a backslash joins the next line to this one, in C
		for end < len(l.src) && l.src[end-1] == '\\' {
			end = l.lineEnd(end + 1)
		}
	}
	if l.g.outside != nil { // PHP ends where its closing tag is
		if i := bytes.Index(l.src[l.pos:end], []byte("?>")); i >= 0 {
			end = l.pos + i
		}
	}
	l.take(end-l.pos, Comment)
}

// lineEnd returns the place of the next newline, or the end of the source.
func (l *lexer) lineEnd(from int) int {
	if i := bytes.IndexByte(l.src[from:], '\n'); i >= 0 {
		return from + i
	}
	return len(l.src)
}

func (l *lexer) blockComment(b block) {
	depth := 0
	for l.pos < len(l.src) {
		switch {
		case l.at(b.close):
			l.take(len(b.close), Comment)
			depth--
		case l.at(b.open) && (b.nested || depth == 0):
			l.take(len(b.open), Comment)
			depth++
		default:
			l.take(1, Comment)
		}
		if depth == 0 {
			return
		}
	}
}

// readQuote starts a text, if one of the grammar's quotes is here.
func (l *lexer) readQuote() bool {
	for _, q := range l.g.quotes {
		if l.at(q.open) {
			l.begin(q, len(q.open))
			return true
		}
	}
	return false
}

// begin steps over the n bytes that open a text and starts reading it.
func (l *lexer) begin(q *quote, n int) {
	if q.as == Comment {
		l.take(n, Comment)
	} else {
		l.take(n, code)
	}
	if q.interpLine && l.inLine == 0 {
		l.inLine = len(l.stack)
	}
	l.stack = append(l.stack, frame{quote: q, outer: l.brackets})
}

// readPunct takes one byte of code and counts brackets; the one that closes
// code within text returns to the text.
func (l *lexer) readPunct(c byte) {
	l.pos++
	l.last, l.word = c, nil
	f := l.top()
	switch c {
	case '(', '[', '{':
		l.brackets++
	case ')', ']', '}':
		l.brackets = max(0, l.brackets-1)
	}
	switch {
	case f.closer == 0:
	case c == f.opener:
		f.depth++
	case c == f.closer && f.depth == 0:
		l.pop()
	case c == f.closer:
		f.depth--
	}
}

// readText reads until the text ends or code begins within it.
func (l *lexer) readText() {
	f := l.top()
	as := f.body()
	for l.pos < len(l.src) {
		c := l.src[l.pos]
		switch {
		case l.atEnd(f.quote, c):
			if l.closed(f, as) {
				return
			}
		case f.interp != "" && c == f.interp[0] && l.at(f.interp):
			if l.interpolate(f.quote) {
				return
			}
		case f.escape && c == '\\':
			l.take(2, as)
		case f.nest != 0 && c == f.nest:
			f.depth++
			l.take(1, as)
		default:
			l.kinds[l.pos] = as
			l.pos++
		}
	}
}

// body returns the kind of what is between the quotes.
func (q *quote) body() Kind {
	if q.as == Comment {
		return Comment
	}
	return Text
}

// atEnd reports whether a text may end at the byte c.
func (l *lexer) atEnd(q *quote, c byte) bool {
	switch {
	case q.heredoc:
		return l.atTag(q.close)
	case c == '\n':
		return q.line
	}
	return c == q.close[0] && l.at(q.close)
}

// closed steps over what may end a text and reports whether it did.
func (l *lexer) closed(f *frame, as Kind) bool {
	n := len(f.close)
	switch {
	case f.depth > 0:
		f.depth--
		l.take(n, as)
		return false
	case f.double && HasPrefix(l.src[l.pos+n:], f.close):
		l.take(2*n, as)
		return false
	case f.greedy && l.peek(n) == f.close[0]:
		l.take(1, as)
		return false
	case f.line && l.at("\n"): // newline looks at it again
	case f.as == Comment:
		l.take(n, Comment)
	default:
		l.take(n, code)
	}
	l.end()
	return true
}

// end leaves a text; what follows it follows a value.
func (l *lexer) end() {
	as := l.top().as
	l.pop()
	if as != Comment {
		l.last, l.word = '"', nil
	}
}

// interpolate enters the code that the text's interp opens here, and reports
// whether it did: a doubled brace is the character itself where a single one opens.
func (l *lexer) interpolate(q *quote) bool {
	if q.interp == "{" && l.peek(1) == '{' {
		l.take(2, Text)
		return false
	}
	l.take(len(q.interp), code)
	inner := frame{opener: '{', closer: '}', depth: max(0, strings.Count(q.interp, "{")-1)}
	if strings.HasSuffix(q.interp, "(") {
		inner.opener, inner.closer = '(', ')'
	}
	l.stack = append(l.stack, inner)
	l.brackets++
	l.last, l.word = inner.opener, nil
	return true
}

// afterValue reports whether the code so far ends in a value, after which a
// slash divides and a percent sign is a remainder, rather than open a literal.
func (l *lexer) afterValue() bool {
	switch l.last {
	case ')', ']', '}', '"', '\'', '`':
		return true
	}
	return l.last != 0 && l.g.isWord(l.last) && !l.g.operators[string(l.word)]
}

// lineStart reports whether only blanks are before from on its line.
func (l *lexer) lineStart(from int) bool {
	for i := from - 1; i >= 0; i-- {
		if l.src[i] == '\n' {
			return true
		}
		if !IsSpace(l.src[i]) {
			return false
		}
	}
	return true
}

// HasPrefix is bytes.HasPrefix for a string.
func HasPrefix(b []byte, s string) bool {
	return len(b) >= len(s) && string(b[:len(s)]) == s
}

// IsSpace reports whether c is white space.
func IsSpace(c byte) bool {
	return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f' || c == '\v'
}

// IsDigit reports whether c is an ASCII digit.
func IsDigit(c byte) bool { return c >= '0' && c <= '9' }

func isLetter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }

func isAlnum(c byte) bool { return isLetter(c) || IsDigit(c) }
