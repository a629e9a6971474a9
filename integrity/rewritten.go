package integrity

import (
	"path"
	"slices"
	"strconv"
	"strings"

	"supervise/internal/regexp"
	"supervise/metric"
	"supervise/source"
)

// findRewritten finds assertions whose literals changed and nothing else.
func findRewritten(c *change) []Finding {
	var out []Finding
	for _, d := range c.deltas() {
		for _, r := range d.revised {
			if squash(r.was.Skeleton) != squash(r.now.Skeleton) || r.now.Trivial || !r.otherValue() {
				continue
			}
			f := d.finding(r.now, r.was.text+" → "+r.now.text)
			if r.onlyWaits() {
				f.Severity = metric.Low
			} else if c.touchesSource() && !c.touchedUp(d, r) || r.shortened() || d.reworked() || c.countsFiles(r) || c.inputsChanged(d.was) || c.everywhere(exchanges(r.was.Literals, r.now.Literals)) {
				f.Severity = metric.Medium
			}
			out = append(out, f)
		}
	}
	return out
}

// waits matches calls that say how long something is waited for.
var waits = regexp.MustCompile(`(?i)\b((?:set)?timeout|after|sleep|wait|delay|ofmillis|ofseconds)\(\s*[\d._]+\w?\s*\)`)

// onlyWaits reports whether an assertion waits for another time, and is else as it was.
func (r revision) onlyWaits() bool {
	was, now := waits.ReplaceAllString(r.was.text, "$1()"), waits.ReplaceAllString(r.now.text, "$1()")
	return squash(was) == squash(now) && r.was.text != r.now.text
}

// leastInput is how many bytes the name of a file has that is known for its name.
const leastInput = 5

// inputsChanged reports whether a file changed that a test names and reads: no code, and
// not what the test expects.
func (c *change) inputsChanged(t *test) bool {
	var body string
	return slices.ContainsFunc(c.files, func(f *file) bool {
		name := path.Base(f.Path)
		if f.Added || f.Deleted || f == t.f || len(name) < leastInput || !f.testing() || f.after().isTest() || golden.MatchString(f.Path) || configKindOf(f.Path, nil) != noConfig {
			return false
		}
		if body == "" {
			body = t.s.wholeTest(t.TestDef)
		}
		return strings.Contains(body, name) && len(f.removedLines())+len(f.addedLines()) > 0
	})
}

// countsFiles reports whether a number that is expected rose by no more than files came
// that tests read: they may be what is counted.
func (c *change) countsFiles(r revision) bool {
	was, now := values(r.was.Literals), values(r.now.Literals)
	if len(was) != len(now) {
		return false
	}
	came := 0
	for _, f := range c.files {
		if f.Added && f.testing() && !f.after().isTest() {
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

// findOtherValues finds tests in which nothing changed but literals, and not in
// their assertions: in what is expected, or in what is put in.
func findOtherValues(c *change) []Finding {
	var out []Finding
	for _, p := range c.tests().pairs {
		gone, came := p.otherValues()
		if len(gone) == 0 || slices.Equal(values(gone), values(came)) {
			continue
		}
		f := Finding{File: p.now.s.path, Line: p.now.Line, Test: p.now.Name, Evidence: evidence("only values changed: " + strings.Join(gone, ", "))}
		switch {
		case c.touchesSource(), p.besides(gone):
			f.Severity = metric.Low
		case !p.expects(gone), c.inputsChanged(p.was), c.everywhere(exchanges(gone, came)):
			f.Severity = metric.Medium
		}
		out = append(out, f)
	}
	return out
}

// otherValues returns the literals of a test that differ, where nothing else does
// and they stand in no assertion.
func (p pair) otherValues() (gone, came []string) {
	if p.how == byBody || p.was.parent != nil || len(p.was.Assertions) == 0 || !slices.Equal(p.was.Assertions, p.now.Assertions) {
		return nil, nil
	}
	gone, ok := otherLiterals(p.was.Tokens, p.now.Tokens)
	if !ok {
		return nil, nil
	}
	came, _ = otherLiterals(p.now.Tokens, p.was.Tokens)
	return gone, came
}

// otherValue reports whether the literals of an assertion mean something else now,
// and are not only written otherwise.
func (r revision) otherValue() bool {
	return !slices.Equal(values(r.was.Literals), values(r.now.Literals))
}

// escapes are what one notation of a string needs and another does not.
var escapes = strings.NewReplacer(`\"`, `"`, `\'`, `'`, `""`, `"`, `\\`, `\`)

// numberType matches a number with letters for its type behind it, as 1.5D and 1L.
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

// exchanges names what was put for what in literals, without what they have in
// common on both sides: "ou for oun".
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

// manyTests is in how many tests the same must be exchanged for it to be a
// renaming.
const manyTests = 3

// everywhere reports whether one of the exchanges was made in several tests.
func (c *change) everywhere(list []string) bool {
	if c.exchanged == nil {
		c.exchanged = map[string]map[*test]bool{}
		note := func(t *test, list []string) {
			for _, e := range list {
				if c.exchanged[e] == nil {
					c.exchanged[e] = map[*test]bool{}
				}
				c.exchanged[e][t] = true
			}
		}
		for _, d := range c.deltas() {
			for _, r := range d.revised {
				note(d.now, exchanges(r.was.Literals, r.now.Literals))
			}
		}
		for _, p := range c.tests().pairs {
			note(p.now, exchanges(p.otherValues()))
		}
	}
	return slices.ContainsFunc(list, func(e string) bool { return len(c.exchanged[e]) >= manyTests })
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
func (p pair) linesOf(literals []string) []line {
	var out []line
	for _, l := range p.was.f.removedLines() {
		if l.n < p.was.Line || l.n > p.was.End {
			continue
		}
		if slices.ContainsFunc(literals, func(s string) bool {
			first, _, _ := strings.Cut(strings.Trim(s, "\"'`"), "\n")
			return strings.Contains(l.text, first)
		}) {
			out = append(out, l)
		}
	}
	return out
}

// besides reports whether literals stand only where a failure is described, or
// where something is waited for.
func (p pair) besides(literals []string) bool {
	list := p.linesOf(literals)
	return len(list) > 0 && !slices.ContainsFunc(list, func(l line) bool {
		return !messages.MatchString(l.text) && !timing.MatchString(l.text) && !ends.MatchString(l.text)
	})
}

// expects reports whether one of the literals is what a test expects: it is given
// to a name that assertions have, or stands in a table.
func (p pair) expects(literals []string) bool {
	asserted := map[string]int{}
	for _, a := range p.was.Assertions {
		for w := range words(a) {
			asserted[w]++
		}
	}
	tables := tablesOf(p.was.s)
	return slices.ContainsFunc(p.linesOf(literals), func(l line) bool {
		if wants.MatchString(l.text) || slices.ContainsFunc(tables, func(t table) bool { return t.Line <= l.n && l.n <= t.End }) {
			return true
		}
		m := gives.FindStringSubmatch(l.text)
		return m != nil && asserted[m[1]] > 0
	})
}

// reworked reports whether more of a test changed than its assertions and its
// messages: lines went, and others came.
func (d delta) reworked() bool {
	names := renamedNames(d.was.Tokens, d.now.Tokens)
	came := map[string]bool{}
	n := 0
	for _, l := range d.now.f.addedLines() {
		if d.now.Line < l.n && l.n <= d.now.End {
			came[squash(l.text)] = true
			if !d.asserts(d.now, l) {
				n++
			}
		}
	}
	return n > 0 && slices.ContainsFunc(d.was.f.removedLines(), func(l line) bool {
		return d.was.Line < l.n && l.n <= d.was.End && !d.asserts(d.was, l) && !came[squash(inNames(l.text, names))]
	})
}

// asserts reports whether a line is part of an assertion of a test, a message or
// a comment.
func (d delta) asserts(t *test, l line) bool {
	code := squash(t.s.plainRange(l.n, l.n))
	if code == "" || messages.MatchString(l.text) {
		return true
	}
	code = strings.TrimRight(strings.TrimPrefix(code, "if"), "{;,:")
	return slices.ContainsFunc(t.Assertions, func(a string) bool { return strings.Contains(squash(a), code) })
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
		if isName(token) {
			return nil, false
		}
		if d := k - now[token]; d > 0 {
			gone, n = append(gone, token), n+d
		}
	}
	for token, k := range now {
		if was[token] != k && isName(token) {
			return nil, false
		}
		n -= max(k-was[token], 0)
	}
	slices.Sort(gone)
	return gone, n == 0
}
