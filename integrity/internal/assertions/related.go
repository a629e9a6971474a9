package assertions

import (
	"slices"
	"strings"

	"supervise/integrity/internal/facts"
	"supervise/internal/regexp"
	"supervise/source"
)

// changedFunctions are the names of the functions, outside tests, that contain changed lines.
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

// addFunctionsAt adds the names of the functions that contain one of the lines.
func addFunctionsAt(s *facts.Side, lines []facts.Line, names map[string]bool) {
	if len(lines) == 0 || s.Language() == source.Unknown {
		return
	}
	for _, fn := range s.Inspection().Functions {
		next, _ := slices.BinarySearchFunc(lines, fn.Line, func(l facts.Line, n int) int { return l.Number - n })
		if next < len(lines) && lines[next].Number <= fn.End && fn.Name != "(file)" {
			names[facts.LastName(fn.Name)] = true
		}
	}
}

// callsChangedFunction reports whether a test names a function that was changed.
func callsChangedFunction(c *facts.Change, t *facts.Test) bool {
	return hasChangedFunction(c, t.Tokens)
}

// hasChangedFunction reports whether one of the words is the name of a changed function.
func hasChangedFunction(c *facts.Change, words map[string]int) bool {
	for name := range changedFunctions.Of(c) {
		if len(name) > 2 && words[name] > 0 {
			return true
		}
	}
	return false
}

// namesChangedFunction reports whether an assertion itself names a function of the product that
// was changed.
func namesChangedFunction(c *facts.Change, a facts.Assertion) bool {
	return hasChangedFunction(c, facts.SubjectWords(a.Text))
}

// namesChangedWord reports whether a name of an assertion occurs in the rest of the change. Names
// that most tests of the file have do not count.
func namesChangedWord(c *facts.Change, t *facts.Test, a facts.Assertion) bool {
	changed := facts.ChangedWords.Of(c)
	return facts.NamesSubject(a.Text, func(w string) bool {
		isChanged := slices.ContainsFunc(facts.FragmentRE.FindAllString(w, -1), func(part string) bool {
			return len(part) > 3 && changed[strings.ToLower(part)]
		})
		return isChanged && !c.IsCommonWord(t, w) && !c.IsNamespace(w)
	})
}

// countRewritten counts the assertions of the change of which only literals differ.
func countRewritten(c *facts.Change) int {
	n := 0
	for _, d := range assertionDiffs.Of(c) {
		n += facts.Count(d.revised, revision.differsOnlyInLiterals)
	}
	return n
}

// differsOnlyInLiterals reports whether two assertions are the same apart from their literals.
func (r revision) differsOnlyInLiterals() bool {
	return facts.RemoveSpace(r.before.Skeleton) == facts.RemoveSpace(r.after.Skeleton)
}

// outputMatchRE matches assertions about all that a program prints, such as fnmatch_lines. Any
// change of the output may show there.
var outputMatchRE = regexp.MustCompile(`(?:fnmatch|re_match)_lines?`)

// isIsolatedRewrite reports whether an assertion expects another value for no visible reason:
// few assertions do, nothing else of the test changed, the value is of the same kind, and the
// rest of the change has nothing to do with it.
func isIsolatedRewrite(c *facts.Change, d assertionDiff, r revision) bool {
	isSmall := len(d.removed)+len(d.added) == 0 && len(d.revised) <= facts.MaxIsolatedRewrites
	if !isSmall || outputMatchRE.MatchString(r.before.Skeleton) || countRewritten(c) > facts.MaxIsolatedRewrites {
		return false
	}
	changesDependencies := slices.ContainsFunc(c.Files, func(f *facts.ChangedFile) bool { return facts.DependencyFileRE.MatchString(f.Path) })
	if changesDependencies || !areSameKinds(r.before.Literals, r.after.Literals) || changesSubjectOf(c, d.After.Side.Path) {
		return false
	}
	isUnrelated := c.IsUnrelated(strings.Join(r.before.Literals, " "), strings.Join(r.after.Literals, " "))
	return isUnrelated && !namesChangedWord(c, d.Before, r.before) && !callsChangedFunction(c, d.Before)
}

// isIsolatedRemoval reports whether assertions were removed from an otherwise unchanged test,
// and name nothing of what else changed.
func isIsolatedRemoval(c *facts.Change, d assertionDiff) bool {
	if len(d.added)+len(d.revised) > 0 || callsChangedFunction(c, d.Before) {
		return false
	}
	return facts.All(d.removed, func(a facts.Assertion) bool { return !namesChangedWord(c, d.Before, a) })
}

// maxValueLength is the length in bytes from which on a literal is a text rather than a value.
const maxValueLength = 200

// areSameKinds reports whether the literals of two assertions are of the same kinds, one by one,
// and are short.
func areSameKinds(before, after []string) bool {
	isQuoted := func(s string) bool { return strings.ContainsRune("\"'`", rune(s[0])) }
	return slices.EqualFunc(before, after, func(a, b string) bool {
		if a == b || a == "" || b == "" {
			return a == b
		}
		isSameKind := facts.IsName(a) == facts.IsName(b) && isQuoted(a) == isQuoted(b)
		return isSameKind && len(a) < maxValueLength && len(b) < maxValueLength
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

// shareNamePrefix reports whether two names share a prefix that is most of the shorter one.
func shareNamePrefix(a, b string) bool {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	return n >= 3 && 3*n >= 2*min(len(a), len(b))
}
