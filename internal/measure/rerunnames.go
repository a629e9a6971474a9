package measure

import (
	_ "embed" // a plugin of pytest
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"supervise/internal/framework"
	"supervise/internal/regexp"
	"supervise/metric"
	"supervise/runner"
)

// distinctNames returns the distinct names of the tests.
func (s selection) distinctNames(name func(metric.Test) string) []string {
	return framework.Selection{Tests: s.tests}.Names(name)
}

//go:embed rerun.gradle
var gradleFilter string

// selectGradle selects with an init script, since the option --tests applies to one task and
// there may be several.
func selectGradle(s selection, r framework.Rerun) (Check, bool) {
	at := s.line.ProgramIndex(r.Programs...)
	if !s.understood || at < 0 || s.line.HasOption(r.Own...) {
		return s.check, false
	}
	names := s.distinctNames(func(t metric.Test) string {
		class, name := framework.JavaMethod(t)
		return "'" + strings.NewReplacer(`\`, `\\`, `'`, `\'`).Replace(strings.TrimSuffix(class+"."+name, ".")) + "'"
	})
	c := withFiles(s.check, map[string]string{".rerun.gradle": strings.Replace(gradleFilter, "NAMES", strings.Join(names, ", "), 1)})
	c.Command = s.line.Edit(at+1, []string{"--init-script=" + ReportDir + "/.rerun.gradle"}, nil)
	return c, true
}

//go:embed rerun.py
var pytestPlugin string

// selectPytest selects with a plugin that the environment names. The command, the folders and
// the names of the tests remain those of the complete run, whatever starts pytest.
func selectPytest(s selection) (Check, bool) {
	type test struct {
		File  string `json:"file,omitempty"`
		Class string `json:"class,omitempty"`
		Name  string `json:"name"`
	}
	var list []test
	for _, t := range s.tests {
		file, known := s.testFile(t)
		if file = filepath.Join(s.base, file); !known || !strings.HasSuffix(file, ".py") {
			file = ""
		}
		list = append(list, test{file, t.Class, t.Name})
	}
	text, err := json.Marshal(list)
	if err != nil {
		return s.check, false
	}
	dir := ".rerun/"
	return withFiles(s.check, map[string]string{dir + "supervise_rerun.py": pytestPlugin, dir + "tests.json": string(text)},
		s.extendVariable("PYTHONPATH", string(os.PathListSeparator), ReportDir+"/.rerun"),
		s.extendVariable(framework.Named(s.check.Runner).Rerun.Variable, ",", "supervise_rerun"),
	), true
}

// selectRSpec selects with the environment, which reaches RSpec through any script. A
// description that RSpec generates at run time is unknown beforehand, so its group is
// selected.
func selectRSpec(s selection) (Check, bool) {
	names := s.distinctNames(func(t metric.Test) string {
		if t.Class != "" && (strings.HasPrefix(t.Name, "is expected to") || strings.HasPrefix(t.Name, "should")) {
			return t.Class
		}
		return strings.TrimSpace(t.Class + " " + t.Name)
	})
	var words []string
	for _, n := range names {
		if strings.ContainsRune(n, '\uFFFD') {
			return s.check, false
		}
		words = append(words, "--example="+n)
	}
	return withFiles(s.check, nil, s.extendVariable("SPEC_OPTS", " ", runner.ShellQuote(words...))), true
}

// extendVariable returns an environment variable with a value prepended to the value that the
// check has.
func (s selection) extendVariable(name, separator, value string) string {
	for _, v := range slices.Backward(slices.Concat(s.env, s.check.Env)) {
		if old, ok := strings.CutPrefix(v, name+"="); ok {
			if old != "" {
				value += separator + old
			}
			break
		}
	}
	return name + "=" + value
}

// selectGo runs only the packages of the tests. Other options of the command, such as tags,
// are kept. A command other than go test is replaced by go test.
func selectGo(s selection) (Check, bool) {
	packages := s.distinctNames(func(t metric.Test) string { return t.Suite })
	roots := s.distinctNames(func(t metric.Test) string {
		root, _, _ := strings.Cut(t.Name, "/")
		return regexp.QuoteMeta(root)
	})
	words := slices.Concat([]string{"-count=1", "-run=^(" + strings.Join(roots, "|") + ")$"}, packages)
	if s.inCopy {
		words = append([]string{"-vet=off"}, words...)
	}
	c := s.check
	if at, drop, ok := s.findGoPackages(); ok {
		if s.inCopy {
			s.dropGoCoverage(drop)
		}
		c.Command = s.line.Edit(at, words, drop)
		return c, true
	}
	c.Command, c.Reports, c.Stderr = slices.Concat([]string{"go", "test", "-json"}, words), nil, false
	return c, true
}

// goSwitchRE matches the options of go test without a value, such as -race or -test.v.
var goSwitchRE = regexp.MustCompile(`^--?(test\.)?(a|asan|benchmem|c|cover|failfast|fullpath|i|json|linkshared|modcacherw|msan|n|race|short|trimpath|v|work|x)$`)

// dropGoCoverage adds the indexes of the coverage options of go test, and of their values, to the
// words to drop.
func (s selection) dropGoCoverage(drop map[int]bool) {
	for i := range s.line.OptionIndexes("-cover", "-coverprofile", "-covermode", "-coverpkg") {
		drop[i] = true
		if takesValue(s.line.Words[i].Text) {
			drop[i+1] = true
		}
	}
}

// takesValue reports whether the word after an option of go test is its value.
func takesValue(option string) bool {
	return !strings.Contains(option, "=") && !goSwitchRE.MatchString(option)
}

// findGoPackages returns where to insert packages, and the words to drop: the packages of the
// command. It is false if the command is not understood.
func (s selection) findGoPackages() (at int, drop map[int]bool, ok bool) {
	start, ok := s.line.GoTestOptions()
	if !ok {
		return 0, nil, false
	}
	drop = map[int]bool{}
	for i := start; s.understood && i < len(s.line.Words); i++ {
		switch w := s.line.Words[i].Text; {
		case w == "-args" || w == "--args":
			return 0, nil, false
		case !strings.HasPrefix(w, "-"):
			drop[i] = true
		case takesValue(w):
			i++
		}
	}
	return len(s.line.Words), drop, s.understood
}
