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
	File           *ChangedFile
	Side           *Side
	Parent         *Test       // the test that contains a subtest; nil for other tests
	assertionLines lazy[[]int] // see findAssertionLines
}

// Pair is a test that exists before and after the change. MatchedBy is one of the reasons below, ""
// if the name and the file are the same.
type Pair struct {
	Before, After *Test
	MatchedBy     string
}

// Loss is a test that is gone. ExplainedBy is one of the explanations below, "" if nothing explains
// it.
type Loss struct {
	*Test
	ExplainedBy string
}

// inventory has the tests of all changed files, matched.
type inventory struct {
	Pairs []Pair
	Lost  []Loss
	Added []*Test // tests that match none from before
	// Closest maps each new test to the most similar test that existed before and remains.
	Closest map[*Test]closestTest
}

// How a test was matched, and what makes the loss of one harmless, in the order in which
// they are tried.
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

// plainName returns the name of a test in lower case without underscores and without the prefix or
// suffix for its framework: "adds" for test_adds and TestAdds.
func plainName(name string) string {
	name = strings.ToLower(strings.ReplaceAll(lastWordRE.FindString(name), "_", ""))
	return strings.TrimSuffix(strings.TrimPrefix(name, "test"), "test")
}

// lastWordRE matches the last part of the name of a subtest: "empty" of "TestSum/empty".
var lastWordRE = regexp.MustCompile(`[^/]*$`)

// closestTest is the existing test that is most similar to a new one. Similarity is between
// 0 and 1.
type closestTest struct {
	test       *Test
	Similarity float64
}

const (
	// minAssertionsFound and minLiteralsFound are the shares of the assertions and literals of a
	// lost test that must be in other tests for it to count as moved. maxBodyPairs bounds how many
	// bodies are compared.
	minAssertionsFound = .5
	minLiteralsFound   = .6
	maxBodyPairs       = 100_000
)

// explainLoss returns what makes the loss of a test harmless, "" for nothing.
func (m *matcher) explainLoss(t *Test) string {
	checksNothing := t.Skipped || t.Parent == nil && len(t.Assertions) == 0
	isParentLost := t.Parent != nil && !m.matchedBefore[t.Parent]
	switch {
	case checksNothing:
		return ExplainedByNoChecks
	case isParentLost && m.explainLoss(t.Parent) != "":
		return explainedByParent
	case m.hasMovedChecks(t), m.becameRow(t), t.Untitled && m.isExpectedInOtherTest(t):
		return ExplainedByMove
	case m.c.IsSubjectRemoved(t):
		return ExplainedBySubject
	case t.becameHelper():
		return explainedByHelper
	case m.hasDuplicate(t):
		return explainedByDuplicate
	}
	return ""
}

// hasMovedChecks reports whether the assertions or literals of a lost test are among those that
// were added to tests that run.
func (m *matcher) hasMovedChecks(t *Test) bool {
	m.loadAddedChecks()
	foundAssertions := shareOf(t.Assertions, m.addedAssertions) >= minAssertionsFound
	foundLiterals := hasDistinctiveLiterals(t.Literals) && shareOf(t.Literals, m.addedLiterals) >= minLiteralsFound
	return foundAssertions || foundLiterals || m.hasMovedLiterals(t)
}

// becameRow reports whether a lost test became a row of a table or the call of a helper. Then the
// values of each of its assertions occur, one after the other, in code that was added to tests, and
// a line that was added to its file asserts as strictly.
func (m *matcher) becameRow(t *Test) bool {
	added, after := AddedTestCode.Of(m.c), t.File.After()
	if len(t.Assertions) == 0 || !after.MayHoldTests() {
		return false
	}
	minimum := source.Exact
	for _, text := range t.Assertions {
		a := source.ParseAssertion(text)
		if len(a.Literals) < 2 || !strings.Contains(added, RemoveSpace(strings.Join(a.Literals, ","))) {
			return false
		}
		minimum = min(minimum, a.Strength)
	}

	return slices.ContainsFunc(t.File.AddedLinesOfCode(), func(l Line) bool {
		text := strings.TrimSpace(l.Text)
		if !strings.Contains(text, "assert") && !strings.Contains(text, "expect") {
			return false
		}
		a := source.ParseAssertion(text)
		checksTheCode := !a.Trivial && !a.Repeats
		return a.Strength >= minimum && checksTheCode && containsName(text, t.Symbols)
	})
}

// containsName reports whether a text has one of the names.
func containsName(text string, names []string) bool {
	words := CountWords(text)
	return slices.ContainsFunc(names, func(s string) bool { return words[LastName(s)] > 0 })
}

// subjectExpectationRE matches the beginning of an expectation of the subject, up to its matcher:
// "is_expected.to " of "is_expected.to be_empty".
var subjectExpectationRE = regexp.MustCompile(`^(?:(?:is|are)_expected\.(?:to|not_to|to_not)|should(?:_not)?)\s+`)

// isExpectedInOtherTest reports whether other test code now expects what a test without a title
// expected of the subject.
func (m *matcher) isExpectedInOtherTest(t *Test) bool {
	added := AddedTestCode.Of(m.c)
	return len(t.Assertions) > 0 && All(t.Assertions, func(a string) bool {
		expectation := subjectExpectationRE.FindString(a)
		matcher := RemoveSpace(a[len(expectation):])
		return expectation != "" && slices.ContainsFunc([]string{").to", "_to", "to_not"}, func(call string) bool { return strings.Contains(added, call+matcher) })
	})
}

// loadAddedChecks gathers the assertions and literals that the tests after the change have and
// their counterparts before did not. Skipped tests do not count.
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
		} else if closest := m.findClosest(a); closest.Similarity >= MinCopySimilarity {
			old = *closest.test.TestDef // a copy adds only what the original does not have
		}
		addMissing(m.addedAssertions, a.Assertions, old.Assertions)
		addMissing(m.addedLiterals, a.Literals, old.Literals)
	}
}

// addMissing adds the texts of after that are not in before.
func addMissing(into map[string]bool, after, before []string) {
	for _, s := range after {
		if !slices.Contains(before, s) {
			into[s] = true
		}
	}
}

// shareOf returns the share of the wanted texts that were found, 0 if none are wanted.
func shareOf(wanted []string, found map[string]bool) float64 {
	n := Count(wanted, func(s string) bool { return found[s] })
	return float64(n) / float64(max(len(wanted), 1))
}

// hasDistinctiveLiterals reports whether at least two literals are of a kind that not every
// test has.
func hasDistinctiveLiterals(literals []string) bool {
	common := []string{"0", "1", `""`, "``"}
	return Count(literals, func(l string) bool { return !slices.Contains(common, l) }) >= 2
}
