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

// sieve is what is known about the matches of an expression without trying it.
type sieve struct {
	// need are texts of which each match contains one; nil if none are known.
	need []string
	fold bool // need is lower case, and matches in any case
	// lead are texts with which each match begins, after blanks if atLine.
	lead   []string
	atLine bool                  // a match begins with its line
	inLine bool                  // a match never contains a line end
	here   func() *regexp.Regexp // the expression, anchored at the beginning of a text
	next   func() *regexp.Regexp // the same after the first character
}

func newSieve(text string) sieve {
	tree, err := syntax.Parse(text, syntax.Perl)
	if err != nil {
		return sieve{} // compiling it reports the error
	}
	s := sieve{inLine: inLine(tree), here: late(`\A(?:` + text + `)`), next: late(`\A(?s:.)(?:` + text + `)`)}
	s.need, s.fold = needs(tree)
	if !s.fold {
		s.lead, s.atLine = leads(tree)
	}
	return s
}

func late(text string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(text) })
}

// view is the same text without a copy; it must not be written to.
func view(text string) []byte { return unsafe.Slice(unsafe.StringData(text), len(text)) }

// may reports whether a text contains what each match needs.
func (s *sieve) may(text []byte) bool {
	if s.need == nil {
		return true
	}
	if s.fold {
		var room [256]byte
		text = inLowerCase(text, room[:0])
	}
	for _, word := range s.need {
		if bytes.Contains(text, view(word)) {
			return true
		}
	}
	return false
}

// inLowerCase returns a text with its ASCII letters in lower case, in the given memory
// if it fits.
func inLowerCase(text, room []byte) []byte {
	out := append(room, text...)
	for i, c := range out {
		if 'A' <= c && c <= 'Z' {
			out[i] = c + 'a' - 'A'
		}
	}
	return out
}

// short is the length of a text, in bytes, up to which an expression is tried on all of
// it if the text contains what is needed.
const short = 200

// all returns the first n matches, with their groups if wanted:
// [Regexp.FindAllSubmatchIndex] or [Regexp.FindAllIndex].
func (r *Regexp) all(text []byte, n int, groups bool) [][]int {
	re := r.get()
	switch {
	case !r.sieve.may(text):
		return nil
	case len(text) <= short:
	case r.sieve.lead != nil:
		return r.sieve.led(re, text, n, groups)
	case r.sieve.inLine && r.sieve.need != nil && !r.sieve.fold:
		return r.sieve.byLine(re, text, n, groups)
	}
	return matches(re, text, n, groups)
}

func matches(re *regexp.Regexp, text []byte, n int, groups bool) [][]int {
	if groups {
		return re.FindAllSubmatchIndex(text, n)
	}
	return re.FindAllIndex(text, n)
}

// led tries the expression at each place where a match can begin. It gives up, and
// searches the whole text at once, if the tries together read much more than the text:
// each may read to the end before it fails.
func (s *sieve) led(re *regexp.Regexp, text []byte, n int, groups bool) [][]int {
	var out [][]int
	places := newPlaces(s.lead)
	rest := &reader{most: 4*len(text) + 1000}
	for from, end := 0, 0; n < 0 || len(out) < n; {
		at := places.next(text, from)
		if at < 0 {
			break
		}
		start := at
		if s.atLine {
			start = bytes.LastIndexByte(text[:at], '\n') + 1
		}
		var found []int
		if start >= end {
			found = s.tryAt(text, start, rest, groups)
		}
		if rest.most < 0 {
			return matches(re, text, n, groups)
		}
		switch {
		case found != nil:
			out = append(out, found)
			end = found[1]
			from = max(at+1, end)
		case s.atLine: // a line is tried once
			i := bytes.IndexByte(text[at:], '\n')
			if i < 0 {
				return out
			}
			from = at + i
		default:
			from = at + 1
		}
	}
	return out
}

// tryAt returns the match that begins at a place, nil for none.
func (s *sieve) tryAt(text []byte, start int, rest *reader, groups bool) []int {
	re, begin := s.here(), start
	if start > 0 && !s.atLine {
		re, begin = s.next(), start-1
	}
	rest.text = text[begin:]
	var found []int
	if groups {
		found = moved(re.FindReaderSubmatchIndex(rest), begin)
	} else {
		found = moved(re.FindReaderIndex(rest), begin)
	}
	if found != nil {
		found[0] = start
	}
	return found
}

// reader reads a text with a limit on the bytes of all reads together.
type reader struct {
	text []byte
	most int
}

func (r *reader) ReadRune() (rune, int, error) {
	if len(r.text) == 0 || r.most < 0 {
		return 0, 0, io.EOF
	}
	c, size := rune(r.text[0]), 1
	if c >= utf8.RuneSelf {
		c, size = utf8.DecodeRune(r.text)
	}
	r.text, r.most = r.text[size:], r.most-size
	return c, size, nil
}

// moved adds an offset to the positions of a match.
func moved(found []int, by int) []int {
	for i := range found {
		if found[i] >= 0 {
			found[i] += by
		}
	}
	return found
}

// byLine tries the expression on each line that contains what it needs.
func (s *sieve) byLine(re *regexp.Regexp, text []byte, n int, groups bool) [][]int {
	var out [][]int
	places := newPlaces(s.need)
	for from := 0; from <= len(text) && (n < 0 || len(out) < n); {
		at := places.next(text, from)
		if at < 0 {
			break
		}
		start := bytes.LastIndexByte(text[:at], '\n') + 1
		end := len(text)
		if i := bytes.IndexByte(text[at:], '\n'); i >= 0 {
			end = at + i
		}
		for _, found := range matches(re, text[start:end], -1, groups) {
			out = append(out, moved(found, start))
		}
		from = end + 1
	}
	if n >= 0 && len(out) > n {
		out = out[:n]
	}
	return out
}

// places iterates over the positions of some words.
type places struct {
	words []string
	at    []int // the next position of each word, -1 for none, -2 if unknown
}

func newPlaces(words []string) *places {
	p := &places{words: words, at: make([]int, len(words))}
	for i := range p.at {
		p.at[i] = -2
	}
	return p
}

// next returns the first position at or after from, -1 for none; from never decreases.
func (p *places) next(text []byte, from int) int {
	least := -1
	if from > len(text) {
		return least
	}
	for i, word := range p.words {
		if p.at[i] == -2 || p.at[i] >= 0 && p.at[i] < from {
			if p.at[i] = bytes.Index(text[from:], view(word)); p.at[i] >= 0 {
				p.at[i] += from
			}
		}
		if p.at[i] >= 0 && (least < 0 || p.at[i] < least) {
			least = p.at[i]
		}
	}
	return least
}
