package measure

import (
	"fmt"
	"slices"
	"strings"

	"supervise/internal/fingerprint"
	"supervise/internal/regexp"
	"supervise/metric"
)

// What fails where a loop begins, for a reason that is in no file of the project, says
// nothing about what an agent does: the machine lacks something, or a package is no
// program. It is set aside as long as it fails for that alone.
const asideText = "failed before any agent ran, for no error in a file of the project; other errors count: %s"

// isAside reports whether a failure with these lines, made comparable, is set aside, and
// notes them on the run.
func (m *Meter) isAside(r *Run, lines []string, first bool) bool {
	if first && m.opts.Begins {
		for _, l := range lines {
			m.aside[l] = true
		}
	}
	if len(lines) == 0 || slices.ContainsFunc(lines, func(l string) bool { return !m.aside[l] }) {
		return false
	}
	r.aside = append(r.aside, lines...)
	return true
}

// setAside does so with what tests and linters cannot compile: with packages, with what a
// build tool could not build beside tests that ran, and with a linter of which nothing
// could be read.
func (m *Meter) setAside(r *Run, first bool) {
	switch {
	case r.ExitCode == 0 || r.killed || r.gone || r.skipped:
	case r.Check.Kind == Lint && r.state == metric.Absent:
		if m.isAside(r, r.unplaced(), first) && first {
			r.Problems = append(r.Problems, fmt.Sprintf(asideText, lastLine(r.Output)))
		}
	case r.Check.Kind == Test && r.tests != nil:
		tests := *r.tests
		r.tests = &tests
		m.setSuitesAside(r, first)
		if buildTools[r.Check.Runner] && tests.Failure != "" && m.isAside(r, r.unplaced(), first) {
			r.Problems = slices.DeleteFunc(r.Problems, func(p string) bool { return p == tests.Failure })
			tests.Failure = ""
			if first {
				r.Problems = append(r.Problems, fmt.Sprintf(asideText, lastLine(r.Output)))
			}
		}
	}
}

// unbuilt begins the reason why a package of Go did not run that could not be built.
const unbuilt = "build failed: "

// placed matches an error that names the place of it.
var placed = regexp.MustCompile(`^\S+\.\w+:\d+`)

func (m *Meter) setSuitesAside(r *Run, first bool) {
	var broken []metric.Suite
	for _, s := range r.tests.Broken {
		why, is := strings.CutPrefix(s.Why, unbuilt)
		if !is || placed.MatchString(why) || !m.isAside(r, []string{s.Name + ": " + fingerprint.Of(why)}, first) {
			broken = append(broken, s)
			continue
		}
		r.tests.Aside = append(r.tests.Aside, s.Name)
		if first {
			r.Problems = append(r.Problems, s.Name+" "+fmt.Sprintf(asideText, why))
		}
	}
	r.tests.Broken = broken
}

// unplaced returns the lines of a failed run so that those of two runs can be compared;
// none if an error is in a file. Where a tool marks its errors, these are all.
func (r *Run) unplaced() []string {
	if slices.ContainsFunc(r.findings(), func(f metric.Finding) bool { return f.File != "" }) {
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
