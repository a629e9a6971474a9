// Package regexp is the standard package of that name, with two differences.
//
// An expression is compiled at its first use. A program has hundreds of expressions and starts
// thousands of times, once for each call of an agent's hook, to use a few of them. Go's own
// internal/lazyregexp does the same.
//
// An expression is tried only where it can match. needs.go derives from the expression some texts
// of which every match must contain one. quick.go searches for these first, and most texts do not
// contain them. RE2's prefilters do the same. The results are those of the standard package.
//
// In tests an expression is compiled at once, so that a broken one cannot hide.
//
// A [Set] finds which of many expressions match a complete text.
package regexp

import (
	"os"
	"regexp"
	"strings"
	"sync"
)

// Regexp is an expression that may not have been compiled yet. It is safe for
// concurrent use.
type Regexp struct {
	text   string // the expression as written
	once   sync.Once
	re     *regexp.Regexp // nil until it is compiled
	filter filter         // set with re
}

// inTest reports whether the program is the binary of a Go test.
var inTest = len(os.Args) > 0 && strings.HasSuffix(strings.TrimSuffix(os.Args[0], ".exe"), ".test")

// MustCompile returns the expression. Its first use panics if the expression is invalid.
func MustCompile(text string) *Regexp {
	r := &Regexp{text: text}
	if inTest {
		r.compiled()
	}
	return r
}

// Compile compiles an expression at once. It is for expressions of the user, which may be
// invalid.
func Compile(text string) (*Regexp, error) {
	re, err := regexp.Compile(text)
	if err != nil {
		return nil, err
	}
	r := &Regexp{text: text, re: re, filter: newFilter(text)}
	r.once.Do(func() {})
	return r, nil
}

// QuoteMeta is that of the standard package.
func QuoteMeta(s string) string { return regexp.QuoteMeta(s) }

// compiled returns the compiled expression, and compiles it at the first call.
func (r *Regexp) compiled() *regexp.Regexp {
	r.once.Do(func() { r.re, r.filter = regexp.MustCompile(r.text), newFilter(r.text) })
	return r.re
}

// String returns the expression as written.
func (r *Regexp) String() string { return r.text }
