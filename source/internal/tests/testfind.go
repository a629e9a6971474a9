package tests

import (
	"bytes"
	"slices"
	"strings"

	"supervise/source/internal/function"
	"supervise/source/internal/language"
	"supervise/source/internal/lex"
)

// Shape says how tests look in a language.
type Shape struct {
	prefixes []string        // beginnings of the names of test functions
	marks    map[string]bool // annotations or attributes that make a function a test
	doc      string          // a mark in a comment that does the same
	anywhere bool            // marked functions are tests in any file
	calls    map[string]bool // calls with a title and a body that are tests
	Groups   map[string]bool // calls with a title whose tests are named after it
	Classes  map[string]bool // words that begin what methods are in
	macros   map[string]bool // macros whose arguments name a test

	untitled map[string]bool // those of the calls that need no title: it { is_expected.to be_valid }

	method func(title string) string // the name a runner makes of a title, nil for the title itself
}

var (
	junitMarks  = lex.WordSet(`Test ParameterizedTest RepeatedTest TestFactory TestTemplate Property Theory`)
	rustMarks   = lex.WordSet(`test rstest test_case quickcheck wasm_bindgen_test`)
	csharpMarks = lex.WordSet(`Fact Theory SkippableFact Test TestCase TestCaseSource TestMethod DataTestMethod`)
	jvmClasses  = lex.WordSet(`class interface record enum object`)
	// RubyGroups are the calls that open a group of tests in Ruby.
	RubyGroups = lex.WordSet(`describe context feature example_group shared_examples`)
	// nativeMacros are those of GoogleTest, Catch2, doctest and Boost.Test.
	nativeMacros = lex.WordSet(`TEST TEST_F TEST_P TYPED_TEST TYPED_TEST_P TEST_CASE TEST_CASE_METHOD TEST_CASE_FIXTURE TEMPLATE_TEST_CASE SCENARIO
		BOOST_AUTO_TEST_CASE BOOST_FIXTURE_TEST_CASE BOOST_DATA_TEST_CASE BOOST_AUTO_TEST_CASE_TEMPLATE`)
	// ScriptShape is that of JavaScript and TypeScript.
	ScriptShape = Shape{
		calls:  lex.WordSet(`it test specify fit xit xtest`),
		Groups: lex.WordSet(`describe context suite fdescribe xdescribe`),
	}
)

// Shapes are the forms that tests have, by language.
var Shapes = [language.Count]Shape{
	language.Python:     {prefixes: []string{"test"}, Classes: lex.WordSet(`class`)},
	language.JavaScript: ScriptShape,
	language.TypeScript: ScriptShape,
	language.Java:       {prefixes: []string{"test"}, marks: junitMarks, Classes: jvmClasses},
	language.Kotlin: {
		prefixes: []string{"test"}, marks: junitMarks, Classes: jvmClasses,
		calls: lex.WordSet(`test it should`), Groups: lex.WordSet(`describe context`),
	},
	language.Rust: {marks: rustMarks, anywhere: true, Classes: lex.WordSet(`mod`)},
	language.Ruby: {
		prefixes: []string{"test_"}, Classes: lex.WordSet(`class module`), Groups: RubyGroups,
		calls: lex.WordSet(`it its specify test scenario example should fit xit xspecify xexample xscenario skip pending`), method: railsName,
		untitled: lex.WordSet(`it its specify example`),
	},
	language.PHP: {
		prefixes: []string{"test"}, marks: lex.WordSet(`Test`), doc: "@test", Classes: lex.WordSet(`class trait`),
		calls: lex.WordSet(`it test`), Groups: lex.WordSet(`describe`),
	},
	language.CSharp: {marks: csharpMarks, Classes: lex.WordSet(`class record struct`)},
	language.Swift: {
		prefixes: []string{"test"}, marks: lex.WordSet(`Test`), Classes: lex.WordSet(`class struct extension`),
		calls: lex.WordSet(`it`), Groups: lex.WordSet(`describe context`),
	},
	language.C:      {prefixes: []string{"test_"}, macros: nativeMacros},
	language.CPP:    {prefixes: []string{"test_"}, macros: nativeMacros},
	language.Elixir: {calls: lex.WordSet(`test property`), Groups: lex.WordSet(`describe`)},
}

// scope is a class, module or group that tests are in, in terms of tokens.
type scope struct {
	name      string
	body, end int    // first and last token
	hidden    bool   // the methods that follow are private
	base      string // the class that a class extends, "" for none
}

// testFinder finds the tests of one file.
type testFinder struct {
	*lex.Tokens
	*Shape
	kinds  []lex.Kind
	plain  []byte // the source without its comments
	inTest bool   // the file is one of tests
	open   []scope
	past   int // last token of what was read completely: the function or test before
	found  []TestDef
}

// FindTests returns the tests of a file of another language than Go.
func FindTests(path string, r *lex.Reading) []TestDef {
	t := r.Tokens()
	f := &testFinder{Tokens: t, Shape: &Shapes[t.Lang], kinds: r.Kinds, inTest: language.IsTestFile(path, t.Lang), past: -1}
	if !f.anywhere && (!f.inTest || len(f.prefixes)+len(f.marks)+len(f.calls)+len(f.macros) == 0) {
		return nil
	}
	f.plain = r.Plain()
	list := function.FindSpans(t)
	heads := make(map[int]lex.Span, len(list))
	for _, s := range list {
		heads[s.Head] = s
	}
	for i := range t.List {
		for len(f.open) > 0 && f.open[len(f.open)-1].end < i {
			f.open = f.open[:len(f.open)-1]
		}
		if !t.List[i].Word || i <= f.past {
			continue
		}
		f.visibility(i)
		if f.macros[f.Text(i)] && f.Is(i+1, "(") {
			f.nativeMacro(i)
		} else if s, ok := heads[i]; ok {
			f.function(s)
		} else if !f.class(i) {
			f.call(i)
		}
	}
	return f.found
}

// function adds a function that is a test. What is within a function is
// none, whatever its name.
func (f *testFinder) function(s lex.Span) {
	if f.calls[s.Name] || f.Groups[s.Name] { // it("title", …) { reads like one
		f.call(s.Head)
		return
	}
	isTest := (f.inTest && hasPrefixOf(s.Name, f.prefixes) && f.byName() || f.marked(s.Head)) && !f.private(s.Head)
	if isTest {
		f.add(s.Name, s.Head, scope{body: s.Body, end: s.End})
	}
	if isTest || len(f.calls) == 0 { // else the function may define tests
		f.past = s.End
	}
}

// byName reports whether the name of a method alone makes it a test. In Java that
// is so in the classes of JUnit 3, which extend one of JUnit, and of TestNG. Where
// later versions of JUnit are imported, only a TestCase is taken for the former.
func (f *testFinder) byName() bool {
	n := len(f.open)
	switch {
	case f.Lang != language.Java || n == 0 || bytes.Contains(f.Src, []byte("org.testng")):
		return true
	case bytes.Contains(f.Src, []byte("org.junit.jupiter")) || bytes.Contains(f.Src, []byte("org.junit.Test")):
		return strings.HasSuffix(f.open[n-1].base, "TestCase")
	}
	return f.open[n-1].base != ""
}

// baseAt returns the last part of the name of a class, which begins at token i.
func (f *testFinder) baseAt(i int) string {
	for f.Is(i+1, ".") {
		i += 2
	}
	return f.Text(i)
}

// private reports whether the function at token head is one that runners do not
// look at where they look at methods that all may call.
func (f *testFinder) private(head int) bool {
	switch f.Lang {
	case language.PHP, language.Swift:
		for j := head; j >= 0 && j > head-6 && f.IsWord(j); j-- {
			switch f.Text(j) {
			case "private", "fileprivate":
				return true
			case "protected":
				return f.Lang == language.PHP
			}
		}
	case language.Ruby:
		n := len(f.open)
		return n > 0 && f.open[n-1].hidden || f.privateDef(head)
	default:
	}
	return false
}

// privateDef reports whether the word before a definition of Ruby makes it private.
func (f *testFinder) privateDef(head int) bool {
	if f.Is(head-1, "def") {
		head--
	}
	return head > 0 && f.Is(head-1, "private") && !f.StartsLine(head)
}

// visibility follows the words of Ruby that occur alone and say whether the methods
// after them may be called by all.
func (f *testFinder) visibility(i int) {
	n := len(f.open)
	if f.Lang != language.Ruby || n == 0 || i+1 >= len(f.List) || !f.StartsLine(i) || !f.StartsLine(i+1) {
		return
	}
	switch f.Text(i) {
	case "private", "protected":
		f.open[n-1].hidden = true
	case "public":
		f.open[n-1].hidden = false
	}
}

func hasPrefixOf(name string, prefixes []string) bool {
	return slices.ContainsFunc(prefixes, func(p string) bool { return strings.HasPrefix(name, p) })
}

// MaxMarks is how many tokens before a function are looked at for its
// annotations.
const MaxMarks = 80

// marked reports whether an annotation, an attribute or a comment directly
// before a function makes it a test.
func (f *testFinder) marked(head int) bool {
	if len(f.marks) == 0 {
		return false
	}
	i := head - 1
	for n := 0; i >= 0 && n < MaxMarks; i, n = i-1, n+1 { // rows in parentheses count once
		switch f.Text(i) {
		case ";", "{", "}":
			return f.documented(i, head)
		case ")":
			if m := f.List[i].Mate; m >= 0 {
				i = m
			}
		default:
			if f.List[i].Word && f.marks[f.Text(i)] && attributed(f.Text(i-1)) {
				return true
			}
		}
	}
	return f.documented(i, head)
}

// attributed reports whether a word after the token is the name of an
// annotation or attribute.
func attributed(before string) bool {
	switch before {
	case "@", "[", ",", ".", "::", ":":
		return true
	}
	return false
}

// documented looks for the mark in the comments between two tokens.
func (f *testFinder) documented(from, to int) bool {
	if f.doc == "" || from < 0 {
		return false
	}
	start := f.List[from].End
	at := bytes.Index(f.Src[start:f.List[to].Pos], []byte(f.doc))
	return at >= 0 && f.kinds[start+at] == lex.Comment
}

// class opens the class or module that token i begins, if it does.
func (f *testFinder) class(i int) bool {
	if !f.Classes[f.Text(i)] || !f.IsWord(i+1) || !f.startsDeclaration(i) {
		return false
	}
	c := scope{name: f.Text(i + 1)}
	if s := &function.Shapes[f.Lang]; s.Indented {
		b, ok := s.Block(f.Tokens, lex.Span{Head: i}, f.headLine(i))
		c.body, c.end = b.Body, b.End
		return ok && f.enter(c)
	}
	for j := i + 2; j < len(f.List) && j < i+MaxMarks; j = f.Skip(j) {
		switch f.Text(j) {
		case "extends":
			c.base = f.baseAt(j + 1)
		case "{":
			c.body, c.end = j, f.List[j].Mate
			return c.end > j && f.enter(c)
		case ";", "}":
			return false
		}
	}
	return false
}

// startsDeclaration keeps X.class and X::class from being read as a class.
func (f *testFinder) startsDeclaration(i int) bool {
	return !f.Is(i-1, ".") && !f.Is(i-1, "::") && !f.Is(i-1, ":")
}

// headLine returns the last token of the head of a class or block without
// braces.
func (f *testFinder) headLine(i int) int {
	if f.Lang == language.Python {
		return function.Shapes[language.Python].HeadEnd(f.Tokens, i, i+1)
	}
	return f.lineEnd(i)
}

// lineEnd returns the last token of the line of token i.
func (f *testFinder) lineEnd(i int) int { return f.First[f.List[i].Line] - 1 }

// enter notes what the tests that follow are in.
func (f *testFinder) enter(s scope) bool {
	if len(f.open) < MaxDepth {
		f.open = append(f.open, s)
	}
	return true
}

// around names what is around a test: methods are distinguished by the innermost
// class, titles follow those of all groups.
func (f *testFinder) around(titled bool) string {
	if !titled {
		if n := len(f.open); n > 0 {
			return f.open[n-1].name
		}
		return ""
	}
	var names []string
	for _, s := range f.open {
		names = append(names, s.name)
	}
	return strings.Join(names, " ")
}

func (f *testFinder) add(name string, head int, body scope) {
	def := TestDef{Name: name, Class: f.around(false), Line: f.Line(head), End: f.Line(body.end)}
	f.read(&def, body)
	f.found = append(f.found, def)
}
