package shell

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// readWord reads the word at the current position. It does not move past the word.
func (s *splitter) readWord() Word {
	rest := s.text[s.offset:]
	if n := plainLength(rest); n > 0 { // twenty times faster, for most words
		return Word{Text: rest[:n], Start: s.offset, End: s.offset + n}
	}

	if s.parser == nil {
		s.parser = syntax.NewParser(syntax.Variant(syntax.LangBash))
	}
	for parsed, err := range s.parser.WordsSeq(strings.NewReader(rest)) {
		n := 0
		if s.refusals > maxRefusals {
			break
		}
		if err == nil {
			n = int(parsed.End().Offset()) //nolint:gosec // an offset in a text in memory
		}
		if n == 0 || n > len(rest) || parsed.Pos().Offset() != 0 {
			break
		}

		w := Word{Start: s.offset, End: s.offset + n}
		for _, p := range parsed.Parts {
			w.addPart(rest, p, false)
		}
		s.isCompound = s.isCompound || w.Runs
		return w
	}

	s.refusals++
	return s.readPlainWord(rest)
}

// plainLength returns the length of the word at the start of a text if it has no quotes,
// variables or patterns, else 0.
func plainLength(text string) int {
	n := strings.IndexAny(text, " \t\r\n;&|()<>'\"`$\\*?[]{}!@+")
	switch {
	case n < 0:
		return len(text)
	case strings.IndexByte(" \t\r\n;&|()<>", text[n]) >= 0:
		return n
	}
	return 0
}

// addPart adds a part of a parsed word. quoted reports whether the part is in double quotes.
func (w *Word) addPart(text string, p syntax.WordPart, quoted bool) {
	switch p := p.(type) {
	case *syntax.Lit:
		literal, pattern := UnescapeLiteral(p.Value, quoted)
		w.Text += literal
		w.Pattern = w.Pattern || pattern
	case *syntax.SglQuoted:
		w.Text += p.Value
	case *syntax.DblQuoted:
		for _, in := range p.Parts {
			w.addPart(text, in, true)
		}
	default:
		_, extglob := p.(*syntax.ExtGlob)
		_, param := p.(*syntax.ParamExp)
		w.Text += text[p.Pos().Offset():p.End().Offset()]
		w.Pattern = w.Pattern || extglob
		w.Expands = w.Expands || !extglob
		w.Runs = w.Runs || !extglob && !param
	}
}

// UnescapeLiteral removes the escapes from a literal part of a word. quoted tells whether the
// part is in double quotes. pattern reports whether the shell expands the part as a pattern.
func UnescapeLiteral(text string, quoted bool) (literal string, pattern bool) {
	special := "*?["
	if strings.Contains(text, ",") || strings.Contains(text, "..") {
		special = "*?[{"
	}
	if quoted {
		special = ""
	}
	if !strings.Contains(text, `\`) {
		return text, strings.ContainsAny(text, special)
	}

	var b strings.Builder
	for i := 0; i < len(text); i++ {
		c := text[i]
		if c != '\\' || i+1 == len(text) {
			pattern = pattern || strings.IndexByte(special, c) >= 0
			b.WriteByte(c)
			continue
		}
		if i++; text[i] == '\n' {
			continue
		}
		if quoted && strings.IndexByte("$`\"\\", text[i]) < 0 {
			b.WriteByte('\\')
		}
		b.WriteByte(text[i])
	}
	return b.String(), pattern
}

// readPlainWord reads text that the parser refuses: up to a blank or an operator, or from an
// unclosed quote to the end of the line.
func (s *splitter) readPlainWord(rest string) Word {
	s.isCompound = true
	text := rest[:lineLength(rest)]
	n := len(text)
	if i := strings.IndexAny(text, " \t\r;&|()<>'\"`"); i >= 0 && strings.IndexByte("'\"`", text[i]) < 0 {
		n = max(i, 1)
		text = text[:n]
	} else if i >= 0 {
		text = text[:i] + text[i+1:]
	}
	return Word{Text: text, Start: s.offset, End: s.offset + n, Expands: strings.ContainsAny(text, "$`")}
}
