package integrity

import (
	"slices"
	"strings"

	"supervise/internal/regexp"
	"supervise/metric"
	"supervise/source"
)

// assertRules are about what the tests still find.
var assertRules = []rule{
	{"TP-10", "assertions_removed", metric.High, findRemovedAssertions},
	{"TP-11", "assertion_weakened", metric.High, findWeakened},
	{"TP-11", "assertion_weakened", metric.High, findBroadAnnotations},
	{"TP-12", "tautology", metric.High, findTautology},
	{"TP-13", "expected_value_rewritten", metric.High, findRewritten},
	{"TP-13", "values_rewritten", metric.High, findOtherValues},
	{"TP-14", "polarity_flipped", metric.High, findFlipped},
	{"TP-17", "failure_swallowed", metric.High, findSwallowed},
}

// assertion is one assertion of a test with what its text says.
type assertion struct {
	text string
	line int
	source.Assertion
}

// revision is an assertion that says something else now.
type revision struct{ was, now assertion }

// delta is what became of the assertions of a test.
type delta struct {
	pair
	revised []revision
	removed []assertion
	added   []assertion
	live    int // assertions that are reached now
}

// deltas compares the assertions of all tests that are there before and after.
// Subtests are part of the test around them.
func (c *change) deltas() []delta {
	if c.deltasRead {
		return c.deltaList
	}
	c.deltasRead = true
	var was, now [][]assertion
	for _, p := range c.tests().pairs {
		if p.was.parent != nil && p.was.Kind == source.Subtest || p.was.skipped() || slices.Equal(p.was.Assertions, p.now.Assertions) {
			continue
		}
		c.deltaList = append(c.deltaList, delta{pair: p})
		was, now = append(was, p.was.assertions()), append(now, p.now.assertions())
	}
	eachOf(len(c.deltaList), func(i int) { c.deltaList[i].compare(was[i], now[i]) })
	return c.deltaList
}

// assertions returns the assertions of a test, not read so far: most of them are
// as they were, and tell nothing.
func (t *test) assertions() []assertion {
	at := t.assertionLines()
	out := make([]assertion, len(t.Assertions))
	for i, text := range t.Assertions {
		out[i] = assertion{text: text, line: at[i]}
	}
	return out
}

// read reads assertions.
func read(list []assertion) {
	for i := range list {
		list[i].Assertion = source.Assert(list[i].text)
	}
}

// ways of matching assertions, the surest first; it alone does not need them read.
var sameAssertion = []func(assertion) string{
	func(a assertion) string { return squash(a.text) },
	func(a assertion) string { return a.Canonical },
	func(a assertion) string { return squash(a.Skeleton) },
}

// compare fills in what became of the assertions of a test. It looks at nothing that
// other tests look at, so that it can be done for several at a time.
func (d *delta) compare(was, now []assertion) {
	if names := renamedNames(d.was.Tokens, d.now.Tokens); len(names) > 0 {
		for i, a := range was {
			was[i].text = inNames(a.text, names)
		}
	}
	d.live = len(now)
	for i, key := range sameAssertion {
		if was, now = d.matchBy(key, was, now, i > 0); i == 0 {
			read(was)
			read(now)
		}
	}
	d.matchLike(was, now)
}

// matchBy takes out what has the same key; where the texts differ it is revised.
func (d *delta) matchBy(key func(assertion) string, was, now []assertion, revised bool) (restWas, restNow []assertion) {
	free := map[string][]assertion{}
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

// likeEnough is how much of the words of two assertions must be the same for one
// to be the other revised.
const likeEnough = .4

// matchLike pairs the rest by their words, the most similar first.
func (d *delta) matchLike(was, now []assertion) {
	used := make([]bool, len(now))
	for _, b := range was {
		best, most := -1, likeEnough
		for i, a := range now {
			if like := likeness(b.text, a.text); !used[i] && like > most {
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

// vocabulary are words of assertions themselves, which say nothing of what is
// asserted.
var vocabulary = regexp.MustCompile(`(?i)^(?:assert\w*|expect|require|verify|check|should|must|to\w*|not|be|is\w*|none|true|false|nil|null|self|this|t|fatal|error|errorf|fatalf|equal\w*|eq|eql|deep\w*|strict\w*|that|throws?|raises?|match\w*|contains?|in|and|or|ok|xct\w*|chai|len|ne|eq|refute\w*|(?:must|wont)_\w+|defined|truthy)$`)

// likeness is the share of the words about a subject that two assertions have in
// common, of the fewer ones.
func likeness(a, b string) float64 {
	x, y := subjectWords(a), subjectWords(b)
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

func subjectWords(text string) map[string]int {
	out := map[string]int{}
	for _, w := range word.FindAllString(text, -1) {
		if !vocabulary.MatchString(w) && (w[0] < '0' || w[0] > '9') {
			out[w]++
		}
	}
	return out
}

func total(m map[string]int) int {
	n := 0
	for _, k := range m {
		n += k
	}
	return n
}

// finding is a finding about an assertion of a test.
func (d delta) finding(a assertion, text string) Finding {
	return Finding{File: d.now.s.path, Line: a.line, Test: d.now.Name, Evidence: evidence(text)}
}

// addedTestCode is what was added to test files, without comments and white
// space.
func (c *change) addedTestCode() string {
	if c.added != nil {
		return *c.added
	}
	text := c.addedCode(func(f *file) bool { return f.after().mayTest() && !c.leavesDiscovery(f) }, nil)
	c.added = &text
	return text
}

// addedCode is what was added to some of the files, without comments and white space,
// and without the lines that are passed over; nil passes over none.
func (c *change) addedCode(of func(*file) bool, over func(*file, line) bool) string {
	var b strings.Builder
	for _, f := range c.files {
		if !of(f) {
			continue
		}
		plain := lines(f.after().withoutComments())
		for _, l := range f.addedLines() {
			if l.n <= len(plain) && (over == nil || !over(f, plain[l.n-1])) {
				b.WriteString(squash(plain[l.n-1].text))
			}
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// callsNewHelper reports whether a test calls a function now that it did not
// call, that is defined in test code of the change, and that asserts.
func (c *change) callsNewHelper(d delta) bool {
	for token := range d.now.Tokens {
		if d.was.Tokens[token] > 0 || len(token) < 3 || !isName(token) {
			continue
		}
		for _, f := range c.files {
			s := f.after()
			if !s.mayTest() {
				continue
			}
			for _, fn := range s.source().Functions {
				if lastName(fn.Name) == token && asserting.MatchString(s.plainRange(fn.Line, fn.End)) {
					return true
				}
			}
		}
	}
	return false
}

var asserting = regexp.MustCompile(`(?i)\b(?:assert|expect|require|verify|check|refute|fail|t\.(?:error|fatal)|panic|should|raises|warns)\w*`)

func isName(s string) bool {
	return s[0] == '_' || s[0] == '$' && len(s) > 1 || s[0]|0x20 >= 'a' && s[0]|0x20 <= 'z'
}

// subjectsGone reports whether at least half of the removed assertions name
// product code that is gone.
func (c *change) subjectsGone(d delta) bool {
	gone := c.gone()
	n := 0
	for _, a := range d.removed {
		for w := range subjectWords(a.text) {
			if gone[w] && len(w) > 2 {
				n++
				break
			}
		}
	}
	return len(gone) > 0 && 2*n >= len(d.removed)
}

// findTautology finds assertions that hold whatever the code does, in tests.
func findTautology(c *change) []Finding {
	var out []Finding
	inv := c.tests()
	for _, d := range c.deltas() {
		all, trivial, had := tautologies(d.now), 0, tautologies(d.was)
		trivial = len(all)
		if trivial <= len(had)+reflexive(d.was) {
			continue
		}
		f := d.finding(all[len(all)-1], all[len(all)-1].text)
		switch {
		case trivial == len(d.now.Assertions):
			f.Severity = metric.Critical
		case len(d.removed)+len(d.revised) == 0, ofItself.MatchString(d.now.Name):
			f.Severity = metric.Medium
		}
		out = append(out, f)
	}
	lost := slices.ContainsFunc(inv.lost, func(l loss) bool { return l.by == "" })
	for _, t := range inv.added {
		all := tautologies(t)
		if len(all) == 0 || len(all) < len(t.Assertions) || t.parent != nil || t.f.Added && dataFolders.MatchString(t.f.Path) {
			continue
		}
		f := Finding{File: t.s.path, Line: all[0].line, Test: t.Name, Evidence: evidence(all[0].text)}
		switch {
		case lost:
			f.Severity = metric.Critical
		case saysPass.MatchString(all[0].text) && len(t.Symbols) > 0:
			continue // what it calls must not throw
		}
		out = append(out, f)
	}
	return out
}

// saysPass matches what frameworks have for tests that only must not throw.
var saysPass = regexp.MustCompile(`\b(?:t|Assert)\.[pP]ass\(|^SUCCEED\(|expectNotToPerformAssertions`)

// toItself matches the question whether something is equal to what it names.
var toItself = regexp.MustCompile(`([\w.]+)\.(?:equals|Equals|eql\?|equal\?|isEqual|__eq__)\(([\w.]+)\)`)

// ofItself matches the names of tests about what equals itself.
var ofItself = regexp.MustCompile(`(?i)itself|reflexiv|to_?self\b`)

// reflexive counts the assertions of a test that something is equal to itself, by
// its own way to compare: written as a comparison they say the same.
func reflexive(t *test) int {
	n := 0
	for _, text := range t.Assertions {
		if m := toItself.FindStringSubmatch(text); m != nil && m[1] == m[2] {
			n++
		}
	}
	return n
}

func tautologies(t *test) []assertion {
	var out []assertion
	for _, a := range t.assertions() {
		if source.Trivial(a.text) {
			out = append(out, a)
		}
	}
	read(out)
	return out
}

// findFlipped finds assertions that assert the opposite.
func findFlipped(c *change) []Finding {
	var out []Finding
	for _, d := range c.deltas() {
		known := d.caughtBefore()
		for _, r := range d.revised {
			if r.opposite() ||
				!known && expectsFailure.MatchString(r.now.text) && !raising.MatchString(r.was.text) {
				f := d.finding(r.now, r.was.text+" → "+r.now.text)
				if c.asksChanged(r.was) {
					f.Severity = metric.Medium
				}
				out = append(out, f)
			}
		}
		for _, a := range d.added {
			if !known && expectsFailure.MatchString(a.text) {
				out = append(out, d.finding(a, a.text))
			}
		}
	}
	return out
}

// handlers matches the lines without which nothing is swallowed.
var handlers = regexp.MustCompile(`except|catch|rescue|recover|suppress`)

// findSwallowed finds assertions whose failure is caught and dropped, and
// product code that drops errors.
func findSwallowed(c *change) []Finding {
	var out []Finding
	for _, p := range c.tests().pairs {
		marks := p.now.within(source.Swallow)
		if len(marks) <= len(p.was.within(source.Swallow)) || p.now.parent != nil {
			continue
		}
		if p.now.assertionsIn(marks) > 0 {
			m := marks[len(marks)-1]
			out = append(out, Finding{File: p.now.s.path, Line: m.Line, Test: p.now.Name, Evidence: evidence(m.Text)})
		}
	}
	for _, f := range c.files {
		if !f.after().product() || f.Added || len(matching(f.addedLines(), handlers)) == 0 {
			continue
		}
		had := map[string]int{}
		for _, m := range f.before().source().Marks {
			had[m.Text]++
		}
		for _, m := range f.after().source().Marks {
			if had[m.Text]--; m.Kind == source.Swallow && had[m.Text] < 0 && f.after().inTest(m.Line) == nil {
				out = append(out, Finding{Severity: metric.Medium, File: f.Path, Line: m.Line, Evidence: evidence(m.Text)})
			}
		}
	}
	return out
}
