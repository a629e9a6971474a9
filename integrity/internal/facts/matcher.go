package facts

import (
	"slices"
	"strings"

	"supervise/source"
)

// matcher pairs the tests before the change with those after it. A test that has no counterpart is
// lost or new.
//
// It tries several keys, the surest first: see match. Pairs that are certain are made before those
// that are guessed, and a test is never in two pairs.
type matcher struct {
	inventory
	c               *Change
	before          []*Test         // all tests before the change
	after           []*Test         // all tests after the change that a runner would find
	matchedBefore   map[*Test]bool  // the tests of before that are in a pair
	matchedAfter    map[*Test]bool  // the tests of after that are in a pair
	addedText       lazy[string]    // see addedTestText
	addedAssertions map[string]bool // see loadAddedChecks
	addedLiterals   map[string]bool // see loadAddedChecks
	addedLoaded     bool            // loadAddedChecks was called
	compared        int             // how many bodies were compared so far, see findClosest
}

// newMatcher gathers the tests of the changed files. Files that were renamed so that runners no
// longer find them have no tests after the change.
func newMatcher(c *Change) *matcher {
	m := &matcher{c: c, matchedBefore: map[*Test]bool{}, matchedAfter: map[*Test]bool{}}
	m.Closest = map[*Test]closestTest{}
	for _, f := range c.Files {
		m.before = append(m.before, discoverableTests(f, f.Before())...)
		if !c.LeavesDiscovery(f) {
			m.after = append(m.after, discoverableTests(f, f.After())...)
		}
	}
	return m
}

// discoverableTests returns the tests of a side that a runner would find.
func discoverableTests(f *ChangedFile, s *Side) []*Test {
	if !s.MayHoldTests() || source.IsVendored(s.Path) || isInHiddenFolder(s.Path) {
		return nil
	}
	var out []*Test
	for i := range s.Inspection().Tests {
		t := &Test{TestDef: &s.Inspection().Tests[i], File: f, Side: s}
		if t.Kind == source.Benchmark {
			continue
		}
		if t.Kind == source.Subtest {
			t.Parent = findParent(t, out)
		}
		out = append(out, t)
	}
	return out
}

// findParent returns the last of the tests that contains a subtest, nil if there is none.
func findParent(subtest *Test, tests []*Test) *Test {
	for _, t := range slices.Backward(tests) {
		if strings.HasPrefix(subtest.Name, t.Name+"/") {
			return t
		}
	}
	return nil
}

// match fills in the inventory. It pairs tests of the same file by name first, then those that
// moved to another file, and then those that have a new name but a similar body. What remains is
// lost or new.
func (m *matcher) match() {
	m.pairByKey("", func(t *Test) string { return t.File.id() + "\x00" + t.Class + "\x00" + t.Name })
	m.pairByKey("", func(t *Test) string { return t.File.id() + "\x00" + t.Name })
	m.pairUntitled()
	m.pairByKey(matchedByName, func(t *Test) string { return t.Class + "\x00" + t.Name })
	m.pairByKey(matchedByName, func(t *Test) string { return t.Name })
	m.pairByKey(MatchedByBody, func(t *Test) string { return t.File.id() + "\x00" + plainName(t.Name) })
	m.pairBodies()

	for _, t := range m.before {
		if !m.matchedBefore[t] {
			m.Lost = append(m.Lost, Loss{t, m.explainLoss(t)})
		}
	}

	for _, t := range m.after {
		if !m.matchedAfter[t] {
			m.Added = append(m.Added, t)
			m.findClosest(t)
		}
	}
}

// pairUntitled pairs the tests of a group that have no title, in order. Their names are made from
// their bodies, so a test whose body changed has another name.
func (m *matcher) pairUntitled() {
	key := func(t *Test) string { return t.File.id() + "\x00" + t.Class }
	free := m.unmatchedByKey(func(t *Test) string {
		if !t.Untitled {
			return ""
		}
		return key(t)
	})
	for _, t := range m.before {
		if list := free[key(t)]; t.Untitled && !m.matchedBefore[t] && len(list) > 0 {
			free[key(t)] = list[1:]
			m.pair(t, list[0], "")
		}
	}
}

// unmatchedByKey returns the tests after the change that are in no pair, by a key.
func (m *matcher) unmatchedByKey(key func(*Test) string) map[string][]*Test {
	out := map[string][]*Test{}
	for _, t := range m.after {
		if !m.matchedAfter[t] {
			out[key(t)] = append(out[key(t)], t)
		}
	}
	return out
}

// pairByKey pairs the tests that have the same key, in order. by is the reason that is recorded, ""
// for the same name in the same file.
func (m *matcher) pairByKey(by string, key func(*Test) string) {
	free := m.unmatchedByKey(key)
	if len(free) == 0 {
		return
	}
	for _, t := range m.before {
		if m.matchedBefore[t] {
			continue
		}
		k := key(t)
		list := free[k]
		if len(list) == 0 || by != "" && !canReplace(t, list[0]) {
			continue
		}
		free[k] = list[1:]
		if by == "" && t.File.OldPath != "" {
			m.pair(t, list[0], matchedByRename)
		} else {
			m.pair(t, list[0], by)
		}
	}
}

// pair records that two tests match.
func (m *matcher) pair(before, after *Test, by string) {
	m.matchedBefore[before], m.matchedAfter[after] = true, true
	m.Pairs = append(m.Pairs, Pair{before, after, by})
}

// canReplace reports whether a test in another place can replace a lost one. A test without
// assertions, or one that is skipped, cannot replace one with assertions.
func canReplace(before, after *Test) bool {
	return len(before.Assertions) == 0 || len(after.Assertions) > 0 && !after.Skipped
}

// MinCopySimilarity is the similarity from which on a new test counts as a copy of an existing one.
// It is between 0 and 1.
const MinCopySimilarity = .8

// findClosest returns the test that is most similar to a new one, among those of the same file that
// existed before and still exist. If the similarity is high, the new test is a copy of that one
// rather than the successor of a lost test. The result is the zero value if nothing was compared.
func (m *matcher) findClosest(t *Test) closestTest {
	if known, ok := m.Closest[t]; ok {
		return known
	}
	var best closestTest
	for _, p := range m.Pairs {
		keptItsName := p.MatchedBy == "" || p.MatchedBy == matchedByRename
		isComparable := p.After.File == t.File && keptItsName && len(p.Before.Tokens) > 0
		if !isComparable || m.compared > maxBodyPairs {
			continue
		}
		m.compared++
		if similarity := source.Similarity(*p.Before.TestDef, *t.TestDef); similarity > best.Similarity {
			best = closestTest{p.Before, similarity}
		}
	}
	m.Closest[t] = best
	return best
}

// minBodySimilarity is the smallest similarity at which a new test may be the successor of a lost
// one.
const minBodySimilarity = .5

// pairBodies pairs each lost test, in order, with the unmatched test whose body is most similar, if
// the similarity is at least minBodySimilarity. It stops after maxBodyPairs comparisons.
func (m *matcher) pairBodies() {
	compared := 0
	for _, old := range m.before {
		if m.matchedBefore[old] || len(old.Tokens) == 0 {
			continue
		}

		var best *Test
		highest := minBodySimilarity
		for _, t := range m.after {
			isSameKind := (t.Kind == source.Subtest) == (old.Kind == source.Subtest)
			if m.matchedAfter[t] || !isSameKind || !canReplace(old, t) {
				continue
			}
			if compared++; compared > maxBodyPairs {
				return
			}
			similarity := source.Similarity(*old.TestDef, *t.TestDef)
			isBetter := similarity > highest || similarity == highest && best == nil
			if isBetter && m.findClosest(t).Similarity <= similarity {
				best, highest = t, similarity
			}
		}

		if best != nil {
			m.pair(old, best, MatchedByBody)
		}
	}
}
