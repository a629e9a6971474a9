package configtext

import (
	"strings"
)

// atom is a piece of a text with braces: a string, a word, or one character of
// punctuation.
type atom struct {
	text   string
	line   int
	quoted bool
	word   bool
}

// atoms splits a text into pieces, without comments.
func atoms(text string) []atom {
	var out []atom
	at := 1
	for len(text) > 0 {
		n := passed(text)
		if n == 0 {
			var a atom
			a, n = atomOf(text, out)
			a.line = at
			out = append(out, a)
		}
		at += strings.Count(text[:n], "\n")
		text = text[n:]
	}
	return out
}

// passed returns the length of leading white space and comments.
func passed(text string) int {
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

// atomOf reads the piece that a text begins with, and its length.
func atomOf(text string, before []atom) (atom, int) {
	c := text[0]
	switch {
	case c == '"' || c == '\'' || c == '`' || c == '/' && startsValue(before):
		body, n := quotedAt(text)
		return atom{text: body, quoted: true}, n
	case wordByte(c):
		n := 1
		for n < len(text) && wordByte(text[n]) {
			n++
		}
		return atom{text: text[:n], word: true}, n
	}
	return atom{text: text[:1]}, 1
}

func lineLength(s string) int {
	if n := strings.IndexByte(s, '\n'); n >= 0 {
		return n
	}
	return len(s)
}

// startsValue reports whether a value is next, so that a slash opens a regular
// expression.
func startsValue(before []atom) bool {
	if len(before) == 0 {
		return false
	}
	last := before[len(before)-1]
	return !last.quoted && !last.word && strings.ContainsAny(last.text, ":,[(=")
}

// quotedAt returns the body of the string that s begins with, and its length
// with the quotes. A string that does not end on its line ends with it, unless
// its quotes are three or backquotes.
func quotedAt(s string) (body string, length int) {
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

func wordByte(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c >= 0x80 || strings.IndexByte("_$.-@%*", c) >= 0
}

// braces reads what is written with braces and brackets: JSON with comments,
// the objects of JavaScript, the blocks of Gradle.
// Code in between is skipped.
func (r *Reading) braces(text string) {
	b := bracesReader{Reading: r, list: atoms(text), stack: []nest{{}}}
	for b.pos < len(b.list) {
		b.step()
	}
}

type bracesReader struct {
	*Reading
	list  []atom
	pos   int
	stack []nest
}

// nest is an open brace, bracket or parenthesis.
type nest struct {
	key     string
	list    bool
	pending string // the name whose value comes next
	ternary int    // how many ? are open
	call    string // what is called with the arguments within
	last    string // the last of those
}

func (b *bracesReader) top() *nest { return &b.stack[len(b.stack)-1] }

// at returns the text of punctuation ahead, "" for something else.
func (b *bracesReader) at(n int) string {
	if i := b.pos + n; i < len(b.list) && !b.list[i].quoted && !b.list[i].word {
		return b.list[i].text
	}
	return ""
}

func (b *bracesReader) step() {
	a, t := b.list[b.pos], b.top()
	if a.quoted || a.word {
		b.value(a, t)
		return
	}
	b.pos++
	switch a.text {
	case "{", "[", "(":
		key := t.key
		switch {
		case t.pending != "":
			key = under(t.key, t.pending)
		case t.list && a.text != "(":
			key += "[]"
		}
		open := nest{key: key, list: a.text != "{"}
		if a.text == "(" {
			open.call = t.pending
		}
		t.pending = ""
		b.stack = append(b.stack, open)
	case "}", "]", ")":
		b.close()
	case "?":
		t.ternary++
	case ":":
		t.ternary = max(0, t.ternary-1)
	case ",", ";":
		t.pending, t.ternary = "", 0
	}
}

// close ends what is open. A block after the arguments of a call is named by
// the call and its last argument: named("test") { … }.
func (b *bracesReader) close() {
	if len(b.stack) == 1 {
		return
	}
	closed := *b.top()
	b.stack = b.stack[:len(b.stack)-1]
	if t := b.top(); b.at(0) == "{" && closed.call != "" && t.pending == "" && b.list[b.pos-1].text == ")" {
		t.pending = strings.Trim(closed.call+"."+closed.last, ".")
	}
}

// value takes a string or a word: a name, when an assignment, a block or a
// second word follows, else a value.
func (b *bracesReader) value(a atom, t *nest) {
	b.pos++
	if n := b.assigned(a, t); n > 0 {
		b.pos += n
		t.pending = a.text
		return
	}
	next := b.at(0)
	follows := a.word && b.pos < len(b.list) && b.list[b.pos].line == a.line
	switch {
	case follows && next == "<" && b.at(2) == ">": // withType<Test>
		t.pending = a.text + "." + b.list[b.pos+1].text
		b.pos += 3
	case follows && (next == "{" || next == "("):
		b.call(a, t)
	case follows && next == "" && t.pending == "" && !t.list:
		t.pending = a.text // "exclude '**/a'"
	default:
		b.take(a, t)
	}
}

// assigned returns how long the sign of an assignment is that comes next: in PHP
// and Ruby it is =>, after quotes.
func (b *bracesReader) assigned(a atom, t *nest) int {
	next, then := b.at(0), b.at(1)
	switch {
	case next == ":" && t.ternary == 0, next == "=" && then != "=" && then != ">":
		return 1
	case next == "=" && then == ">" && a.quoted:
		return 2
	}
	return 0
}

// call takes the name of a block or of what is called with arguments.
func (b *bracesReader) call(a atom, t *nest) {
	if t.pending == "" || b.at(0) == "{" {
		t.pending = a.text
	}
}

func (b *bracesReader) take(a atom, t *nest) {
	switch {
	case t.pending != "":
		b.set(under(t.key, t.pending), a.text, a.line)
		if next := b.at(0); next != "?" && next != "|" && next != ":" {
			t.pending = ""
		}
	case t.list:
		t.last = a.text
		if t.key != "" {
			b.set(t.key+"[]", a.text, a.line)
		}
	}
}
