package project

import (
	"cmp"
	"path"
	"slices"
	"strings"

	"supervise/internal/framework"
	"supervise/internal/project/internal/projectfs"
	"supervise/internal/regexp"
	"supervise/runner"
)

// pythonMarkers are files that make a folder a Python project.
var pythonMarkers = []string{
	"pyproject.toml", "setup.py", "setup.cfg", "requirements.txt", "requirements-dev.txt", "Pipfile",
	"pytest.ini", "tox.ini", "conftest.py", "noxfile.py", "manage.py",
}

// dependencyFiles are files that may list the dependencies of a Python project.
var dependencyFiles = []string{
	"pyproject.toml", "setup.py", "setup.cfg", "Pipfile", "tox.ini", "noxfile.py", "requirements*.txt", "requirements*.in", "*requirements.txt",
	"requirements/*.txt", "requirements/*.in", "environment.yml",
}

// python is a folder with Python in it.
type python struct {
	projectfs.Folder
	env            string   // the virtual environment, relative to the folder; "" is none
	launcherWords  []string // what starts a program of the project's environment: "uv run --frozen"
	lockText       string   // the text of the lock file of that tool
	dependencyText string   // the text of everything that lists dependencies
}

// proposePython recognizes a Python project. A script or workflow of the project decides how the
// tests run, else pytest, Django or unittest, in this order.
func proposePython(f projectfs.Folder) proposal {
	var p proposal
	py := newPython(f, &p)
	said, other := py.findTestScript()
	own := map[string]func(script, *proposal){"unittest": py.addUnittest, "django": py.addDjango, program: py.addOwnProgram}[said.module]
	switch {
	case own != nil && firstConfig(py.Folder, pytest.ConfigFiles) == "":
		own(said, &p)
	case py.usesPytest(said, &p):
		py.addPytest(&p, said.selecting()...)
		p.covers = py.covers
	case f.First("manage.py") != "" && strings.Contains(f.Read("manage.py"), "django"):
		p.addTool("django test", "manage.py")
		p.add(py.unittestCheck("django test", "manage.py", "test", "--verbosity=2", "--no-input"))
	case f.FirstMatching(djangoTestsPattern, "runtests.py") != "":
		p.addTool("django test", "runtests.py")
		p.add(py.unittestCheck("django test", "runtests.py", "--verbosity=2", "--no-input"))
	default:
		py.addDiscovered(&p)
		said.env = nil
		if other != "" && p.hasKind(Test) {
			p.note("%s: unittest runs instead, and may find other tests; give --test-cmd (and --test-report) with what writes JUnit XML", other)
		}
	}

	for i := range p.checks {
		p.checks[i].Env = append(p.checks[i].Env, said.env...)
	}

	py.proposeLint(&p)
	p.lintsAll = true
	return p
}

func newPython(f projectfs.Folder, p *proposal) python {
	py := python{Folder: f}
	for _, pattern := range dependencyFiles {
		for _, name := range f.Glob(pattern) {
			py.dependencyText += lineCommentPattern.ReplaceAllString(f.Read(name), "") + "\n"
		}
	}
	if config := f.FirstAbove(".venv/pyvenv.cfg", "venv/pyvenv.cfg", "env/pyvenv.cfg"); config != "" {
		py.env = path.Dir(config)
	}
	py.launcherWords, py.lockText = py.launcher(p)
	return py
}

var (
	pytest   = framework.Named("pytest")
	unittest = framework.Named("unittest")
)

// djangoTestsPattern matches the start of Django's tests in a program:
// execute_from_command_line([…, "test"]).
var djangoTestsPattern = regexp.MustCompile(`\bexecute_from_command_line\b[^#]*['"]test['"]|['"]test['"][^#]*\bexecute_from_command_line\(`)

// pytestStylePattern matches a line that only tests for pytest have: import pytest, or a test
// function outside of a class, such as "def test_add():".
var pytestStylePattern = regexp.MustCompile(`(?m)^(import pytest|from pytest import|(async )?def test_)`)

// testFiles returns the files in which unittest or pytest may find tests.
func (py python) testFiles() []string { return py.Search(50, "test*.py", "*_test.py") }

// usesPytest reports whether pytest runs the tests, by its configuration, the dependencies, the
// style of the tests, or a workflow. If so, it adds the tool with the file that shows it.
func (py python) usesPytest(said script, p *proposal) bool {
	config := firstConfig(py.Folder, pytest.ConfigFiles)
	if config == "" && py.dependsOn("pytest") && (py.Dir == "" || len(py.testFiles()) > 0) { // tools in a list do not make tests
		config = "dependencies"
	}
	if config == "" {
		config = py.FirstMatching(pytestStylePattern, py.testFiles()...)
	}
	if config == "" && said.workflow && said.module == "pytest" {
		config = said.from
	}
	if config == "" {
		return false
	}
	p.addTool("pytest", config)
	py.noteMissing("pytest", config, p)
	return true
}

// covers reports whether pytest in the folder finds the tests of the project in dir:
// everything below, unless testpaths names them.
func (py python) covers(dir string) bool {
	var paths []string
	for _, config := range pytest.ConfigFiles {
		file, name, _ := strings.Cut(config, "#")
		name = cmp.Or(name, pytest.Name)
		switch path.Ext(file) {
		case ".toml":
			paths = append(paths, py.Table(file, name).Strings("testpaths")...)
			paths = append(paths, py.Table(file, name+".ini_options").Strings("testpaths")...)
			continue
		case ".py":
			continue
		}
		section, _ := projectfs.INISection(py.Read(file), name)
		paths = append(paths, strings.Fields(firstGroup(iniPathsPattern, section))...)
	}
	return len(paths) == 0 || slices.ContainsFunc(paths, func(p string) bool {
		p = strings.Trim(strings.TrimPrefix(p, "./"), "/")
		return p == "." || dir == p || strings.HasPrefix(dir, p+"/") || strings.HasPrefix(p, dir+"/")
	})
}

// iniPathsPattern captures the value of testpaths, which may continue in indented lines:
// "testpaths = tests integration".
var iniPathsPattern = regexp.MustCompile(`(?m)^testpaths\s*=\s*((?:.*\n)(?:[ \t]+.*\n)*)`)

// addPytest proposes pytest. The project's options are kept, but the run does not end at the first
// failure and does not fail by a coverage limit. selecting are words of the project's script that
// select tests.
func (py python) addPytest(p *proposal, selecting ...string) {
	words := slices.Concat([]string{"-m", pytest.Name}, pytest.Report.Args, selecting)
	c := rowCheck(pytest)
	c.Command, c.Env = py.pythonCommand(words...), py.environment()
	c.Inventory = py.pythonCommand(slices.Concat([]string{"-m", pytest.Name}, pytest.List.Args, selecting)...)
	switch {
	case py.isAvailable("pytest-cov"):
		c.cover(pytest)
	case py.isAvailable("coverage"):
		c = py.withCoverage(pytest, c, words)
	default:
		p.note("no coverage: add pytest-cov to the dependencies")
	}
	p.add(c)
}

// environment returns a variable that keeps compiled files out of the tree. Python would use an
// old one instead of a changed source that has the same time and length.
func (py python) environment() []string { return []string{"PYTHONDONTWRITEBYTECODE=1"} }

// withCoverage returns a check that runs under coverage.py. Further commands write the report, even
// after a failure. Like pytest-cov, they leave out files that are not valid Python. words are the
// arguments of Python.
func (py python) withCoverage(row *framework.Framework, c Check, words []string) Check {
	python := strings.Join(py.pythonCommand(), " ")
	c.cover(row)
	c.Command = []string{"/bin/sh", "-c", python + " -m coverage run " + runner.ShellQuote(withWords(py.coverageScope(), words...)...) + "; status=$?; " +
		python + " -m coverage combine -q >/dev/null 2>&1; " +
		python + " -m coverage json -q -i --fail-under=0 -o " + runner.ShellQuote(row.Coverage.Files[0]) + "; exit $status"}
	return c
}

// addDiscovered proposes unittest if a test file imports it.
func (py python) addDiscovered(p *proposal) {
	files := py.testFiles()
	file := py.FirstMatching(regexp.MustCompile(`(?m)^\s*(import|from) unittest`), files...)
	if file == "" {
		return
	}
	words := []string{"-m", "unittest", "discover", "-v"}
	// Discovery does not enter folders that are not packages.
	if dir := strings.Split(file, "/")[0]; dir != file && py.First(dir+"/__init__.py") == "" {
		words = append(words, "-s", dir)
	}
	if matches := func(name string) bool { return projectfs.MatchesAny(path.Base(name), []string{"test*.py"}) }; !slices.ContainsFunc(files, matches) {
		words = append(words, "-p", "*_test.py")
	}
	p.addTool("unittest", file)
	p.add(py.unittestCheck("unittest", words...))
}

// unittestCheck returns a check by unittest, which reports as text on standard error. words are the
// arguments of Python.
func (py python) unittestCheck(name string, words ...string) Check {
	c := rowCheck(unittest, py.pythonCommand(words...)...)
	c.Name, c.Stderr, c.Env = name, true, py.environment()
	if py.isAvailable("coverage") {
		c = py.withCoverage(unittest, c, words)
	}
	return c
}
