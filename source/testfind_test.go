package source

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestTestsOfOtherLanguages compares the tests that are found, written as
// class, name, lines and assertions.
func TestTestsOfOtherLanguages(t *testing.T) {
	for _, tt := range []struct {
		path, src string
		want      []string
	}{
		{"tests/test_m.py", `import pytest
from m import add

def helper(): assert False

def test_add(): assert add(2, 3) == 5  # a comment

@pytest.mark.parametrize("a", [1, 2])
def test_rows(a):
    """Documentation."""
    assert add(
        a, 0
    ) == a
    with pytest.raises(ValueError):
        add("x", 1)

class TestAdd:
    async def test_one(self):
        def test_inner(): pass
        self.assertEqual(add(1, 1), 2)
`, []string{
			` test_add 6-6: assert add(2, 3) == 5`,
			` test_rows 9-15: assert add( a, 0 ) == a | with pytest.raises(ValueError):`,
			`TestAdd test_one 18-20: self.assertEqual(add(1, 1), 2)`,
		}},
		{"m.py", "def test_add(): assert add(2, 3) == 5\n", nil},
		{"src/add.test.ts", `import { add } from "./add";
describe('add', () => {
  const re = /a/; re.test("title");
  it("adds it's two", async () => {
    expect(add(1, 2)).toBe(3); expect(add(2, 2))
      .not.toBe(3)
  });
  describe("of " + x, () => { test.only('nested', function () { assert.ok(true) }) });
  it.each([[1, 2]])("rows %i", (a, b) => { expect(add(a, 1)).toBe(b) });
  it("is only planned");
  it(` + "`computed ${x}`" + `, () => {});
});
`, []string{
			`add add adds it's two 4-7: expect(add(1, 2)).toBe(3) | expect(add(2, 2)) .not.toBe(3)`,
			`add add nested 8-8: assert.ok(true)`,
			`add add rows %i 9-9: expect(add(a, 1)).toBe(b)`,
			`add add computed ${x} 11-11: `,
		}},
		{"src/test/java/com/x/FooTest.java", `package com.x;
class FooTest extends TestCase {
  @Test
  @DisplayName("adds")
  void adds() throws Exception {
    assertEquals(5, Foo.add(2, 3)); // five
  }
  @ParameterizedTest @ValueSource(ints = {1, 2})
  void rows(int a) { assertTrue(a > 0); }
  public void testOld() { assertEquals(1, 1); }
  private Test helper() { return null; }
  @Nested class Inner { @org.junit.jupiter.api.Test void nested() { verify(mock).run(); } }
}
`, []string{
			`FooTest adds 5-7: assertEquals(5, Foo.add(2, 3))`,
			`FooTest rows 9-9: assertTrue(a > 0)`,
			`FooTest testOld 10-10: assertEquals(1, 1)`,
			`Inner nested 12-12: verify(mock).run()`,
		}},
		{"src/test/java/BarTest.java", "class BarTest {\n  @Test public void testNew() { assertTrue(a()); }\n  public void testUnmarked() { assertTrue(b()); }\n}\n", []string{
			`BarTest testNew 2-2: assertTrue(a())`,
		}},
		{"src/test/kotlin/FooTest.kt", "class FooTest {\n  @Test\n  fun `adds, doesn't fail`() {\n    assertEquals(5, add(2, 3))\n  }\n  @Test fun short() = assertEquals(1, one())\n}\n", []string{
			`FooTest adds, doesn't fail 3-5: assertEquals(5, add(2, 3))`,
			`FooTest short 6-6: assertEquals(1, one())`,
		}},
		{"Calc.Tests/CalcTests.cs", `namespace Calc;
public class CalcTests {
    [Fact]
    public async Task Adds() { Assert.Equal(5, Calc.Add(2, 3)); }
    [Theory, InlineData(1)]
    public void Rows(int a) => Assert.True(a > 0);
    public void Helper() { Assert.True(true); }
}
`, []string{`CalcTests Adds 4-4: Assert.Equal(5, Calc.Add(2, 3))`, `CalcTests Rows 6-6: Assert.True(a > 0)`}},
		{"src/lib.rs", `pub fn add(a: i32, b: i32) -> i32 { a + b }
#[cfg(test)]
mod tests {
    use super::*;
    #[test]
    #[should_panic(expected = "x")]
    fn adds() {
        assert_eq!(add(2, 3), 5);
    }
    #[tokio::test]
    async fn waits() { assert!(run().await.is_ok()) }
    fn test_helper() {}
}
`, []string{`tests adds 7-9: assert_eq!(add(2, 3), 5)`, `tests waits 11-11: assert!(run().await.is_ok())`}},
		{"test/calc_test.rb", `class CalcTest < Minitest::Test
  def test_adds
    assert_equal 5, Calc.add(2, 3)
  end
  test "the truth is" do
    refute Calc.broken?
  end
end
`, []string{`CalcTest test_adds 2-4: assert_equal 5, Calc.add(2, 3)`, `CalcTest test_the_truth_is 5-7: refute Calc.broken?`}},
		{"spec/calc_spec.rb", `RSpec.describe Calc do
  describe "#add" do
    it "adds" do
      expect(Calc.add(2, 3)).to eq(5)
    end
    it("is short") { expect(1).to eq 1 }
  end
  it 'has an end', :slow do expect(2).to eq 2 end
end
`, []string{
			`Calc #add Calc #add adds 3-5: expect(Calc.add(2, 3)).to eq(5)`,
			`Calc #add Calc #add is short 6-6: expect(1).to eq 1`,
			`Calc Calc has an end 8-8: expect(2).to eq 2`,
		}},
		{"tests/CalcTest.php", `<?php
class CalcTest extends TestCase {
    public function testAdds(): void { $this->assertSame(5, add(2, 3)); }
    /** @test */
    public function it_adds() { $this->assertTrue(true); }
    public function helper() {}
    #[Test]
    public function marked() { $this->assertTrue(ok()); }
}
`, []string{
			`CalcTest testAdds 3-3: $this->assertSame(5, add(2, 3))`,
			`CalcTest it_adds 5-5: $this->assertTrue(true)`,
			`CalcTest marked 8-8: $this->assertTrue(ok())`,
		}},
	} {
		t.Run(tt.path, func(t *testing.T) {
			file, err := Scan(tt.path, []byte(tt.src))
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, d := range file.Tests {
				got = append(got, fmt.Sprintf("%s %s %d-%d: %s", d.Class, d.Name, d.Line, d.End, strings.Join(d.Assertions, " | ")))
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("tests (-want +got):\n%s", diff)
			}
		})
	}
}

func TestDefinitionsHoldTokensAssertionsAndSymbols(t *testing.T) {
	file, _ := Scan("test_m.py", []byte("def test_add():\n    got = m.add(2, 'x y')  # not 7\n    assert got >= 2 and check(got) != f'{got}!'\n"))
	if len(file.Tests) != 1 {
		t.Fatalf("found %v", file.Tests)
	}
	d := file.Tests[0]
	tokens := map[string]int{
		"got": 4, "m": 1, "add": 1, "2": 2, `"x y"`: 1, "assert": 1, ">=": 1, "and": 1, "check": 1, "!=": 1, "f": 1, `"!"`: 1,
	}
	if diff := cmp.Diff(tokens, d.Tokens); diff != "" {
		t.Errorf("tokens (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{`"x y"`, `"!"`, "2"}, d.Literals); diff != "" {
		t.Errorf("literals (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"add"}, d.Symbols); diff != "" {
		t.Errorf("symbols (-want +got):\n%s", diff)
	}
}
