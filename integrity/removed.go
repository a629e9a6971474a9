package integrity

import (
	"slices"
	"strings"

	"supervise/internal/regexp"
	"supervise/metric"
	"supervise/source"
)

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
	case d.onlyErrors() || c.droppedWith(d) || c.helpersDropped(d) || d.now.callsAsserter():
		return 0 // the rule's
	}
	return metric.Critical
}

// helperCall matches an assertion that is a call of a function by its name alone.
var helperCall = regexp.MustCompile(`^(\w+)\(`)

// helpersDropped reports whether product code changed, and all that a test does not
// assert any more was asserted by functions of the tests that nobody has now.
func (c *change) helpersDropped(d delta) bool {
	return c.touchesProduct() && !slices.ContainsFunc(d.removed, func(a assertion) bool {
		m := helperCall.FindStringSubmatch(a.text)
		return m == nil || !c.testsDefined(m[1])
	})
}

// testsDefined reports whether tests defined a function before that no file of the
// change defines now.
func (c *change) testsDefined(name string) bool {
	has := func(s *side) bool {
		return slices.ContainsFunc(s.source().Functions, func(fn source.Function) bool { return lastName(fn.Name) == name })
	}
	return slices.ContainsFunc(c.files, func(f *file) bool { return f.before().isTest() && has(f.before()) }) &&
		!slices.ContainsFunc(c.files, func(f *file) bool { return has(f.after()) })
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

// madeSpy matches a double that is made by the library that asserts.
var madeSpy = regexp.MustCompile(`=\s*expect\.(?:createSpy|spyOn)\(`)

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
		return a.Trivial || ofLiterals(a) || madeSpy.MatchString(a.text) || failure && kept[cond] && !slices.Contains(d.now.Assertions, a.text)
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

var (
	// givesHandle matches a call that is given the handle of a test, to assert by it.
	givesHandle = regexp.MustCompile(`\w\(t{1,2}(?:, |\))[^=]*?(?:;|\n|$)`)
	// ownBody matches a test with a body; one without is given a macro that asserts.
	ownBody = regexp.MustCompile(`=>|\bfunction\b`)
	// macroBehindTitle matches a test of ava up to the function that stands in place of
	// its body; what comes behind is handed to that.
	macroBehindTitle = regexp.MustCompile(`^[^,]*,\s*([\w$]+)\s*[,)]`)
	assertsByHandle  = regexp.MustCompile(`\bt\.\w+\(`)
)

// byMacro reports whether a test leaves its assertions to a function of its file.
func byMacro(t *test) bool {
	m := macroBehindTitle.FindStringSubmatch(t.s.maskedRange(t.Line, t.End))
	return m != nil && slices.ContainsFunc(t.s.source().Functions, func(fn source.Function) bool {
		return lastName(fn.Name) == m[1] && assertsByHandle.MatchString(t.s.maskedRange(fn.Line, fn.End))
	})
}

// scripted reports whether a file is one of JavaScript.
func scripted(s *side) bool {
	return s.language() == source.JavaScript || s.language() == source.TypeScript
}

// stillAsserts reports whether a test in which no assertion is known any more
// calls what looks like one.
func (d delta) stillAsserts() bool {
	if text := d.now.s.maskedRange(d.now.Line, d.now.End); scripted(d.now.s) && (givesHandle.MatchString(text) || !ownBody.MatchString(text) || byMacro(d.now)) {
		return true
	}
	return assertingCall.MatchString(d.now.s.maskedRange(d.now.Line+1, d.now.End)) || d.now.failsByNote()
}

var (
	// surelyAsserts matches what asserts in any language, by its name.
	surelyAsserts = regexp.MustCompile(`(?i)\bassert\w*[!(. ]|\bexpect\w*\(|\brefute\w*\b|\.should\b|\bt\.(?:Error|Fatal)f?\(|\brequire\.\w+\(t\b|\bfail\(`)
	rustMacro     = regexp.MustCompile(`\bmacro_rules!\s*(\w+)`)
)

// callsAsserter reports whether a test calls a function or a macro of its file that
// asserts.
func (t *test) callsAsserter() bool {
	text := t.s.maskedRange(t.Line+1, t.End)
	called := func(name, mark string) bool {
		return len(name) > 2 && regexp.MustCompile(`\b`+regexp.QuoteMeta(name)+mark).MatchString(text)
	}
	for _, fn := range helpers(t.s) {
		if surelyAsserts.MatchString(t.s.plainRange(fn.Line, fn.End)) && called(lastName(fn.Name), `\s*\(`) {
			return true
		}
	}
	return t.s.language() == source.Rust && slices.ContainsFunc(rustMacro.FindAllStringSubmatch(string(t.s.withoutStrings()), -1), func(m []string) bool {
		return called(m[1], `!`)
	})
}

// expectedNote matches a comment or an annotation by which a runner expects an error.
var expectedNote = regexp.MustCompile(`@expectedException\b|\[ExpectedException\b|@Test\(.*\bexpected\s*=`)

// failsByNote reports whether a test is expected to raise an error by what stands above
// it.
func (t *test) failsByNote() bool {
	for n := t.Line; n > 0 && t.Line-n <= maxReason; n-- {
		text := t.s.lineAt(n)
		if expectedNote.MatchString(text) {
			return true
		}
		if n < t.Line && !beside.MatchString(text) {
			return false
		}
	}
	return false
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

// valueMoved reports whether the longer literals of an assertion stand in assertions,
// or lines that assert, which were added to its test.
func (d delta) valueMoved(a assertion) bool {
	var b strings.Builder
	for _, l := range d.now.f.addedLines() {
		if d.now.Line <= l.n && l.n <= d.now.End && asserting.MatchString(l.text) {
			b.WriteString(squash(d.now.s.plainRange(l.n, l.n)))
		}
	}
	for _, text := range d.now.Assertions {
		if !slices.Contains(d.was.Assertions, text) {
			b.WriteString(squash(text))
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
	names, telling := subjectWords(a.text), false
	for w := range names {
		telling = telling || len(w) > 2
	}
	if !telling { // x and n stand anywhere
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
