package regexp

import (
	"bytes"
	"io"
	"regexp"
	"regexp/syntax"
	"sync"
	"unicode/utf8"
	"unsafe"
)

// filter is what is known about the matches of an expression before it is tried.
type filter struct {
	// required are texts of which each match contains at least one, or nil if none are known.
	required   []string
	ignoreCase bool // required is in lower case, and matches in any case
	// prefixes are texts with which each match starts, or nil if none are known. If startsLine is
	// set, other characters of the line may precede them.
	prefixes           []string
	startsLine         bool                  // a match starts with its line
	anchored           func() *regexp.Regexp // the expression, only at the start of a text
	anchoredAfterFirst func() *regexp.Regexp // the same, after the first character of a text
}

// newFilter derives a filter from an expression. An invalid expression has an empty filter.
func newFilter(text string) filter {
	tree, err := syntax.Parse(text, syntax.Perl)
	if err != nil {
		return filter{} // the compiler reports the error
	}
	s := filter{anchored: compileLater(`\A(?:` + text + `)`), anchoredAfterFirst: compileLater(`\A(?s:.)(?:` + text + `)`)}
	s.required, s.ignoreCase = requiredTexts(tree)
	if !s.ignoreCase {
		s.prefixes, s.startsLine = matchPrefixes(tree)
	}
	return s
}

// compileLater returns a function that compiles an expression at its first call.
func compileLater(text string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(text) })
}

// asBytes returns the bytes of a text without a copy. They must not be changed.
func asBytes(text string) []byte { return unsafe.Slice(unsafe.StringData(text), len(text)) }

// mayMatch reports whether a text contains a required text, or none is known.
func (s *filter) mayMatch(text []byte) bool {
	if s.required == nil {
		return true
	}
	if s.ignoreCase {
		var room [256]byte
		text = lowerASCII(text, room[:0])
	}
	for _, word := range s.required {
		if bytes.Contains(text, asBytes(word)) {
			return true
		}
	}
	return false
}

// lowerASCII returns a text with its ASCII letters in lower case. It uses the memory of the
// second argument if the text fits.
func lowerASCII(text, room []byte) []byte {
	out := append(room, text...)
	for i, c := range out {
		if 'A' <= c && c <= 'Z' {
			out[i] = c + 'a' - 'A'
		}
	}
	return out
}

// maxDirect is the length of a text, in bytes, up to which an expression is tried on the complete
// text.
const maxDirect = 200

// findAll returns the first n matches, or all if n is negative. It returns the same as
// FindAllSubmatchIndex of the standard package, or without groups as FindAllIndex.
func (r *Regexp) findAll(text []byte, n int, groups bool) [][]int {
	re := r.compiled()
	switch {
	case !r.filter.mayMatch(text):
		return nil
	case len(text) <= maxDirect:
	case r.filter.prefixes != nil:
		return r.filter.matchAtLeads(re, text, n, groups)
	}
	return findIn(re, text, n, groups)
}

// findIn returns the matches that the standard package finds.
func findIn(re *regexp.Regexp, text []byte, n int, groups bool) [][]int {
	if groups {
		return re.FindAllSubmatchIndex(text, n)
	}
	return re.FindAllIndex(text, n)
}

// matchAtLeads tries the expression at each place where a match can start. Each try may read to
// the end of the text before it fails. If the tries together read much more than the text, it
// searches the complete text instead.
func (s *filter) matchAtLeads(re *regexp.Regexp, text []byte, n int, groups bool) [][]int {
	var out [][]int
	places := newOccurrences(s.prefixes)
	input := &limitedReader{left: 4*len(text) + 1000}

	for from, end := 0, 0; n < 0 || len(out) < n; {
		pos := places.next(text, from)
		if pos < 0 {
			break
		}

		start := pos
		if s.startsLine {
			start = bytes.LastIndexByte(text[:pos], '\n') + 1
		}

		var found []int
		if start >= end {
			found = s.tryAt(text, start, input, groups)
		}
		if input.left < 0 {
			return findIn(re, text, n, groups)
		}

		switch {
		case found != nil:
			out = append(out, found)
			end = found[1]
			from = max(pos+1, end)
		case s.startsLine: // each line is tried once
			i := bytes.IndexByte(text[pos:], '\n')
			if i < 0 {
				return out
			}
			from = pos + i
		default:
			from = pos + 1
		}
	}
	return out
}

// tryAt returns the match that starts at a place, or nil if there is none.
func (s *filter) tryAt(text []byte, start int, input *limitedReader, groups bool) []int {
	re, begin := s.anchored(), start
	// The character before the place is part of the input, so that \b works.
	if start > 0 && !s.startsLine {
		re, begin = s.anchoredAfterFirst(), start-1
	}

	input.text = text[begin:]
	var found []int
	if groups {
		found = shift(re.FindReaderSubmatchIndex(input), begin)
	} else {
		found = shift(re.FindReaderIndex(input), begin)
	}
	if found != nil {
		found[0] = start
	}
	return found
}

// limitedReader reads a text. left is the number of bytes that all reads together may still take.
type limitedReader struct {
	text []byte
	left int
}

// ReadRune implements [io.RuneReader]. It returns io.EOF at the end of the text and beyond the
// limit.
func (r *limitedReader) ReadRune() (rune, int, error) {
	if len(r.text) == 0 || r.left < 0 {
		return 0, 0, io.EOF
	}
	c, size := rune(r.text[0]), 1
	if c >= utf8.RuneSelf {
		c, size = utf8.DecodeRune(r.text)
	}
	r.text, r.left = r.text[size:], r.left-size
	return c, size, nil
}

// shift adds an offset to the positions of a match. Missing groups remain -1.
func shift(found []int, offset int) []int {
	for i := range found {
		if found[i] >= 0 {
			found[i] += offset
		}
	}
	return found
}

// occurrences finds the positions at which any of some words occurs, in ascending order.
type occurrences struct {
	words []string
	at    []int // by word: its next position, -1 if there is none, -2 if it is not known yet
}

// newOccurrences returns the occurrences of words in a text that next is called with.
func newOccurrences(words []string) *occurrences {
	p := &occurrences{words: words, at: make([]int, len(words))}
	for i := range p.at {
		p.at[i] = -2
	}
	return p
}

// next returns the first position of a word at or after from, or -1 if there is none. from must
// not decrease between calls.
func (p *occurrences) next(text []byte, from int) int {
	first := -1
	if from > len(text) {
		return first
	}
	for i, word := range p.words {
		if p.at[i] == -2 || p.at[i] >= 0 && p.at[i] < from {
			if p.at[i] = bytes.Index(text[from:], asBytes(word)); p.at[i] >= 0 {
				p.at[i] += from
			}
		}
		if p.at[i] >= 0 && (first < 0 || p.at[i] < first) {
			first = p.at[i]
		}
	}
	return first
}
