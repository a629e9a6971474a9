package lex

import (
	"bytes"
	"strings"
)

// heredocTag takes the tag of a here-document n bytes ahead, with or without
// quotes, and remembers that its body starts on the next line. A tag that no
// later line ends is not one, but a shift operator or the like.
func (l *lexer) heredocTag(n int, q quote) bool {
	for l.g.outside != nil && (l.peek(n) == ' ' || l.peek(n) == '\t') { // PHP allows blanks here
		n++
	}
	mark := l.peek(n)
	quoted := mark == '\'' || mark == '"' || mark == '`'
	if quoted {
		n++
	}
	start := l.pos + n
	for l.g.isWord(l.peek(n)) {
		n++
	}
	tag := string(l.src[start : l.pos+n])
	if tag == "" || IsDigit(tag[0]) || quoted && l.peek(n) != mark || l.lastLine(tag) <= l.pos {
		return false
	}
	if quoted {
		n++
	}
	if mark == '\'' {
		q.interp, q.escape = "", false
	}
	q.close, q.heredoc = tag, true
	l.pending = append(l.pending, &q)
	l.take(n, code)
	l.last, l.word = '"', nil
	return true
}

// lastLine returns the place of the last line that consists of a tag, -1 if
// there is none. All lines are looked at once, so that many operators that
// look like tags cost no more than one.
func (l *lexer) lastLine(tag string) int {
	if l.tags == nil {
		l.tags = map[string]int{}
		for start := 0; start < len(l.src); {
			end := l.lineEnd(start)
			if word := l.lineTag(l.src[start:end]); word != "" {
				l.tags[word] = start
			}
			start = end + 1
		}
	}
	if at, ok := l.tags[tag]; ok {
		return at
	}
	return -1
}

// lineTag returns the tag that a line may end a here-document with: its only
// word, except in PHP, where code may follow.
func (l *lexer) lineTag(line []byte) string {
	line = bytes.TrimSpace(line)
	n := 0
	for n < len(line) && l.g.isWord(line[n]) {
		n++
	}
	if n < len(line) && l.g.outside == nil {
		return ""
	}
	return string(line[:n])
}

// atTag reports whether a line that ends a here-document starts here, and
// steps over its indentation.
func (l *lexer) atTag(tag string) bool {
	if l.pos > 0 && l.src[l.pos-1] != '\n' {
		return false
	}
	end := l.lineEnd(l.pos)
	if l.lineTag(l.src[l.pos:end]) != tag {
		return false
	}
	for IsSpace(l.src[l.pos]) {
		l.pos++
	}
	return true
}

// shellHash keeps a hash within a word, ${#x} and $#, from being a comment.
func shellHash(l *lexer) bool {
	before := l.peek(-1)
	return before != 0 && !IsSpace(before) && strings.IndexByte(";&|()`", before) < 0
}

// shellSpecial takes an escaped byte, $'…' and here-documents.
func shellSpecial(l *lexer) bool {
	switch {
	case l.at(`\`):
		if l.peek(1) == '\n' {
			return false
		}
		l.take(1, code)
		l.take(1, Text)
		l.last, l.word = '"', nil
		return true
	case l.at(`$'`):
		l.begin(&quote{close: `'`, escape: true}, 2)
		return true
	case l.at("<<<"): // a here-string
		l.take(3, code)
		return true
	case l.at("<<-"):
		return l.shellHeredoc(3)
	case l.at("<<"):
		return l.shellHeredoc(2)
	}
	return false
}

func (l *lexer) shellHeredoc(n int) bool {
	for l.peek(n) == ' ' {
		n++
	}
	if l.peek(n) == '\\' { // <<\EOF is <<'EOF'
		return l.heredocTag(n+1, quote{})
	}
	return l.heredocTag(n, quote{escape: true, interp: "$("})
}

// rubySpecial takes characters, percent literals, regular expressions,
// here-documents and block comments.
func rubySpecial(l *lexer) bool {
	switch l.peek(0) {
	case '?':
		return !l.afterValue() && l.character()
	case '%':
		return l.percent()
	case '/':
		return l.rubyRegex()
	case '<':
		return l.rubyHeredoc()
	case '=':
		return l.rubyBlock()
	}
	return false
}

// commandArgument reports whether what is here is the first argument of a
// call without parentheses, as in "puts /x/": a blank before and none after.
func (l *lexer) commandArgument() bool {
	next := l.peek(1)
	return l.g.isWord(l.last) && IsSpace(l.peek(-1)) && !IsSpace(next) && next != '='
}

func (l *lexer) percent() bool {
	if l.afterValue() && !l.commandArgument() {
		return false
	}
	n := 1
	q := &quote{escape: true, interp: "#{"}
	if c := l.peek(1); isLetter(c) {
		if strings.IndexByte("qQwWiIrsx", c) < 0 {
			return false
		}
		if strings.IndexByte("qwis", c) >= 0 {
			q.interp = ""
		}
		n = 2
	}
	if c := l.peek(n); c == 0 || c == '=' || c >= 0x80 || IsSpace(c) || isAlnum(c) {
		return false
	}
	return l.delimited(q, n)
}

// rubyRegex takes a regular expression. One that does not end on its line is
// believed only where a division is impossible.
func (l *lexer) rubyRegex() bool {
	if l.afterValue() {
		return l.commandArgument() && l.regex()
	}
	if l.regex() {
		return true
	}
	l.begin(&quote{close: "/", escape: true, interp: "#{"}, 1)
	return true
}

func (l *lexer) rubyHeredoc() bool {
	q := quote{escape: true, interp: "#{"}
	switch {
	case l.at("<<~"), l.at("<<-"):
		return l.heredocTag(3, q)
	case l.at("<<"):
		c := l.peek(2)
		bare := c >= 'A' && c <= 'Z' || c == '_' || c == '"' || c == '\''
		return bare && (!l.afterValue() || l.commandArgument()) && l.heredocTag(2, q)
	}
	return false
}

// rubyBlock takes =begin … =end.
func (l *lexer) rubyBlock() bool {
	if !l.at("=begin") || l.peek(-1) != '\n' && l.pos > 0 {
		return false
	}
	for l.pos < len(l.src) {
		last := l.at("=end")
		l.take(l.lineEnd(l.pos)-l.pos, Comment)
		if last {
			break
		}
		l.take(1, Comment)
	}
	return true
}

// rubyWord takes everything after __END__, which is data.
func rubyWord(l *lexer, start int) {
	if string(l.word) != "__END__" || start > 0 && l.src[start-1] != '\n' || l.peek(0) > '\n' {
		return
	}
	l.take(len(l.src)-l.pos, Comment)
}
