package assertions

import (
	"path"
	"slices"
	"strconv"
	"strings"

	"supervise/integrity/internal/configtext"
	"supervise/integrity/internal/facts"
	"supervise/internal/regexp"
	"supervise/metric"
	"supervise/source"
)

// findRewritten finds assertions whose literals changed and nothing else.
func findRewritten(c *facts.Set) []facts.Finding {
	var out []facts.Finding
	for _, d := range deltas.Of(c) {
		for _, r := range d.revised {
			if facts.Squash(r.was.Skeleton) != facts.Squash(r.now.Skeleton) || r.now.Trivial || !r.otherValue() {
				continue
			}
			f := d.finding(r.now, r.was.Text+" → "+r.now.Text)
			if r.onlyWaits() {
				f.Severity = metric.Low
			} else if facts.TouchesSource.Of(c) && !touchedUp(c, d, r) || r.shortened() || d.reworked() || countsFiles(c, r) || inputsChanged(c, d.Was) || everywhere(c, exchanges(r.was.Literals, r.now.Literals)) {
				f.Severity = metric.Medium
			}
			out = append(out, f)
		}
	}
	return out
}

// waits matches calls that say how long something is waited for.
var waits = regexp.MustCompile(`(?i)\b((?:set)?timeout|after|sleep|wait|delay|ofmillis|ofseconds)\(\s*[\d._]+\w?\s*\)`)

// onlyWaits reports whether only the waiting time of an assertion changed.
func (r revision) onlyWaits() bool {
	was, now := waits.ReplaceAllString(r.was.Text, "$1()"), waits.ReplaceAllString(r.now.Text, "$1()")
	return facts.Squash(was) == facts.Squash(now) && r.was.Text != r.now.Text
}

// leastInput is the length in bytes from which a file name is distinctive.
const leastInput = 5

// inputsChanged reports whether a file changed that a test names and reads: neither code
// nor expected output.
func inputsChanged(c *facts.Set, t *facts.Test) bool {
	var body string
	return slices.ContainsFunc(c.Files, func(f *facts.ChangedFile) bool {
		name := path.Base(f.Path)
		if f.Added || f.Deleted || f == t.File || len(name) < leastInput || !f.BelongsToTests() || f.After().IsTest() || facts.GoldenFile.MatchString(f.Path) || configtext.KindOf(f.Path, nil) != configtext.None {
			return false
		}
		if body == "" {
			body = t.Side.FullText(t.TestDef)
		}
		return strings.Contains(body, name) && len(f.RemovedLines())+len(f.AddedLines()) > 0
	})
}

// countsFiles reports whether an expected number rose by no more than the number of new
// files that tests read: they may be what is counted.
func countsFiles(c *facts.Set, r revision) bool {
	was, now := values(r.was.Literals), values(r.now.Literals)
	if len(was) != len(now) {
		return false
	}
	came := 0
	for _, f := range c.Files {
		if f.Added && f.BelongsToTests() && !f.After().IsTest() {
			came++
		}
	}
	for i := range was {
		if was[i] == now[i] {
			continue
		}
		a, errA := strconv.Atoi(was[i])
		b, errB := strconv.Atoi(now[i])
		if errA != nil || errB != nil || b < a || b-a > came {
			return false
		}
	}
	return true
}

// findOtherValues finds tests in which only literals outside of assertions changed:
// expected values or inputs.
func findOtherValues(c *facts.Set) []facts.Finding {
	var out []facts.Finding
	for _, p := range facts.Tests.Of(c).Pairs {
		gone, came := otherValues(p)
		if len(gone) == 0 || slices.Equal(values(gone), values(came)) {
			continue
		}
		f := facts.Finding{File: p.Now.Side.Path, Line: p.Now.Line, Test: p.Now.Name, Evidence: facts.Evidence("only values changed: " + strings.Join(gone, ", "))}
		switch {
		case facts.TouchesSource.Of(c) && !inputsAlone(c, p, gone), besides(p, gone):
			f.Severity = metric.Low
		case facts.TouchesSource.Of(c):
			f.Severity = metric.Medium
		case !expects(p, gone), inputsChanged(c, p.Was), everywhere(c, exchanges(gone, came)):
			f.Severity = metric.Medium
		}
		out = append(out, f)
	}
	return out
}

// inputsAlone reports whether literals are arguments of what a test is about, which was
// not changed: the input was made to fit the code.
func inputsAlone(c *facts.Set, p facts.Pair, literals []string) bool {
	if callsChanged(c, p.Was) || changesSubjectOf(c, p.Now.Side.Path) {
		return false
	}
	of := subjects(p.Was)
	return slices.ContainsFunc(linesOf(p, literals), func(l facts.Line) bool {
		for f := range calls(p.Was.Side.PlainRange(l.Number, l.Number)) {
			if of[f] {
				return true
			}
		}
		return false
	})
}

// otherValues returns the literals of a test that differ, if nothing else does and they
// occur in no assertion.
func otherValues(p facts.Pair) (gone, came []string) {
	if p.How == facts.ByBody || p.Was.Parent != nil || len(p.Was.Assertions) == 0 || !slices.Equal(p.Was.Assertions, p.Now.Assertions) {
		return nil, nil
	}
	gone, ok := otherLiterals(p.Was.Tokens, p.Now.Tokens)
	if !ok {
		return nil, nil
	}
	came, _ = otherLiterals(p.Now.Tokens, p.Was.Tokens)
	return gone, came
}

// otherValue reports whether the literals of an assertion have other values now, not
// only another notation.
func (r revision) otherValue() bool {
	return !slices.Equal(values(r.was.Literals), values(r.now.Literals))
}

// escapes are what one notation of a string needs and another does not.
var escapes = strings.NewReplacer(`\"`, `"`, `\'`, `'`, `""`, `"`, `\\`, `\`)

// numberType matches a number with letters for its type after it, as 1.5D and 1L.
var numberType = regexp.MustCompile(`^(-?\d[\d.]*(?:[eE][+-]?\d+)?)(?:[dDfFmM]|[uUlL]{1,3})$`)

// values returns what literals mean, as far as notation goes: quotes, prefixes,
// escapes, white space, the separators of numbers.
func values(literals []string) []string {
	out := make([]string, len(literals))
	for i, l := range literals {
		if at := strings.IndexAny(l, "\"'`"); at >= 0 && at <= 2 {
			l = strings.Trim(l[at:], "\"'`#")
			l = strings.ToLower(strings.Join(strings.Fields(escapes.Replace(l)), " "))
		} else {
			l = numberType.ReplaceAllString(strings.ReplaceAll(l, "_", ""), "$1")
		}
		out[i] = l
	}
	return out
}

// leastPart is the length in bytes from which a part of a text still says what
// was expected.
const leastPart = 8

// shortened reports whether what is looked for in a text is a part of what it was:
// that is weaker, but still pins it down.
func (r revision) shortened() bool {
	if r.was.Strength == source.Exact || len(r.was.Literals) != len(r.now.Literals) {
		return false
	}
	was, now := values(r.was.Literals), values(r.now.Literals)
	for i := range was {
		if was[i] != now[i] && (len(now[i]) < leastPart || 3*len(now[i]) < len(was[i]) || !strings.Contains(was[i], now[i])) {
			return false
		}
	}
	return true
}

// exchanges names what was replaced in literals, without common beginnings and ends:
// "ou for oun".
func exchanges(was, now []string) []string {
	var out []string
	for i := range was {
		if i < len(now) && was[i] != now[i] {
			a, b := was[i], now[i]
			for len(a) > 0 && len(b) > 0 && a[0] == b[0] {
				a, b = a[1:], b[1:]
			}
			for len(a) > 0 && len(b) > 0 && a[len(a)-1] == b[len(b)-1] {
				a, b = a[:len(a)-1], b[:len(b)-1]
			}
			out = append(out, a+"\x00"+b)
		}
	}
	return out
}

// manyTests is the number of tests with the same exchange from which on it is a
// renaming.
const manyTests = 3

// exchanged are the tests in which each exchange of literals was made.
var exchanged = facts.Define(func(c *facts.Set) map[string]map[*facts.Test]bool {
	out := map[string]map[*facts.Test]bool{}
	note := func(t *facts.Test, list []string) {
		for _, e := range list {
			if out[e] == nil {
				out[e] = map[*facts.Test]bool{}
			}
			out[e][t] = true
		}
	}
	for _, d := range deltas.Of(c) {
		for _, r := range d.revised {
			note(d.Now, exchanges(r.was.Literals, r.now.Literals))
		}
	}
	for _, p := range facts.Tests.Of(c).Pairs {
		note(p.Now, exchanges(otherValues(p)))
	}
	return out
})

// everywhere reports whether one of the exchanges was made in several tests.
func everywhere(c *facts.Set, list []string) bool {
	return slices.ContainsFunc(list, func(e string) bool { return len(exchanged.Of(c)[e]) >= manyTests })
}

var (
	// messages matches lines that say why a test failed.
	messages = regexp.MustCompile(`\bt\.(?:Error|Fatal|Log|Skip)f?\(|\bfail\w*\(|\bXCTFail\(|\bprint\w*[!(]|\bconsole\.|\blog\w*\.`)
	// timing matches lines about how long something takes.
	timing = regexp.MustCompile(`(?i)time_?out|sleep|delay|millis|seconds?\b|duration|\bwait|interval|\btick|expires|time\(|timer`)
	// wants matches names of what is expected.
	wants = regexp.MustCompile(`(?i)want|expect|\bexp\b|golden|correct|should`)
	// gives matches the name that a line gives a value.
	gives = regexp.MustCompile(`([A-Za-z_]\w*)\s*(?::=|=|:)(?:[^=]|$)`)
	// ends matches the end of what a timer runs: "}, 10);".
	ends = regexp.MustCompile(`^\s*\}\)?,\s*[\d_]+\s*\)`)
)

// linesOf returns the lines that a test lost which have one of the literals.
func linesOf(p facts.Pair, literals []string) []facts.Line {
	var out []facts.Line
	for _, l := range p.Was.File.RemovedLines() {
		if l.Number < p.Was.Line || l.Number > p.Was.End {
			continue
		}
		if slices.ContainsFunc(literals, func(s string) bool {
			first, _, _ := strings.Cut(strings.Trim(s, "\"'`"), "\n")
			return strings.Contains(l.Text, first)
		}) {
			out = append(out, l)
		}
	}
	return out
}

// besides reports whether literals occur only where a failure is described, or
// where something is waited for.
func besides(p facts.Pair, literals []string) bool {
	list := linesOf(p, literals)
	return len(list) > 0 && !slices.ContainsFunc(list, func(l facts.Line) bool {
		return !messages.MatchString(l.Text) && !timing.MatchString(l.Text) && !ends.MatchString(l.Text)
	})
}

// expects reports whether one of the literals is what a test expects: it is given
// to a name that assertions have, or is in a table.
func expects(p facts.Pair, literals []string) bool {
	asserted := map[string]int{}
	for _, a := range p.Was.Assertions {
		for w := range facts.WordCounts(a) {
			asserted[w]++
		}
	}
	tables := facts.TablesOf(p.Was.Side)
	return slices.ContainsFunc(linesOf(p, literals), func(l facts.Line) bool {
		if wants.MatchString(l.Text) || slices.ContainsFunc(tables, func(t facts.Table) bool { return t.Line <= l.Number && l.Number <= t.End }) {
			return true
		}
		m := gives.FindStringSubmatch(l.Text)
		return m != nil && asserted[m[1]] > 0
	})
}

// reworked reports whether lines of a test other than assertions and messages were
// removed and added.
func (d delta) reworked() bool {
	names := renamedNames(d.Was.Tokens, d.Now.Tokens)
	came := map[string]bool{}
	n := 0
	for _, l := range d.Now.File.AddedLines() {
		if d.Now.Line < l.Number && l.Number <= d.Now.End {
			came[facts.Squash(l.Text)] = true
			if !d.asserts(d.Now, l) {
				n++
			}
		}
	}
	return n > 0 && slices.ContainsFunc(d.Was.File.RemovedLines(), func(l facts.Line) bool {
		return d.Was.Line < l.Number && l.Number <= d.Was.End && !d.asserts(d.Was, l) && !came[facts.Squash(inNames(l.Text, names))]
	})
}

// asserts reports whether a line is part of an assertion of a test, a message or
// a comment.
func (d delta) asserts(t *facts.Test, l facts.Line) bool {
	code := facts.Squash(t.Side.PlainRange(l.Number, l.Number))
	if code == "" || messages.MatchString(l.Text) {
		return true
	}
	code = strings.TrimRight(strings.TrimPrefix(code, "if"), "{;,:")
	return slices.ContainsFunc(t.Assertions, func(a string) bool { return strings.Contains(facts.Squash(a), code) })
}

// otherLiterals returns the literals that two bodies do not have in common,
// sorted; false where anything else differs.
func otherLiterals(was, now map[string]int) ([]string, bool) {
	var gone []string
	n := 0
	for token, k := range was {
		if now[token] == k {
			continue
		}
		if facts.IsName(token) {
			return nil, false
		}
		if d := k - now[token]; d > 0 {
			gone, n = append(gone, token), n+d
		}
	}
	for token, k := range now {
		if was[token] != k && facts.IsName(token) {
			return nil, false
		}
		n -= max(k-was[token], 0)
	}
	slices.Sort(gone)
	return gone, n == 0
}
