package facts

import (
	"slices"
	"strings"

	"supervise/internal/regexp"
	"supervise/source"
)

// definedNames returns what the product code of a side defines.
func (s *Side) definedNames() map[string]bool {
	out := map[string]bool{}
	if !s.IsProduct() {
		return out
	}
	for _, f := range s.Inspection().Functions {
		out[LastName(f.Name)] = true
	}
	for _, name := range definitions(s.WithoutStrings()) {
		out[name] = true
	}
	return out
}

var lastNameRE = regexp.MustCompile(`[A-Za-z_$][\w$]*[?!]?$`)

// LastName returns the last part of a qualified name.
func LastName(s string) string { return lastNameRE.FindString(s) }

// RemovedNames are the names that product code defined before and does not now, in
// any file of the change.
var RemovedNames = Define(func(c *Change) map[string]bool {
	out, still := map[string]bool{}, map[string]bool{}
	for _, f := range c.Files {
		if !f.Before().IsProduct() && !f.After().IsProduct() || len(f.AddedLines())+len(f.RemovedLines()) == 0 {
			continue
		}
		for name := range f.Before().definedNames() {
			out[name] = true
		}
		for name := range f.After().definedNames() {
			still[name] = true
		}
	}
	for name := range still {
		delete(out, name)
	}
	return out
})

// IsSubjectRemoved reports whether a test used a name that product code does not
// define any more.
func (c *Change) IsSubjectRemoved(t *Test) bool {
	removed := RemovedNames.Of(c)
	return len(removed) > 0 && t.Side.Language() != source.Unknown && slices.ContainsFunc(t.Symbols, func(s string) bool {
		name := LastName(s)
		return len(name) > 2 && removed[name]
	})
}

// RemovedWords are the words of the product code that was removed and that none of
// the changed product files has any more.
var RemovedWords = Define(func(c *Change) map[string]bool {
	out := map[string]bool{}
	for _, f := range c.Files {
		if !f.Before().IsProduct() {
			continue
		}
		for _, l := range linesOutsideTests(f.Before(), f.RemovedLines()) {
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
		if f.After().IsProduct() {
			EachWord(string(f.After().Text), func(w string) { delete(out, w) })
		}
	}
	return out
})

// IsPlausibleRemoval reports whether there is a hint, but no proof, that a test was removed for a
// reason: it names something that product code no longer has, has less of, or calls
// deprecated, or a new test has the same subject.
func (c *Change) IsPlausibleRemoval(l Loss) bool {
	if removed := RemovedWords.Of(c); len(removed) > 0 {
		for token := range l.Tokens {
			for _, w := range WordRE.FindAllString(token, -1) {
				if removed[w] {
					return true
				}
			}
		}
	}
	inv := Tests.Of(c)
	return c.isSubjectRetired(l) || c.isReplaced(l) || c.isInRewrittenSuite(l) || slices.ContainsFunc(inv.Added, func(t *Test) bool {
		return inv.Closest[t].Similarity < MinCopySimilarity && hasSameSubject(l.Test, t)
	})
}

// hasSameSubject reports whether a new test uses most of what a lost one did, and
// asserts half as much at least.
func hasSameSubject(lost, after *Test) bool {
	if len(lost.Symbols) < 3 || 2*len(after.Assertions) < len(lost.Assertions) || after.NeverRuns() {
		return false
	}
	n := 0
	for _, s := range lost.Symbols {
		if slices.Contains(after.Symbols, s) && !strings.HasPrefix(s, "testing.") {
			n++
		}
	}
	return 10*n >= 7*len(lost.Symbols)
}
