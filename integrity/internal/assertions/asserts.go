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
type revision struct{ before, after facts.Assertion }

// assertionDiff is how the assertions of a test changed.
type assertionDiff struct {
	facts.Pair
	revised []revision
	removed []facts.Assertion
	added   []facts.Assertion
	reached int // assertions that are reached now
}

// assertionDiffs compares the assertions of all tests that are there before and after.
// Subtests are part of the test around them.
var assertionDiffs = facts.Define(func(c *facts.Change) []assertionDiff {
	var out []assertionDiff
	var was, now [][]facts.Assertion
	for _, p := range facts.Tests.Of(c).Pairs {
		if p.Before.Parent != nil && p.Before.Kind == source.Subtest || p.Before.NeverRuns() || slices.Equal(p.Before.Assertions, p.After.Assertions) {
			continue
		}
		out = append(out, assertionDiff{Pair: p})
		was, now = append(was, p.Before.LocatedAssertions()), append(now, p.After.LocatedAssertions())
	}
	facts.Parallel(len(out), func(i int) { out[i].compare(was[i], now[i]) })
	return out
})

// assertionKeys are ways to match assertions, the surest first; only that one works on
// assertions that were not read.
var assertionKeys = []func(facts.Assertion) string{
	func(a facts.Assertion) string { return facts.RemoveSpace(a.Text) },
	func(a facts.Assertion) string { return a.Canonical },
	func(a facts.Assertion) string { return facts.RemoveSpace(a.Skeleton) },
}

// compare fills in how the assertions of a test changed. It shares nothing with other
// tests, so that several can be compared at a time.
func (d *assertionDiff) compare(before, after []facts.Assertion) {
	if names := renamedNames(d.Before.Tokens, d.After.Tokens); len(names) > 0 {
		for i, a := range before {
			before[i].Text = replaceNames(a.Text, names)
		}
	}
	d.reached = len(after)
	for i, key := range assertionKeys {
		if before, after = d.matchByKey(key, before, after, i > 0); i == 0 {
			facts.ParseAssertions(before)
			facts.ParseAssertions(after)
		}
	}
	d.matchBySimilarity(before, after)
}

// matchByKey removes assertions with the same key; if their texts differ they are revised.
func (d *assertionDiff) matchByKey(key func(facts.Assertion) string, before, after []facts.Assertion, revised bool) (restWas, restNow []facts.Assertion) {
	free := map[string][]facts.Assertion{}
	for _, a := range after {
		free[key(a)] = append(free[key(a)], a)
	}
	taken := map[string]int{}
	for _, b := range before {
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
	for _, a := range after {
		if k := key(a); taken[k] > 0 {
			taken[k]--
			continue
		}
		restNow = append(restNow, a)
	}
	return restWas, restNow
}

// minRevisionSimilarity is the share of common words from which on one assertion is a revision of
// the other.
const minRevisionSimilarity = .4

// matchBySimilarity pairs the rest by their words, the most similar first.
func (d *assertionDiff) matchBySimilarity(before, after []facts.Assertion) {
	used := make([]bool, len(after))
	for _, b := range before {
		best, bestScore := -1, minRevisionSimilarity
		for i, a := range after {
			if like := similarity(b.Text, a.Text); !used[i] && like > bestScore {
				best, bestScore = i, like
			}
		}
		if best < 0 {
			d.removed = append(d.removed, b)
			continue
		}
		used[best] = true
		d.revised = append(d.revised, revision{b, after[best]})
	}
	for i, a := range after {
		if !used[i] {
			d.added = append(d.added, a)
		}
	}
}

// similarity is the share of subject words that two assertions have in common, relative to
// the one with fewer.
func similarity(a, b string) float64 {
	x, y := facts.SubjectWords(a), facts.SubjectWords(b)
	common := 0
	for w, n := range x {
		common += min(n, y[w])
	}
	minimum := min(sumCounts(x), sumCounts(y))
	if minimum == 0 {
		return 0
	}
	return float64(common) / float64(minimum)
}

func sumCounts(m map[string]int) int {
	n := 0
	for _, k := range m {
		n += k
	}
	return n
}

// finding is a finding about an assertion of a test.
func (d assertionDiff) finding(a facts.Assertion, text string) facts.Finding {
	return d.After.NewFinding(a.Line, text)
}

// decoratorRE matches a decorator or an annotation of a test.
var decoratorRE = regexp.MustCompile(`(?m)^\s*@(\w+)`)

// callsNewHelper reports whether a test newly calls a function that is defined in test
// code of the change and that asserts.
func callsNewHelper(c *facts.Change, d assertionDiff) bool {
	names := maps.Clone(d.After.Tokens)
	for _, m := range decoratorRE.FindAllStringSubmatch(d.After.Side.TextWithAnnotations(d.After.TestDef), -1) {
		names[m[1]]++
	}
	for token := range names {
		if d.Before.Tokens[token] > 0 || len(token) < 3 || !facts.IsName(token) {
			continue
		}
		for _, f := range c.Files {
			s := f.After()
			if !s.MayHoldTests() {
				continue
			}
			for _, fn := range s.Inspection().Functions {
				if facts.LastName(fn.Name) == token && assertingLineRE.MatchString(s.LinesWithoutComments(fn.Line, fn.End)) {
					return true
				}
			}
		}
	}
	return false
}

var assertingLineRE = regexp.MustCompile(`(?i)\b(?:assert|expect|is_expected|are_expected|require|verify|check|refute|fail|t\.(?:error|fatal)|panic|should|raises|warns)\w*`)

// areSubjectsRemoved reports whether at least half of the removed assertions name
// product code that is gone.
func areSubjectsRemoved(c *facts.Change, d assertionDiff) bool {
	removed := facts.RemovedNames.Of(c)
	n := 0
	for _, a := range d.removed {
		for w := range facts.SubjectWords(a.Text) {
			if removed[w] && len(w) > 2 {
				n++
				break
			}
		}
	}
	return len(removed) > 0 && 2*n >= len(d.removed)
}

// findTautologies finds assertions that hold whatever the code does, in tests.
func findTautologies(c *facts.Change) []facts.Finding {
	var out []facts.Finding
	inv := facts.Tests.Of(c)
	for _, d := range assertionDiffs.Of(c) {
		all, trivial, had := facts.Tautologies(d.After), 0, facts.Tautologies(d.Before)
		trivial = len(all)
		if trivial <= len(had)+countReflexive(d.Before) {
			continue
		}
		f := d.finding(all[len(all)-1], all[len(all)-1].Text)
		switch {
		case trivial == len(d.After.Assertions):
			f.Severity = metric.Critical
		case len(d.removed)+len(d.revised) == 0, reflexiveTestRE.MatchString(d.After.Name):
			f.Severity = metric.Medium
		}
		out = append(out, f)
	}
	lost := slices.ContainsFunc(inv.Lost, func(l facts.Loss) bool { return l.ExplainedBy == "" })
	for _, t := range inv.Added {
		all := facts.Tautologies(t)
		if len(all) == 0 || len(all) < len(t.Assertions) || t.Parent != nil || t.File.Added && configtext.DataFolderRE.MatchString(t.File.Path) {
			continue
		}
		f := t.NewFinding(all[0].Line, all[0].Text)
		switch {
		case lost:
			f.Severity = metric.Critical
		case passCallRE.MatchString(all[0].Text) && len(t.Symbols) > 0:
			continue // what it calls must not throw
		}
		out = append(out, f)
	}
	return out
}

// passCallRE matches calls for tests that only must not throw.
var passCallRE = regexp.MustCompile(`\b(?:t|Assert)\.[pP]ass\(|^SUCCEED\(|expectNotToPerformAssertions`)

// selfComparisonRE matches the question whether something is equal to what it names.
var selfComparisonRE = regexp.MustCompile(`([\w.]+)\.(?:equals|Equals|eql\?|equal\?|isEqual|__eq__)\(([\w.]+)\)`)

// reflexiveTestRE matches the names of tests about what equals itself.
var reflexiveTestRE = regexp.MustCompile(`(?i)itself|reflexiv|to_?self\b`)

// countReflexive counts the assertions of a test that something equals itself by its own
// method: as a comparison they mean the same.
func countReflexive(t *facts.Test) int {
	n := 0
	for _, text := range t.Assertions {
		if m := selfComparisonRE.FindStringSubmatch(text); m != nil && m[1] == m[2] {
			n++
		}
	}
	return n
}

// findFlippedAssertions finds assertions that assert the opposite.
func findFlippedAssertions(c *facts.Change) []facts.Finding {
	var out []facts.Finding
	for _, d := range assertionDiffs.Of(c) {
		known := d.caughtFailureBefore()
		for _, r := range d.revised {
			if r.isOpposite() ||
				!known && expectedAssertionErrorRE.MatchString(r.after.Text) && !expectedFailureRE.MatchString(r.before.Text) {
				f := d.finding(r.after, r.before.Text+" → "+r.after.Text)
				if namesChangedFunction(c, r.before) {
					f.Severity = metric.Medium
				}
				out = append(out, f)
			}
		}
		for _, a := range d.added {
			if !known && expectedAssertionErrorRE.MatchString(a.Text) {
				out = append(out, d.finding(a, a.Text))
			}
		}
	}
	return out
}

// handlerRE matches the lines that every swallowed failure needs.
var handlerRE = regexp.MustCompile(`except|catch|rescue|recover|suppress`)

// findSwallowedFailures finds assertions whose failure is caught and dropped, and
// product code that drops errors.
func findSwallowedFailures(c *facts.Change) []facts.Finding {
	var out []facts.Finding
	for _, p := range facts.Tests.Of(c).Pairs {
		marks := p.After.MarksWithin(source.Swallow)
		if len(marks) <= len(p.Before.MarksWithin(source.Swallow)) || p.After.Parent != nil {
			continue
		}
		if p.After.CountAssertionsIn(marks) > 0 {
			m := marks[len(marks)-1]
			out = append(out, p.After.NewFinding(m.Line, m.Text))
		}
	}
	for _, f := range c.Files {
		if !f.After().IsProduct() || f.Added || len(facts.MatchingLines(f.AddedLines(), handlerRE)) == 0 {
			continue
		}
		had := map[string]int{}
		for _, m := range f.Before().Inspection().Marks {
			had[m.Text]++
		}
		for _, m := range f.After().Inspection().Marks {
			if had[m.Text]--; m.Kind == source.Swallow && had[m.Text] < 0 && f.After().TestContaining(m.Line) == nil {
				out = append(out, f.NewFinding(m.Line, m.Text).WithSeverity(metric.Medium))
			}
		}
	}
	return out
}
