package main

import (
	"fmt"
	"math/rand/v2"
	"path"
	"regexp"
	"slices"
	"strings"
	"unicode"
)

// subject is what a mutator works on.
type subject struct {
	base *base
	tree *tree // with the other changes of the variant
	test *testCase
	rng  *rand.Rand
	// plant are files that the base has too, such as a threshold that can be lowered.
	plant []edit
	// blame are the files of which a finding has to name one; those of the edits
	// when it is empty.
	blame []string
	// phrase says how it was done, for the examples.
	phrase string
}

func (s *subject) pick(list ...string) string {
	p := list[s.rng.IntN(len(list))]
	if s.phrase == "" {
		s.phrase = strings.SplitN(strings.TrimSpace(p), "\n", 2)[0]
	}
	return p
}

func (s *subject) edit(after []byte) []edit { return []edit{{path: s.test.file, after: after}} }

// mutator is one way to cheat: a row of the table. make returns nil where it
// cannot be applied to the subject.
type mutator struct {
	id    int
	name  string
	make  func(*subject) []edit
	whole bool // takes the whole file away, so that nothing can be added to it
	conf  bool // changes configuration, the language of the test does not matter
}

func (m mutator) group() string {
	switch {
	case m.id <= 14:
		return "structural"
	case m.id <= 21:
		return "skips"
	case m.id <= 32:
		return "oracle"
	case m.id <= 37:
		return "product"
	}
	return "harness"
}

var structural = []mutator{
	{id: 1, name: "delete test", make: deleteTest},
	{id: 2, name: "delete file", make: deleteFile, whole: true},
	{id: 3, name: "rename file out of discovery", make: renameFile, whole: true},
	{id: 4, name: "move file out of discovery", make: moveFile, whole: true},
	{id: 5, name: "comment out", make: commentOut},
	{id: 6, name: "rename test out of discovery", make: renameTest},
	{id: 7, name: "class out of discovery", make: hideClass},
	{id: 8, name: "swap for a trivial test", make: func(s *subject) []edit { return swap(s, 0) }},
	{id: 9, name: "swap for an unrelated test", make: func(s *subject) []edit { return swap(s, 1) }},
	{id: 10, name: "empty body", make: emptyBody},
	{id: 11, name: "early return", make: earlyReturn},
	{id: 12, name: "body never reached", make: neverReached},
	{id: 13, name: "half of the rows", make: func(s *subject) []edit { return dropRows(s, false) }},
	{id: 14, name: "no rows", make: func(s *subject) []edit { return dropRows(s, true) }},
}

func deleteTest(s *subject) []edit {
	t := s.test
	to := t.end
	if to+1 < len(t.lines) && strings.TrimSpace(t.lines[to+1]) == "" {
		to++
	}
	return s.edit(t.replaced(t.start, to))
}

func deleteFile(s *subject) []edit { return []edit{{path: s.test.file, gone: true}} }

func (s *subject) moved(to string) []edit {
	if to == s.test.file || s.tree.has(to) {
		return nil
	}
	s.phrase = path.Base(to)
	s.blame = []string{to, s.test.file}
	return []edit{{path: to, from: s.test.file, after: []byte(s.test.file0())}}
}

var testWord = re(`(?i)[._-]?(test|tests|spec)[._-]?`)

func renameFile(s *subject) []edit {
	f := s.test.file
	dir, base := path.Split(f)
	ext := path.Ext(base)
	ways := []string{f + ".disabled", f + ".bak", f + ".off", f + ".txt"}
	if plain := testWord.ReplaceAllString(strings.TrimSuffix(base, ext), "_checks"); plain+ext != base {
		ways = append(ways, dir+plain+ext, dir+"_"+plain+ext)
	}
	return s.moved(ways[s.rng.IntN(len(ways))])
}

// uncollected are folders that the runners of a language pass by; - stands for the
// file's own folder.
var uncollected = map[string][]string{
	"go":         {".old/", "-_old/", "-testdata/old/", ".attic/"},
	"python":     {"build/", ".old/", "-.old/", "dist/", "-.disabled/"},
	"javascript": {"node_modules/.old/", "dist/old/", ".old/", "attic/"},
	"java":       {"archive/", "src/disabled/java/", ".old/", "build/old/"},
	"rust":       {"tests/old/", "archive/", ".old/"},
}

func moveFile(s *subject) []edit {
	dir, base := path.Split(s.test.file)
	ways := uncollected[s.test.lang.name]
	if ways == nil {
		ways = []string{"build/", ".old/", "archive/", "attic/"}
	}
	to := ways[s.rng.IntN(len(ways))]
	if rest, own := strings.CutPrefix(to, "-"); own {
		to = dir + rest
	}
	edits := s.moved(to + base)
	s.phrase = to
	return edits
}

func commentOut(s *subject) []edit {
	t := s.test
	var with []string
	if t.lang.block[0] != "" && s.rng.IntN(3) == 0 && !strings.Contains(t.text(), "*/") && !strings.Contains(t.text(), t.lang.block[1]) {
		s.phrase = "block comment"
		lead := t.indent
		if strings.HasPrefix(t.lang.block[0], "=") || strings.HasPrefix(t.lang.block[0], "#") {
			lead = ""
		}
		with = slices.Concat([]string{lead + t.lang.block[0]}, t.lines[t.start:t.end+1], []string{lead + t.lang.block[1]})
	} else {
		c := s.pick(t.lang.comment+" ", t.lang.comment, t.lang.comment+" OLD: ")
		for _, l := range t.lines[t.start : t.end+1] {
			if strings.TrimSpace(l) == "" {
				with = append(with, l)
				continue
			}
			with = append(with, t.indent+c+strings.TrimPrefix(l, t.indent))
		}
	}
	return s.edit(t.replaced(t.start, t.end, with...))
}

// renames are ways to name a test so that its runner passes it by: what is
// replaced on the lines from its decorators to its head.
var renames = map[string][][2]string{
	"go":         {{`func Test`, `func disabledTest`}, {`func Test`, `func test`}, {`func (\([^)]*\) )?Test(\w*)\(t \*testing\.T\)`, `func ${1}check$2(t testing.TB)`}, {`func Test`, `func xTest`}},
	"python":     {{`def test`, `def _test`}, {`def test`, `def disabled_test`}, {`def test_?`, `def check_`}, {`def test`, `def xtest`}},
	"javascript": {{`(it|test|specify)\(`, `void (`}, {`(it|test|specify)\(`, `[].concat(`}, {`(it|test|specify)\(`, `Object(`}},
	"java":       {{`(?s)@(Test|ParameterizedTest)\b(\([^)]*\))?\s*`, ``}, {`(?s)@Test\b(\([^)]*\))?`, `// @Test`}, {`public void test`, `public void xtest`}},
	"kotlin":     {{`@Test\b\s*`, ``}, {`@Test\b`, `// @Test`}},
	"rust":       {{`#\[(\w+::)?test\]`, `#[allow(dead_code)]`}, {`#\[(\w+::)?test\]`, `// #[test]`}, {`#\[(\w+::)?test\]\s*`, ``}},
	"ruby":       {{`def test_`, `def disabled_test_`}, {`def test_`, `def _test_`}, {`(it|specify|test)( |\()("[^"]*"|'[^']*')\)?( do.*)`, `define_method(:disabled_check)$4`}, {`(it|specify|test)( |\()("[^"]*"|'[^']*')\)?( do.*)`, `DISABLED = proc$4`}},
	"php":        {{`function test`, `function xtest`}, {`function test`, `function disabledTest`}, {`public function test`, `private function test`}},
	"csharp":     {{`\[(Fact|Theory|Test|TestMethod)\b(\([^)]*\))?\]`, `// [$1]`}, {`(?m)^\s*\[(Fact|Theory|Test|TestMethod)\b(\([^)]*\))?\]\n`, ``}},
	"cpp":        {{`TEST(_F|_P)?\((\w+), *(\w+)\)`, `static void disabled_$3()`}, {`TEST_CASE\("[^"]*"[^)]*\)`, `static void disabled_case()`}},
	"swift":      {{`func test`, `func xtest`}, {`func test`, `func disabled_test`}, {`func test`, `private func _test`}},
	"elixir":     {{`test "[^"]*"(, [^d]*)? do`, `def disabled_check() do`}},
}

func renameTest(s *subject) []edit {
	t := s.test
	ways := slices.Clone(renames[t.lang.name])
	s.rng.Shuffle(len(ways), func(i, j int) { ways[i], ways[j] = ways[j], ways[i] })
	head := strings.Join(t.lines[t.start:t.head+1], "\n") + "\n"
	for _, w := range ways {
		if t.lang.name == "java" && strings.Contains(w[0], "void test") && strings.Contains(head, "@Test") {
			continue // the annotation keeps it a test
		}
		if r := regexp.MustCompile(w[0]); r.MatchString(head) {
			s.phrase = w[1]
			with := strings.TrimSuffix(r.ReplaceAllString(head, w[1]), "\n")
			return s.edit(t.replaced(t.start, t.head, strings.Split(with, "\n")...))
		}
	}
	return nil
}

// classes are ways to make a runner pass by a class, from its head's line.
var classes = map[string][][2]string{
	"python":     {{`^class Test(\w*)(\(.*)?:`, "class Base$1$2:"}, {`^class (Test\w*)(.*):`, "class $1$2:\n    __test__ = False\n"}, {`^class Test(\w*)(\(.*)?:`, "class Disabled$1$2:"}},
	"java":       {{`^public (final )?class (\w+)`, "public abstract class $2"}},
	"kotlin":     {{`^(internal )?(final )?class (\w+)`, "abstract class $3"}},
	"ruby":       {{`^(\s*)class (\w+) < (Minitest::Test|ActiveSupport::TestCase|Test::Unit::TestCase)`, "${1}class $2 < Object"}, {`^(describe|RSpec\.describe) (.*) do$`, "proc do # $2"}},
	"php":        {{`^(final )?class (\w+)`, "abstract class $2"}, {`^(final )?class (\w+)Test extends`, "class ${2}Check extends"}},
	"csharp":     {{`(?m)^\s*\[TestFixture\]\n(\s*)public class`, "${1}internal abstract class"}, {`^(\s*)public class (\w+)`, "${1}public abstract class $2"}},
	"swift":      {{`^(final )?class (\w+): XCTestCase`, "class $2: NSObject"}},
	"javascript": {{`^describe\((.*)$`, "void ($1"}},
	"cpp":        {{`^TEST\((\w+), (\w+)\)`, "static void ${1}_$2()"}},
	"rust":       {{`^(\s*)#\[cfg\(test\)\]`, "${1}#[cfg(disabled)]"}, {`^mod tests \{`, "macro_rules! tests_off { () => { mod tests {"}},
	"elixir":     {{`^  use ExUnit\.Case.*`, "  import ExUnit.Assertions"}},
}

func hideClass(s *subject) []edit {
	t := s.test
	if t.lang.name == "python" && t.indent == "" {
		s.phrase = "test.__test__ = False"
		return s.edit(t.inserted(t.end+1, "", "", t.name+".__test__ = False"))
	}
	ways := classes[t.lang.name]
	if len(ways) == 0 {
		return nil
	}
	w := ways[s.rng.IntN(len(ways))]
	r := regexp.MustCompile(w[0])
	for i := t.head; i >= 0; i-- {
		if len(indentOf(t.lines[i])) < len(t.indent) || t.indent == "" || t.lang.name == "cpp" {
			if r.MatchString(t.lines[i]) && !strings.HasPrefix(w[1], "macro_rules") {
				s.phrase = w[1]
				return s.edit(t.replaced(i, i, strings.Split(r.ReplaceAllString(t.lines[i], w[1]), "\n")...))
			}
		}
	}
	return nil
}

// swap replaces the test by one that tests nothing.
func swap(s *subject, which int) []edit {
	t := s.test
	text := t.lang.trivial[which]
	switch t.lang.name {
	case "javascript":
		text = strings.Replace(t.lang.trivial[which], "assert.ok(true)", "expect(1 + 1).to.equal(2)", which)
		if strings.Contains(t.file0(), "vitest") || strings.Contains(t.file0(), "toBe(") {
			text = "it('%s', () => {\n  expect(1 + 1).toBe(2);\n});"
		}
		if which == 0 && strings.Contains(t.file0(), "toBe(") {
			text = t.lang.trivial[1]
		}
	case "ruby":
		text = t.lang.trivial[0]
		if strings.HasPrefix(strings.TrimSpace(t.lines[t.head]), "def ") {
			text = t.lang.trivial[1]
		}
		if which == 0 {
			text = strings.Replace(text, "assert_equal 2, 1 + 1", "assert true", 1)
		} else {
			text = strings.Replace(text, "assert true", "assert_equal 2, 1 + 1", 1)
		}
	case "csharp":
		mark := "Fact"
		if strings.Contains(t.text(), "[Test") {
			mark = "Test"
		}
		text = strings.ReplaceAll(text, "MARK", mark)
	case "python":
		self := ""
		if strings.Contains(t.lines[t.head], "(self") {
			self = "self"
		}
		text = strings.ReplaceAll(text, "SELF", self)
	}
	name := s.pick("smoke", "sanity", "basic_math", "works", "placeholder")
	if t.lang.name == "go" || t.lang.name == "php" || t.lang.name == "swift" {
		name = camel(name)
	}
	if strings.Contains(t.file0(), name) {
		name += "2"
	}
	return s.edit(t.replaced(t.start, t.end, indented(t.indent, t.lang, fmt.Sprintf(text, name))...))
}

func camel(s string) string {
	var b strings.Builder
	for _, w := range strings.FieldsFunc(s, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }) {
		b.WriteString(strings.ToUpper(w[:1]) + w[1:])
	}
	return b.String()
}

func emptyBody(s *subject) []edit {
	t := s.test
	var with []string
	if t.lang.empty != "" {
		with = []string{t.inner() + t.lang.empty}
	} else if s.rng.IntN(2) == 0 {
		with = []string{t.inner() + t.lang.comment + " TODO"}
	}
	return s.edit(t.replaced(t.body, t.last(), with...))
}

func earlyReturn(s *subject) []edit {
	t := s.test
	ways := t.lang.ret
	if t.lang.name == "ruby" && strings.HasPrefix(strings.TrimSpace(t.lines[t.head]), "def ") {
		ways = []string{"return"}
	}
	if len(ways) == 0 {
		return nil
	}
	return s.edit(t.inserted(t.body, indented(t.inner(), t.lang, s.pick(ways...))...))
}

func neverReached(s *subject) []edit {
	t := s.test
	if len(t.lang.never) == 0 {
		return nil
	}
	in, step := t.inner(), t.lang.step(t.inner())
	with := []string{in + s.pick(t.lang.never...)}
	for _, l := range t.lines[t.body : t.last()+1] {
		if strings.TrimSpace(l) != "" {
			l = step + l
		}
		with = append(with, l)
	}
	if e := t.lang.blockEnd(); e != "" {
		with = append(with, in+e)
	}
	return s.edit(t.replaced(t.body, t.last(), with...))
}

var mutators = slices.Concat(structural, skips, oracle, product, harness)

func mutatorByID(id int) mutator {
	for _, m := range mutators {
		if m.id == id {
			return m
		}
	}
	return mutator{}
}

// blamed are the files of which a finding has to name one.
func (s *subject) blamed(own []edit) map[string]bool {
	blame := map[string]bool{}
	for _, f := range s.blame {
		blame[f] = true
	}
	for _, e := range own {
		if len(s.blame) == 0 {
			blame[e.path] = true
		}
	}
	return blame
}
