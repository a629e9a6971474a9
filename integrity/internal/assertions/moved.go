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
var newHelpers = facts.Define(func(c *facts.Set) map[string]helperText {
	out := map[string]helperText{}
	for _, f := range c.Files {
		if !f.After().MayTest() {
			continue
		}
		for _, fn := range facts.Helpers(f.After()) {
			if name := facts.LastName(fn.Name); len(name) > 2 {
				out[name] = helperText{f.After(), fn}
			}
		}
	}
	for _, f := range c.Files {
		for _, fn := range f.Before().Source().Functions {
			delete(out, facts.LastName(fn.Name))
		}
	}
	return out
})

// helperText is where a helper is written.
type helperText struct {
	side *facts.Side
	fn   source.Function
}

// asserts returns what a helper asserts.
func (h helperText) asserts() []source.Assertion {
	var out []source.Assertion
	for n := h.fn.Line + 1; n <= h.fn.End; n++ {
		if failing.MatchString(h.side.MaskedRange(n, n)) {
			out = append(out, source.ParseAssertion(strings.TrimSpace(h.side.PlainRange(n, n))))
		}
	}
	return out
}

// findWeakHelpers finds assertions that moved to a new helper, which asserts less.
func findWeakHelpers(c *facts.Set) []facts.Finding {
	var out []facts.Finding
	for _, d := range deltas.Of(c) {
		for _, r := range d.handedOver(c) {
			h := newHelpers.Of(c)[r.name]
			if list := h.asserts(); r.lessIn(list) && !strings.Contains(h.side.PlainRange(h.fn.Line, h.fn.End), "yield") {
				out = append(out, d.finding(r.now, r.was.Text+" → "+r.name+": "+strings.TrimSpace(h.side.PlainRange(h.fn.Line+1, h.fn.End))))
			}
		}
	}
	return out
}

// handover is an assertion that became the call of a helper.
type handover struct {
	was, now facts.Assertion
	name     string
	test     *facts.Test // as it was
}

// ofSubject reports whether an assertion calls what the test called.
func (r handover) ofSubject(a source.Assertion) bool {
	for f := range calls(a.Skeleton) {
		if r.test.Tokens[f] > 0 {
			return true
		}
	}
	return false
}

// calledAlone matches an assertion that is a call of a function, or of a method of the test.
var calledAlone = regexp.MustCompile(`^(?:await\s+)?(?:self\.|this\.)?(\w+)\(`)

func (d delta) handedOver(c *facts.Set) []handover {
	var out []handover
	add := func(was, now facts.Assertion) {
		if m := calledAlone.FindStringSubmatch(now.Text); m != nil && newHelpers.Of(c)[m[1]].side != nil {
			out = append(out, handover{was, now, m[1], d.Was})
		}
	}
	for _, r := range d.revised {
		add(r.was, r.now)
	}
	for i, a := range d.added {
		if len(d.removed) > 0 {
			add(d.removed[min(i, len(d.removed)-1)], a)
		}
	}
	return out
}

var (
	// compared splits an assertion at its comparison for equality.
	compared = regexp.MustCompile(`^assert\s+(.*[^=!<>])\s*==\s*(.*?)(?:,\s*f?["'].*)?$`)
	// bare matches a name or a literal as it is.
	bare = regexp.MustCompile(`^(?:\*?[\w.]+(?:\[[\w"']+\])*|` + facts.LiteralText + `)$`)
	// lossy matches conversions under which different values are the same.
	lossy = regexp.MustCompile(`\b(?:int|bool|len|set|type|round|abs|sorted|lower|upper|strip|isinstance|id|hash)\b`)
)

// ofTwo matches a call that is given two values, in a text without parentheses.
var ofTwo = regexp.MustCompile(`,[A-Za-z_]`)

// lessIn reports whether all that a helper asserts is weaker than the assertion that it
// is for.
func (r handover) lessIn(list []source.Assertion) bool {
	return !slices.ContainsFunc(list, func(a source.Assertion) bool { return !r.weaker(a) })
}

func (r handover) weaker(a source.Assertion) bool {
	text := a.Canonical
	switch {
	case a.Trivial || a.Repeats:
		return true
	case neverPasses.MatchString(r.was.Text):
		return !raising.MatchString(text)
	case r.was.Strength < source.Shape, a.Strength == source.Truthy && ofTwo.MatchString(text) && !r.ofSubject(a): // operator.is_(got, want)
		return false
	case ofTruth.MatchString(r.was.Text) && a.Strength <= source.NonNull:
		return denied(r.was) != a.Negated
	}
	return a.Strength < r.was.Strength
}

// findLossyHelpers finds assertions of one value that moved to a new helper, which compares
// neither side as it is: int(got) == int(want), got == want + 1.
func findLossyHelpers(c *facts.Set) []facts.Finding {
	var out []facts.Finding
	for _, d := range deltas.Of(c) {
		for _, r := range d.handedOver(c) {
			h := newHelpers.Of(c)[r.name]
			if r.was.Strength == source.Exact && !lossy.MatchString(r.was.Text) && h.onlyLossy() {
				out = append(out, d.finding(r.now, r.was.Text+" → "+r.name+": "+strings.TrimSpace(h.side.PlainRange(h.fn.Line+1, h.fn.End))))
			}
		}
	}
	return out
}

// onlyLossy reports whether all comparisons of a helper change what they compare.
func (h helperText) onlyLossy() bool {
	n := 0
	for at := h.fn.Line + 1; at <= h.fn.End; at++ {
		text := strings.TrimSpace(h.side.PlainRange(at, at))
		if !failing.MatchString(text) {
			continue
		}
		m := compared.FindStringSubmatch(text)
		if m == nil {
			return false
		}
		left, right := strings.TrimSpace(m[1]), strings.TrimSpace(m[2])
		sum := regexp.MustCompile(`^\w+\s*[-+*/]\s*\S+$`).MatchString(right)
		if !sum && (bare.MatchString(right) || bare.MatchString(left) && !lossy.MatchString(right)) && !lossy.MatchString(left) || !sum && !lossy.MatchString(left) {
			return false
		}
		n++
	}
	return n > 0
}

// findUncalled finds functions within a test, or of its file, that assert and that the test
// does not call any more.
func findUncalled(c *facts.Set) []facts.Finding {
	var out []facts.Finding
	for _, p := range facts.Tests.Of(c).Pairs {
		if p.Now.Parent != nil || p.How != "" || p.Was.NeverRuns() {
			continue
		}
		for _, fn := range p.Now.Side.Source().Functions {
			name := facts.LastName(fn.Name)
			if len(name) < 3 || p.Was.Tokens[name] <= p.Now.Tokens[name] && p.Was.Tokens[name] < 2 || fn.Line <= p.Now.Line && p.Now.End <= fn.End || len(failingLines(p.Now.Side, fn)) == 0 {
				continue
			}
			if callsIn(p.Was, name) && !callsIn(p.Now, name) && !callsNewHelper(c, delta{Pair: p}) {
				out = append(out, facts.Finding{File: p.Now.Side.Path, Line: fn.Line, Test: p.Now.Name, Evidence: facts.Evidence(name + ", which asserts, is not called any more")})
			}
		}
	}
	return out
}

// callsIn reports whether a test calls a function, or hands it to something that may, other
// than an assertion.
func callsIn(t *facts.Test, name string) bool {
	n := regexp.QuoteMeta(name)
	use := regexp.MustCompile(`\b` + n + `\b`)
	about := regexp.MustCompile(`\b(?:def|class|function|func|fn|const|let|var)\s+` + n + `\b|^\s*(?:assert|expect\()[^(]*\(?` + n + `\b[^(]*$|\bcallable\(` + n)
	for at := t.Line + 1; at <= t.End; at++ {
		if text := t.Side.MaskedRange(at, at); use.MatchString(text) && !about.MatchString(text) {
			return true
		}
	}
	return false
}
