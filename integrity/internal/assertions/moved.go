package assertions

import (
	"slices"
	"strings"

	"supervise/integrity/internal/facts"
	"supervise/internal/regexp"
	"supervise/source"
)

// newHelpers are the functions that changed test files define and that no changed file defined
// before, by name.
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

// newHelper is a new function of a test file.
type newHelper struct {
	side *facts.Side
	fn   source.Function
}

// assertions returns the assertions of a helper.
func (h newHelper) assertions() []source.Assertion {
	return facts.Map(failingLines(h.side, h.fn), source.ParseAssertion)
}

// body returns the text of a helper without its head.
func (h newHelper) body() string {
	return strings.TrimSpace(h.side.LinesWithoutComments(h.fn.Line+1, h.fn.End))
}

// findWeakHelpers finds assertions that became the call of a new helper whose assertions are all
// weaker.
func findWeakHelpers(c *facts.Change, d assertionDiff, report facts.Report) {
	d.reportReplacements(c, report, func(r helperReplacement) bool {
		yields := strings.Contains(r.helper.side.LinesWithoutComments(r.helper.fn.Line, r.helper.fn.End), "yield")
		return !yields && facts.All(r.helper.assertions(), r.isWeaker)
	})
}

// reportReplacements reports the assertions that became the call of a helper and for which matches
// is true.
func (d assertionDiff) reportReplacements(c *facts.Change, report facts.Report, matches func(helperReplacement) bool) {
	for _, r := range facts.Filter(d.helperReplacements(c), matches) {
		report(d.finding(r.after, r.before.Text+" → "+r.name+": "+r.helper.body()))
	}
}

// helperReplacement is an assertion that became the call of a new helper.
type helperReplacement struct {
	before, after facts.Assertion
	name          string
	helper        newHelper
	test          *facts.Test // before the change
}

// callsSubject reports whether an assertion calls a function that the test called.
func (r helperReplacement) callsSubject(a source.Assertion) bool {
	for name := range calledFunctions(a.Skeleton) {
		if r.test.Tokens[name] > 0 {
			return true
		}
	}
	return false
}

// plainCallRE matches an assertion that is the call of a function, or of a method of the test:
// "self.check(". The group is the name.
var plainCallRE = regexp.MustCompile(`^(?:await\s+)?(?:self\.|this\.)?(\w+)\(`)

// helperReplacements returns the assertions of a test that became the call of a new helper. Removed
// and added assertions are paired in order.
func (d assertionDiff) helperReplacements(c *facts.Change) []helperReplacement {
	candidates := slices.Clone(d.revised)
	for i, a := range d.added {
		if len(d.removed) > 0 {
			candidates = append(candidates, revision{d.removed[min(i, len(d.removed)-1)], a})
		}
	}
	var out []helperReplacement
	for _, r := range candidates {
		m := plainCallRE.FindStringSubmatch(r.after.Text)
		if m == nil {
			continue
		}
		if helper, ok := newHelpers.Of(c)[m[1]]; ok {
			out = append(out, helperReplacement{r.before, r.after, m[1], helper, d.Before})
		}
	}
	return out
}

var (
	// equalityRE splits an assertion at its comparison for equality: "assert got == want".
	equalityRE = regexp.MustCompile(`^assert\s+(.*[^=!<>])\s*==\s*(.*?)(?:,\s*f?["'].*)?$`)
	// calculationRE matches a calculation with a name: "want + 1".
	calculationRE = regexp.MustCompile(`^\w+\s*[-+*/]\s*\S+$`)
	// lossyCallRE matches conversions under which different values may be the same, such as int and
	// len.
	lossyCallRE = regexp.MustCompile(`\b(?:int|bool|len|set|type|round|abs|sorted|lower|upper|strip|isinstance|id|hash)\b`)
)

// secondArgumentRE matches the beginning of a second argument in a text without blanks, as in
// "is_(got,want)".
var secondArgumentRE = regexp.MustCompile(`,[A-Za-z_]`)

// isWeaker reports whether an assertion of the helper is weaker than the one that the helper
// replaces.
func (r helperReplacement) isWeaker(a source.Assertion) bool {
	mayCompare := a.Strength == source.Truthy && secondArgumentRE.MatchString(a.Canonical) // operator.is_(got, want)
	switch {
	case a.Trivial || a.Repeats:
		return true
	case unconditionalAssertRE.MatchString(r.before.Text):
		return !expectedFailureRE.MatchString(a.Canonical)
	case r.before.Strength < source.Shape, mayCompare && !r.callsSubject(a):
		return false
	case booleanComparisonRE.MatchString(r.before.Text) && a.Strength <= source.NonNull:
		return expectsFalse(r.before) != a.Negated
	}
	return a.Strength < r.before.Strength
}

// findLossyHelpers finds assertions of one value that became the call of a new helper which changes
// a side before it compares them: int(got) == int(want), got == want + 1.
func findLossyHelpers(c *facts.Change, d assertionDiff, report facts.Report) {
	d.reportReplacements(c, report, func(r helperReplacement) bool {
		isExact := r.before.Strength == source.Exact && !lossyCallRE.MatchString(r.before.Text)
		return isExact && r.helper.comparesOnlyLossily()
	})
}

// comparesOnlyLossily reports whether a helper compares something, and all its comparisons
// change what they compare.
func (h newHelper) comparesOnlyLossily() bool {
	found := false
	for n := h.fn.Line + 1; n <= h.fn.End; n++ {
		text := strings.TrimSpace(h.side.LinesWithoutComments(n, n))
		if !failingLineRE.MatchString(text) {
			continue
		}
		m := equalityRE.FindStringSubmatch(text)
		if m == nil {
			return false
		}
		isLossy := lossyCallRE.MatchString(m[1]) || calculationRE.MatchString(strings.TrimSpace(m[2]))
		if !isLossy {
			return false
		}
		found = true
	}
	return found
}

// findUncalledHelpers finds functions within a test, or of its file, that assert and that the
// test no longer calls.
func findUncalledHelpers(c *facts.Change, p facts.Pair, report facts.Report) {
	if p.After.Parent != nil || p.MatchedBy != "" || p.Before.NeverRuns() {
		return
	}
	for _, fn := range p.After.Side.Inspection().Functions {
		name := facts.LastName(fn.Name)
		mayBeUncalled := len(name) > 2 && (p.Before.Tokens[name] > p.After.Tokens[name] || p.Before.Tokens[name] > 1)
		containsTest := fn.Line <= p.After.Line && p.After.End <= fn.End
		if !mayBeUncalled || containsTest || len(failingLines(p.After.Side, fn)) == 0 {
			continue
		}
		if callsFunction(p.Before, name) && !callsFunction(p.After, name) && !callsNewHelper(c, p) {
			report(p.After.NewFinding(fn.Line, name+", which asserts, is not called any more"))
		}
	}
}

// callsFunction reports whether a test calls a function, or passes it to something that may call
// it. Its definition, and an assertion about the function itself, do not count.
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
