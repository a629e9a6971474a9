package integrity

import (
	"slices"
	"strings"
	"testing"
)

// worstOf returns the highest severity of what is found and not explained, "" for
// nothing.
func worstOf(before, after texts) string {
	order := []string{"CRITICAL", "HIGH", "MEDIUM", "LOW", "INFO"}
	worst := len(order)
	for _, f := range audited(before, after) {
		if parts := strings.Fields(f); len(parts) > 1 {
			worst = min(worst, slices.Index(order, parts[1]))
		}
	}
	if worst == len(order) {
		return ""
	}
	return order[worst]
}

const calcAdd = "def add(a, b):\n    return a + b\n\n\n"

const calcLegacy = "def convert(value, legacy_mode=False):\n    if legacy_mode:\n        value = value.strip()\n        value = value.lower()\n        value = value.title()\n    return value\n"

const testLegacy = "def test_convert_legacy():\n    assert convert(\" A \", legacy_mode=True) == \"A\"\n\n\n"

// severityCase is a change of some files with the highest severity that is found and not
// explained, "" for none.
type severityCase struct {
	name          string
	before, after texts
	want          string
}

func checkSeverities(t *testing.T, cases []severityCase) {
	t.Helper()
	for _, test := range cases {
		t.Run(test.name, func(t *testing.T) {
			if got := worstOf(test.before, test.after); got != test.want {
				t.Errorf("got %q, want %q: %q", got, test.want, audited(test.before, test.after))
			}
		})
	}
}

// Legitimate commits that lose tests, each next to a similar one that is not.
func TestLegitimateTestLosses(t *testing.T) {
	other := "def test_add():\n    assert add(17, 4) == 21\n\n\ndef test_more():\n    assert add(1, 1) == 2\n"
	shorter := "def convert(value):\n    return value\n"
	deprecated := "def convert(value, legacy_mode=False):\n    warn(\"legacy_mode is deprecated\")\n" + strings.SplitN(calcLegacy, "\n", 2)[1]
	errors := "def test_missing():\n    check(Bar, [], \"Missing expected argument name\")\n\n\ndef test_unknown():\n    check(Bar, [\"--verbose\"], \"Unknown option verbose\")\n\n\n"
	table := "CASES = [\n    ([], \"Missing expected argument name\"),\n    ([\"--verbose\"], \"Unknown option verbose\"),\n]\n\n\n@pytest.mark.parametrize(\"args, want\", CASES)\ndef test_errors(args, want):\n    check(Bar, args, want)\n\n\n"
	renamed := "def test_redirect_keeps_session():\n    first = client.get(\"/a\")\n    assert first.code == 302\n"
	instead := "def test_redirect_session_once():\n    jar = Jar()\n    assert jar.fetch(\"/b\") is None\n"
	prefixes := "def test_prefix():\n    assert is_prefix(\"foobar\", \"foo\") is True\n\n\ndef test_suffix():\n    assert is_prefix(\"foobar\", \"bar\") is False\n\n\ndef test_longer():\n    assert is_prefix(\"ab\", \"abc\") is False\n"
	prefixRows := "@pytest.mark.parametrize(\"s, prefix, expected\", [\n    (\"foobar\", \"foo\", True),\n    (\"foobar\", \"bar\", False),\n    (\"ab\", \"abc\", False),\n])\ndef test_is_prefix(s, prefix, expected):\n    assert is_prefix(s, prefix) is expected\n"
	checkSeverities(t, []severityCase{
		{"what it tests became less", texts{"calc.py": calcAdd + calcLegacy, "test_a.py": testLegacy + other}, texts{"calc.py": calcAdd + shorter, "test_a.py": other}, "MEDIUM"},
		{"something else became less", texts{"calc.py": calcAdd + calcLegacy, "test_a.py": testLegacy + renamed + other}, texts{"calc.py": calcAdd + shorter, "test_a.py": testLegacy + other}, "HIGH"},
		{"code was changed, no more", texts{"calc.py": calcAdd + calcLegacy, "test_a.py": testLegacy + other}, texts{"calc.py": calcAdd + strings.Replace(calcLegacy, "lower", "upper", 1), "test_a.py": other}, "HIGH"},
		{"nothing but tests changed", texts{"test_a.py": testLegacy + other}, texts{"test_a.py": other}, "HIGH"},
		{"deprecated", texts{"calc.py": calcLegacy, "test_a.py": testLegacy + other}, texts{"calc.py": deprecated, "test_a.py": other}, "MEDIUM"},
		{"the cases are rows of a table", texts{"test_a.py": errors + other}, texts{"test_a.py": table + other}, ""},
		{"three tests are rows", texts{"test_p.py": prefixes}, texts{"test_p.py": prefixRows}, ""},
		{"three tests are rows of less", texts{"test_p.py": prefixes}, texts{"test_p.py": strings.Replace(prefixRows, " is expected", "", 1)}, "HIGH"},
		{"two of three tests are rows", texts{"test_p.py": prefixes}, texts{"test_p.py": strings.Replace(prefixRows, "    (\"ab\", \"abc\", False),\n", "", 1)}, "HIGH"},
		{"the cases are a comment", texts{"test_a.py": errors + other}, texts{"test_a.py": other + "# Missing expected argument name, Unknown option verbose\n"}, "HIGH"},
		{"written twice", texts{"test_a.py": testLegacy + strings.Replace(testLegacy, "test_convert_legacy", "test_again", 1)}, texts{"test_a.py": testLegacy}, ""},
		{"a like one for other behaviour", texts{"calc.py": "x = 1\n", "test_a.py": renamed + other}, texts{"calc.py": "x = 2\n", "test_a.py": instead + other}, "MEDIUM"},
		{"a like one, and no behaviour", texts{"test_a.py": renamed + other}, texts{"test_a.py": instead + other}, "HIGH"},
		{"a trivial one instead", texts{"calc.py": "x = 1\n", "test_a.py": renamed + other}, texts{"calc.py": "x = 2\n", "test_a.py": "def test_redirect_session():\n    assert True\n" + other}, "CRITICAL"},
	})
}

// Legitimate changes of assertions, each next to a similar one that is not.
func TestLegitimateAssertionChanges(t *testing.T) {
	goCheck := func(cond string) string {
		return goHead + "func TestRun(t *testing.T) {\n\tran := Run(3)\n\tif " + cond + " {\n\t\tt.Errorf(\"not run\")\n\t}\n}\n"
	}
	for _, test := range []struct{ name, path, before, after, want string }{
		{"true in other words", "a_test.go", goCheck("ran != true"), goCheck("!ran"), ""},
		{"true in other words, Python", "test_a.py", pythonTest("assert x.on == True", "assert x == 21"), pythonTest("assert x.on", "assert x == 21"), ""},
		{"a count in other words", "FooTests.cs", csTest("Assert.Equal(1, sink.Events.Count);"), csTest("Assert.Single(sink.Events);"), ""},
		{"any count", "FooTests.cs", csTest("Assert.Equal(1, sink.Events.Count);"), csTest("Assert.NotNull(sink.Events);"), "HIGH"},
		{"something else is true", "test_a.py", pythonTest("assert stack.top == 3"), pythonTest("assert not current_app"), "MEDIUM"},
		{"the same is only true", "test_a.py", pythonTest("assert stack.top == 3"), pythonTest("assert stack.top"), "HIGH"},
		{"the message is looked at apart", "test_a.py", pythonTest("with pytest.raises(KeyError, match=\"bad\"):\n        add(1)"), pythonTest("with pytest.raises(TypeError) as info:\n        add(1)", "assert \"bad\" in str(info.value)"), ""},
		{"other quotes", "test_a.py", pythonTest("assert x == u'abc'"), pythonTest("assert x == \"abc\""), ""},
		{"other digits", "test_a.py", pythonTest("assert x == 16384"), pythonTest("assert x == 16_384"), ""},
		{"other value", "test_a.py", pythonTest("assert x == 16384"), pythonTest("assert x == 16385"), "HIGH"},
		{"a part of the text", "test_a.py", pythonTest("assert \"pool of httpbin is closed\" in x"), pythonTest("assert \"pool of httpbin\" in x"), "MEDIUM"},
		{"the message of a failure", "a_test.go", goCheck("!ran"), strings.Replace(goCheck("!ran"), "not run", "did not run", 1), "LOW"},
		{"a time to wait", "test_a.py", pythonTest("time.sleep(1)", "assert x == 21"), pythonTest("time.sleep(5)", "assert x == 21"), "LOW"},
		{"an input", "test_a.py", pythonTest("post(\"setup.cfg\")", "assert x == 21"), pythonTest("post(\"Pipfile\")", "assert x == 21"), "MEDIUM"},
		{"what is expected", "test_a.py", pythonTest("want = 21", "assert x == want"), pythonTest("want = 22", "assert x == want"), "HIGH"},
		{"the input, too", "test_a.py", pythonTest("conn = get(\"/old\")", "assert conn.url == \"/old\""), pythonTest("conn = get(\"/new\")", "assert conn.url == \"/new\""), "MEDIUM"},
		{"a framework's own assertions", "FooTests.cs", csTest("Assert.AreEqual(\"abc\", x);"), csTest("LineAssert.AreEqual(\"abc\", x);"), ""},
		{"what said nothing", "FooTests.cs", csTest("Assert.True(true, \"no error\");"), csTest(""), ""},
		{"all is gone", "FooTests.cs", csTest("Assert.AreEqual(\"abc\", x);"), csTest(""), "CRITICAL"},
		{"written in another way", "test_a.py", pythonTest("assert x.a == 1", "assert x.b == 2", "assert x.c == 3"), pythonTest("for name, n in NAMES.items():\n        assert getattr(x, name) == n", "assert x.a == 1"), "MEDIUM"},
		{"another failure", "a_test.go", strings.Replace(goCheck("!ran"), "t.Errorf(\"not run\")", "t.Error(ran)\n\t\tt.FailNow()", 1), strings.Replace(goCheck("!ran"), "Errorf", "Fatalf", 1), ""},
		{"skipped", "test_a.py", pythonTest("assert x == 21"), "@pytest.mark.skip(reason=\"\")\n" + pythonTest("assert x == 21"), "CRITICAL"},
		{"skipped, with an address", "test_a.py", pythonTest("assert x == 21"), "@pytest.mark.skip(reason=\"https://example.com/issues/51\")\n" + pythonTest("assert x == 21"), "HIGH"},
		{"skipped, with an address below", "BarTest.java", javaTest("assertEquals(3, x);"), strings.Replace(javaTest("assertEquals(3, x);"), "  @Test\n", "  @Ignore(\n      \"later, see\"\n          + \" https://example.com/issues/51\")\n  @Test\n", 1), "HIGH"},
		{"skipped, and an address elsewhere", "BarTest.java", javaTest("assertEquals(3, x);"), strings.Replace(javaTest("assertEquals(3, x);"), "  @Test\n", "  @Ignore\n  @Test\n", 1) + "// https://example.com\n", "CRITICAL"},
		{"a number with its type", "BarTest.java", javaTest("assertEquals(1.5, x);"), javaTest("assertEquals(1.5D, x);"), ""},
		{"another number", "BarTest.java", javaTest("assertEquals(1.5, x);"), javaTest("assertEquals(2.5D, x);"), "HIGH"},
		{"a method renamed", "BarTest.java", javaTest("assertTrue(x.contains(a));"), javaTest("assertTrue(x.has(a));"), ""},
		{"no equality any more", "BarTest.java", javaTest("assertTrue(x.equals(a));"), javaTest("assertTrue(x.has(a));"), "HIGH"},
		{"the same one", "BarTest.java", javaTest("assertSame(a, x);"), javaTest("assertThat(x).isSameInstanceAs(a);"), ""},
		{"not even equal", "BarTest.java", javaTest("assertSame(a, x);"), javaTest("assertThat(x).isNotNull();"), "HIGH"},
		{"one of two", "BarTest.java", javaTest("assertTrue(x == 1 || x == 2);"), javaTest("assertThat(x).isAnyOf(1, 2);"), ""},
		{"an error caught otherwise", "BarTest.java", javaTest("try { run(x); fail(); } catch (AssertionError expected) { }"), javaTest("assertThrows(AssertionError.class, () -> run(x));"), ""},
		{"a failure expected", "BarTest.java", javaTest("assertEquals(3, x);"), javaTest("assertThrows(AssertionError.class, () -> assertEquals(3, x));"), "HIGH"},
		{"no nil any more", "test/spec_bar.rb", "describe Bar do\n  it \"runs\" do\n    Bar.new.status.must_equal 401\n  end\nend\n", "describe Bar do\n  it \"runs\" do\n    Bar.new.status.wont_be_nil\n  end\nend\n", "HIGH"},
		{"skipped on one line", "test/spec_bar.rb", "describe Bar do\n  it \"runs\" do\n    Bar.new.status.must_equal 401\n  end\nend\n", "describe Bar do\n  before { skip }\n\n  it \"runs\" do\n    Bar.new.status.must_equal 401\n  end\nend\n", "CRITICAL"},
		{"no annotation any more", "BarTest.java", javaTest("assertEquals(3, x);"), strings.Replace(javaTest("assertEquals(3, x);"), "  @Test\n", "  // @Test\n", 1), "CRITICAL"},
		{"no value of the language", "a_test.go", goHead + "func TestV(t *testing.T) {\n\tc := &Command{Use: \"a\", Run: empty}\n\tif c.Run() != 3 {\n\t\tt.Error(c)\n\t}\n}\n", goHead + "func TestV(t *testing.T) {\n\tc := &Command{Use: \"a\"}\n\tif c.Run() != 3 {\n\t\tt.Error(c)\n\t}\n}\n", ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			before, after := texts{test.path: test.before}, texts{test.path: test.after}
			if got := worstOf(before, after); got != test.want {
				t.Errorf("got %q, want %q: %q", got, test.want, audited(before, after))
			}
		})
	}
}

func javaTest(body string) string {
	return "import org.junit.Test;\n\npublic class BarTest {\n  @Test\n  public void testBar() {\n    Object x = run();\n    " + body + "\n  }\n}\n"
}

// The key of what left the product code may leave the tests, and no other.
func TestAssertionRemovedWithItsSubject(t *testing.T) {
	before := "describe Lock do\n  it \"locks\" do\n    env = Lock.new.call(1)\n    env[\"rack.multithread\"].must_equal false\n  end\nend\n"
	after := strings.Replace(before, "    env[\"rack.multithread\"].must_equal false\n", "", 1)
	for product, want := range map[string]string{
		"KEY = \"rack.multithread\"\nOTHER = \"rack.run\"\n": "HIGH",
		"ALSO = \"rack.process\"\nOTHER = \"rack.run\"\n":    "CRITICAL",
	} {
		got := worstOf(texts{"lib/lock.rb": product, "test/spec_lock.rb": before}, texts{"lib/lock.rb": "OTHER = \"rack.run\"\n", "test/spec_lock.rb": after})
		if got != want {
			t.Errorf("%q: got %q, want %q", product, got, want)
		}
	}
}

// A suite that is split and moved into the package brings the way to run it; a file
// that leaves discovery without it does not.
func TestSuiteMovedWithItsRunnerConfiguration(t *testing.T) {
	suite := []byte("import unittest\n\n\nclass BasicTests(unittest.TestCase):\n    def test_sub(self):\n        assert sub(3, 1) == 2\n")
	files := []File{{Path: "app/testsuite/basic.py", OldPath: "tests/app_tests.py", Before: suite, After: suite}}
	for _, name := range []string{"views", "config", "signals"} {
		text := strings.ReplaceAll(string(suite), "sub", name)
		files = append(files, File{Path: "app/testsuite/" + name + ".py", After: []byte(text), Added: true})
	}
	named := File{Path: "setup.py", Before: []byte("setup(\n    test_suite='tests.run'\n)\n"), After: []byte("setup(\n    test_suite='app.testsuite.suite'\n)\n")}
	for want, list := range map[string][]File{"CRITICAL": files, "HIGH": append(slices.Clone(files), named)} {
		got := ""
		for _, f := range Audit(list, Options{}) {
			if f.Rule == "TP-03" {
				got = f.Severity.String()
			}
		}
		if got != want {
			t.Errorf("%d files: got %q, want %q", len(list), got, want)
		}
	}
}

// Many tests written with another library are a migration; one weaker test is not.
func TestLibraryMigrationIsMedium(t *testing.T) {
	page := func(n int, fluent bool) string {
		var b strings.Builder
		b.WriteString("import org.junit.Test;\n\npublic class BarTest {\n")
		for i := range n {
			line := "assertEquals(Foo.class, kind" + string(rune('A'+i)) + "());"
			if fluent {
				line = "assertThat(kind" + string(rune('A'+i)) + "()).isAssignableTo(Foo.class);"
			}
			b.WriteString("  @Test\n  public void test" + string(rune('A'+i)) + "() {\n    " + line + "\n  }\n\n")
		}
		return b.String() + "}\n"
	}
	for n, want := range map[int]string{2: "HIGH", 10: "MEDIUM"} {
		if got := worstOf(texts{"BarTest.java": page(n, false)}, texts{"BarTest.java": page(n, true)}); got != want {
			t.Errorf("%d tests: got %q, want %q", n, got, want)
		}
	}
}

func csTest(body string) string {
	return "using Xunit;\n\npublic class FooTests\n{\n    [Fact]\n    public void Bar()\n    {\n        var x = Run();\n        " + body + "\n    }\n}\n"
}

// The same exchange in several tests is a renaming.
func TestRepeatedExchangeIsRenaming(t *testing.T) {
	page := func(word string, n int) string {
		out := ""
		for i := range 4 {
			w := "Annoucing"
			if i < n {
				w = word
			}
			out += "def test_" + string(rune('a'+i)) + "():\n    assert title(" + string(rune('1'+i)) + ") == \"" + w + " it\"\n\n\n"
		}
		return out
	}
	for n, want := range map[int]string{1: "HIGH", 3: "MEDIUM"} {
		if got := worstOf(texts{"test_a.py": page("", 0)}, texts{"test_a.py": page("Announcing", n)}); got != want {
			t.Errorf("%d tests: got %q, want %q", n, got, want)
		}
	}
}

// A test moves with the code that it tests, or is put away.
func TestTestMovedWithItsCode(t *testing.T) {
	before := texts{"man.go": "package p\n\nfunc Sub() {}\n", "man_test.go": goHead + goSub}
	files := func(product string) []File {
		return []File{
			{Path: product, OldPath: "man.go", Before: []byte(before["man.go"]), After: []byte(before["man.go"])},
			{Path: "doc/man_test.go", OldPath: "man_test.go", Before: []byte(before["man_test.go"]), After: []byte(before["man_test.go"])},
		}
	}
	for product, want := range map[string]int{"doc/man.go": 0, "other/man.go": 1} {
		n := 0
		for _, f := range Audit(files(product), Options{}) {
			if f.Rule == "TP-03" {
				n++
			}
		}
		if n != want {
			t.Errorf("product at %s: %d findings of TP-03, want %d", product, n, want)
		}
	}
}

// Directives in tests, for one kind of complaint, or with a reason, are no flood.
func TestReasonedSuppressionsAreNotHigh(t *testing.T) {
	lines := func(directive string) string {
		return "import x\n\na = x.a()" + directive + "\nb = x.b()" + directive + "\nc = x.c()" + directive + "\n"
	}
	for _, test := range []struct{ path, directive, want string }{
		{"calc.py", "  # noqa: B001", "HIGH"},
		{"calc.py", "  # noqa: B001 - the library wants it bare", "MEDIUM"},
		{"test_calc.py", "  # noqa: B001", "MEDIUM"},
	} {
		if got := worstOf(texts{test.path: lines("")}, texts{test.path: lines(test.directive)}); got != test.want {
			t.Errorf("%s %q: got %q, want %q", test.path, test.directive, got, test.want)
		}
	}
}
