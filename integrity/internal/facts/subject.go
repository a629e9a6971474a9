package facts

import (
	"slices"
	"strings"

	"supervise/internal/regexp"
	"supervise/source"
)

// names returns what the product code of a side defines.
func (s *Side) names() map[string]bool {
	out := map[string]bool{}
	if !s.Product() {
		return out
	}
	for _, f := range s.Source().Functions {
		out[LastName(f.Name)] = true
	}
	for _, name := range definitions(s.WithoutStrings()) {
		out[name] = true
	}
	return out
}

var lastPart = regexp.MustCompile(`[A-Za-z_$][\w$]*[?!]?$`)

// LastName returns the last part of a qualified name.
func LastName(s string) string { return lastPart.FindString(s) }

// GoneNames are the names that product code defined before and does not now, in
// any file of the change.
var GoneNames = Define(func(c *Set) map[string]bool {
	out, still := map[string]bool{}, map[string]bool{}
	for _, f := range c.Files {
		if !f.Before().Product() && !f.After().Product() || len(f.AddedLines())+len(f.RemovedLines()) == 0 {
			continue
		}
		for name := range f.Before().names() {
			out[name] = true
		}
		for name := range f.After().names() {
			still[name] = true
		}
	}
	for name := range still {
		delete(out, name)
	}
	return out
})

// SubjectGone reports whether a test used a name that product code does not
// define any more.
func (c *Set) SubjectGone(t *Test) bool {
	gone := GoneNames.Of(c)
	return len(gone) > 0 && t.Side.Language() != source.Unknown && slices.ContainsFunc(t.Symbols, func(s string) bool {
		name := LastName(s)
		return len(name) > 2 && gone[name]
	})
}

// RemovedWords are the words of the product code that was removed and that none of
// the changed product files has any more.
var RemovedWords = Define(func(c *Set) map[string]bool {
	out := map[string]bool{}
	for _, f := range c.Files {
		if !f.Before().Product() {
			continue
		}
		for _, l := range outsideTests(f.Before(), f.RemovedLines()) {
			EachWord(l.Text, func(w string) {
				if len(w) > 4 {
					out[w] = true
				}
			})
		}
	}
	if len(out) == 0 {
		return out
	}
	for _, f := range c.Files {
		if f.After().Product() {
			EachWord(string(f.After().Text), func(w string) { delete(out, w) })
		}
	}
	return out
})

// Plausible reports whether there is a hint, but no proof, that a test was removed for a
// reason: it names something that product code no longer has, has less of, or calls
// deprecated, or a new test has the same subject.
func (c *Set) Plausible(l Loss) bool {
	if removed := RemovedWords.Of(c); len(removed) > 0 {
		for token := range l.Tokens {
			for _, w := range Word.FindAllString(token, -1) {
				if removed[w] {
					return true
				}
			}
		}
	}
	inv := Tests.Of(c)
	return c.retired(l) || c.replaced(l) || c.suiteRewritten(l) || slices.ContainsFunc(inv.Added, func(t *Test) bool {
		return inv.Models[t].Similarity < CopyEnough && sameSubject(l.Test, t)
	})
}

// sameSubject reports whether a new test uses most of what a lost one did, and
// asserts half as much at least.
func sameSubject(lost, now *Test) bool {
	if len(lost.Symbols) < 3 || 2*len(now.Assertions) < len(lost.Assertions) || now.NeverRuns() {
		return false
	}
	n := 0
	for _, s := range lost.Symbols {
		if slices.Contains(now.Symbols, s) && !strings.HasPrefix(s, "testing.") {
			n++
		}
	}
	return 10*n >= 7*len(lost.Symbols)
}
