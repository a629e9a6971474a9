// Package commandline reads the words of a command, so that others can be added to it.
package commandline

import (
	"path"
	"slices"
	"strings"

	"supervise/runner"
)

// Command is a command whose words are known: a program with arguments, or one
// simple shell command to which words can be added.
type Command struct {
	shell []string // what starts the shell: "/bin/sh", "-c"; nil without one
	line  string   // for the shell
	Words []Word
}

// Word is one word of a command, without its quotes.
type Word struct {
	Text       string
	start, end int // in the line for the shell
}

// Of parses a command. It is false for a shell line with more than one simple
// command: added words might reach the wrong one.
func Of(argv []string) (Command, bool) {
	line := Shell(argv)
	if line == "" {
		v := Command{Words: make([]Word, len(argv))}
		for i, a := range argv {
			v.Words[i].Text = a
		}
		return v, len(argv) > 0 && !shells[path.Base(argv[0])]
	}
	words, ok := simpleCommand(line)
	return Command{argv[:2], line, words}, ok
}

// Shell returns the line of a shell's -c, "" for other commands.
func Shell(argv []string) string {
	if len(argv) == 3 && argv[1] == "-c" && shells[path.Base(argv[0])] {
		return argv[2]
	}
	return ""
}

var shells = map[string]bool{"sh": true, "bash": true, "dash": true, "zsh": true, "ksh": true}

// With returns the command without the words at the indexes in drop, and with others
// inserted before the word at index at.
func (v Command) With(at int, add []string, drop map[int]bool) []string {
	var words []string
	for i, w := range v.Words {
		if i == at {
			words = append(words, v.written(add)...)
		}
		switch {
		case drop[i]:
		case v.shell != nil:
			words = append(words, v.line[w.start:w.end])
		default:
			words = append(words, w.Text)
		}
	}
	if at >= len(v.Words) {
		words = append(words, v.written(add)...)
	}
	if v.shell == nil {
		return words
	}
	return append(slices.Clone(v.shell), strings.Join(words, " "))
}

// written are words in the form that the command needs.
func (v Command) written(words []string) []string {
	if v.shell == nil {
		return words
	}
	out := make([]string, len(words))
	for i, w := range words {
		out[i] = runner.ShellQuoted(w)
	}
	return out
}

// Index is the index of the first word that runs one of the programs, -1 if there is
// none.
func (v Command) Index(programs ...string) int {
	return slices.IndexFunc(v.Words, func(w Word) bool { return slices.Contains(programs, programOf(w.Text)) })
}

// Before is the index of the word, or the end if it is missing.
func (v Command) Before(text string) int {
	if i := slices.IndexFunc(v.Words, func(w Word) bool { return w.Text == text }); i >= 0 {
		return i
	}
	return len(v.Words)
}

// Places are the indexes of the words that give one of the options, with or without a
// value after "=".
func (v Command) Places(options ...string) map[int]bool {
	out := map[int]bool{}
	for i, w := range v.Words {
		name, _, _ := strings.Cut(w.Text, "=")
		if slices.Contains(options, name) {
			out[i] = true
		}
	}
	return out
}

// Has reports whether the command has one of the words or options.
func (v Command) Has(options ...string) bool { return len(v.Places(options...)) > 0 }

// GoTest returns where the options of go test begin, and false if the command is not go
// test, alone or within gotestsum.
func (v Command) GoTest() (at int, ok bool) {
	if i := v.Index("go") + 1; i > 0 && i < len(v.Words) && v.Words[i].Text == "test" {
		return i + 1, true
	}
	at = v.Before("--") + 1
	return at, v.Index("gotestsum") >= 0 && at <= len(v.Words)
}

// programOf is the name of the program that a word names:
// "node_modules/.bin/jest" and "node_modules/jest/bin/jest.js" are jest.
func programOf(text string) string {
	name := path.Base(strings.ReplaceAll(text, `\`, "/"))
	for _, end := range []string{".js", ".cjs", ".mjs", ".cmd", ".bat", ".exe", ".phar"} {
		name = strings.TrimSuffix(name, end)
	}
	return strings.TrimPrefix(name, "_")
}

// Reserved reports whether a word begins something other than a simple command.
func Reserved(word string) bool { return reserved[word] }

var reserved = map[string]bool{
	"if": true, "for": true, "while": true, "until": true, "case": true, "{": true, "}": true, "!": true, "[[": true, "function": true, "select": true,
}

// simpleCommand returns the words of a shell line, and false if it is more than one
// command with words, variables and patterns.
func simpleCommand(line string) ([]Word, bool) {
	s := shellLine{text: line}
	for s.pos < len(line) {
		if !s.step() {
			return nil, false
		}
	}
	if s.quote != 0 || s.escaped {
		return nil, false
	}
	s.end()
	return s.words, len(s.words) > 0 && !reserved[s.words[0].Text]
}

// shellLine is a shell line that is being parsed.
type shellLine struct {
	text    string
	pos     int
	words   []Word
	open    bool // inside a word
	word    Word
	quote   byte // the open quotation mark, 0 none
	escaped bool // by a backslash
}

// step takes one byte. It is false at a byte that makes more than a simple command.
func (s *shellLine) step() bool {
	c := s.text[s.pos]
	switch {
	case s.escaped:
		s.escaped = false
		s.take(c)
	case c == s.quote:
		s.quote = 0
	case s.quote == '\'':
		s.take(c)
	case c == '\\':
		s.begin()
		s.escaped = true
	case s.quote == 0 && (c == '\'' || c == '"'):
		s.begin()
		s.quote = c
	case s.compound(c):
		return false
	case s.quote == 0 && (c == ' ' || c == '\t'):
		s.end()
	default:
		s.take(c)
	}
	s.pos++
	return true
}

// compound reports whether the byte, which is neither escaped nor in single quotes,
// makes more than a simple command.
func (s *shellLine) compound(c byte) bool {
	switch {
	case c == '`', c == '$' && strings.HasPrefix(s.text[s.pos+1:], "("):
		return true
	case s.quote != 0:
		return false
	}
	return strings.IndexByte(";&|<>()\n\r", c) >= 0 || c == '#' && !s.open
}

func (s *shellLine) begin() {
	if !s.open {
		s.open, s.word = true, Word{start: s.pos}
	}
}

func (s *shellLine) take(c byte) {
	s.begin()
	s.word.Text += string([]byte{c})
}

func (s *shellLine) end() {
	if s.open {
		s.word.end = s.pos
		s.words = append(s.words, s.word)
	}
	s.open = false
}
