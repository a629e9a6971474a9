package corpus

import (
	"path"
	"regexp"
	"slices"
	"strings"
)

// Family is how a language shows where a block ends.
type family uint8

// How the blocks of a language end.
const (
	ByBrace family = iota
	byIndent
	ByEnd
)

// Language is how tests are written in one language: a row of the table below.
type Language struct {
	Name   string
	exts   []string
	Family family
	// def finds the line that defines a test; its first group that is not empty is
	// the name. mark has to be there too, on that line or right above.
	def, mark *regexp.Regexp
	// Opens and closes are the ends of a body.
	Opens, Closes *regexp.Regexp
	// Assert finds a line on which an assertion begins.
	Assert  *regexp.Regexp
	Comment string    // begins a comment to the end of the line
	Block   [2]string // around a comment of several lines, "" for none
	Indent  string    // one step
	// Trivial are complete tests that test nothing, %s is the new name.
	Trivial []string
	// Empty is a body that does nothing, ret leaves the test, never are conditions
	// that are never true, as the head of a block.
	Empty string
	Ret   []string
	Never []string
	// Fn finds a function of product code: name, parameters.
	Fn *regexp.Regexp
}

// Re compiles a pattern.
func Re(s string) *regexp.Regexp { return regexp.MustCompile(s) }

var (
	braceOpens  = Re(`\{(\s*\|[^|]*\|)?\s*(//.*)?$|\{\s*[\w, ()]*\s*->\s*$`)
	braceCloses = Re(`^\}`)
	jsAssert    = Re(`^\s*(await |return )?(expect\w*(\.\w+)?[(<]|assert[.(]|\w+\.should\b|t\.(is|deepEqual|true|equal)\(|should\()|^\s*(await |return )?[\w.()]+\.should\.|^\s*\.expect\(`)
	javaAssert  = Re(`^\s*(\w+\.)?(assert\w*|fail|verify|expect\w*|Truth\.\w+)\s*[({]`)
)

var languages = []*Language{
	{
		Name: "go", exts: []string{".go"},
		def:   Re(`^func (?:\([^)]*\) )?(Test\w*)\(`),
		Opens: braceOpens, Closes: braceCloses,
		Assert:  Re(`^\s*(assert|require|is|must|check|expect)\w*[.(]`),
		Comment: "//", Block: [2]string{"/*", "*/"}, Indent: "\t",
		Trivial: []string{"func Test%s(t *testing.T) {\n\tif false {\n\t\tt.Fatal(\"unreachable\")\n\t}\n}", "func Test%s(t *testing.T) {\n\tif 1+1 != 2 {\n\t\tt.Error(\"arithmetic\")\n\t}\n}"},
		Empty:   "", Ret: []string{"return", "if true {\n\treturn\n}"}, Never: []string{"if false {", "if 1 > 2 {"},
		Fn: Re(`^func (?:\([^)]*\) )?(\w+)\(([^)]*)\)`),
	},
	{
		Name: "python", exts: []string{".py"}, Family: byIndent,
		def:   Re(`^\s*(?:async )?def (test\w*)\(`),
		Opens: Re(`:\s*(#.*)?$`), Closes: Re(`^$`),
		Assert:  Re(`^\s*(assert\b|self\.(assert|fail)\w*\(|with (pytest|self)\.(raises|warns|assertRaises\w*)\(|pytest\.(raises|fail)\(|\w+\.(stdout\.)?(no_)?(re_|fn)match_lines|\w+\.assert_\w+\()`),
		Comment: "#", Block: [2]string{`"""`, `"""`}, Indent: "    ",
		Trivial: []string{"def test_%s(SELF):\n    assert True", "def test_%s(SELF):\n    assert 1 + 1 == 2"},
		Empty:   "pass", Ret: []string{"return", "return None", "if True:\n    return"}, Never: []string{"if False:", "if 0:", "while False:"},
		Fn: Re(`^\s*(?:async )?def ([a-zA-Z]\w*)\(([^)]*)\)`),
	},
	{
		Name: "javascript", exts: []string{".js", ".mjs", ".cjs", ".jsx", ".ts", ".tsx", ".mts"},
		def:   Re("^\\s*(?:it|test|specify)(?:\\.each\\(.*\\))?\\(\\s*(?:'([^']*)'|\"([^\"]*)\"|`([^`]*)`)"),
		Opens: braceOpens, Closes: Re(`^\}(, \d+)?\)`),
		Assert:  jsAssert,
		Comment: "//", Block: [2]string{"/*", "*/"}, Indent: "  ",
		Trivial: []string{"it('%s', function () {\n  assert.ok(true);\n});", "test('%s', () => {\n  expect(true).toBe(true);\n});"},
		Empty:   "", Ret: []string{"return;", "if (true) return;"}, Never: []string{"if (false) {", "if (0) {", "while (false) {"},
		Fn: Re(`^\s*(?:export )?(?:default )?(?:async )?function (\w+)\s*\(([^)]*)\)|^(?:exports|module\.exports|\w+)\.(\w+) = (?:async )?function\s*\w*\(`),
	},
	{
		Name: "java", exts: []string{".java"},
		def:   Re(`^\s*(?:public |protected |private |static |final )*void (\w+)\s*\(`),
		mark:  Re(`@(Test|ParameterizedTest|RepeatedTest)\b|public void test\w*\(`),
		Opens: braceOpens, Closes: braceCloses, Assert: javaAssert,
		Comment: "//", Block: [2]string{"/*", "*/"}, Indent: "  ",
		Trivial: []string{"@Test\npublic void %s() {\n  assertTrue(true);\n}", "@Test\npublic void %s() {\n  assertEquals(2, 1 + 1);\n}"},
		Empty:   "", Ret: []string{"if (true) return;", "if (true) {\n  return;\n}"}, Never: []string{"if (false) {", "if (1 > 2) {"},
		Fn: Re(`^\s*(?:public|protected|private|static)[\w<>\[\], ]* (\w+)\(([^)]*)\)[^;]*\{`),
	},
	{
		Name: "kotlin", exts: []string{".kt"},
		def:   Re("^\\s*(?:public |internal |private )?(?:suspend )?fun (\\w+|`[^`]+`)\\s*\\("),
		mark:  Re(`@(\w+:)?(Test|ParameterizedTest|RepeatedTest)\b`),
		Opens: braceOpens, Closes: braceCloses, Assert: javaAssert,
		Comment: "//", Block: [2]string{"/*", "*/"}, Indent: "  ",
		Trivial: []string{"@Test\nfun %s() {\n  assertTrue(true)\n}", "@Test\nfun %s() {\n  assertEquals(2, 1 + 1)\n}"},
		Empty:   "", Ret: []string{"return", "if (true) return"}, Never: []string{"if (false) {"},
		Fn: Re(`^\s*(?:public |internal |private |override |inline )*fun (?:<[^>]*> )?(?:\w+\.)?(\w+)\(([^)]*)\)[^=]*\{`),
	},
	{
		Name: "rust", exts: []string{".rs"},
		def:   Re(`^\s*(?:pub )?(?:async )?fn (\w+)\(|^rgtest!\((\w+),`),
		mark:  Re(`#\[(\w+::)?test\b|#\[rstest|#\[test_case|rgtest!`),
		Opens: braceOpens, Closes: braceCloses,
		Assert:  Re(`^\s*(debug_)?(assert\w*|eqnice\w*|panic|ensure)!\(|^\s*\w+\.(assert\w*)\(|\.unwrap_err\(`),
		Comment: "//", Block: [2]string{"/*", "*/"}, Indent: "    ",
		Trivial: []string{"#[test]\nfn %s() {\n    assert!(true);\n}", "#[test]\nfn %s() {\n    assert_eq!(1 + 1, 2);\n}"},
		Empty:   "", Ret: []string{"return;", "if true {\n    return;\n}"}, Never: []string{"if false {", "while false {"},
		Fn: Re(`^\s*(?:pub(?:\([^)]*\))? )?(?:async |const |unsafe )*fn (\w+)(?:<[^>]*>)?\(([^)]*)\)`),
	},
	{
		Name: "ruby", exts: []string{".rb"}, Family: ByEnd,
		def:   Re(`^\s*(?:it|specify|test|scenario|should)\s*\(?\s*(?:'([^']*)'|"([^"]*)").*\bdo\b|^\s*def (test_\w+)`),
		Opens: Re(`\bdo(\s*\|[^|]*\|)?\s*$|^\s*def test_`), Closes: Re(`^end\b`),
		Assert:  Re(`^\s*(assert\w*|refute\w*|expect\b|flunk|must_\w+|_\()|\.(must|wont)_\w+|\.should\b|\.to(_not)? `),
		Comment: "#", Block: [2]string{"=begin", "=end"}, Indent: "  ",
		Trivial: []string{"it \"%s\" do\n  assert true\nend", "def test_%s\n  assert_equal 2, 1 + 1\nend"},
		Empty:   "", Ret: []string{"next"}, Never: []string{"if false", "unless true"},
		Fn: Re(`^\s*def (?:self\.)?(\w+[?!]?)(?:\(([^)]*)\))?`),
	},
	{
		Name: "php", exts: []string{".php"},
		def:   Re(`^\s*(?:public |final )*function (\w+)\s*\(`),
		mark:  Re(`function test\w*|@test\b|#\[Test\]`),
		Opens: braceOpens, Closes: braceCloses,
		Assert:  Re(`^\s*(\$this->|self::|static::|Assert::)(assert|expect|fail)\w*\(|^\s*expect\(`),
		Comment: "//", Block: [2]string{"/*", "*/"}, Indent: "    ",
		Trivial: []string{"public function test%s()\n{\n    self::assertTrue(true);\n}", "public function test%s()\n{\n    $this->assertSame(2, 1 + 1);\n}"},
		Empty:   "", Ret: []string{"return;", "if (true) {\n    return;\n}"}, Never: []string{"if (false) {", "if (0) {"},
		Fn: Re(`^\s*(?:public |protected |private |static |final )*function (\w+)\(([^)]*)\)`),
	},
	{
		Name: "csharp", exts: []string{".cs"},
		def:   Re(`^\s*(?:public |internal )(?:static |override |virtual )*(?:async )?(?:void|Task) (\w+)\s*\(`),
		mark:  Re(`\[(Fact|Theory|Test|TestMethod|TestCase|DataTestMethod)\b`),
		Opens: braceOpens, Closes: braceCloses,
		Assert:  Re(`^\s*(await )?(\w*Assert|ExceptionAssert)\.\w+|\.Should\w*\(`),
		Comment: "//", Block: [2]string{"/*", "*/"}, Indent: "    ",
		Trivial: []string{"[MARK]\npublic void %s()\n{\n    Assert.True(true);\n}", "[MARK]\npublic void %s()\n{\n    Assert.That(1 + 1 == 2);\n}"},
		Empty:   "", Ret: []string{"return;", "if (true) return;"}, Never: []string{"if (false) {", "while (false) {"},
		Fn: Re(`^\s*(?:public|protected|private|internal)[\w<>\[\], ?]* (\w+)\(([^)]*)\)`),
	},
	{
		Name: "cpp", exts: []string{".cc", ".cpp", ".cxx"},
		def:   Re(`^(?:TYPED_)?TEST(?:_F|_P|_CASE)?\(\s*\w+,\s*(\w+)\)|^TEST_CASE\(\s*"([^"]*)"`),
		Opens: braceOpens, Closes: braceCloses,
		Assert:  Re(`^\s*(EXPECT|ASSERT|REQUIRE|CHECK)\w*\(|^\s*(FAIL|ADD_FAILURE)\(`),
		Comment: "//", Block: [2]string{"#if 0", "#endif"}, Indent: "  ",
		Trivial: []string{"TEST(smoke_test, %s) {\n  EXPECT_TRUE(true);\n}", "TEST(smoke_test, %s) {\n  EXPECT_EQ(1 + 1, 2);\n}"},
		Empty:   "", Ret: []string{"return;", "if (true) return;"}, Never: []string{"if (false) {", "while (false) {"},
		Fn: Re(`^\s*(?:inline |static |constexpr |auto |template[^{]*)*[\w:<>&*]+ (\w+)\(([^)]*)\)[^;]*\{`),
	},
	{
		Name: "swift", exts: []string{".swift"},
		def:   Re(`^\s*(?:public |private )?func (test\w*)\s*\(|^\s*(?:@Test.*)?func (\w+)\s*\(`),
		mark:  Re(`func test\w*\(\)|@Test\b`),
		Opens: braceOpens, Closes: braceCloses,
		Assert:  Re(`^\s*(XCTAssert\w*|XCTFail|XCTUnwrap|#expect|#require|try #require|_?[aA]ssert\w*|AssertHelp\w*|AssertParse\w*)\s*\(`),
		Comment: "//", Block: [2]string{"/*", "*/"}, Indent: "  ",
		Trivial: []string{"func test%s() {\n  XCTAssertTrue(true)\n}", "func test%s() {\n  XCTAssertEqual(1 + 1, 2)\n}"},
		Empty:   "", Ret: []string{"return", "if true { return }"}, Never: []string{"if false {", "while false {"},
		Fn: Re(`^\s*(?:public |internal |private |fileprivate |static |mutating )*func (\w+)(?:<[^>]*>)?\(([^)]*)\)`),
	},
	{
		Name: "elixir", exts: []string{".exs", ".ex"}, Family: ByEnd,
		def:   Re(`^\s*(?:test|property) "([^"]*)".*\bdo\s*$`),
		Opens: Re(`\bdo\s*$`), Closes: Re(`^end\b`),
		Assert:  Re(`^\s*(assert\w*|refute\w*|flunk)\b`),
		Comment: "#", Indent: "  ",
		Trivial: []string{"test \"%s\" do\n  assert true\nend", "test \"%s\" do\n  assert 1 + 1 == 2\nend"},
		Empty:   ":ok", Never: []string{"if false do", "unless true do"},
		Fn: Re(`^\s*defp? (\w+[?!]?)\(([^)]*)\)`),
	},
}

// LanguageOf returns the row for a file, nil for none.
func LanguageOf(file string) *Language {
	if strings.HasSuffix(file, ".d.ts") {
		return nil
	}
	ext := path.Ext(file)
	for _, l := range languages {
		if slices.Contains(l.exts, ext) {
			return l
		}
	}
	return nil
}

// Title is the language's name; TypeScript is distinguished from JavaScript in the tables.
func (l *Language) Title(file string) string {
	if l.Name == "javascript" && strings.Contains(path.Ext(file), "ts") {
		return "typescript"
	}
	return l.Name
}

// Step is one step of indentation, as the text around has it.
func (l *Language) Step(around string) string {
	if strings.HasPrefix(around, "\t") {
		return "\t"
	}
	return l.Indent
}

// open is how many brackets the end of a head opens.
func (l *Language) open(line string) int {
	if l.Family == ByBrace && strings.Contains(line, "{") {
		return 1
	}
	return 0
}

// BlockEnd closes a block that begins with one of never.
func (l *Language) BlockEnd() string {
	return [...]string{ByBrace: "}", byIndent: "", ByEnd: "end"}[l.Family]
}
