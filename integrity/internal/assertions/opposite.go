package assertions

import (
	"slices"

	"supervise/integrity/internal/facts"
	"supervise/internal/regexp"
	"supervise/source"
)

// opposite reports whether an assertion asserts the opposite, of the same value or
// of another literal: got != 4 and got == 0.
func (r revision) opposite() bool {
	return r.was.Negated != r.now.Negated &&
		(r.was.Canonical == r.now.Canonical || sameButNames(r.was.Canonical, r.now.Canonical) || r.literalEqual() && facts.Squash(source.Assert(r.was.Canonical).Skeleton) == facts.Squash(source.Assert(r.now.Canonical).Skeleton))
}

// literalEqual reports whether both compare for equality with a literal, which is
// not nil or its like: whether there is an error is another question.
func (r revision) literalEqual() bool {
	return slices.ContainsFunc([]facts.Assertion{r.was, r.now}, func(a facts.Assertion) bool { return a.Strength == source.Exact }) &&
		!slices.ContainsFunc(slices.Concat(r.was.Literals, r.now.Literals), nothing.MatchString) && len(r.was.Literals) > 0
}

var nothing = regexp.MustCompile(`^(?:None|nil|null|undefined|[Tt]rue|false|False)$`)

// expectsFailure matches what makes of the failure of an assertion a success.
var expectsFailure = regexp.MustCompile(`raises\(\s*(?:AssertionError|builtins\.AssertionError)\s*\)|assertRaises\(\s*AssertionError|assertThrows\(\s*(?:AssertionError|AssertionFailedError)|raise_error\(\s*(?:Minitest::Assertion|RSpec::Expectations)`)

// catchesFailure matches a handler of the failure of an assertion, which is also
// what some products throw.
var catchesFailure = regexp.MustCompile(`\bcatch\s*\(\s*(?:final )?(?:AssertionError|AssertionFailedError)\b|\bexcept AssertionError\b`)

// caughtBefore reports whether a test expected such a failure already, in other
// words.
func (d delta) caughtBefore() bool {
	return catchesFailure.MatchString(d.Was.Side.PlainRange(d.Was.Line, d.Was.End))
}

// sameButNames reports whether two texts differ in names alone that are within
// each other: got and gotValue.
func sameButNames(a, b string) bool {
	x, y := quotedOrName.FindAllString(a, -1), quotedOrName.FindAllString(b, -1)
	if len(x) != len(y) || quotedOrName.ReplaceAllString(a, "§") != quotedOrName.ReplaceAllString(b, "§") {
		return false
	}
	for i := range x {
		if x[i] != y[i] && (!facts.IsName(x[i]) || !facts.IsName(y[i]) || len(x[i]) < 3 || len(y[i]) < 3 || !facts.SimilarNames(x[i], y[i])) {
			return false
		}
	}
	return true
}

// kept matches an expected failure that is given a name.
var kept = regexp.MustCompile(`\bas \w+\s*:|^(?:\w+ )?\w+\s*:?= |=> *\w+$`)

// noFailure matches assertions that nothing is raised.
var noFailure = regexp.MustCompile(`(?i)no_?throw|not_?throw|nothing_raised|\.not\.`)

// failsOtherwise reports whether an assertion about a value became one about a
// failure: another way to fail.
func (r revision) failsOtherwise() bool {
	return raising.MatchString(r.now.Text) && !raising.MatchString(r.was.Text) && !noFailure.MatchString(r.now.Text)
}
