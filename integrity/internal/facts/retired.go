package facts

import (
	"maps"
	"path"
	"slices"
	"strings"

	"supervise/internal/regexp"
	"supervise/source"
)

// minShrink is how many lines product code must have lost on balance for the loss of its tests to
// look intended.
const minShrink = 2

// isSubjectRetired reports whether the subject of a lost test seems to be gone: product code became
// less or is now called deprecated, in lines that contain words of the test.
func (c *Change) isSubjectRetired(l Loss) bool {
	words := slices.Collect(maps.Keys(l.distinctiveWords()))
	return c.mentionsAny(l, ShrunkWords.Of(c)) || c.mentionsAny(l, deprecatedWords.Of(c)) || c.RemovesDeprecated(words) || c.isNameInLostCode(l.Test)
}

// RemovesDeprecated reports whether words are about deprecated code, and product code lost
// lines that call something deprecated.
func (c *Change) RemovesDeprecated(words []string) bool {
	return slices.ContainsFunc(words, deprecationRE.MatchString) && slices.ContainsFunc(c.Files, func(f *ChangedFile) bool {
		return len(MatchingLines(linesOutsideTests(f.Before(), f.RemovedLines()), deprecationRE)) > 0
	})
}

// MinCommonNameWords is how many words within the name of a lost test must occur in what
// product code lost.
const MinCommonNameWords = 2

// isNameInLostCode reports whether at least two words within the name of a test are parts of words
// that shrinking product code lost, as "unclosed" and "warning" are of UnclosedWarning. Words that
// most test names of the file have do not count.
func (c *Change) isNameInLostCode(t *Test) bool {
	lost := map[string]bool{}
	for w := range ShrunkWords.Of(c) {
		for _, part := range nameWordRE.FindAllString(w, -1) {
			lost[stemOf(part)] = true
		}
	}
	isUsual := func(stem string) bool {
		return c.isInMostTests(t, func(other *Test) bool { return nameStems(other)[stem] })
	}
	n := Count(slices.Collect(maps.Keys(nameStems(t))), func(stem string) bool {
		return len(stem) == stemLength && lost[stem] && !isUsual(stem)
	})
	return n >= MinCommonNameWords
}

// isInMostTests reports whether has is true for most of the remaining tests of the file of a test.
// It is false if there are fewer than two of them.
func (c *Change) isInMostTests(t *Test, has func(*Test) bool) bool {
	others := Filter(Tests.Of(c).Pairs, func(p Pair) bool { return p.Before.File == t.File && p.Before.TestDef != t.TestDef })
	return len(others) > 1 && 2*Count(others, func(p Pair) bool { return has(p.Before) }) > len(others)
}

// ShrunkWords are the words of the lines that product code lost. If all files together became
// shorter, the lines of all files count, otherwise those of the files that did.
var ShrunkWords = Define(func(c *Change) map[string]bool {
	out, total := map[string]bool{}, 0
	shrinkage := make([]int, len(c.Files))
	for i, f := range c.Files {
		shrinkage[i] = countCodeOutsideTests(f.Before(), f.RemovedLines()) - countCodeOutsideTests(f.After(), f.AddedLines())
		total += shrinkage[i]
	}
	for i, f := range c.Files {
		if max(total, shrinkage[i]) < minShrink {
			continue
		}
		for _, l := range linesOutsideTests(f.Before(), f.RemovedLines()) {
			addDistinctiveWords(out, l.Text)
		}
	}
	return out
})

// linesOutsideTests returns the lines that are in no test. It returns nil if the file is not
// product code.
func linesOutsideTests(s *Side, list []Line) []Line {
	if !s.IsProduct() {
		return nil
	}
	return Filter(list, func(l Line) bool { return s.TestAt(l.Number) == nil })
}

// countCodeOutsideTests counts the lines of product code that are in no test and are more
// than a comment.
func countCodeOutsideTests(s *Side, list []Line) int {
	return Count(linesOutsideTests(s, list), func(l Line) bool { return strings.TrimSpace(s.CodeAt(l.Number)) != "" })
}

// deprecationRE matches lines that call something deprecated, such as "# Deprecated: use run".
var deprecationRE = regexp.MustCompile(`(?i)deprecat|\bobsolete\b`)

// linesBelowDeprecation is how many lines below a deprecation may name what is deprecated.
const linesBelowDeprecation = 3

// deprecatedWords are the words of product code on, directly above, and a few lines below an added
// line that calls something deprecated.
var deprecatedWords = Define(func(c *Change) map[string]bool {
	out := map[string]bool{}
	for _, f := range c.Files {
		if !f.After().IsProduct() {
			continue
		}
		for _, l := range MatchingLines(f.AddedLines(), deprecationRE) {
			for n := l.Number - 1; n <= l.Number+linesBelowDeprecation; n++ {
				addDistinctiveWords(out, f.After().LineAt(n))
			}
		}
	}
	return out
})

// addDistinctiveWords adds the words of a text that have more than three letters and are usual
// neither in assertions nor in deprecations.
func addDistinctiveWords(into map[string]bool, text string) {
	for _, w := range WordRE.FindAllString(text, -1) {
		isUsual := AssertionWordRE.MatchString(w) || deprecationRE.MatchString(w)
		if len(w) > 3 && IsName(w) && !isUsual {
			into[w] = true
		}
	}
}

// mentionsAny reports whether a lost test has one of the words. Words that most tests of its file
// have, and names of folders, do not count.
func (c *Change) mentionsAny(l Loss, words map[string]bool) bool {
	if len(words) == 0 {
		return false
	}
	for w := range l.distinctiveWords() {
		if words[w] && !c.IsCommonWord(l.Test, w) && !c.IsNamespace(w) {
			return true
		}
	}
	return false
}

// IsNamespace reports whether a word is the name of a folder above changed product code. Such a
// word may stand for the entire project, and any test may have it.
func (c *Change) IsNamespace(w string) bool {
	return slices.ContainsFunc(c.Files, func(f *ChangedFile) bool {
		return f.Before().IsProduct() && slices.ContainsFunc(strings.Split(path.Dir(f.Path), "/"), func(dir string) bool { return strings.EqualFold(dir, w) })
	})
}

// IsCommonWord reports whether most of the remaining tests of the file of a test have a word.
func (c *Change) IsCommonWord(t *Test, word string) bool {
	return c.isInMostTests(t, func(other *Test) bool { return other.Tokens[word] > 0 })
}

// distinctiveWords returns the distinctive words of the name and the body of a test.
func (t *Test) distinctiveWords() map[string]bool {
	out := map[string]bool{}
	addDistinctiveWords(out, t.Name)
	for token := range t.Tokens {
		addDistinctiveWords(out, token)
	}
	return out
}

const (
	// minReplacedShare is the share of the words of a lost test that another test must
	// have to replace it.
	minReplacedShare = .5
	// minRewrittenShare and minMovedShare are the shares that must be among the added words
	// when tests are rewritten: in the same file, and in any file.
	minRewrittenShare = .4
	minMovedShare     = .8
	// minRewrittenLines is how many lines must be added to tests that are rewritten.
	minRewrittenLines = 20
)

// shareOfWords returns the share of the words of a test that were found, between 0 and 1. Words
// that most tests of its file have do not count. The share is 0 if there are fewer than two words.
func (c *Change) shareOfWords(t *Test, found map[string]bool) float64 {
	if len(found) == 0 {
		return 0
	}
	words := Filter(slices.Collect(maps.Keys(t.distinctiveWords())), func(w string) bool { return !c.IsCommonWord(t, w) })
	if len(words) < 2 {
		return 0
	}
	return shareOf(words, found)
}

// isReplaced reports whether product code changed, and a new test of the same file has most of the
// words of a lost one, or two words of its name.
func (c *Change) isReplaced(l Loss) bool {
	return c.TouchesProduct() && slices.ContainsFunc(c.newTests(), func(t *Test) bool {
		checksEnough := !t.NeverRuns() && 2*len(t.Assertions) >= len(l.Assertions) && len(t.Assertions) > len(Tautologies(t))
		return t.File == l.File && checksEnough &&
			(c.shareOfWords(l.Test, t.distinctiveWords()) >= minReplacedShare || CountCommonNameWords(l.Test, t) >= 2)
	})
}

// newTests returns the tests that did not exist before under their name.
func (c *Change) newTests() []*Test {
	replaced := Filter(Tests.Of(c).Pairs, func(p Pair) bool { return p.MatchedBy == MatchedByBody })
	return slices.Concat(Tests.Of(c).Added, Map(replaced, func(p Pair) *Test { return p.After }))
}

// nameWordRE matches the words within a name: "parse", "URL" and "2" of "parse_URL2".
var nameWordRE = regexp.MustCompile(`[A-Z]?[a-z]+|[A-Z]+|\d+`)

// usualNameWordRE matches words that the name of any test may have, such as "should" and "returns".
var usualNameWordRE = regexp.MustCompile(`^(?:tests?|should|when|with|without|that|this|case|does|from|have|will|works?|and|not|the|can|for|are|has|are|its?|returns?|correct\w*|if|in|is|to|of|a|an|by|on|be)$`)

// stemLength is how many letters of two words must be the same for them to have one stem, so that
// keys and keyset count as one word.
const stemLength = 4

// CountCommonNameWords counts the words that the names of two tests have in common.
func CountCommonNameWords(a, b *Test) int {
	stems := nameStems(b)
	return Count(slices.Collect(maps.Keys(nameStems(a))), func(stem string) bool { return stems[stem] })
}

// nameStems returns the stems of the words within the name of a test, without the usual ones.
func nameStems(t *Test) map[string]bool {
	out := map[string]bool{}
	for _, w := range nameWordRE.FindAllString(strings.TrimPrefix(t.Name, t.Class), -1) {
		if !usualNameWordRE.MatchString(strings.ToLower(w)) {
			out[stemOf(w)] = true
		}
	}
	return out
}

// stemOf returns the first letters of a word, in lower case.
func stemOf(w string) string { return strings.ToLower(w[:min(stemLength, len(w))]) }

// isInRewrittenSuite reports whether many lines of tests were rewritten, and the added lines have
// nearly all words of a lost test.
func (c *Change) isInRewrittenSuite(l Loss) bool {
	return c.shareOfWords(l.Test, wordsOfRewrite.Of(c)) >= minMovedShare ||
		!l.File.Deleted && c.shareOfWords(l.Test, l.File.wordsOfRewrite()) >= minRewrittenShare
}

// wordsOfRewrite are the words that were added to test files. It is nil unless many lines of tests
// were rewritten.
var wordsOfRewrite = Define(func(c *Change) map[string]bool { return rewrittenWords(c.Files) })

// wordsOfRewrite returns the words that were added to one file. It is nil unless many of its lines
// were rewritten.
func (f *ChangedFile) wordsOfRewrite() map[string]bool {
	return f.addedWords.get(func() map[string]bool { return rewrittenWords([]*ChangedFile{f}) })
}

// rewrittenWords returns the words that were added to the test files among some files. It is nil if
// too few lines were added, or less than half as many as were removed.
func rewrittenWords(files []*ChangedFile) map[string]bool {
	out := map[string]bool{}
	added, removed := 0, 0
	for _, f := range files {
		if !f.BelongsToTests() {
			continue
		}
		added, removed = added+len(f.AddedLines()), removed+len(f.RemovedLines())
		for _, r := range f.AddedLines() {
			addDistinctiveWords(out, f.After().LinesWithoutComments(r.Number, r.Number))
		}
	}
	if added < minRewrittenLines || 2*added < removed {
		return nil
	}
	return out
}

// addedTestText returns the text that was added to tests and to what they read (tables, fixtures,
// snapshots), without white space. Lines whose literals their test had before do not count.
func (m *matcher) addedTestText() string {
	return m.addedText.get(m.readAddedTestText)
}

// readAddedTestText computes addedTestText.
func (m *matcher) readAddedTestText() string {
	c := m.c
	known := map[*ChangedFile][]Pair{}
	for _, p := range m.Pairs {
		known[p.After.File] = append(known[p.After.File], p)
	}
	return c.addedCode(func(f *ChangedFile) bool {
		return f.After().Exists() && f.BelongsToTests() && !IsInUnusedFolder(f.After().Path) && !c.LeavesDiscovery(f)
	}, func(f *ChangedFile, l Line) bool {
		return slices.ContainsFunc(known[f], func(p Pair) bool {
			return p.After.Line <= l.Number && l.Number <= p.After.End && p.hadAllLiterals(l.Text)
		})
	})
}

// hadAllLiterals reports whether a line has literals, and its test had all of them.
func (p Pair) hadAllLiterals(text string) bool {
	list := LiteralRE.FindAllString(text, -1)
	return len(list) > 0 && isSubset(list, p.Before.Literals)
}

// MinLiteralLength is the length in bytes from which a literal is distinctive, and
// minSingleLiteral that of a literal without others.
const (
	MinLiteralLength = 4
	minSingleLiteral = 16
)

// hasMovedLiterals reports whether most literals of a lost test occur in the text that was added to
// tests: in a table, a fixture or another test.
func (m *matcher) hasMovedLiterals(t *Test) bool {
	text := m.addedTestText()
	literals := Map(t.Literals, func(l string) string { return RemoveSpace(strings.Trim(l, "\"'`")) })
	literals = Filter(literals, func(l string) bool { return len(l) >= MinLiteralLength })
	found := Count(literals, func(l string) bool { return strings.Contains(text, l) })
	isEnough := len(literals) >= 2 || len(literals) == 1 && len(literals[0]) >= minSingleLiteral
	return isEnough && float64(found) >= minLiteralsFound*float64(len(literals))
}

// minDuplicateSimilarity is the share of words that a test must have in common with its duplicate.
const minDuplicateSimilarity = .95

// hasDuplicate reports whether a test of the same file that remains has all assertions and literals
// of a lost one, and nearly all of its words.
func (m *matcher) hasDuplicate(t *Test) bool {
	return len(t.Assertions) > 0 && slices.ContainsFunc(m.Pairs, func(p Pair) bool {
		checksTheSame := isSubset(t.Assertions, p.After.Assertions) && isSubset(t.Literals, p.After.Literals)
		return p.Before.File == t.File && !p.After.Skipped && checksTheSame &&
			source.Similarity(*t.TestDef, *p.After.TestDef) >= minDuplicateSimilarity
	})
}

// isSubset reports whether b contains each element of a.
func isSubset(a, b []string) bool {
	return All(a, func(s string) bool { return slices.Contains(b, s) })
}
