package assertions

import (
	"slices"
	"strings"

	"supervise/integrity/internal/facts"
	"supervise/internal/regexp"
	"supervise/source"
)

// changedFunctions are the names of the functions that contain those lines.
var changedFunctions = facts.Define(func(c *facts.Change) map[string]bool {
	out := map[string]bool{}
	for _, f := range c.Files {
		if f.BelongsToTests() || facts.IsDocumentation(f.Path) {
			continue
		}
		addFunctionsAt(f.Before(), f.RemovedLines(), out)
		addFunctionsAt(f.After(), f.AddedLines(), out)
	}
	return out
})

func addFunctionsAt(s *facts.Side, list []facts.Line, into map[string]bool) {
	if len(list) == 0 || s.Language() == source.Unknown {
		return
	}
	for _, fn := range s.Inspection().Functions {
		at, _ := slices.BinarySearchFunc(list, fn.Line, func(l facts.Line, n int) int { return l.Number - n })
		if at < len(list) && list[at].Number <= fn.End && fn.Name != "(file)" {
			into[facts.LastName(fn.Name)] = true
		}
	}
}

// callsChangedFunction reports whether a test names a function that was changed.
func callsChangedFunction(c *facts.Change, t *facts.Test) bool {
	for name := range changedFunctions.Of(c) {
		if len(name) > 2 && t.Tokens[name] > 0 {
			return true
		}
	}
	return false
}

// namesChangedFunction reports whether an assertion itself names a function of the product
// that was changed.
func namesChangedFunction(c *facts.Change, a facts.Assertion) bool {
	names := facts.SubjectWords(a.Text)
	for name := range changedFunctions.Of(c) {
		if len(name) > 2 && names[name] > 0 {
			return true
		}
	}
	return false
}

// namesChangedWord reports whether a name of an assertion, not a common one of its file,
// occurs in the rest of the change.
func namesChangedWord(c *facts.Change, t *facts.Test, a facts.Assertion) bool {
	changed := facts.ChangedWords.Of(c)
	for w := range facts.SubjectWords(a.Text) {
		if c.IsCommonWord(t, w) || c.IsNamespace(w) {
			continue
		}
		for _, part := range facts.FragmentRE.FindAllString(w, -1) {
			if len(part) > 3 && changed[strings.ToLower(part)] {
				return true
			}
		}
	}
	return false
}

// countRewritten counts the assertions of the change of which only literals differ.
func countRewritten(c *facts.Change) int {
	n := 0
	for _, d := range assertionDiffs.Of(c) {
		for _, r := range d.revised {
			if facts.RemoveSpace(r.before.Skeleton) == facts.RemoveSpace(r.after.Skeleton) {
				n++
			}
		}
	}
	return n
}

// outputMatchRE matches assertions about all that a program prints: any change of it may
// show there.
var outputMatchRE = regexp.MustCompile(`(?:fnmatch|re_match)_lines?`)

// isIsolatedRewrite reports whether an assertion expects another value now without a reason
// that shows: few do, nothing else of the test was changed, the value is of the same
// kind, and what else was changed has nothing to do with it.
func isIsolatedRewrite(c *facts.Change, d assertionDiff, r revision) bool {
	if outputMatchRE.MatchString(r.before.Skeleton) {
		return false
	}
	return countRewritten(c) <= facts.MaxIsolatedRewrites && len(d.removed)+len(d.added) == 0 && len(d.revised) <= facts.MaxIsolatedRewrites &&
		areSameKinds(r.before.Literals, r.after.Literals) && !changesSubjectOf(c, d.After.Side.Path) &&
		!slices.ContainsFunc(c.Files, func(f *facts.ChangedFile) bool { return facts.DependencyFileRE.MatchString(f.Path) }) &&
		c.IsUnrelated(strings.Join(r.before.Literals, " "), strings.Join(r.after.Literals, " ")) && !namesChangedWord(c, d.Before, r.before) && !callsChangedFunction(c, d.Before)
}

// isIsolatedRemoval reports whether assertions were taken out of a test that is else as
// it was, and name nothing of what else was changed.
func isIsolatedRemoval(c *facts.Change, d assertionDiff) bool {
	if len(d.added)+len(d.revised) > 0 || callsChangedFunction(c, d.Before) {
		return false
	}
	return !slices.ContainsFunc(d.removed, func(a facts.Assertion) bool { return namesChangedWord(c, d.Before, a) })
}

// areSameKinds reports whether the literals of two assertions are of the same kinds,
// one by one, and short: in one line a value is touched up, a text is written again.
func areSameKinds(before, after []string) bool {
	return slices.EqualFunc(before, after, func(a, b string) bool {
		return a == b || a != "" && b != "" && facts.IsName(a) == facts.IsName(b) && (a[0] == '"' || a[0] == '\'' || a[0] == '`') == (b[0] == '"' || b[0] == '\'' || b[0] == '`') &&
			len(a) < 200 && len(b) < 200
	})
}

// changesSubjectOf reports whether the code that a test file is named after was
// changed.
func changesSubjectOf(c *facts.Change, name string) bool {
	subject := facts.SubjectName(name)
	return slices.ContainsFunc(c.Files, func(f *facts.ChangedFile) bool {
		return f.After().IsProduct() && shareNamePrefix(subject, facts.SubjectName(f.Path))
	})
}

// shareNamePrefix reports whether two names have most of the shorter one, from its beginning
// on, in common.
func shareNamePrefix(a, b string) bool {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	return n >= 3 && 3*n >= 2*min(len(a), len(b))
}
