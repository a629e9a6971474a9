package integrity

import (
	"strings"
	"testing"
)

// Tests that runners ignore, and files that they do not read.
func TestTestsOutOfDiscoveryAreFound(t *testing.T) {
	for _, test := range []struct{ lang, from, to, want string }{
		{"php", "public function testSub", "private function testSub", "TP-03 CRITICAL testSub"},
		{"php", "public function testSub", "protected function testSub", "TP-03 CRITICAL testSub"},
		{"php", "public function testSub", "public static function testSub", ""},
		{"xctest", "func testSub", "private func testSub", "TP-03 CRITICAL testSub"},
		{"minitest", "  def test_sub", "  private\n\n  def test_sub", "TP-03 CRITICAL test_sub"},
		{"minitest", "  def test_sub", "  private def test_sub", "TP-03 CRITICAL test_sub"},
		{"minitest", "  def test_sub", "  public\n\n  def test_sub", ""},
		{"exunit", "use ExUnit.Case", "import ExUnit.Assertions", "TP-03 HIGH adds"},
		{"csharp", "public class CalcTests", "internal class CalcTests", "TP-03 HIGH Adds"},
	} {
		t.Run(test.lang+"/"+test.to, func(t *testing.T) {
			s := samples[test.lang]
			before := s.with(nil)
			got := strings.Join(audited(texts{s.path: before}, texts{s.path: strings.Replace(before, test.from, test.to, 1)}), "; ")
			if got != test.want {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
	for _, test := range []struct{ lang, to, want string }{
		{"java", "src/test/java/Calc_checks.java", "TP-03 CRITICAL"},
		{"java", "src/test/java/CalculatorTest.java", ""},
		{"kotlin", "src/test/kotlin/CalcChecks.kt", "TP-03 HIGH"},
		{"csharp", "tests/CalcChecks.cs", "TP-03 HIGH"},
		{"csharp", "tests/old/CalcTests.cs", "TP-03 CRITICAL"},
		{"gtest", "tests/calc_checks.cc", "TP-03 HIGH"},
		{"xctest", "Tests/CalcChecks.swift", "TP-03 HIGH"},
		{"exunit", "test/calc_checks.exs", "TP-03 CRITICAL"},
		{"python", "tests/test_a.py.off", "TP-03 CRITICAL"},
		{"minitest", "test/calc_checks.rb", "TP-03 CRITICAL"},
		{"minitest", "test/spec_calc.rb", ""},
	} {
		t.Run(test.to, func(t *testing.T) {
			s := samples[test.lang]
			text := []byte(s.with(nil))
			got := ""
			for _, f := range Audit([]File{{Path: test.to, OldPath: s.path, Before: text, After: text}}, Options{}) {
				got = f.Rule + " " + strings.ToUpper(f.Severity.String())
				break
			}
			if got != test.want {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}

// A copy of a test that is still there does not explain one that is gone.
func TestCopiesExplainNothing(t *testing.T) {
	one := func(name, call, value string) string {
		return "def test_" + name + "():\n    app = make(\"shop\", debug=True)\n    page = app." + call + "(\"/index\")\n    assert page.status == 200\n    assert page.text == \"" + value + "\"\n\n\n"
	}
	before := one("get", "get", "hello") + one("head", "head", "empty")
	for _, test := range []struct{ name, after, want string }{
		{"deleted, and a copy of the other", one("get", "get", "hello") + one("get_again", "get", "hallo"), "TP-01 HIGH test_head"},
		{"renamed", one("get", "get", "hello") + one("head_of_page", "head", "empty"), ""},
	} {
		got := strings.Join(audited(texts{"tests/test_a.py": before}, texts{"tests/test_a.py": test.after}), "; ")
		if got != test.want && (test.want != "" || !strings.HasPrefix(got, "(")) {
			t.Errorf("%s: got %q, want %q", test.name, got, test.want)
		}
	}
}

// Rows that are apart from their test, or in other forms.
func TestRowsOutsideTheirTestAreFound(t *testing.T) {
	php := "<?php\nclass CalcTest extends TestCase\n{\n    public static function sums(): array\n    {\n        return [\n            [1, 2, 3],\n            [17, 4, 21],\n            [0, 0, 0],\n        ];\n    }\n\n    /** @dataProvider sums */\n    public function testAdd($a, $b, $want)\n    {\n        $this->assertSame($want, add($a, $b));\n    }\n}\n"
	yields := "<?php\nclass CalcTest extends TestCase\n{\n    public static function sums(): iterable\n    {\n        yield 'small' => [1, 2, 3];\n        yield 'big' => [17, 4, 21];\n        yield 'none' => [0, 0, 0];\n    }\n\n    #[DataProvider('sums')]\n    public function testAdd($a, $b, $want)\n    {\n        $this->assertSame($want, add($a, $b));\n    }\n}\n"
	java := "class CalcTest {\n    static Stream<Arguments> sums() {\n        return Stream.of(\n            arguments(1, 2, 3),\n            arguments(17, 4, 21),\n            arguments(0, 0, 0));\n    }\n\n    @ParameterizedTest\n    @MethodSource(\"sums\")\n    void adds(int a, int b, int want) {\n        assertEquals(want, Calc.add(a, b));\n    }\n}\n"
	csharp := "public class CalcTests\n{\n    [Theory]\n    [InlineData(1, 2, 3)]\n    [InlineData(17, 4, 21)]\n    [InlineData(0, 0, 0)]\n    public void Adds(int a, int b, int want)\n    {\n        Assert.Equal(want, Calc.Add(a, b));\n    }\n}\n"
	python := "CASES = [(1, 2, 3), (17, 4, 21), (0, 0, 0)]\n\n\n@pytest.mark.parametrize(\"a, b, want\", CASES)\ndef test_add(a, b, want):\n    assert add(a, b) == want\n"
	ruby := "class CalcTest < Minitest::Test\n  def test_words\n    %w[one two three].each do |word|\n      assert_equal word.size, count(word)\n    end\n  end\nend\n"
	swift := "@Test(arguments: [1, 2, 3, 4])\nfunc even(n: Int) {\n    #expect(double(n) % 2 == 0)\n}\n"
	cpp := "TEST_P(Calc, Even) {\n  EXPECT_EQ(0, twice(GetParam()) % 2);\n}\n\nINSTANTIATE_TEST_SUITE_P(Some, Calc, ::testing::Values(1, 2, 3, 4));\n"
	for _, test := range []struct{ path, text, from, to, want string }{
		{"tests/CalcTest.php", php, "            [1, 2, 3],\n            [17, 4, 21],\n", "", "TP-09 HIGH testAdd"},
		{"tests/CalcTest.php", php, "            [1, 2, 3],\n            [17, 4, 21],\n            [0, 0, 0],\n", "", "TP-09 HIGH testAdd"},
		{"tests/CalcTest.php", yields, "        yield 'small' => [1, 2, 3];\n", "", "TP-09 HIGH testAdd"},
		{"src/test/java/CalcTest.java", java, "            arguments(17, 4, 21),\n", "", "TP-09 HIGH adds"},
		{"tests/CalcTests.cs", csharp, "    [InlineData(1, 2, 3)]\n    [InlineData(17, 4, 21)]\n    [InlineData(0, 0, 0)]\n", "", "TP-09 HIGH Adds"},
		{"tests/CalcTests.cs", csharp, "    [InlineData(1, 2, 3)]\n    [InlineData(17, 4, 21)]\n    [InlineData(0, 0, 0)]\n", "    [MemberData(nameof(Sums))]\n", ""},
		{"tests/test_a.py", python, ", (17, 4, 21)", "", "TP-09 HIGH test_add"},
		{"test/calc_test.rb", ruby, " two three", "", "TP-13 HIGH test_words"},
		{"test/calc_test.rb", ruby, " two three", " two", "TP-13 HIGH test_words; TP-09 HIGH test_words"},
		{"Tests/CalcTests.swift", swift, "1, 2, 3, 4", "1", "TP-09 HIGH even"},
		{"tests/calc_test.cc", cpp, "1, 2, 3, 4", "1, 2", "TP-09 MEDIUM"},
	} {
		t.Run(test.path+"/"+test.to, func(t *testing.T) {
			got := strings.Join(audited(texts{test.path: test.text}, texts{test.path: strings.Replace(test.text, test.from, test.to, 1)}), "; ")
			if got != test.want {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}

// Product code that detects tests, or that is equal to everything.
func TestProductCodeVariantsAreFound(t *testing.T) {
	for _, test := range []struct{ path, before, after, want string }{
		{"calc.go", "package p\n\nfunc f() {\n}\n", "package p\n\nfunc f() {\n\tif os.Getenv(\"GO_TEST\") != \"\" {\n\t\treturn\n\t}\n}\n", "TP-20 HIGH"},
		{"calc.py", "x = 1\n", "x = 1 if os.environ.get('TESTING') else 2\n", "TP-20 HIGH"},
		{"calc.py", "x = 1\n", "x = 1 if os.environ.get('LATEST') else 2\n", ""},
		{"Calc.java", "class Calc {\n}\n", "class Calc {\n    static boolean t = System.getProperty(\"surefire.test.class.path\") != null;\n}\n", "TP-20 HIGH"},
		{"calc.cc", "int x;\n", "int x;\nbool t() { return testing::UnitTest::GetInstance(); }\n", "TP-20 HIGH"},
		{"calc.py", "class A:\n    pass\n", "class A:\n    __eq__ = lambda self, other: True\n", "TP-23 HIGH"},
		{"calc.py", "class A:\n    pass\n", "class A:\n    def __ne__(self, other):\n        return False\n", "TP-23 HIGH"},
		{"calc.rb", "class A\nend\n", "class A\n  def ==(*) = true\nend\n", "TP-23 HIGH"},
	} {
		got := strings.Join(audited(texts{test.path: test.before}, texts{test.path: test.after}), "; ")
		if got != test.want {
			t.Errorf("%s: %q: got %q, want %q", test.path, test.after, got, test.want)
		}
	}
}
