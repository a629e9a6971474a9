package assertion

import "testing"

func TestAssert(t *testing.T) {
	for _, test := range []struct {
		text     string
		strength Strength
		trivial  bool
	}{
		{"assert add(1, 2) == 3", Exact, false},
		{"assert add(1, 2) is not None", NonNull, false},
		{"assert add(1, 2)", Truthy, false},
		{"assert add(1, 2) > 0", Bound, false},
		{"assert 'a' in x", Pattern, false},
		{"assert isinstance(x, int)", Shape, false},
		{"assert x == pytest.approx(3)", Approx, false},
		{"assert True", Truthy, true},
		{"assert 1 + 1 == 2", Exact, true},
		{"assert x == x", Exact, true},
		{"assert f() == f()", Exact, false},
		{"assert False", Truthy, false},
		{"self.assertTrue(True)", Truthy, true},
		{"self.assertEqual(f(x), 3)", Exact, false},
		{"self.assertEqual(x, x)", Exact, true},
		{"expect(add(1, 2)).toBe(3)", Exact, false},
		{"expect(add(1, 2)).toBeDefined()", NonNull, false},
		{"expect(add(1, 2)).toBeTruthy()", Truthy, false},
		{"expect(true).toBe(true)", Exact, true},
		{"expect(true).toBeTruthy()", Truthy, true},
		{"expect(1 + 1).toBe(2)", Exact, true},
		{"expect(x).toHaveLength(2)", Shape, false},
		{"assert_eq!(add(1, 2), 3);", Exact, false},
		{"assert_eq!(2, 2);", Exact, true},
		{"assert!(true);", Truthy, true},
		{"assert!(x.is_ok());", NonNull, false},
		{"assert.Equal(t, 3, Add(1, 2))", Exact, false},
		{"assert.Equal(t, x, x)", Exact, true},
		{"assert.True(t, true)", Truthy, true},
		{"got != 3 => t.Error", Exact, false},
		{"err != nil => t.Fatal", NonNull, false},
		{"got < 3 => t.Error", Bound, false},
		{`got == "" => t.Error`, NonNull, false},
		{`got != "" => t.Error`, Exact, false},
		{`checkStringContains(t, output, "")`, Pattern, true},
		{`checkStringContains(t, output, "a")`, Pattern, false},
		{`assert "" in text`, Pattern, true},
		{"!strings.Contains(out, \"a\") => t.Error", Pattern, false},
		{"false => t.Error", Truthy, true},
		{"1 + 1 != 2 => t.Fatal", Exact, true},
		{"assertTrue(true);", Truthy, true},
		{"$this->assertTrue(true);", Truthy, true},
		{"$this->assertSame(3, add(1, 2));", Exact, false},
		{"Assert.True(true);", Truthy, true},
		{"Assert.Equal(3, Add(1, 2));", Exact, false},
		{"assert_equal 3, add(1, 2)", Exact, false},
		{"assert_equal 1, 1", Exact, true},
		{"assert_equal x, x", Exact, true},
		{"assert true", Truthy, true},
		{"_(true).must_equal true", Exact, true},
		{"_(x).must_equal 3", Exact, false},
		{"x.wont_be_nil", NonNull, false},
		{"assertThat(a).isSameInstanceAs(b)", Exact, false},
		{"assertThat(a).hasLength(2)", Shape, false},
		{"EXPECT_EQ(3, add(1, 2));", Exact, false},
		{"EXPECT_TRUE(true);", Truthy, true},
		{"XCTAssertEqual(add(1, 2), 3)", Exact, false},
		{"XCTAssertTrue(true)", Truthy, true},
		{"assertThat(x).isEqualTo(3)", Exact, false},
		{"assertThat(x).isNotNull()", NonNull, false},
	} {
		t.Run(test.text, func(t *testing.T) {
			a := ParseAssertion(test.text)
			if a.Strength != test.strength || a.Trivial != test.trivial {
				t.Errorf("got %v, trivial %v; want %v, %v", a.Strength, a.Trivial, test.strength, test.trivial)
			}
		})
	}
}

func TestAssertOpposites(t *testing.T) {
	for _, test := range [][2]string{
		{"assert add(1, 2) == 3", "assert add(1, 2) != 3"},
		{"assert not f()", "assert f()"},
		{"assert x in y", "assert x not in y"},
		{"self.assertEqual(a, 1)", "self.assertNotEqual(a, 1)"},
		{"self.assertTrue(a)", "self.assertFalse(a)"},
		{"expect(a).toBe(1)", "expect(a).not.toBe(1)"},
		{"expect(a).toBeTruthy()", "expect(a).toBeFalsy()"},
		{"assert_eq!(a, 1);", "assert_ne!(a, 1);"},
		{"assert!(a.b());", "assert!(!a.b());"},
		{"got != 3 => t.Error", "got == 3 => t.Error"},
		{"assert.Equal(t, 1, a)", "assert.NotEqual(t, 1, a)"},
		{"assert.NoError(t, err)", "assert.Error(t, err)"},
		{"expect(a).to eq(1)", "expect(a).not_to eq(1)"},
		{"assert_equal 1, a", "assert_not_equal 1, a"},
		{"$this->assertTrue($a);", "$this->assertFalse($a);"},
		{"EXPECT_EQ(1, a);", "EXPECT_NE(1, a);"},
		{"assertThat(a).isTrue();", "assertThat(a).isFalse();"},
		{"a < 3 => t.Error", "a >= 3 => t.Error"},
	} {
		a, b := ParseAssertion(test[0]), ParseAssertion(test[1])
		if a.Canonical != b.Canonical || a.Negated == b.Negated {
			t.Errorf("%q and %q: %q %v, %q %v", test[0], test[1], a.Canonical, a.Negated, b.Canonical, b.Negated)
		}
	}
}
