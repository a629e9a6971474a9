package lex

import (
	"bytes"
	"strings"
)

// openHeredoc reads the tag of a here-document n bytes ahead, with or without quotes. The body
// starts on the next line. It returns false if no later line consists of the tag: then the
// operator is a shift or similar.
func (l *lexer) openHeredoc(n int, q quote) bool {
	for l.grammar.template != nil && (l.peek(n) == ' ' || l.peek(n) == '\t') { // PHP allows blanks here
		n++
	}
	mark := l.peek(n)
	quoted := mark == '\'' || mark == '"' || mark == '`'

	if quoted {
		n++
	}

	start := l.pos + n
	for l.grammar.isWord(l.peek(n)) {
		n++
	}
	tag := string(l.src[start : l.pos+n])
	if tag == "" || IsDigit(tag[0]) || quoted && l.peek(n) != mark || l.lastTagLine(tag) <= l.pos {
		return false
	}
	if quoted {
		n++
	}

	// Quotes around the tag make the body literal.
	if mark == '\'' {
		q.interpolation, q.escape = "", false
	}

	q.close, q.heredoc = tag, true
	l.pendingHeredocs = append(l.pendingHeredocs, &q)
	l.advance(n, code)
	l.lastByte, l.lastWord = '"', nil
	return true
}

// lastTagLine returns the byte offset of the last line that consists of the tag, or -1. It
// indexes all lines once, so that a file with many shift operators needs only one search.
func (l *lexer) lastTagLine(tag string) int {
	if l.tagLines == nil {
		l.tagLines = map[string]int{}
		for start := 0; start < len(l.src); {
			end := l.lineEnd(start)
			if word := l.closingTag(l.src[start:end]); word != "" {
				l.tagLines[word] = start
			}
			start = end + 1
		}
	}
	if at, ok := l.tagLines[tag]; ok {
		return at
	}
	return -1
}

// closingTag returns the tag by which a line may close a here-document: its only word or, in PHP,
// where code may follow, its first word. It returns "" if the line is no such line.
func (l *lexer) closingTag(line []byte) string {
	line = bytes.TrimSpace(line)
	n := 0
	for n < len(line) && l.grammar.isWord(line[n]) {
		n++
	}
	if n < len(line) && l.grammar.template == nil {
		return ""
	}
	return string(line[:n])
}

// atHeredocEnd reports whether the line that closes a here-document starts here, and skips its
// indentation.
func (l *lexer) atHeredocEnd(tag string) bool {
	if l.pos > 0 && l.src[l.pos-1] != '\n' {
		return false
	}
	end := l.lineEnd(l.pos)
	if l.closingTag(l.src[l.pos:end]) != tag {
		return false
	}
	for IsSpace(l.src[l.pos]) {
		l.pos++
	}
	return true
}

// isHashInShellWord reports whether the next byte, a hash, is part of a word, as in ${#x} and $#.
// It then starts no comment.
func isHashInShellWord(l *lexer) bool {
	before := l.peek(-1)
	return before != 0 && !IsSpace(before) && strings.IndexByte(";&|()`", before) < 0
}

// readShellLiteral reads an escaped byte, the opening of $'…', or the start of a here-document.
func readShellLiteral(l *lexer) bool {
	switch {
	case l.hasPrefix(`\`):
		if l.peek(1) == '\n' {
			return false
		}
		l.advance(1, code)
		l.advance(1, Text)
		l.lastByte, l.lastWord = '"', nil
		return true
	case l.hasPrefix(`$'`):
		l.openText(&quote{close: `'`, escape: true}, 2)
		return true
	case l.hasPrefix("<<<"): // a here-string, whose text is an ordinary word
		l.advance(3, code)
		return true
	case l.hasPrefix("<<-"):
		return l.openShellHeredoc(3)
	case l.hasPrefix("<<"):
		return l.openShellHeredoc(2)
	}
	return false
}

// openShellHeredoc reads the start of a here-document whose operator has n bytes.
func (l *lexer) openShellHeredoc(n int) bool {
	for l.peek(n) == ' ' {
		n++
	}
	if l.peek(n) == '\\' { // <<\EOF is <<'EOF'
		return l.openHeredoc(n+1, quote{})
	}
	return l.openHeredoc(n, quote{escape: true, interpolation: "$("})
}

// readRubyLiteral reads characters, percent literals, regular expressions, the start of
// here-documents and block comments.
func readRubyLiteral(l *lexer) bool {
	switch l.peek(0) {
	case '?':
		return !l.followsValue() && l.readCharacter()
	case '%':
		return l.readPercentLiteral()
	case '/':
		return l.readRubyRegex()
	case '<':
		return l.openRubyHeredoc()
	case '=':
		return l.readRubyBlockComment()
	}
	return false
}

// isCommandArgument reports whether the current byte starts the first argument of a call
// without parentheses, as in "puts /x/": a space precedes it and none follows.
func (l *lexer) isCommandArgument() bool {
	next := l.peek(1)
	return l.grammar.isWord(l.lastByte) && IsSpace(l.peek(-1)) && !IsSpace(next) && next != '='
}

// readPercentLiteral opens a percent literal, such as %w[a b]. It returns false if the percent
// sign is an operator.
func (l *lexer) readPercentLiteral() bool {
	if l.followsValue() && !l.isCommandArgument() {
		return false
	}

	n := 1
	q := &quote{escape: true, interpolation: "#{"}
	if c := l.peek(1); isLetter(c) {
		if strings.IndexByte("qQwWiIrsx", c) < 0 {
			return false
		}
		if strings.IndexByte("qwis", c) >= 0 {
			q.interpolation = ""
		}
		n = 2
	}

	// The delimiter must be punctuation.
	if c := l.peek(n); c == 0 || c == '=' || c >= 0x80 || IsSpace(c) || isAlnum(c) {
		return false
	}
	return l.openDelimited(q, n)
}

// readRubyRegex reads a regular expression. One that continues on the next line counts only
// where a division is impossible.
func (l *lexer) readRubyRegex() bool {
	if l.followsValue() {
		return l.isCommandArgument() && l.readRegex()
	}
	if l.readRegex() {
		return true
	}
	l.openText(&quote{close: "/", escape: true, interpolation: "#{"}, 1)
	return true
}

// openRubyHeredoc reads the start of a here-document: <<~TAG, <<-TAG or <<TAG.
func (l *lexer) openRubyHeredoc() bool {
	q := quote{escape: true, interpolation: "#{"}
	switch {
	case l.hasPrefix("<<~"), l.hasPrefix("<<-"):
		return l.openHeredoc(3, q)
	case l.hasPrefix("<<"):
		c := l.peek(2)
		bare := c >= 'A' && c <= 'Z' || c == '_' || c == '"' || c == '\''
		return bare && (!l.followsValue() || l.isCommandArgument()) && l.openHeredoc(2, q)
	}
	return false
}

// readRubyBlockComment reads a comment from =begin to =end.
func (l *lexer) readRubyBlockComment() bool {
	if !l.hasPrefix("=begin") || l.peek(-1) != '\n' && l.pos > 0 {
		return false
	}
	for l.pos < len(l.src) {
		last := l.hasPrefix("=end")
		l.advance(l.lineEnd(l.pos)-l.pos, Comment)
		if last {
			break
		}
		l.advance(1, Comment)
	}
	return true
}

// readRubyData reads everything after __END__ as a comment, since it is data and not code.
func readRubyData(l *lexer, start int) {
	if string(l.lastWord) != "__END__" || start > 0 && l.src[start-1] != '\n' || l.peek(0) > '\n' {
		return
	}
	l.advance(len(l.src)-l.pos, Comment)
}
