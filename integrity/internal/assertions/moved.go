package assertions

import (
	"slices"
	"strings"

	"supervise/integrity/internal/facts"
	"supervise/internal/regexp"
	"supervise/source"
)

// newHelpers are the functions that tests of the change define now and did not before, by
// name, each with the side that has it.
var newHelpers = facts.Define(func(c *facts.Change) map[string]newHelper {
	out := map[string]newHelper{}
	for _, f := range c.Files {
		if !f.After().MayHoldTests() {
			continue
		}
		for _, fn := range facts.HelperFunctions(f.After()) {
			if name := facts.LastName(fn.Name); len(name) > 2 {
				out[name] = newHelper{f.After(), fn}
			}
		}
	}
	for _, f := range c.Files {
		for _, fn := range f.Before().Inspection().Functions {
			delete(out, facts.LastName(fn.Name))
		}
	}
	return out
})

// newHelper is where a helper is written.
type newHelper struct {
	side *facts.Side
	fn   source.Function
}

// assertions returns what a helper asserts.
func (h newHelper) assertions() []source.Assertion {
	var out []source.Assertion
	for n := h.fn.Line + 1; n <= h.fn.End; n++ {
		if failingLineRE.MatchString(h.side.LinesWithoutStrings(n, n)) {
			out = append(out, source.ParseAssertion(strings.TrimSpace(h.side.LinesWithoutComments(n, n))))
		}
	}
	return out
}

// findWeakHelpers finds assertions that moved to a new helper, which asserts less.
func findWeakHelpers(c *facts.Change) []facts.Finding {
	var out []facts.Finding
	for _, d := range assertionDiffs.Of(c) {
		for _, r := range d.helperReplacements(c) {
			h := newHelpers.Of(c)[r.name]
			if list := h.assertions(); r.isWeakerThanAll(list) && !strings.Contains(h.side.LinesWithoutComments(h.fn.Line, h.fn.End), "yield") {
				out = append(out, d.finding(r.after, r.before.Text+" → "+r.name+": "+strings.TrimSpace(h.side.LinesWithoutComments(h.fn.Line+1, h.fn.End))))
			}
		}
	}
	return out
}

// helperReplacement is an assertion that became the call of a helper.
type helperReplacement struct {
	before, after facts.Assertion
	name          string
	test          *facts.Test // as it was
}

// callsSubject reports whether an assertion calls what the test called.
func (r helperReplacement) callsSubject(a source.Assertion) bool {
	for f := range calledFunctions(a.Skeleton) {
		if r.test.Tokens[f] > 0 {
			return true
		}
	}
	return false
}

// plainCallRE matches an assertion that is a call of a function, or of a method of the test.
var plainCallRE = regexp.MustCompile(`^(?:await\s+)?(?:self\.|this\.)?(\w+)\(`)

func (d assertionDiff) helperReplacements(c *facts.Change) []helperReplacement {
	var out []helperReplacement
	add := func(before, after facts.Assertion) {
		if m := plainCallRE.FindStringSubmatch(after.Text); m != nil && newHelpers.Of(c)[m[1]].side != nil {
			out = append(out, helperReplacement{before, after, m[1], d.Before})
		}
	}
	for _, r := range d.revised {
		add(r.before, r.after)
	}
	for i, a := range d.added {
		if len(d.removed) > 0 {
			add(d.removed[min(i, len(d.removed)-1)], a)
		}
	}
	return out
}

var (
	// equalityRE splits an assertion at its comparison for equality.
	equalityRE = regexp.MustCompile(`^assert\s+(.*[^=!<>])\s*==\s*(.*?)(?:,\s*f?["'].*)?$`)
	// bareValueRE matches a name or a literal as it is.
	bareValueRE = regexp.MustCompile(`^(?:\*?[\w.]+(?:\[[\w"']+\])*|` + facts.LiteralExpr + `)$`)
	// lossyCallRE matches conversions under which different values are the same.
	lossyCallRE = regexp.MustCompile(`\b(?:int|bool|len|set|type|round|abs|sorted|lower|upper|strip|isinstance|id|hash)\b`)
)

// secondArgumentRE matches a call that is given two values, in a text without parentheses.
var secondArgumentRE = regexp.MustCompile(`,[A-Za-z_]`)

// isWeakerThanAll reports whether all that a helper asserts is weaker than the assertion that it
// is for.
func (r helperReplacement) isWeakerThanAll(list []source.Assertion) bool {
	return !slices.ContainsFunc(list, func(a source.Assertion) bool { return !r.isWeaker(a) })
}

func (r helperReplacement) isWeaker(a source.Assertion) bool {
	text := a.Canonical
	switch {
	case a.Trivial || a.Repeats:
		return true
	case unconditionalAssertRE.MatchString(r.before.Text):
		return !expectedFailureRE.MatchString(text)
	case r.before.Strength < source.Shape, a.Strength == source.Truthy && secondArgumentRE.MatchString(text) && !r.callsSubject(a): // operator.is_(got, want)
		return false
	case booleanComparisonRE.MatchString(r.before.Text) && a.Strength <= source.NonNull:
		return expectsFalse(r.before) != a.Negated
	}
	return a.Strength < r.before.Strength
}

// findLossyHelpers finds assertions of one value that moved to a new helper, which compares
// neither side as it is: int(got) == int(want), got == want + 1.
func findLossyHelpers(c *facts.Change) []facts.Finding {
	var out []facts.Finding
	for _, d := range assertionDiffs.Of(c) {
		for _, r := range d.helperReplacements(c) {
			h := newHelpers.Of(c)[r.name]
			if r.before.Strength == source.Exact && !lossyCallRE.MatchString(r.before.Text) && h.comparesOnlyLossily() {
				out = append(out, d.finding(r.after, r.before.Text+" → "+r.name+": "+strings.TrimSpace(h.side.LinesWithoutComments(h.fn.Line+1, h.fn.End))))
			}
		}
	}
	return out
}

// comparesOnlyLossily reports whether all comparisons of a helper change what they compare.
func (h newHelper) comparesOnlyLossily() bool {
	n := 0
	for at := h.fn.Line + 1; at <= h.fn.End; at++ {
		text := strings.TrimSpace(h.side.LinesWithoutComments(at, at))
		if !failingLineRE.MatchString(text) {
			continue
		}
		m := equalityRE.FindStringSubmatch(text)
		if m == nil {
			return false
		}
		left, right := strings.TrimSpace(m[1]), strings.TrimSpace(m[2])
		sum := regexp.MustCompile(`^\w+\s*[-+*/]\s*\S+$`).MatchString(right)
		if !sum && (bareValueRE.MatchString(right) || bareValueRE.MatchString(left) && !lossyCallRE.MatchString(right)) && !lossyCallRE.MatchString(left) || !sum && !lossyCallRE.MatchString(left) {
			return false
		}
		n++
	}
	return n > 0
}

// findUncalledHelpers finds functions within a test, or of its file, that assert and that the test
// does not call any more.
func findUncalledHelpers(c *facts.Change) []facts.Finding {
	var out []facts.Finding
	for _, p := range facts.Tests.Of(c).Pairs {
		if p.After.Parent != nil || p.MatchedBy != "" || p.Before.NeverRuns() {
			continue
		}
		for _, fn := range p.After.Side.Inspection().Functions {
			name := facts.LastName(fn.Name)
			if len(name) < 3 || p.Before.Tokens[name] <= p.After.Tokens[name] && p.Before.Tokens[name] < 2 || fn.Line <= p.After.Line && p.After.End <= fn.End || len(failingLines(p.After.Side, fn)) == 0 {
				continue
			}
			if callsFunction(p.Before, name) && !callsFunction(p.After, name) && !callsNewHelper(c, assertionDiff{Pair: p}) {
				out = append(out, p.After.NewFinding(fn.Line, name+", which asserts, is not called any more"))
			}
		}
	}
	return out
}

// callsFunction reports whether a test calls a function, or hands it to something that may, other
// than an assertion.
func callsFunction(t *facts.Test, name string) bool {
	n := regexp.QuoteMeta(name)
	use := regexp.MustCompile(`\b` + n + `\b`)
	about := regexp.MustCompile(`\b(?:def|class|function|func|fn|const|let|var)\s+` + n + `\b|^\s*(?:assert|expect\()[^(]*\(?` + n + `\b[^(]*$|\bcallable\(` + n)
	for at := t.Line + 1; at <= t.End; at++ {
		if text := t.Side.LinesWithoutStrings(at, at); use.MatchString(text) && !about.MatchString(text) {
			return true
		}
	}
	return false
}
