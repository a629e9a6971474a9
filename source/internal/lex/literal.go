package lex

import (
	"bytes"
	"strings"
)

// The hooks of the grammars: literals whose opening and closing depend on
// what is around them. Each takes a literal at the current place and
// returns true, or leaves everything as it is.

// scriptSpecial takes a regular expression of JavaScript, as opposed to a
// division by what precedes it.
func scriptSpecial(l *lexer) bool {
	if l.peek(0) != '/' || l.last == '<' || l.peek(1) == '>' { // the tags of JSX
		return false
	}
	if l.afterValue() && (l.last != '}' || !l.lineStart(l.pos)) {
		return false
	}
	return l.regex()
}

// regexTries is how often the end of a regular expression is looked for in
// vain on one line, which in a minified file may be long.
const regexTries = 50

// regex takes a regular expression between slashes, if it ends on this line.
func (l *lexer) regex() bool {
	if l.pos < l.failed.line && l.failed.times >= regexTries {
		return false
	}
	class := false
	for i := l.pos + 1; i < len(l.src); i++ {
		switch c := l.src[i]; {
		case c == '\n':
			return l.noRegex(i)
		case c == '\\':
			i++
		case c == '[':
			class = true
		case c == ']':
			class = false
		case c == '/' && !class:
			l.take(1, code)
			l.take(i-l.pos, Text)
			l.take(1, code)
			l.last, l.word = '"', nil
			return true
		}
	}
	return l.noRegex(len(l.src))
}

// noRegex remembers that the rest of a line was searched in vain.
func (l *lexer) noRegex(line int) bool {
	if l.failed.line != line {
		l.failed.line, l.failed.times = line, 0
	}
	l.failed.times++
	return false
}

// pythonSpecial takes a string without a prefix.
func pythonSpecial(l *lexer) bool {
	if c := l.peek(0); c != '"' && c != '\'' {
		return false
	}
	l.pythonString(l.pos, "")
	return true
}

// pythonWord takes a string after its prefix: f"", rb"".
func pythonWord(l *lexer, start int) {
	if c := l.peek(0); c != '"' && c != '\'' || len(l.word) > 2 {
		return
	}
	prefix := strings.ToLower(string(l.word))
	if strings.Trim(prefix, "rbuft") == "" {
		l.pythonString(start, prefix)
	}
}

// pythonString starts a string. One that is a statement by itself documents
// what it is in, and counts as a comment.
func (l *lexer) pythonString(start int, prefix string) {
	q := &quote{close: `'`, escape: true, line: true}
	long := `'''`
	if l.peek(0) == '"' {
		q.close, long = `"`, `"""`
	}
	if l.at(long) {
		q.close, q.line = long, false
	}
	if strings.ContainsAny(prefix, "ft") {
		q.interp, q.interpLine = "{", q.line
	} else if l.brackets == 0 && len(l.stack) == 1 && l.lineStart(start) && l.last != '\\' {
		q.as = Comment
		for i := start; i < l.pos; i++ {
			l.kinds[i] = Comment
		}
	}
	l.begin(q, len(q.close))
}

// runeSpecial takes a character literal, as opposed to a lifetime of Rust or a
// symbol of Scala by its closing quote.
func runeSpecial(l *lexer) bool {
	if l.peek(0) != '\'' {
		return false
	}
	if l.peek(1) == '\\' {
		l.begin(squote, 1)
		return true
	}
	for n := 2; n <= 5; n++ { // one character is up to four bytes
		if l.peek(n) == '\'' && (n == 2 || l.peek(1) >= 0x80) {
			l.begin(squote, 1)
			return true
		}
	}
	l.take(1, code)
	l.last, l.word = ',', nil
	return true
}

// rustWord takes r"", r#""# and their byte and C forms.
func rustWord(l *lexer, _ int) {
	switch string(l.word) {
	case "r", "br", "cr":
	default:
		return
	}
	n := 0
	for l.peek(n) == '#' {
		n++
	}
	if l.peek(n) == '"' {
		l.begin(&quote{close: `"` + strings.Repeat("#", n)}, n+1)
	}
}

// cppWord takes R"x(…)x".
func cppWord(l *lexer, _ int) {
	switch string(l.word) {
	case "R", "LR", "uR", "UR", "u8R":
	default:
		return
	}
	const maxDelimiter = 16 // by the standard of C++
	if l.peek(0) != '"' {
		return
	}
	for n := 1; n <= maxDelimiter+1; n++ {
		switch l.peek(n) {
		case '(':
			delim := string(l.src[l.pos+1 : l.pos+n])
			l.begin(&quote{close: ")" + delim + `"`}, n+1)
			return
		case ' ', '\n', '\\', ')', '"', 0:
			return
		}
	}
}

// csharpSpecial takes verbatim (@), interpolated ($) and raw (""") strings.
func csharpSpecial(l *lexer) bool {
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
	case quotes == 0: // @name
		l.take(n, code)
	case quotes >= 3 && !verbatim:
		l.begin(&quote{close: strings.Repeat(`"`, quotes), interp: interp}, n+quotes)
	case verbatim:
		l.begin(&quote{close: `"`, double: true, interp: interp}, n+1)
	default:
		l.begin(&quote{close: `"`, escape: true, line: true, interp: interp}, n+1)
	}
	return true
}

// swiftSpecial takes #"…"#, in which escapes carry the hashes, too.
func swiftSpecial(l *lexer) bool {
	n := 0
	for l.peek(n) == '#' {
		n++
	}
	if n == 0 {
		return false
	}
	if l.peek(n) != '"' { // #if
		l.take(n, code)
		return true
	}
	hashes := strings.Repeat("#", n)
	q := &quote{close: `"` + hashes, line: true, interp: `\` + hashes + `(`}
	opening := n + 1
	if HasPrefix(l.src[l.pos+n:], `"""`) {
		q.close, q.line, opening = `"""`+hashes, false, n+3
	}
	l.begin(q, opening)
	return true
}

// scalaWord takes s"…" and other interpolated strings.
func scalaWord(l *lexer, _ int) {
	if l.peek(0) != '"' {
		return
	}
	if l.at(`"""`) {
		l.begin(&quote{close: `"""`, greedy: true, interp: "${"}, 3)
		return
	}
	l.begin(&quote{close: `"`, escape: true, line: true, interp: "${"}, 1)
}

// elixirSpecial takes sigils such as ~r/…/ and characters such as ?".
func elixirSpecial(l *lexer) bool {
	switch l.peek(0) {
	case '~':
		return l.sigil()
	case '?':
		return l.character()
	}
	return false
}

// character takes ?x, where x could otherwise open something.
func (l *lexer) character() bool {
	next := l.peek(1)
	if l.pos > 0 && l.g.isWord(l.src[l.pos-1]) || next == 0 || IsSpace(next) {
		return false
	}
	n := 1
	if next == '\\' {
		n = 2
	} else if isAlnum(l.peek(2)) && isAlnum(next) {
		return false // a ternary without blanks
	}
	l.take(1, code)
	l.take(n, Text)
	l.last, l.word = '"', nil
	return true
}

// sigil takes ~s(…), ~S"""…""" and their like. Those with an upper-case
// letter know no escapes.
func (l *lexer) sigil() bool {
	n := 1
	for isLetter(l.peek(n)) {
		n++
	}
	if n == 1 || n > 2 && l.peek(1) >= 'a' {
		return false
	}
	q := &quote{}
	if l.peek(1) >= 'a' {
		q.escape, q.interp = true, "#{"
	}
	for _, triple := range []string{`"""`, `'''`} {
		if HasPrefix(l.src[l.pos+n:], triple) {
			q.close = triple
			l.begin(q, n+3)
			return true
		}
	}
	if bytes.IndexByte([]byte(`/|"'([{<`), l.peek(n)) < 0 {
		return false
	}
	return l.delimited(q, n)
}

// delimited starts a text whose delimiter is n bytes ahead; a bracket is
// closed by its partner and may nest.
func (l *lexer) delimited(q *quote, n int) bool {
	open := l.peek(n)
	q.close = string(open)
	for _, pair := range []string{"()", "[]", "{}", "<>"} {
		if open == pair[0] {
			q.close, q.nest = pair[1:], open
		}
	}
	l.begin(q, n+1)
	return true
}

// phpAttribute keeps the attributes of PHP, #[Test], from being comments.
func phpAttribute(l *lexer) bool { return l.at("#[") }

// phpSpecial takes the closing tag, after which text follows, and heredocs.
func phpSpecial(l *lexer) bool {
	if l.at("?>") {
		l.begin(l.g.outside, 2)
		return true
	}
	return l.at("<<<") && l.heredocTag(3, quote{interp: "{$", escape: true})
}
