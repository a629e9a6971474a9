package assertions

import (
	"slices"
	"strings"

	"supervise/integrity/internal/facts"
	"supervise/internal/regexp"
	"supervise/metric"
	"supervise/source"
)

// helper is a function of the tests that is there before and after.
type helper struct {
	file     *facts.ChangedFile
	name     string
	was, now source.Function
}

// helpers are the functions in the files of tests that were there before, and changed.
var helpers = facts.Define(func(c *facts.Set) []helper {
	var out []helper
	for _, f := range c.Files {
		if f.Added || f.Deleted || !f.After().MayTest() || len(f.AddedLines())+len(f.RemovedLines()) == 0 {
			continue
		}
		before := facts.Helpers(f.Before())
		for _, now := range facts.Helpers(f.After()) {
			i := slices.IndexFunc(before, func(fn source.Function) bool { return fn.Name == now.Name })
			if i >= 0 && len(facts.LastName(now.Name)) > 2 && f.Before().PlainRange(before[i].Line, before[i].End) != f.After().PlainRange(now.Line, now.End) {
				out = append(out, helper{f, facts.LastName(now.Name), before[i], now})
			}
		}
	}
	return out
})

// failing matches the lines of a helper by which a test can fail.
var failing = regexp.MustCompile(surelyAsserts.String() + `|\bassert\b|\b(?:tb?|s)\.(?:Error|Fatal|Fail)\w*\(|\bfail\w*\(|raise AssertionError|\bthrow\b|\bpanic[!(]|process\.exit|\bis_expected\b`)

func failingLines(s *facts.Side, fn source.Function) []string {
	var out []string
	for n := fn.Line + 1; n <= fn.End; n++ {
		if text := strings.TrimSpace(s.PlainRange(n, n)); failing.MatchString(s.MaskedRange(n, n)) {
			out = append(out, facts.Squash(text))
		}
	}
	return out
}

// findHollowHelpers finds helpers of tests that lost assertions.
func findHollowHelpers(c *facts.Set) []facts.Finding {
	var out []facts.Finding
	for _, h := range helpers.Of(c) {
		was, now := failingLines(h.file.Before(), h.was), failingLines(h.file.After(), h.now)
		if len(now) >= len(was) {
			continue
		}
		test, used := usedBy(c, h.name)
		gone := slices.DeleteFunc(slices.Clone(was), func(l string) bool {
			return slices.Contains(now, l) || strings.Contains(facts.AddedTestCode.Of(c), l) || !removedLine(h.file, l)
		})
		if !used || len(gone) == 0 || len(gone) <= len(was)-len(gone)-len(now) || takenOver(h) || shrankToo(c, h, gone) {
			continue
		}
		f := facts.Finding{File: h.file.Path, Line: h.now.Line, Test: test, Evidence: facts.Evidence(h.name + ", gone: " + strings.Join(gone, " · "))}
		if len(now) > 0 {
			f.Severity = metric.Medium
		}
		out = append(out, f)
	}
	return out
}

// removedLine reports whether a line is gone from a file, and did not only move.
func removedLine(f *facts.ChangedFile, text string) bool {
	return slices.ContainsFunc(f.RemovedLines(), func(l facts.Line) bool { return strings.Contains(facts.Squash(l.Text), text) })
}

// takenOver reports whether a helper newly calls something that looks like an assertion.
func takenOver(h helper) bool {
	before := h.file.Before().MaskedRange(h.was.Line+1, h.was.End)
	return slices.ContainsFunc(assertingCall.FindAllString(h.file.After().MaskedRange(h.now.Line+1, h.now.End), -1), func(call string) bool { return !strings.Contains(before, call) })
}

// shrankToo reports whether the product lost what the lost lines of a helper are about.
func shrankToo(c *facts.Set, h helper, gone []string) bool {
	lost := facts.RemovedWords.Of(c)
	removed := facts.Matching(h.file.RemovedLines(), failing)
	return len(lost) > 0 && len(gone) > 0 && !slices.ContainsFunc(removed, func(l facts.Line) bool {
		return !slices.ContainsFunc(facts.Word.FindAllString(l.Text, -1), func(w string) bool { return lost[w] })
	})
}

// usedBy reports whether a function is used by tests, and by which, if that is one of the
// change. Of a file without tests, tests in another place use it.
func usedBy(c *facts.Set, name string) (test string, used bool) {
	for _, p := range facts.Tests.Of(c).Pairs {
		if p.Now.Parent == nil && (p.Now.Tokens[name] > 0 || strings.Contains(p.Now.Side.FullText(p.Now.TestDef), "@"+name)) {
			return p.Now.Name, true
		}
	}
	for _, f := range c.Files {
		for _, fn := range facts.Helpers(f.After()) {
			if facts.LastName(fn.Name) == name && len(f.After().Source().Tests) == 0 {
				return "", true
			}
		}
	}
	return "", false
}

// broadHandler matches, by language, what catches the failure of an assertion.
var broadHandler = map[source.Language]*regexp.Regexp{
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
	// failsAgain matches what makes a failure of what was caught.
	failsAgain = regexp.MustCompile(`\b(?:raise|throw|reject|panic|resume_unwind|Fatal\w*|Error\w*|Fail\w*|fail\w*|assert\w*|expect|unwrap|is_err|return (?:e|err|error|exc)\b)`)
	// runsGiven matches what runs the code that a helper is given.
	runsGiven = regexp.MustCompile(`\byield\b|\*args|\bblock\.call\b|&block|\bcallback\(|\.run\(\)|\.call\(`)
	// parameters are the names between the parentheses of a head.
	parameters = regexp.MustCompile(`\(([^()]*)\)`)
)

// swallows reports whether a function runs code that it is given and drops its failure.
func swallows(s *facts.Side, fn source.Function) bool {
	re := broadHandler[s.Language()]
	body := s.MaskedRange(fn.Line, fn.End)
	if re == nil {
		return false
	}
	at := re.FindStringIndex(body)
	if at == nil || failsAgain.MatchString(body[at[1]:]) || s.Language() == source.Rust && failsAgain.MatchString(body) {
		return false
	}
	if runsGiven.MatchString(body) {
		return true
	}
	m := parameters.FindStringSubmatch(body)
	return m != nil && slices.ContainsFunc(facts.Word.FindAllString(m[1], -1), func(p string) bool {
		return regexp.MustCompile(`[^.\w]` + regexp.QuoteMeta(p) + `\(`).MatchString(strings.Replace(body, m[0], "", 1))
	})
}

// findSwallowingHelpers finds tests that are newly run by a helper, a decorator or a
// context that drops their failure, and helpers that newly do.
func findSwallowingHelpers(c *facts.Set) []facts.Finding {
	var out []facts.Finding
	for _, h := range helpers.Of(c) {
		if test, used := usedBy(c, h.name); used && swallows(h.file.After(), h.now) && !swallows(h.file.Before(), h.was) {
			out = append(out, facts.Finding{File: h.file.Path, Line: h.now.Line, Test: test, Evidence: facts.Evidence(h.name + " drops the failure of what it runs")})
		}
	}
	for _, f := range c.Files {
		if !f.After().MayTest() {
			continue
		}
		for _, fn := range facts.Helpers(f.After()) {
			if name := facts.LastName(fn.Name); len(name) > 2 && swallows(f.After(), fn) {
				out = append(out, newlyRunBy(c, name)...)
			}
		}
	}
	return out
}

// newlyRunBy finds the existing tests that now use a function and did not before.
func newlyRunBy(c *facts.Set, name string) []facts.Finding {
	var out []facts.Finding
	re := regexp.MustCompile(`\b` + regexp.QuoteMeta(name) + `\b`)
	for _, p := range facts.Tests.Of(c).Pairs {
		if p.Now.Parent != nil || len(p.Was.Assertions) == 0 || !re.MatchString(p.Now.Side.FullText(p.Now.TestDef)) || re.MatchString(p.Was.Side.FullText(p.Was.TestDef)) {
			continue
		}
		out = append(out, facts.Finding{File: p.Now.Side.Path, Line: p.Now.Line, Test: p.Now.Name, Evidence: facts.Evidence(name + " drops the failure of what it runs")})
	}
	return out
}
