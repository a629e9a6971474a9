package project

import (
	"cmp"
	"strings"

	"supervise/internal/framework"
	"supervise/internal/project/internal/checkout"
	"supervise/internal/regexp"
)

// pythonLinter is a linter or a type checker for Python.
type pythonLinter struct {
	name    string
	command func(py python) Check
}

// Caches are not used if the tool would also leave them in the tree without hiding them
// from git.
var pythonLinters = []pythonLinter{
	{"ruff", func(py python) Check {
		report := ReportDir + "/ruff.json"
		return Check{
			Command: py.toolCommand("ruff", "check", "--no-fix", "--no-cache", "--output-format=json", "--output-file="+report, "."),
			Reports: []string{report},
		}
	}},
	{"flake8", func(py python) Check {
		words := []string{"--format=default", "--color=never"}
		return Check{Command: py.toolCommand("flake8", py.withExclude(words, "--extend-exclude=", ".flake8", "setup.cfg", "tox.ini")...)}
	}},
	{"pylint", func(py python) Check {
		report := ReportDir + "/pylint.json"
		return Check{
			Command: py.toolCommand("pylint", py.withExclude([]string{"--recursive=y", "--output-format=json:" + report, "."}, "--ignore=CVS,", pylintConfigs...)...),
			Reports: []string{report},
		}
	}},
	{"mypy", func(py python) Check {
		words := []string{"--no-color-output", "--no-pretty", "--show-column-numbers", "--show-error-codes", "--no-error-summary"}
		if !py.hasMypyTargets() {
			words = append(words, ".")
		}
		return Check{Command: py.toolCommand("mypy", words...)}
	}},
	{"pyright", func(py python) Check {
		return Check{Command: py.toolCommand("pyright", "--outputjson")}
	}},
	{"basedpyright", func(py python) Check {
		return Check{Command: py.toolCommand("basedpyright", "--outputjson")}
	}},
}

var mypyTargets = regexp.MustCompile(`(?m)^\s*(files|packages|modules)\s*=`)

// hasMypyTargets reports whether the configuration names what is checked.
func (py python) hasMypyTargets() bool {
	for _, config := range framework.LinterNamed("mypy").ConfigFiles {
		file, name, _ := strings.Cut(config, "#")
		section, _ := checkout.INISection(py.Read(file), cmp.Or(name, "mypy"))
		if mypyTargets.MatchString(section) || py.Table(file, name).Has("files", "packages", "modules") {
			return true
		}
	}
	return false
}

// withExclude adds an option that keeps a linter out of the virtual environment in the
// folder, unless the project has its own list of exclusions.
func (py python) withExclude(words []string, option string, configs ...string) []string {
	if py.env == "" || strings.Contains(py.env, "/") || py.FirstMatching(ownExcludes, configs...) != "" {
		return words
	}
	return append(words, option+py.env)
}

var (
	ownExcludes   = regexp.MustCompile(`(?m)^\s*(ignore|ignore-paths|ignore-patterns|exclude|extend-exclude)\s*=`)
	pylintConfigs = []string{".pylintrc", "pylintrc", ".pylintrc.toml", "pylintrc.toml", "pyproject.toml"}
)

// proposeLint proposes the linters that are configured or depended on.
func (py python) proposeLint(p *proposal) {
	for _, l := range pythonLinters {
		file := firstConfig(py.Folder, framework.LinterNamed(l.name).ConfigFiles)
		if file == "" && py.dependsOn(l.name) {
			file = "dependencies"
		}
		if file == "" {
			continue
		}
		if py.isMissing(l.name) {
			install := "pip install"
			if py.usesUV() {
				install = "uv pip install"
			}
			p.note("%s is asked for by %s but is not installed: %s %s", l.name, file, install, l.name)
			continue
		}
		c := l.command(py)
		c.Kind, c.Name = Lint, l.name
		p.addTool(l.name, file)
		p.add(c)
	}
}

// toolCommand is the argv of a program of the project's environment, else of PATH.
func (py python) toolCommand(name string, words ...string) []string {
	switch {
	case py.start != nil:
		return withWords(withWords(py.start, name), words...)
	case py.isInstalled(name):
		return withWords([]string{py.env + "/bin/" + name}, words...)
	}
	return withWords([]string{name}, words...)
}
