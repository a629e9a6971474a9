package integrity

import (
	"strings"
	"testing"
)

// Legitimate changes with a visible reason, each next to a similar one without.
func TestVisibleReasonsLowerSeverity(t *testing.T) {
	script := "it('adds', () => {\n  expect(add(17, 4)).toBe(21)\n})\n\nit('subs', () => {\n  expect(sub(17, 4)).toBe(13)\n})\n"
	typed := "import { add } from './add'\nimport { sub } from './sub'\n\ntest('subs', (): void => {\n  assert.equal(sub(17, 4), 13)\n})\n\ntest('adds', (): void => {\n  assert.equal(add(17, 4), 21)\n})\n"
	wait := javaTest("assertThrows(IllegalArgumentException.class, () -> wait(lock, 0));\n    assertEquals(3, wait(lock, 3));\n    assertEquals(4, wait(lock, 4));")
	split := strings.Replace(strings.Replace(wait, "    assertEquals(3, wait(lock, 3));\n    assertEquals(4, wait(lock, 4));\n", "", 1), "  @Test\n", "  @Test\n  public void testBarReturns() {\n    assertEquals(5, wait(lock, 5));\n    assertEquals(6, wait(lock, 6));\n  }\n\n  @Test\n", 1)
	gone := strings.Replace(split, "testBarReturns() {\n    assertEquals(5, wait(lock, 5));\n    assertEquals(6, wait(lock, 6));", "testOther() {\n    assertEquals(5, load(path));\n    assertEquals(6, load(path));", 1)
	warns := "def test_legacy():\n    with pytest.warns(DeprecationWarning):\n        run(1)\n\n\ndef test_add():\n    assert add(1) == 2\n"
	silent := strings.Replace(warns, "    with pytest.warns(DeprecationWarning):\n        run(1)\n", "    run(1)\n", 1)
	product := "def run(x):\n    warn(\"run is old\", DeprecationWarning)\n    return x\n"
	closes := "class Client:\n    def __del__(self):\n        if self.open:\n            self.close()\n            warn(\"Unclosed client\")\n\n    def get(self):\n        return 1\n"
	closed := "class Client:\n    def get(self):\n        return 1\n"
	unclosed := "def test_unclosed_causes_warning():\n    c = make()\n    assert seen(c) == 3\n\n\ndef test_get():\n    assert get() == 1\n"
	flip := "def test_ok():\n    assert parses(\"64.\") == False\n"
	numbers := "def parses(text):\n    return text.isdigit()\n\n\ndef other(text):\n    return text\n"
	checkSeverities(t, []severityCase{
		{"a file translated", texts{"src/test.js": script}, texts{"src/test.ts": typed}, ""},
		{"a file translated without a test", texts{"src/test.js": script}, texts{"src/test.ts": typed[:strings.Index(typed, "test('adds'")]}, "HIGH"},
		{"a test split", texts{"BarTest.java": wait}, texts{"BarTest.java": split}, "MEDIUM"},
		{"another test instead", texts{"BarTest.java": wait}, texts{"BarTest.java": gone}, "HIGH"},
		{"nothing is deprecated any more", texts{"run.py": product, "test_a.py": warns}, texts{"run.py": strings.Replace(product, "    warn(\"run is old\", DeprecationWarning)\n", "", 1), "test_a.py": silent}, "MEDIUM"},
		{"it still warns", texts{"run.py": product, "test_a.py": warns}, texts{"run.py": strings.Replace(product, "return x", "return x + 1", 1), "test_a.py": silent}, "CRITICAL"},
		{"words within a name", texts{"client.py": closes, "test_b.py": unclosed}, texts{"client.py": closed, "test_b.py": unclosed[strings.Index(unclosed, "def test_get"):]}, "MEDIUM"},
		{"other words within a name", texts{"client.py": closes, "test_b.py": strings.Replace(unclosed, "unclosed_causes_warning", "redirect_keeps_session", 1)}, texts{"client.py": closed, "test_b.py": unclosed[strings.Index(unclosed, "def test_get"):]}, "HIGH"},
		{"the opposite of what was changed", texts{"num.py": numbers, "test_c.py": flip}, texts{"num.py": strings.Replace(numbers, "text.isdigit()", "text.rstrip(\".\").isdigit()", 1), "test_c.py": strings.Replace(flip, "== False", "!= False", 1)}, "MEDIUM"},
		{"the opposite withNewTests another change", texts{"num.py": numbers, "test_c.py": flip}, texts{"num.py": strings.Replace(numbers, "return text\n", "return text.strip()\n", 1), "test_c.py": strings.Replace(flip, "== False", "!= False", 1)}, "HIGH"},
		{"literals compared with each other", texts{"test_d.py": pythonTest("assert 1 == 2", "assert x == 3")}, texts{"test_d.py": pythonTest("assert x == 3")}, ""},
		{"a sum compared with a literal", texts{"test_d.py": "def test_sum():\n    assert total([3, 4]) == 7\n    assert total([]) == 0\n"}, texts{"test_d.py": "def test_sum():\n    total([3, 4])\n"}, "CRITICAL"},
		{"equal to itself in other words", texts{"BarTest.java": javaTest("assertTrue(sb.equals(sb));\n    assertEquals(3, x);")}, texts{"BarTest.java": javaTest("assertEquals(sb, sb);\n    assertEquals(3, x);")}, ""},
		{"equal to itself instead", texts{"BarTest.java": javaTest("assertTrue(sb.equals(so));\n    assertEquals(3, x);")}, texts{"BarTest.java": javaTest("assertEquals(sb, sb);\n    assertEquals(3, x);")}, "HIGH"},
		{"asked by name", texts{"tests/ATest.php": phpTest("self::assertSame('pending', $p->getState());")}, texts{"tests/ATest.php": phpTest("self::assertTrue(P\\Is::pending($p));")}, ""},
		{"asked by another name", texts{"tests/ATest.php": phpTest("self::assertSame('pending', $p->getState());")}, texts{"tests/ATest.php": phpTest("self::assertTrue(isset($p));")}, "HIGH"},
		{"an error behind a name", texts{"a_test.go": goErr("run(1) == nil")}, texts{"a_test.go": strings.Replace(goErr("err == nil"), "\tx", "\terr := run(1)\n\tx", 1)}, ""},
		{"raised by the test itself", texts{"test_e.py": raising3("ValueError")}, texts{"test_e.py": raising3("RuntimeError")}, "MEDIUM"},
		{"raised by another", texts{"test_e.py": raising3("ValueError")}, texts{"test_e.py": strings.Replace(raising3("ValueError"), "raises(ValueError", "raises(RuntimeError", 1)}, "HIGH"},
		{"all of a tool silenced", texts{"scripts/build.js": "a()\n"}, texts{"scripts/build.js": "/* eslint-disable */\na()\n"}, "MEDIUM"},
		{"all of the product silenced", texts{"src/build.js": "a()\n"}, texts{"src/build.js": "/* eslint-disable */\na()\n"}, "HIGH"},
		{"an example's script", texts{"examples/web/package.json": `{"scripts": {"test": "jest && yarn test-b"}}`}, texts{"examples/web/package.json": `{"scripts": {"start": "node ."}}`}, "MEDIUM"},
		{"the project's script", texts{"package.json": `{"scripts": {"test": "jest && yarn test-b"}}`}, texts{"package.json": `{"scripts": {"start": "node ."}}`}, "HIGH"},
		{"a given double", texts{"test_f.py": pythonTest("client = Client(server())", "assert client.get() == 3")}, texts{"test_f.py": pythonTest("client = Client(MockServer())", "assert client.get() == 3")}, ""},
		{"a double", texts{"test_f.py": pythonTest("client = Client(server())", "assert client.get() == 3")}, texts{"test_f.py": pythonTest("client = MockClient()", "assert client.get() == 3")}, "HIGH"},
		{"a double of a constant", texts{"BarTest.java": javaTest("final Cart cart = new Cart();\n    assertEquals(3, cart.size());")}, texts{"BarTest.java": javaTest("final Cart cart = mock(Cart.class);\n    assertEquals(3, cart.size());")}, "HIGH"},
		{"put off", texts{"test_g.py": pythonTest("assert x == 21", "assert y == 3") + "\n\ndef test_more():\n    assert z == 1\n"}, texts{"test_g.py": "# OLD: " + strings.ReplaceAll(strings.TrimSpace(pythonTest("assert x == 21", "assert y == 3")), "\n", "\n# OLD: ") + "\n\n\ndef test_more():\n    assert z == 1\n"}, "CRITICAL"},
	})
}

func phpTest(body string) string {
	return "<?php\nclass ATest extends TestCase\n{\n    public function testA()\n    {\n        $p = run();\n        " + body + "\n    }\n}\n"
}

func goErr(cond string) string {
	return goHead + "func TestRun(t *testing.T) {\n\tx := 3\n\tif " + cond + " {\n\t\tt.Error(x)\n\t}\n}\n"
}

func raising3(kind string) string {
	return "def app():\n    raise " + kind + "(\"no\")\n\n\ndef test_app():\n    with pytest.raises(" + kind + "):\n        call(app)\n"
}

// One project of a configuration takes in what another leaves out; a recorded output
// goes with the version of what makes it.
func TestConfigurationReasonsExplain(t *testing.T) {
	vitest := func(exclude, include string) string {
		return "export default defineConfig({\n  test: {\n    projects: [\n      { test: { name: 'unit', exclude: ['dist'" + exclude + "] } },\n      { test: { name: 'node', include: ['ssr/**'" + include + "] } },\n    ],\n  },\n})\n"
	}
	const golden = "tests/ui/a.stderr"
	toolchain := "jobs:\n  test:\n    steps:\n      - uses: rust\n        with:\n          toolchain: \"1.95\"\n"
	for _, test := range []struct {
		name          string
		before, after texts
		want          string
	}{
		{"handed over", texts{"vitest.config.ts": vitest("", "")}, texts{"vitest.config.ts": vitest(", 'core/render.spec.ts'", ", 'core/render.spec.ts'")}, ""},
		{"left out", texts{"vitest.config.ts": vitest("", "")}, texts{"vitest.config.ts": vitest(", 'core/render.spec.ts'", "")}, "CRITICAL"},
		{"another version", texts{golden: "error: not found\n", ".github/workflows/ci.yml": toolchain}, texts{golden: "error: missing\n", ".github/workflows/ci.yml": strings.Replace(toolchain, "1.95", "1.96", 1)}, ""},
		{"another step", texts{golden: "error: not found\n", ".github/workflows/ci.yml": toolchain}, texts{golden: "error: missing\n", ".github/workflows/ci.yml": strings.Replace(toolchain, "uses: rust", "uses: rustup", 1)}, "HIGH"},
	} {
		t.Run(test.name, func(t *testing.T) {
			got := worstOf(test.before, test.after)
			if got == "INFO" {
				got = ""
			}
			if got != test.want {
				t.Errorf("got %q, want %q: %q", got, test.want, audited(test.before, test.after))
			}
		})
	}
}

// A test of ava may leave its assertions to a macro, or to a function that is given
// its handle.
func TestAssertionsInAvaHelpersCount(t *testing.T) {
	before := "test('a', async t => {\n  const x = await run(1)\n  t.is(x, 3)\n})\n\ntest('b', t => {\n  t.is(two(), 2)\n})\n"
	after := func(first string) string { return first + before[strings.Index(before, "\ntest('b'"):] }
	for text, want := range map[string]string{
		"test('a', async t => {\n  const x = await run(1)\n})\n":                                                 "CRITICAL",
		"test('a', async t => {\n  await isThree(t, run(1))\n})\n":                                               "HIGH",
		"test('a', isThree, run(1))\n":                                                                           "HIGH",
		"const isThree = async (t, make) => {\n  t.is(await make(), 3)\n}\n\ntest('a', isThree, () => run(1))\n": "HIGH",
		"const isThree = async (t, make) => {\n  await make()\n}\n\ntest('a', isThree, () => run(1))\n":          "CRITICAL",
		"test('a', server, async t => {\n  await run(1)\n})\n":                                                   "CRITICAL",
	} {
		if got := worstOf(texts{"test/a.js": before}, texts{"test/a.js": after(text)}); got != want && !(want == "HIGH" && got != "CRITICAL") {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
	}
}

// A return within a class or a function inside of a test ends only that.
func TestReturnInNestedScopeIsNotDeadCode(t *testing.T) {
	before := javaCase("Call call = make();\n    assertTrue(call.cloned());")
	for body, want := range map[string]string{
		"return;\n    }\n    void rest() {\n    Call call = make();\n    assertTrue(call.cloned());":                                               "CRITICAL",
		"{\n      return;\n    }\n    Call call = make();\n    assertTrue(call.cloned());":                                                         "CRITICAL",
		"Call call = new Call() {\n      public Call clone() {\n        return this;\n      }\n    };\n    assertTrue(call.cloned());":             "",
		"Call call = new Call()\n    {\n      public Call clone()\n      {\n        return this;\n      }\n    };\n    assertTrue(call.cloned());": "",
	} {
		if got := worstOf(texts{"src/test/java/ATest.java": before}, texts{"src/test/java/ATest.java": javaCase(body)}); got != want && !(want == "" && got != "CRITICAL") {
			t.Errorf("%q: got %q, want %q", body, got, want)
		}
	}
}

func javaCase(body string) string {
	return "import org.junit.Test;\n\npublic class ATest {\n  @Test public void a() {\n    " + body + "\n  }\n}\n"
}

// A file of nearly the same name and text is no place to which tests were put; a
// folder of tests with several files that are called nothing special is one.
func TestMovedTestFileIsFoundAmongSiblings(t *testing.T) {
	ava := func(names ...string) string {
		out := "import test from 'ava'\nimport {run} from '../index.js'\n"
		for _, n := range names {
			out += "\ntest('" + n + "', t => {\n  const x = run('" + n + "')\n  t.is(x, '" + n + "')\n})\n"
		}
		return out
	}
	all := []byte(ava("one", "two", "three"))
	moved := func(path string) []File {
		return []File{{Path: path, OldPath: "test/test.js", Before: all, After: all}}
	}
	withNewTests := func(list []File) []File {
		for _, name := range []string{"a", "b", "c"} {
			list = append(list, File{Path: "test/x/" + name + ".js", After: []byte("import test from 'ava'\n\ntest('throws " + name + "', async t => {\n  await t.throwsAsync(() => open({timeout: 7, mode: \"" + name + "\"}))\n})\n"), Added: true})
		}
		return list
	}
	product := File{Path: "src/options.js", OldPath: "test/options.test.js", Before: all, After: []byte("import test from 'ava'\nimport {run} from '../index.js'\n\nexport default run('one')\n")}
	for _, c := range []struct {
		name  string
		files []File
		want  string
	}{
		{"alone", moved("test/arguments/options.js"), "CRITICAL"},
		{"with three", withNewTests(moved("test/arguments/options.js")), ""},
		{"put away with three", withNewTests(moved("test/old/options.js")), "CRITICAL"},
		{"another file", []File{product}, ""},
	} {
		got := ""
		for _, f := range Audit(c.files, Options{}) {
			if f.Rule == "TP-03" {
				got = f.Severity.String()
			}
		}
		if got != c.want {
			t.Errorf("%s: got %q, want %q", c.name, got, c.want)
		}
	}
}

// A program that tests start ends as it likes; one of the test's own files does not.
func TestExitOutsideTestFilesIsMedium(t *testing.T) {
	const runs = "const a = require('assert')\n\nit('a', () => {\n  a.equal(run(), 3)\n})\n"
	for _, c := range []struct {
		name, path, before, after, want string
	}{
		{"test file", "test/a.js", runs, "process.exit(0)\n" + runs, "CRITICAL"},
		{"new test file", "test/a.js", "", runs + "process.exit(0)\n", "CRITICAL"},
		{"script that was there", "test/test.a.js", "require('should')\nrun().should.equal(3)\n", "require('should')\nprocess.exit(0)\nrun().should.equal(3)\n", "CRITICAL"},
		{"new script", "test/test.a.js", "", "require('should')\nrun().should.equal(3)\nprocess.exit(0)\n", "MEDIUM"},
		{"fixture", "tests/fixtures/listen.js", "run()\n", "run()\nprocess.exit()\n", "MEDIUM"},
	} {
		before := texts{}
		if c.before != "" {
			before[c.path] = c.before
		}
		if got := worstOf(before, texts{c.path: c.after}); got != c.want {
			t.Errorf("%s: got %q, want %q", c.name, got, c.want)
		}
	}
}
