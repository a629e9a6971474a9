package integrity

import (
	"maps"
	"slices"
	"strings"
	"testing"
)

// treeFrom is a project with these files before a change.
func treeFrom(before texts) Tree {
	return Tree{
		Paths: func() []string { return slices.Sorted(maps.Keys(before)) },
		Texts: func(paths []string) map[string][]byte {
			out := map[string][]byte{}
			for _, p := range paths {
				if text, ok := before[p]; ok {
					out[p] = []byte(text)
				}
			}
			return out
		},
	}
}

// The project before the change decides what was left out, hidden or forced.
func TestProjectBeforeTheChangeDecidesSeverity(t *testing.T) {
	ava := func(files string) string { return `{"ava": {"files": ["test/*"` + files + `]}}` }
	profile := "<profiles><profile><activation><jdk>(,9)</jdk></activation><build><plugins><plugin><artifactId>maven-compiler-plugin</artifactId><configuration><testExcludes><exclude>**/ModuleTest.java</exclude></testExcludes></configuration></plugin></plugins></build></profile></profiles>"
	conftest := "import pytest\n\n"
	hook := "def pytest_pyfunc_call(pyfuncitem):\n    outcome = yield\n    outcome.force_result(0)\n"
	own := "def test_force(pm):\n    class Plugin:\n        def hello(self):\n            outcome = yield\n            outcome.force_result(0)\n    assert pm.hook.hello() == 0\n"
	script := "#!/bin/sh -e\n\nexport PREFIX=\"\"\n${PREFIX}coverage report --fail-under=100\n"
	for _, test := range []struct {
		name               string
		base               texts // nil: nothing is known of the project
		path, before, want string
		after              string
	}{
		{"no such test", texts{"package.json": ava(""), "test/a.ts": ""}, "package.json", ava(""), "TP-26 MEDIUM", ava(`, "!test/*.types.ts"`)},
		{"a test that is there", texts{"package.json": ava(""), "test/a.types.ts": ""}, "package.json", ava(""), "TP-26 CRITICAL", ava(`, "!test/*.types.ts"`)},
		{"an unknown project", nil, "package.json", ava(""), "TP-26 CRITICAL", ava(`, "!test/*.types.ts"`)},
		{"an expression", texts{"package.json": ava(""), "test/a.ts": ""}, "package.json", ava(""), "TP-26 CRITICAL", ava(`, "!test/{a,b}.ts"`)},
		{"a class that is new", texts{"pom.xml": "", "src/test/java/ATest.java": ""}, "pom.xml", "<project></project>", "TP-26 MEDIUM", "<project>" + profile + "</project>"},
		{"a class that is there", texts{"pom.xml": "", "src/test/java/ModuleTest.java": ""}, "pom.xml", "<project></project>", "TP-26 CRITICAL", "<project>" + profile + "</project>"},
		{"a project that begins", texts{}, "tox.ini", none, "TP-26 MEDIUM", "[pytest]\nnorecursedirs = .tox ja\n"},
		{"ignored under a version", texts{"conftest.py": "", "test_a.py": ""}, "conftest.py", conftest, "TP-26 LOW", conftest + "collect_ignore = [\"test_a.py\"] if sys.version_info >= (3, 10) else []\n"},
		{"ignored below a condition", texts{"conftest.py": "", "test_a.py": ""}, "conftest.py", conftest, "TP-26 LOW", conftest + "if sys.platform == \"win32\":\n    collect_ignore = []\n    collect_ignore.append(\"test_a.py\")\n"},
		{"ignored on the service", texts{"conftest.py": "", "test_a.py": ""}, "conftest.py", conftest, "TP-26 HIGH", conftest + "if \"CI\" in os.environ:\n    collect_ignore = [\"test_a.py\"]\n"},
		{"ignored under what always holds", texts{"conftest.py": "", "test_a.py": ""}, "conftest.py", conftest, "TP-26 CRITICAL", conftest + "collect_ignore = [\"test_a.py\"] if True else []\n"},
		{"ignored below another block", texts{"conftest.py": "", "test_a.py": ""}, "conftest.py", conftest, "TP-26 CRITICAL", conftest + "if sys.platform == \"win32\":\n    x = 1\ncollect_ignore = [\"test_a.py\"]\n"},

		{"a script that calls its tool", nil, "scripts/coverage", none, "", script},
		{"a script that succeeds", nil, "scripts/coverage", none, "TP-31 CRITICAL", "#!/bin/sh\necho 100%\n"},
		{"one that calls it in vain", nil, "scripts/coverage", none, "TP-31 CRITICAL", "#!/bin/sh\ncoverage report || true\n"},
		{"one where programs lie", nil, "tools/bin/coverage", none, "TP-31 CRITICAL", script},

		{"the project's own module", texts{"setup.py": "setup(\n    name=\"pluggy\",\n)\n"}, "pluggy.py", none, "", "x = 1\n"},
		{"another's module", texts{"setup.py": "setup(\n    name=\"shop\",\n)\n"}, "pluggy.py", none, "TP-32 CRITICAL", "x = 1\n"},

		{"forced in a hook of the project", nil, "testing/test_hookrelay.py", "x = 1\n", "", "x = 1\n\n\n" + own},
		{"forced in a hook of pytest", nil, "testing/test_hookrelay.py", "x = 1\n", "TP-21 CRITICAL", "x = 1\n\n\n" + hook},
	} {
		t.Run(test.name, func(t *testing.T) {
			opt := Options{}
			if test.base != nil {
				opt.Base = treeFrom(test.base)
			}
			files := []File{oneFile(test.path, test.before, test.after)}
			if got := gravestOf(files, opt); got != test.want {
				t.Errorf("got %q, want %q: %+v", got, test.want, Audit(files, opt))
			}
		})
	}
}

// A test helper that was removed together with its subject.
func TestHelperRemovedWithItsSubjectIsHigh(t *testing.T) {
	helper := "\nfunc checkMax(t *testing.T, n int) {\n\tif n != 3 {\n\t\tt.Errorf(\"max %d\", n)\n\t}\n}\n"
	body := func(with string) string {
		return "package p\n\nimport \"testing\"\n\nfunc TestTree(t *testing.T) {\n\ttree := build(\"/cmd/*rest\")\n" + with + "}\n"
	}
	product := "package p\n\ntype node struct {\n\tmost int\n}\n\nfunc build(s string) int { return len(s) }\n"
	changed := "package p\n\ntype node struct {\n}\n\nfunc build(s string) int { return 3 * len(s) }\n"
	call := "\tcheckMax(t, tree)\n"
	checkSeverities(t, []severityCase{
		{"with the product", texts{"a.go": product, "a_test.go": body(call) + helper}, texts{"a.go": changed, "a_test.go": body("\t_ = tree\n")}, "HIGH"},
		{"alone", texts{"a.go": product, "a_test.go": body(call) + helper}, texts{"a.go": product, "a_test.go": body("\t_ = tree\n")}, "CRITICAL"},
		{"the helper stays", texts{"a.go": product, "a_test.go": body(call) + helper}, texts{"a.go": changed, "a_test.go": body("\t_ = tree\n") + helper}, "CRITICAL"},
	})
}

// Changes as legitimate commits make them, each next to a similar one that is not.
func TestLegitimateLinterAndLibraryChanges(t *testing.T) {
	cops := func(names ...string) string { return "Lint/One:\n  Enabled: true\n" + strings.Join(names, "") }
	off := func(name string) string { return name + ":\n  Enabled: false\n" }
	many := cops(off("Lint/A"), off("Lint/B"), off("Lint/C"))
	gem := "source \"https://rubygems.org\"\ngem \"rubocop\", \"~> 0.51.0\"\n"
	step := "jobs:\n  a:\n    steps:\n    - name: Run Android tests\n      uses: r/emulator@v2\n"
	rule := func(body string) string {
		return javaTest("rule.expect(Bad.class);\n    rule.expectMessage(\"Wanted but not invoked\");\n    rule.expectMessage(\"there was one more\");\n    " + body)
	}
	chain := "assertThatThrownBy(() -> { check(3); })\n      .isInstanceOf(Bad.class)\n      .hasMessageContainingAll(\"Wanted but not invoked\", \"there was one more\");"
	thrown := "assertThatThrownBy(() -> check(null)).isInstanceOf(Bad.class).hasMessageContaining(\"Type cannot be null\");"
	helper := func(text string) string {
		return strings.Replace(javaTest("assertNotNullType(() -> check(null));"), "  @Test", "  private void assertNotNullType(ThrowingCallable c) {\n    assertThatThrownBy(c).isInstanceOf(Bad.class).hasMessageContaining(\""+text+"\");\n  }\n\n  @Test", 1)
	}
	ruby := func(line string) string {
		return "class A < Minitest::Test\n  should \"say so\" do\n    " + line + "\n    assert_equal 3, site.size\n  end\nend\n"
	}
	settings := "include(\"core\",\n    \"bom\")\n\nif (JavaVersion.current().isJava11) {\n    include(\"errorprone\")\n}\n"
	posts := "class A < Minitest::Test\n  should \"count\" do\n    assert_equal %s, site.posts.size\n  end\nend\n"
	count := func(n string) string { return strings.Replace(posts, "%s", n, 1) }
	checkSeverities(t, []severityCase{
		{"rules off", texts{".rubocop.yml": cops()}, texts{".rubocop.yml": many}, "HIGH"},
		{"rules off with a new linter", texts{".rubocop.yml": cops(), "Gemfile": gem}, texts{".rubocop.yml": many, "Gemfile": strings.Replace(gem, "0.51.0", "0.54.0", 1)}, "MEDIUM"},
		{"rules off with another new gem", texts{".rubocop.yml": cops(), "Gemfile": gem + "gem \"rake\", \"~> 1.0\"\n"}, texts{".rubocop.yml": many, "Gemfile": gem + "gem \"rake\", \"~> 2.0\"\n"}, "HIGH"},
		{"a new hook with an option", texts{".pre-commit-config.yaml": "repos:\n  - repo: a\n    hooks:\n      - id: black\n"}, texts{".pre-commit-config.yaml": "repos:\n  - repo: a\n    hooks:\n      - id: black\n  - repo: b\n    hooks:\n      - id: codespell\n        args: [--exclude-file=tests/a.yml]\n"}, ""},
		{"a module that is always there now", texts{"settings.gradle.kts": settings}, texts{"settings.gradle.kts": "include(\"core\",\n    \"bom\",\n    \"errorprone\")\n"}, ""},
		{"a module that is gone", texts{"settings.gradle.kts": settings}, texts{"settings.gradle.kts": "include(\"core\",\n    \"bom\")\n"}, "HIGH"},
		{"a step of tests off", texts{".github/workflows/ci.yml": step}, texts{".github/workflows/ci.yml": step + "      if: false\n"}, "CRITICAL"},
		{"a step of tests under a condition", texts{".github/workflows/ci.yml": step}, texts{".github/workflows/ci.yml": step + "      if: matrix.java == 11\n"}, ""},
		{"a step of tests with another action", texts{".github/workflows/ci.yml": step}, texts{".github/workflows/ci.yml": strings.Replace(step, "emulator@v2", "emulator@v3", 1)}, ""},

		{"a tuple", texts{"test_a.py": pythonTest("assert x == 3")}, texts{"test_a.py": pythonTest("assert (True, None) == order(None, x)")}, ""},
		{"in parentheses", texts{"test_a.py": pythonTest("assert x == 3")}, texts{"test_a.py": pythonTest("assert (True)")}, "CRITICAL"},
		{"equal to itself, by another import", texts{"BarTest.java": javaTest("Assertions.assertThat(mock).isEqualTo(mock);\n    Assertions.assertThat(mock).isNotEqualTo(other);")}, texts{"BarTest.java": javaTest("assertThat(mock).isEqualTo(mock);\n    assertThat(mock).isNotEqualTo(other);")}, ""},
		{"a rule for errors written as a chain", texts{"BarTest.java": rule("check(3);")}, texts{"BarTest.java": javaTest(chain)}, ""},
		{"a rule for errors in part", texts{"BarTest.java": rule("check(3);")}, texts{"BarTest.java": javaTest("assertThatThrownBy(() -> check(3)).isInstanceOf(Bad.class);")}, "MEDIUM"},
		{"a helper with the text", texts{"BarTest.java": javaTest(thrown)}, texts{"BarTest.java": helper("Type cannot be null")}, ""},
		{"a helper with another text", texts{"BarTest.java": javaTest(thrown)}, texts{"BarTest.java": helper("null")}, "HIGH"},
		{"a longer time to wait", texts{"BarTest.java": javaTest("verify(mock, timeout(50).times(2)).get(3);")}, texts{"BarTest.java": javaTest("verify(mock, timeout(100).times(2)).get(3);")}, "LOW"},
		{"more times", texts{"BarTest.java": javaTest("verify(mock, timeout(50).times(2)).get(3);")}, texts{"BarTest.java": javaTest("verify(mock, timeout(50).times(3)).get(3);")}, "HIGH"},
		{"a truth in Ruby", texts{"test/test_a.rb": ruby("assert_equal false, site.write?")}, texts{"test/test_a.rb": ruby("refute site.write?")}, ""},
		{"the opposite in Ruby", texts{"test/test_a.rb": ruby("assert_equal false, site.write?")}, texts{"test/test_a.rb": ruby("assert site.write?")}, "HIGH"},
		{"a class in Ruby", texts{"test/test_a.rb": ruby("assert_equal String, site.excerpt.class")}, texts{"test/test_a.rb": ruby("assert_instance_of String, site.excerpt")}, ""},
		{"as many files more", texts{"test/test_a.rb": count("37")}, texts{"test/test_a.rb": count("38"), "test/source/_posts/a.md": "# A\n"}, "MEDIUM"},
		{"more than the files", texts{"test/test_a.rb": count("37")}, texts{"test/test_a.rb": count("39"), "test/source/_posts/a.md": "# A\n"}, "HIGH"},
		{"a test of shoulda", texts{"test/test_a.rb": ruby("assert_equal 4, site.pages") + "\n" + strings.Replace(count("37"), "A <", "B <", 1)}, texts{"test/test_a.rb": strings.Replace(count("37"), "A <", "B <", 1)}, "HIGH"},
	})
}

// Changes as legitimate commits make them, each next to a similar one that is not.
func TestLegitimateInlineTestAndFixtureChanges(t *testing.T) {
	inline := func(product, test string) string {
		return "pub fn strip(s: &str) -> String {\n    " + product + "\n}\n\n#[cfg(test)]\nmod tests {\n    use super::*;\n\n    #[test]\n    fn keeps() {\n        assert_eq!(strip(\"a\"), \"a\");\n    }\n" + test + "}\n"
	}
	overstrike := "\n    #[test]\n    fn drops_overstrike() {\n        assert_eq!(strip(\"overstrike\"), \"struck\");\n    }\n"
	keys := func(quote string) string {
		return "it('handles', () => {\n  const before = {\n    " + quote + "a_0" + quote + ": { id: 'a_0', n: ['x'] },\n    " + quote + "a_1" + quote + ": { id: 'a_1', n: [] }\n  }\n  expect(reduce(before)).toEqual({})\n})\n"
	}
	spied := func(maker string) string {
		return "it('calls', () => {\n  const spy = " + maker + "\n  run(spy)\n  expect(spy.calls.length).toBe(3)\n})\n"
	}
	golang := "package p\n\nimport \"testing\"\n\nfunc TestAdd(t *testing.T) {\n\tif Add(17, 4) != 21 {\n\t\tt.Error(\"add\")\n\t}\n}\n\nfunc TestSub(t *testing.T) {\n\tif Sub(17, 4) != 13 {\n\t\tt.Error(\"sub\")\n\t}\n}\n"
	file := func(want string) string {
		return "def test_lines():\n    out = run(\"tests/examples/multiline.txt\")\n    assert out == \"" + want + "\"\n"
	}
	checkSeverities(t, []severityCase{
		{"a test beside its code", texts{"src/a.rs": inline("s.to_string()", overstrike)}, texts{"src/a.rs": inline("s.to_string()", "")}, "HIGH"},
		{"a value beside its code", texts{"src/a.rs": inline("s.to_string()", overstrike)}, texts{"src/a.rs": inline("s.to_string()", strings.Replace(overstrike, "struck", "strike", 1))}, "HIGH"},
		{"a value, and its code", texts{"src/a.rs": inline("s.to_string()", overstrike)}, texts{"src/a.rs": inline("s.strip().to_string()", strings.Replace(overstrike, "struck", "strike", 1))}, "MEDIUM"},
		{"keys without quotes", texts{"a.test.js": keys("'")}, texts{"a.test.js": keys("")}, ""},
		{"fewer of them", texts{"a.test.js": keys("'")}, texts{"a.test.js": strings.Replace(keys("'"), ",\n    'a_1': { id: 'a_1', n: [] }", "", 1)}, "HIGH"},
		{"another library's double", texts{"a.test.js": spied("expect.createSpy()")}, texts{"a.test.js": spied("vi.fn()")}, ""},
		{"a merge that was not resolved", texts{"a_test.go": golang}, texts{"a_test.go": strings.Replace(golang, "func TestSub", "<<<<<<< HEAD\nfunc (TestSub", 1)}, "MEDIUM"},
		{"a merge within a comment", texts{"a_test.go": golang}, texts{"a_test.go": "/*\n<<<<<<< HEAD\n*/\n" + strings.Replace(golang, "func TestSub", "func testSub", 1)}, "CRITICAL"},
		{"a value, and the file it is read from", texts{"test_a.py": file("a 1"), "tests/examples/multiline.txt": "a\n"}, texts{"test_a.py": file("b 1"), "tests/examples/multiline.txt": "b\n"}, "MEDIUM"},
		{"a value, and another file", texts{"test_a.py": file("a 1"), "tests/examples/singleline.txt": "a\n"}, texts{"test_a.py": file("b 1"), "tests/examples/singleline.txt": "b\n"}, "HIGH"},
		{"a script beside snapshots", texts{"tests/snapshots/generate_all.py": "run(1)\n"}, texts{"tests/snapshots/generate_all.py": "run(2)\n"}, ""},
	})
	archived := File{Path: "archive/dup.rs", OldPath: "tests/dup.rs", Before: []byte("#[test]\nfn no_duplicates() {\n    assert_eq!(duplicates(), 0);\n}\n")}
	archived.After = archived.Before
	if found := Audit([]File{archived}, Options{}); len(found) == 0 || found[0].Type != "renamed_out_of_discovery" {
		t.Errorf("moved to archive/: %+v", found)
	}
}

// Changes as legitimate commits make them, each next to a similar one that is not.
func TestLegitimateFocusSetupAndDoubleChanges(t *testing.T) {
	only := func(body string) string {
		return "describe('a', " + body + " {\n  it.only('adds', " + body + " {\n    expect(add(17, 4)).toBe(21)\n  })\n})\n"
	}
	plain := strings.Replace(only("function()"), "it.only", "it", 1)
	fixture := "describe.only('fixture', function () {\n  it('runs', function () {\n    assert(true)\n  })\n})\n"
	setup := "import * as unexpected from 'unexpected'\nimport fake from './fake'\n"
	stubs := func(maker string) string {
		return "const suite = make()\n\nit('resets', function () {\n  const s = " + maker + "(suite, 'reset')\n  suite.reset()\n  expect(s.called).toBe(3)\n})\n"
	}
	php := func(name string) string {
		return phpTest("$" + name + " = new Reflection('a');\n    $" + name + "->set('implementations');\n    $this->assertSame(3, count('x'));")
	}
	rules := "export default [\n  { rules: {\n    \"no-undef\": \"error\"%s\n  } }\n]\n"
	lint := func(more string) string { return strings.Replace(rules, "%s", more, 1) }
	off := ",\n    \"n/no-exit\": \"off\",\n    \"n/no-missing\": \"off\",\n    \"n/shebang\": \"off\""
	checkSeverities(t, []severityCase{
		{"formatted", texts{"a.spec.js": only("function()")}, texts{"a.spec.js": only("function ()")}, ""},
		{"a focus", texts{"a.spec.js": plain}, texts{"a.spec.js": only("function ()")}, "CRITICAL"},
		{"a new fixture", texts{"a.spec.js": plain}, texts{"a.spec.js": plain, "test/fixtures/only.fixture.js": fixture}, ""},
		{"a new test", texts{"a.spec.js": plain}, texts{"a.spec.js": plain, "test/only.spec.js": fixture}, "HIGH"},
		{"what is not measured", texts{".nycrc": "{\"exclude\": []}\n"}, texts{".nycrc": "{\"exclude\": [\"**/{rollup,webpack}.config.js\"]}\n"}, ""},
		{"not all is measured", texts{".nycrc": "{\"all\": true}\n"}, texts{".nycrc": "{\"all\": false}\n"}, "HIGH"},
		{"assertions of a package", texts{"test/setup.js": setup}, texts{"test/setup.js": setup + "global.expect = unexpected.clone;\n"}, ""},
		{"assertions of the project", texts{"test/setup.js": setup}, texts{"test/setup.js": setup + "global.expect = fake;\n"}, "CRITICAL"},
		{"assertions required from a package", texts{"test/setup.js": setup}, texts{"test/setup.js": setup + "global.expect = require('unexpected')\n"}, ""},
		{"assertions required from the project", texts{"test/setup.js": setup}, texts{"test/setup.js": setup + "global.expect = require('./fake')\n"}, "CRITICAL"},
		{"a double by another name", texts{"a.spec.js": stubs("sandbox.stub")}, texts{"a.spec.js": stubs("sinon.stub")}, ""},
		{"a variable of PHP", texts{"tests/ATest.php": php("implementation")}, texts{"tests/ATest.php": php("property")}, ""},
		{"expected by a comment", texts{"tests/ATest.php": phpTest("self::assertSame('pending', $p->getState());")}, texts{"tests/ATest.php": strings.Replace(phpTest("$p->load();"), "    public function testA", "    /**\n     * @expectedException RuntimeException\n     */\n    public function testA", 1)}, "HIGH"},
		{"a name of one letter", texts{"tests/ATest.php": phpTest("$this->assertSame(3, $p->total());")}, texts{"tests/ATest.php": phpTest("$p->load();")}, "CRITICAL"},
		{"said in a comment", texts{"tests/ATest.php": phpTest("self::assertSame('pending', $p->getState());")}, texts{"tests/ATest.php": strings.Replace(phpTest("$p->load();"), "    public function testA", "    /**\n     * It raises a RuntimeException.\n     */\n    public function testA", 1)}, "CRITICAL"},
		{"never to be reached", texts{"test_a.py": pythonTest("assert run() == \"FOO\"", "assert x == 3")}, texts{"test_a.py": pythonTest("assert False", "assert x == 3")}, ""},
		{"rules of a new plugin off", texts{"eslint.config.js": lint(""), "package.json": "{\n\"devDependencies\": {\n\"mocha\": \"1.0\"\n}}\n"}, texts{"eslint.config.js": lint(off), "package.json": "{\n\"devDependencies\": {\n\"eslint-plugin-n\": \"17.0\",\n\"mocha\": \"1.0\"\n}}\n"}, "MEDIUM"},
		{"rules off", texts{"eslint.config.js": lint("")}, texts{"eslint.config.js": lint(off)}, "HIGH"},
	})
	base := texts{"jest.config.js": "module.exports = {}\n", "test/integration/options/watch.spec.js": ""}
	for value, want := range map[string]string{
		"watch.spec.js": "TP-26 CRITICAL", "test/integration/options/watch.spec.js": "TP-26 CRITICAL",
		"test/integration/": "TP-26 MEDIUM", "other.spec.js": "TP-26 MEDIUM",
	} {
		after := "module.exports = {\n  testPathIgnorePatterns: ['" + value + "'],\n}\n"
		if got := gravestOf([]File{oneFile("jest.config.js", base["jest.config.js"], after)}, Options{Base: treeFrom(base)}); got != want {
			t.Errorf("%s: got %q, want %q", value, got, want)
		}
	}
}

// Changes as legitimate commits make them, each next to a similar one that is not.
func TestLegitimateMacroAndHelperChanges(t *testing.T) {
	macro := "macro_rules! number_ok {\n    ($n:expr) => {\n        assert_eq!($n, $n + 0);\n    };\n}\n\n#[test]\nfn numbers() {\n    %s\n}\n"
	rust := func(body string) string { return strings.Replace(macro, "%s", body, 1) }
	helper := func(body string) string {
		return "import unittest\n\n\nclass TestA(unittest.TestCase):\n    def connect(self, family):\n        self.assertEqual(self.client.get(family), 3)\n\n    def test_dual(self):\n        " + body + "\n"
	}
	stderr := "error: expected `:`\n --> $DIR/colon.rs:%s\n  |\n%s | json!({ a 1 });\n"
	said := func(place, line string) string {
		return strings.Replace(strings.Replace(stderr, "%s", place, 1), "%s", line, 1)
	}
	python := func(line string) string {
		return "class TestA(TestCase):\n    def test_a(self):\n        handle = add(3)\n        " + line + "\n        self.assertEqual(1, count())\n"
	}
	checkSeverities(t, []severityCase{
		{"by a macro of the file", texts{"tests/a.rs": rust("assert_eq!(parse(31), 31);")}, texts{"tests/a.rs": rust("number_ok!(31)")}, "HIGH"},
		{"by no macro", texts{"tests/a.rs": rust("assert_eq!(parse(31), 31);")}, texts{"tests/a.rs": rust("println!(\"{}\", 31)")}, "CRITICAL"},
		{"a helper of the file is left", texts{"test_a.py": helper("with ExpectLog(log, \"refused\"):\n            self.connect(4)\n        self.assertTrue(self.closed)")}, texts{"test_a.py": helper("self.connect(4)")}, "HIGH"},
		{"nothing is left", texts{"test_a.py": helper("with ExpectLog(log, \"refused\"):\n            self.open(4)\n        self.assertTrue(self.closed)")}, texts{"test_a.py": helper("self.open(4)")}, "CRITICAL"},
		{"an error at another place", texts{"tests/ui/colon.stderr": said("5:5", "5")}, texts{"tests/ui/colon.stderr": said("14:5", "14")}, "LOW"},
		{"another error", texts{"tests/ui/colon.stderr": said("5:5", "5")}, texts{"tests/ui/colon.stderr": strings.Replace(said("5:5", "5"), "expected `:`", "expected `,`", 1)}, "HIGH"},
		{"not nothing, by its name", texts{"test_a.py": python("self.assertFalse(handle is None)")}, texts{"test_a.py": python("self.assertIsNotNone(handle)")}, ""},
		{"another thing is not nothing", texts{"test_a.py": python("self.assertEqual(handle.at, 31)")}, texts{"test_a.py": python("self.assertIsNotNone(handle.at)")}, "HIGH"},
	})
}
