package detector_test

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"supervise/detector"
	"supervise/metric"
	"supervise/source"
)

const (
	pyAdd = "from m import add\n\ndef test_add(): assert add(2, 3) == 5\n"
	pyRow = "import pytest\n\n@pytest.mark.parametrize(\"a,b\", [(1, 2), (3, 4)])\ndef test_row(a, b):\n    assert add(a, b) == b + a\n"
	pyTwo = `class TestAdd:
    def test_new(self):
        calc = Calc(1)
        self.assertEqual(calc.add(2), 3)

class TestSub:
    def test_new(self):
        with pytest.raises(ValueError):
            Sub("x")
`
	pyLong = `def test_flow(tmp_path):
    # writes and reads again
    store = Store(tmp_path / "x")
    store.put("a", 1)
    assert store.get("a") == 1
    assert len(store) == 1
`
	jest = `describe("calc", () => {
  it("adds", () => { expect(add(2, 3)).toBe(5); });
  it("subtracts", () => { expect(sub("7", 3)).toBe(4); });
});
`
	jestRows = "describe('calc', () => {\n  it.each([[1, 2], [2, 3]])('next of %i is %i', (a, b) => { expect(next(a)).toEqual(b) });\n});\n"
	tape     = "test('add()', function (t) {\n    t.equal(add(), 0, 'of none');\n    t.equal(add(2, 3), 5, 'of two');\n    t.end();\n});\n"
	junit    = `package com.x;
class FooTest {
  @Test
  void adds() {
    assertEquals(5, Foo.add(2, 3));
  }
}
`
	xunit = "public class CalcTests {\n    [Fact]\n    public void Adds() { Assert.Equal(5, Calc.Add(2, 3)); }\n}\n"
	unit  = "<?php\nclass CalcTest extends TestCase {\n    public function testAdd(): void { $this->assertSame(5, add(2, 3)); }\n}\n"
	rspec = "RSpec.describe Calc do\n  it \"adds\" do\n    expect(Calc.add(2, 3)).to eq(5)\n  end\nend\n"
	crate = "#[cfg(test)]\nmod tests {\n    #[test]\n    fn adds() { assert_eq!(add(2, 3), 5); }\n}\n"
)

// relocation is a change of test files, with the tests that the runner named before
// and after it, each written as suite, class and name.
type relocation struct {
	name          string
	before, after map[string]string // files by path
	was, is       [][3]string
	failed        bool // the tests failed before
	skipped       bool // they were skipped, and are
	explained     []string
	accused       bool
}

func one(file, text string) map[string]string { return map[string]string{file: text} }

func edit(text string, pairs ...string) string { return strings.NewReplacer(pairs...).Replace(text) }

var relocations = []relocation{
	{
		name: "pytest, one line", before: one("test_m.py", pyAdd), after: one("test_m.py", edit(pyAdd, "test_add", "test_addition")),
		was: [][3]string{{"test_m", "test_m", "test_add"}}, is: [][3]string{{"test_m", "test_m", "test_addition"}}, explained: []string{"test_add"},
	},
	{
		name: "pytest, failing", before: one("test_m.py", pyAdd), after: one("test_m.py", edit(pyAdd, "test_add", "test_addition")), failed: true,
		was: [][3]string{{"test_m", "test_m", "test_add"}}, is: [][3]string{{"test_m", "test_m", "test_addition"}}, explained: []string{"test_add"},
	},
	{
		name: "pytest, several lines in a folder", before: one("tests/test_m.py", pyLong), after: one("tests/test_m.py", edit(pyLong, "test_flow", "test_store", "# writes", "# puts")),
		was: [][3]string{{"tests.test_m", "tests.test_m", "test_flow"}}, is: [][3]string{{"tests.test_m", "tests.test_m", "test_store"}}, explained: []string{"test_flow"},
	},
	{
		name: "pytest, with parameters", before: one("tests/test_m.py", pyRow), after: one("tests/test_m.py", edit(pyRow, "test_row", "test_rows")), failed: true,
		was:       [][3]string{{"tests.test_m", "tests.test_m", "test_row[1-2]"}, {"tests.test_m", "tests.test_m", "test_row[3/4]"}},
		is:        [][3]string{{"tests.test_m", "tests.test_m", "test_rows[1-2]"}, {"tests.test_m", "tests.test_m", "test_rows[3/4]"}},
		explained: []string{"test_row[1-2]", "test_row[3/4]"},
	},
	{
		name: "pytest, a row", before: one("test_m.py", pyRow), after: one("test_m.py", edit(pyRow, "3, 4", "3, 5")),
		was:       [][3]string{{"test_m", "test_m", "test_row[1-2]"}, {"test_m", "test_m", "test_row[3-4]"}},
		is:        [][3]string{{"test_m", "test_m", "test_row[1-2]"}, {"test_m", "test_m", "test_row[3-5]"}},
		explained: []string{"test_row[3-4]"},
	},
	{
		name: "pytest, a skipped row exchanged", before: one("test_m.py", pyRow), after: one("test_m.py", edit(pyRow, "3, 4", "3, 5")), skipped: true,
		was: [][3]string{{"test_m", "test_m", "test_row[3-4]"}}, is: [][3]string{{"test_m", "test_m", "test_row[3-5]"}}, explained: []string{"test_row[3-4]"},
	},
	{
		name: "pytest, a failing row exchanged", before: one("test_m.py", pyRow), after: one("test_m.py", edit(pyRow, "3, 4", "3, 5")), failed: true,
		was: [][3]string{{"test_m", "test_m", "test_row[3-4]"}}, is: [][3]string{{"test_m", "test_m", "test_row[3-5]"}}, accused: true,
	},
	{
		name: "pytest, the second method of its name", before: one("tests/test_m.py", pyTwo), after: one("tests/test_m.py", edit(pyTwo, "test_new(self):\n        with", "test_text(self):\n        with")),
		was:       [][3]string{{"tests.test_m", "tests.test_m.TestAdd", "test_new"}, {"tests.test_m", "tests.test_m.TestSub", "test_new"}},
		is:        [][3]string{{"tests.test_m", "tests.test_m.TestAdd", "test_new"}, {"tests.test_m", "tests.test_m.TestSub", "test_text"}},
		explained: []string{"test_new"},
	},
	{
		name:   "pytest, moved and renamed",
		before: one("tests/test_m.py", pyAdd+pyLong), after: map[string]string{"tests/test_m.py": pyAdd, "tests/unit/test_store.py": edit(pyLong, "test_flow", "test_store")},
		was:       [][3]string{{"tests.test_m", "tests.test_m", "test_add"}, {"tests.test_m", "tests.test_m", "test_flow"}},
		is:        [][3]string{{"tests.test_m", "tests.test_m", "test_add"}, {"tests.unit.test_store", "tests.unit.test_store", "test_store"}},
		explained: []string{"test_flow"},
	},
	{
		name: "pytest, deleted", before: one("test_m.py", pyAdd+pyLong), after: one("test_m.py", pyAdd),
		was: [][3]string{{"test_m", "test_m", "test_add"}, {"test_m", "test_m", "test_flow"}}, is: [][3]string{{"test_m", "test_m", "test_add"}}, accused: true,
	},
	{
		name: "pytest, swapped for a trivial one", before: one("test_m.py", pyAdd), after: one("test_m.py", "def test_sum():\n    assert True\n"), failed: true,
		was: [][3]string{{"test_m", "test_m", "test_add"}}, is: [][3]string{{"test_m", "test_m", "test_sum"}}, accused: true,
	},
	{
		name: "pytest, swapped for one of numbers alone", before: one("test_m.py", pyLong), after: one("test_m.py", "def test_sum():\n    assert 1 == 1\n"), failed: true,
		was: [][3]string{{"test_m", "test_m", "test_flow"}}, is: [][3]string{{"test_m", "test_m", "test_sum"}}, accused: true,
	},
	{
		name: "jest-junit, a title", before: one("src/calc.test.js", jest), after: one("src/calc.test.js", edit(jest, `"adds"`, `"sums up"`)),
		was:       [][3]string{{"calc", "calc adds", "calc adds"}, {"calc", "calc subtracts", "calc subtracts"}},
		is:        [][3]string{{"calc", "calc sums up", "calc sums up"}, {"calc", "calc subtracts", "calc subtracts"}},
		explained: []string{"calc adds"},
	},
	{
		name: "vitest, a group", before: one("src/calc.test.ts", jest), after: one("src/calc.test.ts", edit(jest, `"calc"`, `"calculator"`)),
		was:       [][3]string{{"src/calc.test.ts", "src/calc.test.ts", "calc > adds"}, {"src/calc.test.ts", "src/calc.test.ts", "calc > subtracts"}},
		is:        [][3]string{{"src/calc.test.ts", "src/calc.test.ts", "calculator > adds"}, {"src/calc.test.ts", "src/calc.test.ts", "calculator > subtracts"}},
		explained: []string{"calc > adds", "calc > subtracts"},
	},
	{
		name: "bun, a title alone", before: one("calc.test.ts", jest), after: one("calc.test.ts", edit(jest, `"adds"`, `"sums up"`)),
		was: [][3]string{{"calc.test.ts", "calc", "adds"}}, is: [][3]string{{"calc.test.ts", "calc", "sums up"}}, explained: []string{"adds"},
	},
	{
		name: "jest-junit, the title of rows", before: one("calc.test.js", jestRows), after: one("calc.test.js", edit(jestRows, "next of", "after")), failed: true,
		was:       [][3]string{{"calc", "calc next of 1 is 2", "calc next of 1 is 2"}, {"calc", "calc next of 2 is 3", "calc next of 2 is 3"}},
		is:        [][3]string{{"calc", "calc after 1 is 2", "calc after 1 is 2"}, {"calc", "calc after 2 is 3", "calc after 2 is 3"}},
		explained: []string{"calc next of 1 is 2", "calc next of 2 is 3"},
	},
	{
		name: "jest-junit, deleted", before: one("calc.test.js", jest), after: one("calc.test.js", edit(jest, `  it("adds", () => { expect(add(2, 3)).toBe(5); });`, "")),
		was: [][3]string{{"calc", "calc adds", "calc adds"}, {"calc", "calc subtracts", "calc subtracts"}},
		is:  [][3]string{{"calc", "calc subtracts", "calc subtracts"}}, accused: true,
	},
	{
		name: "jest-junit, swapped", before: one("calc.test.js", jest), after: one("calc.test.js", edit(jest, `"adds", () => { expect(add(2, 3)).toBe(5)`, `"works", () => { expect(true).toBe(true)`)), failed: true,
		was: [][3]string{{"calc", "calc adds", "calc adds"}}, is: [][3]string{{"calc", "calc works", "calc works"}}, accused: true,
	},
	{
		name: "tape, the message of an assertion", before: one("test/calc.js", tape), after: one("test/calc.js", edit(tape, "'of two'", "'of two numbers'")),
		was: [][3]string{{"TAP", "add()", "of none"}, {"TAP", "add()", "of two"}}, is: [][3]string{{"TAP", "add()", "of none"}, {"TAP", "add()", "of two numbers"}}, explained: []string{"of two"},
	},
	{
		name: "tape, an assertion deleted", before: one("test/calc.js", tape), after: one("test/calc.js", edit(tape, "    t.equal(add(2, 3), 5, 'of two');\n", "")),
		was: [][3]string{{"TAP", "add()", "of none"}, {"TAP", "add()", "of two"}}, is: [][3]string{{"TAP", "add()", "of none"}}, accused: true,
	},
	{
		name: "JUnit 5", before: one("src/test/java/com/x/FooTest.java", junit), after: one("src/test/java/com/x/FooTest.java", edit(junit, "adds", "sums")),
		was: [][3]string{{"com.x.FooTest", "com.x.FooTest", "adds"}}, is: [][3]string{{"com.x.FooTest", "com.x.FooTest", "sums"}}, explained: []string{"adds"},
	},
	{
		name: "Gradle, into another class", before: one("src/test/java/com/x/FooTest.java", junit), after: one("src/test/java/com/x/BarTest.java", edit(junit, "FooTest", "BarTest", "adds", "sums")),
		was: [][3]string{{"com.x.FooTest", "com.x.FooTest", "adds()"}}, is: [][3]string{{"com.x.BarTest", "com.x.BarTest", "sums()"}}, explained: []string{"adds()"},
	},
	{
		name: "xunit", before: one("Calc.Tests/CalcTests.cs", xunit), after: one("Calc.Tests/CalcTests.cs", edit(xunit, "Adds", "Sums")),
		was: [][3]string{{"Calc.Tests.dll", "Calc.Tests.CalcTests", "Adds"}}, is: [][3]string{{"Calc.Tests.dll", "Calc.Tests.CalcTests", "Sums"}}, explained: []string{"Adds"},
	},
	{
		name: "PHPUnit", before: one("tests/CalcTest.php", unit), after: one("tests/CalcTest.php", edit(unit, "testAdd", "testSum")),
		was: [][3]string{{"tests/CalcTest.php", "CalcTest", "testAdd"}}, is: [][3]string{{"tests/CalcTest.php", "CalcTest", "testSum"}}, explained: []string{"testAdd"},
	},
	{
		name: "rspec", before: one("spec/calc_spec.rb", rspec), after: one("spec/calc_spec.rb", edit(rspec, `"adds"`, `"sums up"`)),
		was: [][3]string{{"./spec/calc_spec.rb", "spec.calc_spec", "Calc adds"}}, is: [][3]string{{"./spec/calc_spec.rb", "spec.calc_spec", "Calc sums up"}}, explained: []string{"Calc adds"},
	},
	{
		name: "nextest", before: one("src/lib.rs", crate), after: one("src/lib.rs", edit(crate, "adds", "sums")),
		was: [][3]string{{"calc", "calc", "tests::adds"}}, is: [][3]string{{"calc", "calc", "tests::sums"}}, explained: []string{"tests::adds"},
	},
}

func scanned(t *testing.T, files map[string]string) []detector.TestSource {
	t.Helper()
	var out []detector.TestSource
	for _, file := range slices.Sorted(maps.Keys(files)) {
		f, err := source.Scan(file, []byte(files[file]))
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range f.Tests {
			out = append(out, detector.TestSource{File: file, Def: d})
		}
	}
	return out
}

func outcomes(list [][3]string, s metric.Status) *metric.Tests {
	var cases []metric.Test
	for _, p := range list {
		cases = append(cases, metric.Test{ID: metric.ID{Suite: p[0], Class: p[1], Name: p[2]}, Status: s})
	}
	return suite(cases...)
}

func TestLostTestsOfOtherLanguages(t *testing.T) {
	for _, tt := range relocations {
		t.Run(tt.name, func(t *testing.T) {
			status := metric.Passed
			switch {
			case tt.failed:
				status = metric.Failed
			case tt.skipped:
				status = metric.Skipped
			}
			in := step(metric.Set{Tests: outcomes(tt.was, status)}, metric.Set{Tests: outcomes(tt.is, status)})
			in.Before, in.After = scanned(t, tt.before), scanned(t, tt.after)
			a := detector.Assess(in, detector.DefaultOptions())
			var got []string
			for _, l := range a.Changes.Explained {
				got = append(got, l.ID.Name)
			}
			if diff := cmp.Diff(tt.explained, got); diff != "" {
				t.Errorf("explained (-want +got):\n%s", diff)
			}
			if a.HasCritical() != tt.accused {
				t.Errorf("accused %v, want %v: %+v", a.HasCritical(), tt.accused, a.Alerts)
			}
		})
	}
}

// A rename maps each case to the one with the same parameters, so that failing cases
// are distinguished from passing ones.
func TestCasesOfARenamedTestKeepTheirParameters(t *testing.T) {
	was := outcomes([][3]string{{"test_m", "test_m", "test_row[1-2]"}, {"test_m", "test_m", "test_row[3-4]"}}, metric.Passed)
	is := outcomes([][3]string{{"test_m", "test_m", "test_all[0]"}, {"test_m", "test_m", "test_all[1-2]"}, {"test_m", "test_m", "test_all[3-4]"}}, metric.Passed)
	in := step(metric.Set{Tests: was}, metric.Set{Tests: is})
	in.Before, in.After = scanned(t, one("test_m.py", pyRow)), scanned(t, one("test_m.py", edit(pyRow, "test_row", "test_all")))
	a := detector.Assess(in, detector.DefaultOptions())
	if len(a.Changes.Explained) != 2 {
		t.Fatalf("explained %v", a.Changes.Explained)
	}
	for _, l := range a.Changes.Explained {
		if want := strings.Replace(l.ID.Name, "test_row", "test_all", 1); l.Successor.Name != want {
			t.Errorf("%s goes into %s", l.ID.Name, l.Successor.Name)
		}
	}
}

// The reason of a skip counts where the source does not show skips.
func TestSkipInAnotherLanguage(t *testing.T) {
	now := outcomes([][3]string{{"test_m", "test_m", "test_add"}}, metric.Skipped)
	now.Cases[0].Message = "windows only"
	in := step(metric.Set{Tests: outcomes([][3]string{{"test_m", "test_m", "test_add"}}, metric.Passed)}, metric.Set{Tests: now})
	in.Before, in.After = scanned(t, one("test_m.py", pyAdd)), scanned(t, one("test_m.py", edit(pyAdd, "assert", "skip(); assert")))
	want(t, detector.Assess(in, detector.DefaultOptions()), "MEDIUM tests_newly_skipped")
}
