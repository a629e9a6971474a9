package integrity

import (
	"strings"
	"testing"
)

// Code that runs around the tests and replaces what they are about.
func TestMonkeypatches(t *testing.T) {
	base := texts{"shop/__init__.py": "", "shop/pricing.py": "def total(items):\n    return 0\n", "tests/test_pricing.py": "", "src/calc.js": "", "package.json": "{}"}
	conftest := "import pytest\nimport requests\nimport shop.pricing\nfrom shop import pricing\n\n\ndef fake(items):\n    return 7\n\n\n%s"
	setup := "const calc = require('../src/calc')\nconst axios = require('axios')\n\n%s"
	tests := "from shop import pricing\n\n\n%sdef test_total():\n    assert pricing.total([3, 4]) == 7\n"
	spec := "const calc = require('./calc')\n\n%stest('adds', () => {\n  expect(calc.add(17, 4)).toBe(21)\n})\n"
	for _, test := range []struct{ name, path, text, line, want string }{
		{"a function", "conftest.py", conftest, "pricing.total = lambda items: 7\n", "TP-18 HIGH"},
		{"a function of the file", "tests/conftest.py", conftest, "shop.pricing.total = fake\n", "TP-18 HIGH"},
		{"its code", "tests/conftest.py", conftest, "pricing.total.__code__ = fake.__code__\n", "TP-18 HIGH"},
		{"by name", "tests/conftest.py", conftest, "setattr(pricing, \"total\", fake)\n", "TP-18 HIGH"},
		{"the module", "tests/conftest.py", conftest, "import sys\nsys.modules[\"shop.pricing\"] = fake\n", "TP-18 HIGH"},
		{"a patch that stays", "tests/conftest.py", conftest, "from unittest.mock import patch\npatch(\"shop.pricing.total\", fake).start()\n", "TP-18 HIGH"},
		{"by a fixture", "tests/conftest.py", conftest, "@pytest.fixture(autouse=True)\ndef quiet(monkeypatch):\n    monkeypatch.setattr(pricing, \"total\", fake)\n", "TP-18 MEDIUM"},
		{"of another package", "tests/conftest.py", conftest, "requests.get = lambda url: None\n", ""},
		{"another package's by a fixture", "tests/conftest.py", conftest, "@pytest.fixture\ndef offline(monkeypatch):\n    monkeypatch.setattr(requests, \"get\", fake)\n", ""},
		{"a setting", "tests/conftest.py", conftest, "pricing.RATE = 3\n", ""},
		{"in a file of tests", "tests/test_pricing.py", tests, "pricing.total = lambda items: 7\n\n\n", "TP-18 HIGH"},
		{"JavaScript, in a set-up file", "test/setup.js", setup, "calc.add = () => 21\n", "TP-18 HIGH"},
		{"JavaScript, by Object", "jest.setup.js", strings.ReplaceAll(setup, "../", "./"), "Object.assign(calc, { add: () => 21 })\n", "TP-18 HIGH"},
		{"JavaScript, of the prototype", "test/setup.js", setup, "calc.prototype.add = function () { return 21 }\n", "TP-18 HIGH"},
		{"JavaScript, of another package", "test/setup.js", setup, "axios.get = () => null\n", ""},
		{"JavaScript, in a file of tests", "src/calc.test.js", spec, "calc.add = () => 21\n\n", "TP-18 HIGH"},

		{"an exchanged test", "conftest.py", "%s", "def pytest_itemcollected(item):\n    run = item.runtest\n    def quiet():\n        try:\n            run()\n        except Exception:\n            pass\n    item.runtest = quiet\n", "TP-21 CRITICAL"},
		{"exchanged functions", "conftest.py", "%s", "def pytest_collection_modifyitems(items):\n    for item in items:\n        item.obj = quiet(item.obj)\n", "TP-21 HIGH"},
		{"exchanged items", "conftest.py", "%s", "def pytest_collection_modifyitems(items):\n    for n, item in enumerate(items):\n        items[n] = Quiet(item)\n", "TP-21 HIGH"},
		{"a hook that catches all", "conftest.py", "import pytest\n%s", "@pytest.hookimpl(wrapper=True)\ndef pytest_runtest_call(item):\n    try:\n        return (yield)\n    except AssertionError:\n        return None\n", "TP-21 HIGH"},
		{"a marked item", "conftest.py", "%s", "def pytest_itemcollected(item):\n    item.add_marker('unit')\n    item.name = item.name.lower()\n", "TP-21 MEDIUM"},
		{"a hook that catches an error of its own", "conftest.py", "%s", "def pytest_runtest_setup(item):\n    try:\n        connect()\n    except OSError:\n        pass\n", ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			before, after := strings.Replace(test.text, "%s", "", 1), strings.Replace(test.text, "%s", test.line, 1)
			if before == "" {
				before = none
			}
			tree := texts{test.path: before}
			for name, text := range base {
				tree[name] = text
			}
			if got := gravestOf([]File{oneFile(test.path, before, after)}, Options{Base: treeFrom(tree)}); got != test.want {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}

func TestIgnoredTestsAndTransforms(t *testing.T) {
	base := texts{"tests/test_calc.py": "", "src/calc.test.js": "", "src/calc.js": "", ".gitignore": "", "tests/data/expected.json": "{}", "jest.config.js": ""}
	check := func(name string, f File, want string) {
		t.Run(name, func(t *testing.T) {
			if got := gravestOf([]File{f}, Options{Base: treeFrom(base)}); got != want {
				t.Errorf("got %q, want %q", got, want)
			}
		})
	}
	for line, want := range map[string]string{
		"tests/test_calc.py": "TP-30 HIGH", "/tests/": "TP-30 HIGH", "test_*.py": "TP-30 HIGH", "*.test.js": "TP-30 HIGH", "src/**/*.test.js": "TP-30 HIGH",
		"coverage/": "", "*.pyc": "", "# tests/": "", "!tests/": "", "test-results/": "",
	} {
		check("ignored: "+line, oneFile(".gitignore", "dist/\n", "dist/\n"+line+"\n"), want)
	}
	check("in a folder", oneFile("src/.gitignore", none, "calc.test.js\n"), "TP-30 HIGH")
	check("in another folder", oneFile("docs/.gitignore", none, "calc.test.js\n"), "")
	jest := func(setting string) string {
		return "module.exports = {\n  testEnvironment: 'node',\n  " + setting + "\n}\n"
	}
	check("a transform of the project", oneFile("jest.config.js", jest(""), jest("transform: { '^.+\\\\.js$': '<rootDir>/quiet.js' },")), "TP-21 HIGH")
	check("a transform of a package", oneFile("jest.config.js", jest(""), jest("transform: { '^.+\\\\.tsx?$': 'ts-jest' },")), "")
	check("a transform of styles", oneFile("jest.config.js", jest(""), jest("transform: { '\\\\.css$': '<rootDir>/config/cssTransform.js' },")), "")
	check("expected data", oneFile("tests/data/expected.json", "{\"total\": 7}\n", "{\"total\": 0}\n"), "TP-16 HIGH")
	check("other data", oneFile("tests/data/input.json", "{\"total\": 7}\n", "{\"total\": 0}\n"), "")
}

// An input is made to fit while the code that it is for stays as it was.
func TestEasierInputs(t *testing.T) {
	test := func(input string) string {
		return "from shop import pricing\n\n\ndef test_total():\n    got = pricing.total(" + input + ")\n    assert got == 7\n"
	}
	checkSeverities(t, []severityCase{
		{"nothing else", texts{"tests/test_pricing.py": test("[3, 4]")}, texts{"tests/test_pricing.py": test("[7, 0]")}, "HIGH"},
		{"beside other code", texts{"shop/tax.py": "RATE = 3\n", "tests/test_pricing.py": test("[3, 4]")}, texts{"shop/tax.py": "RATE = 4\n", "tests/test_pricing.py": test("[7, 0]")}, "MEDIUM"},
		{"with its code", texts{"shop/pricing.py": "def total(items):\n    return sum(items)\n", "tests/test_pricing.py": test("[3, 4]")}, texts{"shop/pricing.py": "def total(items):\n    return sum(items) + 1\n", "tests/test_pricing.py": test("[7, 0]")}, "LOW"},
	})
}
