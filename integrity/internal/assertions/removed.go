package assertions

import (
	"maps"
	"slices"
	"strings"

	"supervise/integrity/internal/facts"
	"supervise/internal/regexp"
	"supervise/metric"
	"supervise/source"
)

// findRemovedAssertions finds tests that lost more assertions than they got, and explains those
// losses whose assertions moved or whose subject is gone.
func findRemovedAssertions(c *facts.Change, d assertionDiff, report facts.Report) {
	d.removed = d.missingAssertions()
	if len(d.removed) <= len(d.added) || d.MatchedBy == facts.MatchedByBody {
		return
	}
	f := d.After.NewFinding(d.After.Line, "gone: "+joinTexts(d.removed))
	if d.reached == 0 && !d.maybeAsserts() {
		f.Severity = totalLossSeverity(c, d)
	} else if isMinorLoss(c, d) {
		f.Severity = metric.Medium
	}
	f.ExplainedBy = explainRemoval(c, d)
	report(f)
}

// isMinorLoss reports whether a test lost less than half of its assertions, or there is a hint
// that they are no longer needed.
func isMinorLoss(c *facts.Change, d assertionDiff) bool {
	lost := len(d.removed) - len(d.added)
	isSmall := 2*lost < len(d.Before.Assertions)-1
	isRelated := lost == 1 && facts.TouchesSource.Of(c) && !isIsolatedRemoval(c, d)
	if isSmall || isRelated || d.removesOnlyErrorChecks() {
		return true
	}
	return d.movedToTable() || isSubjectRetired(c, d) || d.isRephrased(lost) || isSplitOff(c, d)
}

// totalLossSeverity returns the severity for a test that lost all assertions, 0 for that of the
// rule.
func totalLossSeverity(c *facts.Change, d assertionDiff) metric.Severity {
	if areWarningsRemoved(c, d) {
		return metric.Medium
	}
	expectsPanic := shouldPanicRE.MatchString(d.After.Side.TextWithAnnotations(d.After.TestDef)) && facts.ExpectsOnlyFailures(d.Before)
	isNoLongerNeeded := isRemovedWithProduct(c, d) || areHelpersRemoved(c, d)
	if expectsPanic || d.removesOnlyErrorChecks() || isNoLongerNeeded || callsAssertingHelper(d.After) {
		return 0
	}
	return metric.Critical
}

// shouldPanicRE matches the attribute of a Rust test that expects any panic.
var shouldPanicRE = regexp.MustCompile(`#\[should_panic\b`)

// helperCallRE matches an assertion that is the call of a function by its name alone:
// check_total(cart).
var helperCallRE = regexp.MustCompile(`^(\w+)\(`)

// areHelpersRemoved reports whether product code changed, and all lost assertions of a test were
// calls of helpers that were removed.
func areHelpersRemoved(c *facts.Change, d assertionDiff) bool {
	return c.TouchesProduct() && facts.All(d.removed, func(a facts.Assertion) bool {
		m := helperCallRE.FindStringSubmatch(a.Text)
		return m != nil && isTestFunctionRemoved(c, m[1])
	})
}

// isTestFunctionRemoved reports whether tests defined a function that no file of the change
// defines now.
func isTestFunctionRemoved(c *facts.Change, name string) bool {
	wasDefined := slices.ContainsFunc(c.Files, func(f *facts.ChangedFile) bool {
		return f.Before().IsTestFile() && definesFunction(f.Before().Inspection().Functions, name)
	})
	return wasDefined && facts.All(c.Files, func(f *facts.ChangedFile) bool {
		return !definesFunction(f.After().Inspection().Functions, name)
	})
}

// areWarningsRemoved reports whether all lost assertions of a test expected a deprecation
// warning that product code no longer gives.
func areWarningsRemoved(c *facts.Change, d assertionDiff) bool {
	return facts.All(d.removed, func(a facts.Assertion) bool { return c.RemovesDeprecated(facts.WordRE.FindAllString(a.Text, -1)) })
}

// minSplitSimilarity is the smallest similarity that an assertion of a new test must have with a
// lost one.
const minSplitSimilarity = .6

// isSplitOff reports whether a new test of the same file, not a copy of an existing one, has at
// least half of the lost assertions of a test, possibly with other values.
func isSplitOff(c *facts.Change, d assertionDiff) bool {
	tests := facts.Tests.Of(c)
	return slices.ContainsFunc(tests.Added, func(t *facts.Test) bool {
		isCopy := tests.Closest[t].Similarity >= facts.MinCopySimilarity
		if t.File != d.After.File || t.NeverRuns() || isCopy || facts.CountCommonNameWords(d.Before, t) == 0 {
			return false
		}
		moved := facts.Count(d.removed, func(a facts.Assertion) bool {
			return slices.ContainsFunc(t.Assertions, func(text string) bool { return similarity(a.Text, text) >= minSplitSimilarity })
		})
		return 2*moved >= len(d.removed)
	})
}

// createdSpyRE matches a double that is made by the library that asserts, as in "spy =
// expect.createSpy(".
var createdSpyRE = regexp.MustCompile(`=\s*expect\.(?:createSpy|spyOn)\(`)

// missingAssertions returns the removed assertions, without those that checked nothing and those
// whose condition now fails the test in another way.
func (d assertionDiff) missingAssertions() []facts.Assertion {
	conditions := map[string]bool{}
	for _, text := range d.After.Assertions {
		if condition, _, fails := strings.Cut(text, " => t."); fails {
			conditions[condition] = true
		}
	}
	return facts.Filter(d.removed, func(a facts.Assertion) bool {
		condition, _, fails := strings.Cut(a.Text, " => t.")
		failsOtherwise := fails && conditions[condition] && !slices.Contains(d.After.Assertions, a.Text)
		checksNothing := a.Trivial || comparesLiterals(a) || createdSpyRE.MatchString(a.Text)
		return !checksNothing && !failsOtherwise
	})
}

// literalComparisonWordRE matches a word of a comparing assertion, such as assertEqual, or a value
// of any language, such as true.
var literalComparisonWordRE = regexp.MustCompile(`^(?i:assert|assert_?(?:not_?)?(?:same|equals?)|refute_(?:same|equal)|self|this|true|false|nil|null|none|t|is|not|===?|!==?)$`)

// comparesLiterals reports whether an assertion compares literals with each other, so that it does
// not check the code.
func comparesLiterals(a facts.Assertion) bool {
	words := facts.WordRE.FindAllString(facts.LiteralRE.ReplaceAllString(a.Text, " "), -1)
	compares := len(words) > 0 && strings.ContainsAny(a.Text, ",=")
	return compares && facts.All(words, literalComparisonWordRE.MatchString)
}

// assertingCallRE matches calls whose name says that they assert, such as verifyTotal( and
// cart.shouldBeEmpty(.
var assertingCallRE = regexp.MustCompile(`\b\w*(?i:assert|expect|should|verify|require|check)\w*(?:[.:!]+\w+)*\s*[(<]|\b(?:is|are)_expected\b|\b[A-Z]\w*\(t, `)

var (
	// handlePassedRE matches a call that gets the handle of a test, to assert by it: checkTotal(t).
	handlePassedRE = regexp.MustCompile(`\w\(t{1,2}(?:, |\))[^=]*?(?:;|\n|$)`)
	// functionBodyRE matches a test with a function as its body. A test without one passes a macro
	// that asserts.
	functionBodyRE = regexp.MustCompile(`=>|\bfunction\b`)
	// testMacroRE matches a test of ava up to the macro in place of its body, as in test("adds",
	// checkSum, 3). handleCallRE matches an assertion by the handle, as in t.is(.
	testMacroRE  = regexp.MustCompile(`^[^,]*,\s*([\w$]+)\s*[,)]`)
	handleCallRE = regexp.MustCompile(`\bt\.\w+\(`)
)

// delegatesToMacro reports whether the assertions of a test are in a function of its file that the
// test passes to the runner.
func delegatesToMacro(t *facts.Test) bool {
	m := testMacroRE.FindStringSubmatch(t.Side.LinesWithoutStrings(t.Line, t.End))
	return m != nil && slices.ContainsFunc(t.Side.Inspection().Functions, func(fn source.Function) bool {
		return facts.LastName(fn.Name) == m[1] && handleCallRE.MatchString(t.Side.LinesWithoutStrings(fn.Line, fn.End))
	})
}

// maybeAsserts reports whether a test without known assertions calls something that may assert.
func (d assertionDiff) maybeAsserts() bool {
	s := d.After.Side
	if s.IsScript() {
		text := s.LinesWithoutStrings(d.After.Line, d.After.End)
		if handlePassedRE.MatchString(text) || !functionBodyRE.MatchString(text) || delegatesToMacro(d.After) {
			return true
		}
	}
	return assertingCallRE.MatchString(s.LinesWithoutStrings(d.After.Line+1, d.After.End)) || expectsErrorByAnnotation(d.After)
}

var (
	// certainAssertionRE matches what asserts in any language, going by its name, such as "assert
	// x" and t.Fatalf(. rustMacroRE matches the definition of a macro.
	certainAssertionRE = regexp.MustCompile(`(?i)\bassert\w*[!(. ]|\bexpect\w*\(|\b(?:is|are)_expected\b|\brefute\w*\b|\.should\b|\bt\.(?:Error|Fatal)f?\(|\brequire\.\w+\(t\b|\bfail\(`)
	rustMacroRE        = regexp.MustCompile(`\bmacro_rules!\s*(\w+)`)
)

// callsAssertingHelper reports whether a test calls a function or a macro of its file that
// asserts.
func callsAssertingHelper(t *facts.Test) bool {
	body := t.Side.LinesWithoutStrings(t.Line+1, t.End)
	calls := func(name, mark string) bool {
		return len(name) > 2 && regexp.MustCompile(`\b`+regexp.QuoteMeta(name)+mark).MatchString(body)
	}
	for _, fn := range facts.HelperFunctions(t.Side) {
		asserts := certainAssertionRE.MatchString(t.Side.LinesWithoutComments(fn.Line, fn.End))
		if asserts && calls(facts.LastName(fn.Name), `\s*\(`) {
			return true
		}
	}
	macros := rustMacroRE.FindAllStringSubmatch(string(t.Side.WithoutStrings()), -1)
	return t.Side.Language() == source.Rust && slices.ContainsFunc(macros, func(m []string) bool { return calls(m[1], `!`) })
}

// expectedErrorRE matches a comment or an annotation by which a runner expects an error, such as
// @expectedException.
var expectedErrorRE = regexp.MustCompile(`@expectedException\b|\[ExpectedException\b|@Test\(.*\bexpected\s*=`)

// expectsErrorByAnnotation reports whether an annotation or a comment above a test expects an
// error.
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

// movedToTable reports whether the tables of a test got at least half as many rows as assertions
// were lost.
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

// maxLostPerNewLine is how many assertions may be lost for each new asserting line of the same
// test.
const maxLostPerNewLine = 4

// isRephrased reports whether a test got new asserting lines in place of the assertions that it
// lost. Lines in which only names changed do not count.
func (d assertionDiff) isRephrased(lost int) bool {
	names := renamedNames(d.Before.Tokens, d.After.Tokens)
	removed := facts.SetOf(d.Before.File.RemovedLines(), func(l facts.Line) string { return facts.RemoveSpace(replaceNames(l.Text, names)) })
	asserting := facts.Count(linesInTest(d.After, d.After.File.AddedLines()), func(l facts.Line) bool {
		return !removed[facts.RemoveSpace(l.Text)] && assertingLineRE.MatchString(codeOfLine(d.After, l))
	})
	return asserting > 0 && maxLostPerNewLine*asserting >= lost
}

// isSubjectRetired reports whether product code shrank in lines that contain words of at least half
// of the removed assertions.
func isSubjectRetired(c *facts.Change, d assertionDiff) bool {
	words := facts.ShrunkWords.Of(c)
	return len(words) > 0 && 2*d.countRemoved(func(w string) bool { return words[w] && !c.IsCommonWord(d.Before, w) }) >= len(d.removed)
}

// isRemovedWithProduct reports whether each removed assertion has a word that the change removed
// from the product code.
func isRemovedWithProduct(c *facts.Change, d assertionDiff) bool {
	words := facts.RemovedWords.Of(c)
	return len(words) > 0 && facts.All(d.removed, func(a facts.Assertion) bool {
		return slices.ContainsFunc(facts.WordRE.FindAllString(a.Text, -1), func(w string) bool { return words[w] && !facts.AssertionWordRE.MatchString(w) })
	})
}

// areLiteralsMoved reports whether all longer texts of an assertion occur in assertions, or in
// lines that assert, that were added to its test.
func (d assertionDiff) areLiteralsMoved(a facts.Assertion) bool {
	var b strings.Builder
	for _, l := range d.After.File.AddedLines() {
		if d.After.Contains(l.Number) && assertingLineRE.MatchString(l.Text) {
			b.WriteString(facts.RemoveSpace(codeOfLine(d.After, l)))
		}
	}
	for _, text := range d.After.Assertions {
		if !slices.Contains(d.Before.Assertions, text) {
			b.WriteString(facts.RemoveSpace(text))
		}
	}

	var texts []string
	for _, l := range a.Literals {
		if start := strings.IndexAny(l, "\"'`"); start >= 0 {
			texts = append(texts, facts.RemoveSpace(strings.Trim(l[start:], "\"'`")))
		}
	}
	texts = facts.Filter(texts, func(text string) bool { return len(text) >= facts.MinLiteralLength })
	return len(texts) > 0 && facts.All(texts, func(text string) bool { return strings.Contains(b.String(), text) })
}

// joinTexts returns the texts of assertions as evidence.
func joinTexts(list []facts.Assertion) string {
	return strings.Join(facts.Map(list, func(a facts.Assertion) string { return a.Text }), " · ")
}

// explainRemoval returns what makes the removal of assertions harmless, "" for nothing.
func explainRemoval(c *facts.Change, d assertionDiff) string {
	added := facts.AddedTestCode.Of(c)
	asserts := d.reached > 0 || d.maybeAsserts()
	moved := facts.Count(d.removed, func(a facts.Assertion) bool {
		return isInAddedCode(a, added) || asserts && isRewritten(a, d) || d.areLiteralsMoved(a)
	})
	switch {
	case 2*moved >= len(d.removed):
		return facts.ExplainedByMove
	case facts.ExpectsPanic(d.Pair):
		return "an attribute expects the failure with its message"
	case callsNewHelper(c, d.Pair):
		return "it calls a helper that asserts"
	case areSubjectsRemoved(c, d):
		return facts.ExplainedBySubject
	}
	return ""
}

// unconditionalFailureRE matches what always fails, or fails for any error, such as XCTFail( and
// "assert False".
var unconditionalFailureRE = regexp.MustCompile(`\b(?:ifError|fail|XCTFail|FailNow)\s*\(|\bdone\.fail\b|^t\.(?:Error|Fatal|Fail)|^assert\s*\(?\s*(?:False|false|0)\b`)

// removesOnlyErrorChecks reports whether all removed assertions are about the absence of errors.
// They may not be needed if the code is called in another way.
func (d assertionDiff) removesOnlyErrorChecks() bool {
	return facts.All(d.removed, func(a facts.Assertion) bool {
		return a.Strength == source.NonNull || unconditionalFailureRE.MatchString(a.Text)
	})
}

// isRewritten reports whether all names of an assertion occur in the lines that were added to its
// test, so that the test may check the same in other words.
func isRewritten(a facts.Assertion, d assertionDiff) bool {
	if !facts.NamesSubject(a.Text, func(w string) bool { return len(w) > 2 }) { // x and n occur anywhere
		return false
	}
	words := map[string]int{}
	for _, l := range d.After.File.AddedLines() {
		if d.After.Contains(l.Number) && !discardingLineRE.MatchString(l.Text) {
			maps.Copy(words, facts.CountWords(codeOfLine(d.After, l)))
		}
	}
	return !facts.NamesSubject(a.Text, func(w string) bool { return words[w] == 0 })
}

// discardingLineRE matches lines that do nothing with what they name, such as "_ = total" and
// print(total).
var discardingLineRE = regexp.MustCompile(`^\s*(?:let |var |val |auto |const )?_\w*(?:, _)*\s*(?::?=|:)[^=]|^\s*(?:void|drop)\b|^\s*\(void\)|^\s*(?:print\w*|puts|p|console\.\w+|log\w*(?:\.\w+)?|t\.Logf?|fmt\.Print\w*|echo|dump|inspect)\b`)

// isInAddedCode reports whether the condition of an assertion, or its beginning, occurs in code
// that was added to tests.
func isInAddedCode(a facts.Assertion, added string) bool {
	longest := facts.AssertionPrefixes(a.Text)[0]
	return len(longest) > 8 && strings.Contains(added, longest)
}
