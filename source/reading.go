package source

import (
	"bytes"
	"sync"
)

// reading is what was made of a text so far: each step once, and only where it is
// needed. What it returns, but for texts, is not to be used after its close.
type reading struct {
	lang  Language
	src   []byte
	kinds []kind
	split *tokens
	bare  []byte
	lists *lists
}

// lists are what a reading fills and nothing that is said of a file refers to. They
// are most of what reading allocates, so the next reading uses them again.
type lists struct {
	kinds []kind
	list  []lexeme
	first []int
	in    []bool
	up    []int
}

var spare = sync.Pool{New: func() any { return new(lists) }}

func newReading(lang Language, src []byte) *reading {
	r := &reading{lang: lang, src: src, lists: spare.Get().(*lists)}
	r.lists.kinds = classifyInto(r.lists.kinds, lang, src)
	r.kinds = r.lists.kinds
	return r
}

func (r *reading) close() {
	if r.split != nil {
		r.lists.list, r.lists.first, r.lists.in = r.split.list, r.split.first, r.split.inText
	}
	spare.Put(r.lists)
	r.lists, r.split, r.kinds = nil, nil, nil
}

// tokens returns the code in tokens.
func (r *reading) tokens() *tokens {
	if r.split == nil {
		r.split = tokenize(r.lang, r.src, r.kinds, r.lists)
	}
	return r.split
}

// isSplit reports whether tokens was called.
func (r *reading) isSplit() bool { return r.split != nil }

// plain returns the text without its comments.
func (r *reading) plain() []byte {
	if r.bare == nil {
		r.bare = strip(r.src, r.kinds)
	}
	return r.bare
}

// strip blanks the comments.
func strip(src []byte, kinds []kind) []byte {
	plain := bytes.Clone(src)
	for i, k := range kinds {
		if k == comment && src[i] != '\n' && src[i] != '\r' {
			plain[i] = ' '
		}
	}
	return plain
}

func mask(src []byte, kinds []kind) []byte {
	masked := make([]byte, len(src))
	for i, c := range src {
		if kinds[i] != code && c != '\n' && c != '\r' {
			c = ' '
		}
		masked[i] = c
	}
	return masked
}

// countLines counts the lines that hold a byte of code or text that is no
// white space.
func countLines(src []byte, kinds []kind) int {
	n := 0
	counted := false
	for i, c := range src {
		switch {
		case c == '\n':
			counted = false
		case !counted && kinds[i] != comment && !isSpace(c):
			counted = true
			n++
		}
	}
	return n
}
