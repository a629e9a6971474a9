package assertions

import (
	"slices"
	"strings"

	"supervise/integrity/internal/facts"
	"supervise/internal/regexp"
	"supervise/source"
)

// changedFunctions are the names of the functions that contain those lines.
var changedFunctions = facts.Define(func(c *facts.Set) map[string]bool {
	out := map[string]bool{}
	for _, f := range c.Files {
		if f.BelongsToTests() || facts.IsDocumentation(f.Path) {
			continue
		}
		functionsAt(f.Before(), f.RemovedLines(), out)
		functionsAt(f.After(), f.AddedLines(), out)
	}
	return out
})

func functionsAt(s *facts.Side, list []facts.Line, into map[string]bool) {
	if len(list) == 0 || s.Language() == source.Unknown {
		return
	}
	for _, fn := range s.Source().Functions {
		at, _ := slices.BinarySearchFunc(list, fn.Line, func(l facts.Line, n int) int { return l.Number - n })
		if at < len(list) && list[at].Number <= fn.End && fn.Name != "(file)" {
			into[facts.LastName(fn.Name)] = true
		}
	}
}

// callsChanged reports whether a test names a function that was changed.
func callsChanged(c *facts.Set, t *facts.Test) bool {
	for name := range changedFunctions.Of(c) {
		if len(name) > 2 && t.Tokens[name] > 0 {
			return true
		}
	}
	return false
}

// asksChanged reports whether an assertion itself names a function of the product
// that was changed.
func asksChanged(c *facts.Set, a facts.Assertion) bool {
	names := facts.SubjectWords(a.Text)
	for name := range changedFunctions.Of(c) {
		if len(name) > 2 && names[name] > 0 {
			return true
		}
	}
	return false
}

// namesChanged reports whether a name of an assertion, not a common one of its file,
// occurs in the rest of the change.
func namesChanged(c *facts.Set, t *facts.Test, a facts.Assertion) bool {
	changed := facts.ChangedWords.Of(c)
	for w := range facts.SubjectWords(a.Text) {
		if c.CommonWord(t, w) || c.IsNamespace(w) {
			continue
		}
		for _, part := range facts.Fragment.FindAllString(w, -1) {
			if len(part) > 3 && changed[strings.ToLower(part)] {
				return true
			}
		}
	}
	return false
}

// rewrittenCount counts the assertions of the change of which only literals differ.
func rewrittenCount(c *facts.Set) int {
	n := 0
	for _, d := range deltas.Of(c) {
		for _, r := range d.revised {
			if facts.Squash(r.was.Skeleton) == facts.Squash(r.now.Skeleton) {
				n++
			}
		}
	}
	return n
}

// printed matches assertions about all that a program prints: any change of it may
// show there.
var printed = regexp.MustCompile(`(?:fnmatch|re_match)_lines?`)

// touchedUp reports whether an assertion expects another value now without a reason
// that shows: few do, nothing else of the test was changed, the value is of the same
// kind, and what else was changed has nothing to do with it.
func touchedUp(c *facts.Set, d delta, r revision) bool {
	if printed.MatchString(r.was.Skeleton) {
		return false
	}
	return rewrittenCount(c) <= facts.FewRewritten && len(d.removed)+len(d.added) == 0 && len(d.revised) <= facts.FewRewritten &&
		sameKinds(r.was.Literals, r.now.Literals) && !changesSubjectOf(c, d.Now.Side.Path) &&
		!slices.ContainsFunc(c.Files, func(f *facts.ChangedFile) bool { return facts.Dependencies.MatchString(f.Path) }) &&
		c.Unrelated(strings.Join(r.was.Literals, " "), strings.Join(r.now.Literals, " ")) && !namesChanged(c, d.Was, r.was) && !callsChanged(c, d.Was)
}

// droppedAlone reports whether assertions were taken out of a test that is else as
// it was, and name nothing of what else was changed.
func droppedAlone(c *facts.Set, d delta) bool {
	if len(d.added)+len(d.revised) > 0 || callsChanged(c, d.Was) {
		return false
	}
	return !slices.ContainsFunc(d.removed, func(a facts.Assertion) bool { return namesChanged(c, d.Was, a) })
}

// sameKinds reports whether the literals of two assertions are of the same kinds,
// one by one, and short: in one line a value is touched up, a text is written again.
func sameKinds(was, now []string) bool {
	return slices.EqualFunc(was, now, func(a, b string) bool {
		return a == b || a != "" && b != "" && facts.IsName(a) == facts.IsName(b) && (a[0] == '"' || a[0] == '\'' || a[0] == '`') == (b[0] == '"' || b[0] == '\'' || b[0] == '`') &&
			len(a) < 200 && len(b) < 200
	})
}

// changesSubjectOf reports whether the code that a test file is named after was
// changed.
func changesSubjectOf(c *facts.Set, name string) bool {
	subject := facts.SubjectOf(name)
	return slices.ContainsFunc(c.Files, func(f *facts.ChangedFile) bool {
		return f.After().Product() && akin(subject, facts.SubjectOf(f.Path))
	})
}

// akin reports whether two names have most of the shorter one, from its beginning
// on, in common.
func akin(a, b string) bool {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	return n >= 3 && 3*n >= 2*min(len(a), len(b))
}
