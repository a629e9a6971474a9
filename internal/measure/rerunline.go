package measure

import (
	"maps"
	"path"
	"slices"
	"strings"

	"supervise/runner"
)

// invocation is a command whose words are known: a program with arguments, or one
// simple shell command to which words can be added.
type invocation struct {
	shell []string // what starts the shell: "/bin/sh", "-c"; nil without one
	line  string   // for the shell
	words []word
}

// word is one word of a command, without its quotes.
type word struct {
	text       string
	start, end int // in the line for the shell
}

// invoked parses a command. It is false for a shell line with more than one simple
// command: added words might reach the wrong one.
func invoked(argv []string) (invocation, bool) {
	if len(argv) != 3 || argv[1] != "-c" || !shells[path.Base(argv[0])] {
		v := invocation{words: make([]word, len(argv))}
		for i, a := range argv {
			v.words[i].text = a
		}
		return v, len(argv) > 0 && !shells[path.Base(argv[0])]
	}
	words, ok := simpleCommand(argv[2])
	return invocation{argv[:2], argv[2], words}, ok
}

var shells = map[string]bool{"sh": true, "bash": true, "dash": true, "zsh": true, "ksh": true}

// with returns the command without the words at the indexes in drop, and with others
// inserted before the word at index at.
func (v invocation) with(at int, add []string, drop map[int]bool) []string {
	var words []string
	for i, w := range v.words {
		if i == at {
			words = append(words, v.written(add)...)
		}
		switch {
		case drop[i]:
		case v.shell != nil:
			words = append(words, v.line[w.start:w.end])
		default:
			words = append(words, w.text)
		}
	}
	if at >= len(v.words) {
		words = append(words, v.written(add)...)
	}
	if v.shell == nil {
		return words
	}
	return append(slices.Clone(v.shell), strings.Join(words, " "))
}

// written are words in the form that the command needs.
func (v invocation) written(words []string) []string {
	if v.shell == nil {
		return words
	}
	out := make([]string, len(words))
	for i, w := range words {
		out[i] = runner.ShellQuoted(w)
	}
	return out
}

// index is the index of the first word that runs one of the programs, -1 if there is
// none.
func (v invocation) index(programs ...string) int {
	return slices.IndexFunc(v.words, func(w word) bool { return slices.Contains(programs, programOf(w.text)) })
}

// before is the index of the word, or the end if it is missing.
func (v invocation) before(text string) int {
	if i := slices.IndexFunc(v.words, func(w word) bool { return w.text == text }); i >= 0 {
		return i
	}
	return len(v.words)
}

// places are the indexes of the words that give one of the options, with or without a
// value after "=".
func (v invocation) places(options ...string) map[int]bool {
	out := map[int]bool{}
	for i, w := range v.words {
		name, _, _ := strings.Cut(w.text, "=")
		if slices.Contains(options, name) {
			out[i] = true
		}
	}
	return out
}

// has reports whether the command has one of the words or options.
func (v invocation) has(options ...string) bool { return len(v.places(options...)) > 0 }

// programOf is the name of the program that a word names:
// "node_modules/.bin/jest" and "node_modules/jest/bin/jest.js" are jest.
func programOf(text string) string {
	name := path.Base(strings.ReplaceAll(text, `\`, "/"))
	for _, end := range []string{".js", ".cjs", ".mjs", ".cmd", ".bat", ".exe", ".phar"} {
		name = strings.TrimSuffix(name, end)
	}
	return strings.TrimPrefix(name, "_")
}

// reserved are the words that begin something other than a simple command.
var reserved = map[string]bool{
	"if": true, "for": true, "while": true, "until": true, "case": true, "{": true, "}": true, "!": true, "[[": true, "function": true, "select": true,
}

// simpleCommand returns the words of a shell line, and false if it is more than one
// command with words, variables and patterns.
func simpleCommand(line string) ([]word, bool) {
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
	return s.words, len(s.words) > 0 && !reserved[s.words[0].text]
}

// shellLine is a shell line that is being parsed.
type shellLine struct {
	text    string
	pos     int
	words   []word
	open    bool // inside a word
	word    word
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
		s.open, s.word = true, word{start: s.pos}
	}
}

func (s *shellLine) take(c byte) {
	s.begin()
	s.word.text += string([]byte{c})
}

func (s *shellLine) end() {
	if s.open {
		s.word.end = s.pos
		s.words = append(s.words, s.word)
	}
	s.open = false
}

// withFiles returns the check with additional files and environment variables.
func (c Check) withFiles(files map[string]string, env ...string) Check {
	all := map[string]string{}
	maps.Copy(all, c.Files)
	maps.Copy(all, files)
	c.Files, c.Env = all, append(slices.Clone(c.Env), env...)
	return c
}
