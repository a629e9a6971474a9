package lex

import (
	"strings"
	"unsafe"

	"supervise/source/internal/language"
)

// Token is a word or an operator of masked source.
type Token struct {
	Pos, End int  // byte offsets of the start and of the end
	Line     int  // from 1
	Word     bool // a name, a keyword or a number
	Partner  int  // the index of the partner of a bracket; -1 for other tokens
}

// Tokens is the code of one file, without comments and the contents of strings.
type Tokens struct {
	Lang        language.Language
	Src         []byte // the source
	Masked      []byte // the source with everything but code replaced by spaces
	code        string // Masked as a string with the same memory, which is never changed
	List        []Token
	FirstOfLine []int  // by line: index of its first token; ends with the number of tokens
	Budget      int    // number of tokens that may still be read to find the ends of blocks
	InText      []bool // by line: it starts within a string or a comment
	spans       []Span // result of Spans
	spansFound  bool   // Spans was called
}

// twoByteOperators are the second bytes of the operators of two bytes, by their first byte:
// twoByteOperators['='] is ">=".
var twoByteOperators = func() (set [128]string) {
	for _, p := range []string{
		"=>", "->", "==", "!=", "<=", ">=", "&&", "||", "??", "?:", "?.", "::", ";;", ":=", "+=", "-=", "*=", "/=", "|=", "&=", "..",
	} {
		set[p[0]] += p[1:]
	}
	return set
}()

// isTwoByteOperator reports whether a and b form one operator.
func isTwoByteOperator(a, b byte) bool {
	return a < 128 && twoByteOperators[a] != "" && strings.IndexByte(twoByteOperators[a], b) >= 0
}

// tokenize splits the code of a source and pairs its brackets.
func tokenize(lang language.Language, src []byte, kinds []Kind, buf *buffers) *Tokens {
	masked := Mask(src, kinds)
	t := &Tokens{
		Lang: lang, Src: src, Masked: masked, code: unsafe.String(unsafe.SliceData(masked), len(masked)),
		List: buf.tokens[:0], FirstOfLine: buf.firstOfLine[:0], InText: buf.inText[:0],
	}

	words := wordByteTables[lang]
	line := 1
	t.startLine(0, kinds)
	for i := 0; i < len(masked); {
		c := masked[i]
		if IsSpace(c) {
			i++
			if c == '\n' {
				line++
				t.startLine(i, kinds)
			}
			continue
		}
		end := i + 1
		word := words[c]
		switch {
		case word:
			for end < len(masked) && words[masked[end]] {
				end++
			}
		case end < len(masked) && isTwoByteOperator(c, masked[end]):
			end++
		}
		t.List = append(t.List, Token{Pos: i, End: end, Line: line, Word: word, Partner: -1})
		i = end
	}

	t.FirstOfLine = append(t.FirstOfLine, len(t.List))
	t.Budget = BlockBudget * len(t.List)
	t.pairBrackets()
	return t
}

// startLine records that a line starts at byte offset pos.
func (t *Tokens) startLine(pos int, kinds []Kind) {
	t.FirstOfLine = append(t.FirstOfLine, len(t.List))
	t.InText = append(t.InText, pos > 0 && kinds[pos-1] != code)
}

// pairBrackets finds the partner of each bracket. A closing bracket without an open one is
// ignored, so that a stray bracket is harmless.
func (t *Tokens) pairBrackets() {
	var open [3][]int
	for i := range t.List {
		if t.List[i].End-t.List[i].Pos != 1 {
			continue
		}
		switch t.Masked[t.List[i].Pos] {
		case '(':
			open[0] = append(open[0], i)
		case '[':
			open[1] = append(open[1], i)
		case '{':
			open[2] = append(open[2], i)
		case ')':
			t.pairWithLast(&open[0], i)
		case ']':
			t.pairWithLast(&open[1], i)
		case '}':
			t.pairWithLast(&open[2], i)
		}
	}
}

// pairWithLast pairs the bracket at token i with the last open one.
func (t *Tokens) pairWithLast(open *[]int, i int) {
	n := len(*open)
	if n == 0 {
		return
	}
	j := (*open)[n-1]
	*open = (*open)[:n-1]
	t.List[i].Partner, t.List[j].Partner = j, i
}

// Is reports whether token i exists and is s.
func (t *Tokens) Is(i int, s string) bool {
	return i >= 0 && i < len(t.List) && t.code[t.List[i].Pos:t.List[i].End] == s
}

// Text returns the text of token i, "" beyond either end.
func (t *Tokens) Text(i int) string {
	if i < 0 || i >= len(t.List) {
		return ""
	}
	return t.code[t.List[i].Pos:t.List[i].End]
}

// IsWord reports whether token i exists and is a word.
func (t *Tokens) IsWord(i int) bool { return i >= 0 && i < len(t.List) && t.List[i].Word }

// Line returns the line of token i, 0 beyond either end.
func (t *Tokens) Line(i int) int {
	if i < 0 || i >= len(t.List) {
		return 0
	}
	return t.List[i].Line
}

// Skip returns the index after token i or, if token i is an opening bracket, after its
// partner.
func (t *Tokens) Skip(i int) int {
	if m := t.List[i].Partner; m > i {
		return m + 1
	}
	return i + 1
}

// Spaced reports whether white space precedes token i, and whether it follows.
func (t *Tokens) Spaced(i int) (before, after bool) {
	tok := t.List[i]
	before = tok.Pos > 0 && IsSpace(t.Masked[tok.Pos-1])
	after = tok.End < len(t.Masked) && IsSpace(t.Masked[tok.End])
	return before, after
}

// StartsLine reports whether token i is the first of its line.
func (t *Tokens) StartsLine(i int) bool {
	return i == 0 || t.List[i-1].Line < t.List[i].Line
}

// Spans returns the result of find, which runs only at the first call.
func (t *Tokens) Spans(find func(*Tokens) []Span) []Span {
	if !t.spansFound {
		t.spans, t.spansFound = find(t), true
	}
	return t.spans
}

// Indent returns the width of the white space before the first token of the line of token i. A
// tab counts as one, since only lines of the same file are compared.
func (t *Tokens) Indent(i int) int {
	first := t.List[t.FirstOfLine[t.List[i].Line-1]].Pos
	n := 0
	for first-n > 0 && t.Masked[first-n-1] != '\n' {
		n++
	}
	return n
}

// Span is the range of tokens of a function.
type Span struct {
	Name            string
	Head, Body, End int // the first token, the first token of the body, the last token
}

// BlockBudget is how many tokens, for each token of the file, may be read to find the ends of
// bodies without braces. Definitions that are nested as usual need no more than their depth.
const BlockBudget = 50
