package project

import (
	"cmp"
	"path"
	"slices"
	"strings"

	"supervise/internal/framework"
	"supervise/internal/project/internal/checkout"
	"supervise/internal/regexp"
)

// pythonScripts are where a project says how its tests are run. In a table of TOML a
// script is a key, or a table with the command in one of the keys of inner.
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

// testenv is the section of tox.ini for the environments that tests run in.
const testenv = "testenv"

// inner are the keys of a table that hold the command of a script.
var inner = []string{"cmd", "shell"}

// script is a command by which the project runs its tests: the module that python runs,
// and its arguments.
type script struct {
	module string
	args   []string
	env    []string // NAME=value
	from   string   // "script test in pyproject.toml"

	workflow bool // of a workflow, which may run a part of the tests
}

// pythonModules run tests.
var pythonModules = []string{"unittest", "pytest", "py.test", "django", "django-admin"}

// unreadablePython run tests too, and print what cannot be read.
var unreadablePython = []string{"trial", "nose2", "nosetests", "stestr", "zope-testrunner", "ward", "virtue"}

// scriptOf finds the first script that runs one of the modules. other is a program that
// another script runs tests with.
func (py python) scriptOf() (found script, other string) {
	for _, s := range pythonScripts {
		for _, key := range s.keys {
			lines, env := py.scriptLines(s.file, s.table, key)
			for _, line := range lines {
				for _, segment := range splitCommands(placeholders(line)) {
					found, ok := moduleOf(segment)
					if !ok {
						found, ok = py.ownProgramOf(segment)
					}
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

// scriptLines are the commands of a script, and the variables that are set for them.
func (py python) scriptLines(file, table, key string) (lines, env []string) {
	if table == testenv {
		text := toxSections(py.Read(file))
		env = toxEnvironment(text)
		section, _ := checkout.INISection(toxVariables(text, env), testenv)
		for _, line := range iniLines(section, key) {
			lines = append(lines, toxFactors.ReplaceAllString(line, ""))
		}
		return lines, env
	}
	scripts := py.Table(file, table)
	lines = scripts.Strings(key)
	own, _ := scripts.Table(key)
	for _, name := range inner {
		if lines == nil {
			lines = own.Strings(name)
		}
	}
	return lines, nil
}

// iniLines are the lines of a key.
func iniLines(section, key string) []string {
	m := regexp.MustCompile(`(?m)^` + key + `\s*=[ \t]*((?:.*\n?)(?:[ \t]+.*\n?)*)`).FindStringSubmatch(section)
	if m == nil {
		return nil
	}
	return strings.Split(strings.ReplaceAll(m[1], "\\\n", " "), "\n")
}

// toxEnvironment are the variables that tox sets whatever its environment, as far as they
// need nothing that tox alone fills in.
func toxEnvironment(text string) []string {
	section, _ := checkout.INISection(text, testenv)
	var out []string
	for _, key := range []string{"setenv", "set_env"} {
		for _, line := range iniLines(section, key) {
			name, value, ok := strings.Cut(line, "=")
			name, value = strings.TrimSpace(name), ownFolder.ReplaceAllString(strings.TrimSpace(value), "./")
			if ok && variable.MatchString(name) && !toolVariable.MatchString(name) && value != "" && !strings.ContainsAny(value, `{}\#`) {
				out = append(out, name+"="+value)
			}
		}
	}
	return out
}

// toxSections fills in what tox takes from other sections.
func toxSections(text string) string {
	return toxSection.ReplaceAllStringFunc(text, func(word string) string {
		m := toxSection.FindStringSubmatch(word)
		section, _ := checkout.INISection(text, m[1])
		return strings.TrimSpace(strings.Join(iniLines(section, m[2]), "\n"))
	})
}

// toxVariables fills in variables, and defaults of those that tox does not set.
func toxVariables(text string, env []string) string {
	values := map[string]string{}
	for _, pair := range env {
		name, value, _ := strings.Cut(pair, "=")
		values[name] = value
	}
	return toxVariable.ReplaceAllStringFunc(text, func(word string) string {
		m := toxVariable.FindStringSubmatch(word)
		return cmp.Or(values[m[1]], m[2], word)
	})
}

var (
	toxSection   = regexp.MustCompile(`\{\[([\w:.-]+)\](\w+)\}`)
	toxVariable  = regexp.MustCompile(`\{env:(\w+)(?::([^{}]*))?\}`)
	toxFactors   = regexp.MustCompile(`^\s*[\w{},!.-]+:\s+`) // "py311,docs: " before a command
	variable     = regexp.MustCompile(`^[A-Za-z_]\w*$`)
	toolVariable = regexp.MustCompile(`^(COVERAGE|PIP|UV|VIRTUALENV)_`)
	posargs      = regexp.MustCompile(`\{(?:args|posargs)(?::([^{}]*))?\}`)
	ownFolder    = regexp.MustCompile(`\{(?:toxinidir|tox_root|root)\}/?`)
)

// placeholders fills in what hatch and tox do where nothing is given.
func placeholders(line string) string {
	return posargs.ReplaceAllString(ownFolder.ReplaceAllString(line, ""), "$1")
}

// moduleOf returns what a command runs, if that is one of the modules, also under
// coverage.py, and no word of it is for a shell or another tool to fill in.
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

var moduleAlias = map[string]string{"py.test": "pytest", "django-admin": "django"}

// pythonStarts are the words that may be before a module.
var pythonStarts = []string{"python", "python3", "-m", "coverage", "run", "poetry", "pdm", "uv", "pipenv"}

// wordsBefore are the words before a module without the options of Python and of coverage.py.
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

// selecting are the arguments of a script that say which tests of pytest run.
func (s script) selecting() []string {
	if s.module != pytest.Name || s.workflow {
		return nil
	}
	return pytest.KeptArgs(s.args)
}

// coverageScope are the options that say which code counts, of the first command in the
// project's files that runs tests under coverage.py.
func (py python) coverageScope() []string {
	for _, file := range []string{"pyproject.toml", "hatch.toml", "tox.ini"} {
		m := coverageRun.FindStringSubmatch(lineComment.ReplaceAllString(py.Read(file), ""))
		if m == nil {
			continue
		}
		var out []string
		for _, s := range splitCommands(ownFolder.ReplaceAllString(m[1], "")) {
			kept, _ := framework.LeadingOptions(s.words, coveragePy.Keep, coveragePy.Others)
			out = append(out, kept...)
		}
		return out
	}
	return nil
}

var coverageRun = regexp.MustCompile(`\bcoverage run ((?:-{1,2}[\w-]+(?:[= ](?:"[^"\n]*"|[^\s"'-][^\s"']*))? +)+)-m +(?:unittest|pytest)\b`)

// addDjango runs Django's tests as the script does, with the name of each test.
func (py python) addDjango(s script, p *proposal) {
	p.addTool("django test", s.from)
	words := withWords([]string{"-m", "django", "test", "--verbosity=2", "--no-input"}, framework.WithoutOptions(s.args[1:], framework.Named("django").Drop)...)
	p.add(py.unittestCheck("django test", words...))
}

// addUnittest runs unittest as the script does, with the name of each test.
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
