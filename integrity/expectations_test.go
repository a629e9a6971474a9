package integrity

import "testing"

// Expected values that say nothing any more, and tested ones that are made to fit.
func TestWeakenedOracles(t *testing.T) {
	python := func(body string) texts {
		return texts{"test_a.py": "def test_total():\n    items = [3, 4]\n" + body}
	}
	golang := func(body string) texts {
		return texts{"a_test.go": goHead + "func TestTotal(t *testing.T) {\n" + body + "\tif got := Total(items); got != want {\n\t\tt.Errorf(\"got %v\", got)\n\t}\n}\n"}
	}
	script := func(body string) texts {
		return texts{"a.test.js": "test('total', () => {\n  const items = [3, 4]\n" + body + "})\n"}
	}
	ruby := func(body string) texts {
		return texts{"test/a_test.rb": "class TotalTest < Minitest::Test\n  def test_total\n" + body + "  end\nend\n"}
	}
	goSlug := func(body string) texts {
		return texts{"a_test.go": goHead + "func TestSlug(t *testing.T) {\n\tgot := Slug(\"A b\")\n" + body + "\tif got != \"a-b\" {\n\t\tt.Errorf(\"got %v\", got)\n\t}\n}\n"}
	}
	product := func(in texts, text string) texts {
		in["slug.py"] = text
		return in
	}
	checkSeverities(t, []severityCase{
		{"Python, its own result", python("    assert total(items) == 7\n"), python("    assert total(items) == total([3, 4])\n"), "HIGH"},
		{"Python, its own result by a name", python("    expected = 7\n    assert total(items) == expected\n"), python("    expected = total(items)\n    assert total(items) == expected\n"), "HIGH"},
		{"Python, its own result where both have names", python("    expected = 7\n    got = total(items)\n    assert got == expected\n"), python("    expected = total([3, 4])\n    got = total(items)\n    assert got == expected\n"), "HIGH"},
		{"Python, another function's result", python("    expected = 7\n    assert total(items) == expected\n"), python("    expected = sum(items)\n    assert total(items) == expected\n"), ""},
		{"Python, a type", python("    assert total(items) == 7\n"), python("    assert total(items) == Decimal(\"7\")\n"), ""},
		{"Python, an argument", python("    rate = 2\n    assert total(items, rate) == 14\n"), python("    rate = default_rate()\n    assert total(items, rate) == 14\n"), ""},
		{"Go, its own result", golang("\twant := 7\n"), golang("\twant := Total([]int{3, 4})\n"), "HIGH"},
		{"Go, another literal's type", golang("\twant := 7\n"), golang("\twant := int64(7)\n"), ""},
		{"JavaScript, its own result", script("  expect(total(items)).toBe(7)\n"), script("  expect(total(items)).toBe(total(items.slice()))\n"), "HIGH"},
		{"Ruby, its own result", ruby("    assert_equal 7, total([3, 4])\n"), ruby("    assert_equal total([4, 3]), total([3, 4])\n"), "HIGH"},

		{"Python, trimmed", python("    assert slug(\"A b\") == \"a-b\"\n"), python("    assert slug(\"A b\").strip() == \"a-b\"\n"), "HIGH"},
		{"Python, trimmed, as the product changed", product(python("    assert slug(\"A b\") == \"a-b\"\n"), "x = 1\n"), product(python("    assert slug(\"A b\").strip() == \"a-b\"\n"), "x = 2\n"), "MEDIUM"},
		{"Python, sorted", python("    assert split(\"b a\") == [\"a\", \"b\"]\n"), python("    assert sorted(split(\"b a\")) == [\"a\", \"b\"]\n"), "MEDIUM"},
		{"Python, both sorted", python("    assert split(items) == other\n"), python("    assert sorted(split(items)) == sorted(other)\n"), ""},
		{"Python, rounded", python("    got = mean(items)\n    assert got == 3.5\n"), python("    got = round(mean(items))\n    assert got == 3.5\n"), "HIGH"},
		{"Python, in place", python("    got = slug(\"A b\")\n    assert got == \"a-b\"\n"), python("    got = slug(\"A b\")\n    got = got.lower()\n    assert got == \"a-b\"\n"), "HIGH"},
		{"Python, not what is asserted", python("    raw = load()\n    got = slug(raw)\n    assert got == \"a-b\"\n"), python("    raw = load().strip()\n    got = slug(raw)\n    assert got == \"a-b\"\n"), ""},
		{"Go, trimmed", goSlug(""), goSlug("\tgot = strings.TrimSpace(got)\n"), "HIGH"},
		{"JavaScript, lower case", script("  expect(slug('A')).toBe('a')\n"), script("  expect(slug('A').toLowerCase()).toBe('a')\n"), "HIGH"},
		{"JavaScript, sorted", script("  const got = split('b a')\n  expect(got).toEqual(['a', 'b'])\n"), script("  const got = split('b a')\n  got.sort()\n  expect(got).toEqual(['a', 'b'])\n"), "MEDIUM"},
		{"Ruby, lower case", ruby("    assert_equal 'a', slug('A')\n"), ruby("    assert_equal 'a', slug('A').downcase\n"), "HIGH"},
	})
}
