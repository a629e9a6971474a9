package source

import (
	"bytes"
	"strings"
)

// testShape says how tests look in a language.
type testShape struct {
	prefixes []string        // beginnings of the names of test functions
	marks    map[string]bool // annotations or attributes that make a function a test
	doc      string          // a mark in a comment that does the same
	anywhere bool            // marked functions are tests in any file
	calls    map[string]bool // calls with a title and a body that are tests
	groups   map[string]bool // calls with a title whose tests are named behind it
	classes  map[string]bool // words that begin what methods stand in
	macros   map[string]bool // macros whose arguments name a test

	method func(title string) string // the name a runner makes of a title, nil for the title itself
}

var (
	junitMarks  = words(`Test ParameterizedTest RepeatedTest TestFactory TestTemplate Property Theory`)
	rustMarks   = words(`test rstest test_case quickcheck wasm_bindgen_test`)
	csharpMarks = words(`Fact Theory SkippableFact Test TestCase TestCaseSource TestMethod DataTestMethod`)
	jvmClasses  = words(`class interface record enum object`)
	rubyGroups  = words(`describe context feature example_group shared_examples`)
	// nativeMacros are those of GoogleTest, Catch2, doctest and Boost.Test.
	nativeMacros = words(`TEST TEST_F TEST_P TYPED_TEST TYPED_TEST_P TEST_CASE TEST_CASE_METHOD TEST_CASE_FIXTURE TEMPLATE_TEST_CASE SCENARIO
		BOOST_AUTO_TEST_CASE BOOST_FIXTURE_TEST_CASE BOOST_DATA_TEST_CASE BOOST_AUTO_TEST_CASE_TEMPLATE`)
	scriptShape = testShape{
		calls:  words(`it test specify fit xit xtest`),
		groups: words(`describe context suite fdescribe xdescribe`),
	}
)

var testShapes = [languageCount]testShape{
	Python:     {prefixes: []string{"test"}, classes: words(`class`)},
	JavaScript: scriptShape,
	TypeScript: scriptShape,
	Java:       {prefixes: []string{"test"}, marks: junitMarks, classes: jvmClasses},
	Kotlin: {
		prefixes: []string{"test"}, marks: junitMarks, classes: jvmClasses,
		calls: words(`test it should`), groups: words(`describe context`),
	},
	Rust: {marks: rustMarks, anywhere: true, classes: words(`mod`)},
	Ruby: {
		prefixes: []string{"test_"}, classes: words(`class module`), groups: rubyGroups,
		calls: words(`it specify test scenario example should fit xit xspecify xexample xscenario skip pending`), method: railsName,
	},
	PHP: {
		prefixes: []string{"test"}, marks: words(`Test`), doc: "@test", classes: words(`class trait`),
		calls: words(`it test`), groups: words(`describe`),
	},
	CSharp: {marks: csharpMarks, classes: words(`class record struct`)},
	Swift: {
		prefixes: []string{"test"}, marks: words(`Test`), classes: words(`class struct extension`),
		calls: words(`it`), groups: words(`describe context`),
	},
	C:      {prefixes: []string{"test_"}, macros: nativeMacros},
	CPP:    {prefixes: []string{"test_"}, macros: nativeMacros},
	Elixir: {calls: words(`test property`), groups: words(`describe`)},
}

// scope is a class, module or group that tests stand in, in terms of tokens.
type scope struct {
	name      string
	body, end int    // first and last token
	hidden    bool   // the methods that follow are private
	base      string // the class that a class extends, "" for none
}

// testFinder finds the tests of one file.
type testFinder struct {
	*tokens
	*testShape
	kinds  []kind
	plain  []byte // the source without its comments
	inTest bool   // the file is one of tests
	open   []scope
	past   int // last token of what was read as a whole: the function or test before
	found  []TestDef
}

// findTests returns the tests of a file of another language than Go.
func findTests(path string, r *reading) []TestDef {
	t := r.tokens()
	f := &testFinder{tokens: t, testShape: &testShapes[t.lang], kinds: r.kinds, inTest: TestFile(path, t.lang), past: -1}
	if !f.anywhere && (!f.inTest || len(f.prefixes)+len(f.marks)+len(f.calls)+len(f.macros) == 0) {
		return nil
	}
	f.plain = r.plain()
	list := spans(t)
	heads := make(map[int]span, len(list))
	for _, s := range list {
		heads[s.head] = s
	}
	for i := range t.list {
		for len(f.open) > 0 && f.open[len(f.open)-1].end < i {
			f.open = f.open[:len(f.open)-1]
		}
		if !t.list[i].word || i <= f.past {
			continue
		}
		f.visibility(i)
		if f.macros[f.text(i)] && f.is(i+1, "(") {
			f.nativeMacro(i)
		} else if s, ok := heads[i]; ok {
			f.function(s)
		} else if !f.class(i) {
			f.call(i)
		}
	}
	return f.found
}

// function adds a function that is a test. What stands within a function is
// none, whatever its name.
func (f *testFinder) function(s span) {
	if f.calls[s.name] || f.groups[s.name] { // it("title", …) { reads like one
		f.call(s.head)
		return
	}
	isTest := (f.inTest && hasPrefixOf(s.name, f.prefixes) && f.byName() || f.marked(s.head)) && !f.private(s.head)
	if isTest {
		f.add(s.name, s.head, scope{body: s.body, end: s.end})
	}
	if isTest || len(f.calls) == 0 { // else the function may define tests
		f.past = s.end
	}
}

// byName reports whether the name of a method alone makes it a test. In Java that
// is so in the classes of JUnit 3, which extend one of its own, and of TestNG. Where
// later versions of JUnit are imported, only a TestCase is taken for the former.
func (f *testFinder) byName() bool {
	n := len(f.open)
	switch {
	case f.lang != Java || n == 0 || bytes.Contains(f.src, []byte("org.testng")):
		return true
	case bytes.Contains(f.src, []byte("org.junit.jupiter")) || bytes.Contains(f.src, []byte("org.junit.Test")):
		return strings.HasSuffix(f.open[n-1].base, "TestCase")
	}
	return f.open[n-1].base != ""
}

// baseAt returns the last part of the name of a class, which begins at token i.
func (f *testFinder) baseAt(i int) string {
	for f.is(i+1, ".") {
		i += 2
	}
	return f.text(i)
}

// private reports whether the function at token head is one that runners do not
// look at where they look at methods that all may call.
func (f *testFinder) private(head int) bool {
	switch f.lang {
	case PHP, Swift:
		for j := head; j >= 0 && j > head-6 && f.isWord(j); j-- {
			switch f.text(j) {
			case "private", "fileprivate":
				return true
			case "protected":
				return f.lang == PHP
			}
		}
	case Ruby:
		n := len(f.open)
		return n > 0 && f.open[n-1].hidden || f.privateDef(head)
	default:
	}
	return false
}

// privateDef reports whether the word before a definition of Ruby makes it private.
func (f *testFinder) privateDef(head int) bool {
	if f.is(head-1, "def") {
		head--
	}
	return head > 0 && f.is(head-1, "private") && !f.startsLine(head)
}

// visibility follows the words of Ruby that stand alone and say whether the methods
// behind them may be called by all.
func (f *testFinder) visibility(i int) {
	n := len(f.open)
	if f.lang != Ruby || n == 0 || i+1 >= len(f.list) || !f.startsLine(i) || !f.startsLine(i+1) {
		return
	}
	switch f.text(i) {
	case "private", "protected":
		f.open[n-1].hidden = true
	case "public":
		f.open[n-1].hidden = false
	}
}

func hasPrefixOf(name string, prefixes []string) bool {
	for _, p := range prefixes {
		if strings.HasPrefix(name, p) {
			return true
		}
	}
	return false
}

// maxMarks is how many tokens before a function are looked at for its
// annotations.
const maxMarks = 80

// marked reports whether an annotation, an attribute or a comment directly
// before a function makes it a test.
func (f *testFinder) marked(head int) bool {
	if len(f.marks) == 0 {
		return false
	}
	i := head - 1
	for n := 0; i >= 0 && n < maxMarks; i, n = i-1, n+1 { // rows in parentheses count once
		switch f.text(i) {
		case ";", "{", "}":
			return f.documented(i, head)
		case ")":
			if m := f.list[i].mate; m >= 0 {
				i = m
			}
		default:
			if f.list[i].word && f.marks[f.text(i)] && attributed(f.text(i-1)) {
				return true
			}
		}
	}
	return f.documented(i, head)
}

// attributed reports whether a word behind the token is the name of an
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
	start := f.list[from].end
	at := bytes.Index(f.src[start:f.list[to].pos], []byte(f.doc))
	return at >= 0 && f.kinds[start+at] == comment
}

// class opens the class or module that token i begins, if it does.
func (f *testFinder) class(i int) bool {
	if !f.classes[f.text(i)] || !f.isWord(i+1) || !f.startsDeclaration(i) {
		return false
	}
	c := scope{name: f.text(i + 1)}
	if s := &shapes[f.lang]; s.indented {
		b, ok := s.block(f.tokens, span{head: i}, f.headLine(i))
		c.body, c.end = b.body, b.end
		return ok && f.enter(c)
	}
	for j := i + 2; j < len(f.list) && j < i+maxMarks; j = f.skip(j) {
		switch f.text(j) {
		case "extends":
			c.base = f.baseAt(j + 1)
		case "{":
			c.body, c.end = j, f.list[j].mate
			return c.end > j && f.enter(c)
		case ";", "}":
			return false
		}
	}
	return false
}

// startsDeclaration keeps X.class and X::class from being read as a class.
func (f *testFinder) startsDeclaration(i int) bool {
	return !f.is(i-1, ".") && !f.is(i-1, "::") && !f.is(i-1, ":")
}

// headLine returns the last token of the head of a class or block without
// braces.
func (f *testFinder) headLine(i int) int {
	if f.lang == Python {
		return shapes[Python].headEnd(f.tokens, i, i+1)
	}
	return f.lineEnd(i)
}

// lineEnd returns the last token of the line of token i.
func (f *testFinder) lineEnd(i int) int { return f.first[f.list[i].line] - 1 }

// enter notes what the tests that follow stand in.
func (f *testFinder) enter(s scope) bool {
	if len(f.open) < maxDepth {
		f.open = append(f.open, s)
	}
	return true
}

// around names what is around a test: methods are told apart by the innermost
// class, titles stand behind all groups.
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
	def := TestDef{Name: name, Class: f.around(false), Line: f.line(head), End: f.line(body.end)}
	f.read(&def, body)
	f.found = append(f.found, def)
}
