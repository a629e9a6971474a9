package integrity

import (
	"strings"
	"testing"
)

func TestWidenedToleranceIsFound(t *testing.T) {
	python := "import pytest\n\nX = 1\n\n\ndef test_half():\n    assert half(8) == pytest.approx(4, abs=0.5)\n    self.assertAlmostEqual(half(2), 1, places=5)\n"
	script := "test('half', () => {\n  expect(half(8)).toBeCloseTo(4, 5);\n});\n"
	ruby := "class HalfTest < Minitest::Test\n  def test_half\n    assert_in_delta 4, half(8), 0.01\n  end\nend\n"
	goText := goHead + "func TestHalf(t *testing.T) {\n\tassert.InDelta(t, 4.0, Half(8), 0.001)\n}\n"
	for _, test := range []struct{ name, path, text, from, to, want string }{
		{"a hundred times", "test_a.py", python, "abs=0.5", "abs=50", "TP-11 HIGH test_half"},
		{"twice", "test_a.py", python, "abs=0.5", "abs=1", ""},
		{"narrower", "test_a.py", python, "abs=0.5", "abs=0.001", ""},
		{"fewer places", "test_a.py", python, "places=5", "places=1", "TP-11 HIGH test_half"},
		{"more places", "test_a.py", python, "places=5", "places=7", ""},
		{"fewer digits", "a.test.js", script, "(4, 5)", "(4, 2)", "TP-11 HIGH half"},
		{"a delta of Ruby", "test/half_test.rb", ruby, "0.01", "10", "TP-11 HIGH test_half"},
		{"a delta of Go", "a_test.go", goText, "0.001", "1.0", "TP-11 HIGH TestHalf"},
		{"another value besides", "test_a.py", python, "approx(4, abs=0.5", "approx(5, abs=50", ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			before, after := texts{test.path: test.text}, texts{test.path: strings.Replace(test.text, test.from, test.to, 1)}
			if got := widenedIn(audited(before, after)); got != test.want {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
	before := texts{"calc.py": "x = 1\n", "test_a.py": python}
	for to, want := range map[string]string{"abs=5": "TP-11 MEDIUM test_half", "abs=50": "TP-11 HIGH test_half"} {
		after := texts{"calc.py": "x = 2\n", "test_a.py": strings.Replace(python, "abs=0.5", to, 1)}
		if got := widenedIn(audited(before, after)); got != want {
			t.Errorf("the product changed, too, %s: got %q, want %q", to, got, want)
		}
	}
}

// widenedIn keeps the findings of TP-11.
func widenedIn(list []string) string {
	var out []string
	for _, f := range list {
		if strings.HasPrefix(f, "TP-11") {
			out = append(out, f)
		}
	}
	return strings.Join(out, "; ")
}
