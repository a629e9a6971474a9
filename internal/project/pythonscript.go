package project

import (
	"cmp"
	"path"
	"slices"
	"strings"

	"supervise/internal/framework"
	"supervise/internal/project/internal/projectfs"
	"supervise/internal/regexp"
)

// pythonScripts are the places of scripts that run tests: the file, the table or section in it,
// and the names of scripts there, most likely first. In TOML the value is the command, or a table
// that has it in one of the commandKeys.
var pythonScripts = []struct {
	file, table string
	keys        []string
}{
	{"pyproject.toml", "tool.hatch.envs.test.scripts", []string{"test", "tests", "run", "unit"}},
	{"pyproject.toml", "tool.hatch.envs.hatch-test.scripts", []string{"run"}},
	{"pyproject.toml", "tool.hatch.envs.default.scripts", []string{"test", "tests", "unit"}},
	{"hatch.toml", "envs.test.scripts", []string{"test", "tests", "run", "unit"}},
	{"hatch.toml", "envs.default.scripts", []string{"test", "tests", "unit"}},
	{"pyproject.toml", "tool.pdm.scripts", []string{"test", "tests", "unit"}},
	{"pyproject.toml", "tool.poe.tasks", []string{"test", "tests", "unit"}},
	{"pyproject.toml", "tool.taskipy.tasks", []string{"test", "tests", "unit"}},
	{"tox.ini", testenv, []string{"commands"}},
}

// testenv is the section of tox.ini for all environments of tests.
const testenv = "testenv"

// commandKeys are the keys of a table that hold the command of a script.
var commandKeys = []string{"cmd", "shell"}

// script is a command by which the project runs its tests: a module of Python and its arguments.
type script struct {
	module string
	args   []string
	env    []string // NAME=value
	from   string   // "script test in pyproject.toml"

	workflow bool // it is in a workflow, which may run a part of the tests
}

// pythonModules are modules and programs that run tests.
var pythonModules = []string{"unittest", "pytest", "py.test", "django", "django-admin"}

// unreadablePython are other programs that run tests. Their output cannot be read.
var unreadablePython = []string{"trial", "nose2", "nosetests", "stestr", "zope-testrunner", "ward", "virtue"}

// scriptOf returns the first script of the project that runs a known module. If there is none,
// other describes a script that runs tests with an unknown program, or is "".
func (py python) scriptOf() (found script, other string) {
	for _, s := range pythonScripts {
		for _, key := range s.keys {
			lines, env := py.scriptLines(s.file, s.table, key)
			for _, line := range lines {
				for _, segment := range splitCommands(expandPlaceholders(line)) {
					found, ok := py.testsIn(segment)
					found.env = env
					if found.from = "script " + key + " in " + s.file; ok {
						return found, ""
					}
					if i := slices.IndexFunc(segment.words, func(w string) bool { return slices.Contains(unreadablePython, path.Base(w)) }); i >= 0 {
						other = found.from + " runs " + path.Base(segment.words[i]) + ", which is not known"
					}
				}
			}
		}
	}
	return script{}, other
}

// scriptLines returns the commands of a script, and the variables that tox sets for them.
func (py python) scriptLines(file, table, key string) (lines, env []string) {
	if table == testenv {
		text := expandToxSections(py.Read(file))
		env = parseToxEnvironment(text)
		section, _ := projectfs.INISection(expandToxVariables(text, env), testenv)
		for _, line := range iniValue(section, key) {
			lines = append(lines, toxFactorsPattern.ReplaceAllString(line, ""))
		}
		return lines, env
	}
	scripts := py.Table(file, table)
	lines = scripts.Strings(key)
	own, _ := scripts.Table(key)
	for _, name := range commandKeys {
		if lines == nil {
			lines = own.Strings(name)
		}
	}
	return lines, nil
}

// iniValue returns the lines of the value of a key in a section: the rest of its line, and the
// indented lines after it. It returns nil if the key is missing.
func iniValue(section, key string) []string {
	m := regexp.MustCompile(`(?m)^` + key + `\s*=[ \t]*((?:.*\n?)(?:[ \t]+.*\n?)*)`).FindStringSubmatch(section)
	if m == nil {
		return nil
	}
	return strings.Split(strings.ReplaceAll(m[1], "\\\n", " "), "\n")
}

// parseToxEnvironment returns the variables that tox sets in all environments, as NAME=value. It
// omits values that have substitutions, except for the folder of the project.
func parseToxEnvironment(text string) []string {
	section, _ := projectfs.INISection(text, testenv)
	var out []string
	for _, key := range []string{"setenv", "set_env"} {
		for _, line := range iniValue(section, key) {
			name, value, ok := strings.Cut(line, "=")
			name, value = strings.TrimSpace(name), ownFolderPattern.ReplaceAllString(strings.TrimSpace(value), "./")
			if ok && variablePattern.MatchString(name) && !toolVariablePattern.MatchString(name) && value != "" && !strings.ContainsAny(value, `{}\#`) {
				out = append(out, name+"="+value)
			}
		}
	}
	return out
}

// expandToxSections replaces references to keys of other sections by their values: {[base]deps}.
func expandToxSections(text string) string {
	return toxSectionPattern.ReplaceAllStringFunc(text, func(word string) string {
		m := toxSectionPattern.FindStringSubmatch(word)
		section, _ := projectfs.INISection(text, m[1])
		return strings.TrimSpace(strings.Join(iniValue(section, m[2]), "\n"))
	})
}

// expandToxVariables replaces references to variables by their values or defaults, as in
// {env:NAME:default}.
func expandToxVariables(text string, env []string) string {
	values := map[string]string{}
	for _, pair := range env {
		name, value, _ := strings.Cut(pair, "=")
		values[name] = value
	}
	return toxVariablePattern.ReplaceAllStringFunc(text, func(word string) string {
		m := toxVariablePattern.FindStringSubmatch(word)
		return cmp.Or(values[m[1]], m[2], word)
	})
}

// These expressions match parts of a command in tox.ini or in a script:
//
//   - toxSectionPattern captures the section and the key of {[base]deps}.
//   - toxVariablePattern captures the name and the default of {env:LEVEL:debug}.
//   - variablePattern matches the name of a variable, toolVariablePattern one for tools, such as
//     PIP_INDEX_URL, which does not concern the tests.
//   - posargsPattern captures the default arguments in {posargs:tests}.
//   - ownFolderPattern matches the folder of the project, {toxinidir}/ or {root}.
var (
	toxSectionPattern   = regexp.MustCompile(`\{\[([\w:.-]+)\](\w+)\}`)
	toxVariablePattern  = regexp.MustCompile(`\{env:(\w+)(?::([^{}]*))?\}`)
	toxFactorsPattern   = regexp.MustCompile(`^\s*[\w{},!.-]+:\s+`) // "py311,docs: " before a command
	variablePattern     = regexp.MustCompile(`^[A-Za-z_]\w*$`)
	toolVariablePattern = regexp.MustCompile(`^(COVERAGE|PIP|UV|VIRTUALENV)_`)
	posargsPattern      = regexp.MustCompile(`\{(?:args|posargs)(?::([^{}]*))?\}`)
	ownFolderPattern    = regexp.MustCompile(`\{(?:toxinidir|tox_root|root)\}/?`)
)

// expandPlaceholders replaces {posargs:tests} by its default tests, and removes the folder of the
// project.
func expandPlaceholders(line string) string {
	return posargsPattern.ReplaceAllString(ownFolderPattern.ReplaceAllString(line, ""), "$1")
}

// testsIn returns the module or the program of the project that a command runs tests with.
func (py python) testsIn(s segment) (script, bool) {
	if found, ok := moduleOf(s); ok {
		return found, true
	}
	return py.ownProgramOf(s)
}

// moduleOf returns the module that a command runs, also under coverage.py. It is false for other
// programs, and if a shell or another tool replaces a part of the command.
func moduleOf(s segment) (script, bool) {
	at := slices.IndexFunc(s.words, func(w string) bool { return slices.Contains(pythonModules, w) })
	if at < 0 || !s.plain || len(s.env) > 0 || slices.ContainsFunc(s.words, func(w string) bool { return strings.ContainsAny(w, "{}") }) {
		return script{}, false
	}
	if slices.ContainsFunc(wordsBefore(s.words[:at]), func(w string) bool { return !slices.Contains(pythonStarts, path.Base(w)) }) {
		return script{}, false
	}
	out := script{module: s.words[at], args: s.words[at+1:]}
	if alias := moduleAlias[out.module]; alias != "" {
		out.module = alias
	}
	return out, out.module != "django" || len(out.args) > 0 && out.args[0] == "test"
}

// moduleAlias maps the names of programs to the modules that they run.
var moduleAlias = map[string]string{"py.test": "pytest", "django-admin": "django"}

// pythonStarts are the words that may be before a module.
var pythonStarts = []string{"python", "python3", "-m", "coverage", "run", "poetry", "pdm", "uv", "pipenv"}

// wordsBefore returns the words before a module, without the options of Python and coverage.py.
func wordsBefore(words []string) []string {
	var out []string
	for i := 0; i < len(words); i++ {
		w := words[i]
		switch {
		case w == "-m" || !strings.HasPrefix(w, "-"):
			out = append(out, w)
		case slices.Contains(pythonValues, w+"="):
			i++
		}
	}
	return out
}

// pythonValues are options of python and of coverage run that take a value.
var (
	coveragePy   = framework.CoverageTools["coverage"]
	pythonValues = slices.Concat(coveragePy.Keep, coveragePy.Others)
)

// selecting returns the arguments of a script that select tests of pytest.
func (s script) selecting() []string {
	if s.module != pytest.Name || s.workflow {
		return nil
	}
	return pytest.KeptArgs(s.args)
}

// coverageScope returns the options that say which code counts, such as --source=shop. They are
// those of the first command in the project's files that runs tests under coverage.py.
func (py python) coverageScope() []string {
	for _, file := range []string{"pyproject.toml", "hatch.toml", "tox.ini"} {
		m := coverageRunPattern.FindStringSubmatch(lineCommentPattern.ReplaceAllString(py.Read(file), ""))
		if m == nil {
			continue
		}
		var out []string
		for _, s := range splitCommands(ownFolderPattern.ReplaceAllString(m[1], "")) {
			kept, _ := framework.LeadingOptions(s.words, coveragePy.Keep, coveragePy.Others)
			out = append(out, kept...)
		}
		return out
	}
	return nil
}

// coverageRunPattern captures the options of coverage.py in a command that runs tests: "--branch "
// of "coverage run --branch -m pytest".
var coverageRunPattern = regexp.MustCompile(`\bcoverage run ((?:-{1,2}[\w-]+(?:[= ](?:"[^"\n]*"|[^\s"'-][^\s"']*))? +)+)-m +(?:unittest|pytest)\b`)

// addDjango proposes Django's tests with the arguments of the script.
func (py python) addDjango(s script, p *proposal) {
	p.addTool("django test", s.from)
	words := withWords([]string{"-m", "django", "test", "--verbosity=2", "--no-input"}, framework.WithoutOptions(s.args[1:], framework.Named("django").Drop)...)
	p.add(py.unittestCheck("django test", words...))
}

// addUnittest proposes unittest with the arguments of the script.
func (py python) addUnittest(s script, p *proposal) {
	words := framework.WithoutOptions(s.args, unittest.Drop)
	p.addTool(unittest.Name, s.from)
	if len(words) > 0 && words[0] == "discover" {
		words = slices.Insert(words, 1, "-v")
	} else {
		words = slices.Insert(words, 0, "-v")
	}
	p.add(py.unittestCheck(unittest.Name, withWords([]string{"-m", unittest.Name}, words...)...))
}
