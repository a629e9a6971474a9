// Package shell splits command lines into commands and words.
//
// The parser of mvdan.cc/sh reads one word at a time, so that recipes of Makefiles, templates and
// single lines of longer scripts can be read as well. Text that the parser refuses is split at
// blanks and operators.
//
// [Commands] and [SimpleWords] need no valid script. [Parse] does, and returns its syntax tree.
package shell

import (
	"strings"

	"supervise/internal/regexp"

	"mvdan.cc/sh/v3/syntax"
)

// Word is one word of a command.
type Word struct {
	Text       string // without quotes; variables and substitutions as written
	Start, End int    // byte offsets in the command line
	Expands    bool   // the shell replaces a part: a variable, or the output of a command
	Runs       bool   // the replaced part may be the output of a command
	Pattern    bool   // the shell may expand it as a pattern, or to several words
	Redirect   bool   // it redirects input or output: "2>&1", or ">" before a file
}

// Command is a simple command, or a part of a compound one: "then make".
type Command struct {
	Words []Word
	Op    string // the operator after the command: "&&", "||", ";", "|", "&", "\n"; "" at the end
	Group bool   // the command, or its end, is in parentheses
}

// Texts returns the texts of the words.
func (c Command) Texts() []string {
	out := make([]string, len(c.Words))
	for i, w := range c.Words {
		out[i] = w.Text
	}
	return out
}

// Commands returns the commands of a command line, including those in parentheses and those whose
// output is assigned to a variable.
func Commands(line string) []Command {
	s := splitter{text: line}
	s.split()
	return s.out
}

// SimpleWords returns the words of a command line that is one simple command, to which words can
// be added. It returns false for any other line.
func SimpleWords(line string) ([]Word, bool) {
	s := splitter{text: line, strict: true}
	s.split()
	if s.isCompound || len(s.out) != 1 || strings.HasSuffix(line, `\`) || IsReserved(s.out[0].Words[0].Text) {
		return nil, false
	}
	return s.out[0].Words, true
}

// IsReserved reports whether a word starts something other than a simple command.
func IsReserved(word string) bool { return reservedWords[word] }

// reservedWords start compound commands, or negate a command.
var reservedWords = map[string]bool{
	"if": true, "for": true, "while": true, "until": true, "case": true, "{": true, "}": true, "!": true, "[[": true, "function": true, "select": true,
}

// Parse parses a script of Bash and returns its statements. The error is a syntax error.
func Parse(script string) ([]*syntax.Stmt, error) {
	file, err := syntax.NewParser(syntax.Variant(syntax.LangBash)).Parse(strings.NewReader(script), "")
	if err != nil {
		return nil, err
	}
	return file.Stmts, nil
}

// SplitUnknown splits a script in an unknown language into commands, at the separators that most
// languages have, and each command into words, at blanks. Quotes around words are removed.
func SplitUnknown(script string) [][]string {
	var out [][]string
	for part := range strings.FieldsFuncSeq(script, func(c rune) bool { return strings.ContainsRune("\n;|&(){}`", c) }) {
		words := strings.Fields(part)
		for i, w := range words {
			words[i] = strings.Trim(w, `"'`)
		}
		out = append(out, words)
	}
	return out
}

// IsAssignment reports whether a word sets a variable, as in NAME=value.
func IsAssignment(word string) bool { return assignmentPattern.MatchString(word) }

var (
	// assignmentPattern matches the start of an assignment, as in NAME= and NAME+=.
	assignmentPattern = regexp.MustCompile(`^[A-Za-z_]\w*\+?=`)
	// makeVariablePattern matches the value of a Makefile's variable, as in X=$(Y). It looks like
	// the output of a command.
	makeVariablePattern = regexp.MustCompile(`^\w+=\$\(\w+\)$`)
)

// The bounds of what is parsed, so that no command line takes longer than its length suggests.
const (
	maxLevel    = 8
	maxRefusals = 50
)

// splitter splits one command line.
type splitter struct {
	text       string
	offset     int            // byte offset of the next byte to read
	parser     *syntax.Parser // nil until a word needs it
	current    Command        // the command that is being read
	depth      int            // number of open parentheses
	heredoc    string         // the line that ends the current here-document; "" for none
	out        []Command      // the commands so far
	level      int            // how deeply the text is nested in assigned commands
	refusals   int            // how often the parser refused a word
	strict     bool           // commands whose output is assigned are not split
	isCompound bool           // the text is more than one simple command
}

// split reads the complete text.
func (s *splitter) split() {
	for s.offset < len(s.text) {
		s.readNext()
	}
	s.endCommand("")
}

// readNext reads a blank, a comment, an operator or a word.
func (s *splitter) readNext() {
	rest := s.text[s.offset:]
	switch c := rest[0]; {
	case c == ' ' || c == '\t' || c == '\r':
		s.offset++
	case strings.HasPrefix(rest, "\\\n"):
		s.offset += 2
	case c == '#':
		s.isCompound = true
		s.offset += lineLength(rest)
	case c == '(' || c == ')':
		s.addParenthesis(c)
	case redirectLength(rest) > 0:
		s.addRedirect(rest[:redirectLength(rest)])
	case strings.IndexByte(";|&\n", c) >= 0:
		s.endAtOperator(rest)
	case len(s.current.Words) == 0 && len(rest) > 1 && strings.IndexByte("@-+!", c) >= 0 && rest[1] == '(':
		s.addWord(Word{Text: rest[:1], Start: s.offset, End: s.offset + 1}) // the prefix of a Makefile recipe, not a pattern
	default:
		s.addWord(s.readWord())
	}
}

// redirectLength returns the length of the redirection operator at the start of a text, or 0 if
// there is none.
func redirectLength(text string) int {
	n := 0
	if text[0] == '&' {
		n++
	}
	start := n
	for n < len(text) && (text[n] == '<' || text[n] == '>') {
		n++
	}
	switch {
	case n == start, n == 1 && strings.HasPrefix(text[1:], "("): // a process substitution, which contains a command
		return 0
	case n < len(text) && strings.IndexByte("&|-", text[n]) >= 0:
		n++
	}
	return n
}

// addWord adds a word to the current command and moves past it.
func (s *splitter) addWord(w Word) {
	s.current.Words = append(s.current.Words, w)
	s.current.Group = s.current.Group || s.depth > 0
	s.offset = w.End
}

// addParenthesis reads an opening or closing parenthesis.
func (s *splitter) addParenthesis(c byte) {
	if s.depth++; c == ')' {
		s.depth = max(0, s.depth-2)
	}
	s.current.Group, s.isCompound = true, true
	s.offset++
}

// addRedirect adds a redirection operator, with the number before it and the file directly after
// it. For a here-document, it also reads the tag.
func (s *splitter) addRedirect(op string) {
	w := Word{Text: op, Start: s.offset, End: s.offset + len(op), Redirect: true}
	if n := len(s.current.Words); n > 0 && s.current.Words[n-1].End == s.offset && strings.Trim(s.current.Words[n-1].Text, "0123456789") == "" {
		w.Text, w.Start = s.current.Words[n-1].Text+op, s.current.Words[n-1].Start
		s.current.Words = s.current.Words[:n-1]
	}

	s.isCompound = true
	s.offset = w.End

	var file Word
	if s.offset < len(s.text) && strings.IndexByte(" \t\r\n;|&()<>", s.text[s.offset]) < 0 {
		file = s.readWord()
		w.Text, w.End, w.Expands = w.Text+file.Text, file.End, file.Expands
	}

	s.addWord(w)
	if op == "<<" || op == "<<-" {
		for file.Text == "" && s.offset < len(s.text) && (s.text[s.offset] == ' ' || s.text[s.offset] == '\t') {
			s.offset++
		}
		if file.Text == "" && s.offset < len(s.text) && s.text[s.offset] != '\n' {
			file = s.readWord()
			s.addWord(file)
		}
		s.heredoc = file.Text
	}
}

// endAtOperator ends the current command at the operator that starts the remaining text.
func (s *splitter) endAtOperator(rest string) {
	op := rest[:1]
	switch {
	case strings.HasPrefix(rest, "|&"):
		s.offset++
	case op != "\n" && strings.HasPrefix(rest[1:], op):
		op = rest[:2]
	}
	s.isCompound = true
	s.offset += len(op)
	if op == "\n" && s.heredoc != "" {
		s.skipHeredoc()
	}
	s.endCommand(op)
}

// skipHeredoc skips a here-document, or nothing if its last line is missing.
func (s *splitter) skipHeredoc() {
	at := s.offset
	for line := range strings.Lines(s.text[s.offset:]) {
		at += len(line)
		if strings.TrimSpace(line) == s.heredoc {
			s.offset = at
			break
		}
	}
	s.heredoc = ""
}

// endCommand adds the current command to the result. A command whose output is assigned to a
// variable is split into its commands.
func (s *splitter) endCommand(op string) {
	c := s.current
	c.Op = op
	s.current = Command{}
	n := len(c.Words)
	if n == 0 {
		return
	}
	if last := c.Words[n-1]; !s.strict && s.level < maxLevel && last.Runs && IsAssignment(last.Text) && !makeVariablePattern.MatchString(last.Text) {
		if inner := s.commandsIn(last); len(inner) > 0 {
			inner[0].Words = append(c.Words[:n-1:n-1], inner[0].Words...)
			inner[len(inner)-1].Op = op
			s.out = append(s.out, inner...)
			return
		}
	}
	s.out = append(s.out, c)
}

// commandsIn returns the commands whose output a word assigns to a variable, as in X=$(make). It
// returns nil if the value is anything else.
func (s *splitter) commandsIn(w Word) []Command {
	_, value, _ := strings.Cut(s.text[w.Start:w.End], "=")
	value = strings.TrimSuffix(strings.TrimPrefix(value, `"`), `"`)
	for _, marks := range [][2]string{{"$(", ")"}, {"`", "`"}} {
		if in, ok := strings.CutPrefix(value, marks[0]); ok && strings.HasSuffix(in, marks[1]) {
			in := splitter{text: strings.TrimSuffix(in, marks[1]), level: s.level + 1}
			in.split()
			return in.out
		}
	}
	return nil
}

// lineLength returns the length of the first line of a text, without its end.
func lineLength(s string) int {
	line, _, _ := strings.Cut(s, "\n")
	return len(line)
}
