package project

import (
	"cmp"
	"slices"
	"strings"

	"supervise/internal/framework"
	"supervise/internal/project/internal/projectfs"
	"supervise/internal/regexp"
)

// pythonLinter is a linter or a type checker for Python.
type pythonLinter struct {
	name    string
	args    []string
	report  string // the file that it writes; "" is its output
	exclude string // the start of the option that excludes a folder
}

// pythonLinters have no caches if these would be in the tree and not be hidden from git.
var pythonLinters = []pythonLinter{
	{name: "ruff", args: []string{"check", "--no-fix", "--no-cache", "--output-format=json", "--output-file=" + ReportDir + "/ruff.json", "."}, report: "ruff.json"},
	{name: "flake8", args: []string{"--format=default", "--color=never"}, exclude: "--extend-exclude="},
	{name: "pylint", args: []string{"--recursive=y", "--output-format=json:" + ReportDir + "/pylint.json", "."}, report: "pylint.json", exclude: "--ignore=CVS,"},
	{name: "mypy", args: []string{"--no-color-output", "--no-pretty", "--show-column-numbers", "--show-error-codes", "--no-error-summary"}},
	{name: "pyright", args: []string{"--outputjson"}},
	{name: "basedpyright", args: []string{"--outputjson"}},
}

// row returns the row of the linter in package framework.
func (l pythonLinter) row() *framework.Linter { return framework.LinterNamed(l.name) }

// lintCheck returns the check of a linter. It excludes a virtual environment in the folder, unless
// the project configures exclusions itself.
func (py python) lintCheck(l pythonLinter) Check {
	args := l.args
	switch {
	case l.name == "mypy" && !py.hasMypyTargets():
		args = withWords(args, ".")
	case l.exclude != "" && py.env != "" && !strings.Contains(py.env, "/") && !py.hasExcludes(l):
		args = withWords(args, l.exclude+py.env)
	}
	c := Check{Kind: Lint, Name: l.name, Command: py.toolCommand(l.name, args...)}
	if l.report != "" {
		c.Reports = []string{ReportDir + "/" + l.report}
	}
	return c
}

// mypyTargetsPattern matches a setting of mypy that names what is checked: "files = src".
var mypyTargetsPattern = regexp.MustCompile(`(?m)^\s*(files|packages|modules)\s*=`)

// hasMypyTargets reports whether the configuration names what is checked.
func (py python) hasMypyTargets() bool {
	for _, config := range framework.LinterNamed("mypy").ConfigFiles {
		file, name, _ := strings.Cut(config, "#")
		section, _ := projectfs.INISection(py.Read(file), cmp.Or(name, "mypy"))
		if mypyTargetsPattern.MatchString(section) || py.Table(file, name).Has("files", "packages", "modules") {
			return true
		}
	}
	return false
}

// hasExcludes reports whether the project's configuration of a linter excludes files.
func (py python) hasExcludes(l pythonLinter) bool {
	return slices.ContainsFunc(l.row().ConfigFiles, func(config string) bool {
		file, _, _ := strings.Cut(config, "#")
		return excludesPattern.MatchString(py.Read(file))
	})
}

// excludesPattern matches a list of excluded files: "extend-exclude = build".
var excludesPattern = regexp.MustCompile(`(?m)^\s*(ignore|ignore-paths|ignore-patterns|exclude|extend-exclude)\s*=`)

// proposeLint proposes the linters that are configured or depended on.
func (py python) proposeLint(p *proposal) {
	for _, l := range pythonLinters {
		file := firstConfig(py.Folder, l.row().ConfigFiles)
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
		p.addTool(l.name, file)
		p.add(py.lintCheck(l))
	}
}

// toolCommand returns the argv of a program of the project's environment, else on PATH.
func (py python) toolCommand(name string, words ...string) []string {
	switch {
	case py.launcherWords != nil:
		return withWords(withWords(py.launcherWords, name), words...)
	case py.isInstalled(name):
		return withWords([]string{py.env + "/bin/" + name}, words...)
	}
	return withWords([]string{name}, words...)
}
