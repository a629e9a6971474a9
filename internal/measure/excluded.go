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

// A check that fails where a loop starts, for a reason in no file of the project, shows
// nothing about the agent: something is missing on the machine, or a package is no
// program. It is excluded while it fails for this reason only.
const excludedText = "failed before any agent ran, for no error in a file of the project; other errors count: %s"

// isExcluded reports whether a failure with these comparable lines was there at the
// baseline, and notes the lines on the run.
func (m *measurement) isExcluded(r *Run, lines []string, first bool) bool {
	if first && m.opts.Baseline {
		m.memory.LearnExcluded(lines)
	}
	if len(lines) == 0 || slices.ContainsFunc(lines, func(l string) bool { return !m.memory.Excluded.Has(l) }) {
		return false
	}
	r.Excluded = append(r.Excluded, lines...)
	return true
}

// exclude excludes what tests and linters cannot compile: packages, modules that a build
// tool could not build next to tests that ran, and linters that could not read the code.
func (m *measurement) exclude(r *Run, first bool) {
	switch {
	case r.ExitCode == 0 || r.Killed || r.DirMissing || r.Skipped:
	case r.Check.Kind == Lint && onlyMissing(r):
		if m.isExcluded(r, comparableLines(r), first) && first {
			r.Problems = append(r.Problems, fmt.Sprintf(excludedText, printed.LastLine(r.Output)))
		}
	case r.Check.Kind == Test && r.Tests != nil:
		tests := *r.Tests
		r.Tests = &tests
		m.excludeSuites(r, first)
		if buildTools[r.Check.Runner] && tests.Failure != "" && m.isExcluded(r, comparableLines(r), first) {
			r.Problems = slices.DeleteFunc(r.Problems, func(p string) bool { return p == tests.Failure })
			tests.Failure = ""
			if first {
				r.Problems = append(r.Problems, fmt.Sprintf(excludedText, printed.LastLine(r.Output)))
			}
		}
	}
}

// unbuilt is the start of the reason why a Go package did not run that could not be built.
const unbuilt = "build failed: "

// located matches an error that names its place in a file.
var located = regexp.MustCompile(`^\S+\.\w+:\d+`)

// missingModule matches the error of the go command about a module that is not on this
// machine. It names the file that imports it, which is not at fault.
var missingModule = regexp.MustCompile(`missing go\.sum entry|module lookup disabled by|: Get "https?://`)

// atFault reports whether the file that an error names is at fault.
func atFault(f metric.Finding) bool { return f.File != "" && !missingModule.MatchString(f.Message) }

// onlyMissing reports whether a linter found nothing in the code: its output could not be
// read, or names only what is missing.
func onlyMissing(r *Run) bool {
	return r.State == metric.Absent || len(r.Findings()) > 0 && !slices.ContainsFunc(r.Findings(), func(f metric.Finding) bool {
		return atFault(f) || !f.Type && !missingModule.MatchString(f.Message)
	})
}

// excludeSuites excludes the suites that could not be built at the baseline either.
func (m *measurement) excludeSuites(r *Run, first bool) {
	var broken []metric.Suite
	for _, s := range r.Tests.Broken {
		why, is := strings.CutPrefix(s.Why, unbuilt)
		if !is || located.MatchString(why) && !missingModule.MatchString(why) || !m.isExcluded(r, []string{s.Name + ": " + fingerprint.Of(why)}, first) {
			broken = append(broken, s)
			continue
		}
		r.Tests.BrokenAtBaseline = append(r.Tests.BrokenAtBaseline, s.Name)
		dropFindings(r, why)
		if first {
			r.Problems = append(r.Problems, s.Name+" "+fmt.Sprintf(excludedText, why))
		}
	}
	r.Tests.Broken = broken
}

// dropFindings drops the errors that repeat a reason.
func dropFindings(r *Run, why string) {
	if r.Lint == nil {
		return
	}
	why = strings.TrimPrefix(strings.TrimPrefix(why, located.FindString(why)), ": ")
	lint := *r.Lint
	lint.Findings = slices.DeleteFunc(slices.Clone(lint.Findings), func(f metric.Finding) bool { return !atFault(f) && strings.HasPrefix(f.Message, why) })
	r.Lint = &lint
}

// comparableLines returns the lines of a failed run so that two runs can be compared; none
// if an error is in a file. If the tool marks its errors, only those count.
func comparableLines(r *Run) []string {
	if slices.ContainsFunc(r.Findings(), atFault) {
		return nil
	}
	var all, marked []string
	for line := range strings.Lines(r.Output) {
		if line = strings.TrimSpace(line); line == "" {
			continue
		}
		if strings.HasPrefix(line, "[ERROR] ") {
			marked = append(marked, fingerprint.Of(line))
		}
		all = append(all, fingerprint.Of(line))
	}
	if len(marked) > 0 {
		all = marked
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// keepReadable keeps the tests of other checks if one check has no readable tests: its
// suites did not run. If it never had any, it is itself a broken suite, and excluded if
// its errors in files would be known.
func (m *measurement) keepReadable(runs []Run, known *metric.Tests) {
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
				m.breakSuites(r)
			}
			continue
		}
		if m.unownedTests(runs, known) {
			continue
		}
		r.State, r.Tests = metric.Measured, metric.NewTests(nil)
		if !r.Check.Compiles() || r.ExitCode == 0 || r.Killed || !m.isExcluded(r, comparableLines(r), first) {
			r.Tests.Broken = []metric.Suite{{Name: r.Check.Name, Why: r.Why}}
			continue
		}
		r.Tests.BrokenAtBaseline, r.Build = []string{r.Check.Name}, &metric.Build{Status: metric.BuildUnknown}
		if first {
			r.Problems = append(r.Problems, fmt.Sprintf(excludedText, printed.LastLine(r.Output)))
		}
	}
}

// unownedTests reports whether a known suite was run by no check. A new meter, as in a
// merge gate, cannot tell whose it is: it may be that of the unreadable check.
func (m *measurement) unownedTests(runs []Run, known *metric.Tests) bool {
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
