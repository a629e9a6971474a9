package measure

import (
	"fmt"
	"maps"
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
// build tool could not build beside tests that ran, and with a linter that did not come to
// read the code.
func (m *Meter) setAside(r *Run, first bool) {
	switch {
	case r.ExitCode == 0 || r.killed || r.gone || r.skipped:
	case r.Check.Kind == Lint && r.lacksOnly():
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

// unmet matches the error of the go command about a module that is not on this machine.
// It names the file that imports it, whose fault it is not.
var unmet = regexp.MustCompile(`missing go\.sum entry|module lookup disabled by|: Get "https?://`)

// atFault reports whether an error is one of the file that it names.
func atFault(f metric.Finding) bool { return f.File != "" && !unmet.MatchString(f.Message) }

// lacksOnly reports whether a linter found nothing in the code: none of its output could be
// read, or it names only what is missing.
func (r *Run) lacksOnly() bool {
	return r.state == metric.Absent || len(r.findings()) > 0 && !slices.ContainsFunc(r.findings(), func(f metric.Finding) bool {
		return atFault(f) || !f.Type && !unmet.MatchString(f.Message)
	})
}

func (m *Meter) setSuitesAside(r *Run, first bool) {
	var broken []metric.Suite
	for _, s := range r.tests.Broken {
		why, is := strings.CutPrefix(s.Why, unbuilt)
		if !is || placed.MatchString(why) && !unmet.MatchString(why) || !m.isAside(r, []string{s.Name + ": " + fingerprint.Of(why)}, first) {
			broken = append(broken, s)
			continue
		}
		r.tests.Aside = append(r.tests.Aside, s.Name)
		r.forget(why)
		if first {
			r.Problems = append(r.Problems, s.Name+" "+fmt.Sprintf(asideText, why))
		}
	}
	r.tests.Broken = broken
}

// forget drops the errors that tell the same as a reason does.
func (r *Run) forget(why string) {
	if r.lint == nil {
		return
	}
	why = strings.TrimPrefix(strings.TrimPrefix(why, placed.FindString(why)), ": ")
	lint := *r.lint
	lint.Findings = slices.DeleteFunc(slices.Clone(lint.Findings), func(f metric.Finding) bool { return !atFault(f) && strings.HasPrefix(f.Message, why) })
	r.lint = &lint
}

// unplaced returns the lines of a failed run so that those of two runs can be compared;
// none if an error is in a file. Where a tool marks its errors, these are all.
func (r *Run) unplaced() []string {
	if slices.ContainsFunc(r.findings(), atFault) {
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

// spare keeps what other checks measured beside one of which no test can be read: its
// suites did not run. Where it never had any it is one itself, and set aside like those if
// errors in files would be known.
func (m *Meter) spare(runs []Run, known *metric.Tests) {
	first := known == nil
	counts := func(r Run) bool { return r.Check.Kind == Test && r.state == metric.Measured && len(r.tests.Cases) > 0 }
	if !slices.ContainsFunc(runs, counts) {
		return
	}
	for i := range runs {
		r := &runs[i]
		if r.Check.Kind != Test || r.state == metric.Measured {
			continue
		}
		if len(m.suites[r.Check.id()]) > 0 {
			if r.state == metric.Absent {
				m.emptied(r)
			}
			continue
		}
		if m.unowned(runs, known) {
			continue
		}
		r.state, r.tests = metric.Measured, metric.NewTests(nil)
		if !r.Check.compiles() || r.ExitCode == 0 || r.killed || !m.isAside(r, r.unplaced(), first) {
			r.tests.Broken = []metric.Suite{{Name: r.Check.Name, Why: r.Why}}
			continue
		}
		r.tests.Aside, r.build = []string{r.Check.Name}, &metric.Build{Status: metric.BuildUnknown}
		if first {
			r.Problems = append(r.Problems, fmt.Sprintf(asideText, lastLine(r.Output)))
		}
	}
}

// unowned reports whether tests are known of a suite that no check has run, as in a gate,
// whose meter is a new one: it may be that of a check that cannot be read.
func (m *Meter) unowned(runs []Run, known *metric.Tests) bool {
	if known == nil {
		return false
	}
	owned := map[string]bool{}
	for _, suites := range m.suites {
		maps.Copy(owned, suites)
	}
	for _, r := range runs {
		if r.tests != nil {
			for _, s := range r.tests.Broken {
				owned[s.Name] = true
			}
		}
	}
	return slices.ContainsFunc(known.Cases, func(t metric.Test) bool { return !owned[t.Suite] })
}
