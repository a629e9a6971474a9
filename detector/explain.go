package detector

import (
	"maps"
	"path"
	"slices"
	"strings"

	"supervise/detector/internal/naming"
	"supervise/metric"
	"supervise/source"
)

// Loss is a test that is gone and was explained.
type Loss struct {
	ID          metric.ID   `json:"id"`
	Explanation Explanation `json:"by"`
	Successor   metric.ID   `json:"into,omitzero"` // the test it lives on in, if there is one
}

// Explanation is why a lost test is no deletion.
type Explanation string

// The explanations, in the order in which they are tried.
const (
	Allowed      Explanation = "allowed"
	FileRenamed  Explanation = "file_renamed"
	SameName     Explanation = "same_name_elsewhere"
	SimilarBody  Explanation = "similar_body"
	Absorbed     Explanation = "absorbed"
	SubjectGone  Explanation = "subject_gone"
	AddedByLoop  Explanation = "added_by_loop"
	CaseOfParent Explanation = "case_of_parent"
	BecameCase   Explanation = "became_case"
	Noticed      Explanation = "noticed_as_before"
)

var explanationTexts = map[Explanation]string{
	Allowed:      "allow_remove lets it go",
	FileRenamed:  "its file was renamed",
	SameName:     "another new test has its name",
	SimilarBody:  "a new test has mostly the same body",
	Absorbed:     "its assertions or literals are in other test code now",
	SubjectGone:  "the product code it tested is gone",
	AddedByLoop:  "this loop had added it",
	CaseOfParent: "the cases of its test were changed",
	Noticed:      "the original test passes on the new code, and the changed tests notice as many mutants of the code as before",
	BecameCase:   "a test that was mostly the same has a new case instead",
}

// String says the explanation in words.
func (e Explanation) String() string { return explanationTexts[e] }

// The shares of a lost test that must be found again.
const (
	similarEnough   = .5
	assertionsFound = .5
	literalsFound   = .6
)

// maxPairs bounds how many pairs of lost and new tests are compared body by
// body; beyond it only tests of one suite are.
const maxPairs = 50_000

// explainer finds out what became of lost tests.
type explainer struct {
	in     Input
	strict bool
	may    removable
	before *definitions
	after  *definitions
	gains  []gain

	identified []metric.ID // see identify
	cleared    map[metric.ID]MutationResult
}

// gain is what the test code of one definition has now and had not before.
type gain struct {
	TestSource
	assertions, literals map[string]bool
}

// lostTest is one identity to be explained.
type lostTest struct {
	metric.Test
	def    *source.TestDef // nil when its source is not known
	defs   []*TestSource   // all that fit equally well, that of def first
	isCase bool            // one of several that the definition gives
}

// search is the state while the losses of one comparison are explained: a new test
// can explain one lost test only.
type search struct {
	*explainer
	diff  *testDiff
	free  []metric.ID // new tests that explain no loss so far
	pairs int
	into  map[metric.ID]metric.ID // of losses that are explained
	found map[metric.ID][]*TestSource

	identities []metric.ID   // of the gains
	grown      []metric.Test // tests with new cases, nil until they are asked for
}

// steps are tried in order; the first that holds explains the loss.
var steps = []struct {
	by   Explanation
	find func(*search, lostTest) (into metric.ID, ok bool)
}{
	{Allowed, (*search).allowed},
	{CaseOfParent, (*search).caseOfMovedParent},
	{FileRenamed, (*search).fileRenamed},
	{SameName, (*search).sameName},
	{SimilarBody, (*search).similarBody},
	{Absorbed, (*search).absorbed},
	{SubjectGone, (*search).subjectGone},
	{AddedByLoop, (*search).addedByLoop},
	{CaseOfParent, (*search).caseReplaced},
	{BecameCase, (*search).becameCase},
	{Noticed, (*search).noticed},
}

func newExplainer(in Input, strict bool, may removable) *explainer {
	ex := &explainer{in: in, strict: strict, may: may, before: newDefinitions(in.Before), after: newDefinitions(in.After), cleared: in.cleared()}
	for _, t := range in.After {
		if t.Def.Kind != source.Subtest && !t.Def.Skipped {
			ex.gains = append(ex.gains, ex.gain(t))
		}
	}
	return ex
}

func (ex *explainer) gain(t TestSource) gain {
	g := gain{TestSource: t, assertions: set(t.Def.Assertions), literals: set(t.Def.Literals)}
	for _, i := range ex.before.byWord[naming.LastWord(t.Def.Name)] {
		old := ex.before.list[i]
		if !sameTest(old, t) {
			continue
		}
		for _, a := range old.Def.Assertions {
			delete(g.assertions, a)
		}
		for _, l := range old.Def.Literals {
			delete(g.literals, l)
		}
	}
	return g
}

func set(list []string) map[string]bool {
	m := make(map[string]bool, len(list))
	for _, s := range list {
		m[s] = true
	}
	return m
}

// noticed reports whether the tests notice what the lost one did.
func (s *search) noticed(lost lostTest) (metric.ID, bool) {
	_, ok := s.cleared[lost.ID]
	return metric.ID{}, ok
}

// losses explains what it can of the tests that are gone in d.
func (ex *explainer) losses(d *testDiff) []Loss {
	if ex.strict || len(d.Gone) == 0 {
		return nil
	}
	s := &search{
		explainer: ex, diff: d, free: slices.Clone(d.New),
		pairs: len(d.Gone) * len(ex.in.After), into: map[metric.ID]metric.ID{}, found: map[metric.ID][]*TestSource{},
		identities: ex.identify(d.now),
	}
	var out []Loss
	for _, id := range d.Gone {
		c, _ := d.before.Lookup(id)
		lost := ex.lost(c)
		for _, step := range steps {
			if into, ok := step.find(s, lost); ok {
				s.into[id] = into
				out = append(out, Loss{ID: id, Explanation: step.by, Successor: into})
				break
			}
		}
	}
	return out
}

// lost looks up what is gone.
func (ex *explainer) lost(c metric.Test) lostTest {
	lost := lostTest{Test: c}
	for n, i := range ex.before.of(c) {
		t := &ex.before.list[i]
		if n == 0 {
			lost.def, lost.isCase = &t.Def, !t.exact() && ex.before.nameFit(i, newReported(c)) == byCase
		}
		lost.defs = append(lost.defs, t)
	}
	return lost
}

func (t TestSource) belongs(c metric.Test) bool {
	if t.Suite != "" {
		return t.Suite == c.Suite
	}
	dir := path.Dir(t.File)
	return t.File == "" || t.File == c.File || t.File == c.Suite || dir == c.Suite || strings.HasSuffix(c.Suite, "/"+dir)
}

// place names the suite of the definitions at the root of the tree, which no folder
// names: it is what the names of all suites have in common.
func place(list []TestSource, suites map[string]bool) []TestSource {
	root := commonPath(suites)
	out := slices.Clone(list)
	for i, t := range out {
		if t.Suite == "" && t.exact() && t.File != "" && path.Dir(t.File) == "." && !suites[t.File] && suites[root] {
			out[i].Suite = root
		}
	}
	return out
}

func commonPath(names map[string]bool) string {
	var common []string
	first := true
	for name := range names {
		parts := strings.Split(name, "/")
		if first {
			common, first = parts, false
			continue
		}
		n := 0
		for n < min(len(common), len(parts)) && common[n] == parts[n] {
			n++
		}
		common = common[:n]
	}
	return strings.Join(common, "/")
}

// suitesOf names all suites of the sets.
func suitesOf(sets ...metric.Set) map[string]bool {
	out := map[string]bool{}
	for _, s := range sets {
		if s.Tests == nil {
			continue
		}
		for _, c := range s.Tests.Cases {
			out[c.Suite] = true
		}
	}
	return out
}

// take gives the free test away.
func (s *search) take(id metric.ID) metric.ID {
	s.free = slices.DeleteFunc(s.free, func(f metric.ID) bool { return f == id })
	return id
}

// sources returns the definitions of a test of now, as far as they are known.
func (s *search) sources(id metric.ID) []*TestSource {
	list, known := s.found[id]
	if known {
		return list
	}
	c, _ := s.diff.now.Lookup(id)
	for _, i := range s.after.of(c) {
		list = append(list, &s.after.list[i])
	}
	s.found[id] = list
	return list
}

// replaces reports whether a new test can replace the lost one: not when it has lost
// all assertions.
func (s *search) replaces(lost lostTest, id metric.ID) bool {
	list := s.sources(id)
	return lost.def == nil || len(list) == 0 || len(lost.def.Assertions) == 0 ||
		slices.ContainsFunc(list, func(t *TestSource) bool { return len(t.Def.Assertions) > 0 })
}

// allowed reports whether the user declared that the test may go.
func (s *search) allowed(lost lostTest) (metric.ID, bool) {
	files := []string{lost.File, lost.Suite}
	for _, t := range lost.defs {
		files = append(files, t.File)
	}
	return metric.ID{}, s.may.test(lost.ID, files...)
}

func (s *search) caseOfMovedParent(lost lostTest) (metric.ID, bool) {
	parent, ok := lost.Parent()
	if !ok {
		return metric.ID{}, false
	}
	into, moved := s.into[parent]
	if !moved || into == (metric.ID{}) {
		return into, moved
	}
	want := into
	want.Name += strings.TrimPrefix(lost.Name, parent.Name)
	if slices.Contains(s.free, want) {
		return s.take(want), true
	}
	return s.sibling(into)
}

// sibling takes any free case of the test.
func (s *search) sibling(parent metric.ID) (metric.ID, bool) {
	for _, id := range s.free {
		if p, ok := id.Parent(); ok && p == parent {
			return s.take(id), true
		}
	}
	return metric.ID{}, false
}

func (s *search) fileRenamed(lost lostTest) (metric.ID, bool) {
	for _, id := range s.free {
		if id.Name == lost.Name && s.renamedTo(lost, id) && s.replaces(lost, id) {
			return s.take(id), true
		}
	}
	return metric.ID{}, false
}

func (s *search) renamedTo(lost lostTest, id metric.ID) bool {
	from, to := []string{lost.File, lost.Suite}, []string{id.Suite}
	for _, t := range lost.defs {
		from = append(from, t.File)
	}
	if c, _ := s.diff.now.Lookup(id); c.File != "" {
		to = append(to, c.File)
	}
	for _, t := range s.sources(id) {
		to = append(to, t.File)
	}
	return slices.ContainsFunc(from, func(f string) bool {
		target := s.in.Renamed[f]
		return target != "" && slices.Contains(to, target)
	})
}

func (s *search) sameName(lost lostTest) (metric.ID, bool) {
	for _, id := range s.free {
		if id.Name == lost.Name && s.replaces(lost, id) {
			return s.take(id), true
		}
	}
	return metric.ID{}, false
}

func (s *search) similarBody(lost lostTest) (metric.ID, bool) {
	if lost.def == nil {
		return metric.ID{}, false
	}
	var best metric.ID
	most := 0.0
	for _, id := range s.free {
		if s.pairs > maxPairs && id.Suite != lost.Suite {
			continue
		}
		if s.sameDefinition(lost, id) || !s.replaces(lost, id) {
			continue
		}
		like := s.likeness(lost, id)
		if like >= similarEnough && (like > most || like == most && sameRow(lost.ID, id) && !sameRow(lost.ID, best)) {
			best, most = id, like
		}
	}
	if most == 0 {
		return metric.ID{}, false
	}
	return s.take(best), true
}

// likeness returns the greatest similarity of a definition of the lost test to
// one of the new test.
func (s *search) likeness(lost lostTest, id metric.ID) float64 {
	most := 0.0
	for _, was := range lost.defs {
		for _, is := range s.sources(id) {
			most = max(most, source.Similarity(was.Def, is.Def))
		}
	}
	return most
}

// sameDefinition reports whether the lost test was one of the cases of a
// definition that is still there and gives the new test: a row was exchanged.
func (s *search) sameDefinition(lost lostTest, id metric.ID) bool {
	return lost.isCase && slices.ContainsFunc(s.sources(id), func(t *TestSource) bool { return sameTest(*lost.defs[0], *t) })
}

// sameRow reports whether two cases of tests have the same parameters.
func sameRow(a, b metric.ID) bool {
	i, j := strings.IndexByte(a.Name, '['), strings.IndexByte(b.Name, '[')
	return i >= 0 && j >= 0 && a.Name[i:] == b.Name[j:]
}

// absorbed looks for the assertions and literals of the lost test in the test
// code that was added, as far as that tests the same things.
func (s *search) absorbed(lost lostTest) (metric.ID, bool) {
	if lost.def == nil {
		return metric.ID{}, false
	}
	assertions, literals := set(lost.def.Assertions), set(lost.def.Literals)
	wantA, wantL := slices.Collect(maps.Keys(assertions)), slices.Collect(maps.Keys(literals))
	foundA, foundL := map[string]bool{}, map[string]bool{}
	var into metric.ID
	most := 0
	for i, g := range s.gains {
		if s.identities[i] == (metric.ID{}) || !sharesSubject(*lost.def, g.Def) {
			continue
		}
		n := common(wantA, g.assertions, foundA) + common(wantL, g.literals, foundL)
		if n > most {
			into, most = s.identities[i], n
		}
	}
	ok := most > 0 && (share(foundA, assertions) >= assertionsFound ||
		telling(lost.def.Literals) && share(foundL, literals) >= literalsFound)
	return into, ok
}

// identify returns, for every gain, the test of now that it belongs to, and the
// zero identity if there is none: code that does not run absorbs nothing.
func (ex *explainer) identify(now *metric.Tests) []metric.ID {
	if ex.identified != nil || len(ex.gains) == 0 {
		return ex.identified // one set of tests is judged, against two others
	}
	list := make([]TestSource, len(ex.gains))
	for i, g := range ex.gains {
		list[i] = g.TestSource
	}
	defs := newDefinitions(list)
	out := make([]metric.ID, len(list))
	for _, c := range now.Cases {
		for _, i := range defs.of(c) {
			out[i] = c.ID
		}
	}
	ex.identified = out
	return out
}

// common records in found which members of want are in have, and returns how
// many.
func common(want []string, have, found map[string]bool) int {
	n := 0
	for _, s := range want {
		if have[s] {
			found[s] = true
			n++
		}
	}
	return n
}

func share(found, all map[string]bool) float64 {
	if len(all) == 0 {
		return 0
	}
	return float64(len(found)) / float64(len(all))
}

// telling reports whether at least two literals are of a kind that not every
// test has.
func telling(literals []string) bool {
	n := 0
	for _, l := range literals {
		if l != "0" && l != "1" && l != `""` && l != "``" {
			n++
		}
	}
	return n >= 2
}

// ofRunner are names of the test runner, which say nothing of what is tested.
var ofRunner = set([]string{
	"Run", "Error", "Errorf", "Fatal", "Fatalf", "Fail", "FailNow", "Log", "Logf", "Helper", "Skip", "Skipf", "SkipNow",
	"Parallel", "Cleanup", "TempDir", "Setenv", "Name", "T", "B", "F", "testing.T", "testing.B", "testing.F",
})

// sharesSubject reports whether both tests refer to a product symbol in common,
// or the lost one to none at all.
func sharesSubject(lost, other source.TestDef) bool {
	names := slices.DeleteFunc(slices.Clone(lost.Symbols), func(s string) bool { return ofRunner[s] })
	return len(names) == 0 || slices.ContainsFunc(names, func(s string) bool { return slices.Contains(other.Symbols, s) })
}

// subjectGone does not excuse a test that failed before: to remove both the
// task and its test is no way to finish it.
func (s *search) subjectGone(lost lostTest) (metric.ID, bool) {
	if lost.def == nil || lost.Failed() {
		return metric.ID{}, false
	}
	return metric.ID{}, slices.ContainsFunc(lost.def.Symbols, func(sym string) bool {
		return slices.ContainsFunc(s.in.GoneSymbols, func(gone string) bool { return gone == sym || lastName(gone) == lastName(sym) })
	})
}

func lastName(s string) string { return s[strings.LastIndexByte(s, '.')+1:] }

func (s *search) addedByLoop(lost lostTest) (metric.ID, bool) {
	return metric.ID{}, s.in.AddedByLoop[lost.ID]
}

// caseReplaced explains a case that passed or was skipped, and whose test has a new case
// instead: rows of tables are renamed. A failing case is not exchanged so.
func (s *search) caseReplaced(lost lostTest) (metric.ID, bool) {
	if lost.Failed() {
		return metric.ID{}, false
	}
	if parent, ok := lost.Parent(); ok {
		if into, ok := s.sibling(parent); ok {
			return into, true
		}
		if s.writtenOut(parent) {
			return parent, true
		}
	}
	for _, id := range s.free {
		if s.sameDefinition(lost, id) {
			return s.take(id), true
		}
	}
	return metric.ID{}, false
}

// findDef returns the definition of a test, or of the nearest test around it, in the
// languages whose definitions show skips: in Go.
func findDef(list []TestSource, c metric.Test) *TestSource {
	for {
		for i, t := range list {
			if t.exact() && t.Def.Name == c.Name && t.belongs(c) {
				return &list[i]
			}
		}
		parent, ok := c.Parent()
		if !ok {
			return nil
		}
		c.ID = parent
	}
}

// sameDef reports whether a test was not touched.
func sameDef(a, b TestSource) bool {
	return maps.Equal(a.Def.Tokens, b.Def.Tokens) && slices.Equal(a.Def.SkipConditions, b.Def.SkipConditions)
}

// SameTokens reports whether two definitions of a test have the same words.
func SameTokens(a, b TestSource) bool { return sameDef(a, b) }
