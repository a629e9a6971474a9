package facts

import (
	"slices"
	"strings"

	"supervise/internal/regexp"
	"supervise/source"
)

// Test is the definition of a test on one side of a file.
type Test struct {
	*source.TestDef
	File   *ChangedFile
	Side   *Side
	Parent *Test // of a subtest
	at     []int // see assertionLines
}

// Pair is a test that exists before and after the change. How is "" if its
// name and file are the same.
type Pair struct {
	Was, Now *Test
	How      string
}

// Loss is a test that is gone. ExplainedBy is the explanation, "" for none.
type Loss struct {
	*Test
	ExplainedBy string
}

// inventory are the tests of all changed files, matched.
type inventory struct {
	Pairs []Pair
	Lost  []Loss
	Added []*Test // tests that match none from before
	// models maps new tests to the most similar tests that are still there.
	Models map[*Test]model
}

// What explains a lost test, in the order in which it is tried.
const (
	byRename   = "its file was renamed"
	byName     = "another test has its name"
	ByBody     = "a new test has mostly the same body"
	ByAbsorbed = "its assertions or literals are in other test code now"
	BySubject  = "the product code it tested is gone"
	byHelper   = "other tests call its body now"
	byTwin     = "a test that stays does the same"
	ByNothing  = "it was skipped already, or asserted nothing"
	byParent   = "the test around it is explained"
)

// Tests are the tests of all changed files, matched.
var Tests = Define(func(c *Set) *inventory {
	m := newMatcher(c)
	m.match()
	return &m.inventory
})

// plainName is the name of a test without the prefix or suffix for its framework.
func plainName(name string) string {
	name = strings.ToLower(strings.ReplaceAll(lastWord.FindString(name), "_", ""))
	return strings.TrimSuffix(strings.TrimPrefix(name, "test"), "test")
}

var lastWord = regexp.MustCompile(`[^/]*$`)

// model is the existing test that is most similar to a new one.
type model struct {
	of         *Test
	Similarity float64
}

const (
	assertionsFound = .5
	literalsFound   = .6
	maxBodyPairs    = 100_000
)

// explain says what makes the loss of a test harmless, "" for nothing.
func (m *matcher) explain(b *Test) string {
	switch {
	case b.Skipped || b.Parent == nil && len(b.Assertions) == 0:
		return ByNothing
	case b.Parent != nil && !m.usedB[b.Parent] && m.explain(b.Parent) != "":
		return byParent
	case m.absorbed(b), m.becameRow(b), b.Untitled && m.expectedInOtherTest(b):
		return ByAbsorbed
	case m.c.SubjectGone(b):
		return BySubject
	case b.becameHelper():
		return byHelper
	case m.hasDuplicate(b):
		return byTwin
	}
	return ""
}

// absorbed looks for the assertions and literals of a lost test in what was
// added to tests that run.
func (m *matcher) absorbed(b *Test) bool {
	m.loadAdded()
	return share(b.Assertions, m.addedTests) >= assertionsFound || distinctive(b.Literals) && share(b.Literals, m.addedWords) >= literalsFound ||
		m.literalsMoved(b)
}

// becameRow reports whether the values of each assertion of a test are, one after the
// other, in other test code of its file now, where something asserts as strictly: its
// cases became rows of a table, or calls of a helper.
func (m *matcher) becameRow(b *Test) bool {
	added, after := AddedTestCode.Of(m.c), b.File.After()
	if len(b.Assertions) == 0 || !after.MayTest() {
		return false
	}
	least := source.Exact
	for _, text := range b.Assertions {
		a := source.ParseAssertion(text)
		row := Squash(strings.Join(a.Literals, ","))
		if least = min(least, a.Strength); len(a.Literals) < 2 || !strings.Contains(added, row) {
			return false
		}
	}
	plain := Lines(after.WithoutComments())
	return slices.ContainsFunc(b.File.AddedLines(), func(l Line) bool {
		text := strings.TrimSpace(plain[min(l.Number, len(plain))-1].Text)
		if !strings.Contains(text, "assert") && !strings.Contains(text, "expect") {
			return false
		}
		a := source.ParseAssertion(text)
		return a.Strength >= least && !a.Trivial && !a.Repeats && namesOneOf(text, b.Symbols)
	})
}

// namesOneOf reports whether a text has one of the names.
func namesOneOf(text string, names []string) bool {
	words := WordCounts(text)
	return slices.ContainsFunc(names, func(s string) bool { return words[LastName(s)] > 0 })
}

// ofSubject matches the beginning of an expectation of the subject, up to its matcher.
var ofSubject = regexp.MustCompile(`^(?:(?:is|are)_expected\.(?:to|not_to|to_not)|should(?:_not)?)\s+`)

// expectedInOtherTest reports whether what a test without a title expected of the subject is
// expected in other test code now.
func (m *matcher) expectedInOtherTest(b *Test) bool {
	added := AddedTestCode.Of(m.c)
	return len(b.Assertions) > 0 && !slices.ContainsFunc(b.Assertions, func(a string) bool {
		matcher := Squash(a[len(ofSubject.FindString(a)):])
		return len(matcher) == len(Squash(a)) || !strings.Contains(added, ").to"+matcher) && !strings.Contains(added, "_to"+matcher) && !strings.Contains(added, "to_not"+matcher)
	})
}

// loadAdded gathers the assertions and literals of the tests after the change that their
// counterparts before did not have.
func (m *matcher) loadAdded() {
	if m.addedLoaded {
		return
	}
	m.addedLoaded, m.addedTests, m.addedWords = true, map[string]bool{}, map[string]bool{}
	was := map[*Test]*Test{}
	for _, p := range m.Pairs {
		was[p.Now] = p.Was
	}
	for _, a := range m.after {
		if a.Skipped {
			continue
		}
		var old source.TestDef
		if b := was[a]; b != nil {
			old = *b.TestDef
		} else if model := m.copied(a); model.Similarity >= CopyEnough { // only what is not in its model
			old = *model.of.TestDef
		}
		addNew(m.addedTests, a.Assertions, old.Assertions)
		addNew(m.addedWords, a.Literals, old.Literals)
	}
}

func addNew(into map[string]bool, now, was []string) {
	for _, s := range now {
		if !slices.Contains(was, s) {
			into[s] = true
		}
	}
}

func share(want []string, have map[string]bool) float64 {
	if len(want) == 0 {
		return 0
	}
	n := 0
	for _, s := range want {
		if have[s] {
			n++
		}
	}
	return float64(n) / float64(len(want))
}

// distinctive reports whether at least two literals are of a kind that not every
// test has.
func distinctive(literals []string) bool {
	n := 0
	for _, l := range literals {
		if l != "0" && l != "1" && l != `""` && l != "``" {
			n++
		}
	}
	return n >= 2
}
