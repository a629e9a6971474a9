package assertions

import (
	"maps"
	"slices"

	"supervise/integrity/internal/configtext"
	"supervise/integrity/internal/facts"
	"supervise/internal/regexp"
	"supervise/metric"
	"supervise/source"
)

// revision is an assertion before and after it was rewritten.
type revision struct{ was, now facts.Assertion }

// delta is how the assertions of a test changed.
type delta struct {
	facts.Pair
	revised []revision
	removed []facts.Assertion
	added   []facts.Assertion
	live    int // assertions that are reached now
}

// deltas compares the assertions of all tests that are there before and after.
// Subtests are part of the test around them.
var deltas = facts.Define(func(c *facts.Set) []delta {
	var out []delta
	var was, now [][]facts.Assertion
	for _, p := range facts.Tests.Of(c).Pairs {
		if p.Was.Parent != nil && p.Was.Kind == source.Subtest || p.Was.NeverRuns() || slices.Equal(p.Was.Assertions, p.Now.Assertions) {
			continue
		}
		out = append(out, delta{Pair: p})
		was, now = append(was, p.Was.LocatedAssertions()), append(now, p.Now.LocatedAssertions())
	}
	facts.Parallel(len(out), func(i int) { out[i].compare(was[i], now[i]) })
	return out
})

// sameAssertion are ways to match assertions, the surest first; only that one works on
// assertions that were not read.
var sameAssertion = []func(facts.Assertion) string{
	func(a facts.Assertion) string { return facts.Squash(a.Text) },
	func(a facts.Assertion) string { return a.Canonical },
	func(a facts.Assertion) string { return facts.Squash(a.Skeleton) },
}

// compare fills in how the assertions of a test changed. It shares nothing with other
// tests, so that several can be compared at a time.
func (d *delta) compare(was, now []facts.Assertion) {
	if names := renamedNames(d.Was.Tokens, d.Now.Tokens); len(names) > 0 {
		for i, a := range was {
			was[i].Text = inNames(a.Text, names)
		}
	}
	d.live = len(now)
	for i, key := range sameAssertion {
		if was, now = d.matchBy(key, was, now, i > 0); i == 0 {
			facts.ReadAssertions(was)
			facts.ReadAssertions(now)
		}
	}
	d.matchLike(was, now)
}

// matchBy removes assertions with the same key; if their texts differ they are revised.
func (d *delta) matchBy(key func(facts.Assertion) string, was, now []facts.Assertion, revised bool) (restWas, restNow []facts.Assertion) {
	free := map[string][]facts.Assertion{}
	for _, a := range now {
		free[key(a)] = append(free[key(a)], a)
	}
	taken := map[string]int{}
	for _, b := range was {
		k := key(b)
		if taken[k] == len(free[k]) {
			restWas = append(restWas, b)
			continue
		}
		if revised {
			d.revised = append(d.revised, revision{b, free[k][taken[k]]})
		}
		taken[k]++
	}
	for _, a := range now {
		if k := key(a); taken[k] > 0 {
			taken[k]--
			continue
		}
		restNow = append(restNow, a)
	}
	return restWas, restNow
}

// likeEnough is the share of common words from which on one assertion is a revision of
// the other.
const likeEnough = .4

// matchLike pairs the rest by their words, the most similar first.
func (d *delta) matchLike(was, now []facts.Assertion) {
	used := make([]bool, len(now))
	for _, b := range was {
		best, most := -1, likeEnough
		for i, a := range now {
			if like := likeness(b.Text, a.Text); !used[i] && like > most {
				best, most = i, like
			}
		}
		if best < 0 {
			d.removed = append(d.removed, b)
			continue
		}
		used[best] = true
		d.revised = append(d.revised, revision{b, now[best]})
	}
	for i, a := range now {
		if !used[i] {
			d.added = append(d.added, a)
		}
	}
}

// likeness is the share of subject words that two assertions have in common, relative to
// the one with fewer.
func likeness(a, b string) float64 {
	x, y := facts.SubjectWords(a), facts.SubjectWords(b)
	common := 0
	for w, n := range x {
		common += min(n, y[w])
	}
	least := min(total(x), total(y))
	if least == 0 {
		return 0
	}
	return float64(common) / float64(least)
}

func total(m map[string]int) int {
	n := 0
	for _, k := range m {
		n += k
	}
	return n
}

// finding is a finding about an assertion of a test.
func (d delta) finding(a facts.Assertion, text string) facts.Finding {
	return facts.Finding{File: d.Now.Side.Path, Line: a.Line, Test: d.Now.Name, Evidence: facts.Evidence(text)}
}

// decorator matches a decorator or an annotation of a test.
var decorator = regexp.MustCompile(`(?m)^\s*@(\w+)`)

// callsNewHelper reports whether a test newly calls a function that is defined in test
// code of the change and that asserts.
func callsNewHelper(c *facts.Set, d delta) bool {
	names := maps.Clone(d.Now.Tokens)
	for _, m := range decorator.FindAllStringSubmatch(d.Now.Side.FullText(d.Now.TestDef), -1) {
		names[m[1]]++
	}
	for token := range names {
		if d.Was.Tokens[token] > 0 || len(token) < 3 || !facts.IsName(token) {
			continue
		}
		for _, f := range c.Files {
			s := f.After()
			if !s.MayTest() {
				continue
			}
			for _, fn := range s.Source().Functions {
				if facts.LastName(fn.Name) == token && asserting.MatchString(s.PlainRange(fn.Line, fn.End)) {
					return true
				}
			}
		}
	}
	return false
}

var asserting = regexp.MustCompile(`(?i)\b(?:assert|expect|is_expected|are_expected|require|verify|check|refute|fail|t\.(?:error|fatal)|panic|should|raises|warns)\w*`)

// subjectsGone reports whether at least half of the removed assertions name
// product code that is gone.
func subjectsGone(c *facts.Set, d delta) bool {
	gone := facts.GoneNames.Of(c)
	n := 0
	for _, a := range d.removed {
		for w := range facts.SubjectWords(a.Text) {
			if gone[w] && len(w) > 2 {
				n++
				break
			}
		}
	}
	return len(gone) > 0 && 2*n >= len(d.removed)
}

// findTautology finds assertions that hold whatever the code does, in tests.
func findTautology(c *facts.Set) []facts.Finding {
	var out []facts.Finding
	inv := facts.Tests.Of(c)
	for _, d := range deltas.Of(c) {
		all, trivial, had := facts.Tautologies(d.Now), 0, facts.Tautologies(d.Was)
		trivial = len(all)
		if trivial <= len(had)+reflexive(d.Was) {
			continue
		}
		f := d.finding(all[len(all)-1], all[len(all)-1].Text)
		switch {
		case trivial == len(d.Now.Assertions):
			f.Severity = metric.Critical
		case len(d.removed)+len(d.revised) == 0, ofItself.MatchString(d.Now.Name):
			f.Severity = metric.Medium
		}
		out = append(out, f)
	}
	lost := slices.ContainsFunc(inv.Lost, func(l facts.Loss) bool { return l.ExplainedBy == "" })
	for _, t := range inv.Added {
		all := facts.Tautologies(t)
		if len(all) == 0 || len(all) < len(t.Assertions) || t.Parent != nil || t.File.Added && configtext.DataFolders.MatchString(t.File.Path) {
			continue
		}
		f := facts.Finding{File: t.Side.Path, Line: all[0].Line, Test: t.Name, Evidence: facts.Evidence(all[0].Text)}
		switch {
		case lost:
			f.Severity = metric.Critical
		case saysPass.MatchString(all[0].Text) && len(t.Symbols) > 0:
			continue // what it calls must not throw
		}
		out = append(out, f)
	}
	return out
}

// saysPass matches calls for tests that only must not throw.
var saysPass = regexp.MustCompile(`\b(?:t|Assert)\.[pP]ass\(|^SUCCEED\(|expectNotToPerformAssertions`)

// toItself matches the question whether something is equal to what it names.
var toItself = regexp.MustCompile(`([\w.]+)\.(?:equals|Equals|eql\?|equal\?|isEqual|__eq__)\(([\w.]+)\)`)

// ofItself matches the names of tests about what equals itself.
var ofItself = regexp.MustCompile(`(?i)itself|reflexiv|to_?self\b`)

// reflexive counts the assertions of a test that something equals itself by its own
// method: as a comparison they mean the same.
func reflexive(t *facts.Test) int {
	n := 0
	for _, text := range t.Assertions {
		if m := toItself.FindStringSubmatch(text); m != nil && m[1] == m[2] {
			n++
		}
	}
	return n
}

// findFlipped finds assertions that assert the opposite.
func findFlipped(c *facts.Set) []facts.Finding {
	var out []facts.Finding
	for _, d := range deltas.Of(c) {
		known := d.caughtBefore()
		for _, r := range d.revised {
			if r.opposite() ||
				!known && expectsFailure.MatchString(r.now.Text) && !raising.MatchString(r.was.Text) {
				f := d.finding(r.now, r.was.Text+" → "+r.now.Text)
				if asksChanged(c, r.was) {
					f.Severity = metric.Medium
				}
				out = append(out, f)
			}
		}
		for _, a := range d.added {
			if !known && expectsFailure.MatchString(a.Text) {
				out = append(out, d.finding(a, a.Text))
			}
		}
	}
	return out
}

// handlers matches the lines that every swallowed failure needs.
var handlers = regexp.MustCompile(`except|catch|rescue|recover|suppress`)

// findSwallowed finds assertions whose failure is caught and dropped, and
// product code that drops errors.
func findSwallowed(c *facts.Set) []facts.Finding {
	var out []facts.Finding
	for _, p := range facts.Tests.Of(c).Pairs {
		marks := p.Now.Within(source.Swallow)
		if len(marks) <= len(p.Was.Within(source.Swallow)) || p.Now.Parent != nil {
			continue
		}
		if p.Now.AssertionsIn(marks) > 0 {
			m := marks[len(marks)-1]
			out = append(out, facts.Finding{File: p.Now.Side.Path, Line: m.Line, Test: p.Now.Name, Evidence: facts.Evidence(m.Text)})
		}
	}
	for _, f := range c.Files {
		if !f.After().Product() || f.Added || len(facts.Matching(f.AddedLines(), handlers)) == 0 {
			continue
		}
		had := map[string]int{}
		for _, m := range f.Before().Source().Marks {
			had[m.Text]++
		}
		for _, m := range f.After().Source().Marks {
			if had[m.Text]--; m.Kind == source.Swallow && had[m.Text] < 0 && f.After().InTest(m.Line) == nil {
				out = append(out, facts.Finding{Severity: metric.Medium, File: f.Path, Line: m.Line, Evidence: facts.Evidence(m.Text)})
			}
		}
	}
	return out
}
