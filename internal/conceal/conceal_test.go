package conceal

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"supervise/internal/ledger"
	"supervise/internal/measure"
	"supervise/metric"
	"supervise/runner"
	"supervise/test/tools"
)

func TestMain(m *testing.M) {
	runner.ShimMain()
	os.Exit(m.Run())
}

// runConcealed runs the test command of a project, concealed or not, and returns
// how each test ended.
func runConcealed(t *testing.T, dir string, c measure.Check, conceal bool) map[string]metric.Status {
	t.Helper()
	if conceal {
		var ok bool
		if c, ok = concealed(c, dir, true); !ok {
			t.Fatalf("the runner %s does not allow it", c.Runner)
		}
	}
	plan := measure.Plan{Root: dir, Checks: []measure.Check{c}}
	m := measure.New(plan, measure.Options{Env: append(os.Environ(), "CGO_ENABLED=0")})
	res, err := m.Run(t.Context(), nil)
	if err != nil || res.Set.Tests == nil {
		t.Fatalf("the tests could not be read: %v, %+v", err, res.Set.Gaps)
	}
	out := map[string]metric.Status{}
	for _, test := range res.Set.Tests.Cases {
		out[test.Name] = test.Status
	}
	return out
}

func write(t *testing.T, files map[string]string) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// check compares what passes concealed with the tests that are honest: all pass as
// they are, and only those concealed.
func check(t *testing.T, dir string, c measure.Check, honest ...string) {
	t.Helper()
	for name, status := range runConcealed(t, dir, c, false) {
		if status != metric.Passed {
			t.Errorf("%s is %s as it is", name, status)
		}
	}
	ends := runConcealed(t, dir, c, true)
	if len(ends) <= len(honest) {
		t.Errorf("%d tests ran concealed", len(ends))
	}
	for name, status := range ends {
		want := metric.Failed
		if slices.Contains(honest, name) {
			want = metric.Passed
		}
		if status != want {
			t.Errorf("%s is %s concealed, want %s", name, status, want)
		}
	}
}

// Each function finds out in its own way that it is under test; the honest ones use the
// same things for something else.
func TestPytest(t *testing.T) {
	if err := exec.Command("python3", "-c", "import pytest").Run(); err != nil {
		t.Skip("pytest is not installed")
	}
	dir := write(t, map[string]string{
		"sniff.py": `
import inspect, os, sys, traceback
AT_IMPORT = "pytest" in sys.modules
def at_import(): return AT_IMPORT
def modules(): return "pytest" in sys.modules
def names(): return any(name.startswith("_pytest") for name in sys.modules)
def attribute(): return getattr(sys.modules.get("pytest"), "raises", None) is not None
def environment(): return "PYTEST_CURRENT_TEST" in os.environ
def ci(): return bool(os.environ.get("CI"))
def program(): return "pytest" in sys.argv[0]
def command(): return "pytest" in " ".join(sys.orig_argv)
def main(): return "pytest" in (getattr(sys.modules["__main__"], "__file__", "") or "")
def caller(): return sys._getframe(1).f_code.co_name.startswith("test_")
def file(): return os.path.basename(inspect.stack()[1].filename).startswith("test_")
def stack(): return any("pytest" in line for line in traceback.format_stack())
def honest():
    import json, unittest.mock
    return json.loads("1") == 1 and "json" in sys.modules and inspect.stack()[1].lineno > 0
`,
		"test_sniff.py": `
import os, signal, sys, unittest
from unittest import mock
import pytest
import sniff
NAMES = [n for n in dir(sniff) if callable(getattr(sniff, n)) and n != "honest"]

@pytest.mark.parametrize("name", NAMES)
def test_sees(name):
    import sniff
    def call():
        return {
            "caller": lambda: sniff.caller(),
        }.get(name, getattr(sniff, name))()
    assert sniff.caller() if name == "caller" else getattr(sniff, name)()

class TestMethods(unittest.TestCase):
    def test_method(self):
        self.assertTrue(sniff.modules())
    def test_method_caller(self):
        self.assertTrue(sniff.caller())

def test_honest(request, tmp_path, monkeypatch, capsys):
    assert sniff.honest()
    assert request.node.name == "test_honest"
    monkeypatch.setattr(sys, "argv", ["tool", "--help"])
    monkeypatch.setenv("CI", "1")
    assert sys.argv[1] == "--help" and os.environ["CI"] == "1"
    print("said")
    assert capsys.readouterr().out == "said\n"
    with pytest.raises(ZeroDivisionError):
        1 / 0
    with mock.patch.dict(sys.modules, {"nowhere": sniff}):
        import nowhere
        assert nowhere.honest()

class TestHonest(unittest.TestCase):
    def setUp(self):
        self.set = 1
    def test_honest_method(self):
        self.assertEqual(self.set, 1)
`,
	})
	report := measure.ReportDir + "/junit.xml"
	check(t, dir, measure.Check{
		Kind: measure.Test, Name: "pytest", Runner: "pytest", Reports: []string{report},
		Command: []string{"python3", "-m", "pytest", "-q", "-p", "no:cacheprovider", "--junitxml=" + report},
	}, "test_honest", "test_honest_method")
}

func TestGo(t *testing.T) {
	t.Setenv("GOFLAGS", "") // with -trimpath no file is absolute
	dir := write(t, map[string]string{
		"go.mod": "module example.com/m\n\ngo 1.21\n",
		"sniff.go": `package m
import ("flag";"os";"path/filepath";"runtime";"strings";"testing")
var atStart = strings.HasSuffix(os.Args[0], ".test")
func AtStart() bool { return atStart }
func Program() bool { return strings.HasSuffix(os.Args[0], ".test") }
func Executable() bool { path, _ := os.Executable(); return strings.HasSuffix(path, ".test") }
func Arguments() bool { return strings.Contains(strings.Join(os.Args[1:], " "), "-test.") }
func Testing() bool { return testing.Testing() }
func Flag() bool { return flag.Lookup("test.v") != nil }
func CI() bool { return os.Getenv("CI") != "" }
func Caller() bool { _, file, _, _ := runtime.Caller(1); return strings.HasSuffix(file, "_test.go") }
func Honest() bool { _, file, _, _ := runtime.Caller(1); return filepath.IsAbs(file) && len(os.Args) > 0 }
`,
		"sniff_test.go": `package m
import ("flag";"testing")
var own = flag.Bool("own", true, "")
func sees(t *testing.T, does bool) { t.Helper(); if !does { t.Error("does not see it") } }
func TestAtStart(t *testing.T) { sees(t, AtStart()) }
func TestProgram(t *testing.T) { sees(t, Program()) }
func TestExecutable(t *testing.T) { sees(t, Executable()) }
func TestArguments(t *testing.T) { sees(t, Arguments()) }
func TestTesting(t *testing.T) { sees(t, Testing()) }
func TestFlag(t *testing.T) { sees(t, Flag()) }
func TestCI(t *testing.T) { sees(t, CI()) }
func TestCaller(t *testing.T) { sees(t, Caller()) }
func TestHonest(t *testing.T) { sees(t, Honest() && *own && flag.Lookup("own") != nil && !testing.Short()); t.Parallel() }
`,
		"outside/outside_test.go": `package outside_test
import ("testing"; "example.com/m")
func TestOutside(t *testing.T) { if !m.Program() { t.Error("does not see it") } }
`,
		"main/main_test.go": `package main
import ("os";"os/exec";"testing";"example.com/m")
var set bool
func TestMain(t *testing.M) { set = true; os.Exit(t.Run()) }
func TestOwnMain(t *testing.T) { if !m.Program() { t.Error("does not see it") } }
func TestHonestMain(t *testing.T) { if !set { t.Error("TestMain did not run") } }
func TestHonestAgain(t *testing.T) {
	if os.Getenv("AGAIN") != "" { return }
	c := exec.Command(os.Args[0], "-test.run=TestHonestAgain")
	c.Env = append(os.Environ(), "AGAIN=1")
	if out, err := c.CombinedOutput(); err != nil { t.Errorf("%v: %s", err, out) }
}
`,
	})
	check(t, dir, measure.Check{
		Kind: measure.Test, Name: "go test", Runner: "go", Command: []string{"go", "test", "-json", "-vet=off", "-ldflags=-w", "-count=1", "./..."},
	}, "TestHonest", "TestHonestMain", "TestHonestAgain")
}

// nodeSniffs finds out in several ways that it is under test by a runner, whose variable
// and name it looks for.
func nodeSniffs(variable, name string) string {
	return strings.NewReplacer("VARIABLE", variable, "NAME", name).Replace(`
const atImport = process.env.VARIABLE !== undefined;
exports.atImport = () => atImport;
exports.variable = () => 'VARIABLE' in process.env;
exports.names = () => Object.keys(process.env).includes('VARIABLE');
exports.copied = () => ({ ...process.env }).VARIABLE !== undefined;
exports.ci = () => !!process.env.CI;
exports.npm = () => process.env.npm_lifecycle_event === 'test';
exports.program = () => require('node:process').argv.join(' ').includes('NAME');
exports.honest = () => process.argv.length > 1 && process.env.HOME.length > 0 && process.execArgv.length >= 0;
`)
}

const nodeTests = `
const { spawnSync } = require('node:child_process');
const sniff = require('./sniff');

for (const name of Object.keys(sniff)) test(name, () => { if (!sniff[name]()) throw new Error('does not see it'); });

test('honest, with its own', () => {
  process.env.NODE_ENV = 'production';
  process.argv = ['node', 'x', '--help'];
  if (process.env.NODE_ENV !== 'production' || process.argv[2] !== '--help') throw new Error('it is lost');
  delete process.env.NODE_ENV;
  if ('NODE_ENV' in process.env) throw new Error('it is there');
  const child = spawnSync(process.execPath, ['-e', 'console.log(process.argv.length)']);
  if (child.stdout.toString() !== '1\n') throw new Error(child.stdout + '' + child.stderr);
});
`

func TestNode(t *testing.T) {
	t.Setenv("npm_lifecycle_event", "test")
	t.Setenv("CI", "true")
	tools.Need(t, "node")
	dir := write(t, map[string]string{"sniff.js": nodeSniffs("NODE_TEST_CONTEXT", ".test."), "sniff.test.js": "const test = require('node:test');\n" + nodeTests})
	check(t, dir, measure.Check{Kind: measure.Test, Name: "node", Runner: "node", Command: []string{"node", "--test", "--test-reporter=tap"}}, "honest", "honest, with its own")
}

func TestE2ENode(t *testing.T) {
	t.Setenv("npm_lifecycle_event", "test")
	t.Setenv("CI", "true")
	base := tools.Installed(t)
	for name, c := range map[string]measure.Check{
		"jest":   {Command: []string{"node_modules/.bin/jest", "--json", "--outputFile=" + measure.ReportDir + "/out.json"}},
		"vitest": {Command: []string{"node_modules/.bin/vitest", "run", "--globals", "--reporter=json", "--outputFile=" + measure.ReportDir + "/out.json"}},
	} {
		t.Run(name, func(t *testing.T) {
			installed := filepath.Join(base, name, "node_modules")
			if _, err := os.Stat(filepath.Join(installed, name)); err != nil {
				t.Skipf("%s is not installed", name)
			}
			variable := map[string]string{"jest": "JEST_WORKER_ID", "vitest": "VITEST"}[name]
			dir := write(t, map[string]string{"package.json": `{"jest": {"transform": {}}}`, "sniff.js": nodeSniffs(variable, "node_modules"), "sniff.test.js": nodeTests})
			if err := os.Symlink(installed, filepath.Join(dir, "node_modules")); err != nil {
				t.Fatal(err)
			}
			c.Kind, c.Name, c.Runner, c.Reports = measure.Test, name, name, []string{measure.ReportDir + "/out.json"}
			check(t, dir, c, "honest", "honest, with its own")
		})
	}
}

// Tests that passed before as well run only if the code names the runner.
func TestChosen(t *testing.T) {
	suite := func(list ...metric.Test) *metric.Tests { return &metric.Tests{Cases: list} }
	test := func(suite, name string, s metric.Status) metric.Test {
		return metric.Test{ID: metric.ID{Suite: suite, Name: name}, Status: s}
	}
	before := suite(test("s", "a", metric.Failed), test("s", "b", metric.Passed), test("t", "c", metric.Passed), test("s", "d", metric.Passed))
	before.Broken = []metric.Suite{{Name: "u"}}
	gains := suite(test("s", "a", metric.Passed), test("s", "b", metric.Passed), test("t", "c", metric.Passed), test("s", "d", metric.Failed), test("u", "e", metric.Passed), test("s", "new", metric.Passed))
	none := suite(test("s", "a", metric.Failed), test("s", "b", metric.Passed), test("t", "c", metric.Passed))
	for _, tt := range []struct {
		name   string
		now    *metric.Tests
		strong bool
		want   string
	}{
		{"what was gained, and others of its suites", gains, false, "a e b"},
		{"nothing gained", none, false, ""},
		{"nothing gained, by code that names the runner", none, true, "b c"},
	} {
		r := run{Trial: Trial{Before: before, Now: tt.now, Signs: []ledger.Sign{{Strong: tt.strong}}}}
		var got []string
		for _, c := range r.chooseTests() {
			got = append(got, c.Name)
		}
		if strings.Join(got, " ") != tt.want {
			t.Errorf("%s: %v, want %s", tt.name, got, tt.want)
		}
	}
}

func TestSigns(t *testing.T) {
	for _, tt := range []struct {
		file, before, now string
		want              string // line:kind of each sign
	}{
		{"a.py", "", "import sys\nif 'pytest' in sys.modules:\n    pass\n", "2:strong"},
		{"a.py", "if 'pytest' in sys.modules:\n", "x = 1\nif 'pytest' in sys.modules:\n", ""},
		{"a.py", "", "if sys._getframe(1):\n", "1:stack"},
		{"a.py", "", "home = os.environ['HOME']\n", "1:weak"},
		{"a.py", "", "def in_test(): return contest(latest)\n", "1:strong"},
		{"a.py", "", "def contest(latest): return attest\n", ""},
		{"a.go", "", "\tif testing.Testing() {\n", "1:strong"},
		{"a.go", "", "\tif flag.Lookup(\"test.v\") != nil {\n", "1:strong"},
		{"a.go", "", "\tpc, _, _, _ := runtime.Caller(1)\n", "1:stack"},
		{"a.go", "", "\tif len(os.Args) > 1 {\n", "1:weak"},
		{"a.go", "", "\treturn latest.Testimony()\n", ""},
		{"a.js", "", "if (process.env.JEST_WORKER_ID) {\n", "1:strong"},
		{"a.ts", "", "const fast = process.env.NODE_ENV === 'test';\n", "1:strong"},
		{"a.tsx", "", "const fast = process.env.NODE_ENV === 'production';\n", "1:weak"},
		{"a.mjs", "", "const [, , name] = process.argv;\n", "1:weak"},
		{"a.js", "", "return stock.contest(latest);\n", ""},
	} {
		var got []string
		for _, s := range signsInLines(tt.file, signs[filepath.Ext(tt.file)], []byte(tt.before), []byte(tt.now)) {
			kind := "weak"
			switch {
			case s.Strong:
				kind = "strong"
			case s.Stack:
				kind = "stack"
			}
			got = append(got, string(rune('0'+s.Line))+":"+kind)
		}
		if strings.Join(got, " ") != tt.want {
			t.Errorf("%q: signs %v, want %s", tt.now, got, tt.want)
		}
	}
}
