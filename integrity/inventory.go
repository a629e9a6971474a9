package integrity

import (
	"slices"
	"strings"

	"supervise/internal/regexp"
	"supervise/source"
)

// test is the definition of a test on one side of a file.
type test struct {
	*source.TestDef
	f      *file
	s      *side
	parent *test // of a subtest
	at     []int // see assertionLines
}

// pair is a test that stands before and after the change. how is "" where its
// name and file are the same.
type pair struct {
	was, now *test
	how      string
}

// loss is a test that is gone. by says what explains it, "" for nothing.
type loss struct {
	*test
	by string
}

// inventory are the tests of all changed files, matched.
type inventory struct {
	pairs []pair
	lost  []loss
	added []*test // tests that match none from before
	// models are, of new tests, those that are still there and look most like them.
	models map[*test]model
}

// What explains a lost test, in the order in which it is tried.
const (
	byRename   = "its file was renamed"
	byName     = "a test elsewhere has its name"
	byBody     = "a new test has mostly the same body"
	byAbsorbed = "its assertions or literals are in other test code now"
	bySubject  = "the product code it tested is gone"
	byHelper   = "other tests call its body now"
	byTwin     = "a test that stays does the same"
	byNothing  = "it was skipped already, or asserted nothing"
	byParent   = "the test around it is explained"
)

// tests returns the inventory of the change.
func (c *change) tests() *inventory {
	if c.pairs == nil {
		m := newMatcher(c)
		m.match()
		c.pairs = &m.inventory
	}
	return c.pairs
}

// matcher pairs the tests before with those after.
type matcher struct {
	inventory
	c           *change
	before      []*test
	after       []*test
	usedB       map[*test]bool
	usedA       map[*test]bool
	addedTests  map[string]bool // lines of tests that were added, without comments
	addedWords  map[string]bool // literals of those lines
	addedLoaded bool
	compared    int // pairs of bodies, see copied
}

func newMatcher(c *change) *matcher {
	m := &matcher{c: c, usedB: map[*test]bool{}, usedA: map[*test]bool{}}
	for _, f := range c.files {
		before, after := f.before(), f.after()
		m.before = append(m.before, defs(f, before)...)
		if c.leavesDiscovery(f) {
			continue
		}
		m.after = append(m.after, defs(f, after)...)
	}
	return m
}

// defs lists the tests of a side that a runner would find.
func defs(f *file, s *side) []*test {
	if !s.mayTest() || source.Vendored(s.path) || hidden(s.path) {
		return nil
	}
	list := s.source().Tests
	out := make([]*test, 0, len(list))
	for i := range list {
		if list[i].Kind == source.Benchmark {
			continue
		}
		t := &test{TestDef: &list[i], f: f, s: s}
		if t.Kind == source.Subtest {
			for _, p := range slices.Backward(out) {
				if strings.HasPrefix(t.Name, p.Name+"/") {
					t.parent = p
					break
				}
			}
		}
		out = append(out, t)
	}
	return out
}

func (m *matcher) match() {
	m.pairBy("", func(b *test) string { return b.f.id() + "\x00" + b.Class + "\x00" + b.Name })
	m.pairBy("", func(b *test) string { return b.f.id() + "\x00" + b.Name })
	m.pairBy(byName, func(b *test) string { return b.Class + "\x00" + b.Name })
	m.pairBy(byName, func(b *test) string { return b.Name })
	m.pairBy(byBody, func(b *test) string { return b.f.id() + "\x00" + plainName(b.Name) })
	m.pairBodies()
	for _, b := range m.before {
		if !m.usedB[b] {
			m.lost = append(m.lost, loss{b, m.explain(b)})
		}
	}
	for _, a := range m.after {
		if !m.usedA[a] {
			m.added = append(m.added, a)
			m.copied(a)
		}
	}
}

// plainName is the name of a test without what its framework wants to see in it.
func plainName(name string) string {
	name = strings.ToLower(strings.ReplaceAll(lastWord.FindString(name), "_", ""))
	return strings.TrimSuffix(strings.TrimPrefix(name, "test"), "test")
}

var lastWord = regexp.MustCompile(`[^/]*$`)

// id tells files apart; a renamed one is the same on both sides.
func (f *file) id() string { return f.Path + "\x00" + f.OldPath }

// pairBy matches what has the same key, in order.
func (m *matcher) pairBy(how string, key func(*test) string) {
	free := map[string][]*test{}
	for _, a := range m.after {
		if !m.usedA[a] {
			k := key(a)
			free[k] = append(free[k], a)
		}
	}
	if len(free) == 0 {
		return
	}
	for _, b := range m.before {
		if m.usedB[b] {
			continue
		}
		k := key(b)
		list := free[k]
		if len(list) == 0 || how != "" && !stands(b, list[0]) {
			continue
		}
		free[k] = list[1:]
		h := how
		if h == "" && b.f.OldPath != "" {
			h = byRename
		}
		m.take(b, list[0], h)
	}
}

func (m *matcher) take(was, now *test, how string) {
	m.usedB[was], m.usedA[now] = true, true
	m.pairs = append(m.pairs, pair{was, now, how})
}

// stands reports whether a test elsewhere can stand for a lost one: not when it
// has given up all assertions.
func stands(was, now *test) bool {
	return len(was.Assertions) == 0 || len(now.Assertions) > 0 && !now.Skipped
}

// model is the test that a new one looks most like, of those that are still there.
type model struct {
	of   *test
	like float64
}

// copyEnough is how alike a new test and one that is still there must be for the
// first to be a copy of the second.
const copyEnough = .8

// copied returns the test of the same file that was there before, is still there,
// and is most like a new test: the new one stands for that, and not for one that
// is gone.
func (m *matcher) copied(a *test) model {
	if known, ok := m.models[a]; ok {
		return known
	}
	if m.models == nil {
		m.models = map[*test]model{}
	}
	var best model
	for _, p := range m.pairs {
		if p.now.f != a.f || p.how != "" && p.how != byRename || len(p.was.Tokens) == 0 || m.compared > maxBodyPairs {
			continue
		}
		m.compared++
		if like := source.Similarity(*p.was.TestDef, *a.TestDef); like > best.like {
			best = model{p.was, like}
		}
	}
	m.models[a] = best
	return best
}

const (
	similarEnough   = .5
	assertionsFound = .5
	literalsFound   = .6
	maxBodyPairs    = 100_000
)

// pairBodies matches lost and new tests of mostly the same body, the most
// similar first come first served by the order of the lost ones.
func (m *matcher) pairBodies() {
	pairs := 0
	for _, b := range m.before {
		if m.usedB[b] || len(b.Tokens) == 0 {
			continue
		}
		var best *test
		most := similarEnough
		for _, a := range m.after {
			if m.usedA[a] || (a.Kind == source.Subtest) != (b.Kind == source.Subtest) || !stands(b, a) {
				continue
			}
			if pairs++; pairs > maxBodyPairs {
				return
			}
			like := source.Similarity(*b.TestDef, *a.TestDef)
			if (like > most || like == most && best == nil) && m.copied(a).like <= like {
				best, most = a, like
			}
		}
		if best != nil {
			m.take(b, best, byBody)
		}
	}
}

// explain says what makes the loss of a test harmless, "" for nothing.
func (m *matcher) explain(b *test) string {
	switch {
	case b.Skipped || b.parent == nil && len(b.Assertions) == 0:
		return byNothing
	case b.parent != nil && !m.usedB[b.parent] && m.explain(b.parent) != "":
		return byParent
	case m.absorbed(b):
		return byAbsorbed
	case m.c.subjectGone(b):
		return bySubject
	case b.becameHelper():
		return byHelper
	case m.twin(b):
		return byTwin
	}
	return ""
}

// absorbed looks for the assertions and literals of a lost test in what was
// added to tests that run.
func (m *matcher) absorbed(b *test) bool {
	m.loadAdded()
	return share(b.Assertions, m.addedTests) >= assertionsFound || telling(b.Literals) && share(b.Literals, m.addedWords) >= literalsFound ||
		m.literalsMoved(b)
}

// loadAdded gathers the assertions and literals that the tests of now have and
// their counterparts before had not.
func (m *matcher) loadAdded() {
	if m.addedLoaded {
		return
	}
	m.addedLoaded, m.addedTests, m.addedWords = true, map[string]bool{}, map[string]bool{}
	was := map[*test]*test{}
	for _, p := range m.pairs {
		was[p.now] = p.was
	}
	for _, a := range m.after {
		if a.Skipped {
			continue
		}
		var old source.TestDef
		if b := was[a]; b != nil {
			old = *b.TestDef
		} else if model := m.copied(a); model.like >= copyEnough { // only what is not in its model
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

// becameHelper reports whether the body of a lost test is a function now that
// something calls.
func (t *test) becameHelper() bool {
	_, called := heir(t)
	return called
}
