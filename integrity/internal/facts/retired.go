package facts

import (
	"maps"
	"path"
	"slices"
	"strings"

	"supervise/internal/regexp"
	"supervise/source"
)

// minShrink is how many lines product code must have lost on balance for the loss of
// its tests to look intended.
const minShrink = 2

// isSubjectRetired reports whether the subject of a lost test seems to be gone: product code
// shrank, or is called deprecated, in lines that contain words of the test.
func (c *Change) isSubjectRetired(l Loss) bool {
	return c.mentionsAny(l, ShrunkWords.Of(c)) || c.mentionsAny(l, deprecatedWords.Of(c)) || c.RemovesDeprecated(l.distinctiveWords()) || c.isNameInLostCode(l.Test)
}

// RemovesDeprecated reports whether words are about deprecated code, and product code lost
// lines that call something deprecated.
func (c *Change) RemovesDeprecated(words map[string]bool) bool {
	isDeprecated := slices.ContainsFunc(slices.Collect(maps.Keys(words)), deprecationRE.MatchString)
	return isDeprecated && slices.ContainsFunc(c.Files, func(f *ChangedFile) bool {
		return len(MatchingLines(linesOutsideTests(f.Before(), f.RemovedLines()), deprecationRE)) > 0
	})
}

// MinCommonNameWords is how many words within the name of a lost test must occur in what
// product code lost.
const MinCommonNameWords = 2

// isNameInLostCode reports whether two words within the name of a test, which the names
// of most tests of its file do not have, are within words that product code lost
// where it became less: unclosed and warning of UnclosedWarning.
func (c *Change) isNameInLostCode(t *Test) bool {
	lost := map[string]bool{}
	for w := range ShrunkWords.Of(c) {
		for _, part := range nameWordRE.FindAllString(w, -1) {
			lost[stemOf(part)] = true
		}
	}
	n := 0
	for part := range nameStems(t) {
		if len(part) == stemLength && lost[part] && !c.isUsualNameWord(t, part) {
			n++
		}
	}
	return n >= MinCommonNameWords
}

// isUsualNameWord reports whether most of the tests that share a file with a test, and
// remain, have a word within their names.
func (c *Change) isUsualNameWord(t *Test, stem string) bool {
	return c.isInMostTests(t, func(other *Test) bool { return nameStems(other)[stem] })
}

// isInMostTests reports whether most of the tests that share a file with a test, and remain,
// have something. One other test is too few.
func (c *Change) isInMostTests(t *Test, has func(*Test) bool) bool {
	others, matching := 0, 0
	for _, p := range Tests.Of(c).Pairs {
		if p.Before.File == t.File && p.Before.TestDef != t.TestDef {
			others++
			if has(p.Before) {
				matching++
			}
		}
	}
	return others > 1 && 2*matching > others
}

// ShrunkWords are the words of the lines that product code lost: in all files if they lost
// more lines than they got, otherwise in the files of which that is true.
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

// linesOutsideTests returns the lines of product code that are in no test, nil if the file is
// not product code.
func linesOutsideTests(s *Side, list []Line) []Line {
	if !s.IsProduct() {
		return nil
	}
	return Filter(list, func(l Line) bool { return s.TestAt(l.Number) == nil })
}

// countCodeOutsideTests counts the lines of product code that are in no test and are more
// than a comment.
func countCodeOutsideTests(s *Side, list []Line) int {
	if list = linesOutsideTests(s, list); len(list) == 0 {
		return 0
	}
	code := SplitLines(s.WithoutComments())
	return Count(list, func(l Line) bool {
		return l.Number > len(code) || strings.TrimSpace(code[l.Number-1].Text) != ""
	})
}

// deprecationRE matches lines that call something deprecated.
var deprecationRE = regexp.MustCompile(`(?i)deprecat|\bobsolete\b`)

// linesBelowDeprecation is how many lines below such a line may name what it is
// about.
const linesBelowDeprecation = 3

// deprecatedWords are the words of product code next to lines that were added and
// call something deprecated.
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

// addDistinctiveWords adds the longer words of a text.
func addDistinctiveWords(into map[string]bool, text string) {
	for _, w := range WordRE.FindAllString(text, -1) {
		isUsual := AssertionWordRE.MatchString(w) || deprecationRE.MatchString(w)
		if len(w) > 3 && IsName(w) && !isUsual {
			into[w] = true
		}
	}
}

// mentionsAny reports whether a lost test has one of the words, and not all tests of its
// file have it.
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

// IsNamespace reports whether a word is the name of a folder above the product code
// that changed: of the entire project, which any test may name.
func (c *Change) IsNamespace(w string) bool {
	return slices.ContainsFunc(c.Files, func(f *ChangedFile) bool {
		return f.Before().IsProduct() && slices.ContainsFunc(strings.Split(path.Dir(f.Path), "/"), func(dir string) bool { return strings.EqualFold(dir, w) })
	})
}

// IsCommonWord reports whether most of the tests that share a file with a test, and remain,
// have a word.
func (c *Change) IsCommonWord(t *Test, word string) bool {
	return c.isInMostTests(t, func(other *Test) bool { return other.Tokens[word] > 0 })
}

// distinctiveWords returns the longer words of a test, its name among them.
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

// shareOfWords returns the share of the words of a test, without those that all tests of its
// file have, that were found; 0 if there are fewer than two.
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

// isReplaced reports whether a new test of the same file has most of the words of a lost
// one, and the code that they test changed.
func (c *Change) isReplaced(l Loss) bool {
	return c.TouchesProduct() && slices.ContainsFunc(c.newTests(), func(t *Test) bool {
		checksEnough := !t.NeverRuns() && 2*len(t.Assertions) >= len(l.Assertions) && len(t.Assertions) > len(Tautologies(t))
		return t.File == l.File && checksEnough &&
			(c.shareOfWords(l.Test, t.distinctiveWords()) >= minReplacedShare || CountCommonNameWords(l.Test, t) >= 2)
	})
}

// newTests returns the tests that were not there before under their name.
func (c *Change) newTests() []*Test {
	out := slices.Clone(Tests.Of(c).Added)
	for _, p := range Tests.Of(c).Pairs {
		if p.MatchedBy == MatchedByBody {
			out = append(out, p.After)
		}
	}
	return out
}

// nameWordRE matches the words within a name.
var nameWordRE = regexp.MustCompile(`[A-Z]?[a-z]+|[A-Z]+|\d+`)

// usualNameWordRE are words that the name of any test may have.
var usualNameWordRE = regexp.MustCompile(`^(?:tests?|should|when|with|without|that|this|case|does|from|have|will|works?|and|not|the|can|for|are|has|are|its?|returns?|correct\w*|if|in|is|to|of|a|an|by|on|be)$`)

// stemLength is how many letters of two words must be the same, so that keys is key.
const stemLength = 4

// CountCommonNameWords counts the words that the names of two tests have in common.
func CountCommonNameWords(a, b *Test) int {
	stems := nameStems(b)
	return Count(slices.Collect(maps.Keys(nameStems(a))), func(stem string) bool { return stems[stem] })
}

// nameStems returns the stems of the words within the name of a test.
func nameStems(t *Test) map[string]bool {
	out := map[string]bool{}
	for _, w := range nameWordRE.FindAllString(strings.TrimPrefix(t.Name, t.Class), -1) {
		if !usualNameWordRE.MatchString(strings.ToLower(w)) {
			out[stemOf(w)] = true
		}
	}
	return out
}

func stemOf(w string) string { return strings.ToLower(w[:min(stemLength, len(w))]) }

// isInRewrittenSuite reports whether tests were rewritten on a large scale, and the added
// lines have nearly all words of a lost one.
func (c *Change) isInRewrittenSuite(l Loss) bool {
	return c.shareOfWords(l.Test, wordsOfRewrite.Of(c)) >= minMovedShare ||
		!l.File.Deleted && c.shareOfWords(l.Test, l.File.wordsOfRewrite()) >= minRewrittenShare
}

// wordsOfRewrite are the words that were added to test files, nil unless these were
// rewritten.
var wordsOfRewrite = Define(func(c *Change) map[string]bool { return rewrittenWords(c.Files) })

// wordsOfRewrite are those of one file.
func (f *ChangedFile) wordsOfRewrite() map[string]bool {
	return f.addedWords.get(func() map[string]bool { return rewrittenWords([]*ChangedFile{f}) })
}

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

// addedTestText is what was added to tests and to what they read (tables, fixtures,
// snapshots), without white space. What a test that stays had before, apart from names,
// does not count.
func (m *matcher) addedTestText() string {
	return m.addedText.get(m.readAddedTestText)
}

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

// hasMovedLiterals reports whether most literals of a lost test occur in what was
// added to tests: in a table, a fixture, another test.
func (m *matcher) hasMovedLiterals(t *Test) bool {
	text := m.addedTestText()
	n, all, long := 0, 0, 0
	for _, l := range t.Literals {
		l = RemoveSpace(strings.Trim(l, "\"'`"))
		if len(l) < MinLiteralLength {
			continue
		}
		if all++; strings.Contains(text, l) {
			n++
		}
		long = max(long, len(l))
	}
	return (all >= 2 || long >= minSingleLiteral) && float64(n) >= minLiteralsFound*float64(all)
}

// minDuplicateSimilarity is the share of words that a test must have in common with its duplicate.
const minDuplicateSimilarity = .95

// hasDuplicate reports whether a test that remains has all assertions and literals of a lost
// one, and nearly all of its words.
func (m *matcher) hasDuplicate(t *Test) bool {
	return len(t.Assertions) > 0 && slices.ContainsFunc(m.Pairs, func(p Pair) bool {
		checksTheSame := isSubset(t.Assertions, p.After.Assertions) && isSubset(t.Literals, p.After.Literals)
		return p.Before.File == t.File && !p.After.Skipped && checksTheSame &&
			source.Similarity(*t.TestDef, *p.After.TestDef) >= minDuplicateSimilarity
	})
}

func isSubset(a, b []string) bool {
	return All(a, func(s string) bool { return slices.Contains(b, s) })
}
