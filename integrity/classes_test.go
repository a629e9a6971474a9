package integrity

import (
	"strings"
	"testing"
)

func TestClassesOutOfDiscoveryAreFound(t *testing.T) {
	const (
		java   = "import org.junit.jupiter.api.Test;\n\npublic class SlugTest {\n  @Test\n  void lower() {\n    assertEquals(\"a\", slug(\"A\"));\n  }\n}\n"
		kotlin = "class SlugTest {\n  @Test\n  fun lower() {\n    assertEquals(\"a\", slug(\"A\"))\n  }\n}\n"
		php    = "<?php\n\nclass SlugTest extends TestCase\n{\n    public function testLower()\n    {\n        self::assertSame('a', slug('A'));\n    }\n}\n"
		ruby   = "class SlugTest < Minitest::Test\n  def test_lower\n    assert_equal \"a\", slug(\"A\")\n  end\nend\n"
		spec   = "RSpec.describe Slug do\n  it \"lowers\" do\n    expect(slug(\"A\")).to eq(\"a\")\n  end\nend\n"
		swift  = "final class SlugTests: XCTestCase {\n  func testLower() {\n    XCTAssertEqual(slug(\"A\"), \"a\")\n  }\n}\n"
		python = "import unittest\n\n\nclass SlugCase(unittest.TestCase):\n    def test_lower(self):\n        self.assertEqual(slug(\"A\"), \"a\")\n"
		pytest = "class TestSlug:\n    def test_lower(self):\n        assert slug(\"A\") == \"a\"\n"
		rust   = "fn slug() {}\n\n#[cfg(test)]\nmod tests {\n    #[test]\n    fn lower() {\n        assert_eq!(slug(\"A\"), \"a\");\n    }\n}\n"
		script = "describe('slug', () => {\n  it('lowers', () => {\n    expect(slug('A')).toBe('a');\n  });\n});\n"
	)
	for _, test := range []struct {
		name, path, text, from, to, want string
	}{
		{"abstract", "src/test/java/SlugTest.java", java, "public class", "public abstract class", "TP-03 HIGH lower"},
		{"abstract with an heir", "src/test/java/SlugTest.java", java + "class FastSlugTest extends SlugTest {\n}\n", "public class", "public abstract class", ""},
		{"another word", "src/test/java/SlugTest.java", java, "public class", "public final class", ""},
		{"abstract in Kotlin", "src/test/kotlin/SlugTest.kt", kotlin, "class", "abstract class", "TP-03 HIGH lower"},
		{"abstract in PHP", "tests/SlugTest.php", php, "class Slug", "abstract class Slug", "TP-03 HIGH testLower"},
		{"named otherwise in PHP", "tests/SlugTest.php", php, "class SlugTest", "class SlugCheck", "TP-03 HIGH testLower"},
		{"parent dropped in Ruby", "test/slug_test.rb", ruby, "Minitest::Test", "Object", "TP-03 HIGH test_lower"},
		{"another parent in Ruby", "test/slug_test.rb", ruby, "Minitest::Test", "SlugTestCase", ""},
		{"parent dropped in Swift", "Tests/SlugTests/SlugTests.swift", swift, "XCTestCase", "NSObject", "TP-03 HIGH testLower"},
		{"parent dropped in Python", "tests/test_slug.py", python, "unittest.TestCase", "object", "TP-03 HIGH test_lower"},
		{"named otherwise for pytest", "tests/test_slug.py", pytest, "TestSlug", "BaseSlug", "TP-03 HIGH test_lower"},
		{"named otherwise for pytest, with an heir", "tests/test_slug.py", pytest + "\n\nclass TestFast(BaseSlug):\n    fast = True\n", "TestSlug", "BaseSlug", ""},
		{"another name that pytest takes", "tests/test_slug.py", pytest, "TestSlug", "TestSlugs", ""},
		{"a test case for pytest", "tests/test_slug.py", pytest, "TestSlug:", "SlugCase(unittest.TestCase):", ""},
		{"a proc that nobody calls", "spec/slug_spec.rb", spec, "RSpec.describe Slug do", "proc do # Slug", "TP-07 CRITICAL lowers"},
		{"a function that nobody calls", "slug.test.js", script, "describe('slug', () => {", "const later = () => {", "TP-07 CRITICAL lowers"},
		{"a function that is called", "slug.test.js", script + "all(later);\n", "describe('slug', () => {", "const later = () => {", ""},
		{"cfg that nothing sets", "src/slug.rs", rust, "cfg(test)", "cfg(disabled)", "TP-07 HIGH lower"},
		{"cfg of a platform", "src/slug.rs", rust, "cfg(test)", "cfg(unix)", "TP-07 LOW lower"},
	} {
		t.Run(test.name, func(t *testing.T) {
			got := audited(texts{test.path: test.text}, texts{test.path: strings.Replace(test.text, test.from, test.to, 1)})
			if joined := strings.Join(got, "; "); joined != test.want {
				t.Errorf("got %q, want %q", joined, test.want)
			}
		})
	}
}
