package lex

import (
	"bytes"
	"strings"
)

// This file contains the functions of the grammars that read literals whose opening or closing
// depends on the code around them. Each reads the literal at the current position and returns
// true, or changes nothing and returns false.

// readScriptRegex reads a regular expression of JavaScript. What precedes the slash
// distinguishes it from a division.
func readScriptRegex(l *lexer) bool {
	if l.peek(0) != '/' || l.lastByte == '<' || l.peek(1) == '>' { // </ and /> belong to tags of JSX
		return false
	}
	if l.followsValue() && (l.lastByte != '}' || !l.isLineStart(l.pos)) {
		return false
	}
	return l.readRegex()
}

// maxFailedRegexes limits how often the end of a regular expression is searched in vain on one
// line, which can be long in a minified file.
const maxFailedRegexes = 50

// readRegex reads a regular expression between slashes. It returns false if the expression does
// not end on this line.
func (l *lexer) readRegex() bool {
	if l.pos < l.failedRegex.line && l.failedRegex.times >= maxFailedRegexes {
		return false
	}

	// A slash within a character class, as in /[/]/, does not end the expression.
	class := false
	for i := l.pos + 1; i < len(l.src); i++ {
		switch c := l.src[i]; {
		case c == '\n':
			return l.recordFailedRegex(i)
		case c == '\\':
			i++
		case c == '[':
			class = true
		case c == ']':
			class = false
		case c == '/' && !class:
			l.advance(1, code)
			l.advance(i-l.pos, Text)
			l.advance(1, code)
			l.lastByte, l.lastWord = '"', nil
			return true
		}
	}
	return l.recordFailedRegex(len(l.src))
}

// recordFailedRegex counts a failed search on the line that ends at byte offset line. It returns
// false.
func (l *lexer) recordFailedRegex(line int) bool {
	if l.failedRegex.line != line {
		l.failedRegex.line, l.failedRegex.times = line, 0
	}
	l.failedRegex.times++
	return false
}

// readPythonString opens a string without a prefix.
func readPythonString(l *lexer) bool {
	if c := l.peek(0); c != '"' && c != '\'' {
		return false
	}
	l.openPythonString(l.pos, "")
	return true
}

// readPrefixedPythonString opens a string after its prefix: f"", rb"".
func readPrefixedPythonString(l *lexer, start int) {
	if c := l.peek(0); c != '"' && c != '\'' || len(l.lastWord) > 2 {
		return
	}
	prefix := strings.ToLower(string(l.lastWord))
	if strings.Trim(prefix, "rbuft") == "" {
		l.openPythonString(start, prefix)
	}
}

// openPythonString opens a string. A string that is a statement is documentation, and counts
// as a comment.
func (l *lexer) openPythonString(start int, prefix string) {
	q := &quote{close: `'`, escape: true, singleLine: true}
	long := `'''`
	if l.peek(0) == '"' {
		q.close, long = `"`, `"""`
	}
	if l.hasPrefix(long) {
		q.close, q.singleLine = long, false
	}

	if strings.ContainsAny(prefix, "ft") {
		q.interpolation, q.singleLineInterpolation = "{", q.singleLine
	} else if l.brackets == 0 && len(l.stack) == 1 && l.isLineStart(start) && l.lastByte != '\\' {
		q.kind = Comment
		for i := start; i < l.pos; i++ {
			l.kinds[i] = Comment
		}
	}
	l.openText(q, len(q.close))
}

// readRune reads a character literal. Its closing quote distinguishes it from a lifetime of
// Rust and a symbol of Scala.
func readRune(l *lexer) bool {
	if l.peek(0) != '\'' {
		return false
	}
	if l.peek(1) == '\\' {
		l.openText(singleQuote, 1)
		return true
	}
	for n := 2; n <= 5; n++ { // one character has up to four bytes
		if l.peek(n) == '\'' && (n == 2 || l.peek(1) >= 0x80) {
			l.openText(singleQuote, 1)
			return true
		}
	}
	l.advance(1, code)
	l.lastByte, l.lastWord = ',', nil
	return true
}

// readRustRawString opens r"", r#""# and their byte and C forms.
func readRustRawString(l *lexer, _ int) {
	switch string(l.lastWord) {
	case "r", "br", "cr":
	default:
		return
	}
	n := 0
	for l.peek(n) == '#' {
		n++
	}
	if l.peek(n) == '"' {
		l.openText(&quote{close: `"` + strings.Repeat("#", n)}, n+1)
	}
}

// readCppRawString opens R"x(…)x".
func readCppRawString(l *lexer, _ int) {
	switch string(l.lastWord) {
	case "R", "LR", "uR", "UR", "u8R":
	default:
		return
	}
	const maxDelimiter = 16 // the limit of the C++ standard
	if l.peek(0) != '"' {
		return
	}
	for n := 1; n <= maxDelimiter+1; n++ {
		switch l.peek(n) {
		case '(':
			delim := string(l.src[l.pos+1 : l.pos+n])
			l.openText(&quote{close: ")" + delim + `"`}, n+1)
			return
		case ' ', '\n', '\\', ')', '"', 0:
			return
		}
	}
}

// readCSharpString opens strings with a prefix and raw strings: verbatim (@"…"), interpolated
// ($"…") and raw ("""…"""). It returns false for others, and after $ or @ also reads a name such
// as @class.
func readCSharpString(l *lexer) bool {
	n, dollars, verbatim := 0, 0, false
	for ; l.peek(n) == '$' || l.peek(n) == '@'; n++ {
		if l.peek(n) == '$' {
			dollars++
		} else {
			verbatim = true
		}
	}

	quotes := 0
	for l.peek(n+quotes) == '"' {
		quotes++
	}

	interp := strings.Repeat("{", dollars)
	switch {
	case n == 0 && quotes < 3:
		return false
	case quotes == 0: // a name such as @class
		l.advance(n, code)
	case quotes >= 3 && !verbatim:
		l.openText(&quote{close: strings.Repeat(`"`, quotes), interpolation: interp}, n+quotes)
	case verbatim:
		l.openText(&quote{close: `"`, doubledQuote: true, interpolation: interp}, n+1)
	default:
		l.openText(&quote{close: `"`, escape: true, singleLine: true, interpolation: interp}, n+1)
	}
	return true
}

// readSwiftString opens #"…"#, whose escapes contain the hashes too.
func readSwiftString(l *lexer) bool {
	n := 0
	for l.peek(n) == '#' {
		n++
	}
	if n == 0 {
		return false
	}
	if l.peek(n) != '"' { // a directive such as #if
		l.advance(n, code)
		return true
	}
	hashes := strings.Repeat("#", n)
	q := &quote{close: `"` + hashes, singleLine: true, interpolation: `\` + hashes + `(`}
	opening := n + 1
	if HasPrefix(l.src[l.pos+n:], `"""`) {
		q.close, q.singleLine, opening = `"""`+hashes, false, n+3
	}
	l.openText(q, opening)
	return true
}

// readScalaString opens s"…" and other interpolated strings.
func readScalaString(l *lexer, _ int) {
	if l.peek(0) != '"' {
		return
	}
	if l.hasPrefix(`"""`) {
		l.openText(&quote{close: `"""`, greedy: true, interpolation: "${"}, 3)
		return
	}
	l.openText(&quote{close: `"`, escape: true, singleLine: true, interpolation: "${"}, 1)
}

// readElixirLiteral reads sigils such as ~r/…/ and characters such as ?".
func readElixirLiteral(l *lexer) bool {
	switch l.peek(0) {
	case '~':
		return l.readSigil()
	case '?':
		return l.readCharacter()
	}
	return false
}

// readCharacter reads ?x, since x could otherwise open a literal.
func (l *lexer) readCharacter() bool {
	next := l.peek(1)
	if l.pos > 0 && l.grammar.isWord(l.src[l.pos-1]) || next == 0 || IsSpace(next) {
		return false
	}
	n := 1
	if next == '\\' {
		n = 2
	} else if isAlnum(l.peek(2)) && isAlnum(next) {
		return false // a ternary operator without spaces
	}
	l.advance(1, code)
	l.advance(n, Text)
	l.lastByte, l.lastWord = '"', nil
	return true
}

// readSigil opens ~s(…), ~S"""…""" and other sigils. Those with an upper-case letter have no
// escapes.
func (l *lexer) readSigil() bool {
	n := 1
	for isLetter(l.peek(n)) {
		n++
	}
	if n == 1 || n > 2 && l.peek(1) >= 'a' {
		return false
	}
	q := &quote{}
	if l.peek(1) >= 'a' {
		q.escape, q.interpolation = true, "#{"
	}
	for _, triple := range []string{`"""`, `'''`} {
		if HasPrefix(l.src[l.pos+n:], triple) {
			q.close = triple
			l.openText(q, n+3)
			return true
		}
	}
	if bytes.IndexByte([]byte(`/|"'([{<`), l.peek(n)) < 0 {
		return false
	}
	return l.openDelimited(q, n)
}

// openDelimited opens a text whose delimiter is n bytes ahead. A bracket is closed by its
// partner and may nest.
func (l *lexer) openDelimited(q *quote, n int) bool {
	open := l.peek(n)
	q.close = string(open)
	for _, pair := range []string{"()", "[]", "{}", "<>"} {
		if open == pair[0] {
			q.close, q.nestedOpen = pair[1:], open
		}
	}
	l.openText(q, n+1)
	return true
}

// isPHPAttribute reports whether an attribute such as #[Test] starts here, which is no
// comment.
func isPHPAttribute(l *lexer) bool { return l.hasPrefix("#[") }

// readPHPLiteral reads the closing tag, after which template text follows, and the start of
// heredocs.
func readPHPLiteral(l *lexer) bool {
	if l.hasPrefix("?>") {
		l.openText(l.grammar.template, 2)
		return true
	}
	return l.hasPrefix("<<<") && l.openHeredoc(3, quote{interpolation: "{$", escape: true})
}
