package assertions

import (
	"slices"
	"strings"

	"supervise/integrity/internal/facts"
	"supervise/internal/regexp"
	"supervise/metric"
	"supervise/source"
)

// changedHelper is a function of the tests that is there before and after.
type changedHelper struct {
	file          *facts.ChangedFile
	name          string
	before, after source.Function
}

// changedHelpers are the functions in the files of tests that were there before, and changed.
var changedHelpers = facts.Define(func(c *facts.Change) []changedHelper {
	var out []changedHelper
	for _, f := range c.Files {
		if f.Added || f.Deleted || !f.After().MayHoldTests() || len(f.AddedLines())+len(f.RemovedLines()) == 0 {
			continue
		}
		before := facts.HelperFunctions(f.Before())
		for _, now := range facts.HelperFunctions(f.After()) {
			i := slices.IndexFunc(before, func(fn source.Function) bool { return fn.Name == now.Name })
			if i >= 0 && len(facts.LastName(now.Name)) > 2 && f.Before().LinesWithoutComments(before[i].Line, before[i].End) != f.After().LinesWithoutComments(now.Line, now.End) {
				out = append(out, changedHelper{f, facts.LastName(now.Name), before[i], now})
			}
		}
	}
	return out
})

// failingLineRE matches the lines of a helper by which a test can fail.
var failingLineRE = regexp.MustCompile(certainAssertionRE.String() + `|\bassert\b|\b(?:tb?|s)\.(?:Error|Fatal|Fail)\w*\(|\bfail\w*\(|raise AssertionError|\bthrow\b|\bpanic[!(]|process\.exit|\bis_expected\b`)

func failingLines(s *facts.Side, fn source.Function) []string {
	var out []string
	for n := fn.Line + 1; n <= fn.End; n++ {
		if text := strings.TrimSpace(s.LinesWithoutComments(n, n)); failingLineRE.MatchString(s.LinesWithoutStrings(n, n)) {
			out = append(out, facts.RemoveSpace(text))
		}
	}
	return out
}

// findHollowHelpers finds helpers of tests that lost assertions.
func findHollowHelpers(c *facts.Change) []facts.Finding {
	var out []facts.Finding
	for _, h := range changedHelpers.Of(c) {
		before, after := failingLines(h.file.Before(), h.before), failingLines(h.file.After(), h.after)
		if len(after) >= len(before) {
			continue
		}
		test, used := findUser(c, h.name)
		removed := slices.DeleteFunc(slices.Clone(before), func(l string) bool {
			return slices.Contains(after, l) || strings.Contains(facts.AddedTestCode.Of(c), l) || !isRemovedLine(h.file, l)
		})
		if !used || len(removed) == 0 || len(removed) <= len(before)-len(removed)-len(after) || callsNewAssertion(h) || isSubjectShrunk(c, h, removed) {
			continue
		}
		f := facts.Finding{File: h.file.Path, Line: h.after.Line, Test: test, Evidence: facts.ShortenEvidence(h.name + ", gone: " + strings.Join(removed, " · "))}
		if len(after) > 0 {
			f.Severity = metric.Medium
		}
		out = append(out, f)
	}
	return out
}

// isRemovedLine reports whether a line is gone from a file, and did not only move.
func isRemovedLine(f *facts.ChangedFile, text string) bool {
	return slices.ContainsFunc(f.RemovedLines(), func(l facts.Line) bool { return strings.Contains(facts.RemoveSpace(l.Text), text) })
}

// callsNewAssertion reports whether a helper newly calls something that looks like an assertion.
func callsNewAssertion(h changedHelper) bool {
	before := h.file.Before().LinesWithoutStrings(h.before.Line+1, h.before.End)
	return slices.ContainsFunc(assertingCallRE.FindAllString(h.file.After().LinesWithoutStrings(h.after.Line+1, h.after.End), -1), func(call string) bool { return !strings.Contains(before, call) })
}

// isSubjectShrunk reports whether the product lost what the lost lines of a helper are about.
func isSubjectShrunk(c *facts.Change, h changedHelper, gone []string) bool {
	lost := facts.RemovedWords.Of(c)
	removed := facts.MatchingLines(h.file.RemovedLines(), failingLineRE)
	return len(lost) > 0 && len(gone) > 0 && !slices.ContainsFunc(removed, func(l facts.Line) bool {
		return !slices.ContainsFunc(facts.WordRE.FindAllString(l.Text, -1), func(w string) bool { return lost[w] })
	})
}

// findUser reports whether a function is used by tests, and by which, if that is one of the
// change. Of a file without tests, tests in another place use it.
func findUser(c *facts.Change, name string) (test string, used bool) {
	for _, p := range facts.Tests.Of(c).Pairs {
		if p.After.Parent == nil && (p.After.Tokens[name] > 0 || strings.Contains(p.After.Side.TextWithAnnotations(p.After.TestDef), "@"+name)) {
			return p.After.Name, true
		}
	}
	for _, f := range c.Files {
		for _, fn := range facts.HelperFunctions(f.After()) {
			if facts.LastName(fn.Name) == name && len(f.After().Inspection().Tests) == 0 {
				return "", true
			}
		}
	}
	return "", false
}

// broadHandlerREs matches, by language, what catches the failure of an assertion.
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
	// rethrowRE matches what makes a failure of what was caught.
	rethrowRE = regexp.MustCompile(`\b(?:raise|throw|reject|panic|resume_unwind|Fatal\w*|Error\w*|Fail\w*|fail\w*|assert\w*|expect|unwrap|is_err|return (?:e|err|error|exc)\b)`)
	// callbackCallRE matches what runs the code that a helper is given.
	callbackCallRE = regexp.MustCompile(`\byield\b|\*args|\bblock\.call\b|&block|\bcallback\(|\.run\(\)|\.call\(`)
	// parametersRE are the names between the parentheses of a head.
	parametersRE = regexp.MustCompile(`\(([^()]*)\)`)
)

// swallowsFailures reports whether a function runs code that it is given and drops its failure.
func swallowsFailures(s *facts.Side, fn source.Function) bool {
	re := broadHandlerREs[s.Language()]
	body := s.LinesWithoutStrings(fn.Line, fn.End)
	if re == nil {
		return false
	}
	at := re.FindStringIndex(body)
	if at == nil || rethrowRE.MatchString(body[at[1]:]) || s.Language() == source.Rust && rethrowRE.MatchString(body) {
		return false
	}
	if callbackCallRE.MatchString(body) {
		return true
	}
	m := parametersRE.FindStringSubmatch(body)
	return m != nil && slices.ContainsFunc(facts.WordRE.FindAllString(m[1], -1), func(p string) bool {
		return regexp.MustCompile(`[^.\w]` + regexp.QuoteMeta(p) + `\(`).MatchString(strings.Replace(body, m[0], "", 1))
	})
}

// findSwallowingHelpers finds tests that are newly run by a helper, a decorator or a
// context that drops their failure, and helpers that newly do.
func findSwallowingHelpers(c *facts.Change) []facts.Finding {
	var out []facts.Finding
	for _, h := range changedHelpers.Of(c) {
		if test, used := findUser(c, h.name); used && swallowsFailures(h.file.After(), h.after) && !swallowsFailures(h.file.Before(), h.before) {
			out = append(out, facts.Finding{File: h.file.Path, Line: h.after.Line, Test: test, Evidence: facts.ShortenEvidence(h.name + " drops the failure of what it runs")})
		}
	}
	for _, f := range c.Files {
		if !f.After().MayHoldTests() {
			continue
		}
		for _, fn := range facts.HelperFunctions(f.After()) {
			if name := facts.LastName(fn.Name); len(name) > 2 && swallowsFailures(f.After(), fn) {
				out = append(out, findNewUsers(c, name)...)
			}
		}
	}
	return out
}

// findNewUsers finds the existing tests that now use a function and did not before.
func findNewUsers(c *facts.Change, name string) []facts.Finding {
	var out []facts.Finding
	re := regexp.MustCompile(`\b` + regexp.QuoteMeta(name) + `\b`)
	for _, p := range facts.Tests.Of(c).Pairs {
		if p.After.Parent != nil || len(p.Before.Assertions) == 0 || !re.MatchString(p.After.Side.TextWithAnnotations(p.After.TestDef)) || re.MatchString(p.Before.Side.TextWithAnnotations(p.Before.TestDef)) {
			continue
		}
		out = append(out, p.After.NewFinding(p.After.Line, name+" drops the failure of what it runs"))
	}
	return out
}
