// Package loss explains why a test that is gone was not deleted: it was renamed, moved,
// merged into another test, or its subject is gone. The explanations are tried in a fixed
// order. A new test explains at most one lost test.
//
// An [Explainer] knows the definitions of tests in the changed files. [Explainer.Explain] tries
// the steps (step.go, table.go) on each lost test. A step returns the new test that is the
// successor, the zero identity if there is none, and whether it explains the loss.
package loss

import (
	"slices"

	"supervise/detector/internal/definition"
	"supervise/metric"
	"supervise/source"
)

// Loss is a test that is gone and was explained.
type Loss struct {
	ID          metric.ID   `json:"id"`
	Explanation Explanation `json:"by"`
	Successor   metric.ID   `json:"into,omitzero"` // the test that replaces it, if there is one
}

// Explanation is why a lost test is no deletion.
type Explanation string

// The explanations, in the order in which they are tried.
const (
	Allowed      Explanation = "allowed"
	FileRenamed  Explanation = "file_renamed"
	SameName     Explanation = "same_name_elsewhere" // in another file or class
	SimilarBody  Explanation = "similar_body"
	DuplicateOf  Explanation = "duplicate"
	Absorbed     Explanation = "absorbed"
	SubjectGone  Explanation = "subject_gone"
	AddedByLoop  Explanation = "added_by_loop"
	CaseOfParent Explanation = "case_of_parent"
	BecameCase   Explanation = "became_case"
	Noticed      Explanation = "noticed_as_before"
	NotDecided   Explanation = "not_decided"
)

var explanationTexts = map[Explanation]string{
	Allowed:      "allow_remove lets it go",
	FileRenamed:  "its file was renamed",
	SameName:     "another new test has its name",
	SimilarBody:  "a new test has mostly the same body",
	DuplicateOf:  "an identical test stays",
	Absorbed:     "its assertions or literals are in other test code now",
	SubjectGone:  "the product code it tested is gone",
	AddedByLoop:  "this loop had added it",
	CaseOfParent: "the cases of its test were changed",
	Noticed:      "the original test passes on the new code, and the changed tests notice as many mutants of the code as before",
	NotDecided:   "it is not decided whether what replaces it checks as much",
	BecameCase:   "a test that was mostly the same has a new case instead",
}

// String returns the explanation in words.
func (e Explanation) String() string { return explanationTexts[e] }

// Evidence is what is known about the change that lost the tests.
type Evidence struct {
	DefsBefore, DefsAfter []definition.TestSource // the test definitions of the changed files
	Duplicates            []definition.Duplicate  // tests that are gone, of which an identical one stays
	Renamed               map[string]string       // old to new paths of renamed files
	GoneSymbols           []string                // names that product code no longer defines
	AddedByLoop           map[metric.ID]bool      // tests that the baseline did not have
	MayRemove             func(id metric.ID, files ...string) bool
	// IsCleared reports whether running found its successors as good, and whether that is decided.
	IsCleared func(metric.ID) (cleared, decided bool)
}

// Comparison is two sets of tests, with the tests that only the first (Gone) or only the second
// (New) has.
type Comparison struct {
	Before, Now *metric.Tests
	Gone, New   []metric.ID
}

// Explainer explains lost tests of one change.
type Explainer struct {
	Evidence
	indexBefore, indexAfter *definition.Index
	additions               []addition
	owners                  []metric.ID // of the additions, see findOwners
}

// addition is what one definition of test code has after the change and not before.
type addition struct {
	definition.TestSource
	assertions, literals map[string]bool
}

// New returns an explainer for a change.
func New(e Evidence) *Explainer {
	x := &Explainer{Evidence: e, indexBefore: definition.NewIndex(e.DefsBefore), indexAfter: definition.NewIndex(e.DefsAfter)}
	for _, t := range e.DefsAfter {
		if t.Def.Kind != source.Subtest && !t.Def.Skipped {
			x.additions = append(x.additions, x.additionOf(t))
		}
	}
	return x
}

// additionOf returns the assertions and literals of a definition that its earlier version did not
// have.
func (x *Explainer) additionOf(t definition.TestSource) addition {
	a := addition{TestSource: t, assertions: setOf(t.Def.Assertions), literals: setOf(t.Def.Literals)}
	for _, old := range x.indexBefore.SameTests(t) {
		for _, text := range old.Def.Assertions {
			delete(a.assertions, text)
		}
		for _, text := range old.Def.Literals {
			delete(a.literals, text)
		}
	}
	return a
}

// FilesOf returns the files that define a test after and before the change. Each is "" if it is
// not one of the changed files.
func (x *Explainer) FilesOf(test metric.Test) (after, before string) {
	return x.indexAfter.File(test), x.indexBefore.File(test)
}

// TouchesFileOf reports whether the file of a test was changed.
func (x *Explainer) TouchesFileOf(test metric.Test) bool {
	return x.indexBefore.HasFileOf(test) || x.indexAfter.HasFileOf(test)
}

// lostTest is a test to be explained.
type lostTest struct {
	metric.Test
	def    *source.TestDef          // nil if its source is not known
	defs   []*definition.TestSource // all definitions that match equally well, that of def first
	isCase bool                     // it is one of several tests that the definition produces
}

// lostTest returns a lost test with its earlier definitions.
func (x *Explainer) lostTest(test metric.Test) lostTest {
	lost := lostTest{Test: test, defs: x.indexBefore.Find(test)}
	if len(lost.defs) > 0 {
		lost.def, lost.isCase = &lost.defs[0].Def, x.indexBefore.IsCase(lost.defs[0], test)
	}
	return lost
}

// files returns the known files of the test, some of which may be "".
func (l lostTest) files() []string {
	out := []string{l.File, l.Suite}
	for _, t := range l.defs {
		out = append(out, t.File)
	}
	return out
}

// search is the state while the losses of one comparison are explained.
type search struct {
	*Explainer
	Comparison
	free       []metric.ID // new tests that explain no loss so far
	pairs      int         // lost tests times new definitions
	successors map[metric.ID]metric.ID
	sources    map[metric.ID][]*definition.TestSource // see sourcesOf
	grown      []metric.Test                          // see grownTables
}

// steps are tried in order; the first that applies explains the loss.
var steps = []struct {
	explanation Explanation
	find        func(*search, lostTest) (successor metric.ID, ok bool)
}{
	{Allowed, (*search).allowed},
	{CaseOfParent, (*search).caseOfMovedParent},
	{FileRenamed, (*search).fileRenamed},
	{SameName, (*search).sameName},
	{SimilarBody, (*search).similarBody},
	{DuplicateOf, (*search).duplicate},
	{Absorbed, (*search).absorbed},
	{SubjectGone, (*search).subjectGone},
	{AddedByLoop, (*search).addedByLoop},
	{CaseOfParent, (*search).caseReplaced},
	{BecameCase, (*search).becameCase},
	{Noticed, (*search).noticed},
	{NotDecided, (*search).notDecided},
}

// Explain returns the explained losses of a comparison, in the order of c.Gone.
func (x *Explainer) Explain(c Comparison) []Loss {
	if len(c.Gone) == 0 {
		return nil
	}
	s := &search{
		Explainer: x, Comparison: c, free: slices.Clone(c.New), pairs: len(c.Gone) * len(x.DefsAfter),
		successors: map[metric.ID]metric.ID{}, sources: map[metric.ID][]*definition.TestSource{},
	}
	x.findOwners(c.Now)
	var out []Loss
	for _, id := range c.Gone {
		test, _ := c.Before.Lookup(id)
		if loss, ok := s.explain(x.lostTest(test)); ok {
			s.successors[id] = loss.Successor
			out = append(out, loss)
		}
	}
	return out
}

// explain returns the loss with the first explanation that applies; false if none does.
func (s *search) explain(lost lostTest) (Loss, bool) {
	for _, step := range steps {
		if successor, ok := step.find(s, lost); ok {
			return Loss{ID: lost.ID, Explanation: step.explanation, Successor: successor}, true
		}
	}
	return Loss{}, false
}

// findOwners sets x.owners: for every addition the current test to which it belongs. It is the
// zero identity if no test runs that code, which therefore cannot replace a lost test.
func (x *Explainer) findOwners(now *metric.Tests) {
	if x.owners != nil {
		return // the same set is compared with two others
	}
	list := make([]definition.TestSource, len(x.additions))
	position := make(map[*definition.TestSource]int, len(list))
	for i, a := range x.additions {
		list[i] = a.TestSource
		position[&list[i]] = i
	}
	index := definition.NewIndex(list)
	x.owners = make([]metric.ID, len(list))
	for _, test := range now.Cases {
		for _, t := range index.Find(test) {
			x.owners[position[t]] = test.ID
		}
	}
}

// take removes a test from the free ones, and returns it.
func (s *search) take(id metric.ID) metric.ID {
	s.free = slices.DeleteFunc(s.free, func(f metric.ID) bool { return f == id })
	return id
}

// sourcesOf returns the known definitions of a current test.
func (s *search) sourcesOf(id metric.ID) []*definition.TestSource {
	list, known := s.sources[id]
	if !known {
		test, _ := s.Now.Lookup(id)
		list = s.indexAfter.Find(test)
		s.sources[id] = list
	}
	return list
}
