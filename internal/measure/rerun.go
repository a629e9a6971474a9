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

// rerunOf is how the framework of a check runs selected tests.
func rerunOf(c Check) framework.Rerun {
	if f := framework.Named(c.Runner); f != nil {
		return f.Rerun
	}
	return framework.Rerun{}
}

// selection is a check, and the tests of it that shall run.
type selection struct {
	check      Check
	root, base string // the tree, and where the check runs
	env        []string
	tests      []metric.Test
	line       commandline.Command
	plain      bool // the words of line are known
	inCopy     bool // in a copy, in which only the results of tests count
}

// selected returns the check that runs only the tests, and false if its framework is
// unknown or its command not understood.
func (m *Meter) selected(c Check, tests []metric.Test) (Check, bool) {
	s := selection{check: c, root: m.plan.Root, base: m.plan.Dir(c), env: m.commands().Environ(), tests: tests, inCopy: m.inCopy}
	s.line, s.plain = commandline.Parse(c.Command)
	r := rerunOf(c)
	switch r.Way {
	case framework.ByPackage:
		return goAgain(s)
	case framework.ByPlugin:
		return pytestAgain(s)
	case framework.ByEnvironment:
		return rspecAgain(s)
	case framework.ByInitScript:
		return gradleAgain(s, r)
	case framework.ByWords:
		return wordsAgain(s, r)
	}
	return c, false
}

// wordsAgain selects by words that are added to the command.
func wordsAgain(s selection, r framework.Rerun) (Check, bool) {
	at, ok := s.position(r)
	if !ok {
		return s.check, false
	}
	tests := framework.Selection{Tests: s.tests, Files: s.files(), Dash: s.line.HasOption("--")}
	if s.check.Runner == ctestcases.Runner {
		tests.Tests = s.programs()
	}
	s.check.Command = s.line.Edit(at, s.separated(r, r.Words(tests)), s.line.OptionIndexes(r.Conflicts...))
	return s.check, true
}

// position is where the selecting words go, and false if the command has no such place.
func (s selection) position(r framework.Rerun) (int, bool) {
	if !s.plain || s.line.ProgramIndex(r.Programs...) < 0 && !s.script() || s.line.HasOption(r.Own...) {
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

func (s selection) script() bool {
	return s.line.ProgramIndex(slices.Collect(maps.Keys(framework.PackageManagers))...) == 0 && s.line.HasOption("test", "t", "run", "run-script")
}

// separated puts "--" before words for a script that npm runs; npm would read them
// itself otherwise.
func (s selection) separated(r framework.Rerun, words []string) []string {
	if s.line.ProgramIndex("npm") == 0 && s.line.ProgramIndex(r.Programs...) < 0 && !s.line.HasOption("--") {
		return append([]string{"--"}, words...)
	}
	return words
}

// files are the files of the tests relative to where the check runs, none if one of
// them is unknown.
func (s selection) files() []string {
	var out []string
	for _, t := range s.tests {
		file, ok := s.file(t)
		if !ok {
			return nil
		}
		if !slices.Contains(out, file) {
			out = append(out, file)
		}
	}
	return out
}

// file is the file of a test. Reports are read with names relative to the root; the
// framework needs those relative to its folder.
func (s selection) file(t metric.Test) (string, bool) {
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
	all := map[string]string{}
	maps.Copy(all, c.Files)
	maps.Copy(all, files)
	c.Files, c.Env = all, append(slices.Clone(c.Env), env...)
	return c
}
