// Package regexp is the standard package of that name, with two differences.
//
// An expression is compiled at its first use. A program has hundreds of expressions and
// starts thousands of times, once for each call of an agent's hook, to use a handful.
// Go's own internal/lazyregexp does the same.
//
// An expression is tried only where it can match. From the expression follows a text
// that every match must contain. That text is searched for first, and most texts do not
// contain it. RE2's prefilters do the same. The results are those of the standard
// package.
//
// In tests an expression is compiled at once, so that a broken one cannot hide.
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
	text   string
	once   sync.Once
	re     *regexp.Regexp
	filter filter
}

var inTest = len(os.Args) > 0 && strings.HasSuffix(strings.TrimSuffix(os.Args[0], ".exe"), ".test")

// MustCompile returns the expression. Its first use panics if it is broken.
func MustCompile(text string) *Regexp {
	r := &Regexp{text: text}
	if inTest {
		r.compiled()
	}
	return r
}

// Compile compiles at once: it is for expressions of the user.
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

func (r *Regexp) compiled() *regexp.Regexp {
	r.once.Do(func() { r.re, r.filter = regexp.MustCompile(r.text), newFilter(r.text) })
	return r.re
}

// String returns the expression as written.
func (r *Regexp) String() string { return r.text }
