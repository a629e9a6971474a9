package tests

import (
	"bytes"
	"slices"
	"strings"

	"supervise/source/internal/function"
	"supervise/source/internal/language"
	"supervise/source/internal/lex"
)

// Shape describes how the tests of a language are written.
type Shape struct {
	prefixes    []string        // prefixes of the names of test functions, such as test_
	annotations map[string]bool // annotations or attributes that make a function a test
	docMark     string          // a mark in a doc comment that makes a function a test, such as @test; "" for none
	inAnyFile   bool            // functions with an annotation are tests in any file
	testCalls   map[string]bool // calls with a title and a body that are tests
	Groups      map[string]bool // calls with a title whose tests are named after it
	Classes     map[string]bool // keywords that start a class or module
	macros      map[string]bool // macros whose arguments name a test

	untitledCalls map[string]bool // the testCalls that need no title: it { is_expected.to be_valid }

	methodName func(title string) string // returns the name that the runner makes from a title; nil if it uses the title
}

var (
	junitAnnotations = lex.WordSet(`Test ParameterizedTest RepeatedTest TestFactory TestTemplate Property Theory`)
	rustAttributes   = lex.WordSet(`test rstest test_case quickcheck wasm_bindgen_test`)
	csharpAttributes = lex.WordSet(`Fact Theory SkippableFact Test TestCase TestCaseSource TestMethod DataTestMethod`)
	jvmClasses       = lex.WordSet(`class interface record enum object`)
	// RubyGroups are the calls that open a group of tests in Ruby.
	RubyGroups = lex.WordSet(`describe context feature example_group shared_examples`)
	// nativeMacros are the macros of GoogleTest, Catch2, doctest and Boost.Test.
	nativeMacros = lex.WordSet(`TEST TEST_F TEST_P TYPED_TEST TYPED_TEST_P TEST_CASE TEST_CASE_METHOD TEST_CASE_FIXTURE TEMPLATE_TEST_CASE SCENARIO
		BOOST_AUTO_TEST_CASE BOOST_FIXTURE_TEST_CASE BOOST_DATA_TEST_CASE BOOST_AUTO_TEST_CASE_TEMPLATE`)
	// ScriptShape is the shape of JavaScript and TypeScript.
	ScriptShape = Shape{
		testCalls: lex.WordSet(`it test specify fit xit xtest`),
		Groups:    lex.WordSet(`describe context suite fdescribe xdescribe`),
	}
)

// Shapes are the shapes of all languages except Go. A language without tests has an empty shape.
var Shapes = [language.Count]Shape{
	language.Python:     {prefixes: []string{"test"}, Classes: lex.WordSet(`class`)},
	language.JavaScript: ScriptShape,
	language.TypeScript: ScriptShape,
	language.Java:       {prefixes: []string{"test"}, annotations: junitAnnotations, Classes: jvmClasses},
	language.Kotlin: {
		prefixes: []string{"test"}, annotations: junitAnnotations, Classes: jvmClasses,
		testCalls: lex.WordSet(`test it should`), Groups: lex.WordSet(`describe context`),
	},
	language.Rust: {annotations: rustAttributes, inAnyFile: true, Classes: lex.WordSet(`mod`)},
	language.Ruby: {
		prefixes: []string{"test_"}, Classes: lex.WordSet(`class module`), Groups: RubyGroups,
		testCalls: lex.WordSet(`it its specify test scenario example should fit xit xspecify xexample xscenario skip pending`), methodName: railsMethodName,
		untitledCalls: lex.WordSet(`it its specify example`),
	},
	language.PHP: {
		prefixes: []string{"test"}, annotations: lex.WordSet(`Test`), docMark: "@test", Classes: lex.WordSet(`class trait`),
		testCalls: lex.WordSet(`it test`), Groups: lex.WordSet(`describe`),
	},
	language.CSharp: {annotations: csharpAttributes, Classes: lex.WordSet(`class record struct`)},
	language.Swift: {
		prefixes: []string{"test"}, annotations: lex.WordSet(`Test`), Classes: lex.WordSet(`class struct extension`),
		testCalls: lex.WordSet(`it`), Groups: lex.WordSet(`describe context`),
	},
	language.C:      {prefixes: []string{"test_"}, macros: nativeMacros},
	language.CPP:    {prefixes: []string{"test_"}, macros: nativeMacros},
	language.Elixir: {testCalls: lex.WordSet(`test property`), Groups: lex.WordSet(`describe`)},
}

// scope is a class, module or group that contains tests.
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
	kinds     []lex.Kind
	plain     []byte // the source without its comments
	inTest    bool   // the file is a test file
	scopes    []scope
	readUntil int // last token of the last function or test that was read completely
	found     []TestDef
}

// FindTests returns the tests of a file in a language other than Go.
func FindTests(path string, r *lex.Source) []TestDef {
	t := r.Tokens()
	f := &testFinder{Tokens: t, Shape: &Shapes[t.Lang], kinds: r.Kinds, inTest: language.IsTestFile(path, t.Lang), readUntil: -1}
	if !f.inAnyFile && (!f.inTest || len(f.prefixes)+len(f.annotations)+len(f.testCalls)+len(f.macros) == 0) {
		return nil
	}
	f.plain = r.Plain()

	list := function.FindSpans(t)
	heads := make(map[int]lex.Span, len(list))
	for _, s := range list {
		heads[s.Head] = s
	}

	for i := range t.List {
		for len(f.scopes) > 0 && f.scopes[len(f.scopes)-1].end < i {
			f.scopes = f.scopes[:len(f.scopes)-1]
		}
		if !t.List[i].Word || i <= f.readUntil {
			continue
		}

		f.trackVisibility(i)
		if f.macros[f.Text(i)] && f.Is(i+1, "(") {
			f.readNativeMacro(i)
		} else if s, ok := heads[i]; ok {
			f.readFunction(s)
		} else if !f.openClass(i) {
			f.readCall(i)
		}
	}
	return f.found
}

// readFunction adds a function if it is a test. Functions within functions are no tests.
func (f *testFinder) readFunction(s lex.Span) {
	if f.testCalls[s.Name] || f.Groups[s.Name] { // it("title", …) { looks like a definition
		f.readCall(s.Head)
		return
	}
	isTest := (f.inTest && hasAnyPrefix(s.Name, f.prefixes) && f.isTestByName() || f.hasTestAnnotation(s.Head)) && !f.isPrivate(s.Head)
	if isTest {
		f.add(s.Name, s.Head, scope{body: s.Body, end: s.End})
	}
	if isTest || len(f.testCalls) == 0 { // other functions may contain calls that define tests
		f.readUntil = s.End
	}
}

// isTestByName reports whether the name of a method is enough to make it a test. In Java that is
// so in the classes of JUnit 3, which have a base class, and of TestNG. If a file imports a later
// version of JUnit, the name of the base class must end with TestCase.
func (f *testFinder) isTestByName() bool {
	n := len(f.scopes)
	switch {
	case f.Lang != language.Java || n == 0 || bytes.Contains(f.Src, []byte("org.testng")):
		return true
	case bytes.Contains(f.Src, []byte("org.junit.jupiter")) || bytes.Contains(f.Src, []byte("org.junit.Test")):
		return strings.HasSuffix(f.scopes[n-1].base, "TestCase")
	}
	return f.scopes[n-1].base != ""
}

// baseClassAt returns the last part of the class name that starts at token i.
func (f *testFinder) baseClassAt(i int) string {
	for f.Is(i+1, ".") {
		i += 2
	}
	return f.Text(i)
}

// isPrivate reports whether the function at token head is private, if the runner only runs
// public methods.
func (f *testFinder) isPrivate(head int) bool {
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
		n := len(f.scopes)
		return n > 0 && f.scopes[n-1].hidden || f.isPrivateDef(head)
	default:
	}
	return false
}

// isPrivateDef reports whether the Ruby method at token head is private by a word before it, as
// in "private def x".
func (f *testFinder) isPrivateDef(head int) bool {
	if f.Is(head-1, "def") {
		head--
	}
	return head > 0 && f.Is(head-1, "private") && !f.StartsLine(head)
}

// trackVisibility follows the words of Ruby that are a line by themselves and change the
// visibility of the methods after them.
func (f *testFinder) trackVisibility(i int) {
	n := len(f.scopes)
	if f.Lang != language.Ruby || n == 0 || i+1 >= len(f.List) || !f.StartsLine(i) || !f.StartsLine(i+1) {
		return
	}
	switch f.Text(i) {
	case "private", "protected":
		f.scopes[n-1].hidden = true
	case "public":
		f.scopes[n-1].hidden = false
	}
}

// hasAnyPrefix reports whether a name starts with one of the prefixes.
func hasAnyPrefix(name string, prefixes []string) bool {
	return slices.ContainsFunc(prefixes, func(p string) bool { return strings.HasPrefix(name, p) })
}

// MaxAnnotationTokens limits how many tokens before a function are searched for its
// annotations.
const MaxAnnotationTokens = 80

// hasTestAnnotation reports whether an annotation, an attribute or a comment directly before a
// function makes it a test.
func (f *testFinder) hasTestAnnotation(head int) bool {
	if len(f.annotations) == 0 {
		return false
	}
	i := head - 1
	for n := 0; i >= 0 && n < MaxAnnotationTokens; i, n = i-1, n+1 { // rows in parentheses count once
		switch f.Text(i) {
		case ";", "{", "}":
			return f.hasDocMark(i, head)
		case ")":
			if m := f.List[i].Partner; m >= 0 {
				i = m
			}
		default:
			if f.List[i].Word && f.annotations[f.Text(i)] && precedesAnnotationName(f.Text(i-1)) {
				return true
			}
		}
	}
	return f.hasDocMark(i, head)
}

// precedesAnnotationName reports whether the token precedes the name of an annotation or
// attribute.
func precedesAnnotationName(before string) bool {
	switch before {
	case "@", "[", ",", ".", "::", ":":
		return true
	}
	return false
}

// hasDocMark reports whether a comment between two tokens contains the mark of a test, such as
// @test.
func (f *testFinder) hasDocMark(from, to int) bool {
	if f.docMark == "" || from < 0 {
		return false
	}
	start := f.List[from].End
	at := bytes.Index(f.Src[start:f.List[to].Pos], []byte(f.docMark))
	return at >= 0 && f.kinds[start+at] == lex.Comment
}

// openClass opens the scope of the class or module that token i starts. It returns false if token
// i starts none.
func (f *testFinder) openClass(i int) bool {
	if !f.Classes[f.Text(i)] || !f.IsWord(i+1) || !f.startsDeclaration(i) {
		return false
	}
	c := scope{name: f.Text(i + 1)}
	if s := &function.Shapes[f.Lang]; s.Indented {
		b, ok := s.Block(f.Tokens, lex.Span{Head: i}, f.headEnd(i))
		c.body, c.end = b.Body, b.End
		return ok && f.push(c)
	}
	for j := i + 2; j < len(f.List) && j < i+MaxAnnotationTokens; j = f.Skip(j) {
		switch f.Text(j) {
		case "extends":
			c.base = f.baseClassAt(j + 1)
		case "{":
			c.body, c.end = j, f.List[j].Partner
			return c.end > j && f.push(c)
		case ";", "}":
			return false
		}
	}
	return false
}

// startsDeclaration reports whether the keyword at token i can start a declaration. In X.class
// and X::class it is a member.
func (f *testFinder) startsDeclaration(i int) bool {
	return !f.Is(i-1, ".") && !f.Is(i-1, "::") && !f.Is(i-1, ":")
}

// headEnd returns the last token of the head of a class or block without braces.
func (f *testFinder) headEnd(i int) int {
	if f.Lang == language.Python {
		return function.Shapes[language.Python].HeadEnd(f.Tokens, i, i+1)
	}
	return f.lastTokenOfLine(i)
}

// lastTokenOfLine returns the last token of the line of token i.
func (f *testFinder) lastTokenOfLine(i int) int { return f.FirstOfLine[f.List[i].Line] - 1 }

// push opens a scope, unless scopes are nested too deeply. It returns true.
func (f *testFinder) push(s scope) bool {
	if len(f.scopes) < MaxDepth {
		f.scopes = append(f.scopes, s)
	}
	return true
}

// enclosingName returns the Class of a test: the titles of all groups if it has a title,
// otherwise the innermost class.
func (f *testFinder) enclosingName(titled bool) string {
	var names []string
	for _, s := range f.scopes {
		names = append(names, s.name)
	}
	if !titled && len(names) > 0 {
		return names[len(names)-1]
	}
	return strings.Join(names, " ")
}

// add adds a test with a name, whose definition starts at token head.
func (f *testFinder) add(name string, head int, body scope) {
	def := TestDef{Name: name, Class: f.enclosingName(false), Line: f.Line(head), End: f.Line(body.end)}
	f.readBody(&def, body)
	f.found = append(f.found, def)
}
