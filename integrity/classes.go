package integrity

import (
	"slices"
	"strings"

	"supervise/internal/regexp"
	"supervise/metric"
	"supervise/source"
)

// classRules are about classes and groups that the runner passes by although
// their tests still stand there.
var classRules = []rule{
	{"TP-03", "class_out_of_discovery", metric.High, findHiddenClasses},
	{"TP-03", "class_out_of_discovery", metric.High, findUnusedCases},
	{"TP-07", "group_never_run", metric.Critical, findBlankedGroups},
}

// classHead is the line that begins a class.
type classHead struct {
	line       int
	name, text string
	indent     int
}

var classLine = regexp.MustCompile(`^(\s*)((?:(?:public|private|protected|internal|final|abstract|open|sealed|static|data|inner|partial|readonly)\s+)*)class\s+(\w+)`)

// classes returns the heads of the classes of a file, in order.
func (s *side) classes() []classHead {
	var out []classHead
	for i, l := range lines(s.withoutStrings()) {
		if m := classLine.FindStringSubmatch(l.text); m != nil {
			out = append(out, classHead{line: i + 1, name: m[3], text: strings.TrimSpace(l.text), indent: len(m[1])})
		}
	}
	return out
}

// around returns the class that a line stands in, nil for none.
func (s *side) around(heads []classHead, n int) *classHead {
	text := s.lineAt(n)
	indent := len(text) - len(strings.TrimLeft(text, " \t"))
	for i := len(heads) - 1; i >= 0; i-- {
		if heads[i].line < n && heads[i].indent < indent {
			return &heads[i]
		}
	}
	return nil
}

// findHiddenClasses finds classes whose tests ran and that the runner does not
// look at any more, without another class that inherits the tests.
func findHiddenClasses(c *change) []Finding {
	heads := map[*side][]classHead{}
	of := func(s *side) []classHead {
		if _, read := heads[s]; !read {
			heads[s] = s.classes()
		}
		return heads[s]
	}
	type place struct {
		s    *side
		line int
	}
	seen := map[place]bool{}
	var out []Finding
	for _, p := range c.tests().pairs {
		if p.was.f != p.now.f {
			continue
		}
		now := p.now.s.around(of(p.now.s), p.now.Line)
		was := p.was.s.around(of(p.was.s), p.was.Line)
		if now == nil || was == nil || seen[place{p.now.s, now.line}] {
			continue
		}
		seen[place{p.now.s, now.line}] = true
		if !sameClass(was.name, now.name) || !hides(p.now.s.language(), was, now) || p.was.skipped() || c.inherited(now) {
			continue
		}
		out = append(out, Finding{
			File: p.now.s.path, Line: now.line, Test: p.now.Name,
			Evidence: evidence(was.text + " → " + now.text),
		})
	}
	return out
}

// sameClass reports whether a class may be another one under a new name.
func sameClass(was, now string) bool {
	if bare, ok := strings.CutPrefix(was, "Test"); ok && len(bare) > 2 && strings.Contains(now, bare) {
		return true
	}
	return was == now || len(was) > 3 && len(now) > 3 && (alike(was, now) || was[:4] == now[:4])
}

var (
	abstract   = regexp.MustCompile(`\babstract\b`)
	testParent = regexp.MustCompile(`(?:<|:|\(|\bextends\b).*(?:Test|Spec|Case)`)
)

// collected reports whether pytest takes a class for its name.
func (h *classHead) collected() bool { return strings.HasPrefix(h.name, "Test") }

// leftBehind reports whether a class has neither its name nor its parent for pytest any more.
func (h *classHead) leftBehind(was *classHead, lostParent bool) bool {
	return !h.collected() && (lostParent || was.collected() && !pythonParent.MatchString(h.text))
}

// pythonParent matches a class that inherits from another one, which may be a test case.
var pythonParent = regexp.MustCompile(`\(\s*(?:[A-Za-z_][\w.]*)`)

// hides reports whether the head of a class was one that the runner looks at, and
// is none now.
func hides(lang source.Language, was, now *classHead) bool {
	lostParent := testParent.MatchString(was.text) && !testParent.MatchString(now.text)
	madeAbstract := abstract.MatchString(now.text) && !abstract.MatchString(was.text)
	switch lang {
	case source.CSharp:
		return madeAbstract || strings.HasPrefix(was.text, "public ") && !strings.HasPrefix(now.text, "public ")
	case source.Java, source.Kotlin, source.Scala:
		return madeAbstract
	case source.PHP:
		return madeAbstract || lostParent ||
			strings.HasSuffix(was.name, "Test") && !strings.Contains(now.name, "Test")
	case source.Ruby, source.Swift:
		return lostParent
	case source.Python: // pytest takes Test* in any case, and what has a test case for parent
		return now.leftBehind(was, lostParent)
	default:
		return false
	}
}

// caseLines are by language the lines without which a file holds no tests for the
// runner, although it has their methods.
var caseLines = map[source.Language]*regexp.Regexp{
	source.Elixir: regexp.MustCompile(`^\s*use\s+[\w.]*Case\b`),
	source.CSharp: regexp.MustCompile(`^\s*\[(?:\w+,\s*)*(?:TestClass|TestFixture)\b`),
	source.Go:     regexp.MustCompile(`^\s*suite\.Run\(`),
}

// findUnusedCases finds files of tests that have lost what makes them such.
func findUnusedCases(c *change) []Finding {
	var out []Finding
	for _, f := range c.files {
		before, after := f.before(), f.after()
		re := caseLines[after.language()]
		if re == nil || !after.mayTest() || !before.there() || len(after.source().Tests) == 0 || after.language() == source.CSharp && !strings.Contains(string(after.text), "[TestMethod") {
			continue
		}
		was, now := matching(f.removedLines(), re), matching(f.addedLines(), re)
		if len(was) > len(now) && after.unused(re, was[0].text) {
			t := after.source().Tests[0]
			out = append(out, Finding{File: f.Path, Line: t.Line, Test: t.Name, Evidence: evidence("gone: " + was[0].text)})
		}
	}
	return out
}

// suiteType is the type that a line hands to a suite's runner.
var suiteType = regexp.MustCompile(`(?:new\(|&)(\w+)`)

// unused reports whether a file has no more of such lines, or in Go none for the
// suite that one was about, whose tests are still there.
func (s *side) unused(re *regexp.Regexp, gone string) bool {
	if s.language() != source.Go {
		return len(matching(s.lines(), re)) == 0
	}
	m := suiteType.FindStringSubmatch(gone)
	return m != nil && regexp.MustCompile(`func \(\w+ \*?`+m[1]+`\) Test`).Match(s.text) && !regexp.MustCompile(`suite\.Run\(.*\b`+m[1]+`\b`).Match(s.text)
}

// inherited reports whether a class of the tests, changed or not, builds on one.
func (c *change) inherited(head *classHead) bool {
	child := regexp.MustCompile(`\bclass\s+\w[^\n{]*(?:<|:|\(|,|\bextends\b)\s*(?:[\w.\\:]*[.\\:])?` + regexp.QuoteMeta(head.name) + `\b`)
	if slices.ContainsFunc(c.files, func(f *file) bool { return child.Match(f.after().text) }) {
		return true
	}
	found := false
	c.baseTests(func(s *side) bool {
		found = found || child.Match(s.text)
		return !found
	})
	return found
}

var (
	groupLine = regexp.MustCompile(`^\s*(?:RSpec\.)?(?:describe|context|suite|feature)\b`)
	// blankGroup matches what takes a block and does not run it: the name, if any,
	// under which it could be called.
	blankGroup = regexp.MustCompile(`^\s*(?:(?:const|let|var)\s+)?(?:(\w+)\s*=\s*)?(?:(?:proc|lambda|Proc\.new)\s*(?:do\b|\{)|->\s*(?:do\b|\{)|(?:async\s+)?(?:\(\)\s*=>|function\s*\(\))\s*\{\s*$)|^\s*function\s+(\w+)\(\)\s*\{\s*$`)
)

// findBlankedGroups finds groups of tests whose block is now a function that
// nobody calls.
func findBlankedGroups(c *change) []Finding {
	var out []Finding
	for _, f := range c.files {
		s := f.after()
		if lang := s.language(); !s.mayTest() || lang != source.Ruby && lang != source.JavaScript && lang != source.TypeScript {
			continue
		}
		if len(matching(f.removedLines(), groupLine)) <= len(matching(f.addedLines(), groupLine)) {
			continue
		}
		for _, l := range f.addedLines() {
			m := blankGroup.FindStringSubmatch(l.text)
			if m == nil || s.testBelow(l.n) == nil || s.named(m[1]+m[2]) > 1 {
				continue
			}
			out = append(out, Finding{File: s.path, Line: l.n, Test: s.testBelow(l.n).Name, Evidence: evidence(l.text)})
		}
	}
	return out
}

// named counts how often a name stands in the code, 0 for none.
func (s *side) named(name string) int {
	if name == "" {
		return 0
	}
	return len(regexp.MustCompile(`\b`+regexp.QuoteMeta(name)+`\b`).FindAll(s.withoutStrings(), -1))
}

// testBelow returns the first test that begins below a line and stands further in.
func (s *side) testBelow(n int) *source.TestDef {
	indent := func(n int) int { return len(s.lineAt(n)) - len(strings.TrimLeft(s.lineAt(n), " \t")) }
	for i := range s.source().Tests {
		if t := &s.source().Tests[i]; t.Line > n {
			if indent(t.Line) > indent(n) {
				return t
			}
			return nil
		}
	}
	return nil
}
