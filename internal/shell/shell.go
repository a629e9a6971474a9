// Package shell splits command lines into commands and words. Words are read by
// mvdan.cc/sh, one at a time, so that recipes of Makefiles, templates and single lines of
// longer scripts can be read as well. What mvdan.cc/sh refuses is split plainly.
package shell

import (
	"strings"

	"supervise/internal/regexp"

	"mvdan.cc/sh/v3/syntax"
)

// Word is one word of a command.
type Word struct {
	Text       string // without quotes; variables and substitutions as written
	Start, End int    // offsets in the command line
	Expands    bool   // the shell fills in a part: a variable, or the output of a command
	Runs       bool   // that part is, or may be, the output of a command
	Pattern    bool   // the shell may take it for a pattern, or for several words
	Redirect   bool   // where input or output goes: "2>&1", or ">" before a file
}

// Command is a simple command, or a part of a compound one: "then make".
type Command struct {
	Words []Word
	Op    string // what follows: "&&", "||", ";", "|", "&", "\n", "" at the end
	Group bool   // it is, or ends, in parentheses
}

// Texts are the texts of the words.
func (c Command) Texts() []string {
	out := make([]string, len(c.Words))
	for i, w := range c.Words {
		out[i] = w.Text
	}
	return out
}

// Commands returns the commands of a command line. Those in parentheses, and those whose
// output a variable is set to, are commands of their own.
func Commands(line string) []Command {
	s := splitter{text: line}
	s.split()
	return s.out
}

// SimpleWords returns the words of a command line to which words can be added: one simple command,
// with variables and patterns. It is false for any other.
func SimpleWords(line string) ([]Word, bool) {
	s := splitter{text: line, strict: true}
	s.split()
	if s.compound || len(s.out) != 1 || strings.HasSuffix(line, `\`) || IsReserved(s.out[0].Words[0].Text) {
		return nil, false
	}
	return s.out[0].Words, true
}

// IsReserved reports whether a word starts something other than a simple command.
func IsReserved(word string) bool { return reserved[word] }

var reserved = map[string]bool{
	"if": true, "for": true, "while": true, "until": true, "case": true, "{": true, "}": true, "!": true, "[[": true, "function": true, "select": true,
}

// Parse parses a script.
func Parse(script string) ([]*syntax.Stmt, error) {
	file, err := syntax.NewParser(syntax.Variant(syntax.LangBash)).Parse(strings.NewReader(script), "")
	if err != nil {
		return nil, err
	}
	return file.Stmts, nil
}

// SplitUnknown splits a script in a language that is unknown: at what separates commands in most,
// and at blanks.
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

// IsAssignment reports whether a word sets a variable: NAME=value.
func IsAssignment(word string) bool { return assignment.MatchString(word) }

var (
	assignment = regexp.MustCompile(`^[A-Za-z_]\w*\+?=`)
	// makeVariable is a variable of a Makefile, which looks like the output of a command.
	makeVariable = regexp.MustCompile(`^\w+=\$\(\w+\)$`)
)

// The bounds of what is parsed, so that no command line takes longer than its length suggests.
const (
	maxLevel    = 8
	maxRefusals = 50
)

// splitter is the state while splitting a command line.
type splitter struct {
	text     string
	pos      int
	parser   *syntax.Parser
	cur      Command
	depth    int    // of parentheses
	heredoc  string // the line that ends what the next lines hold
	out      []Command
	level    int  // of commands in words
	refusals int  // of the parser
	strict   bool // commands in words are no commands of their own
	compound bool // it is more than one simple command
}

func (s *splitter) split() {
	for s.pos < len(s.text) {
		s.step()
	}
	s.end("")
}

// step reads a blank, a comment, an operator or a word.
func (s *splitter) step() {
	rest := s.text[s.pos:]
	switch c := rest[0]; {
	case c == ' ' || c == '\t' || c == '\r':
		s.pos++
	case strings.HasPrefix(rest, "\\\n"):
		s.pos += 2
	case c == '#':
		s.compound = true
		s.pos += lineLength(rest)
	case c == '(' || c == ')':
		s.parenthesis(c)
	case redirectLength(rest) > 0:
		s.redirect(rest[:redirectLength(rest)])
	case strings.IndexByte(";|&\n", c) >= 0:
		s.operator(rest)
	case len(s.cur.Words) == 0 && len(rest) > 1 && strings.IndexByte("@-+!", c) >= 0 && rest[1] == '(':
		s.add(Word{Text: rest[:1], Start: s.pos, End: s.pos + 1}) // the mark of a recipe, not a pattern
	default:
		s.add(s.word())
	}
}

// redirectLength returns the length of an operator for input or output, 0 for something else.
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
	case n == start, n == 1 && strings.HasPrefix(text[1:], "("): // what follows is a command
		return 0
	case n < len(text) && strings.IndexByte("&|-", text[n]) >= 0:
		n++
	}
	return n
}

func (s *splitter) add(w Word) {
	s.cur.Words = append(s.cur.Words, w)
	s.cur.Group = s.cur.Group || s.depth > 0
	s.pos = w.End
}

func (s *splitter) parenthesis(c byte) {
	if s.depth++; c == ')' {
		s.depth = max(0, s.depth-2)
	}
	s.cur.Group, s.compound = true, true
	s.pos++
}

// redirect adds an operator for input or output, with the number before and the file directly
// after it.
func (s *splitter) redirect(op string) {
	w := Word{Text: op, Start: s.pos, End: s.pos + len(op), Redirect: true}
	if n := len(s.cur.Words); n > 0 && s.cur.Words[n-1].End == s.pos && strings.Trim(s.cur.Words[n-1].Text, "0123456789") == "" {
		w.Text, w.Start = s.cur.Words[n-1].Text+op, s.cur.Words[n-1].Start
		s.cur.Words = s.cur.Words[:n-1]
	}
	s.compound = true
	s.pos = w.End
	var file Word
	if s.pos < len(s.text) && strings.IndexByte(" \t\r\n;|&()<>", s.text[s.pos]) < 0 {
		file = s.word()
		w.Text, w.End, w.Expands = w.Text+file.Text, file.End, file.Expands
	}
	s.add(w)
	if op == "<<" || op == "<<-" {
		for file.Text == "" && s.pos < len(s.text) && (s.text[s.pos] == ' ' || s.text[s.pos] == '\t') {
			s.pos++
		}
		if file.Text == "" && s.pos < len(s.text) && s.text[s.pos] != '\n' {
			file = s.word()
			s.add(file)
		}
		s.heredoc = file.Text
	}
}

// operator ends a command.
func (s *splitter) operator(rest string) {
	op := rest[:1]
	switch {
	case strings.HasPrefix(rest, "|&"):
		s.pos++
	case op != "\n" && strings.HasPrefix(rest[1:], op):
		op = rest[:2]
	}
	s.compound = true
	s.pos += len(op)
	if op == "\n" && s.heredoc != "" {
		s.skipHeredoc()
	}
	s.end(op)
}

// skipHeredoc skips lines up to the one that ends them, or nothing if it is missing.
func (s *splitter) skipHeredoc() {
	at := s.pos
	for line := range strings.Lines(s.text[s.pos:]) {
		at += len(line)
		if strings.TrimSpace(line) == s.heredoc {
			s.pos = at
			break
		}
	}
	s.heredoc = ""
}

// end adds the current command to the others.
func (s *splitter) end(op string) {
	c := s.cur
	c.Op = op
	s.cur = Command{}
	n := len(c.Words)
	if n == 0 {
		return
	}
	if last := c.Words[n-1]; !s.strict && s.level < maxLevel && last.Runs && IsAssignment(last.Text) && !makeVariable.MatchString(last.Text) {
		if inner := s.inner(last); len(inner) > 0 {
			inner[0].Words = append(c.Words[:n-1:n-1], inner[0].Words...)
			inner[len(inner)-1].Op = op
			s.out = append(s.out, inner...)
			return
		}
	}
	s.out = append(s.out, c)
}

// inner returns the commands whose output a variable is set to.
func (s *splitter) inner(w Word) []Command {
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

func lineLength(s string) int {
	if n := strings.IndexByte(s, '\n'); n >= 0 {
		return n
	}
	return len(s)
}
