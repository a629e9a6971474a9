package integrity

import (
	"strings"
	"testing"
)

// What tests expect, weakened in more ways: each replaces the assertion of "sub"
// in a sample, or one next to it.
func TestWeakenedAssertionVariantsAreFound(t *testing.T) {
	for _, test := range []struct{ lang, was, now, want string }{
		{"python", "assert isinstance(x, int)", "assert isinstance(x, object)", "TP-12 HIGH"},
		{"python", "assert len(x) == 2", "assert len(x) >= 0", "TP-12 HIGH"},
		{"python", "assert x == 14", "assert isinstance(x, int)", "TP-11 HIGH"},
		{"python", "assert x == 14", "assert x < 20", "TP-11 HIGH"},
		{"python", "with pytest.raises(KeyError, match=\"no key\"):\n        x()", "with pytest.raises(KeyError):\n        x()", "TP-11 HIGH"},
		{"python", "with pytest.raises(KeyError, match=\"no key\"):\n        x()", "with pytest.raises(KeyError, match=\".*\"):\n        x()", "TP-11 HIGH"},
		{"python", "with pytest.raises(RuntimeError):\n        x()", "with pytest.raises(Exception):\n        x()", "TP-11 HIGH"},
		{"python", "with pytest.raises(KeyError, match=\"no key\"):\n        x()", "with pytest.raises(KeyError) as e:\n        x()", "TP-11 MEDIUM"},
		{"js", "expect(x).toThrow('empty')", "expect(x).toThrow()", "TP-11 HIGH"},
		{"js", "expect(x).toThrow(TypeError)", "expect(x).toThrow()", "TP-11 HIGH"},
		{"js", "expect(x).toThrow(TypeError)", "expect(x).toThrow(Error)", "TP-11 HIGH"},
		{"js", "assert.throws(() => x(), /no key/)", "assert.throws(() => x())", "TP-11 HIGH"},
		{"js", "assert.equal(x(), false)", "assert.notEqual(x(), false)", "TP-14 HIGH"},
		{"js", "assert.strictEqual(x(), 4)", "assert.notStrictEqual(x(), 4)", "TP-14 HIGH"},
		{"js", "expect(x).toBeGreaterThan(4)", "expect(x).toBeLessThan(4)", "TP-14 HIGH"},
		{"js", "expect(x.y).toEqual(false)", "expect(x.y).toBeTruthy()", "TP-11 HIGH"},
		{"js", "expect(x.y).toBe(true)", "expect(x.y).toBeFalsy()", "TP-11 HIGH"},
		{"python", "assert x.y is False", "assert x.y", "TP-11 HIGH"},
		{"js", "t.is(x.y, 14)", "t.truthy(x.y)", "TP-11 HIGH"},
		{"js", "t.throws(() => x(), {message: 'no key'})", "t.throws(() => x(), {instanceOf: Error, message: 'no key'})", ""},
		{"js", "t.throws(() => x(), {instanceOf: TypeError, message: 'no key'})", "t.throws(() => x(), {instanceOf: Error, message: /.*/})", "TP-11 HIGH"},
		{"js", "t.is(x.y, 14)", "t.not(x.y, 14)", "TP-14 HIGH"},
		{"js", "t.deepEqual(x.y, [14])", "t.true(true)", "TP-12 HIGH"},
		{"js", "t.is(x.y, 14)", "t.is(x.y, 15)", "TP-13 HIGH"},
		{"java", "assertThrows(IllegalStateException.class, () -> x());", "assertThrows(Exception.class, () -> x());", "TP-11 HIGH"},
		{"java", "assertThrows(RuntimeException.class, () -> x());", "assertThrows(Throwable.class, () -> x());", "TP-11 HIGH"},
		{"java", "assertThat(x).isEqualTo(14);", "assertThat(x).isNotEqualTo(14);", "TP-14 HIGH"},
		{"java", "assertThat(x, is(14));", "assertThat(x, not(14));", "TP-11"},
		{"kotlin", "assertFailsWith<IllegalStateException> { x() }", "assertFailsWith<Throwable> { x() }", "TP-11 HIGH"},
		{"kotlin", "x shouldBe 14", "x shouldNotBe 14", "TP-14 HIGH"},
		{"rust", "assert_eq!(x.len(), 14);", "let _ = (x.len(), 14);", "TP-10"},
		{"minitest", "assert_raises(KeyError) { x }", "assert_raises(StandardError) { x }", "TP-11 HIGH"},
		{"minitest", "_(x).must_equal 14", "_(x).wont_equal 14", "TP-14 HIGH"},
		{"minitest", "assert_equal 14, x.size", "assert_kind_of Object, x.size", "TP-12 HIGH"},
		{"rspec", "expect { x }.to raise_error(KeyError, 'no key')", "expect { x }.to raise_error(KeyError)", "TP-11 HIGH"},
		{"rspec", "expect { x }.to raise_error(KeyError)", "expect { x }.to raise_error", "TP-11 HIGH"},
		{"rspec", "expect(x).to be_truthy", "expect(x).to be_falsey", "TP-14 HIGH"},
		{"php", "$this->expectException(\\RuntimeException::class);", "$this->expectException(\\Throwable::class);", "TP-11 HIGH"},
		{"php", "$this->expectExceptionMessage('no key');", "$this->expectExceptionMessage('');", "TP-11 HIGH"},
		{"php", "$this->assertSame(14, $x->y());", "$this->assertIsInt($x->y());", "TP-11 HIGH"},
		{"csharp", "Assert.Throws<KeyNotFoundException>(() => X());", "Assert.ThrowsAny<Exception>(() => X());", "TP-11 HIGH"},
		{"csharp", "Assert.AreEqual(14, x);", "Assert.AreNotEqual(14, x);", "TP-14 HIGH"},
		{"csharp", "x.Should().Be(14);", "x.Should().NotBe(14);", "TP-14 HIGH"},
		{"csharp", "Assert.IsTrue(x.Y);", "Assert.IsFalse(x.Y);", "TP-14 HIGH"},
		{"gtest", "EXPECT_THROW(x(), std::out_of_range);", "EXPECT_ANY_THROW(x());", "TP-11 HIGH"},
		{"gtest", "EXPECT_THROW(x(), format_error);", "EXPECT_THROW(x(), std::exception);", "TP-11 HIGH"},
		{"gtest", "EXPECT_GT(x, 14);", "EXPECT_LT(x, 14);", "TP-14 HIGH"},
		{"catch2", "REQUIRE(x.ok());", "REQUIRE_FALSE(x.ok());", "TP-14 HIGH"},
		{"xctest", "XCTAssertEqual(x.y, 14)", "XCTAssertNoThrow(x.y)", "TP-11 HIGH"},
		{"exunit", "assert_raise KeyError, \"no key\", fn -> x() end", "assert_raise KeyError, fn -> x() end", "TP-11 HIGH"},
		{"exunit", "assert x =~ \"abc\"", "refute x =~ \"abc\"", "TP-14 HIGH"},
		// In other words, but the same.
		{"php", "$this->assertSame(14, count($x));", "$this->assertCount(14, $x);", ""},
		{"php", "$this->assertEquals(true, $x->y());", "$this->assertTrue($x->y());", ""},
		{"js", "expect(x.y).toBe(false)", "expect(x.y).toBeFalsy()", ""},
		{"js", "expect(x.y).toBe(true)", "expect(x.y).toBeTruthy()", ""},
		{"python", "self.assertEqual(x.y, False)", "self.assertFalse(x.y)", ""},
		{"csharp", "Assert.Equal(1, x.Count);", "Assert.Single(x);", ""},
	} {
		t.Run(test.lang+"/"+test.now, func(t *testing.T) {
			s := samples[test.lang]
			with := func(put string) texts { return texts{s.path: s.with(map[string]string{"<first>": put})} }
			got := strings.Join(audited(with(test.was), with(test.now)), "; ")
			if test.want == "" && got != "" || !strings.HasPrefix(got, test.want) {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}

// Failures that annotations expect.
func TestBroaderExpectedExceptionsAreFound(t *testing.T) {
	java := "import org.junit.Test;\n\npublic class CalcTest {\n    @Test(expected = IllegalStateException.class)\n    public void fails() {\n        Calc.fail(3);\n        assertTrue(Calc.failed());\n    }\n}\n"
	rust := "#[cfg(test)]\nmod tests {\n    #[test]\n    #[should_panic(expected = \"too big\")]\n    fn fails() {\n        assert!(calc::fail(3));\n    }\n}\n"
	for _, test := range []struct{ path, text, from, to, want string }{
		{"src/test/java/CalcTest.java", java, "IllegalStateException", "Exception", "TP-11 HIGH fails"},
		{"src/test/java/CalcTest.java", java, "IllegalStateException", "IllegalArgumentException", ""},
		{"src/lib.rs", rust, "(expected = \"too big\")", "", "TP-11 HIGH fails"},
	} {
		got := strings.Join(audited(texts{test.path: test.text}, texts{test.path: strings.Replace(test.text, test.from, test.to, 1)}), "; ")
		if got != test.want {
			t.Errorf("%s: %s: got %q, want %q", test.path, test.to, got, test.want)
		}
	}
}

// The subject of a test is a double.
func TestMockedSubjectIsFound(t *testing.T) {
	python := "from unittest import mock\nfrom shop.price import total\n\n\ndef test_total():\n    cart = Cart(3)\n    assert total(cart) == 21\n"
	script := "import { total } from './price'\n\ntest('total', () => {\n  const x = total(3)\n  expect(x).toBe(21)\n})\n"
	two := "import { total } from './price'\nimport { rate } from './rates'\n\ntest('total', () => {\n  const x = total(rate(3))\n  expect(x).toBe(21)\n})\n"
	php := "<?php\nclass CartTest extends TestCase\n{\n    public function testTotal()\n    {\n        $mail = new Mail();\n        $cart = new Cart($mail);\n        $cart->add(3);\n        $this->assertSame(21, $cart->total());\n    }\n}\n"
	java := "class CartTest {\n    @Test\n    void total() {\n        Mail mail = new Mail();\n        Cart cart = new Cart(mail);\n        assertEquals(21, cart.total());\n    }\n}\n"
	ruby := "class CartTest < Minitest::Test\n  def test_total\n    cart = Cart.new(3)\n    assert_equal 21, cart.total\n  end\nend\n"
	for _, test := range []struct{ path, text, from, to, want string }{
		{"tests/test_a.py", python, "def test_total", "@mock.patch(\"shop.price.total\", return_value=21)\ndef test_total", "TP-18 HIGH test_total"},
		{"tests/test_a.py", python, "def test_total", "@mock.patch.object(Cart, \"__init__\", return_value=None)\ndef test_total", "TP-18 HIGH test_total"},
		{"tests/test_a.py", python, "def test_total", "@mock.patch(\"time.sleep\")\ndef test_total", ""},
		{"price.test.js", script, "\n\ntest", "\njest.mock('./price')\n\ntest", "TP-18 HIGH"},
		{"cart.test.js", script, "\n\ntest", "\nvi.mock('./price')\n\ntest", "TP-18 HIGH"},
		{"cart.test.js", two, "\n\ntest", "\njest.mock('./rates')\n\ntest", ""},
		{"price.test.js", script, "\n\ntest", "\njest.mock('./price', () => ({ ...jest.requireActual('./price') }))\n\ntest", ""},
		{"tests/CartTest.php", php, "$cart = new Cart($mail)", "$cart = $this->createMock(Cart::class)", "TP-18 HIGH testTotal"},
		{"tests/CartTest.php", php, "$mail = new Mail()", "$mail = $this->createMock(Mail::class)", ""},
		{"src/test/java/CartTest.java", java, "new Cart(mail)", "mock(Cart.class)", "TP-18 HIGH total"},
		{"src/test/java/CartTest.java", java, "new Mail()", "mock(Mail.class)", ""},
		{"test/cart_test.rb", ruby, "Cart.new(3)", "Minitest::Mock.new", "TP-18 HIGH test_total"},
		{"test/cart_test.rb", ruby, "    assert", "    cart.stubs(:total).returns(21)\n    assert", "TP-18 HIGH test_total"},
	} {
		t.Run(test.path+"/"+test.to, func(t *testing.T) {
			got := strings.Join(audited(texts{test.path: test.text}, texts{test.path: strings.Replace(test.text, test.from, test.to, 1)}), "; ")
			if got != test.want {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}
