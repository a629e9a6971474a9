package assertions

import (
	"slices"
	"strings"

	"supervise/integrity/internal/facts"
	"supervise/internal/regexp"
	"supervise/metric"
	"supervise/source"
)

// changedHelper is a function of a test file that is not a test, before and after the change.
type changedHelper struct {
	file          *facts.ChangedFile
	name          string
	before, after source.Function
}

// changedHelpers are the functions of existing test files that changed.
var changedHelpers = facts.Define(func(c *facts.Change) []changedHelper {
	var out []changedHelper
	for _, f := range c.Files {
		if f.Added || f.Deleted || !f.After().MayHoldTests() || !f.HasChangedLines() {
			continue
		}
		before := facts.HelperFunctions(f.Before())
		for _, fn := range facts.HelperFunctions(f.After()) {
			i := slices.IndexFunc(before, func(old source.Function) bool { return old.Name == fn.Name })
			if i < 0 || len(facts.LastName(fn.Name)) < 3 {
				continue
			}
			if f.Before().LinesWithoutComments(before[i].Line, before[i].End) != f.After().LinesWithoutComments(fn.Line, fn.End) {
				out = append(out, changedHelper{f, facts.LastName(fn.Name), before[i], fn})
			}
		}
	}
	return out
})

// finding returns a finding about a helper, with a test that uses it.
func (h changedHelper) finding(test, evidence string) facts.Finding {
	f := h.file.NewFinding(h.after.Line, evidence)
	f.Test = test
	return f
}

// failingLineRE matches the lines of a helper by which a test can fail, such as "raise
// AssertionError".
var failingLineRE = regexp.MustCompile(certainAssertionRE.String() + `|\bassert\b|\b(?:tb?|s)\.(?:Error|Fatal|Fail)\w*\(|\bfail\w*\(|raise AssertionError|\bthrow\b|\bpanic[!(]|process\.exit|\bis_expected\b`)

// failingLines returns the lines of a function by which a test can fail, without comments and
// indentation.
func failingLines(s *facts.Side, fn source.Function) []string {
	var out []string
	for n := fn.Line + 1; n <= fn.End; n++ {
		if failingLineRE.MatchString(s.LinesWithoutStrings(n, n)) {
			out = append(out, strings.TrimSpace(s.LinesWithoutComments(n, n)))
		}
	}
	return out
}

// findHollowHelpers finds helpers of tests that lost most of their assertions.
func findHollowHelpers(c *facts.Change, h changedHelper, report facts.Report) {
	before := facts.Map(failingLines(h.file.Before(), h.before), facts.RemoveSpace)
	after := facts.Map(failingLines(h.file.After(), h.after), facts.RemoveSpace)
	test, isUsed := findUser(c, h.name)
	if len(after) >= len(before) || !isUsed {
		return
	}

	removed := facts.Filter(before, func(l string) bool {
		isMoved := slices.Contains(after, l) || strings.Contains(facts.AddedTestCode.Of(c), l)
		return !isMoved && isRemovedLine(h.file, l)
	})
	losesMost := len(removed) > 0 && len(removed) > len(before)-len(removed)-len(after)
	if !losesMost || callsNewAssertion(h) || isSubjectShrunk(c, h) {
		return
	}

	f := h.finding(test, h.name+", gone: "+strings.Join(removed, " · "))
	if len(after) > 0 {
		f.Severity = metric.Medium
	}
	report(f)
}

// isRemovedLine reports whether one of the removed lines of a file contains a text that is without
// white space.
func isRemovedLine(f *facts.ChangedFile, text string) bool {
	return slices.ContainsFunc(f.RemovedLines(), func(l facts.Line) bool { return strings.Contains(facts.RemoveSpace(l.Text), text) })
}

// callsNewAssertion reports whether a helper newly calls something that looks like an assertion.
func callsNewAssertion(h changedHelper) bool {
	before := h.file.Before().LinesWithoutStrings(h.before.Line+1, h.before.End)
	after := h.file.After().LinesWithoutStrings(h.after.Line+1, h.after.End)
	return slices.ContainsFunc(assertingCallRE.FindAllString(after, -1), func(call string) bool { return !strings.Contains(before, call) })
}

// isSubjectShrunk reports whether the product lost what the lost lines of a helper are about.
func isSubjectShrunk(c *facts.Change, h changedHelper) bool {
	words := facts.RemovedWords.Of(c)
	return len(words) > 0 && facts.All(facts.MatchingLines(h.file.RemovedLines(), failingLineRE), func(l facts.Line) bool { return facts.HasWord(l.Text, words) })
}

// findUser returns the name of a test of the change that uses a function, and whether there is one.
// A function of a file without tests counts as used, with "" as the name of the test.
func findUser(c *facts.Change, name string) (test string, isUsed bool) {
	for _, p := range facts.Tests.Of(c).Pairs {
		isNamed := p.After.Tokens[name] > 0 || strings.Contains(p.After.Side.TextWithAnnotations(p.After.TestDef), "@"+name)
		if p.After.Parent == nil && isNamed {
			return p.After.Name, true
		}
	}
	return "", slices.ContainsFunc(c.Files, func(f *facts.ChangedFile) bool {
		return len(f.After().Inspection().Tests) == 0 && definesFunction(facts.HelperFunctions(f.After()), name)
	})
}

// definesFunction reports whether one of the functions has a name.
func definesFunction(list []source.Function, name string) bool {
	return slices.ContainsFunc(list, func(fn source.Function) bool { return facts.LastName(fn.Name) == name })
}

// broadHandlerREs match, by language, what catches the failure of an assertion, such as "except
// Exception:" of Python.
var broadHandlerREs = map[source.Language]*regexp.Regexp{
	source.Python:     regexp.MustCompile(`(?m)^[ \t]*except(?:[ \t]*:|[^:\n]*\b(?:Exception|BaseException|AssertionError)\b)|\bsuppress\([^)]*(?:Exception|AssertionError)`),
	source.JavaScript: regexp.MustCompile(`\bcatch\s*(?:\([^)]*\))?\s*\{|\.catch\(`),
	source.TypeScript: regexp.MustCompile(`\bcatch\s*(?:\([^)]*\))?\s*\{|\.catch\(`),
	source.Ruby:       regexp.MustCompile(`(?m)^[ \t]*rescue\b(?:[ \t]*$|[^\n]*\b(?:Exception|StandardError|Assertion|ExpectationNotMetError)\b|[ \t]*=>)`),
	source.Go:         regexp.MustCompile(`\brecover\(\)`),
	source.Java:       regexp.MustCompile(`\bcatch\s*\(\s*(?:final\s+)?[\w.| ]*\b(?:Throwable|Exception|AssertionError|Error)\b`),
	source.Kotlin:     regexp.MustCompile(`\bcatch\s*\(\s*\w+\s*:\s*(?:Throwable|Exception|AssertionError|Error)\b|\brunCatching\b`),
	source.PHP:        regexp.MustCompile(`\bcatch\s*\(\s*[\w\\| ]*\b(?:Throwable|Exception|AssertionFailedError)\b`),
	source.CSharp:     regexp.MustCompile(`\bcatch\s*(?:\(\s*Exception\b[^)]*\))?\s*\{`),
	source.Rust:       regexp.MustCompile(`\bcatch_unwind\(`),
}

var (
	// rethrowRE matches what makes a failure from an error that was caught, such as "raise".
	rethrowRE = regexp.MustCompile(`\b(?:raise|throw|reject|panic|resume_unwind|Fatal\w*|Error\w*|Fail\w*|fail\w*|assert\w*|expect|unwrap|is_err|return (?:e|err|error|exc)\b)`)
	// callbackCallRE matches what runs the code that a helper gets, such as "yield".
	callbackCallRE = regexp.MustCompile(`\byield\b|\*args|\bblock\.call\b|&block|\bcallback\(|\.run\(\)|\.call\(`)
	// parametersRE matches the parameters in the head of a function.
	parametersRE = regexp.MustCompile(`\(([^()]*)\)`)
)

// swallowsFailures reports whether a function runs code that it gets and drops the failure of that
// code.
func swallowsFailures(s *facts.Side, fn source.Function) bool {
	handler := broadHandlerREs[s.Language()]
	if handler == nil {
		return false
	}
	body := s.LinesWithoutStrings(fn.Line, fn.End)
	span := handler.FindStringIndex(body)
	if span == nil || rethrowRE.MatchString(body[span[1]:]) || s.Language() == source.Rust && rethrowRE.MatchString(body) {
		return false
	}
	if callbackCallRE.MatchString(body) {
		return true
	}

	m := parametersRE.FindStringSubmatch(body)
	return m != nil && slices.ContainsFunc(facts.WordRE.FindAllString(m[1], -1), func(parameter string) bool {
		return regexp.MustCompile(`[^.\w]` + regexp.QuoteMeta(parameter) + `\(`).MatchString(strings.Replace(body, m[0], "", 1))
	})
}

// findSwallowingHelpers finds helpers that newly drop the failure of a test.
func findSwallowingHelpers(c *facts.Change, h changedHelper, report facts.Report) {
	newlySwallows := swallowsFailures(h.file.After(), h.after) && !swallowsFailures(h.file.Before(), h.before)
	if test, isUsed := findUser(c, h.name); isUsed && newlySwallows {
		report(h.finding(test, h.name+" drops the failure of what it runs"))
	}
}

// findSwallowedTests finds tests that are newly run by a helper, a decorator or a context that drops
// their failure.
func findSwallowedTests(c *facts.Change, f *facts.ChangedFile, report facts.Report) {
	if !f.After().MayHoldTests() {
		return
	}
	for _, fn := range facts.HelperFunctions(f.After()) {
		if name := facts.LastName(fn.Name); len(name) > 2 && swallowsFailures(f.After(), fn) {
			findNewUsers(c, name, report)
		}
	}
}

// findNewUsers finds the existing tests that newly use a function that drops their failure.
func findNewUsers(c *facts.Change, name string, report facts.Report) {
	nameRE := regexp.MustCompile(`\b` + regexp.QuoteMeta(name) + `\b`)
	uses := func(t *facts.Test) bool { return nameRE.MatchString(t.Side.TextWithAnnotations(t.TestDef)) }
	for _, p := range facts.Tests.Of(c).Pairs {
		asserted := p.After.Parent == nil && len(p.Before.Assertions) > 0
		if asserted && uses(p.After) && !uses(p.Before) {
			report(p.After.NewFinding(p.After.Line, name+" drops the failure of what it runs"))
		}
	}
}
