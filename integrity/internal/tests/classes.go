package tests

import (
	"slices"
	"strings"

	"supervise/integrity/internal/facts"
	"supervise/internal/regexp"
	"supervise/source"
)

// classHead is the line that begins a class.
type classHead struct {
	line       int    // from 1
	name, text string // the name of the class, and the line without indentation
	indent     int    // in bytes
}

// classLineRE matches the line that begins a class, as in "public final class CartTest". The groups
// are the indentation, the modifiers and the name.
var classLineRE = regexp.MustCompile(`^(\s*)((?:(?:public|private|protected|internal|final|abstract|open|sealed|static|data|inner|partial|readonly)\s+)*)class\s+(\w+)`)

// findClasses returns the heads of the classes of a file, in order.
func findClasses(s *facts.Side) []classHead {
	var out []classHead
	for i, l := range facts.SplitLines(s.WithoutStrings()) {
		if m := classLineRE.FindStringSubmatch(l.Text); m != nil {
			out = append(out, classHead{line: i + 1, name: m[3], text: strings.TrimSpace(l.Text), indent: len(m[1])})
		}
	}
	return out
}

// enclosingClass returns the innermost class that contains line n, judged by indentation; nil if
// there is none.
func enclosingClass(s *facts.Side, heads []classHead, n int) *classHead {
	for i, h := range slices.Backward(heads) {
		if h.line < n && h.indent < indentation(s.LineAt(n)) {
			return &heads[i]
		}
	}
	return nil
}

// findHiddenClasses finds test classes that the runner no longer collects, unless another class
// inherits their tests.
func findHiddenClasses(c *facts.Change, report facts.Report) {
	heads := map[*facts.Side][]classHead{}
	of := func(s *facts.Side) []classHead {
		if _, read := heads[s]; !read {
			heads[s] = findClasses(s)
		}
		return heads[s]
	}
	type place struct {
		s    *facts.Side
		line int
	}

	seen := map[place]bool{}
	for _, p := range facts.Tests.Of(c).Pairs {
		if p.Before.File != p.After.File {
			continue
		}

		after := enclosingClass(p.After.Side, of(p.After.Side), p.After.Line)
		before := enclosingClass(p.Before.Side, of(p.Before.Side), p.Before.Line)
		if after == nil || before == nil || seen[place{p.After.Side, after.line}] {
			continue
		}
		seen[place{p.After.Side, after.line}] = true
		if !maybeSameClass(before.name, after.name) || !isHidden(p.After.Side.Language(), before, after) || p.Before.NeverRuns() || isInherited(c, after) {
			continue
		}
		report(p.After.NewFinding(after.line, before.text+" → "+after.text))
	}
}

// maybeSameClass reports whether a class may be the same as another one, going by their names.
func maybeSameClass(before, after string) bool {
	if bare, ok := strings.CutPrefix(before, "Test"); ok && len(bare) > 2 && strings.Contains(after, bare) {
		return true
	}
	return before == after || len(before) > 3 && len(after) > 3 && (facts.AreSimilarNames(before, after) || before[:4] == after[:4])
}

// abstractRE matches the modifier of a class that cannot be instantiated, and testParentRE the
// parent of a test class, as in "(unittest.TestCase".
var (
	abstractRE   = regexp.MustCompile(`\babstract\b`)
	testParentRE = regexp.MustCompile(`(?:<|:|\(|\bextends\b).*(?:Test|Spec|Case)`)
)

// hasTestName reports whether pytest collects a class because of its name.
func (h *classHead) hasTestName() bool { return strings.HasPrefix(h.name, "Test") }

// isNoLongerCollected reports whether a class of Python lost both the name and the parent for which
// pytest collected it.
func (h *classHead) isNoLongerCollected(before *classHead, lostParent bool) bool {
	return !h.hasTestName() && (lostParent || before.hasTestName() && !pythonParentRE.MatchString(h.text))
}

// pythonParentRE matches the parent of a class, which may be a test case.
var pythonParentRE = regexp.MustCompile(`\(\s*(?:[A-Za-z_][\w.]*)`)

// isHidden reports whether the head of a class lost that for which the runner of its language
// collected the class.
func isHidden(lang source.Language, before, after *classHead) bool {
	lostParent := testParentRE.MatchString(before.text) && !testParentRE.MatchString(after.text)
	madeAbstract := abstractRE.MatchString(after.text) && !abstractRE.MatchString(before.text)
	switch lang {
	case source.CSharp:
		return madeAbstract || strings.HasPrefix(before.text, "public ") && !strings.HasPrefix(after.text, "public ")
	case source.Java, source.Kotlin, source.Scala:
		return madeAbstract
	case source.PHP:
		return madeAbstract || lostParent ||
			strings.HasSuffix(before.name, "Test") && !strings.Contains(after.name, "Test")
	case source.Ruby, source.Swift:
		return lostParent
	case source.Python: // pytest takes Test* in any case, and what has a test case for parent
		return after.isNoLongerCollected(before, lostParent)
	default:
		return false
	}
}

// caseLineREs match, by language, the lines without which the runner finds no tests in a file,
// although the file has their methods: "use ExUnit.Case" of Elixir.
var caseLineREs = map[source.Language]*regexp.Regexp{
	source.Elixir: regexp.MustCompile(`^\s*use\s+[\w.]*Case\b`),
	source.CSharp: regexp.MustCompile(`^\s*\[(?:\w+,\s*)*(?:TestClass|TestFixture)\b`),
	source.Go:     regexp.MustCompile(`^\s*suite\.Run\(`),
}

// findUnusedCases finds test files that lost the lines for which the runner reads them.
func findUnusedCases(f *facts.ChangedFile, report facts.Report) {
	before, after := f.Before(), f.After()
	re := caseLineREs[after.Language()]
	if re == nil || !after.MayHoldTests() || !before.Exists() || len(after.Inspection().Tests) == 0 || after.Language() == source.CSharp && !strings.Contains(string(after.Text), "[TestMethod") {
		return
	}
	was, now := facts.MatchingLines(f.RemovedLines(), re), facts.MatchingLines(f.AddedLines(), re)
	if len(was) > len(now) && isCaseUnused(after, re, was[0].Text) {
		t := after.Inspection().Tests[0]
		report(facts.Finding{File: f.Path, Line: t.Line, Test: t.Name, Evidence: facts.ShortenEvidence("gone: " + was[0].Text)})
	}
}

// suiteTypeRE matches the type that a line passes to the runner of a suite: new(CartSuite) and
// &CartSuite.
var suiteTypeRE = regexp.MustCompile(`(?:new\(|&)(\w+)`)

// isCaseUnused reports whether no line of a file makes the runner read it any more. In Go, it
// reports whether no line runs the suite of the removed line, whose tests still exist.
func isCaseUnused(s *facts.Side, re *regexp.Regexp, removed string) bool {
	if s.Language() != source.Go {
		return len(facts.MatchingLines(s.Lines(), re)) == 0
	}
	m := suiteTypeRE.FindStringSubmatch(removed)
	return m != nil && regexp.MustCompile(`func \(\w+ \*?`+m[1]+`\) Test`).Match(s.Text) && !regexp.MustCompile(`suite\.Run\(.*\b`+m[1]+`\b`).Match(s.Text)
}

// isInherited reports whether a class of a test file, changed or not, extends a class.
func isInherited(c *facts.Change, head *classHead) bool {
	child := regexp.MustCompile(`\bclass\s+\w[^\n{]*(?:<|:|\(|,|\bextends\b)\s*(?:[\w.\\:]*[.\\:])?` + regexp.QuoteMeta(head.name) + `\b`)
	if slices.ContainsFunc(c.Files, func(f *facts.ChangedFile) bool { return child.Match(f.After().Text) }) {
		return true
	}
	found := false
	c.BaseTests(func(s *facts.Side) bool {
		found = found || child.Match(s.Text)
		return !found
	})
	return found
}

// groupLineRE matches a line that begins a group of tests, as in "describe Cart do".
var (
	groupLineRE = regexp.MustCompile(`^\s*(?:[A-Z]\w*\.)?(?:describe|context|suite|feature)\b`)
	// uncalledBlockRE matches what takes a block and does not run it, as in "x = lambda do". The
	// groups are the name, if any, by which the block could be called.
	uncalledBlockRE = regexp.MustCompile(`^\s*(?:(?:const|let|var)\s+)?(?:(\w+)\s*=\s*)?(?:(?:proc|lambda|Proc\.new)\s*(?:do\b|\{)|->\s*(?:do\b|\{)|(?:async\s+)?(?:\(\)\s*=>|function\s*\(\))\s*\{\s*$)|^\s*function\s+(\w+)\(\)\s*\{\s*$`)
)

// findUncalledGroups finds groups of tests whose block became a function that is never called.
func findUncalledGroups(f *facts.ChangedFile, report facts.Report) {
	s := f.After()
	hasGroups := s.Language() == source.Ruby || s.IsScript()
	if !hasGroups || !s.MayHoldTests() || len(facts.MatchingLines(f.RemovedLines(), groupLineRE)) <= len(facts.MatchingLines(f.AddedLines(), groupLineRE)) {
		return
	}
	for _, l := range f.AddedLines() {
		m := uncalledBlockRE.FindStringSubmatch(l.Text)
		if m == nil || countName(s, m[1]+m[2]) > 1 {
			continue
		}
		if t := testBelow(s, l.Number); t != nil {
			finding := f.NewFinding(l.Number, l.Text)
			finding.Test = t.Name
			report(finding)
			return
		}
	}
}

// countName counts how often a name occurs in the code, 0 for none.
func countName(s *facts.Side, name string) int {
	if name == "" {
		return 0
	}
	return len(regexp.MustCompile(`\b`+regexp.QuoteMeta(name)+`\b`).FindAll(s.WithoutStrings(), -1))
}

// testBelow returns the first test below line n if it is indented further than that line, otherwise
// nil.
func testBelow(s *facts.Side, n int) *source.TestDef {
	tests := s.Inspection().Tests
	i := slices.IndexFunc(tests, func(t source.TestDef) bool { return t.Line > n })
	if i < 0 || indentation(s.LineAt(tests[i].Line)) <= indentation(s.LineAt(n)) {
		return nil
	}
	return &tests[i]
}

// indentation returns how many blanks and tabs a line begins with.
func indentation(line string) int { return len(line) - len(strings.TrimLeft(line, " \t")) }
