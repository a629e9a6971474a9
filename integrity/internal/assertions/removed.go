package assertions

import (
	"slices"
	"strings"

	"supervise/integrity/internal/facts"
	"supervise/internal/regexp"
	"supervise/metric"
	"supervise/source"
)

// findRemovedAssertions finds tests that lost assertions, and explains those that moved
// or lost their subject.
func findRemovedAssertions(c *facts.Set) []facts.Finding {
	var out []facts.Finding
	for _, d := range deltas.Of(c) {
		d.removed = d.missing()
		gone := len(d.removed) - len(d.added)
		if gone <= 0 || d.How == facts.ByBody {
			continue
		}
		f := d.finding(facts.Assertion{Line: d.Now.Line}, "gone: "+joinTexts(d.removed))
		switch {
		case d.live == 0 && !d.stillAsserts():
			f.Severity = weightOfAll(c, d)
		case 2*gone < len(d.Was.Assertions)-1 || d.onlyErrors() || gone == 1 && facts.TouchesSource.Of(c) && !droppedAlone(c, d) || d.tabled() || retiredOf(c, d) || d.rephrased(gone) || splitOff(c, d):
			f.Severity = metric.Medium
		}
		f.ExplainedBy = whyRemoved(c, d)
		out = append(out, f)
	}
	return out
}

// weightOfAll is the severity for a test that lost all assertions.
func weightOfAll(c *facts.Set, d delta) metric.Severity {
	switch {
	case warnsNoMore(c, d):
		return metric.Medium
	case panics.MatchString(d.Now.Side.FullText(d.Now.TestDef)) && facts.ExpectedFailure(d.Was), d.onlyErrors() || droppedWith(c, d) || helpersDropped(c, d) || callsAsserter(d.Now):
		return 0 // the rule's
	}
	return metric.Critical
}

// panics matches the attribute of Rust by which any panic is expected.
var panics = regexp.MustCompile(`#\[should_panic\b`)

// helperCall matches an assertion that is a call of a function by its name alone.
var helperCall = regexp.MustCompile(`^(\w+)\(`)

// helpersDropped reports whether product code changed, and all lost assertions of a test
// were calls of helpers that are gone.
func helpersDropped(c *facts.Set, d delta) bool {
	return c.TouchesProduct() && !slices.ContainsFunc(d.removed, func(a facts.Assertion) bool {
		m := helperCall.FindStringSubmatch(a.Text)
		return m == nil || !testsDefined(c, m[1])
	})
}

// testsDefined reports whether tests defined a function before that no file of the
// change defines now.
func testsDefined(c *facts.Set, name string) bool {
	has := func(s *facts.Side) bool {
		return slices.ContainsFunc(s.Source().Functions, func(fn source.Function) bool { return facts.LastName(fn.Name) == name })
	}
	return slices.ContainsFunc(c.Files, func(f *facts.ChangedFile) bool { return f.Before().IsTest() && has(f.Before()) }) &&
		!slices.ContainsFunc(c.Files, func(f *facts.ChangedFile) bool { return has(f.After()) })
}

// warnsNoMore reports whether all lost assertions of a test expected a deprecation
// warning that product code no longer gives.
func warnsNoMore(c *facts.Set, d delta) bool {
	return !slices.ContainsFunc(d.removed, func(a facts.Assertion) bool {
		said := map[string]bool{}
		for _, w := range facts.Word.FindAllString(a.Text, -1) {
			said[w] = true
		}
		return !c.EndsDeprecation(said)
	})
}

// splitEnough is the share of the words of an assertion that one of a new test must have.
const splitEnough = .6

// splitOff reports whether a new test of the same file, not a copy of an existing one,
// has at least half of the lost assertions of a test, possibly with other values.
func splitOff(c *facts.Set, d delta) bool {
	inv := facts.Tests.Of(c)
	return slices.ContainsFunc(inv.Added, func(t *facts.Test) bool {
		if t.File != d.Now.File || t.NeverRuns() || inv.Models[t].Similarity >= facts.CopyEnough || facts.CommonInNames(d.Was, t) == 0 {
			return false
		}
		n := 0
		for _, a := range d.removed {
			if slices.ContainsFunc(t.Assertions, func(text string) bool { return likeness(a.Text, text) >= splitEnough }) {
				n++
			}
		}
		return 2*n >= len(d.removed)
	})
}

// madeSpy matches a double that is made by the library that asserts.
var madeSpy = regexp.MustCompile(`=\s*expect\.(?:createSpy|spyOn)\(`)

// missing returns the removed assertions without those that checked nothing, and those
// whose condition now fails the test in another way.
func (d delta) missing() []facts.Assertion {
	kept := map[string]bool{}
	for _, text := range d.Now.Assertions {
		if cond, _, failure := strings.Cut(text, " => t."); failure {
			kept[cond] = true
		}
	}
	return slices.DeleteFunc(slices.Clone(d.removed), func(a facts.Assertion) bool {
		cond, _, failure := strings.Cut(a.Text, " => t.")
		return a.Trivial || ofLiterals(a) || madeSpy.MatchString(a.Text) || failure && kept[cond] && !slices.Contains(d.Now.Assertions, a.Text)
	})
}

// saysNothing matches the words of a comparing assertion, and values of any language.
var saysNothing = regexp.MustCompile(`^(?i:assert|assert_?(?:not_?)?(?:same|equals?)|refute_(?:same|equal)|self|this|true|false|nil|null|none|t|is|not|===?|!==?)$`)

// ofLiterals reports whether an assertion compares literals with each other: it does not
// check the code.
func ofLiterals(a facts.Assertion) bool {
	list := facts.Word.FindAllString(facts.AnyLiteral.ReplaceAllString(a.Text, " "), -1)
	return len(list) > 0 && strings.ContainsAny(a.Text, ",=") && !slices.ContainsFunc(list, func(w string) bool { return !saysNothing.MatchString(w) })
}

// assertingCall matches calls whose name says that they assert, whatever they are
// called on.
var assertingCall = regexp.MustCompile(`\b\w*(?i:assert|expect|should|verify|require|check)\w*(?:[.:!]+\w+)*\s*[(<]|\b(?:is|are)_expected\b|\b[A-Z]\w*\(t, `)

var (
	// givesHandle matches a call that is given the handle of a test, to assert by it.
	givesHandle = regexp.MustCompile(`\w\(t{1,2}(?:, |\))[^=]*?(?:;|\n|$)`)
	// ownBody matches a test with a body; one without is given a macro that asserts.
	ownBody = regexp.MustCompile(`=>|\bfunction\b`)
	// macroBehindTitle matches a test of ava up to the function in place of
	// its body; what comes after is handed to that.
	macroBehindTitle = regexp.MustCompile(`^[^,]*,\s*([\w$]+)\s*[,)]`)
	assertsByHandle  = regexp.MustCompile(`\bt\.\w+\(`)
)

// byMacro reports whether a test delegates its assertions to a function of its file.
func byMacro(t *facts.Test) bool {
	m := macroBehindTitle.FindStringSubmatch(t.Side.MaskedRange(t.Line, t.End))
	return m != nil && slices.ContainsFunc(t.Side.Source().Functions, func(fn source.Function) bool {
		return facts.LastName(fn.Name) == m[1] && assertsByHandle.MatchString(t.Side.MaskedRange(fn.Line, fn.End))
	})
}

// scripted reports whether a file is JavaScript or TypeScript.
func scripted(s *facts.Side) bool {
	return s.Language() == source.JavaScript || s.Language() == source.TypeScript
}

// stillAsserts reports whether a test without known assertions calls something that looks
// like one.
func (d delta) stillAsserts() bool {
	if text := d.Now.Side.MaskedRange(d.Now.Line, d.Now.End); scripted(d.Now.Side) && (givesHandle.MatchString(text) || !ownBody.MatchString(text) || byMacro(d.Now)) {
		return true
	}
	return assertingCall.MatchString(d.Now.Side.MaskedRange(d.Now.Line+1, d.Now.End)) || failsByNote(d.Now)
}

var (
	// surelyAsserts matches what asserts in any language, by its name.
	surelyAsserts = regexp.MustCompile(`(?i)\bassert\w*[!(. ]|\bexpect\w*\(|\b(?:is|are)_expected\b|\brefute\w*\b|\.should\b|\bt\.(?:Error|Fatal)f?\(|\brequire\.\w+\(t\b|\bfail\(`)
	rustMacro     = regexp.MustCompile(`\bmacro_rules!\s*(\w+)`)
)

// callsAsserter reports whether a test calls a function or a macro of its file that
// asserts.
func callsAsserter(t *facts.Test) bool {
	text := t.Side.MaskedRange(t.Line+1, t.End)
	called := func(name, mark string) bool {
		return len(name) > 2 && regexp.MustCompile(`\b`+regexp.QuoteMeta(name)+mark).MatchString(text)
	}
	for _, fn := range facts.Helpers(t.Side) {
		if surelyAsserts.MatchString(t.Side.PlainRange(fn.Line, fn.End)) && called(facts.LastName(fn.Name), `\s*\(`) {
			return true
		}
	}
	return t.Side.Language() == source.Rust && slices.ContainsFunc(rustMacro.FindAllStringSubmatch(string(t.Side.WithoutStrings()), -1), func(m []string) bool {
		return called(m[1], `!`)
	})
}

// expectedNote matches a comment or an annotation by which a runner expects an error.
var expectedNote = regexp.MustCompile(`@expectedException\b|\[ExpectedException\b|@Test\(.*\bexpected\s*=`)

// failsByNote reports whether a test is expected to raise an error by what is above
// it.
func failsByNote(t *facts.Test) bool {
	for n := t.Line; n > 0 && t.Line-n <= facts.MaxReasonLines; n-- {
		text := t.Side.LineAt(n)
		if expectedNote.MatchString(text) {
			return true
		}
		if n < t.Line && !facts.Attached.MatchString(text) {
			return false
		}
	}
	return false
}

// tabled reports whether the cases of a test moved to a new table with at least half as
// many rows as assertions were lost.
func (d delta) tabled() bool {
	rows := func(t *facts.Test) (n int) {
		for _, table := range facts.TablesOf(t.Side) {
			if table.Test == t.TestDef {
				n += len(table.Keys)
			}
		}
		return n
	}
	return 2*(rows(d.Now)-rows(d.Was)) >= len(d.removed)
}

// rephrasedShare is how many assertions may be lost for each new asserting line of the
// same test.
const rephrasedShare = 4

// rephrased reports whether a test got new asserting lines, more than renamed ones, in
// place of the assertions that it lost.
func (d delta) rephrased(gone int) bool {
	names := renamedNames(d.Was.Tokens, d.Now.Tokens)
	was := map[string]bool{}
	for _, l := range d.Was.File.RemovedLines() {
		was[facts.Squash(inNames(l.Text, names))] = true
	}
	n := 0
	for _, l := range d.Now.File.AddedLines() {
		if d.Now.Line < l.Number && l.Number <= d.Now.End && !was[facts.Squash(l.Text)] && asserting.MatchString(d.Now.Side.PlainRange(l.Number, l.Number)) {
			n++
		}
	}
	return rephrasedShare*n >= gone && n > 0
}

// retiredOf reports whether product code shrank in lines that contain words of most of
// the removed assertions.
func retiredOf(c *facts.Set, d delta) bool {
	lost := facts.ShrunkWords.Of(c)
	n := 0
	for _, a := range d.removed {
		for w := range facts.SubjectWords(a.Text) {
			if lost[w] && !c.CommonWord(d.Was, w) {
				n++
				break
			}
		}
	}
	return len(lost) > 0 && 2*n >= len(d.removed)
}

// droppedWith reports whether each removed assertion has a word that was removed from
// the product code by this change.
func droppedWith(c *facts.Set, d delta) bool {
	lost := facts.RemovedWords.Of(c)
	return len(lost) > 0 && !slices.ContainsFunc(d.removed, func(a facts.Assertion) bool {
		return !slices.ContainsFunc(facts.Word.FindAllString(a.Text, -1), func(w string) bool { return lost[w] && !facts.AssertionWord.MatchString(w) })
	})
}

// valueMoved reports whether the longer literals of an assertion occur in assertions,
// or lines that assert, which were added to its test.
func (d delta) valueMoved(a facts.Assertion) bool {
	var b strings.Builder
	for _, l := range d.Now.File.AddedLines() {
		if d.Now.Line <= l.Number && l.Number <= d.Now.End && asserting.MatchString(l.Text) {
			b.WriteString(facts.Squash(d.Now.Side.PlainRange(l.Number, l.Number)))
		}
	}
	for _, text := range d.Now.Assertions {
		if !slices.Contains(d.Was.Assertions, text) {
			b.WriteString(facts.Squash(text))
		}
	}
	text, n := b.String(), 0
	for _, l := range a.Literals {
		at := strings.IndexAny(l, "\"'`")
		if at < 0 {
			continue
		}
		if l = facts.Squash(strings.Trim(l[at:], "\"'`")); len(l) < facts.LeastLiteral {
			continue
		}
		if n++; !strings.Contains(text, l) {
			return false
		}
	}
	return n > 0
}

func joinTexts(list []facts.Assertion) string {
	var texts []string
	for _, a := range list {
		texts = append(texts, a.Text)
	}
	return strings.Join(texts, " · ")
}

// whyRemoved explains the removed assertions of a test, "" for no explanation.
func whyRemoved(c *facts.Set, d delta) string {
	added := facts.AddedTestCode.Of(c)
	n, asserts := 0, d.live > 0 || d.stillAsserts()
	for _, a := range d.removed {
		if found(a, added) || asserts && rewritten(a, d) || d.valueMoved(a) {
			n++
		}
	}
	switch {
	case 2*n >= len(d.removed):
		return facts.ByAbsorbed
	case facts.PanicExpected(d.Pair):
		return "an attribute expects the failure with its message"
	case callsNewHelper(c, d):
		return "it calls a helper that asserts"
	case subjectsGone(c, d):
		return facts.BySubject
	}
	return ""
}

// failsAnyway matches what always fails, or fails for any error.
var failsAnyway = regexp.MustCompile(`\b(?:ifError|fail|XCTFail|FailNow)\s*\(|\bdone\.fail\b|^t\.(?:Error|Fatal|Fail)|^assert\s*\(?\s*(?:False|false|0)\b`)

// onlyErrors reports whether all removed assertions are about the absence of errors:
// these go when the code is called in another way.
func (d delta) onlyErrors() bool {
	return !slices.ContainsFunc(d.removed, func(a facts.Assertion) bool { return a.Strength != source.NonNull && !failsAnyway.MatchString(a.Text) })
}

// rewritten reports whether all names of an assertion occur in the lines that
// were added to its test.
func rewritten(a facts.Assertion, d delta) bool {
	names, distinctive := facts.SubjectWords(a.Text), false
	for w := range names {
		distinctive = distinctive || len(w) > 2
	}
	if !distinctive { // x and n occur anywhere
		return false
	}
	have := map[string]bool{}
	for _, l := range d.Now.File.AddedLines() {
		if d.Now.Line <= l.Number && l.Number <= d.Now.End && !discards.MatchString(l.Text) {
			for w := range facts.WordCounts(d.Now.Side.PlainRange(l.Number, l.Number)) {
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

// found reports whether the condition of an assertion occurs in added code.
func found(a facts.Assertion, added string) bool {
	k := facts.AssertionKeys(a.Text)
	return len(k[0]) > 8 && strings.Contains(added, k[0])
}
