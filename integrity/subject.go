package integrity

import (
	"slices"
	"strings"

	"supervise/internal/regexp"
	"supervise/source"
)

// names returns what the product code of a side defines.
func (s *side) names() map[string]bool {
	out := map[string]bool{}
	if !s.product() {
		return out
	}
	for _, f := range s.source().Functions {
		out[lastName(f.Name)] = true
	}
	for _, name := range definitions(s.withoutStrings()) {
		out[name] = true
	}
	return out
}

var lastPart = regexp.MustCompile(`[A-Za-z_$][\w$]*[?!]?$`)

func lastName(s string) string { return lastPart.FindString(s) }

// gone returns the names that product code defined before and does not now, in
// any file of the change.
func (c *change) gone() map[string]bool {
	if c.goneNames != nil {
		return c.goneNames
	}
	c.goneNames = map[string]bool{}
	still := map[string]bool{}
	for _, f := range c.files {
		if !f.before().product() && !f.after().product() || len(f.addedLines())+len(f.removedLines()) == 0 {
			continue
		}
		for name := range f.before().names() {
			c.goneNames[name] = true
		}
		for name := range f.after().names() {
			still[name] = true
		}
	}
	for name := range still {
		delete(c.goneNames, name)
	}
	return c.goneNames
}

// subjectGone reports whether a test used a name that product code does not
// define any more.
func (c *change) subjectGone(t *test) bool {
	gone := c.gone()
	return len(gone) > 0 && t.s.language() != source.Unknown && slices.ContainsFunc(t.Symbols, func(s string) bool {
		name := lastName(s)
		return len(name) > 2 && gone[name]
	})
}

// removedWords returns the words of the product code that was removed and that
// none of the changed product files has any more.
func (c *change) removedWords() map[string]bool {
	if c.removedNames != nil {
		return c.removedNames
	}
	c.removedNames = map[string]bool{}
	for _, f := range c.files {
		if !f.before().product() {
			continue
		}
		for _, l := range outsideTests(f.before(), f.removedLines()) {
			eachWord(l.text, func(w string) {
				if len(w) > 4 {
					c.removedNames[w] = true
				}
			})
		}
	}
	if len(c.removedNames) == 0 {
		return c.removedNames
	}
	for _, f := range c.files {
		if f.after().product() {
			eachWord(string(f.after().text), func(w string) { delete(c.removedNames, w) })
		}
	}
	return c.removedNames
}

// plausible reports whether there is a hint, although no more, that a test went
// for a reason: it names something that product code does not have any more, has
// less of, or calls deprecated, or a new test is about the same.
func (c *change) plausible(l loss) bool {
	if removed := c.removedWords(); len(removed) > 0 {
		for token := range l.Tokens {
			for _, w := range word.FindAllString(token, -1) {
				if removed[w] {
					return true
				}
			}
		}
	}
	inv := c.tests()
	return c.retired(l) || c.replaced(l) || c.suiteRewritten(l) || slices.ContainsFunc(inv.added, func(t *test) bool {
		return inv.models[t].like < copyEnough && sameSubject(l.test, t)
	})
}

// sameSubject reports whether a new test uses most of what a lost one did, and
// asserts half as much at least.
func sameSubject(lost, now *test) bool {
	if len(lost.Symbols) < 3 || 2*len(now.Assertions) < len(lost.Assertions) || now.skipped() {
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
