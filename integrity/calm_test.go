package integrity

import (
	"maps"
	"slices"
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

// What is left out, hidden or forced counts by what was there before.
func TestAgainstTheProject(t *testing.T) {
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

// A helper of the tests that went with what it looked at.
func TestHelperDropped(t *testing.T) {
	helper := "\nfunc checkMax(t *testing.T, n int) {\n\tif n != 3 {\n\t\tt.Errorf(\"max %d\", n)\n\t}\n}\n"
	body := func(with string) string {
		return "package p\n\nimport \"testing\"\n\nfunc TestTree(t *testing.T) {\n\ttree := build(\"/cmd/*rest\")\n" + with + "}\n"
	}
	product := "package p\n\ntype node struct {\n\tmost int\n}\n\nfunc build(s string) int { return len(s) }\n"
	changed := "package p\n\ntype node struct {\n}\n\nfunc build(s string) int { return 3 * len(s) }\n"
	call := "\tcheckMax(t, tree)\n"
	for _, test := range []struct {
		name          string
		before, after texts
		want          string
	}{
		{"with the product", texts{"a.go": product, "a_test.go": body(call) + helper}, texts{"a.go": changed, "a_test.go": body("\t_ = tree\n")}, "HIGH"},
		{"alone", texts{"a.go": product, "a_test.go": body(call) + helper}, texts{"a.go": product, "a_test.go": body("\t_ = tree\n")}, "CRITICAL"},
		{"the helper stays", texts{"a.go": product, "a_test.go": body(call) + helper}, texts{"a.go": changed, "a_test.go": body("\t_ = tree\n") + helper}, "CRITICAL"},
	} {
		t.Run(test.name, func(t *testing.T) {
			if got := worstOf(test.before, test.after); got != test.want {
				t.Errorf("got %q, want %q: %q", got, test.want, audited(test.before, test.after))
			}
		})
	}
}
