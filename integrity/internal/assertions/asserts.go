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

// assertionDiff is how the assertions of a test changed. Assertions that did not change are in none
// of the lists.
type assertionDiff struct {
	facts.Pair
	revised []revision        // assertions that were rewritten
	removed []facts.Assertion // assertions without a counterpart after the change
	added   []facts.Assertion // assertions without a counterpart before the change
	reached int               // how many assertions the test has now
}

// assertionDiffs compares the assertions of all tests that exist before and after the change and
// whose assertions differ. A subtest is part of the test that contains it.
var assertionDiffs = facts.Define(func(c *facts.Change) []assertionDiff {
	var out []assertionDiff
	for _, p := range facts.Tests.Of(c).Pairs {
		isSubtest := p.Before.Parent != nil && p.Before.Kind == source.Subtest
		if !isSubtest && !p.Before.NeverRuns() && !slices.Equal(p.Before.Assertions, p.After.Assertions) {
			out = append(out, assertionDiff{Pair: p})
		}
	}
	facts.Parallel(len(out), func(i int) { out[i].compare() })
	return out
})

// assertionKeys are ways to match assertions, the surest first: the text, the meaning, and the text
// without literals. Only the first one works on assertions that are not parsed.
var assertionKeys = []func(facts.Assertion) string{
	func(a facts.Assertion) string { return facts.RemoveSpace(a.Text) },
	func(a facts.Assertion) string { return a.Canonical },
	func(a facts.Assertion) string { return facts.RemoveSpace(a.Skeleton) },
}

// compare fills in how the assertions of a test changed. It shares nothing with other tests, so
// that tests can be compared in parallel.
func (d *assertionDiff) compare() {
	before, after := d.Before.LocatedAssertions(), d.After.LocatedAssertions()
	if names := renamedNames(d.Before.Tokens, d.After.Tokens); len(names) > 0 {
		for i, a := range before {
			before[i].Text = replaceNames(a.Text, names)
		}
	}

	d.reached = len(after)
	for i, key := range assertionKeys {
		before, after = d.matchByKey(key, before, after, i > 0)
		if i == 0 {
			facts.ParseAssertions(before)
			facts.ParseAssertions(after)
		}
	}

	d.matchBySimilarity(before, after)
}

// matchByKey matches assertions with the same key, in order, and returns the others. revised says
// that the texts of assertions with the same key may differ.
func (d *assertionDiff) matchByKey(key func(facts.Assertion) string, before, after []facts.Assertion, revised bool) (unmatchedBefore, unmatchedAfter []facts.Assertion) {
	byKey := map[string][]facts.Assertion{}
	for _, a := range after {
		byKey[key(a)] = append(byKey[key(a)], a)
	}

	matched := map[string]int{}
	for _, old := range before {
		k := key(old)
		if matched[k] == len(byKey[k]) {
			unmatchedBefore = append(unmatchedBefore, old)
			continue
		}
		if revised {
			d.revised = append(d.revised, revision{old, byKey[k][matched[k]]})
		}
		matched[k]++
	}
	for _, a := range after {
		if matched[key(a)]--; matched[key(a)] < 0 {
			unmatchedAfter = append(unmatchedAfter, a)
		}
	}
	return unmatchedBefore, unmatchedAfter
}

// minRevisionSimilarity is the similarity above which one assertion is a revision of another.
const minRevisionSimilarity = .4

// matchBySimilarity pairs each remaining assertion with the most similar one. What remains after
// that is removed or added.
func (d *assertionDiff) matchBySimilarity(before, after []facts.Assertion) {
	used := make([]bool, len(after))
	for _, old := range before {
		best, highest := -1, minRevisionSimilarity
		for i, a := range after {
			if s := similarity(old.Text, a.Text); !used[i] && s > highest {
				best, highest = i, s
			}
		}
		if best < 0 {
			d.removed = append(d.removed, old)
			continue
		}
		used[best] = true
		d.revised = append(d.revised, revision{old, after[best]})
	}
	for i, a := range after {
		if !used[i] {
			d.added = append(d.added, a)
		}
	}
}

// similarity returns the share of subject words that two assertions have in common, between 0 and
// 1, relative to the one with fewer words.
func similarity(a, b string) float64 {
	x, y := facts.SubjectWords(a), facts.SubjectWords(b)
	common, total, otherTotal := 0, 0, 0
	for w, n := range x {
		common += min(n, y[w])
		total += n
	}
	for _, n := range y {
		otherTotal += n
	}
	return float64(common) / float64(max(min(total, otherTotal), 1))
}

// finding returns a finding about an assertion of a test.
func (d assertionDiff) finding(a facts.Assertion, text string) facts.Finding {
	return d.After.NewFinding(a.Line, text)
}

// countRemoved counts the removed assertions with a subject word for which matches is true.
func (d assertionDiff) countRemoved(matches func(word string) bool) int {
	return facts.Count(d.removed, func(a facts.Assertion) bool { return facts.NamesSubject(a.Text, matches) })
}

// decoratorRE matches a decorator or an annotation of a test, such as @retry. The group is its
// name.
var decoratorRE = regexp.MustCompile(`(?m)^\s*@(\w+)`)

// callsNewHelper reports whether a test newly calls a function of the changed test files that
// asserts.
func callsNewHelper(c *facts.Change, p facts.Pair) bool {
	names := maps.Clone(p.After.Tokens)
	for _, m := range decoratorRE.FindAllStringSubmatch(p.After.Side.TextWithAnnotations(p.After.TestDef), -1) {
		names[m[1]]++
	}
	for name := range names {
		isNew := p.Before.Tokens[name] == 0 && len(name) > 2 && facts.IsName(name)
		if isNew && slices.ContainsFunc(helperBodies(c, name), assertingLineRE.MatchString) {
			return true
		}
	}
	return false
}

// helperBodies returns the texts of the functions with a name in the changed test files.
func helperBodies(c *facts.Change, name string) []string {
	var out []string
	for _, f := range c.Files {
		if !f.After().MayHoldTests() {
			continue
		}
		for _, fn := range f.After().Inspection().Functions {
			if facts.LastName(fn.Name) == name {
				out = append(out, f.After().LinesWithoutComments(fn.Line, fn.End))
			}
		}
	}
	return out
}

// assertingLineRE matches a line that may assert, going by its words: assertEqual, t.Fatal, should.
var assertingLineRE = regexp.MustCompile(`(?i)\b(?:assert|expect|is_expected|are_expected|require|verify|check|refute|fail|t\.(?:error|fatal)|panic|should|raises|warns)\w*`)

// areSubjectsRemoved reports whether at least half of the removed assertions name product code
// that was removed.
func areSubjectsRemoved(c *facts.Change, d assertionDiff) bool {
	names := facts.RemovedNames.Of(c)
	return len(names) > 0 && 2*d.countRemoved(func(w string) bool { return len(w) > 2 && names[w] }) >= len(d.removed)
}

// findTautologies finds assertions of tests that hold whatever the code does, if a test has more of
// them than before.
func findTautologies(_ *facts.Change, d assertionDiff, report facts.Report) {
	list := facts.Tautologies(d.After)
	if len(list) <= len(facts.Tautologies(d.Before))+countReflexive(d.Before) {
		return
	}
	last := list[len(list)-1]
	f := d.finding(last, last.Text)
	switch {
	case len(list) == len(d.After.Assertions):
		f.Severity = metric.Critical
	case len(d.removed)+len(d.revised) == 0, reflexiveTestRE.MatchString(d.After.Name):
		f.Severity = metric.Medium
	}
	report(f)
}

// findNewTautologies finds new tests whose assertions all hold whatever the code does.
func findNewTautologies(c *facts.Change, report facts.Report) {
	tests := facts.Tests.Of(c)
	losesTests := slices.ContainsFunc(tests.Lost, func(l facts.Loss) bool { return l.ExplainedBy == "" })
	for _, t := range tests.Added {
		list := facts.Tautologies(t)
		isTestData := t.File.Added && configtext.DataFolderRE.MatchString(t.File.Path)
		if len(list) == 0 || len(list) < len(t.Assertions) || t.Parent != nil || isTestData {
			continue
		}
		first := list[0]
		switch {
		case losesTests:
			report(t.NewFinding(first.Line, first.Text).WithSeverity(metric.Critical))
		case passCallRE.MatchString(first.Text) && len(t.Symbols) > 0:
			// What the test calls must not throw.
		default:
			report(t.NewFinding(first.Line, first.Text))
		}
	}
}

// passCallRE matches calls by which a test says that it only must not throw, such as t.pass(.
var passCallRE = regexp.MustCompile(`\b(?:t|Assert)\.[pP]ass\(|^SUCCEED\(|expectNotToPerformAssertions`)

// selfComparisonRE matches a comparison by a method, as in a.equals(b). The groups are the two
// values.
var selfComparisonRE = regexp.MustCompile(`([\w.]+)\.(?:equals|Equals|eql\?|equal\?|isEqual|__eq__)\(([\w.]+)\)`)

// reflexiveTestRE matches the names of tests about a value that equals itself.
var reflexiveTestRE = regexp.MustCompile(`(?i)itself|reflexiv|to_?self\b`)

// countReflexive counts the assertions of a test that a value equals itself by its own method. As
// comparisons they would be tautologies.
func countReflexive(t *facts.Test) int {
	return facts.Count(t.Assertions, func(text string) bool {
		m := selfComparisonRE.FindStringSubmatch(text)
		return m != nil && m[1] == m[2]
	})
}

// findFlippedAssertions finds assertions that now assert the opposite, or expect the failure of
// another assertion.
func findFlippedAssertions(c *facts.Change, d assertionDiff, report facts.Report) {
	expectedFailure := d.caughtFailureBefore()
	expectsFailure := func(a facts.Assertion) bool {
		return !expectedFailure && expectedAssertionErrorRE.MatchString(a.Text)
	}

	for _, r := range d.revised {
		newlyFails := expectsFailure(r.after) && !expectedFailureRE.MatchString(r.before.Text)
		if !r.isOpposite() && !newlyFails {
			continue
		}
		f := d.finding(r.after, r.before.Text+" → "+r.after.Text)
		if namesChangedFunction(c, r.before) {
			f.Severity = metric.Medium
		}
		report(f)
	}

	for _, a := range facts.Filter(d.added, expectsFailure) {
		report(d.finding(a, a.Text))
	}
}

// handlerRE matches a line that every swallowed failure has, such as "except". It is checked first
// because it is fast.
var handlerRE = regexp.MustCompile(`except|catch|rescue|recover|suppress`)

// findSwallowedFailures finds assertions whose failure is caught and dropped.
func findSwallowedFailures(_ *facts.Change, p facts.Pair, report facts.Report) {
	marks := p.After.MarksWithin(source.Swallow)
	isNew := len(marks) > len(p.Before.MarksWithin(source.Swallow)) && p.After.Parent == nil
	if isNew && p.After.CountAssertionsIn(marks) > 0 {
		last := marks[len(marks)-1]
		report(p.After.NewFinding(last.Line, last.Text))
	}
}

// findSwallowedErrors finds handlers in product code that newly drop errors.
func findSwallowedErrors(f *facts.ChangedFile, report facts.Report) {
	if !f.After().IsProduct() || f.Added || len(facts.MatchingLines(f.AddedLines(), handlerRE)) == 0 {
		return
	}
	for _, m := range f.NewMarks(source.Swallow) {
		if f.After().Inspection().TestAround(m.Line) == nil {
			report(f.NewFinding(m.Line, m.Text).WithSeverity(metric.Medium))
		}
	}
}
