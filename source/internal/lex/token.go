package lex

import (
	"strings"
	"unsafe"

	"supervise/source/internal/language"
)

// Token is a word or an operator of masked text.
type Token struct {
	Pos, End int  // bytes, from and up to
	Line     int  // from 1
	Word     bool // a name, a keyword or a number
	Mate     int  // of a bracket, the index of its partner; -1 when there is none
}

// Tokens is the code of one file, without comments and the bodies of strings.
type Tokens struct {
	Lang   language.Language
	Src    []byte // as it was read
	Masked []byte
	code   string // Masked, which is never changed, for what looks words up
	List   []Token
	First  []int  // index of the first token of each line, the length of list at the end
	Budget int    // Tokens that may still be looked at for the ends of blocks
	InText []bool // by line: it starts within a string or a comment
	bodies []Span // see spans
	spun   bool
}

// pairs are the operators of two bytes that must not be read as two, by their
// First byte.
var pairs = func() (set [128]string) {
	for _, p := range []string{
		"=>", "->", "==", "!=", "<=", ">=", "&&", "||", "??", "?:", "?.", "::", ";;", ":=", "+=", "-=", "*=", "/=", "|=", "&=", "..",
	} {
		set[p[0]] += p[1:]
	}
	return set
}()

func isPair(a, b byte) bool {
	return a < 128 && pairs[a] != "" && strings.IndexByte(pairs[a], b) >= 0
}

// tokenize splits the code of a source and pairs its brackets.
func tokenize(lang language.Language, src []byte, kinds []Kind, room *lists) *Tokens {
	masked := Mask(src, kinds)
	t := &Tokens{
		Lang: lang, Src: src, Masked: masked, code: unsafe.String(unsafe.SliceData(masked), len(masked)),
		List: room.list[:0], First: room.first[:0], InText: room.in[:0],
	}
	words := wordBytes[lang]
	line := 1
	t.beginLine(0, kinds)
	for i := 0; i < len(masked); {
		c := masked[i]
		if IsSpace(c) {
			i++
			if c == '\n' {
				line++
				t.beginLine(i, kinds)
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
		case end < len(masked) && isPair(c, masked[end]):
			end++
		}
		t.List = append(t.List, Token{Pos: i, End: end, Line: line, Word: word, Mate: -1})
		i = end
	}
	t.First = append(t.First, len(t.List))
	t.Budget = BlockBudget * len(t.List)
	t.pair()
	return t
}

func (t *Tokens) beginLine(pos int, kinds []Kind) {
	t.First = append(t.First, len(t.List))
	t.InText = append(t.InText, pos > 0 && kinds[pos-1] != code)
}

// pair finds the partner of each bracket. A closing bracket that fits none of
// the open ones is passed over, so that one stray bracket stays harmless.
func (t *Tokens) pair() {
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
			t.close(&open[0], i)
		case ']':
			t.close(&open[1], i)
		case '}':
			t.close(&open[2], i)
		}
	}
}

func (t *Tokens) close(open *[]int, i int) {
	n := len(*open)
	if n == 0 {
		return
	}
	j := (*open)[n-1]
	*open = (*open)[:n-1]
	t.List[i].Mate, t.List[j].Mate = j, i
}

// Is reports whether token i exists and reads s.
func (t *Tokens) Is(i int, s string) bool {
	return i >= 0 && i < len(t.List) && t.code[t.List[i].Pos:t.List[i].End] == s
}

// Text returns what token i reads, "" beyond either end.
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

// Skip returns the index after token i, or after the partner of the bracket
// that is there.
func (t *Tokens) Skip(i int) int {
	if m := t.List[i].Mate; m > i {
		return m + 1
	}
	return i + 1
}

// Spaced reports whether white space is before and after token i.
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

// Spans returns the functions that find finds, found once.
func (t *Tokens) Spans(find func(*Tokens) []Span) []Span {
	if !t.spun {
		t.bodies, t.spun = find(t), true
	}
	return t.bodies
}

// Indent returns the width of the white space before the first token of the
// Line of token i. A tab counts as one: lines are only compared with lines of
// the same file, which are indented alike.
func (t *Tokens) Indent(i int) int {
	first := t.List[t.First[t.List[i].Line-1]].Pos
	n := 0
	for first-n > 0 && t.Masked[first-n-1] != '\n' {
		n++
	}
	return n
}

// Span is a function in terms of tokens.
type Span struct {
	Name            string
	Head, Body, End int // First token, first and last token of the body
}

// BlockBudget is how many tokens are looked at to find the ends of bodies
// without braces, for each token of the file. Definitions that are nested as
// usual need no more than their depth.
const BlockBudget = 50
