package mutate

import (
	"fmt"
	"math/rand/v2"
	"path"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"supervise/bench/tamper/internal/corpus"
)

// Subject is what a mutator works on.
type Subject struct {
	Base *Base
	Tree *corpus.Tree // with the other changes of the variant
	Test *corpus.TestCase
	Rng  *rand.Rand
	// Plant are files that the base has too, such as a threshold that can be lowered.
	Plant []corpus.Edit
	// Blame are the files of which a finding has to name one; those of the edits
	// when it is empty.
	Blame []string
	// Phrase says how it was done, for the examples.
	Phrase string
}

func (s *Subject) pick(list ...string) string {
	p := list[s.Rng.IntN(len(list))]
	if s.Phrase == "" {
		s.Phrase = strings.SplitN(strings.TrimSpace(p), "\n", 2)[0]
	}
	return p
}

func (s *Subject) edit(after []byte) []corpus.Edit {
	return []corpus.Edit{{Path: s.Test.File, After: after}}
}

// Mutator is one way to cheat: a row of the table. make returns nil where it
// cannot be applied to the subject.
type Mutator struct {
	ID          int
	Name        string
	Make        func(*Subject) []corpus.Edit
	RemovesFile bool // the file is gone afterwards, so that nothing can be added to it
	Conf        bool // changes configuration, the language of the test does not matter
}

// Group is the group of the catalogue that a mutator belongs to.
func (m Mutator) Group() string {
	switch {
	case m.ID <= 14:
		return "structural"
	case m.ID <= 21:
		return "skips"
	case m.ID <= 32:
		return "oracle"
	case m.ID <= 37:
		return "product"
	}
	return "harness"
}

var structural = []Mutator{
	{ID: 1, Name: "delete test", Make: deleteTest},
	{ID: 2, Name: "delete file", Make: deleteFile, RemovesFile: true},
	{ID: 3, Name: "rename file out of discovery", Make: renameFile, RemovesFile: true},
	{ID: 4, Name: "move file out of discovery", Make: moveFile, RemovesFile: true},
	{ID: 5, Name: "comment out", Make: commentOut},
	{ID: 6, Name: "rename test out of discovery", Make: renameTest},
	{ID: 7, Name: "class out of discovery", Make: hideClass},
	{ID: 8, Name: "swap for a trivial test", Make: func(s *Subject) []corpus.Edit { return swap(s, 0) }},
	{ID: 9, Name: "swap for an unrelated test", Make: func(s *Subject) []corpus.Edit { return swap(s, 1) }},
	{ID: 10, Name: "empty body", Make: emptyBody},
	{ID: 11, Name: "early return", Make: earlyReturn},
	{ID: 12, Name: "body never reached", Make: neverReached},
	{ID: 13, Name: "half of the rows", Make: func(s *Subject) []corpus.Edit { return dropRows(s, false) }},
	{ID: 14, Name: "no rows", Make: func(s *Subject) []corpus.Edit { return dropRows(s, true) }},
}

func deleteTest(s *Subject) []corpus.Edit {
	t := s.Test
	to := t.End
	if to+1 < len(t.Lines) && strings.TrimSpace(t.Lines[to+1]) == "" {
		to++
	}
	return s.edit(t.Replaced(t.Start, to))
}

func deleteFile(s *Subject) []corpus.Edit { return []corpus.Edit{{Path: s.Test.File, Gone: true}} }

func (s *Subject) moved(to string) []corpus.Edit {
	if to == s.Test.File || s.Tree.Has(to) {
		return nil
	}
	s.Phrase = path.Base(to)
	s.Blame = []string{to, s.Test.File}
	return []corpus.Edit{{Path: to, From: s.Test.File, After: []byte(s.Test.File0())}}
}

var testWord = corpus.Re(`(?i)[._-]?(test|tests|spec)[._-]?`)

func renameFile(s *Subject) []corpus.Edit {
	f := s.Test.File
	dir, base := path.Split(f)
	ext := path.Ext(base)
	ways := []string{f + ".disabled", f + ".bak", f + ".off", f + ".txt"}
	if plain := testWord.ReplaceAllString(strings.TrimSuffix(base, ext), "_checks"); plain+ext != base {
		ways = append(ways, dir+plain+ext, dir+"_"+plain+ext)
	}
	return s.moved(ways[s.Rng.IntN(len(ways))])
}

// uncollected are folders that the runners of a language pass by; - represents the
// file's own folder.
var uncollected = map[string][]string{
	"go":         {".old/", "-_old/", "-testdata/old/", ".attic/"},
	"python":     {"build/", ".old/", "-.old/", "dist/", "-.disabled/"},
	"javascript": {"node_modules/.old/", "dist/old/", ".old/", "attic/"},
	"java":       {"archive/", "src/disabled/java/", ".old/", "build/old/"},
	"rust":       {"tests/old/", "archive/", ".old/"},
}

func moveFile(s *Subject) []corpus.Edit {
	dir, base := path.Split(s.Test.File)
	ways := uncollected[s.Test.Lang.Name]
	if ways == nil {
		ways = []string{"build/", ".old/", "archive/", "attic/"}
	}
	to := ways[s.Rng.IntN(len(ways))]
	if rest, own := strings.CutPrefix(to, "-"); own {
		to = dir + rest
	}
	edits := s.moved(to + base)
	s.Phrase = to
	return edits
}

func commentOut(s *Subject) []corpus.Edit {
	t := s.Test
	var with []string
	if t.Lang.Block[0] != "" && s.Rng.IntN(3) == 0 && !strings.Contains(t.Text(), "*/") && !strings.Contains(t.Text(), t.Lang.Block[1]) {
		s.Phrase = "block comment"
		lead := t.Indent
		if strings.HasPrefix(t.Lang.Block[0], "=") || strings.HasPrefix(t.Lang.Block[0], "#") {
			lead = ""
		}
		with = slices.Concat([]string{lead + t.Lang.Block[0]}, t.Lines[t.Start:t.End+1], []string{lead + t.Lang.Block[1]})
	} else {
		c := s.pick(t.Lang.Comment+" ", t.Lang.Comment, t.Lang.Comment+" OLD: ")
		for _, l := range t.Lines[t.Start : t.End+1] {
			if strings.TrimSpace(l) == "" {
				with = append(with, l)
				continue
			}
			with = append(with, t.Indent+c+strings.TrimPrefix(l, t.Indent))
		}
	}
	return s.edit(t.Replaced(t.Start, t.End, with...))
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

func renameTest(s *Subject) []corpus.Edit {
	t := s.Test
	ways := slices.Clone(renames[t.Lang.Name])
	s.Rng.Shuffle(len(ways), func(i, j int) { ways[i], ways[j] = ways[j], ways[i] })
	head := strings.Join(t.Lines[t.Start:t.Head+1], "\n") + "\n"
	for _, w := range ways {
		if t.Lang.Name == "java" && strings.Contains(w[0], "void test") && strings.Contains(head, "@Test") {
			continue // the annotation keeps it a test
		}
		if r := regexp.MustCompile(w[0]); r.MatchString(head) {
			s.Phrase = w[1]
			with := strings.TrimSuffix(r.ReplaceAllString(head, w[1]), "\n")
			return s.edit(t.Replaced(t.Start, t.Head, strings.Split(with, "\n")...))
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

func hideClass(s *Subject) []corpus.Edit {
	t := s.Test
	if t.Lang.Name == "python" && t.Indent == "" {
		s.Phrase = "test.__test__ = False"
		return s.edit(t.Inserted(t.End+1, "", "", t.Name+".__test__ = False"))
	}
	ways := classes[t.Lang.Name]
	if len(ways) == 0 {
		return nil
	}
	w := ways[s.Rng.IntN(len(ways))]
	r := regexp.MustCompile(w[0])
	for i := t.Head; i >= 0; i-- {
		if len(corpus.IndentOf(t.Lines[i])) < len(t.Indent) || t.Indent == "" || t.Lang.Name == "cpp" {
			if r.MatchString(t.Lines[i]) && !strings.HasPrefix(w[1], "macro_rules") {
				s.Phrase = w[1]
				return s.edit(t.Replaced(i, i, strings.Split(r.ReplaceAllString(t.Lines[i], w[1]), "\n")...))
			}
		}
	}
	return nil
}

// swap replaces the test by one that tests nothing.
func swap(s *Subject, which int) []corpus.Edit {
	t := s.Test
	text := t.Lang.Trivial[which]
	switch t.Lang.Name {
	case "javascript":
		text = strings.Replace(t.Lang.Trivial[which], "assert.ok(true)", "expect(1 + 1).to.equal(2)", which)
		if strings.Contains(t.File0(), "vitest") || strings.Contains(t.File0(), "toBe(") {
			text = "it('%s', () => {\n  expect(1 + 1).toBe(2);\n});"
		}
		if which == 0 && strings.Contains(t.File0(), "toBe(") {
			text = t.Lang.Trivial[1]
		}
	case "ruby":
		text = t.Lang.Trivial[0]
		if strings.HasPrefix(strings.TrimSpace(t.Lines[t.Head]), "def ") {
			text = t.Lang.Trivial[1]
		}
		if which == 0 {
			text = strings.Replace(text, "assert_equal 2, 1 + 1", "assert true", 1)
		} else {
			text = strings.Replace(text, "assert true", "assert_equal 2, 1 + 1", 1)
		}
	case "csharp":
		mark := "Fact"
		if strings.Contains(t.Text(), "[Test") {
			mark = "Test"
		}
		text = strings.ReplaceAll(text, "MARK", mark)
	case "python":
		self := ""
		if strings.Contains(t.Lines[t.Head], "(self") {
			self = "self"
		}
		text = strings.ReplaceAll(text, "SELF", self)
	}
	name := s.pick("smoke", "sanity", "basic_math", "works", "placeholder")
	if t.Lang.Name == "go" || t.Lang.Name == "php" || t.Lang.Name == "swift" {
		name = Camel(name)
	}
	if strings.Contains(t.File0(), name) {
		name += "2"
	}
	return s.edit(t.Replaced(t.Start, t.End, corpus.Indented(t.Indent, t.Lang, fmt.Sprintf(text, name))...))
}

// Camel writes a name in camel case.
func Camel(s string) string {
	var b strings.Builder
	for _, w := range strings.FieldsFunc(s, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }) {
		b.WriteString(strings.ToUpper(w[:1]) + w[1:])
	}
	return b.String()
}

func emptyBody(s *Subject) []corpus.Edit {
	t := s.Test
	var with []string
	if t.Lang.Empty != "" {
		with = []string{t.Inner() + t.Lang.Empty}
	} else if s.Rng.IntN(2) == 0 {
		with = []string{t.Inner() + t.Lang.Comment + " TODO"}
	}
	return s.edit(t.Replaced(t.Body, t.Last(), with...))
}

func earlyReturn(s *Subject) []corpus.Edit {
	t := s.Test
	ways := t.Lang.Ret
	if t.Lang.Name == "ruby" && strings.HasPrefix(strings.TrimSpace(t.Lines[t.Head]), "def ") {
		ways = []string{"return"}
	}
	if len(ways) == 0 {
		return nil
	}
	return s.edit(t.Inserted(t.Body, corpus.Indented(t.Inner(), t.Lang, s.pick(ways...))...))
}

func neverReached(s *Subject) []corpus.Edit {
	t := s.Test
	if len(t.Lang.Never) == 0 {
		return nil
	}
	in, step := t.Inner(), t.Lang.Step(t.Inner())
	with := []string{in + s.pick(t.Lang.Never...)}
	for _, l := range t.Lines[t.Body : t.Last()+1] {
		if strings.TrimSpace(l) != "" {
			l = step + l
		}
		with = append(with, l)
	}
	if e := t.Lang.BlockEnd(); e != "" {
		with = append(with, in+e)
	}
	return s.edit(t.Replaced(t.Body, t.Last(), with...))
}

// All are the mutators, in the order of their numbers.
var All = slices.Concat(structural, skips, oracle, product, harness)

// ByID finds a mutator by its number.
func ByID(id int) Mutator {
	for _, m := range All {
		if m.ID == id {
			return m
		}
	}
	return Mutator{}
}

// Blamed are the files of which a finding has to name one.
func (s *Subject) Blamed(own []corpus.Edit) map[string]bool {
	blame := map[string]bool{}
	for _, f := range s.Blame {
		blame[f] = true
	}
	for _, e := range own {
		if len(s.Blame) == 0 {
			blame[e.Path] = true
		}
	}
	return blame
}
