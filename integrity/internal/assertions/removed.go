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
func findRemovedAssertions(c *facts.Change) []facts.Finding {
	var out []facts.Finding
	for _, d := range assertionDiffs.Of(c) {
		d.removed = d.missingAssertions()
		removed := len(d.removed) - len(d.added)
		if removed <= 0 || d.MatchedBy == facts.MatchedByBody {
			continue
		}
		f := d.finding(facts.Assertion{Line: d.After.Line}, "gone: "+joinTexts(d.removed))
		switch {
		case d.reached == 0 && !d.maybeAsserts():
			f.Severity = totalLossSeverity(c, d)
		case 2*removed < len(d.Before.Assertions)-1 || d.removesOnlyErrorChecks() || removed == 1 && facts.TouchesSource.Of(c) && !isIsolatedRemoval(c, d) || d.movedToTable() || isSubjectRetired(c, d) || d.isRephrased(removed) || isSplitOff(c, d):
			f.Severity = metric.Medium
		}
		f.ExplainedBy = explainRemoval(c, d)
		out = append(out, f)
	}
	return out
}

// totalLossSeverity is the severity for a test that lost all assertions.
func totalLossSeverity(c *facts.Change, d assertionDiff) metric.Severity {
	switch {
	case areWarningsRemoved(c, d):
		return metric.Medium
	case shouldPanicRE.MatchString(d.After.Side.TextWithAnnotations(d.After.TestDef)) && facts.ExpectsOnlyFailures(d.Before), d.removesOnlyErrorChecks() || isRemovedWithProduct(c, d) || areHelpersRemoved(c, d) || callsAssertingHelper(d.After):
		return 0 // the rule's
	}
	return metric.Critical
}

// shouldPanicRE matches the attribute of Rust by which any panic is expected.
var shouldPanicRE = regexp.MustCompile(`#\[should_panic\b`)

// helperCallRE matches an assertion that is a call of a function by its name alone.
var helperCallRE = regexp.MustCompile(`^(\w+)\(`)

// areHelpersRemoved reports whether product code changed, and all lost assertions of a test
// were calls of helpers that are gone.
func areHelpersRemoved(c *facts.Change, d assertionDiff) bool {
	return c.TouchesProduct() && !slices.ContainsFunc(d.removed, func(a facts.Assertion) bool {
		m := helperCallRE.FindStringSubmatch(a.Text)
		return m == nil || !isTestFunctionRemoved(c, m[1])
	})
}

// isTestFunctionRemoved reports whether tests defined a function before that no file of the
// change defines now.
func isTestFunctionRemoved(c *facts.Change, name string) bool {
	has := func(s *facts.Side) bool {
		return slices.ContainsFunc(s.Inspection().Functions, func(fn source.Function) bool { return facts.LastName(fn.Name) == name })
	}
	return slices.ContainsFunc(c.Files, func(f *facts.ChangedFile) bool { return f.Before().IsTestFile() && has(f.Before()) }) &&
		!slices.ContainsFunc(c.Files, func(f *facts.ChangedFile) bool { return has(f.After()) })
}

// areWarningsRemoved reports whether all lost assertions of a test expected a deprecation
// warning that product code no longer gives.
func areWarningsRemoved(c *facts.Change, d assertionDiff) bool {
	return !slices.ContainsFunc(d.removed, func(a facts.Assertion) bool {
		messages := map[string]bool{}
		for _, w := range facts.WordRE.FindAllString(a.Text, -1) {
			messages[w] = true
		}
		return !c.RemovesDeprecated(messages)
	})
}

// minSplitSimilarity is the share of the words of an assertion that one of a new test must have.
const minSplitSimilarity = .6

// isSplitOff reports whether a new test of the same file, not a copy of an existing one,
// has at least half of the lost assertions of a test, possibly with other values.
func isSplitOff(c *facts.Change, d assertionDiff) bool {
	inv := facts.Tests.Of(c)
	return slices.ContainsFunc(inv.Added, func(t *facts.Test) bool {
		if t.File != d.After.File || t.NeverRuns() || inv.Closest[t].Similarity >= facts.MinCopySimilarity || facts.CountCommonNameWords(d.Before, t) == 0 {
			return false
		}
		n := 0
		for _, a := range d.removed {
			if slices.ContainsFunc(t.Assertions, func(text string) bool { return similarity(a.Text, text) >= minSplitSimilarity }) {
				n++
			}
		}
		return 2*n >= len(d.removed)
	})
}

// createdSpyRE matches a double that is made by the library that asserts.
var createdSpyRE = regexp.MustCompile(`=\s*expect\.(?:createSpy|spyOn)\(`)

// missingAssertions returns the removed assertions without those that checked nothing, and those
// whose condition now fails the test in another way.
func (d assertionDiff) missingAssertions() []facts.Assertion {
	kept := map[string]bool{}
	for _, text := range d.After.Assertions {
		if condition, _, failure := strings.Cut(text, " => t."); failure {
			kept[condition] = true
		}
	}
	return slices.DeleteFunc(slices.Clone(d.removed), func(a facts.Assertion) bool {
		condition, _, failure := strings.Cut(a.Text, " => t.")
		return a.Trivial || comparesLiterals(a) || createdSpyRE.MatchString(a.Text) || failure && kept[condition] && !slices.Contains(d.After.Assertions, a.Text)
	})
}

// literalComparisonWordRE matches the words of a comparing assertion, and values of any language.
var literalComparisonWordRE = regexp.MustCompile(`^(?i:assert|assert_?(?:not_?)?(?:same|equals?)|refute_(?:same|equal)|self|this|true|false|nil|null|none|t|is|not|===?|!==?)$`)

// comparesLiterals reports whether an assertion compares literals with each other: it does not
// check the code.
func comparesLiterals(a facts.Assertion) bool {
	list := facts.WordRE.FindAllString(facts.LiteralRE.ReplaceAllString(a.Text, " "), -1)
	return len(list) > 0 && strings.ContainsAny(a.Text, ",=") && !slices.ContainsFunc(list, func(w string) bool { return !literalComparisonWordRE.MatchString(w) })
}

// assertingCallRE matches calls whose name says that they assert, whatever they are
// called on.
var assertingCallRE = regexp.MustCompile(`\b\w*(?i:assert|expect|should|verify|require|check)\w*(?:[.:!]+\w+)*\s*[(<]|\b(?:is|are)_expected\b|\b[A-Z]\w*\(t, `)

var (
	// handlePassedRE matches a call that is given the handle of a test, to assert by it.
	handlePassedRE = regexp.MustCompile(`\w\(t{1,2}(?:, |\))[^=]*?(?:;|\n|$)`)
	// functionBodyRE matches a test with a body; one without is given a macro that asserts.
	functionBodyRE = regexp.MustCompile(`=>|\bfunction\b`)
	// testMacroRE matches a test of ava up to the function in place of
	// its body; what comes after is handed to that.
	testMacroRE  = regexp.MustCompile(`^[^,]*,\s*([\w$]+)\s*[,)]`)
	handleCallRE = regexp.MustCompile(`\bt\.\w+\(`)
)

// delegatesToMacro reports whether a test delegates its assertions to a function of its file.
func delegatesToMacro(t *facts.Test) bool {
	m := testMacroRE.FindStringSubmatch(t.Side.LinesWithoutStrings(t.Line, t.End))
	return m != nil && slices.ContainsFunc(t.Side.Inspection().Functions, func(fn source.Function) bool {
		return facts.LastName(fn.Name) == m[1] && handleCallRE.MatchString(t.Side.LinesWithoutStrings(fn.Line, fn.End))
	})
}

// isScript reports whether a file is JavaScript or TypeScript.
func isScript(s *facts.Side) bool {
	return s.Language() == source.JavaScript || s.Language() == source.TypeScript
}

// maybeAsserts reports whether a test without known assertions calls something that looks
// like one.
func (d assertionDiff) maybeAsserts() bool {
	if text := d.After.Side.LinesWithoutStrings(d.After.Line, d.After.End); isScript(d.After.Side) && (handlePassedRE.MatchString(text) || !functionBodyRE.MatchString(text) || delegatesToMacro(d.After)) {
		return true
	}
	return assertingCallRE.MatchString(d.After.Side.LinesWithoutStrings(d.After.Line+1, d.After.End)) || expectsErrorByAnnotation(d.After)
}

var (
	// certainAssertionRE matches what asserts in any language, by its name.
	certainAssertionRE = regexp.MustCompile(`(?i)\bassert\w*[!(. ]|\bexpect\w*\(|\b(?:is|are)_expected\b|\brefute\w*\b|\.should\b|\bt\.(?:Error|Fatal)f?\(|\brequire\.\w+\(t\b|\bfail\(`)
	rustMacroRE        = regexp.MustCompile(`\bmacro_rules!\s*(\w+)`)
)

// callsAssertingHelper reports whether a test calls a function or a macro of its file that
// asserts.
func callsAssertingHelper(t *facts.Test) bool {
	text := t.Side.LinesWithoutStrings(t.Line+1, t.End)
	called := func(name, mark string) bool {
		return len(name) > 2 && regexp.MustCompile(`\b`+regexp.QuoteMeta(name)+mark).MatchString(text)
	}
	for _, fn := range facts.HelperFunctions(t.Side) {
		if certainAssertionRE.MatchString(t.Side.LinesWithoutComments(fn.Line, fn.End)) && called(facts.LastName(fn.Name), `\s*\(`) {
			return true
		}
	}
	return t.Side.Language() == source.Rust && slices.ContainsFunc(rustMacroRE.FindAllStringSubmatch(string(t.Side.WithoutStrings()), -1), func(m []string) bool {
		return called(m[1], `!`)
	})
}

// expectedErrorRE matches a comment or an annotation by which a runner expects an error.
var expectedErrorRE = regexp.MustCompile(`@expectedException\b|\[ExpectedException\b|@Test\(.*\bexpected\s*=`)

// expectsErrorByAnnotation reports whether a test is expected to raise an error by what is above
// it.
func expectsErrorByAnnotation(t *facts.Test) bool {
	for n := t.Line; n > 0 && t.Line-n <= facts.MaxReasonLines; n-- {
		text := t.Side.LineAt(n)
		if expectedErrorRE.MatchString(text) {
			return true
		}
		if n < t.Line && !facts.AnnotationLineRE.MatchString(text) {
			return false
		}
	}
	return false
}

// movedToTable reports whether the cases of a test moved to a new table with at least half as
// many rows as assertions were lost.
func (d assertionDiff) movedToTable() bool {
	rows := func(t *facts.Test) (n int) {
		for _, table := range facts.FindTables(t.Side) {
			if table.Test == t.TestDef {
				n += len(table.Keys)
			}
		}
		return n
	}
	return 2*(rows(d.After)-rows(d.Before)) >= len(d.removed)
}

// maxLostPerNewLine is how many assertions may be lost for each new asserting line of the
// same test.
const maxLostPerNewLine = 4

// isRephrased reports whether a test got new asserting lines, more than renamed ones, in
// place of the assertions that it lost.
func (d assertionDiff) isRephrased(removed int) bool {
	names := renamedNames(d.Before.Tokens, d.After.Tokens)
	before := map[string]bool{}
	for _, l := range d.Before.File.RemovedLines() {
		before[facts.RemoveSpace(replaceNames(l.Text, names))] = true
	}
	n := 0
	for _, l := range d.After.File.AddedLines() {
		if d.After.Line < l.Number && l.Number <= d.After.End && !before[facts.RemoveSpace(l.Text)] && assertingLineRE.MatchString(d.After.Side.LinesWithoutComments(l.Number, l.Number)) {
			n++
		}
	}
	return maxLostPerNewLine*n >= removed && n > 0
}

// isSubjectRetired reports whether product code shrank in lines that contain words of most of
// the removed assertions.
func isSubjectRetired(c *facts.Change, d assertionDiff) bool {
	lost := facts.ShrunkWords.Of(c)
	n := 0
	for _, a := range d.removed {
		for w := range facts.SubjectWords(a.Text) {
			if lost[w] && !c.IsCommonWord(d.Before, w) {
				n++
				break
			}
		}
	}
	return len(lost) > 0 && 2*n >= len(d.removed)
}

// isRemovedWithProduct reports whether each removed assertion has a word that was removed from
// the product code by this change.
func isRemovedWithProduct(c *facts.Change, d assertionDiff) bool {
	lost := facts.RemovedWords.Of(c)
	return len(lost) > 0 && !slices.ContainsFunc(d.removed, func(a facts.Assertion) bool {
		return !slices.ContainsFunc(facts.WordRE.FindAllString(a.Text, -1), func(w string) bool { return lost[w] && !facts.AssertionWordRE.MatchString(w) })
	})
}

// areLiteralsMoved reports whether the longer literals of an assertion occur in assertions,
// or lines that assert, which were added to its test.
func (d assertionDiff) areLiteralsMoved(a facts.Assertion) bool {
	var b strings.Builder
	for _, l := range d.After.File.AddedLines() {
		if d.After.Line <= l.Number && l.Number <= d.After.End && assertingLineRE.MatchString(l.Text) {
			b.WriteString(facts.RemoveSpace(d.After.Side.LinesWithoutComments(l.Number, l.Number)))
		}
	}
	for _, text := range d.After.Assertions {
		if !slices.Contains(d.Before.Assertions, text) {
			b.WriteString(facts.RemoveSpace(text))
		}
	}
	text, n := b.String(), 0
	for _, l := range a.Literals {
		at := strings.IndexAny(l, "\"'`")
		if at < 0 {
			continue
		}
		if l = facts.RemoveSpace(strings.Trim(l[at:], "\"'`")); len(l) < facts.MinLiteralLength {
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

// explainRemoval explains the removed assertions of a test, "" for no explanation.
func explainRemoval(c *facts.Change, d assertionDiff) string {
	added := facts.AddedTestCode.Of(c)
	n, asserts := 0, d.reached > 0 || d.maybeAsserts()
	for _, a := range d.removed {
		if isInAddedCode(a, added) || asserts && isRewritten(a, d) || d.areLiteralsMoved(a) {
			n++
		}
	}
	switch {
	case 2*n >= len(d.removed):
		return facts.ExplainedByMove
	case facts.ExpectsPanic(d.Pair):
		return "an attribute expects the failure with its message"
	case callsNewHelper(c, d):
		return "it calls a helper that asserts"
	case areSubjectsRemoved(c, d):
		return facts.ExplainedBySubject
	}
	return ""
}

// unconditionalFailureRE matches what always fails, or fails for any error.
var unconditionalFailureRE = regexp.MustCompile(`\b(?:ifError|fail|XCTFail|FailNow)\s*\(|\bdone\.fail\b|^t\.(?:Error|Fatal|Fail)|^assert\s*\(?\s*(?:False|false|0)\b`)

// removesOnlyErrorChecks reports whether all removed assertions are about the absence of errors:
// these go when the code is called in another way.
func (d assertionDiff) removesOnlyErrorChecks() bool {
	return !slices.ContainsFunc(d.removed, func(a facts.Assertion) bool {
		return a.Strength != source.NonNull && !unconditionalFailureRE.MatchString(a.Text)
	})
}

// isRewritten reports whether all names of an assertion occur in the lines that
// were added to its test.
func isRewritten(a facts.Assertion, d assertionDiff) bool {
	names, distinctive := facts.SubjectWords(a.Text), false
	for w := range names {
		distinctive = distinctive || len(w) > 2
	}
	if !distinctive { // x and n occur anywhere
		return false
	}
	have := map[string]bool{}
	for _, l := range d.After.File.AddedLines() {
		if d.After.Line <= l.Number && l.Number <= d.After.End && !discardingLineRE.MatchString(l.Text) {
			for w := range facts.CountWords(d.After.Side.LinesWithoutComments(l.Number, l.Number)) {
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

// discardingLineRE matches lines that do nothing with what they name.
var discardingLineRE = regexp.MustCompile(`^\s*(?:let |var |val |auto |const )?_\w*(?:, _)*\s*(?::?=|:)[^=]|^\s*(?:void|drop)\b|^\s*\(void\)|^\s*(?:print\w*|puts|p|console\.\w+|log\w*(?:\.\w+)?|t\.Logf?|fmt\.Print\w*|echo|dump|inspect)\b`)

// isInAddedCode reports whether the condition of an assertion occurs in added code.
func isInAddedCode(a facts.Assertion, added string) bool {
	k := facts.AssertionPrefixes(a.Text)
	return len(k[0]) > 8 && strings.Contains(added, k[0])
}
