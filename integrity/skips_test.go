package integrity

import (
	"strings"
	"testing"
)

// sample is a file with two tests of a language, and where things are put in.
type sample struct {
	path, text string
}

// samples have the marks <file>, <before> (an annotation of the test "sub"),
// <call> (its call), <first> (its first statement) and <group>.
var samples = map[string]sample{
	"go":       {"a_test.go", "<file>package p\n\nimport \"testing\"\n\nfunc TestAdd(t *testing.T) {\n\tif Add(17, 4) != 21 {\n\t\tt.Error(\"add\")\n\t}\n}\n\nfunc TestSub(t *testing.T) {\n\t<first>\n\tgot := Sub(17, 4)\n\tif got != 13 {\n\t\tt.Errorf(\"sub: %d\", got)\n\t}\n}\n"},
	"python":   {"tests/test_a.py", "import pytest\n<file>\n\ndef test_add():\n    assert add(17, 4) == 21\n\n\n<before>\ndef test_sub():\n    <first>\n    x = sub(17, 4)\n    assert x == 13\n"},
	"unittest": {"tests/test_b.py", "import unittest\n\n\n<group>\nclass TestCalc(unittest.TestCase):\n    def test_add(self):\n        self.assertEqual(add(17, 4), 21)\n\n    <before>\n    def test_sub(self):\n        <first>\n        x = sub(17, 4)\n        self.assertEqual(x, 13)\n"},
	"js":       {"a.test.js", "<group>describe<group2>('calc', () => {\n  it('adds', () => {\n    expect(add(17, 4)).toBe(21)\n  })\n\n  <call>('subs', () => {\n    <first>\n    const x = sub(17, 4)\n    expect(x).toBe(13)\n  })\n})\n"},
	"java":     {"src/test/java/CalcTest.java", "import org.junit.jupiter.api.*;\n\n<group>\npublic class CalcTest {\n    @Test\n    void adds() {\n        assertEquals(21, Calc.add(17, 4));\n    }\n\n    @Test\n    <before>\n    void subs() {\n        <first>\n        int x = Calc.sub(17, 4);\n        assertEquals(13, x);\n    }\n}\n"},
	"kotlin":   {"src/test/kotlin/CalcTest.kt", "class CalcTest {\n    @Test\n    fun adds() {\n        assertEquals(21, add(17, 4))\n    }\n\n    @Test\n    <before>\n    fun subs() {\n        <first>\n        val x = sub(17, 4)\n        assertEquals(13, x)\n    }\n}\n"},
	"rust":     {"src/lib.rs", "pub fn add() {}\n\n#[cfg(test)]\n<group>\nmod tests {\n    use super::*;\n\n    #[test]\n    fn adds() {\n        assert_eq!(add(17, 4), 21);\n    }\n\n    #[test]\n    <before>\n    fn subs() {\n        <first>\n        let x = sub(17, 4);\n        assert_eq!(x, 13);\n    }\n}\n"},
	"rspec":    {"spec/calc_spec.rb", "<group>describe 'calc' do\n  it 'adds' do\n    expect(add(17, 4)).to eq(21)\n  end\n\n  <call> 'subs'<opt> do\n    <first>\n    x = sub(17, 4)\n    expect(x).to eq(13)\n  end\nend\n"},
	"minitest": {"test/calc_test.rb", "class CalcTest < Minitest::Test\n  def test_add\n    assert_equal 21, add(17, 4)\n  end\n\n  def test_sub\n    <first>\n    x = sub(17, 4)\n    assert_equal 13, x\n  end\nend\n"},
	"php":      {"tests/CalcTest.php", "<?php\nclass CalcTest extends TestCase\n{\n    public function testAdd()\n    {\n        $this->assertSame(21, add(17, 4));\n    }\n\n    public function testSub()\n    {\n        <first>\n        $x = sub(17, 4);\n        $this->assertSame(13, $x);\n    }\n}\n"},
	"csharp":   {"tests/CalcTests.cs", "public class CalcTests\n{\n    [Fact]\n    public void Adds()\n    {\n        Assert.Equal(21, Calc.Add(17, 4));\n    }\n\n    <fact>\n    <before>\n    public void Subs()\n    {\n        <first>\n        var x = Calc.Sub(17, 4);\n        Assert.Equal(13, x);\n    }\n}\n"},
	"gtest":    {"tests/calc_test.cc", "#include <gtest/gtest.h>\n\nTEST(Calc, Adds) {\n  EXPECT_EQ(21, add(17, 4));\n}\n\nTEST(Calc, <name>Subs) {\n  <first>\n  int x = sub(17, 4);\n  EXPECT_EQ(13, x);\n}\n"},
	"catch2":   {"tests/calc_test.cpp", "#include <catch2/catch.hpp>\n\nTEST_CASE(\"adds\", \"[calc]\") {\n  REQUIRE(add(17, 4) == 21);\n}\n\nTEST_CASE(\"subs\", \"[calc]<tag>\") {\n  <first>\n  int x = sub(17, 4);\n  REQUIRE(x == 13);\n}\n"},
	"xctest":   {"Tests/CalcTests.swift", "import XCTest\n\nfinal class CalcTests: XCTestCase {\n    func testAdd() throws {\n        XCTAssertEqual(add(17, 4), 21)\n    }\n\n    func testSub() throws {\n        <first>\n        let x = sub(17, 4)\n        XCTAssertEqual(x, 13)\n    }\n}\n"},
	"swift":    {"Tests/MoreTests.swift", "import Testing\n\n@Test func adds() {\n    #expect(add(17, 4) == 21)\n}\n\n@Test<args> func subs() {\n    <first>\n    let x = sub(17, 4)\n    #expect(x == 13)\n}\n"},
	"exunit":   {"test/calc_test.exs", "defmodule CalcTest do\n  use ExUnit.Case\n  <file>\n\n  test \"adds\" do\n    assert Calc.add(17, 4) == 21\n  end\n\n  <before>\n  test \"subs\" do\n    <first>\n    x = Calc.sub(17, 4)\n    assert x == 13\n  end\nend\n"},
}

// defaults are the texts for the marks that a case does not fill.
var defaults = map[string]string{"<call>": "it", "<fact>": "[Fact]"}

// with fills the marks of a sample; a line that is left empty goes.
func (s sample) with(fill map[string]string) string {
	text := s.text
	for mark, put := range fill {
		text = strings.ReplaceAll(text, mark, put)
	}
	for mark, put := range defaults {
		text = strings.ReplaceAll(text, mark, put)
	}
	var out []string
	for _, l := range strings.Split(text, "\n") {
		if t := strings.TrimSpace(l); len(t) > 2 && t[0] == '<' && t[len(t)-1] == '>' && !strings.ContainsAny(t, " /") {
			continue
		}
		for _, mark := range []string{"<file>", "<group>", "<group2>", "<opt>", "<name>", "<tag>", "<args>"} {
			l = strings.ReplaceAll(l, mark, "")
		}
		out = append(out, l)
	}
	return strings.Join(out, "\n")
}

func TestSkips(t *testing.T) {
	for _, test := range []struct{ lang, mark, put, want string }{
		{"go", "<first>", `t.Skip("flaky")`, "TP-05 HIGH TestSub"},
		{"go", "<first>", `if true { t.Skip("flaky") }`, "TP-06 HIGH TestSub"},
		{"go", "<first>", `if os.Getenv("CI") != "" { t.Skip("flaky") }`, "TP-06 HIGH TestSub"},
		{"go", "<first>", `if runtime.GOOS == "windows" { t.Skip("no links") }`, "TP-06 LOW TestSub"},
		{"go", "<first>", `if testing.Short() { t.Skip("slow") }`, "TP-06 LOW TestSub"},
		{"go", "<first>", `if 1 < 2 { t.Skip("flaky") }`, "TP-06 HIGH TestSub"},
		{"go", "<first>", `if os.Getenv("RUN_SLOW") == "" { return }`, "TP-06 HIGH TestSub"},
		{"go", "<first>", `if os.Getenv("DATABASE_URL") == "" { t.Skip("no database") }`, "TP-06 LOW TestSub"},
		{"go", "<first>", `if 1 > 2 { t.Skip("flaky") }`, ""},
		{"go", "<first>", `defer func() { r.Skip(3) }()`, ""},
		{"go", "<first>", "return", "TP-04 CRITICAL TestSub"},
		{"go", "<first>", "if x == nil { return }", ""},
		{"go", "<file>", "//go:build ignore\n\n", "TP-07 CRITICAL TestAdd"},
		{"go", "<file>", "//go:build linux\n\n", "TP-07 LOW TestAdd"},
		{"go", "<file>", "//go:build slowtests\n\n", "TP-07 HIGH TestAdd"},
		{"python", "<before>", `@pytest.mark.skip(reason="flaky")`, "TP-05 HIGH test_sub"},
		{"python", "<before>", "@pytest.mark.skip", "TP-05 CRITICAL test_sub"},
		{"python", "<before>", `@pytest.mark.xfail(reason="flaky")`, "TP-05 HIGH test_sub"},
		{"python", "<before>", `@pytest.mark.skipif(True, reason="flaky")`, "TP-06 HIGH test_sub"},
		{"python", "<before>", `@pytest.mark.skipif("CI" in os.environ, reason="flaky")`, "TP-06 HIGH test_sub"},
		{"python", "<before>", `@pytest.mark.skipif(sys.platform == "win32", reason="no fork")`, "TP-06 LOW test_sub"},
		{"python", "<before>", `@pytest.mark.skipif(sys.version_info >= (3, 11), reason="gone")`, "TP-06 LOW test_sub"},
		{"python", "<before>", `@pytest.mark.skipif("not has_zone", reason="zone")`, "TP-06 LOW test_sub"},
		{"python", "<before>", `@pytest.mark.skipif("1 == 1", reason="zone")`, "TP-06 HIGH test_sub"},
		{"js", "<call>", "(true ? it.skip : it)", "TP-06 HIGH calc subs"},
		{"js", "<call>", "(process.env.CI ? it.skip : it)", "TP-06 HIGH calc subs"},
		{"js", "<call>", "(isWindows ? it.skip : it)", "TP-06 LOW calc subs"},
		{"python", "<before>", `@pytest.mark.skipif(sys.version_info < (3, 9), reason="new syntax")`, "TP-06 LOW test_sub"},
		{"python", "<before>", "@pytest.mark.xfail(\n    reason=\"fails once in a while\",\n    raises=OSError,\n)", "TP-05 HIGH test_sub"},
		{"python", "<before>", `@pytest.mark.skip("not relevant until calc 10.0")`, "TP-05 HIGH test_sub"},
		{"python", "<before>", "@pytest.mark.skip(\n    reason=\"flaky on some machines\",\n)", "TP-05 HIGH test_sub"},
		{"python", "<before>", `@pytest.mark.xfail(sys.platform == "win32", reason="no fork")`, "TP-06 LOW test_sub"},
		{"python", "<first>", `pytest.skip("flaky")`, "TP-05 HIGH test_sub"},
		{"python", "<first>", "if not has_docker():\n        pytest.skip(\"no docker\")", "TP-06 LOW test_sub"},
		{"python", "<first>", "if True:\n        pytest.skip(\"flaky\")", "TP-06 HIGH test_sub"},
		{"python", "<first>", "return", "TP-04 CRITICAL test_sub"},
		{"python", "<first>", "# pytest.skip() is not for this", ""},
		{"python", "<first>", `s = "pytest.skip()"`, ""},
		{"python", "<file>", `pytestmark = pytest.mark.skip(reason="flaky")`, "TP-07 HIGH test_add"},
		{"python", "<file>", `pytest.skip("flaky", allow_module_level=True)`, "TP-07 HIGH test_add"},
		{"python", "<file>", `pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="posix")`, "TP-07 LOW test_add"},
		{"python", "<file>", `pytestmark = pytest.mark.slow`, ""},
		{"unittest", "<before>", `@unittest.skip("flaky")`, "TP-05 HIGH test_sub"},
		{"unittest", "<before>", `@unittest.skipIf(True, "flaky")`, "TP-06 HIGH test_sub"},
		{"unittest", "<before>", `@unittest.skipUnless(False, "flaky")`, "TP-06 HIGH test_sub"},
		{"unittest", "<before>", `@unittest.skipUnless(hasattr(os, "fork"), "posix")`, "TP-06 LOW test_sub"},
		{"unittest", "<before>", `@unittest.expectedFailure`, "TP-05 CRITICAL test_sub"},
		{"unittest", "<first>", `self.skipTest("flaky")`, "TP-05 HIGH test_sub"},
		{"unittest", "<group>", `@unittest.skip("flaky")`, "TP-07 HIGH test_add"},
		{"unittest", "<group>", `@dataclass`, ""},
		{"js", "<call>", "it.skip", "TP-05 CRITICAL calc subs"},
		{"js", "<call>", "xit", "TP-05 CRITICAL calc subs"},
		{"js", "<call>", "it.only", "TP-08 CRITICAL calc subs"},
		{"js", "<call>", "fit", "TP-08 CRITICAL calc subs"},
		{"js", "<call>", "it.skipIf(true)", "TP-06 HIGH calc subs"},
		{"js", "<call>", "it.skipIf(process.platform === 'win32')", "TP-06 LOW calc subs"},
		{"js", "<group2>", ".skip", "TP-07 CRITICAL calc adds"},
		{"js", "<group2>", ".only", "TP-08 CRITICAL"},
		{"js", "<first>", "this.skip()", "TP-05 CRITICAL calc subs"},
		{"js", "<first>", "if (process.platform === 'win32') this.skip()", "TP-06 LOW calc subs"},
		{"js", "<first>", "return", "TP-04 CRITICAL calc subs"},
		{"js", "<first>", "const y = { only: true }", ""},
		{"java", "<before>", "@Disabled", "TP-05 CRITICAL subs"},
		{"java", "<before>", `@Ignore("flaky")`, "TP-05 HIGH subs"},
		{"java", "<before>", `@DisabledOnOs(OS.WINDOWS)`, "TP-06 LOW subs"},
		{"java", "<before>", `@Timeout(3)`, ""},
		{"java", "<group>", `@Disabled("flaky")`, "TP-07 HIGH adds"},
		{"java", "<first>", `assumeTrue(false);`, "TP-06 HIGH subs"},
		{"java", "<first>", `Assumptions.assumeTrue(System.getProperty("os.name").startsWith("Linux"));`, "TP-06 LOW subs"},
		{"java", "<first>", `if (true) return;`, "TP-04 CRITICAL subs"},
		{"kotlin", "<before>", "@Disabled", "TP-05 CRITICAL subs"},
		{"kotlin", "<before>", "@Ignore", "TP-05 CRITICAL subs"},
		{"kotlin", "<first>", "return", "TP-04 CRITICAL subs"},
		{"rust", "<before>", "#[ignore]", "TP-05 CRITICAL subs"},
		{"rust", "<before>", `#[ignore = "flaky"]`, "TP-05 HIGH subs"},
		{"rust", "<before>", `#[cfg(any())]`, "TP-06 HIGH subs"},
		{"rust", "<before>", `#[cfg_attr(all(), ignore)]`, "TP-06 HIGH subs"},
		{"rust", "<before>", `#[cfg(unix)]`, "TP-06 LOW subs"},
		{"rust", "<before>", `#[should_panic]`, "TP-05 HIGH subs"},
		{"rust", "<first>", "return;", "TP-04 CRITICAL subs"},
		{"rust", "<group>", "#[cfg(any())]", "TP-07 CRITICAL adds"},
		{"rspec", "<call>", "xit", "TP-05 CRITICAL calc subs"},
		{"rspec", "<opt>", ", skip: true", "TP-05 CRITICAL calc subs"},
		{"rspec", "<first>", "skip 'flaky'", "TP-05 HIGH calc subs"},
		{"rspec", "<first>", "pending", "TP-05 CRITICAL calc subs"},
		{"rspec", "<first>", "skip 'no fork' unless Process.respond_to?(:fork)", "TP-06 LOW calc subs"},
		{"rspec", "<first>", "skip 'flaky' if ENV['CI']", "TP-06 HIGH calc subs"},
		{"rspec", "<first>", "skip 'flaky' if true", "TP-06 HIGH calc subs"},
		{"rspec", "<call>", "fit", "TP-08 CRITICAL calc subs"},
		{"minitest", "<first>", "skip", "TP-05 CRITICAL test_sub"},
		{"minitest", "<first>", "return", "TP-04 CRITICAL test_sub"},
		{"minitest", "<first>", "skip_rows = 3", ""},
		{"php", "<first>", `$this->markTestSkipped('flaky');`, "TP-05 HIGH testSub"},
		{"php", "<first>", `if (PHP_OS_FAMILY === 'Windows') { $this->markTestSkipped('posix'); }`, "TP-06 LOW testSub"},
		{"php", "<first>", `return;`, "TP-04 CRITICAL testSub"},
		{"csharp", "<fact>", `[Fact(Skip = "flaky")]`, "TP-05 HIGH Subs"},
		{"csharp", "<before>", `[Ignore("flaky")]`, "TP-05 HIGH Subs"},
		{"csharp", "<before>", `[Trait("a", "b")]`, ""},
		{"csharp", "<first>", `return;`, "TP-04 CRITICAL Subs"},
		{"gtest", "<first>", `GTEST_SKIP() << "flaky";`, "TP-05 HIGH Calc.Subs"},
		{"gtest", "<name>", `DISABLED_`, "TP-05 CRITICAL Calc.DISABLED_Subs"},
		{"gtest", "<first>", `return;`, "TP-04 CRITICAL Calc.Subs"},
		{"catch2", "<first>", `SKIP("flaky");`, "TP-05 HIGH subs"},
		{"catch2", "<tag>", `[.]`, "TP-05 CRITICAL subs"},
		{"xctest", "<first>", `throw XCTSkip("flaky")`, "TP-05 HIGH testSub"},
		{"xctest", "<first>", `try XCTSkipIf(true)`, "TP-06 HIGH testSub"},
		{"xctest", "<first>", `return`, "TP-04 CRITICAL testSub"},
		{"swift", "<args>", `(.disabled("flaky"))`, "TP-05 HIGH subs"},
		{"exunit", "<before>", "@tag :skip", "TP-05 CRITICAL subs"},
		{"exunit", "<before>", "@tag timeout: 60", ""},
		{"exunit", "<file>", "@moduletag :skip", "TP-07 CRITICAL adds"},
	} {
		t.Run(test.lang+"/"+test.put, func(t *testing.T) {
			s := samples[test.lang]
			got := strings.Join(audited(texts{s.path: s.with(nil)}, texts{s.path: s.with(map[string]string{test.mark: test.put})}), "; ")
			if got != test.want {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}
