package integrity

import (
	"path"
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

// hidden reports whether a path lies in a folder that runners do not look into.
func hidden(name string) bool {
	return slices.ContainsFunc(strings.Split(path.Dir(name), "/"), func(dir string) bool {
		return len(dir) > 1 && dir[0] == '.' && dir != ".." || dir == "__pycache__"
	})
}

// leftDiscovery reports whether a file was renamed so that its runner does not
// find it any more, by the usual names.
func leftDiscovery(before, after *side) bool {
	if !before.there() || !after.there() || before.path == after.path {
		return false
	}
	if namedTest(path.Base(before.path)) && !namedTest(path.Base(after.path)) && suffixed(before.language()) {
		return true
	}
	return discovered(before) && !discovered(after) || putAway(after.path) && !putAway(before.path)
}

// leftWithProduct reports whether product code moved to the folder to which a test
// was moved, so that the folder is not one for what is put away.
func (c *change) leftWithProduct(f *file) bool {
	dir := path.Dir(f.Path)
	return f.OldPath != "" && path.Base(f.Path) == path.Base(f.OldPath) && slices.ContainsFunc(c.files, func(g *file) bool {
		return path.Dir(g.Path) == dir && (g.Added || g.OldPath != "") && g.after().product()
	})
}

// leavesDiscovery reports whether a file was renamed so that its tests are not
// found.
func (c *change) leavesDiscovery(f *file) bool {
	return leftDiscovery(f.before(), f.after()) && !c.leftWithProduct(f)
}

// suffixed reports whether files of tests are usually told by their names.
func suffixed(lang source.Language) bool {
	return slices.Contains([]source.Language{source.JavaScript, source.TypeScript, source.Go, source.Ruby, source.PHP}, lang)
}

// away matches folders for what is not used any more.
var away = regexp.MustCompile(`(?i)^(?:[._].+|(?:old|archived?|attic|disabled|backups?|bak|tmp|temp|unused|legacy|skip(?:ped)?|quarantined?|graveyard|deprecated|obsolete|trash|parked|ignored?|build|dist|out|target|docs?|misc|notes|scratch|wip|later)(?:[._-].*)?|.*[._-](?:old|bak|disabled|off|tests?_?disabled|archive|unused))$`)

// putAway reports whether a path lies in such a folder.
func putAway(name string) bool {
	return slices.ContainsFunc(strings.Split(path.Dir(name), "/"), func(dir string) bool {
		return len(dir) > 1 && dir != ".." && dir != "__tests__" && away.MatchString(dir)
	})
}

// discovered reports whether the name of a file is one that runners look for.
// Where they take any name it is true.
func discovered(s *side) bool {
	base := path.Base(s.path)
	if source.Vendored(s.path) || hidden(s.path) || strings.Contains("/"+s.path, "/old/") {
		return false
	}
	switch lang := s.language(); lang {
	case source.Unknown:
		return false
	case source.Go:
		return strings.HasSuffix(base, "_test.go") && base[0] != '_' && !strings.Contains("/"+s.path, "/testdata/")
	case source.Python:
		stem := strings.TrimSuffix(base, path.Ext(base))
		return strings.HasPrefix(stem, "test") || strings.HasSuffix(stem, "_test") || strings.HasSuffix(stem, "_tests")
	case source.Ruby, source.PHP, source.JavaScript, source.TypeScript, source.Elixir:
		return namedTest(base) || s.isTest() && !slices.ContainsFunc(suffixedNames, func(n string) bool { return strings.Contains(base, n) })
	default:
		return s.isTest()
	}
}

// suffixedNames are endings that take a file out of the usual globs.
var suffixedNames = []string{".disabled.", ".bak.", ".skip.", ".old.", ".orig."}

func namedTest(base string) bool {
	if strings.HasPrefix(base, "_") {
		return false // by custom a part of others
	}
	stem := strings.TrimSuffix(base, path.Ext(base))
	for _, end := range []string{".test", ".spec", "_test", "_spec", "Test", "-test", "-spec"} {
		if strings.HasSuffix(stem, end) {
			return true
		}
	}
	return strings.HasPrefix(stem, "test")
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
			if like := source.Similarity(*b.TestDef, *a.TestDef); like > most || like == most && best == nil {
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
		m.c.literalsMoved(b)
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
