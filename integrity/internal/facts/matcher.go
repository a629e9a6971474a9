package facts

import (
	"slices"
	"strings"

	"supervise/source"
)

// matcher pairs the tests before with those after.
type matcher struct {
	inventory
	c               *Change
	before          []*Test
	after           []*Test
	matchedBefore   map[*Test]bool
	matchedAfter    map[*Test]bool
	addedText       lazy[string]    // see addedTestText
	addedAssertions map[string]bool // lines of tests that were added, without comments
	addedLiterals   map[string]bool // literals of those lines
	addedLoaded     bool
	compared        int // pairs of bodies, see copied
}

func newMatcher(c *Change) *matcher {
	m := &matcher{c: c, matchedBefore: map[*Test]bool{}, matchedAfter: map[*Test]bool{}}
	for _, f := range c.Files {
		before, after := f.Before(), f.After()
		m.before = append(m.before, discoverableTests(f, before)...)
		if c.LeavesDiscovery(f) {
			continue
		}
		m.after = append(m.after, discoverableTests(f, after)...)
	}
	return m
}

// discoverableTests lists the tests of a side that a runner would find.
func discoverableTests(f *ChangedFile, s *Side) []*Test {
	if !s.MayHoldTests() || source.IsVendored(s.Path) || isInHiddenFolder(s.Path) {
		return nil
	}
	list := s.Inspection().Tests
	out := make([]*Test, 0, len(list))
	for i := range list {
		if list[i].Kind == source.Benchmark {
			continue
		}
		t := &Test{TestDef: &list[i], File: f, Side: s}
		if t.Kind == source.Subtest {
			for _, p := range slices.Backward(out) {
				if strings.HasPrefix(t.Name, p.Name+"/") {
					t.Parent = p
					break
				}
			}
		}
		out = append(out, t)
	}
	return out
}

func (m *matcher) match() {
	m.pairByKey("", func(b *Test) string { return b.File.id() + "\x00" + b.Class + "\x00" + b.Name })
	m.pairByKey("", func(b *Test) string { return b.File.id() + "\x00" + b.Name })
	m.pairUntitled()
	m.pairByKey(matchedByName, func(b *Test) string { return b.Class + "\x00" + b.Name })
	m.pairByKey(matchedByName, func(b *Test) string { return b.Name })
	m.pairByKey(MatchedByBody, func(b *Test) string { return b.File.id() + "\x00" + plainName(b.Name) })
	m.pairBodies()
	for _, b := range m.before {
		if !m.matchedBefore[b] {
			m.Lost = append(m.Lost, Loss{b, m.explainLoss(b)})
		}
	}
	for _, a := range m.after {
		if !m.matchedAfter[a] {
			m.Added = append(m.Added, a)
			m.findClosest(a)
		}
	}
}

// pairUntitled matches the tests of a group that have no title, and another body now, in
// order: their names are made of their bodies.
func (m *matcher) pairUntitled() {
	free := map[string][]*Test{}
	for _, a := range m.after {
		if a.Untitled && !m.matchedAfter[a] {
			k := a.File.id() + "\x00" + a.Class
			free[k] = append(free[k], a)
		}
	}
	for _, b := range m.before {
		k := b.File.id() + "\x00" + b.Class
		if list := free[k]; b.Untitled && !m.matchedBefore[b] && len(list) > 0 {
			free[k] = list[1:]
			m.pair(b, list[0], "")
		}
	}
}

// pairByKey matches what has the same key, in order.
func (m *matcher) pairByKey(how string, key func(*Test) string) {
	free := map[string][]*Test{}
	for _, a := range m.after {
		if !m.matchedAfter[a] {
			k := key(a)
			free[k] = append(free[k], a)
		}
	}
	if len(free) == 0 {
		return
	}
	for _, b := range m.before {
		if m.matchedBefore[b] {
			continue
		}
		k := key(b)
		list := free[k]
		if len(list) == 0 || how != "" && !canReplace(b, list[0]) {
			continue
		}
		free[k] = list[1:]
		h := how
		if h == "" && b.File.OldPath != "" {
			h = matchedByRename
		}
		m.pair(b, list[0], h)
	}
}

func (m *matcher) pair(before, after *Test, how string) {
	m.matchedBefore[before], m.matchedAfter[after] = true, true
	m.Pairs = append(m.Pairs, Pair{before, after, how})
}

// canReplace reports whether a test in another place can replace a lost one: not if it lost all
// assertions.
func canReplace(before, after *Test) bool {
	return len(before.Assertions) == 0 || len(after.Assertions) > 0 && !after.Skipped
}

// MinCopySimilarity is the similarity from which on a new test is a copy of an existing one.
const MinCopySimilarity = .8

// findClosest returns the test of the same file that was there before, is still there,
// and is most like a new test: the new one belongs to that, and not to one that
// is gone.
func (m *matcher) findClosest(a *Test) closestTest {
	if known, ok := m.Closest[a]; ok {
		return known
	}
	if m.Closest == nil {
		m.Closest = map[*Test]closestTest{}
	}
	var best closestTest
	for _, p := range m.Pairs {
		if p.After.File != a.File || p.MatchedBy != "" && p.MatchedBy != matchedByRename || len(p.Before.Tokens) == 0 || m.compared > maxBodyPairs {
			continue
		}
		m.compared++
		if similarity := source.Similarity(*p.Before.TestDef, *a.TestDef); similarity > best.Similarity {
			best = closestTest{p.Before, similarity}
		}
	}
	m.Closest[a] = best
	return best
}

const minBodySimilarity = .5

// pairBodies matches each lost test, in order, with the most similar new test that is
// left, if most of the body is the same.
func (m *matcher) pairBodies() {
	pairs := 0
	for _, b := range m.before {
		if m.matchedBefore[b] || len(b.Tokens) == 0 {
			continue
		}
		var best *Test
		bestScore := minBodySimilarity
		for _, a := range m.after {
			if m.matchedAfter[a] || (a.Kind == source.Subtest) != (b.Kind == source.Subtest) || !canReplace(b, a) {
				continue
			}
			if pairs++; pairs > maxBodyPairs {
				return
			}
			similarity := source.Similarity(*b.TestDef, *a.TestDef)
			if (similarity > bestScore || similarity == bestScore && best == nil) && m.findClosest(a).Similarity <= similarity {
				best, bestScore = a, similarity
			}
		}
		if best != nil {
			m.pair(b, best, MatchedByBody)
		}
	}
}
