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
	for _, p := range c.tests().pairs {
		if p.was.parent != nil && p.was.Kind == source.Subtest || p.was.skipped() || slices.Equal(p.was.Assertions, p.now.Assertions) {
			continue
		}
		c.deltaList = append(c.deltaList, compareAssertions(p))
	}
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

func compareAssertions(p pair) delta {
	d := delta{pair: p}
	was, now := p.was.assertions(), p.now.assertions()
	if names := renamedNames(p.was.Tokens, p.now.Tokens); len(names) > 0 {
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
	return d
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

// findRemovedAssertions finds tests that have lost assertions, unless what
// became of them is known.
func findRemovedAssertions(c *change) []Finding {
	var out []Finding
	for _, d := range c.deltas() {
		d.removed = d.missing()
		gone := len(d.removed) - len(d.added)
		if gone <= 0 || d.how == byBody {
			continue
		}
		f := d.finding(assertion{line: d.now.Line}, "gone: "+joinTexts(d.removed))
		switch {
		case d.live == 0 && !d.stillAsserts():
			f.Severity = c.weightOfAll(d)
		case 2*gone < len(d.was.Assertions)-1 || d.onlyErrors() || gone == 1 && c.touchesSource() && !c.droppedAlone(d) || d.tabled() || c.retiredOf(d) || d.rephrased(gone) || c.splitOff(d):
			f.Severity = metric.Medium
		}
		f.ExplainedBy = c.whyRemoved(d)
		out = append(out, f)
	}
	return out
}

// weightOfAll is how grave it is that a test asserts nothing any more.
func (c *change) weightOfAll(d delta) metric.Severity {
	switch {
	case c.warnsNoMore(d):
		return metric.Medium
	case d.onlyErrors() || c.droppedWith(d):
		return 0 // the rule's
	}
	return metric.Critical
}

// warnsNoMore reports whether all that a test does not assert any more is that
// something is deprecated, which product code says no more either.
func (c *change) warnsNoMore(d delta) bool {
	return !slices.ContainsFunc(d.removed, func(a assertion) bool {
		said := map[string]bool{}
		for _, w := range word.FindAllString(a.text, -1) {
			said[w] = true
		}
		return !c.endsDeprecation(said)
	})
}

// splitEnough is how much of the words of an assertion one of a new test must have.
const splitEnough = .6

// splitOff reports whether a new test of the same file, which is no copy of one that
// is there, asserts at least half of what a test lost, of other values maybe.
func (c *change) splitOff(d delta) bool {
	inv := c.tests()
	return slices.ContainsFunc(inv.added, func(t *test) bool {
		if t.f != d.now.f || t.skipped() || inv.models[t].like >= copyEnough || commonInNames(d.was, t) == 0 {
			return false
		}
		n := 0
		for _, a := range d.removed {
			if slices.ContainsFunc(t.Assertions, func(text string) bool { return likeness(a.text, text) >= splitEnough }) {
				n++
			}
		}
		return 2*n >= len(d.removed)
	})
}

// missing returns the removed assertions without those that said nothing, and
// those whose condition fails the test in another way now.
func (d delta) missing() []assertion {
	kept := map[string]bool{}
	for _, text := range d.now.Assertions {
		if cond, _, failure := strings.Cut(text, " => t."); failure {
			kept[cond] = true
		}
	}
	return slices.DeleteFunc(slices.Clone(d.removed), func(a assertion) bool {
		cond, _, failure := strings.Cut(a.text, " => t.")
		return a.Trivial || ofLiterals(a) || failure && kept[cond] && !slices.Contains(d.now.Assertions, a.text)
	})
}

// saysNothing matches the words of an assertion that compares, and values that every
// language has.
var saysNothing = regexp.MustCompile(`^(?i:assert|assert_?(?:not_?)?(?:same|equals?)|refute_(?:same|equal)|self|this|true|false|nil|null|none|t|is|not|===?|!==?)$`)

// ofLiterals reports whether an assertion compares literals with each other: whatever
// comes of it, it says nothing of the code.
func ofLiterals(a assertion) bool {
	list := word.FindAllString(anyLiteral.ReplaceAllString(a.text, " "), -1)
	return len(list) > 0 && strings.ContainsAny(a.text, ",=") && !slices.ContainsFunc(list, func(w string) bool { return !saysNothing.MatchString(w) })
}

// assertingCall matches calls whose name says that they assert, whatever they are
// called on.
var assertingCall = regexp.MustCompile(`\b\w*(?i:assert|expect|should|verify|require|check)\w*(?:[.:!]+\w+)*\s*[(<]|\b[A-Z]\w*\(t, `)

// stillAsserts reports whether a test in which no assertion is known any more
// calls what looks like one.
func (d delta) stillAsserts() bool {
	return assertingCall.MatchString(d.now.s.maskedRange(d.now.Line+1, d.now.End))
}

// tabled reports whether the cases of a test are rows of a table now that was not
// there, at least half as many as it lost assertions.
func (d delta) tabled() bool {
	rows := func(t *test) (n int) {
		for _, table := range tablesOf(t.s) {
			if table.test == t.TestDef {
				n += len(table.rows)
			}
		}
		return n
	}
	return 2*(rows(d.now)-rows(d.was)) >= len(d.removed)
}

// rephrasedShare is how many assertions may have gone for each line that asserts
// and came to the same test.
const rephrasedShare = 4

// rephrased reports whether a test got lines that assert, and are not those it had
// with other names in them, in place of the assertions that it lost.
func (d delta) rephrased(gone int) bool {
	names := renamedNames(d.was.Tokens, d.now.Tokens)
	was := map[string]bool{}
	for _, l := range d.was.f.removedLines() {
		was[squash(inNames(l.text, names))] = true
	}
	n := 0
	for _, l := range d.now.f.addedLines() {
		if d.now.Line < l.n && l.n <= d.now.End && !was[squash(l.text)] && asserting.MatchString(d.now.s.plainRange(l.n, l.n)) {
			n++
		}
	}
	return rephrasedShare*n >= gone && n > 0
}

// retiredOf reports whether product code became less in lines that have words of
// most of the removed assertions.
func (c *change) retiredOf(d delta) bool {
	lost := c.shrunkWords()
	n := 0
	for _, a := range d.removed {
		for w := range subjectWords(a.text) {
			if lost[w] && !c.usual(d.was, w) {
				n++
				break
			}
		}
	}
	return len(lost) > 0 && 2*n >= len(d.removed)
}

// droppedWith reports whether each of the removed assertions has a word that left
// the product code with this change: the key of what is no longer there.
func (c *change) droppedWith(d delta) bool {
	lost := c.removedWords()
	return len(lost) > 0 && !slices.ContainsFunc(d.removed, func(a assertion) bool {
		return !slices.ContainsFunc(word.FindAllString(a.text, -1), func(w string) bool { return lost[w] && !vocabulary.MatchString(w) })
	})
}

// valueMoved reports whether the longer literals of an assertion stand in lines
// that were added to its test and assert.
func (d delta) valueMoved(a assertion) bool {
	var b strings.Builder
	for _, l := range d.now.f.addedLines() {
		if d.now.Line <= l.n && l.n <= d.now.End && asserting.MatchString(l.text) {
			b.WriteString(squash(d.now.s.plainRange(l.n, l.n)))
		}
	}
	text, n := b.String(), 0
	for _, l := range a.Literals {
		at := strings.IndexAny(l, "\"'`")
		if at < 0 {
			continue
		}
		if l = squash(strings.Trim(l[at:], "\"'`")); len(l) < leastLiteral {
			continue
		}
		if n++; !strings.Contains(text, l) {
			return false
		}
	}
	return n > 0
}

func joinTexts(list []assertion) string {
	var texts []string
	for _, a := range list {
		texts = append(texts, a.text)
	}
	return strings.Join(texts, " · ")
}

// whyRemoved explains what became of the removed assertions of a test.
func (c *change) whyRemoved(d delta) string {
	added := c.addedTestCode()
	n := 0
	for _, a := range d.removed {
		if found(a, added) || c.rewritten(a, d) || d.valueMoved(a) {
			n++
		}
	}
	switch {
	case 2*n >= len(d.removed):
		return byAbsorbed
	case c.callsNewHelper(d):
		return "it calls a helper that asserts"
	case c.subjectsGone(d):
		return bySubject
	}
	return ""
}

// failsAnyway matches what fails in any case, or for any error.
var failsAnyway = regexp.MustCompile(`\b(?:ifError|fail|XCTFail|FailNow)\s*\(|\bdone\.fail\b|^t\.(?:Error|Fatal|Fail)|^assert\s*\(?\s*(?:False|false|0)\b`)

// onlyErrors reports whether what was removed is all about errors that should not
// be there: with another way to call the code they go.
func (d delta) onlyErrors() bool {
	return !slices.ContainsFunc(d.removed, func(a assertion) bool { return a.Strength != source.NonNull && !failsAnyway.MatchString(a.text) })
}

// rewritten reports whether all names of an assertion stand in the lines that
// were added to its test.
func (c *change) rewritten(a assertion, d delta) bool {
	names := subjectWords(a.text)
	if len(names) == 0 {
		return false
	}
	have := map[string]bool{}
	for _, l := range d.now.f.addedLines() {
		if d.now.Line <= l.n && l.n <= d.now.End && !discards.MatchString(l.text) {
			for w := range words(d.now.s.plainRange(l.n, l.n)) {
				have[w] = true
			}
		}
	}
	for w := range names {
		if !have[w] {
			return false
		}
	}
	return true
}

// discards matches lines that do nothing with what they name.
var discards = regexp.MustCompile(`^\s*(?:let |var |val |auto |const )?_\w*(?:, _)*\s*(?::?=|:)[^=]|^\s*(?:void|drop)\b|^\s*\(void\)|^\s*(?:print\w*|puts|p|console\.\w+|log\w*(?:\.\w+)?|t\.Logf?|fmt\.Print\w*|echo|dump|inspect)\b`)

// found reports whether the condition of an assertion stands in added code.
func found(a assertion, added string) bool {
	k := keys(a.text)
	return len(k[0]) > 8 && strings.Contains(added, k[0])
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

func isName(s string) bool { return s[0] == '_' || s[0]|0x20 >= 'a' && s[0]|0x20 <= 'z' }

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
		case len(d.removed)+len(d.revised) == 0:
			f.Severity = metric.Medium
		}
		out = append(out, f)
	}
	lost := slices.ContainsFunc(inv.lost, func(l loss) bool { return l.by == "" })
	for _, t := range inv.added {
		all := tautologies(t)
		if len(all) == 0 || len(all) < len(t.Assertions) || t.parent != nil {
			continue
		}
		f := Finding{File: t.s.path, Line: all[0].line, Test: t.Name, Evidence: evidence(all[0].text)}
		if lost {
			f.Severity = metric.Critical
		}
		out = append(out, f)
	}
	return out
}

// toItself matches the question whether something is equal to what it names.
var toItself = regexp.MustCompile(`([\w.]+)\.(?:equals|Equals|eql\?|equal\?|isEqual|__eq__)\(([\w.]+)\)`)

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
