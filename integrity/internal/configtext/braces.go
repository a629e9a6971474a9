package configtext

import (
	"strings"
)

// token is a piece of a text with braces: a string, a word, or one character of punctuation.
type token struct {
	text   string // a string is without quotes
	line   int
	quoted bool // it is a string or a regular expression
	word   bool // it is a word or a number
}

// tokenize splits a text into pieces, without white space and comments.
func tokenize(text string) []token {
	var out []token
	line := 1
	for len(text) > 0 {
		n := skippedLength(text)
		if n == 0 {
			var t token
			t, n = readToken(text, out)
			t.line = line
			out = append(out, t)
		}
		line += strings.Count(text[:n], "\n")
		text = text[n:]
	}
	return out
}

// skippedLength returns the length in bytes of the white space character or the comment that a text
// begins with, 0 if there is none.
func skippedLength(text string) int {
	switch {
	case text[0] <= ' ' || text[0] == 0x7f:
		return 1
	case text[0] == '#', strings.HasPrefix(text, "//"):
		return lineLength(text)
	case strings.HasPrefix(text, "/*"):
		if n := strings.Index(text[2:], "*/"); n >= 0 {
			return n + 4
		}
		return len(text)
	}
	return 0
}

// readToken returns the piece that a text begins with, and its length in bytes. before are the
// pieces read so far; they decide whether a slash begins a regular expression.
func readToken(text string, before []token) (token, int) {
	c := text[0]
	switch {
	case c == '"' || c == '\'' || c == '`' || c == '/' && startsValue(before):
		body, n := readQuoted(text)
		return token{text: body, quoted: true}, n
	case isWordByte(c):
		n := 1
		for n < len(text) && isWordByte(text[n]) {
			n++
		}
		return token{text: text[:n], word: true}, n
	}
	return token{text: text[:1]}, 1
}

// lineLength returns the length in bytes of the first line of a text.
func lineLength(s string) int {
	if n := strings.IndexByte(s, '\n'); n >= 0 {
		return n
	}
	return len(s)
}

// startsValue reports whether a value is expected after some pieces, so that a slash begins a
// regular expression.
func startsValue(before []token) bool {
	if len(before) == 0 {
		return false
	}
	last := before[len(before)-1]
	return !last.quoted && !last.word && strings.ContainsAny(last.text, ":,[(=")
}

// readQuoted returns the body of the string that s begins with, and its length
// with the quotes. A string that does not end on its line ends with it, unless
// its quotes are three or backquotes.
func readQuoted(s string) (body string, length int) {
	if q := s[:1]; len(s) >= 6 && (q == `"` || q == `'`) && s[1:3] == q+q {
		if n := strings.Index(s[3:], s[:3]); n >= 0 {
			return s[3 : 3+n], n + 6
		}
	}
	for i := 1; i < len(s); i++ {
		switch {
		case s[i] == '\\':
			i++
		case s[i] == s[0]:
			return strings.ReplaceAll(s[1:i], `\"`, `"`), i + 1
		case s[i] == '\n' && s[0] != '`':
			return s[1:i], i
		}
	}
	return s[1:], len(s)
}

// isWordByte reports whether a byte may be part of a word. Words include paths and versions, so
// signs such as "." and "@" are among these bytes.
func isWordByte(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c >= 0x80 || strings.IndexByte("_$.-@%*", c) >= 0
}

// readBraces reads what is written with braces and brackets: JSON with comments, the objects of
// JavaScript, the blocks of Gradle. Code in between is skipped.
func (r *Reading) readBraces(text string) {
	b := bracesReader{Reading: r, tokens: tokenize(text), stack: []openBracket{{}}}
	for b.pos < len(b.tokens) {
		b.step()
	}
}

// bracesReader turns the pieces of a text into settings. It keeps the open brackets on a stack; the
// first element of the stack is for the top level of the text.
type bracesReader struct {
	*Reading
	tokens []token
	pos    int // the index of the next token
	stack  []openBracket
}

// openBracket is an open brace, bracket or parenthesis, and what was read within it.
type openBracket struct {
	key           string // the key of what is within
	isList        bool   // it is a bracket or parenthesis, whose values have no names
	pending       string // the name whose value comes next, "" for none
	openTernaries int    // how many "?" wait for their ":"
	call          string // the name of the function whose arguments are within, "" for none
	lastArgument  string // the last value within
}

// top returns the innermost open bracket.
func (b *bracesReader) top() *openBracket { return &b.stack[len(b.stack)-1] }

// punctuation returns the text of the n-th token ahead if it is punctuation, otherwise "".
func (b *bracesReader) punctuation(n int) string {
	if i := b.pos + n; i < len(b.tokens) && !b.tokens[i].quoted && !b.tokens[i].word {
		return b.tokens[i].text
	}
	return ""
}

// step reads the next token: a value, or a sign that opens, closes or separates.
func (b *bracesReader) step() {
	a, t := b.tokens[b.pos], b.top()
	if a.quoted || a.word {
		b.readValue(a, t)
		return
	}

	b.pos++
	switch a.text {
	case "{", "[", "(":
		key := t.key
		switch {
		case t.pending != "":
			key = joinKey(t.key, t.pending)
		case t.isList && a.text != "(":
			key += "[]"
		}
		open := openBracket{key: key, isList: a.text != "{"}
		if a.text == "(" {
			open.call = t.pending
		}
		t.pending = ""
		b.stack = append(b.stack, open)
	case "}", "]", ")":
		b.close()
	case "?":
		t.openTernaries++
	case ":":
		t.openTernaries = max(0, t.openTernaries-1)
	case ",", ";":
		t.pending, t.openTernaries = "", 0
	}
}

// close removes the innermost bracket from the stack. If a block follows the arguments of a call,
// the block is named after the call and its last argument: "named.test" for named("test") { … }.
func (b *bracesReader) close() {
	if len(b.stack) == 1 {
		return
	}
	closed := *b.top()
	b.stack = b.stack[:len(b.stack)-1]
	if t := b.top(); b.punctuation(0) == "{" && closed.call != "" && t.pending == "" && b.tokens[b.pos-1].text == ")" {
		t.pending = strings.Trim(closed.call+"."+closed.lastArgument, ".")
	}
}

// readValue reads a string or a word. It is a name if an assignment, a block or a second word
// follows, otherwise a value.
func (b *bracesReader) readValue(a token, t *openBracket) {
	b.pos++
	if n := b.assignmentLength(a, t); n > 0 {
		b.pos += n
		t.pending = a.text
		return
	}
	next := b.punctuation(0)
	follows := a.word && b.pos < len(b.tokens) && b.tokens[b.pos].line == a.line
	switch {
	case follows && next == "<" && b.punctuation(2) == ">": // withType<Test>
		t.pending = a.text + "." + b.tokens[b.pos+1].text
		b.pos += 3
	case follows && (next == "{" || next == "("):
		b.call(a, t)
	case follows && next == "" && t.pending == "" && !t.isList:
		t.pending = a.text // "exclude '**/a'"
	default:
		b.addValue(a, t)
	}
}

// assignmentLength returns how many tokens ahead are the sign of an assignment, 0 if there is none.
// In PHP and Ruby, the sign is => after a string.
func (b *bracesReader) assignmentLength(a token, t *openBracket) int {
	next, then := b.punctuation(0), b.punctuation(1)
	switch {
	case next == ":" && t.openTernaries == 0, next == "=" && then != "=" && then != ">":
		return 1
	case next == "=" && then == ">" && a.quoted:
		return 2
	}
	return 0
}

// call takes a word as the name of the block or of the arguments that follow.
func (b *bracesReader) call(a token, t *openBracket) {
	if t.pending == "" || b.punctuation(0) == "{" {
		t.pending = a.text
	}
}

// addValue adds a value as the setting of the pending name, or as an element of the open list.
// Other values are dropped. The name stays pending before "?", "|" and ":", because another value
// follows.
func (b *bracesReader) addValue(a token, t *openBracket) {
	switch {
	case t.pending != "":
		b.addSetting(joinKey(t.key, t.pending), a.text, a.line)
		if next := b.punctuation(0); next != "?" && next != "|" && next != ":" {
			t.pending = ""
		}
	case t.isList:
		t.lastArgument = a.text
		if t.key != "" {
			b.addSetting(t.key+"[]", a.text, a.line)
		}
	}
}
