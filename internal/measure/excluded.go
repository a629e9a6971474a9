package measure

import (
	"fmt"
	"slices"
	"strings"

	"supervise/internal/fingerprint"
	"supervise/internal/measure/internal/printed"
	"supervise/internal/regexp"
	"supervise/metric"
)

// excludedFormat reports that a failure is excluded. A check that fails at the baseline for a
// reason in no file of the project shows nothing about the agent: the machine may lack a
// program, or a package may be no program. The check is excluded while it fails for this
// reason only.
const excludedFormat = "failed before any agent ran, for no error in a file of the project; other errors count: %s"

// isExcluded reports whether a failure with these comparable lines existed at the baseline,
// and notes the lines on the run. At the baseline it adds the problem to those of the run.
func (m *measurement) isExcluded(r *Run, lines []string, first bool, problem string) bool {
	if first && m.opts.Baseline {
		m.memory.LearnExcluded(lines)
	}
	if len(lines) == 0 || slices.ContainsFunc(lines, func(l string) bool { return !m.memory.Excluded.Has(l) }) {
		return false
	}
	r.Excluded = append(r.Excluded, lines...)
	if first {
		r.Problems = append(r.Problems, problem)
	}
	return true
}

// isOutputExcluded is isExcluded for all lines of the output.
func (m *measurement) isOutputExcluded(r *Run, first bool) bool {
	return m.isExcluded(r, comparableLines(r), first, fmt.Sprintf(excludedFormat, printed.LastLine(r.Output)))
}

// exclude excludes what tests and linters could not compile at the baseline either: packages,
// modules that a build tool could not build, and linters that could not read the code.
func (m *measurement) exclude(r *Run, first bool) {
	switch {
	case r.ExitCode == 0 || r.Killed || r.DirMissing || r.Skipped:
	case r.Check.Kind == Lint && foundOnlyMissing(r):
		m.isOutputExcluded(r, first)
	case r.Check.Kind == Test && r.Tests != nil:
		tests := *r.Tests
		r.Tests = &tests
		m.excludeSuites(r, first)
		if runsModulesInOrder[r.Check.Runner] && tests.Failure != "" && m.isOutputExcluded(r, first) {
			r.Problems = slices.DeleteFunc(r.Problems, func(p string) bool { return p == tests.Failure })
			tests.Failure = ""
		}
	}
}

// buildFailedPrefix starts the reason why a Go package that could not be built did not run.
const buildFailedPrefix = "build failed: "

// locatedErrorRE matches the start of an error that names its line in a file: "main.go:3".
var locatedErrorRE = regexp.MustCompile(`^\S+\.\w+:\d+`)

// missingModuleRE matches the error of the go command about a module that is missing on this
// machine: "missing go.sum entry for module …", or "x.org/y: Get "https://proxy…". The file that
// the error names only imports the module.
var missingModuleRE = regexp.MustCompile(`missing go\.sum entry|module lookup disabled by|: Get "https?://`)

// blamesFile reports whether the finding is an error in the file that it names.
func blamesFile(f metric.Finding) bool {
	return f.File != "" && !missingModuleRE.MatchString(f.Message)
}

// foundOnlyMissing reports whether a linter found nothing in the code: its output could not be
// read, or names only missing modules.
func foundOnlyMissing(r *Run) bool {
	return r.State == metric.Absent || len(r.Findings()) > 0 && !slices.ContainsFunc(r.Findings(), func(f metric.Finding) bool {
		return blamesFile(f) || !f.Type && !missingModuleRE.MatchString(f.Message)
	})
}

// excludeSuites excludes the suites that could not be built at the baseline either.
func (m *measurement) excludeSuites(r *Run, first bool) {
	var broken []metric.Suite
	for _, s := range r.Tests.Broken {
		why, failedToBuild := strings.CutPrefix(s.Why, buildFailedPrefix)
		namesLine := locatedErrorRE.MatchString(why) && !missingModuleRE.MatchString(why)
		problem := s.Name + " " + fmt.Sprintf(excludedFormat, why)
		if !failedToBuild || namesLine || !m.isExcluded(r, []string{s.Name + ": " + fingerprint.Of(why)}, first, problem) {
			broken = append(broken, s)
			continue
		}
		r.Tests.BrokenAtBaseline = append(r.Tests.BrokenAtBaseline, s.Name)
		dropFindings(r, why)
	}
	r.Tests.Broken = broken
}

// dropFindings removes the findings that repeat a reason.
func dropFindings(r *Run, why string) {
	if r.Lint == nil {
		return
	}
	why = strings.TrimPrefix(strings.TrimPrefix(why, locatedErrorRE.FindString(why)), ": ")
	lint := *r.Lint
	lint.Findings = slices.DeleteFunc(slices.Clone(lint.Findings), func(f metric.Finding) bool { return !blamesFile(f) && strings.HasPrefix(f.Message, why) })
	r.Lint = &lint
}

// comparableLines returns the lines of a failed run in a form in which two runs can be
// compared; none if an error is in a file. If the tool marks its errors, only those lines
// count.
func comparableLines(r *Run) []string {
	if slices.ContainsFunc(r.Findings(), blamesFile) {
		return nil
	}
	var lines, marked []string
	for line := range strings.Lines(r.Output) {
		if line = strings.TrimSpace(line); line == "" {
			continue
		}
		if strings.HasPrefix(line, "[ERROR] ") {
			marked = append(marked, fingerprint.Of(line))
		}
		lines = append(lines, fingerprint.Of(line))
	}
	if len(marked) > 0 {
		lines = marked
	}
	slices.Sort(lines)
	return slices.Compact(lines)
}

// keepReadableTests keeps the tests of the other checks if one check has no readable tests:
// its suites are broken. If it never had any, the check itself is a broken suite, or excluded
// if it failed the same way at the baseline.
func (m *measurement) keepReadableTests(runs []Run, known *metric.Tests) {
	first := known == nil
	counts := func(r Run) bool { return r.Check.Kind == Test && r.State == metric.Measured && len(r.Tests.Cases) > 0 }
	if !slices.ContainsFunc(runs, counts) {
		return
	}

	for i := range runs {
		r := &runs[i]
		if r.Check.Kind != Test || r.State == metric.Measured {
			continue
		}
		if len(m.memory.Suites[r.Check.ID()]) > 0 {
			if r.State == metric.Absent {
				m.markSuitesBroken(r)
			}
			continue
		}
		if m.hasUnownedSuites(runs, known) {
			continue
		}
		r.State, r.Tests = metric.Measured, metric.NewTests(nil)
		if !r.Check.Compiles() || r.ExitCode == 0 || r.Killed || !m.isOutputExcluded(r, first) {
			r.Tests.Broken = []metric.Suite{{Name: r.Check.Name, Why: r.Why}}
			continue
		}
		r.Tests.BrokenAtBaseline, r.Build = []string{r.Check.Name}, &metric.Build{Status: metric.BuildUnknown}
	}
}

// hasUnownedSuites reports whether no check is known to run one of the known suites. The
// unreadable check may own it; a new meter, as in a merge gate, does not know that.
func (m *measurement) hasUnownedSuites(runs []Run, known *metric.Tests) bool {
	if known == nil {
		return false
	}
	owned := map[string]bool{}
	for _, suites := range m.memory.Suites {
		for _, s := range suites {
			owned[s] = true
		}
	}
	for _, r := range runs {
		if r.Tests != nil {
			for _, s := range r.Tests.Broken {
				owned[s.Name] = true
			}
		}
	}
	return slices.ContainsFunc(known.Cases, func(t metric.Test) bool { return !owned[t.Suite] })
}
