package main

import (
	"path"
	"regexp"
	"slices"
	"strings"
)

// family is how a language shows where a block ends.
type family uint8

const (
	byBrace family = iota
	byIndent
	byEnd
)

// language is how tests are written in one language: a row of the table below.
type language struct {
	name   string
	exts   []string
	family family
	// def finds the line that defines a test; its first group that is not empty is
	// the name. mark has to be there too, on that line or right above.
	def, mark *regexp.Regexp
	// opens and closes are the ends of a body.
	opens, closes *regexp.Regexp
	// assert finds a line on which an assertion begins.
	assert  *regexp.Regexp
	comment string    // begins a comment to the end of the line
	block   [2]string // around a comment of several lines, "" for none
	indent  string    // one step
	// trivial are complete tests that test nothing, %s is the new name.
	trivial []string
	// empty is a body that does nothing, ret leaves the test, never are conditions
	// that are never true, as the head of a block.
	empty string
	ret   []string
	never []string
	// fn finds a function of product code: name, parameters.
	fn *regexp.Regexp
}

func re(s string) *regexp.Regexp { return regexp.MustCompile(s) }

var (
	braceOpens  = re(`\{(\s*\|[^|]*\|)?\s*(//.*)?$|\{\s*[\w, ()]*\s*->\s*$`)
	braceCloses = re(`^\}`)
	jsAssert    = re(`^\s*(await |return )?(expect\w*(\.\w+)?[(<]|assert[.(]|\w+\.should\b|t\.(is|deepEqual|true|equal)\(|should\()|^\s*(await |return )?[\w.()]+\.should\.|^\s*\.expect\(`)
	javaAssert  = re(`^\s*(\w+\.)?(assert\w*|fail|verify|expect\w*|Truth\.\w+)\s*[({]`)
)

var languages = []*language{
	{
		name: "go", exts: []string{".go"},
		def:   re(`^func (?:\([^)]*\) )?(Test\w*)\(`),
		opens: braceOpens, closes: braceCloses,
		assert:  re(`^\s*(assert|require|is|must|check|expect)\w*[.(]`),
		comment: "//", block: [2]string{"/*", "*/"}, indent: "\t",
		trivial: []string{"func Test%s(t *testing.T) {\n\tif false {\n\t\tt.Fatal(\"unreachable\")\n\t}\n}", "func Test%s(t *testing.T) {\n\tif 1+1 != 2 {\n\t\tt.Error(\"arithmetic\")\n\t}\n}"},
		empty:   "", ret: []string{"return", "if true {\n\treturn\n}"}, never: []string{"if false {", "if 1 > 2 {"},
		fn: re(`^func (?:\([^)]*\) )?(\w+)\(([^)]*)\)`),
	},
	{
		name: "python", exts: []string{".py"}, family: byIndent,
		def:   re(`^\s*(?:async )?def (test\w*)\(`),
		opens: re(`:\s*(#.*)?$`), closes: re(`^$`),
		assert:  re(`^\s*(assert\b|self\.(assert|fail)\w*\(|with (pytest|self)\.(raises|warns|assertRaises\w*)\(|pytest\.(raises|fail)\(|\w+\.(stdout\.)?(no_)?(re_|fn)match_lines|\w+\.assert_\w+\()`),
		comment: "#", block: [2]string{`"""`, `"""`}, indent: "    ",
		trivial: []string{"def test_%s(SELF):\n    assert True", "def test_%s(SELF):\n    assert 1 + 1 == 2"},
		empty:   "pass", ret: []string{"return", "return None", "if True:\n    return"}, never: []string{"if False:", "if 0:", "while False:"},
		fn: re(`^\s*(?:async )?def ([a-zA-Z]\w*)\(([^)]*)\)`),
	},
	{
		name: "javascript", exts: []string{".js", ".mjs", ".cjs", ".jsx", ".ts", ".tsx", ".mts"},
		def:   re("^\\s*(?:it|test|specify)(?:\\.each\\(.*\\))?\\(\\s*(?:'([^']*)'|\"([^\"]*)\"|`([^`]*)`)"),
		opens: braceOpens, closes: re(`^\}(, \d+)?\)`),
		assert:  jsAssert,
		comment: "//", block: [2]string{"/*", "*/"}, indent: "  ",
		trivial: []string{"it('%s', function () {\n  assert.ok(true);\n});", "test('%s', () => {\n  expect(true).toBe(true);\n});"},
		empty:   "", ret: []string{"return;", "if (true) return;"}, never: []string{"if (false) {", "if (0) {", "while (false) {"},
		fn: re(`^\s*(?:export )?(?:default )?(?:async )?function (\w+)\s*\(([^)]*)\)|^(?:exports|module\.exports|\w+)\.(\w+) = (?:async )?function\s*\w*\(`),
	},
	{
		name: "java", exts: []string{".java"},
		def:   re(`^\s*(?:public |protected |private |static |final )*void (\w+)\s*\(`),
		mark:  re(`@(Test|ParameterizedTest|RepeatedTest)\b|public void test\w*\(`),
		opens: braceOpens, closes: braceCloses, assert: javaAssert,
		comment: "//", block: [2]string{"/*", "*/"}, indent: "  ",
		trivial: []string{"@Test\npublic void %s() {\n  assertTrue(true);\n}", "@Test\npublic void %s() {\n  assertEquals(2, 1 + 1);\n}"},
		empty:   "", ret: []string{"if (true) return;", "if (true) {\n  return;\n}"}, never: []string{"if (false) {", "if (1 > 2) {"},
		fn: re(`^\s*(?:public|protected|private|static)[\w<>\[\], ]* (\w+)\(([^)]*)\)[^;]*\{`),
	},
	{
		name: "kotlin", exts: []string{".kt"},
		def:   re("^\\s*(?:public |internal |private )?(?:suspend )?fun (\\w+|`[^`]+`)\\s*\\("),
		mark:  re(`@(\w+:)?(Test|ParameterizedTest|RepeatedTest)\b`),
		opens: braceOpens, closes: braceCloses, assert: javaAssert,
		comment: "//", block: [2]string{"/*", "*/"}, indent: "  ",
		trivial: []string{"@Test\nfun %s() {\n  assertTrue(true)\n}", "@Test\nfun %s() {\n  assertEquals(2, 1 + 1)\n}"},
		empty:   "", ret: []string{"return", "if (true) return"}, never: []string{"if (false) {"},
		fn: re(`^\s*(?:public |internal |private |override |inline )*fun (?:<[^>]*> )?(?:\w+\.)?(\w+)\(([^)]*)\)[^=]*\{`),
	},
	{
		name: "rust", exts: []string{".rs"},
		def:   re(`^\s*(?:pub )?(?:async )?fn (\w+)\(|^rgtest!\((\w+),`),
		mark:  re(`#\[(\w+::)?test\b|#\[rstest|#\[test_case|rgtest!`),
		opens: braceOpens, closes: braceCloses,
		assert:  re(`^\s*(debug_)?(assert\w*|eqnice\w*|panic|ensure)!\(|^\s*\w+\.(assert\w*)\(|\.unwrap_err\(`),
		comment: "//", block: [2]string{"/*", "*/"}, indent: "    ",
		trivial: []string{"#[test]\nfn %s() {\n    assert!(true);\n}", "#[test]\nfn %s() {\n    assert_eq!(1 + 1, 2);\n}"},
		empty:   "", ret: []string{"return;", "if true {\n    return;\n}"}, never: []string{"if false {", "while false {"},
		fn: re(`^\s*(?:pub(?:\([^)]*\))? )?(?:async |const |unsafe )*fn (\w+)(?:<[^>]*>)?\(([^)]*)\)`),
	},
	{
		name: "ruby", exts: []string{".rb"}, family: byEnd,
		def:   re(`^\s*(?:it|specify|test|scenario|should)\s*\(?\s*(?:'([^']*)'|"([^"]*)").*\bdo\b|^\s*def (test_\w+)`),
		opens: re(`\bdo(\s*\|[^|]*\|)?\s*$|^\s*def test_`), closes: re(`^end\b`),
		assert:  re(`^\s*(assert\w*|refute\w*|expect\b|flunk|must_\w+|_\()|\.(must|wont)_\w+|\.should\b|\.to(_not)? `),
		comment: "#", block: [2]string{"=begin", "=end"}, indent: "  ",
		trivial: []string{"it \"%s\" do\n  assert true\nend", "def test_%s\n  assert_equal 2, 1 + 1\nend"},
		empty:   "", ret: []string{"next"}, never: []string{"if false", "unless true"},
		fn: re(`^\s*def (?:self\.)?(\w+[?!]?)(?:\(([^)]*)\))?`),
	},
	{
		name: "php", exts: []string{".php"},
		def:   re(`^\s*(?:public |final )*function (\w+)\s*\(`),
		mark:  re(`function test\w*|@test\b|#\[Test\]`),
		opens: braceOpens, closes: braceCloses,
		assert:  re(`^\s*(\$this->|self::|static::|Assert::)(assert|expect|fail)\w*\(|^\s*expect\(`),
		comment: "//", block: [2]string{"/*", "*/"}, indent: "    ",
		trivial: []string{"public function test%s()\n{\n    self::assertTrue(true);\n}", "public function test%s()\n{\n    $this->assertSame(2, 1 + 1);\n}"},
		empty:   "", ret: []string{"return;", "if (true) {\n    return;\n}"}, never: []string{"if (false) {", "if (0) {"},
		fn: re(`^\s*(?:public |protected |private |static |final )*function (\w+)\(([^)]*)\)`),
	},
	{
		name: "csharp", exts: []string{".cs"},
		def:   re(`^\s*(?:public |internal )(?:static |override |virtual )*(?:async )?(?:void|Task) (\w+)\s*\(`),
		mark:  re(`\[(Fact|Theory|Test|TestMethod|TestCase|DataTestMethod)\b`),
		opens: braceOpens, closes: braceCloses,
		assert:  re(`^\s*(await )?(\w*Assert|ExceptionAssert)\.\w+|\.Should\w*\(`),
		comment: "//", block: [2]string{"/*", "*/"}, indent: "    ",
		trivial: []string{"[MARK]\npublic void %s()\n{\n    Assert.True(true);\n}", "[MARK]\npublic void %s()\n{\n    Assert.That(1 + 1 == 2);\n}"},
		empty:   "", ret: []string{"return;", "if (true) return;"}, never: []string{"if (false) {", "while (false) {"},
		fn: re(`^\s*(?:public|protected|private|internal)[\w<>\[\], ?]* (\w+)\(([^)]*)\)`),
	},
	{
		name: "cpp", exts: []string{".cc", ".cpp", ".cxx"},
		def:   re(`^(?:TYPED_)?TEST(?:_F|_P|_CASE)?\(\s*\w+,\s*(\w+)\)|^TEST_CASE\(\s*"([^"]*)"`),
		opens: braceOpens, closes: braceCloses,
		assert:  re(`^\s*(EXPECT|ASSERT|REQUIRE|CHECK)\w*\(|^\s*(FAIL|ADD_FAILURE)\(`),
		comment: "//", block: [2]string{"#if 0", "#endif"}, indent: "  ",
		trivial: []string{"TEST(smoke_test, %s) {\n  EXPECT_TRUE(true);\n}", "TEST(smoke_test, %s) {\n  EXPECT_EQ(1 + 1, 2);\n}"},
		empty:   "", ret: []string{"return;", "if (true) return;"}, never: []string{"if (false) {", "while (false) {"},
		fn: re(`^\s*(?:inline |static |constexpr |auto |template[^{]*)*[\w:<>&*]+ (\w+)\(([^)]*)\)[^;]*\{`),
	},
	{
		name: "swift", exts: []string{".swift"},
		def:   re(`^\s*(?:public |private )?func (test\w*)\s*\(|^\s*(?:@Test.*)?func (\w+)\s*\(`),
		mark:  re(`func test\w*\(\)|@Test\b`),
		opens: braceOpens, closes: braceCloses,
		assert:  re(`^\s*(XCTAssert\w*|XCTFail|XCTUnwrap|#expect|#require|try #require|_?[aA]ssert\w*|AssertHelp\w*|AssertParse\w*)\s*\(`),
		comment: "//", block: [2]string{"/*", "*/"}, indent: "  ",
		trivial: []string{"func test%s() {\n  XCTAssertTrue(true)\n}", "func test%s() {\n  XCTAssertEqual(1 + 1, 2)\n}"},
		empty:   "", ret: []string{"return", "if true { return }"}, never: []string{"if false {", "while false {"},
		fn: re(`^\s*(?:public |internal |private |fileprivate |static |mutating )*func (\w+)(?:<[^>]*>)?\(([^)]*)\)`),
	},
	{
		name: "elixir", exts: []string{".exs", ".ex"}, family: byEnd,
		def:   re(`^\s*(?:test|property) "([^"]*)".*\bdo\s*$`),
		opens: re(`\bdo\s*$`), closes: re(`^end\b`),
		assert:  re(`^\s*(assert\w*|refute\w*|flunk)\b`),
		comment: "#", indent: "  ",
		trivial: []string{"test \"%s\" do\n  assert true\nend", "test \"%s\" do\n  assert 1 + 1 == 2\nend"},
		empty:   ":ok", never: []string{"if false do", "unless true do"},
		fn: re(`^\s*defp? (\w+[?!]?)\(([^)]*)\)`),
	},
}

// languageOf returns the row for a file, nil for none.
func languageOf(file string) *language {
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

// title is the language's name; TypeScript is told from JavaScript in the tables.
func (l *language) title(file string) string {
	if l.name == "javascript" && strings.Contains(path.Ext(file), "ts") {
		return "typescript"
	}
	return l.name
}

// step is one step of indentation, as the text around has it.
func (l *language) step(around string) string {
	if strings.HasPrefix(around, "\t") {
		return "\t"
	}
	return l.indent
}

// open is how many brackets the end of a head opens.
func (l *language) open(line string) int {
	if l.family == byBrace && strings.Contains(line, "{") {
		return 1
	}
	return 0
}

// blockEnd closes a block that begins with one of never.
func (l *language) blockEnd() string {
	return [...]string{byBrace: "}", byIndent: "", byEnd: "end"}[l.family]
}
