package project

import (
	"slices"
	"strings"

	"supervise/internal/projectfile"
	"supervise/internal/regexp"
)

// launchers are tools that manage the environment of a project, recognized by their lock file.
var launchers = []struct {
	lock, program string
	start         []string // the words before a program of the environment
	get           string   // the command that installs the tool
}{
	{"uv.lock", "uv", []string{"uv", "run", "--frozen"}, "pip install uv"},
	{"poetry.lock", "poetry", []string{"poetry", "run"}, "pipx install poetry"},
	{"pdm.lock", "pdm", []string{"pdm", "run"}, "pipx install pdm"},
	{"Pipfile.lock", "pipenv", []string{"pipenv", "run"}, "pip install pipenv"},
}

// launcher returns the words that start a program of the project's environment, and the text of
// the lock file. Both are empty if no installed tool manages the environment.
func (py python) launcher(p *proposal) (start []string, locked string) {
	for _, l := range launchers {
		lock := py.findLock(l.lock)
		if lock == "" {
			continue
		}
		if py.OnPath(l.program) {
			p.addTool(l.program, lock)
			return l.start, py.Read(lock)
		}
		p.note("%s is there but %s is not on PATH: %s", lock, l.program, l.get)
	}
	return nil, ""
}

// findLock returns the path of a lock file: in the folder, or in one above if the folder has no
// pyproject.toml or belongs to a uv workspace. It is "" if there is none.
func (py python) findLock(name string) string {
	for i, up := range py.Upwards() {
		if up.First(name) == "" {
			continue
		}
		if i > 0 && py.First("pyproject.toml") != "" && !up.HasSection("pyproject.toml", "tool.uv.workspace") {
			return ""
		}
		return strings.Repeat("../", i) + name
	}
	return ""
}

// pythonCommand returns the argv that runs Python in the project's environment with the words.
func (py python) pythonCommand(words ...string) []string {
	switch {
	case py.launcherWords != nil:
		return withWords(withWords(py.launcherWords, "python"), words...)
	case py.env != "":
		return withWords([]string{py.env + "/bin/python"}, words...)
	case py.OnPath("python3") || !py.OnPath("python"):
		return withWords([]string{"python3"}, words...)
	}
	return withWords([]string{"python"}, words...)
}

// dependsOn reports whether a package is listed as a dependency or installed in
// the virtual environment.
func (py python) dependsOn(name string) bool {
	re := regexp.MustCompile(`(?mi)(^|["'\s,])` + strings.ReplaceAll(regexp.QuoteMeta(name), "-", "[-_.]") + `\s*(\[[^\]]*\])?\s*($|["'<>=!~;,\s])`)
	return re.MatchString(py.dependencyText) || py.isInstalled(name)
}

// isInstalled reports whether a package is in the virtual environment.
func (py python) isInstalled(name string) bool {
	if py.env == "" {
		return false
	}
	name = strings.ReplaceAll(name, "-", "?") // a dash or an underscore
	return py.First(py.env+"/lib/python*/site-packages/"+name+"-[0-9]*.dist-info") != ""
}

// isAvailable reports whether a package can be used: it is in the virtual environment or, if a tool
// manages that, among the dependencies.
func (py python) isAvailable(name string) bool {
	if py.env != "" && py.launcherWords == nil {
		return py.isInstalled(name)
	}
	return py.dependsOn(name)
}

// isMissing reports whether a program cannot be started: it is neither in the project's environment,
// nor in the lock file, nor on PATH.
func (py python) isMissing(name string) bool {
	if py.launcherWords != nil && (py.lockText == "" || strings.Contains(py.lockText, `"`+name+`"`)) {
		return false
	}
	return !py.isInstalled(name) && !py.OnPath(name)
}

// noteMissing notes that a file requires a package that is not installed. An environment of uv has no
// pip.
func (py python) noteMissing(name, file string, p *proposal) {
	switch {
	case py.launcherWords != nil || py.env != "" && py.isInstalled(name) || py.env == "" && py.OnPath(name):
	case py.env != "" && py.usesUV():
		p.note("%s is asked for by %s but is not in %s: run uv pip install --python %s/bin/python %s", name, file, py.env, py.env, name)
	case py.env != "":
		p.note("%s is asked for by %s but is not in %s: run %s/bin/python -m pip install %s", name, file, py.env, py.env, name)
	case py.usesUV():
		p.note("%s is asked for by %s but neither a virtual environment nor PATH has it: run uv sync --all-groups --all-extras", name, file)
	default:
		p.note("%s is asked for by %s but neither a virtual environment nor PATH has it: run python3 -m venv .venv && .venv/bin/python -m pip install %s and what the project needs", name, file, name)
	}
}

// usesUV reports whether uv manages the project's environment: by the lock file, the table in
// pyproject.toml, the environment, or a workflow.
func (py python) usesUV() bool {
	return py.HasSection("pyproject.toml", "tool.uv") || py.findLock("uv.lock") != "" ||
		py.env != "" && py.isMadeByUV() ||
		slices.ContainsFunc(workflowSteps(py.Folder), func(s step) bool {
			return s.words[0] == "uv" && len(s.words) > 1 && slices.Contains([]string{"sync", "run", "pip"}, s.words[1])
		})
}

// isMadeByUV reports whether uv created the virtual environment. That may be outside of the tree,
// since copies of a tree link to shared environments.
func (py python) isMadeByUV() bool {
	text, err := projectfile.ReadAnywhere(py.Path(py.env+"/pyvenv.cfg"), projectfile.Manifest)
	return err == nil && uvEnvironmentPattern.Match(text)
}

// uvEnvironmentPattern matches the line that uv writes into pyvenv.cfg: "uv = 0.5.1".
var uvEnvironmentPattern = regexp.MustCompile(`(?m)^uv\s*=`)
