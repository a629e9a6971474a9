package project

import (
	"cmp"
	_ "embed" // what python runs
	"path"
	"slices"
	"strings"

	"supervise/internal/regexp"
)

//go:embed reporters/unittest.py
var unittestProgram string

// startsUnittestPattern matches the start of unittest in a program: unittest.main().
// namedForTestsPattern matches the name of a program that may run tests: runtests.py.
var (
	startsUnittestPattern = regexp.MustCompile(`\bTextTestRunner\b|\bunittest\.main\(`)
	namedForTestsPattern  = regexp.MustCompile(`(?i)test`)
)

// program is the module name of a script that runs a program of the project.
const program = "program"

// findTestScript returns the command by which the project runs its tests: in a script, else in its
// workflows. other describes another way in which the project runs tests, which is not used; it is
// "" if there is none.
func (py python) findTestScript() (found script, other string) {
	if found, other = py.scriptOf(); found.module != "" {
		return found, other
	}
	found, ways := py.workflowScript()
	switch {
	case found.module == "pytest" && py.isMissing("pytest"):
		ways, found = found.from+" runs pytest, which is not installed", script{}
	case found.module == "pytest":
		return found, ""
	case len(py.testFiles()) == 0:
		return script{}, ""
	}
	return found, cmp.Or(other, ways)
}

// workflowScript returns the command by which the workflows run the tests. If they have several
// ways, it returns no command, and other says so.
func (py python) workflowScript() (found script, other string) {
	for _, s := range workflowSteps(py.Folder) {
		runs, ok := py.testsIn(s.segment)
		several := ok && found.module != "" && (found.module != runs.module || !slices.Equal(found.args, runs.args))
		if several || !ok && runsTests(s.words) {
			return script{}, s.file + " runs tests in several ways"
		}
		if ok {
			found, found.from, found.workflow = runs, s.file, true
		}
	}
	return found, ""
}

// runsTests reports whether a command names a program that runs tests, and does not install it.
func runsTests(words []string) bool {
	return slices.ContainsFunc(words, func(w string) bool { return slices.Contains(pythonModules[:3], w) }) &&
		!slices.ContainsFunc(words, func(w string) bool { return slices.Contains([]string{"install", "add", "sync"}, w) })
}

// ownProgramOf returns the program of the project with which a command runs tests, if it uses
// unittest: "python runtests.py", or "python -m shop.tests.run".
func (py python) ownProgramOf(s segment) (script, bool) {
	at := slices.IndexFunc(s.words, func(w string) bool { return programWordPattern.MatchString(w) })
	if at < 0 || !s.plain {
		return script{}, false
	}

	words := s.words[at+1:]
	for len(words) > 1 && strings.HasPrefix(words[0], "-") && words[0] != "-m" {
		if slices.Contains(pythonValues, words[0]+"=") {
			words = words[1:]
		}
		words = words[1:]
	}

	if len(words) == 0 || slices.ContainsFunc(words, func(w string) bool { return strings.ContainsAny(w, "{}") }) {
		return script{}, false
	}

	file := words[0]
	if file == "-m" && len(words) > 1 {
		file = strings.ReplaceAll(words[1], ".", "/") + ".py"
	}
	files := []string{file, path.Join(path.Dir(file), "__init__.py")}
	if !namedForTestsPattern.MatchString(file) || path.Ext(file) != ".py" || !py.Exists(file) || py.FirstMatching(startsUnittestPattern, files...) == "" {
		return script{}, false
	}
	return script{module: program, args: words}, true
}

// programWordPattern matches a word that starts Python: python3, .venv/bin/python, or {envpython}
// of tox.
var programWordPattern = regexp.MustCompile(`^(([\w./-]+|\{envbindir\})/)?python3?$|^\{envpython\}$`)

// addOwnProgram proposes a program of the project, started so that unittest prints the name of each
// test.
func (py python) addOwnProgram(s script, p *proposal) {
	own := ReportDir + "/.unittest.py"
	p.addTool("unittest", s.from)
	c := py.unittestCheck("unittest", withWords([]string{own}, s.args...)...)
	c.Runner, c.Files = "", map[string]string{".unittest.py": unittestProgram}
	p.add(c)
}
