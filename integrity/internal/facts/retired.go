package facts

import (
	"path"
	"slices"
	"strings"

	"supervise/internal/regexp"
	"supervise/source"
)

// leastShrink is how many lines product code must have lost on balance for the loss of
// its tests to look intended.
const leastShrink = 2

// retired reports whether the subject of a lost test seems to be gone: product code
// shrank, or is called deprecated, in lines that contain words of the test.
func (c *Set) retired(l Loss) bool {
	return c.mentions(l, ShrunkWords.Of(c)) || c.mentions(l, deprecatedWords.Of(c)) || c.EndsDeprecation(l.distinctive()) || c.namedInShrunk(l.Test)
}

// EndsDeprecation reports whether words are about deprecated code, and product code
// lost such lines: what was deprecated is gone.
func (c *Set) EndsDeprecation(words map[string]bool) bool {
	about := false
	for w := range words {
		about = about || deprecation.MatchString(w)
	}
	return about && slices.ContainsFunc(c.Files, func(f *ChangedFile) bool {
		_, found := FirstMatch(outsideTests(f.Before(), f.RemovedLines()), deprecation)
		return found
	})
}

// LeastInName is how many words within the name of a lost test must occur in what
// product code lost.
const LeastInName = 2

// namedInShrunk reports whether two words within the name of a test, which the names
// of most tests of its file do not have, are within words that product code lost
// where it became less: unclosed and warning of UnclosedWarning.
func (c *Set) namedInShrunk(t *Test) bool {
	lost := map[string]bool{}
	for w := range ShrunkWords.Of(c) {
		for _, part := range inName.FindAllString(w, -1) {
			lost[stemOf(part)] = true
		}
	}
	n := 0
	for part := range nameParts(t) {
		if len(part) == stem && lost[part] && !c.usualName(t, part) {
			n++
		}
	}
	return n >= LeastInName
}

// usualName reports whether half of the tests that share a file with a test, and stay,
// have a word within their names.
func (c *Set) usualName(t *Test, part string) bool {
	all, with := 0, 0
	for _, p := range Tests.Of(c).Pairs {
		if p.Was.File == t.File && p.Was.TestDef != t.TestDef {
			all++
			if nameParts(p.Was)[part] {
				with++
			}
		}
	}
	return 2*with > all && all > 1
}

// ShrunkWords are the words of the lines that product code lost: all of it, where
// it lost more than it got, or the files of which that is so.
var ShrunkWords = Define(func(c *Set) map[string]bool {
	out, all := map[string]bool{}, 0
	less := make([]int, len(c.Files))
	for i, f := range c.Files {
		less[i] = codeOutsideTests(f.Before(), f.RemovedLines()) - codeOutsideTests(f.After(), f.AddedLines())
		all += less[i]
	}
	for i, f := range c.Files {
		if max(all, less[i]) < leastShrink {
			continue
		}
		for _, l := range outsideTests(f.Before(), f.RemovedLines()) {
			addDistinctive(out, l.Text)
		}
	}
	return out
})

// outsideTests returns those lines of product code that are in no test, nil
// where the file is not product code.
func outsideTests(s *Side, list []Line) []Line {
	if !s.Product() {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(list), func(l Line) bool { return s.TestAt(l.Number) != nil })
}

// codeOutsideTests counts those lines that are not comments only.
func codeOutsideTests(s *Side, list []Line) int {
	if list = outsideTests(s, list); len(list) == 0 {
		return 0
	}
	code, n := Lines(s.WithoutComments()), 0
	for _, l := range list {
		if l.Number > len(code) || strings.TrimSpace(code[l.Number-1].Text) != "" {
			n++
		}
	}
	return n
}

// deprecation matches lines that call something deprecated.
var deprecation = regexp.MustCompile(`(?i)deprecat|\bobsolete\b`)

// aroundDeprecation is how many lines below such a line may name what it is
// about.
const aroundDeprecation = 3

// deprecatedWords are the words of product code next to lines that were added and
// call something deprecated.
var deprecatedWords = Define(func(c *Set) map[string]bool {
	out := map[string]bool{}
	for _, f := range c.Files {
		if !f.After().Product() {
			continue
		}
		for _, l := range Matching(f.AddedLines(), deprecation) {
			for n := l.Number - 1; n <= l.Number+aroundDeprecation; n++ {
				addDistinctive(out, f.After().LineAt(n))
			}
		}
	}
	return out
})

// addDistinctive adds the longer words of a text.
func addDistinctive(into map[string]bool, text string) {
	for _, w := range Word.FindAllString(text, -1) {
		if len(w) > 3 && !AssertionWord.MatchString(w) && IsName(w) && !deprecation.MatchString(w) {
			into[w] = true
		}
	}
}

// mentions reports whether a lost test has one of the words, and not all tests of
// its file have it.
func (c *Set) mentions(l Loss, words map[string]bool) bool {
	if len(words) == 0 {
		return false
	}
	own := map[string]bool{}
	addDistinctive(own, l.Name)
	for token := range l.Tokens {
		addDistinctive(own, token)
	}
	for w := range own {
		if words[w] && !c.CommonWord(l.Test, w) && !c.IsNamespace(w) {
			return true
		}
	}
	return false
}

// IsNamespace reports whether a word is the name of a folder above the product code
// that changed: of the entire project, which any test may name.
func (c *Set) IsNamespace(w string) bool {
	return slices.ContainsFunc(c.Files, func(f *ChangedFile) bool {
		return f.Before().Product() && slices.ContainsFunc(strings.Split(path.Dir(f.Path), "/"), func(dir string) bool { return strings.EqualFold(dir, w) })
	})
}

// CommonWord reports whether most of the tests that share a file with a test, and stay,
// have a word.
func (c *Set) CommonWord(t *Test, w string) bool {
	all, with := 0, 0
	for _, p := range Tests.Of(c).Pairs {
		if p.Was.File == t.File && p.Was.TestDef != t.TestDef {
			all++
			if p.Was.Tokens[w] > 0 {
				with++
			}
		}
	}
	return 2*with > all && all > 1
}

// distinctive returns the longer words of a test, its name among them.
func (t *Test) distinctive() map[string]bool {
	out := map[string]bool{}
	addDistinctive(out, t.Name)
	for token := range t.Tokens {
		addDistinctive(out, token)
	}
	return out
}

const (
	// replacedWords is how many of the words of a lost test another must have to
	// replace it, as a share.
	replacedWords = .5
	// rewrittenWords and movedWords are the shares of them that must be among the added
	// words when tests are rewritten: in the same file, and in any.
	rewrittenWords = .4
	movedWords     = .8
	// rewriting is how many lines are added to tests when they are rewritten.
	rewriting = 20
)

// commonWords returns how many words of a test that not all of its file have are
// among others, as a share; 0 if it has fewer than two.
func (c *Set) commonWords(t *Test, have map[string]bool) float64 {
	n, all := 0, 0
	if len(have) == 0 {
		return 0
	}
	for w := range t.distinctive() {
		if c.CommonWord(t, w) {
			continue
		}
		if all++; have[w] {
			n++
		}
	}
	if all < 2 {
		return 0
	}
	return float64(n) / float64(all)
}

// replaced reports whether a new test of the same file has most of the words of a lost
// one, and the code that they test changed.
func (c *Set) replaced(l Loss) bool {
	return c.TouchesProduct() && slices.ContainsFunc(c.newTests(), func(t *Test) bool {
		return t.File == l.File && !t.NeverRuns() && 2*len(t.Assertions) >= len(l.Assertions) && len(t.Assertions) > len(Tautologies(t)) &&
			(c.commonWords(l.Test, t.distinctive()) >= replacedWords || CommonInNames(l.Test, t) >= 2)
	})
}

// newTests returns the tests that were not there before under their name.
func (c *Set) newTests() []*Test {
	out := slices.Clone(Tests.Of(c).Added)
	for _, p := range Tests.Of(c).Pairs {
		if p.How == ByBody {
			out = append(out, p.Now)
		}
	}
	return out
}

// inName matches the words within a name.
var inName = regexp.MustCompile(`[A-Z]?[a-z]+|[A-Z]+|\d+`)

// usualInNames are words that the name of any test may have.
var usualInNames = regexp.MustCompile(`^(?:tests?|should|when|with|without|that|this|case|does|from|have|will|works?|and|not|the|can|for|are|has|are|its?|returns?|correct\w*|if|in|is|to|of|a|an|by|on|be)$`)

// stem is how many letters of two words must be the same, so that keys is key.
const stem = 4

// CommonInNames counts the words that the names of two tests have in common.
func CommonInNames(a, b *Test) int {
	n, other := 0, nameParts(b)
	for w := range nameParts(a) {
		if other[w] {
			n++
		}
	}
	return n
}

// nameParts returns the stems of the words within the name of a test.
func nameParts(t *Test) map[string]bool {
	out := map[string]bool{}
	for _, w := range inName.FindAllString(strings.TrimPrefix(t.Name, t.Class), -1) {
		if !usualInNames.MatchString(strings.ToLower(w)) {
			out[stemOf(w)] = true
		}
	}
	return out
}

func stemOf(w string) string { return strings.ToLower(w[:min(stem, len(w))]) }

// suiteRewritten reports whether tests were rewritten on a large scale, and the added
// lines have nearly all words of a lost one.
func (c *Set) suiteRewritten(l Loss) bool {
	return c.commonWords(l.Test, wordsOfRewriting.Of(c)) >= movedWords ||
		!l.File.Deleted && c.commonWords(l.Test, l.File.wordsOfRewriting()) >= rewrittenWords
}

// wordsOfRewriting are the words that were added to test files, nil unless these were
// rewritten.
var wordsOfRewriting = Define(func(c *Set) map[string]bool { return rewrittenIn(c.Files) })

// wordsOfRewriting are those of one file.
func (f *ChangedFile) wordsOfRewriting() map[string]bool {
	return f.rewritten.get(func() map[string]bool { return rewrittenIn([]*ChangedFile{f}) })
}

func rewrittenIn(files []*ChangedFile) map[string]bool {
	out := map[string]bool{}
	came, gone := 0, 0
	for _, f := range files {
		if !f.BelongsToTests() {
			continue
		}
		came, gone = came+len(f.AddedLines()), gone+len(f.RemovedLines())
		for _, r := range f.AddedLines() {
			addDistinctive(out, f.After().PlainRange(r.Number, r.Number))
		}
	}
	if came < rewriting || 2*came < gone {
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
		known[p.Now.File] = append(known[p.Now.File], p)
	}
	return c.addedCode(func(f *ChangedFile) bool {
		return f.After().Exists() && f.BelongsToTests() && !PutAway(f.After().Path) && !c.LeavesDiscovery(f)
	}, func(f *ChangedFile, l Line) bool {
		return slices.ContainsFunc(known[f], func(p Pair) bool { return p.Now.Line <= l.Number && l.Number <= p.Now.End && p.hadLiterals(l.Text) })
	})
}

// hadLiterals reports whether a line has literals, and its test had all of them.
func (p Pair) hadLiterals(text string) bool {
	list := AnyLiteral.FindAllString(text, -1)
	return len(list) > 0 && !slices.ContainsFunc(list, func(l string) bool { return !slices.Contains(p.Was.Literals, l) })
}

// leastLiteral is the length in bytes from which a literal is distinctive.
// A single one must be longLiteral long.
const (
	LeastLiteral = 4
	longLiteral  = 16
)

// literalsMoved reports whether most literals of a lost test occur in what was
// added to tests: in a table, a fixture, another test.
func (m *matcher) literalsMoved(t *Test) bool {
	text := m.addedTestText()
	n, all, long := 0, 0, 0
	for _, l := range t.Literals {
		l = Squash(strings.Trim(l, "\"'`"))
		if len(l) < LeastLiteral {
			continue
		}
		if all++; strings.Contains(text, l) {
			n++
		}
		long = max(long, len(l))
	}
	return (all >= 2 || long >= longLiteral) && float64(n) >= literalsFound*float64(all)
}

// sameAsDuplicate is the share of words that a test must have in common with its duplicate.
const sameAsDuplicate = .95

// hasDuplicate reports whether a test that stays has all assertions and literals of a
// lost one, and nearly all of its words.
func (m *matcher) hasDuplicate(b *Test) bool {
	return slices.ContainsFunc(m.Pairs, func(p Pair) bool {
		return p.Was.File == b.File && len(b.Assertions) > 0 && !p.Now.Skipped && subset(b.Assertions, p.Now.Assertions) &&
			subset(b.Literals, p.Now.Literals) && source.Similarity(*b.TestDef, *p.Now.TestDef) >= sameAsDuplicate
	})
}

func subset(a, b []string) bool {
	return !slices.ContainsFunc(a, func(s string) bool { return !slices.Contains(b, s) })
}
