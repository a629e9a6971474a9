package measure

import (
	"cmp"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"supervise/internal/ctestcases"
	"supervise/internal/framework"
	"supervise/internal/measure/internal/commandline"
	"supervise/internal/measure/internal/reportfile"
	"supervise/metric"
)

// Runners lists the valid names for [Check].Runner, sorted.
func Runners() []string { return framework.Runners() }

// rerunRule returns how the framework of a check runs selected tests.
func rerunRule(c Check) framework.Rerun {
	if f := framework.Named(c.Runner); f != nil {
		return f.Rerun
	}
	return framework.Rerun{}
}

// selection is a check and the tests of it that are to run.
type selection struct {
	check      Check
	root, base string // the tree, and where the check runs
	env        []string
	tests      []metric.Test
	line       commandline.Command
	understood bool // the words of line are known
	inCopy     bool // in a copy, in which only the results of tests count
}

// selectTests returns the check that runs only the tests. It is false if the framework is
// unknown or its command is not understood.
func (m *Meter) selectTests(c Check, tests []metric.Test) (Check, bool) {
	s := selection{check: c, root: m.plan.Root, base: m.plan.Dir(c), env: m.commandRunner().Environ(), tests: tests, inCopy: m.inCopy}
	s.line, s.understood = commandline.Parse(c.Command)
	r := rerunRule(c)
	switch r.Way {
	case framework.ByPackage:
		return selectGo(s)
	case framework.ByPlugin:
		return selectPytest(s)
	case framework.ByEnvironment:
		return selectRSpec(s)
	case framework.ByInitScript:
		return selectGradle(s, r)
	case framework.ByWords:
		return selectByWords(s, r)
	}
	return c, false
}

// selectByWords adds words to the command.
func selectByWords(s selection, r framework.Rerun) (Check, bool) {
	at, ok := s.insertPosition(r)
	if !ok {
		return s.check, false
	}
	tests := framework.Selection{Tests: s.tests, Files: s.testFiles(), Dash: s.line.HasOption("--")}
	if s.check.Runner == ctestcases.Runner {
		tests.Tests = s.ctestPrograms()
	}
	s.check.Command = s.line.Edit(at, s.withSeparator(r, r.Words(tests)), s.line.OptionIndexes(r.Conflicts...))
	return s.check, true
}

// insertPosition returns where to insert the selecting words. It is false if the command has
// no such place.
func (s selection) insertPosition(r framework.Rerun) (int, bool) {
	if !s.understood || s.line.ProgramIndex(r.Programs...) < 0 && !s.isScript() || s.line.HasOption(r.Own...) {
		return 0, false
	}
	end := len(s.line.Words)
	switch at := s.line.IndexOrEnd(r.Word); r.Place {
	case framework.AfterWord:
		return at + 1, at < end
	case framework.BeforeWord:
		return at, true
	case framework.AtEnd:
	}
	return end, true
}

func (s selection) isScript() bool {
	return s.line.ProgramIndex(slices.Collect(maps.Keys(framework.PackageManagers))...) == 0 && s.line.HasOption("test", "t", "run", "run-script")
}

// withSeparator puts "--" before words for a script that npm runs. Otherwise npm would read
// the words itself.
func (s selection) withSeparator(r framework.Rerun, words []string) []string {
	if s.line.ProgramIndex("npm") == 0 && s.line.ProgramIndex(r.Programs...) < 0 && !s.line.HasOption("--") {
		return append([]string{"--"}, words...)
	}
	return words
}

// testFiles returns the files of the tests relative to the folder of the check, none if one of
// them is unknown.
func (s selection) testFiles() []string {
	var out []string
	for _, t := range s.tests {
		file, ok := s.testFile(t)
		if !ok {
			return nil
		}
		if !slices.Contains(out, file) {
			out = append(out, file)
		}
	}
	return out
}

// testFile returns the file of a test relative to the folder of the check. Reports are read
// with names relative to the root.
func (s selection) testFile(t metric.Test) (string, bool) {
	name := cmp.Or(t.File, t.Suite)
	if name == "" || filepath.IsAbs(name) {
		return name, false
	}
	if below, ok := strings.CutPrefix(name, s.check.Dir+"/"); ok && s.check.Dir != "" && reportfile.Exists(filepath.Join(s.base, below)) {
		return below, true
	}
	full := filepath.Join(s.root, filepath.FromSlash(name))
	rel, err := filepath.Rel(s.base, full)
	return filepath.ToSlash(rel), err == nil && reportfile.Exists(full)
}

// withFiles returns the check with additional files and environment variables.
func withFiles(c Check, files map[string]string, env ...string) Check {
	merged := map[string]string{}
	maps.Copy(merged, c.Files)
	maps.Copy(merged, files)
	c.Files, c.Env = merged, append(slices.Clone(c.Env), env...)
	return c
}
