package lex

import (
	"bytes"
	"sync"

	"supervise/source/internal/language"
)

// Source is a source text and what is derived from it. Each derivation runs once, on demand.
// After Close, only the source text and the result of Plain may be used.
type Source struct {
	Lang    language.Language
	Src     []byte
	Kinds   []Kind  // the kind of each byte of Src
	tokens  *Tokens // nil until Tokens is called
	plain   []byte  // nil until Plain is called
	buffers *buffers
}

// buffers are the slices that a Source fills and that no result refers to. They are most of
// what reading a file allocates, so the next Source reuses them.
type buffers struct {
	kinds       []Kind
	tokens      []Token
	firstOfLine []int
	inText      []bool
}

var bufferPool = sync.Pool{New: func() any { return new(buffers) }}

// NewSource classifies the bytes of a source. Close releases its buffers.
func NewSource(lang language.Language, src []byte) *Source {
	b := bufferPool.Get().(*buffers)
	b.kinds = classifyInto(b.kinds, lang, src)
	return &Source{Lang: lang, Src: src, Kinds: b.kinds, buffers: b}
}

// Close releases the buffers for the next Source.
func (r *Source) Close() {
	if r.tokens != nil {
		r.buffers.tokens, r.buffers.firstOfLine, r.buffers.inText = r.tokens.List, r.tokens.FirstOfLine, r.tokens.InText
	}
	bufferPool.Put(r.buffers)
	r.buffers, r.tokens, r.Kinds = nil, nil, nil
}

// Tokens returns the code split into tokens.
func (r *Source) Tokens() *Tokens {
	if r.tokens == nil {
		r.tokens = tokenize(r.Lang, r.Src, r.Kinds, r.buffers)
	}
	return r.tokens
}

// HasTokens reports whether Tokens was called.
func (r *Source) HasTokens() bool { return r.tokens != nil }

// Plain returns the source with its comments replaced by spaces.
func (r *Source) Plain() []byte {
	if r.plain == nil {
		r.plain = blankComments(r.Src, r.Kinds)
	}
	return r.plain
}

// blankComments returns a copy of src whose comments are spaces.
func blankComments(src []byte, kinds []Kind) []byte {
	plain := bytes.Clone(src)
	for i, k := range kinds {
		if k == Comment && src[i] != '\n' && src[i] != '\r' {
			plain[i] = ' '
		}
	}
	return plain
}

// Mask returns a copy of src in which everything but code is spaces.
func Mask(src []byte, kinds []Kind) []byte {
	masked := make([]byte, len(src))
	for i, c := range src {
		if kinds[i] != code && c != '\n' && c != '\r' {
			c = ' '
		}
		masked[i] = c
	}
	return masked
}

// CountLines counts the lines with code or text that is not white space.
func CountLines(src []byte, kinds []Kind) int {
	n := 0
	counted := false
	for i, c := range src {
		switch {
		case c == '\n':
			counted = false
		case !counted && kinds[i] != Comment && !IsSpace(c):
			counted = true
			n++
		}
	}
	return n
}
