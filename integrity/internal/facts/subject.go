package facts

import (
	"maps"
	"slices"
	"strings"

	"supervise/internal/regexp"
	"supervise/source"
)

// definedNames returns the names that the product code of a side defines. The map is empty for
// other files.
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

// lastNameRE matches the last part of a qualified name: "total" of "cart.total", "empty?" of
// "Cart#empty?".
var lastNameRE = regexp.MustCompile(`[A-Za-z_$][\w$]*[?!]?$`)

// LastName returns the last part of a qualified name, "" if the text does not end with a name.
func LastName(s string) string { return lastNameRE.FindString(s) }

// RemovedNames are the names that product code defined before and that no file of the change
// defines any more.
var RemovedNames = Define(func(c *Change) map[string]bool {
	out, remaining := map[string]bool{}, map[string]bool{}
	for _, f := range c.Files {
		if f.HasChangedLines() {
			maps.Copy(out, f.Before().definedNames())
			maps.Copy(remaining, f.After().definedNames())
		}
	}
	maps.DeleteFunc(out, func(name string, _ bool) bool { return remaining[name] })
	return out
})

// IsSubjectRemoved reports whether a test used one of the [RemovedNames].
func (c *Change) IsSubjectRemoved(t *Test) bool {
	if t.Side.Language() == source.Unknown {
		return false
	}
	removed := RemovedNames.Of(c)
	return slices.ContainsFunc(t.Symbols, func(s string) bool {
		name := LastName(s)
		return len(name) > 2 && removed[name]
	})
}

// RemovedWords are the longer words that lines of product code lost and that no changed
// product file has any more.
var RemovedWords = Define(func(c *Change) map[string]bool {
	out := map[string]bool{}
	for _, f := range c.Files {
		for _, l := range linesOutsideTests(f.Before(), f.RemovedLines()) {
			for w := range Words(l.Text) {
				if len(w) > 4 {
					out[w] = true
				}
			}
		}
	}
	if len(out) == 0 {
		return out
	}
	for _, f := range c.Files {
		if f.After().IsProduct() {
			for w := range Words(string(f.After().Text)) {
				delete(out, w)
			}
		}
	}
	return out
})

// IsPlausibleRemoval reports whether there is a hint, but no proof, that a test was removed for
// a reason: it names something that product code no longer has, has less of, or calls
// deprecated, or a new test has the same subject.
func (c *Change) IsPlausibleRemoval(l Loss) bool {
	return c.namesRemovedWord(l.Test) || c.isSubjectRetired(l) || c.isReplaced(l) || c.isInRewrittenSuite(l) || c.hasNewTest(l)
}

// namesRemovedWord reports whether a test has one of the [RemovedWords].
func (c *Change) namesRemovedWord(t *Test) bool {
	for token := range t.Tokens {
		if HasWord(token, RemovedWords.Of(c)) {
			return true
		}
	}
	return false
}

// hasNewTest reports whether a new test, not a copy of another one, has the subject of a lost
// test.
func (c *Change) hasNewTest(l Loss) bool {
	tests := Tests.Of(c)
	return slices.ContainsFunc(tests.Added, func(t *Test) bool {
		return tests.Closest[t].Similarity < MinCopySimilarity && hasSameSubject(l.Test, t)
	})
}

// hasSameSubject reports whether a new test uses most of what a lost one did, and has at least
// half as many assertions.
func hasSameSubject(lost, added *Test) bool {
	if len(lost.Symbols) < 3 || 2*len(added.Assertions) < len(lost.Assertions) || added.NeverRuns() {
		return false
	}
	shared := Count(lost.Symbols, func(s string) bool {
		return slices.Contains(added.Symbols, s) && !strings.HasPrefix(s, "testing.")
	})
	return 10*shared >= 7*len(lost.Symbols)
}
