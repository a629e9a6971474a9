package integrity

import (
	"strings"
	"testing"
)

// What became of an assertion that compares with a literal.
func TestChangedComparisonsWithLiterals(t *testing.T) {
	half := goHead + "func TestHalf(t *testing.T) {\n\tif got := Half(8); got != 4 {\n\t\tt.Errorf(\"got %d, want 4\", got)\n\t}\n}\n"
	apart := goHead + "func TestHalf(t *testing.T) {\n\tgot, err := Half(2)\n\tif err != nil {\n\t\tt.Fatal(err)\n\t}\n\tif got != 1 {\n\t\tt.Errorf(\"got %d\", got)\n\t}\n}\n"
	python := "def test_half():\n    assert half(8) == 4\n"
	local := "def test_half():\n    got = half(8)\n    assert got == \"got 4\"\n"
	swift := "import XCTest\n\nfinal class SlugTests: XCTestCase {\n  func testLower() {\n    let got = slug(\"A\")\n    XCTAssertEqual(got, \"a\")\n    XCTAssertEqual(got.count, 17)\n  }\n}\n"
	ruby := "class SlugTest < Minitest::Test\n  def test_lower\n    assert_equal \"a\", slug(\"A\")\n    assert_equal 3, slug(\"abc\").size\n  end\nend\n"
	for _, test := range []struct{ name, path, text, from, to, want string }{
		{"opposite and another value", "a_test.go", half, "got != 4", "got == 0", "TP-14 HIGH TestHalf"},
		{"opposite", "a_test.go", half, "got != 4", "got == 4", "TP-14 HIGH TestHalf"},
		{"opposite and another value in Python", "test_a.py", python, "== 4", "!= 0", "TP-14 HIGH test_half"},
		{"another sign", "a_test.go", apart, "got != 1", "got != -1", "TP-13 HIGH TestHalf"},
		{"another sign in Python", "test_a.py", python, "== 4", "== -4", "TP-13 HIGH test_half"},
		{"an error expected now", "a_test.go", apart, "err != nil", "err == nil", "TP-14 HIGH TestHalf"},
		{"Swift, opposite", "Tests/SlugTests/SlugTests.swift", swift, "XCTAssertEqual(got, ", "XCTAssertNotEqual(got, ", "TP-14 HIGH testLower"},
		{"Swift, trivial", "Tests/SlugTests/SlugTests.swift", swift, "XCTAssertEqual(got, \"a\")", "XCTAssertTrue(true)", "TP-12 HIGH testLower"},
		{"Ruby, trivial", "test/slug_test.rb", ruby, "assert_equal \"a\", slug(\"A\")", "assert_equal 1, 1", "TP-12 HIGH test_lower"},
		{"a call with itself", "test_a.py", python, "== 4", "== half(8)", "TP-11 HIGH test_half"},
		{"a local name, and the opposite", "test_a.py", local, "got = half(8)\n    assert got ==", "gotValue = half(8)\n    assert gotValue !=", "TP-14 HIGH test_half"},
		{"a local name", "test_a.py", local, "got = half(8)\n    assert got ==", "gotValue = half(8)\n    assert gotValue ==", ""},
		{"another name", "a_test.go", half, "got := Half(8); got != 4", "n := Half(8); n != 4", ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			got := audited(texts{test.path: test.text}, texts{test.path: strings.Replace(test.text, test.from, test.to, 1)})
			if joined := strings.Join(got, "; "); !strings.HasPrefix(joined, test.want) || test.want == "" && joined != "" {
				t.Errorf("got %q, want %q", joined, test.want)
			}
		})
	}
}
