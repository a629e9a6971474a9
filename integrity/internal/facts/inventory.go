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
	lines  []int // see assertionLines
}

// Pair is a test that exists before and after the change. How is "" if its
// name and file are the same.
type Pair struct {
	Before, After *Test
	MatchedBy     string
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
	Closest map[*Test]closestTest
}

// What explains a lost test, in the order in which it is tried.
const (
	matchedByRename      = "its file was renamed"
	matchedByName        = "another test has its name"
	MatchedByBody        = "a new test has mostly the same body"
	ExplainedByMove      = "its assertions or literals are in other test code now"
	ExplainedBySubject   = "the product code it tested is gone"
	explainedByHelper    = "other tests call its body now"
	explainedByDuplicate = "a test that stays does the same"
	ExplainedByNoChecks  = "it was skipped already, or asserted nothing"
	explainedByParent    = "the test around it is explained"
)

// Tests are the tests of all changed files, matched.
var Tests = Define(func(c *Change) *inventory {
	m := newMatcher(c)
	m.match()
	return &m.inventory
})

// plainName is the name of a test without the prefix or suffix for its framework.
func plainName(name string) string {
	name = strings.ToLower(strings.ReplaceAll(lastWordRE.FindString(name), "_", ""))
	return strings.TrimSuffix(strings.TrimPrefix(name, "test"), "test")
}

var lastWordRE = regexp.MustCompile(`[^/]*$`)

// closestTest is the existing test that is most similar to a new one.
type closestTest struct {
	test       *Test
	Similarity float64
}

const (
	minAssertionsFound = .5
	minLiteralsFound   = .6
	maxBodyPairs       = 100_000
)

// explainLoss says what makes the loss of a test harmless, "" for nothing.
func (m *matcher) explainLoss(b *Test) string {
	switch {
	case b.Skipped || b.Parent == nil && len(b.Assertions) == 0:
		return ExplainedByNoChecks
	case b.Parent != nil && !m.matchedBefore[b.Parent] && m.explainLoss(b.Parent) != "":
		return explainedByParent
	case m.hasMovedChecks(b), m.becameRow(b), b.Untitled && m.isExpectedInOtherTest(b):
		return ExplainedByMove
	case m.c.IsSubjectRemoved(b):
		return ExplainedBySubject
	case b.becameHelper():
		return explainedByHelper
	case m.hasDuplicate(b):
		return explainedByDuplicate
	}
	return ""
}

// hasMovedChecks looks for the assertions and literals of a lost test in what was
// added to tests that run.
func (m *matcher) hasMovedChecks(b *Test) bool {
	m.loadAddedChecks()
	return shareOf(b.Assertions, m.addedAssertions) >= minAssertionsFound || hasDistinctiveLiterals(b.Literals) && shareOf(b.Literals, m.addedLiterals) >= minLiteralsFound ||
		m.hasMovedLiterals(b)
}

// becameRow reports whether the values of each assertion of a test are, one after the
// other, in other test code of its file now, where something asserts as strictly: its
// cases became rows of a table, or calls of a helper.
func (m *matcher) becameRow(b *Test) bool {
	added, after := AddedTestCode.Of(m.c), b.File.After()
	if len(b.Assertions) == 0 || !after.MayHoldTests() {
		return false
	}
	minimum := source.Exact
	for _, text := range b.Assertions {
		a := source.ParseAssertion(text)
		row := RemoveSpace(strings.Join(a.Literals, ","))
		if minimum = min(minimum, a.Strength); len(a.Literals) < 2 || !strings.Contains(added, row) {
			return false
		}
	}
	plain := SplitLines(after.WithoutComments())
	return slices.ContainsFunc(b.File.AddedLines(), func(l Line) bool {
		text := strings.TrimSpace(plain[min(l.Number, len(plain))-1].Text)
		if !strings.Contains(text, "assert") && !strings.Contains(text, "expect") {
			return false
		}
		a := source.ParseAssertion(text)
		return a.Strength >= minimum && !a.Trivial && !a.Repeats && containsName(text, b.Symbols)
	})
}

// containsName reports whether a text has one of the names.
func containsName(text string, names []string) bool {
	words := CountWords(text)
	return slices.ContainsFunc(names, func(s string) bool { return words[LastName(s)] > 0 })
}

// subjectExpectationRE matches the beginning of an expectation of the subject, up to its matcher.
var subjectExpectationRE = regexp.MustCompile(`^(?:(?:is|are)_expected\.(?:to|not_to|to_not)|should(?:_not)?)\s+`)

// isExpectedInOtherTest reports whether what a test without a title expected of the subject is
// expected in other test code now.
func (m *matcher) isExpectedInOtherTest(b *Test) bool {
	added := AddedTestCode.Of(m.c)
	return len(b.Assertions) > 0 && !slices.ContainsFunc(b.Assertions, func(a string) bool {
		matcher := RemoveSpace(a[len(subjectExpectationRE.FindString(a)):])
		return len(matcher) == len(RemoveSpace(a)) || !strings.Contains(added, ").to"+matcher) && !strings.Contains(added, "_to"+matcher) && !strings.Contains(added, "to_not"+matcher)
	})
}

// loadAddedChecks gathers the assertions and literals of the tests after the change that their
// counterparts before did not have.
func (m *matcher) loadAddedChecks() {
	if m.addedLoaded {
		return
	}
	m.addedLoaded, m.addedAssertions, m.addedLiterals = true, map[string]bool{}, map[string]bool{}
	before := map[*Test]*Test{}
	for _, p := range m.Pairs {
		before[p.After] = p.Before
	}
	for _, a := range m.after {
		if a.Skipped {
			continue
		}
		var old source.TestDef
		if b := before[a]; b != nil {
			old = *b.TestDef
		} else if model := m.findClosest(a); model.Similarity >= MinCopySimilarity { // only what is not in its model
			old = *model.test.TestDef
		}
		addMissing(m.addedAssertions, a.Assertions, old.Assertions)
		addMissing(m.addedLiterals, a.Literals, old.Literals)
	}
}

func addMissing(into map[string]bool, after, before []string) {
	for _, s := range after {
		if !slices.Contains(before, s) {
			into[s] = true
		}
	}
}

func shareOf(want []string, have map[string]bool) float64 {
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

// hasDistinctiveLiterals reports whether at least two literals are of a kind that not every
// test has.
func hasDistinctiveLiterals(literals []string) bool {
	n := 0
	for _, l := range literals {
		if l != "0" && l != "1" && l != `""` && l != "``" {
			n++
		}
	}
	return n >= 2
}
