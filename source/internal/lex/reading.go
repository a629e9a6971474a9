package lex

import (
	"bytes"
	"sync"

	"supervise/source/internal/language"
)

// Reading is what was made of a text so far: each step once, and only where it is
// needed. What it returns, but for texts, is not to be used after its close.
type Reading struct {
	Lang  language.Language
	Src   []byte
	Kinds []Kind
	split *Tokens
	bare  []byte
	Lists *lists
}

// Lists are what a reading fills and nothing that is said of a file refers to. They
// are most of what reading allocates, so the next reading uses them again.
type lists struct {
	kinds []Kind
	list  []Token
	first []int
	in    []bool
	Up    []int
}

var spare = sync.Pool{New: func() any { return new(lists) }}

// NewReading classifies a text. Close ends the reading.
func NewReading(lang language.Language, src []byte) *Reading {
	r := &Reading{Lang: lang, Src: src, Lists: spare.Get().(*lists)}
	r.Lists.kinds = classifyInto(r.Lists.kinds, lang, src)
	r.Kinds = r.Lists.kinds
	return r
}

// Close hands the memory on to the next reading.
func (r *Reading) Close() {
	if r.split != nil {
		r.Lists.list, r.Lists.first, r.Lists.in = r.split.List, r.split.First, r.split.InText
	}
	spare.Put(r.Lists)
	r.Lists, r.split, r.Kinds = nil, nil, nil
}

// Tokens returns the code in tokens.
func (r *Reading) Tokens() *Tokens {
	if r.split == nil {
		r.split = tokenize(r.Lang, r.Src, r.Kinds, r.Lists)
	}
	return r.split
}

// IsSplit reports whether tokens was called.
func (r *Reading) IsSplit() bool { return r.split != nil }

// Plain returns the text without its comments.
func (r *Reading) Plain() []byte {
	if r.bare == nil {
		r.bare = strip(r.Src, r.Kinds)
	}
	return r.bare
}

// strip blanks the comments.
func strip(src []byte, kinds []Kind) []byte {
	plain := bytes.Clone(src)
	for i, k := range kinds {
		if k == Comment && src[i] != '\n' && src[i] != '\r' {
			plain[i] = ' '
		}
	}
	return plain
}

// Mask blanks all but code.
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

// CountLines counts the lines that hold a byte of code or text that is no
// white space.
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
