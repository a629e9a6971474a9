package source

import (
	"strings"
	"unsafe"
)

// lexeme is a word or an operator of masked text.
type lexeme struct {
	pos, end int  // bytes, from and up to
	line     int  // from 1
	word     bool // a name, a keyword or a number
	mate     int  // of a bracket, the index of its partner; -1 when there is none
}

// tokens is the code of one file, without comments and the bodies of strings.
type tokens struct {
	lang   Language
	src    []byte // as it was read
	masked []byte
	code   string // masked, which nobody changes, for what looks words up
	list   []lexeme
	first  []int  // index of the first token of each line, the length of list at the end
	budget int    // tokens that may still be looked at for the ends of blocks
	inText []bool // by line: it starts within a string or a comment
	bodies []span // see spans
	spun   bool
}

// pairs are the operators of two bytes that must not be read as two, by their
// first byte.
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
func tokenize(lang Language, src []byte, kinds []kind, room *lists) *tokens {
	masked := mask(src, kinds)
	t := &tokens{
		lang: lang, src: src, masked: masked, code: unsafe.String(unsafe.SliceData(masked), len(masked)),
		list: room.list[:0], first: room.first[:0], inText: room.in[:0],
	}
	words := wordBytes[lang]
	line := 1
	t.beginLine(0, kinds)
	for i := 0; i < len(masked); {
		c := masked[i]
		if isSpace(c) {
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
		t.list = append(t.list, lexeme{pos: i, end: end, line: line, word: word, mate: -1})
		i = end
	}
	t.first = append(t.first, len(t.list))
	t.budget = blockBudget * len(t.list)
	t.pair()
	return t
}

func (t *tokens) beginLine(pos int, kinds []kind) {
	t.first = append(t.first, len(t.list))
	t.inText = append(t.inText, pos > 0 && kinds[pos-1] != code)
}

// pair finds the partner of each bracket. A closing bracket that fits none of
// the open ones is passed over, so that one stray bracket stays harmless.
func (t *tokens) pair() {
	var open [3][]int
	for i := range t.list {
		if t.list[i].end-t.list[i].pos != 1 {
			continue
		}
		switch t.masked[t.list[i].pos] {
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

func (t *tokens) close(open *[]int, i int) {
	n := len(*open)
	if n == 0 {
		return
	}
	j := (*open)[n-1]
	*open = (*open)[:n-1]
	t.list[i].mate, t.list[j].mate = j, i
}

// is reports whether token i exists and reads s.
func (t *tokens) is(i int, s string) bool {
	return i >= 0 && i < len(t.list) && t.code[t.list[i].pos:t.list[i].end] == s
}

// text returns what token i reads, "" beyond either end.
func (t *tokens) text(i int) string {
	if i < 0 || i >= len(t.list) {
		return ""
	}
	return t.code[t.list[i].pos:t.list[i].end]
}

func (t *tokens) isWord(i int) bool { return i >= 0 && i < len(t.list) && t.list[i].word }

// line returns the line of token i, 0 beyond either end.
func (t *tokens) line(i int) int {
	if i < 0 || i >= len(t.list) {
		return 0
	}
	return t.list[i].line
}

// skip returns the index behind token i, or behind the partner of the bracket
// that stands there.
func (t *tokens) skip(i int) int {
	if m := t.list[i].mate; m > i {
		return m + 1
	}
	return i + 1
}

// spaced reports whether white space stands before and behind token i.
func (t *tokens) spaced(i int) (before, behind bool) {
	tok := t.list[i]
	before = tok.pos > 0 && isSpace(t.masked[tok.pos-1])
	behind = tok.end < len(t.masked) && isSpace(t.masked[tok.end])
	return before, behind
}

// startsLine reports whether token i is the first of its line.
func (t *tokens) startsLine(i int) bool {
	return i == 0 || t.list[i-1].line < t.list[i].line
}

// spans returns the functions that find finds, found once.
func (t *tokens) spans(find func(*tokens) []span) []span {
	if !t.spun {
		t.bodies, t.spun = find(t), true
	}
	return t.bodies
}

// indent returns the width of the white space before the first token of the
// line of token i. A tab counts as one: lines are only compared with lines of
// the same file, which are indented alike.
func (t *tokens) indent(i int) int {
	first := t.list[t.first[t.list[i].line-1]].pos
	n := 0
	for first-n > 0 && t.masked[first-n-1] != '\n' {
		n++
	}
	return n
}

// span is a function in terms of tokens.
type span struct {
	name            string
	head, body, end int // first token, first and last token of the body
}

// blockBudget is how many tokens are looked at to find the ends of bodies
// without braces, for each token of the file. Definitions that are nested as
// usual need no more than their depth.
const blockBudget = 50
