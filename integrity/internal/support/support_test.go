package support

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"supervise/integrity/internal/facts"
)

// project is a tree by path.
type project map[string]string

func (p project) tree() facts.Tree {
	return facts.Tree{
		Paths: func() []string { return slices.Sorted(maps.Keys(p)) },
		Texts: func(paths []string) map[string][]byte {
			out := map[string][]byte{}
			for _, name := range paths {
				if text, ok := p[name]; ok {
					out[name] = []byte(text)
				}
			}
			return out
		},
	}
}

// change is a file of the project with another text, a new file where it had none, and
// one that is gone where the text is "-".
func (p project) change(name, text string) facts.File {
	was, ok := p[name]
	f := facts.File{Path: name, Added: !ok, Deleted: text == "-"}
	if ok {
		f.Before = []byte(was)
	}
	if text != "-" {
		f.After = []byte(text)
	}
	return f
}

func TestRolesByPath(t *testing.T) {
	for name, want := range map[string]Role{
		"test_a.py": Test, "a_test.go": Test, "a.spec.ts": Test, "src/test/java/a/B.java": Support, "src/test/resources/x.json": Support,
		"conftest.py": Support, "pkg/conftest.py": Support, "sitecustomize.py": Support, "x.pth": Support, "__mocks__/fs.js": Support,
		"src/a/__snapshots__/b.snap": Support, "testdata/in.txt": Support, "spec/spec_helper.rb": Support, "tests/data/x.json": Support,
		"tests/helpers.py": Support, "test/support/x.ex": Support, "src/testFixtures/java/A.java": Support, "tests/README.md": Support,
		"pytest.ini": Runner, "tox.ini": Runner, "jest.config.ts": Runner, "vitest.config.mts": Runner, "packages/a/jest.config.js": Runner, ".mocharc.yml": Runner,
		".rspec": Runner, "phpunit.xml.dist": Runner, "karma.conf.js": Runner, ".config/nextest.toml": Runner, "src/test/resources/junit-platform.properties": Runner,
		"src/test/resources/META-INF/services/org.junit.jupiter.api.extension.Extension": Runner, "run_tests.sh": Runner, "tsconfig.spec.json": Runner,
		"calc.py": Product, "src/main/java/com/acme/spec/A.java": Product, "src/main/java/com/acme/testing/A.java": Product, "latest/a.ts": Product,
		"vendor/x/y.go": Product, "data.json": Product, "src/contest/a.go": Product,
		"README.md": Other, ".github/workflows/ci.yml": Other, "node_modules/expect/build/index.js": Other, ".gitignore": Other, "venv/lib/python3/site-packages/_pytest/x.py": Other,
	} {
		if got := RoleByPath(name); got != want {
			t.Errorf("%s: got role %d, want %d", name, got, want)
		}
	}
}

const assertHelper = "def assert_total(x):\n    assert x == 5\n"

// A change of one file in a project, and the role of that file.
func TestRolesInAProject(t *testing.T) {
	python := project{"calc.py": "def total(): return 5\n", "test_calc.py": "from calc import total\nfrom helpers import assert_total\n\ndef test_total():\n    assert_total(total())\n", "helpers.py": assertHelper}
	script := project{
		"package.json":  `{"name": "x", "dependencies": {"a": "1"}, "jest": {"setupFiles": ["<rootDir>/config/env.js"], "transform": {"\\.js$": "./config/rewrite.js"}, "moduleNameMapper": {"^x$": "<rootDir>/src/index.js", "\\.css$": "<rootDir>/config/styleMock.js"}}, "scripts": {"test": "mocha -r ./boot.js checks/*.js", "build": "tsc"}}`,
		"config/env.js": "x", "config/rewrite.js": "x", "config/styleMock.js": "module.exports = {}", "boot.js": "x", "src/index.js": "export * from './rates.js'\n", "src/rates.js": "x",
		"checks/rates.js": "describe('rates', () => { it('adds', () => { expect(1).toBe(1) }) })\n",
	}
	golang := project{
		"go.mod": "module example.com/m\n", "calc/calc.go": "package calc\n", "calc/calc_test.go": "package calc\n\nimport (\n\t\"testing\"\n\n\t\"example.com/m/internal/testutil\"\n)\n",
		"internal/testutil/testutil.go": "package testutil\n\nimport \"testing\"\n\nfunc Total(t *testing.T, x int) {}\n", "main.go": "package main\n\nimport \"example.com/m/calc\"\n",
	}
	for _, tc := range []struct {
		name, file, text string
		in, with         project // with: more files
		want             Role
	}{
		{"a helper that only tests import", "helpers.py", "def assert_total(x):\n    pass\n", python, nil, Support},
		{"the same, gone", "helpers.py", "-", python, nil, Support},
		{"a helper that the product imports", "helpers.py", "x = 1\n", python, project{"app.py": "import helpers\n"}, Product},
		{"a helper of the product's package", "shop/helpers.py", "x = 1\n", python, project{"shop/helpers.py": "", "shop/cart.py": "from . import helpers\n", "test_cart.py": "from shop.helpers import x\n"}, Product},
		{"the subject of a test", "helpers.py", "x = 1\n", python, project{"test_helpers.py": "import helpers\n"}, Product},
		{"the only code there is", "helpers.py", "x = 1\n", project{"helpers.py": assertHelper, "test_all.py": "import helpers\n"}, nil, Product},
		{"what the tests test", "calc.py", "x = 1\n", python, nil, Product},
		{"a new helper", "expected_values.py", "TOTAL = 6\n", python, project{"test_more.py": "from expected_values import TOTAL\n"}, Support},
		{"a helper that the change makes product import", "helpers.py", "x = 1\n", python, nil, Support},
		{"the product's own package for tests", "shop/testing.py", "def fake(): pass\n", project{"shop/__init__.py": "from .testing import fake\n", "shop/testing.py": "", "tests/test_x.py": "from shop.testing import fake\n"}, nil, Product},
		{"a plugin of pytest", "checks/quiet.py", "x = 1\n", python, project{"pytest.ini": "[pytest]\naddopts = -p checks.quiet\n", "checks/quiet.py": ""}, Support},
		{"one that conftest names", "quiet.py", "x = 1\n", python, project{"conftest.py": "pytest_plugins = [\n    \"quiet\",\n]\n", "quiet.py": ""}, Support},
		{"the product is a plugin", "quiet.py", "x = 1\n", python, project{"pyproject.toml": "[tool.pytest.ini_options]\naddopts = \"-p quiet\"\n[project.entry-points.pytest11]\nquiet = \"quiet\"\n", "quiet.py": ""}, Product},
		{"tests by another name", "check_calc.py", "x = 1\n", python, project{"pytest.ini": "[pytest]\npython_files = check_*.py\n", "check_calc.py": "def test_a():\n    assert 1\n"}, Test},
		{"a command named test", "shop/commands/test.py", "x = 1\n", python, project{"shop/commands/test.py": "", "shop/main.py": "from shop.commands import test\n"}, Product},
		{"expected output", "expected/total.json", "6", python, project{"expected/total.json": "5", "test_golden.py": "open('expected/total.json')\n"}, Support},
		{"data of the product", "samples/total.json", "6", python, project{"samples/total.json": "5", "app.py": "open('samples/total.json')\n", "test_golden.py": "open('samples/total.json')\n"}, Product},
		{"data", "rates.json", "6", python, project{"rates.json": "5", "test_golden.py": "open('rates.json')\n"}, Product},
		{"a set-up file", "config/env.js", "y", script, nil, Support},
		{"a transform", "config/rewrite.js", "y", script, nil, Support},
		{"a module that replaces another", "config/styleMock.js", "y", script, nil, Support},
		{"the product under another name", "src/index.js", "y", script, nil, Product},
		{"what the product imports", "src/rates.js", "y", script, nil, Product},
		{"what the command requires", "boot.js", "y", script, nil, Support},
		{"a set-up file that the product imports", "config/env.js", "y", script, project{"src/app.js": "import '../config/env.js'\n"}, Product},
		{"tests in a folder that the command names", "checks/rates.js", "y", script, nil, Test},
		{"a folder of that name in the product", "src/spec/parse.ts", "y", script, project{"src/spec/parse.ts": "x", "src/api.ts": "import { parse } from './spec/parse'\n"}, Product},
		{"a folder of tests", "spec/build.ts", "y", script, project{"spec/build.ts": "x", "src/api.ts": "import { build } from './build'\n"}, Support},
		{"a dependency", "package.json", strings.Replace(script["package.json"], `"a": "1"`, `"a": "2", "jest": "29"`, 1), script, nil, Product},
		{"another test script", "package.json", strings.Replace(script["package.json"], "checks/*.js", "checks/a.js", 1), script, nil, Mixed},
		{"another build script", "package.json", strings.Replace(script["package.json"], "tsc", "tsc -b", 1), script, nil, Product},
		{"another transform", "package.json", strings.Replace(script["package.json"], "rewrite.js", "other.js", 1), script, nil, Mixed},
		{"a package of Go that only tests import", "internal/testutil/testutil.go", "package testutil\n", golang, nil, Support},
		{"one that the product imports", "internal/testutil/testutil.go", "package testutil\n", golang, project{"serve.go": "package main\n\nimport \"example.com/m/internal/testutil\"\n"}, Product},
		{"a package with its own tests", "calc/calc.go", "package calc\n", golang, nil, Product},
		{"helpers with tests of their own", "internal/testutil/testutil.go", "package testutil\n", golang, project{"internal/testutil/testutil_test.go": "package testutil\n"}, Product},
		{"a package called testing", "testing/clock.go", "package testing\n", golang, project{"testing/clock.go": "package testing\n", "serve.go": "package main\n\nimport _ \"example.com/m/testing\"\n"}, Product},
		{"requirements of Go", "go.mod", "module example.com/m\n\nrequire example.com/x v1.0.0\n", golang, nil, Product},
		{"a replacement", "go.mod", "module example.com/m\n\nreplace example.com/x => ./x\n", golang, nil, Mixed},
		{"a module of Rust for tests", "src/check.rs", "y", project{"src/lib.rs": "pub mod calc;\n#[cfg(test)]\nmod check;\n", "src/check.rs": "x", "src/calc.rs": "x"}, nil, Support},
		{"one for all", "src/calc.rs", "y", project{"src/lib.rs": "pub mod calc;\n#[cfg(test)]\nmod check;\n", "src/check.rs": "x", "src/calc.rs": "x"}, nil, Product},
		{"pytest's part of pyproject", "pyproject.toml", "[project]\nname = \"x\"\n[tool.pytest.ini_options]\naddopts = \"-x\"\n", project{"pyproject.toml": "[project]\nname = \"x\"\n"}, nil, Mixed},
		{"another part", "pyproject.toml", "[project]\nname = \"x\"\nversion = \"2\"\n", project{"pyproject.toml": "[project]\nname = \"x\"\n"}, nil, Product},
		{"the tests of a Makefile", "Makefile", "test:\n\ttrue\n", project{"Makefile": "test:\n\tpytest\n"}, nil, Mixed},
		{"the bootstrap of PHPUnit", "boot.php", "y", project{"phpunit.xml": "<phpunit bootstrap=\"boot.php\"/>", "boot.php": "x", "src/A.php": "x"}, nil, Support},
		{"what .rspec requires", "lib/quiet.rb", "y", project{".rspec": "--require ./lib/quiet\n", "lib/quiet.rb": "x"}, nil, Support},
	} {
		t.Run(tc.name, func(t *testing.T) {
			p := maps.Clone(tc.in)
			maps.Copy(p, tc.with)
			files := []facts.File{p.change(tc.file, tc.text)}
			if strings.Contains(tc.name, "makes product import") {
				files = append(files, p.change("calc.py", "from helpers import assert_total\n"))
			}
			if got := Roles(files, p.tree())[tc.file]; got != tc.want {
				t.Errorf("got role %d, want %d", got, tc.want)
			}
		})
	}
}

// A product of 2,000 files, one of which changes, must not cost an iteration much.
func BenchmarkRoles(b *testing.B) {
	p := project{"package.json": "{}", "pyproject.toml": "[project]\nname = \"x\"\n"}
	for i := range 2000 {
		p[fmt.Sprintf("shop/area%d/part%d.py", i%40, i)] = strings.Repeat(fmt.Sprintf("from shop.area%d import part%d\n\ndef f():\n    return 1\n", i%40, i+1), 20)
		p[fmt.Sprintf("tests/area%d/test_part%d.py", i%40, i)] = fmt.Sprintf("from shop.area%d import part%d\nfrom shop.helpers import check\n", i%40, i)
	}
	p["shop/helpers.py"] = assertHelper
	for _, name := range []string{"shop/area1/part1.py", "shop/helpers.py"} {
		b.Run(strings.ReplaceAll(name, "/", "-"), func(b *testing.B) {
			tree, files := p.tree(), []facts.File{p.change(name, "x = 1\n")}
			for b.Loop() {
				Roles(files, tree)
			}
		})
	}
}
