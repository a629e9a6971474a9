package lex

import (
	"bytes"
	"slices"
	"strings"

	"supervise/source/internal/language"
)

// Kind is what a byte of a source file belongs to.
type Kind uint8

// What a byte may belong to.
const (
	code    Kind = iota // also white space, and the quotes around a string
	Comment             // with its delimiters
	Text                // inside a string, a regular expression or a here-document
)

// quote describes one way to write a string, or another text, in a language. In a text with an
// interpolation, code may be nested: "${x}".
type quote struct {
	open, close             string // the marks around the text
	escape                  bool   // a backslash escapes the next byte
	singleLine              bool   // the text ends with the line even if it is not closed
	doubledQuote            bool   // a doubled closing quote represents the quote itself
	greedy                  bool   // in a longer run of quotes, the last ones close the text
	heredoc                 bool   // close is a tag on a separate line
	interpolation           string // opens code within the text, such as "${"; "" for none
	singleLineInterpolation bool   // nested code ends with the line
	nestedOpen              byte   // an opening bracket that must be closed within the text; 0 for none
	kind                    Kind   // Comment if the text is documentation, else the zero value
}

// frame is one level of nesting: a text if quote is set, otherwise code.
type frame struct {
	*quote
	opener, closer byte // the brackets of code within a text; 0 for other frames
	depth          int  // number of open brackets at this level
	outerBrackets  int  // the lexer's count of open brackets where the frame started
}

// heredoc is a here-document whose body starts on the next line.
type heredoc = quote

// lexer separates code, comments and text. One loop serves every language; the differences are
// in the grammar. It has an explicit stack, so that no input can overflow the call stack, and
// each step advances, so that it always terminates.
type lexer struct {
	grammar         *grammar
	wordBytes       *[256]bool // which bytes words consist of, see wordByteTables
	src             []byte
	kinds           []Kind
	pos             int                       // byte offset of the next byte to read
	stack           []frame                   // levels of nesting, innermost last
	pendingHeredocs []*heredoc                // here-documents whose bodies start on the next line
	lastByte        byte                      // last byte of code that is not white space; 0 at the start
	lastWord        []byte                    // the word that ends with lastByte; nil if it is no word
	lineTextLevel   int                       // stack index of the outermost text with singleLineInterpolation; 0 for none
	failedRegex     struct{ line, times int } // searches without an end on the line that ends at this offset
	brackets        int                       // number of open brackets in code, for statements over several lines
	tagLines        map[string]int            // by word: offset of the last line that consists of it; see lastTagLine
}

// Classify returns the kind of every byte of src.
func Classify(lang language.Language, src []byte) []Kind { return classifyInto(nil, lang, src) }

// classifyInto is Classify with a slice whose memory it reuses.
func classifyInto(kinds []Kind, lang language.Language, src []byte) []Kind {
	kinds = slices.Grow(kinds[:0], len(src))[:len(src)]
	clear(kinds)
	if lang == language.Unknown || int(lang) >= language.Count {
		return kinds
	}

	l := &lexer{grammar: &grammars[lang], wordBytes: wordByteTables[lang], src: src, kinds: kinds, stack: make([]frame, 1, 8)}
	if l.grammar.template != nil {
		l.stack = append(l.stack, frame{quote: l.grammar.template})
	}
	if HasPrefix(src, "#!") && !HasPrefix(src, "#![") { // "#![" starts an attribute of Rust
		l.readLineComment()
	}

	for l.pos < len(src) {
		if l.topFrame().quote != nil {
			l.readText()
		} else {
			l.readCode()
		}
	}
	return kinds
}

// topFrame returns the innermost level of nesting.
func (l *lexer) topFrame() *frame { return &l.stack[len(l.stack)-1] }

// popFrame leaves the innermost level of nesting.
func (l *lexer) popFrame() {
	l.stack = l.stack[:len(l.stack)-1]
	if l.lineTextLevel == len(l.stack) {
		l.lineTextLevel = 0
	}
}

// hasPrefix reports whether the remaining source starts with s.
func (l *lexer) hasPrefix(s string) bool { return HasPrefix(l.src[l.pos:], s) }

// peek returns the byte n positions ahead, 0 beyond the end.
func (l *lexer) peek(n int) byte {
	if i := l.pos + n; i >= 0 && i < len(l.src) {
		return l.src[i]
	}
	return 0
}

// advance assigns a kind to the next n bytes and moves past them.
func (l *lexer) advance(n int, k Kind) {
	end := min(l.pos+n, len(l.src))
	for ; l.pos < end; l.pos++ {
		l.kinds[l.pos] = k
	}
}

// readCode reads one word, space, literal or operator of code.
func (l *lexer) readCode() {
	switch c := l.src[l.pos]; {
	case c == '\n':
		l.readNewline()
	case IsSpace(c):
		l.pos++
	case l.wordBytes[c]:
		l.readWord()
	case l.readComment():
	case l.grammar.readLiteral != nil && l.grammar.readLiteral(l):
	case l.readQuote():
	default:
		l.readOperator(c)
	}
}

// readNewline reads the end of a line of code. Code within a single-line string ends here, and
// pending here-documents start.
func (l *lexer) readNewline() {
	l.pos++
	if len(l.pendingHeredocs) > 0 { // the next line is not code, even if it looks like code
		l.kinds[l.pos-1] = Text
	}
	if l.lineTextLevel > 0 {
		l.brackets = l.stack[l.lineTextLevel].outerBrackets
		l.stack = l.stack[:l.lineTextLevel]
		l.lineTextLevel = 0
	}
	for i := len(l.pendingHeredocs) - 1; i >= 0; i-- { // the first one must be on top of the stack
		l.stack = append(l.stack, frame{quote: l.pendingHeredocs[i]})
	}
	l.pendingHeredocs = l.pendingHeredocs[:0]
}

// readWord reads a word and the literal that it is the prefix of, if any.
func (l *lexer) readWord() {
	start := l.pos
	for l.pos < len(l.src) && l.wordBytes[l.src[l.pos]] {
		l.pos++
		if l.grammar.quotesGroupDigits && l.isDigitSeparator(start) {
			l.pos++
		}
	}
	l.lastWord = l.src[start:l.pos]
	l.lastByte = l.src[l.pos-1]
	if l.grammar.readAfterWord != nil {
		l.grammar.readAfterWord(l, start)
	}
}

// isDigitSeparator reports whether the next quote belongs to a number, as in 1'000'000 of C++.
func (l *lexer) isDigitSeparator(start int) bool {
	return l.peek(0) == '\'' && IsDigit(l.src[start]) && isAlnum(l.peek(1))
}

// readComment reads the comment that starts here. It returns false if none does.
func (l *lexer) readComment() bool {
	for _, b := range l.grammar.blockComments {
		if l.hasPrefix(b.open) {
			l.readBlockComment(b)
			return true
		}
	}
	for _, mark := range l.grammar.lineComments {
		if l.hasPrefix(mark) && (l.grammar.isNotComment == nil || !l.grammar.isNotComment(l)) {
			l.readLineComment()
			return true
		}
	}
	return false
}

// readLineComment reads a comment up to the end of its line.
func (l *lexer) readLineComment() {
	end := l.lineEnd(l.pos)
	if l.grammar.joinsLines { // in C, a backslash at the end joins the next line to this one
		for end < len(l.src) && l.src[end-1] == '\\' {
			end = l.lineEnd(end + 1)
		}
	}
	if l.grammar.template != nil { // a comment of PHP also ends before the closing tag
		if i := bytes.Index(l.src[l.pos:end], []byte("?>")); i >= 0 {
			end = l.pos + i
		}
	}
	l.advance(end-l.pos, Comment)
}

// lineEnd returns the offset of the next newline after from, or of the end of the source.
func (l *lexer) lineEnd(from int) int {
	if i := bytes.IndexByte(l.src[from:], '\n'); i >= 0 {
		return from + i
	}
	return len(l.src)
}

// readBlockComment reads a comment up to its end mark, or up to the end of the source if it is
// not closed.
func (l *lexer) readBlockComment(b blockComment) {
	depth := 0
	for l.pos < len(l.src) {
		switch {
		case l.hasPrefix(b.close):
			l.advance(len(b.close), Comment)
			depth--
		case l.hasPrefix(b.open) && (b.nested || depth == 0):
			l.advance(len(b.open), Comment)
			depth++
		default:
			l.advance(1, Comment)
		}
		if depth == 0 {
			return
		}
	}
}

// readQuote opens the text whose quote starts here. It returns false if none does.
func (l *lexer) readQuote() bool {
	for _, q := range l.grammar.quotes {
		if l.hasPrefix(q.open) {
			l.openText(q, len(q.open))
			return true
		}
	}
	return false
}

// openText moves past the n bytes that open a text, and enters the text.
func (l *lexer) openText(q *quote, n int) {
	if q.kind == Comment {
		l.advance(n, Comment)
	} else {
		l.advance(n, code)
	}
	if q.singleLineInterpolation && l.lineTextLevel == 0 {
		l.lineTextLevel = len(l.stack)
	}
	l.stack = append(l.stack, frame{quote: q, outerBrackets: l.brackets})
}

// readOperator reads one byte of code and counts brackets. The bracket that closes
// interpolated code returns to the text around it.
func (l *lexer) readOperator(c byte) {
	l.pos++
	l.lastByte, l.lastWord = c, nil
	f := l.topFrame()
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
		l.popFrame()
	case c == f.closer:
		f.depth--
	}
}

// readText reads until the text ends or interpolated code starts.
func (l *lexer) readText() {
	f := l.topFrame()
	as := f.bodyKind()
	for l.pos < len(l.src) {
		c := l.src[l.pos]
		switch {
		case l.atTextEnd(f.quote, c):
			if l.closeText(f, as) {
				return
			}
		case f.interpolation != "" && c == f.interpolation[0] && l.hasPrefix(f.interpolation):
			if l.interpolate(f.quote) {
				return
			}
		case f.escape && c == '\\':
			l.advance(2, as)
		case f.nestedOpen != 0 && c == f.nestedOpen:
			f.depth++
			l.advance(1, as)
		default:
			l.kinds[l.pos] = as
			l.pos++
		}
	}
}

// bodyKind returns the kind of the bytes between the quotes.
func (q *quote) bodyKind() Kind {
	if q.kind == Comment {
		return Comment
	}
	return Text
}

// atTextEnd reports whether the text may end at byte c.
func (l *lexer) atTextEnd(q *quote, c byte) bool {
	switch {
	case q.heredoc:
		return l.atHeredocEnd(q.close)
	case c == '\n':
		return q.singleLine
	}
	return c == q.close[0] && l.hasPrefix(q.close)
}

// closeText reads a possible end of a text. It returns false if the text continues, for example
// because the quote is doubled.
func (l *lexer) closeText(f *frame, as Kind) bool {
	n := len(f.close)
	switch {
	case f.depth > 0:
		f.depth--
		l.advance(n, as)
		return false
	case f.doubledQuote && HasPrefix(l.src[l.pos+n:], f.close):
		l.advance(2*n, as)
		return false
	case f.greedy && l.peek(n) == f.close[0]:
		l.advance(1, as)
		return false
	case f.singleLine && l.hasPrefix("\n"): // readNewline reads the newline
	case f.kind == Comment:
		l.advance(n, Comment)
	default:
		l.advance(n, code)
	}
	l.leaveText()
	return true
}

// leaveText leaves a text. Unless it is a comment, the code after it follows a value.
func (l *lexer) leaveText() {
	as := l.topFrame().kind
	l.popFrame()
	if as != Comment {
		l.lastByte, l.lastWord = '"', nil
	}
}

// interpolate enters the code that is nested in a text. It returns false for a doubled brace,
// which represents the brace itself.
func (l *lexer) interpolate(q *quote) bool {
	if q.interpolation == "{" && l.peek(1) == '{' {
		l.advance(2, Text)
		return false
	}
	l.advance(len(q.interpolation), code)
	inner := frame{opener: '{', closer: '}', depth: max(0, strings.Count(q.interpolation, "{")-1)}
	if strings.HasSuffix(q.interpolation, "(") {
		inner.opener, inner.closer = '(', ')'
	}
	l.stack = append(l.stack, inner)
	l.brackets++
	l.lastByte, l.lastWord = inner.opener, nil
	return true
}

// followsValue reports whether the code so far ends in a value. After a value, a slash divides
// and a percent sign is a remainder; otherwise they open a literal.
func (l *lexer) followsValue() bool {
	switch l.lastByte {
	case ')', ']', '}', '"', '\'', '`':
		return true
	}
	return l.lastByte != 0 && l.grammar.isWord(l.lastByte) && !l.grammar.valueWords[string(l.lastWord)]
}

// isLineStart reports whether only spaces precede from on its line.
func (l *lexer) isLineStart(from int) bool {
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

// isLetter reports whether c is an ASCII letter.
func isLetter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }

// isAlnum reports whether c is an ASCII letter or digit.
func isAlnum(c byte) bool { return isLetter(c) || IsDigit(c) }
