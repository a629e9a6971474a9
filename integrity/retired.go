package integrity

import (
	"path"
	"slices"
	"strings"

	"supervise/internal/regexp"
	"supervise/source"
)

// leastShrink is how many lines more product code has to lose than it gets, for
// the loss of tests about them to look meant.
const leastShrink = 2

// retired reports whether what a lost test was about went with it, as far as the
// text can tell: product code became less, or is called deprecated, in lines that
// have words of the test in them.
func (c *change) retired(l loss) bool {
	return c.mentions(l, c.shrunkWords()) || c.mentions(l, c.deprecatedWords()) || c.endsDeprecation(l.telling()) || c.namedInShrunk(l.test)
}

// endsDeprecation reports whether words are about what is deprecated, and product
// code lost lines that are, too: what was called so is gone now.
func (c *change) endsDeprecation(words map[string]bool) bool {
	about := false
	for w := range words {
		about = about || deprecation.MatchString(w)
	}
	return about && slices.ContainsFunc(c.files, func(f *file) bool {
		_, found := firstMatch(outsideTests(f.before(), f.removedLines()), deprecation)
		return found
	})
}

// leastInName is how many words within the name of a lost test must stand in what
// product code lost.
const leastInName = 2

// namedInShrunk reports whether two words within the name of a test, which the names
// of most tests of its file do not have, are within words that product code lost
// where it became less: unclosed and warning of UnclosedWarning.
func (c *change) namedInShrunk(t *test) bool {
	lost := map[string]bool{}
	for w := range c.shrunkWords() {
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
	return n >= leastInName
}

// usualName reports whether half of the tests that stood in a file with a test, and
// stay, have a word within their names.
func (c *change) usualName(t *test, part string) bool {
	all, with := 0, 0
	for _, p := range c.tests().pairs {
		if p.was.f == t.f && p.was.TestDef != t.TestDef {
			all++
			if nameParts(p.was)[part] {
				with++
			}
		}
	}
	return 2*with > all && all > 1
}

// shrunkWords returns the words of the lines that product code lost: all of it, where
// it lost more than it got, or the files of which that is so.
func (c *change) shrunkWords() map[string]bool {
	if c.shrunk != nil {
		return c.shrunk
	}
	c.shrunk = map[string]bool{}
	all := 0
	less := make([]int, len(c.files))
	for i, f := range c.files {
		less[i] = codeOutsideTests(f.before(), f.removedLines()) - codeOutsideTests(f.after(), f.addedLines())
		all += less[i]
	}
	for i, f := range c.files {
		if max(all, less[i]) < leastShrink {
			continue
		}
		for _, l := range outsideTests(f.before(), f.removedLines()) {
			addTelling(c.shrunk, l.text)
		}
	}
	return c.shrunk
}

// outsideTests returns those lines of product code that stand in no test, nil
// where the file is no product code.
func outsideTests(s *side, list []line) []line {
	if !s.product() {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(list), func(l line) bool { return s.testAt(l.n) != nil })
}

// codeOutsideTests counts those of them that are more than comment: code that is made
// one is code that is gone.
func codeOutsideTests(s *side, list []line) int {
	if list = outsideTests(s, list); len(list) == 0 {
		return 0
	}
	code, n := lines(s.withoutComments()), 0
	for _, l := range list {
		if l.n > len(code) || strings.TrimSpace(code[l.n-1].text) != "" {
			n++
		}
	}
	return n
}

// deprecation matches lines that say that something is not to be used any more.
var deprecation = regexp.MustCompile(`(?i)deprecat|\bobsolete\b`)

// aroundDeprecation is how many lines below such a line may name what it is
// about.
const aroundDeprecation = 3

// deprecatedWords returns the words of product code next to lines that were added
// and call something deprecated.
func (c *change) deprecatedWords() map[string]bool {
	if c.deprecated != nil {
		return c.deprecated
	}
	c.deprecated = map[string]bool{}
	for _, f := range c.files {
		if !f.after().product() {
			continue
		}
		for _, l := range matching(f.addedLines(), deprecation) {
			for n := l.n - 1; n <= l.n+aroundDeprecation; n++ {
				addTelling(c.deprecated, f.after().lineAt(n))
			}
		}
	}
	return c.deprecated
}

// addTelling adds the longer words of a text.
func addTelling(into map[string]bool, text string) {
	for _, w := range word.FindAllString(text, -1) {
		if len(w) > 3 && !vocabulary.MatchString(w) && isName(w) && !deprecation.MatchString(w) {
			into[w] = true
		}
	}
}

// mentions reports whether a lost test has one of the words, and not all tests of
// its file have it.
func (c *change) mentions(l loss, words map[string]bool) bool {
	if len(words) == 0 {
		return false
	}
	own := map[string]bool{}
	addTelling(own, l.Name)
	for token := range l.Tokens {
		addTelling(own, token)
	}
	for w := range own {
		if words[w] && !c.usual(l.test, w) && !c.namespace(w) {
			return true
		}
	}
	return false
}

// namespace reports whether a word is the name of a folder above the product code
// that changed: of the whole project, which any test may name.
func (c *change) namespace(w string) bool {
	return slices.ContainsFunc(c.files, func(f *file) bool {
		return f.before().product() && slices.ContainsFunc(strings.Split(path.Dir(f.Path), "/"), func(dir string) bool { return strings.EqualFold(dir, w) })
	})
}

// usual reports whether most of the tests that stood in a file with a test, and
// stay, have a word.
func (c *change) usual(t *test, w string) bool {
	all, with := 0, 0
	for _, p := range c.tests().pairs {
		if p.was.f == t.f && p.was.TestDef != t.TestDef {
			all++
			if p.was.Tokens[w] > 0 {
				with++
			}
		}
	}
	return 2*with > all && all > 1
}

// telling returns the longer words of a test, its name among them.
func (t *test) telling() map[string]bool {
	out := map[string]bool{}
	addTelling(out, t.Name)
	for token := range t.Tokens {
		addTelling(out, token)
	}
	return out
}

const (
	// replacedWords is how many of the words of a lost test another must have to
	// be in its place, as a share.
	replacedWords = .5
	// rewrittenWords and movedWords are how many of them must be in what was added
	// where tests are written anew: in the same file, and in any.
	rewrittenWords = .4
	movedWords     = .8
	// rewriting is how many lines are added to tests where they are written anew.
	rewriting = 20
)

// commonWords returns how many words of a test that not all of its file have are
// among others, as a share; 0 where it has fewer than two.
func (c *change) commonWords(t *test, have map[string]bool) float64 {
	n, all := 0, 0
	if len(have) == 0 {
		return 0
	}
	for w := range t.telling() {
		if c.usual(t, w) {
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

// replaced reports whether a new test of the same file says most of what a lost
// one did, in other words, where the code that they test changed.
func (c *change) replaced(l loss) bool {
	return c.touchesProduct() && slices.ContainsFunc(c.newTests(), func(t *test) bool {
		return t.f == l.f && !t.skipped() && 2*len(t.Assertions) >= len(l.Assertions) && len(t.Assertions) > len(tautologies(t)) &&
			(c.commonWords(l.test, t.telling()) >= replacedWords || commonInNames(l.test, t) >= 2)
	})
}

// newTests returns the tests that were not there before under their name.
func (c *change) newTests() []*test {
	out := slices.Clone(c.tests().added)
	for _, p := range c.tests().pairs {
		if p.how == byBody {
			out = append(out, p.now)
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

// commonInNames counts the words that the names of two tests have in common.
func commonInNames(a, b *test) int {
	n, other := 0, nameParts(b)
	for w := range nameParts(a) {
		if other[w] {
			n++
		}
	}
	return n
}

// nameParts returns the stems of the words within the name of a test.
func nameParts(t *test) map[string]bool {
	out := map[string]bool{}
	for _, w := range inName.FindAllString(strings.TrimPrefix(t.Name, t.Class), -1) {
		if !usualInNames.MatchString(strings.ToLower(w)) {
			out[stemOf(w)] = true
		}
	}
	return out
}

func stemOf(w string) string { return strings.ToLower(w[:min(stem, len(w))]) }

// suiteRewritten reports whether tests were written anew on a large scale, and
// what was added to them has nearly all words of a lost one.
func (c *change) suiteRewritten(l loss) bool {
	return c.commonWords(l.test, c.wordsOfRewriting(nil)) >= movedWords ||
		!l.f.Deleted && c.commonWords(l.test, c.wordsOfRewriting(l.f)) >= rewrittenWords
}

// wordsOfRewriting returns the words that were added to a file of tests, nil for
// all of them, where it was written anew.
func (c *change) wordsOfRewriting(only *file) map[string]bool {
	if list, known := c.rewriting[only]; known {
		return list
	}
	out := map[string]bool{}
	came, gone := 0, 0
	for _, f := range c.files {
		if !f.testing() || only != nil && f != only {
			continue
		}
		came, gone = came+len(f.addedLines()), gone+len(f.removedLines())
		for _, r := range f.addedLines() {
			addTelling(out, f.after().plainRange(r.n, r.n))
		}
	}
	if came < rewriting || 2*came < gone {
		out = nil
	}
	if c.rewriting == nil {
		c.rewriting = map[*file]map[string]bool{}
	}
	c.rewriting[only] = out
	return out
}

// addedTestText is what was added to tests and to what they read, without white
// space: tables, fixtures, snapshots. What a test that stays has as before, but for
// the names, was not added.
func (m *matcher) addedTestText() string {
	c := m.c
	if c.addedText != nil {
		return *c.addedText
	}
	known := map[*file][]pair{}
	for _, p := range m.pairs {
		known[p.now.f] = append(known[p.now.f], p)
	}
	text := c.addedCode(func(f *file) bool {
		return f.after().there() && f.testing() && !putAway(f.after().path) && !c.leavesDiscovery(f)
	}, func(f *file, l line) bool {
		return slices.ContainsFunc(known[f], func(p pair) bool { return p.now.Line <= l.n && l.n <= p.now.End && p.hadLiterals(l.text) })
	})
	c.addedText = &text
	return text
}

// hadLiterals reports whether a line has literals, and its test had all of them.
func (p pair) hadLiterals(text string) bool {
	list := anyLiteral.FindAllString(text, -1)
	return len(list) > 0 && !slices.ContainsFunc(list, func(l string) bool { return !slices.Contains(p.was.Literals, l) })
}

// leastLiteral is the length in bytes from which a literal is told from others.
// A single one must be longLiteral long.
const (
	leastLiteral = 4
	longLiteral  = 16
)

// literalsMoved reports whether most literals of a lost test stand in what was
// added to tests: in a table, a fixture, another test.
func (m *matcher) literalsMoved(t *test) bool {
	text := m.addedTestText()
	n, all, long := 0, 0, 0
	for _, l := range t.Literals {
		l = squash(strings.Trim(l, "\"'`"))
		if len(l) < leastLiteral {
			continue
		}
		if all++; strings.Contains(text, l) {
			n++
		}
		long = max(long, len(l))
	}
	return (all >= 2 || long >= longLiteral) && float64(n) >= literalsFound*float64(all)
}

// sameAsTwin is how much of its words a test must have in common with another to
// be written twice.
const sameAsTwin = .95

// twin reports whether a test that stays has all assertions and literals of a
// lost one, and nearly all of its words.
func (m *matcher) twin(b *test) bool {
	return slices.ContainsFunc(m.pairs, func(p pair) bool {
		return p.was.f == b.f && len(b.Assertions) > 0 && !p.now.Skipped && subset(b.Assertions, p.now.Assertions) &&
			subset(b.Literals, p.now.Literals) && source.Similarity(*b.TestDef, *p.now.TestDef) >= sameAsTwin
	})
}

func subset(a, b []string) bool {
	return !slices.ContainsFunc(a, func(s string) bool { return !slices.Contains(b, s) })
}
