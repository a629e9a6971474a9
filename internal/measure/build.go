package measure

import (
	"cmp"
	"fmt"
	"strings"

	"supervise/internal/fingerprint"
	"supervise/internal/measure/internal/printed"
	"supervise/metric"
)

// compilers are the runners whose command compiles the whole project before its tests.
var compilers = map[string]bool{"go": true, "maven": true, "gradle": true}

// compiles reports whether the results of tests say whether the project can be built.
func (c Check) compiles() bool { return c.Kind == Test && compilers[c.Runner] }

// standing is what a run says about whether the project can be built, nil if nothing.
func (m *Meter) standing(r *Run, first bool) *metric.Build {
	switch {
	case r.skipped:
	case r.Check.Kind == Build && r.state == metric.Measured:
		return m.outcome(r, first)
	case r.Check.compiles():
		return r.compiled()
	}
	return nil
}

// outcome is how a build ended, unless it is set aside.
func (m *Meter) outcome(r *Run, first bool) *metric.Build {
	b := &metric.Build{Status: metric.BuildSuccess, Duration: r.Duration}
	m.stands(r)
	if r.ExitCode == 0 {
		m.built[r.Check.id()] = true
		return b
	}
	b.Status, b.FirstError = metric.BuildFailure, firstError(*r)
	if m.isAside(r, r.unplaced(), first) {
		b.Status = metric.BuildUnknown
		if first {
			r.Problems = append(r.Problems, fmt.Sprintf(asideText, b.FirstError))
		}
		return b
	}
	b.FirstError = m.news(r, b.FirstError)
	if m.built[r.Check.id()] && m.fell != nil && !r.Check.toNowhere() {
		m.fell[r.Check.Dir] = b.FirstError
	}
	return b
}

// needless returns why a check is not run, "" if it is: what it needs did build, and does
// not any more. At the baseline everything is run, and for as long as a build has never
// succeeded: what it breaks is known there.
func (m *Meter) needless(c Check) string {
	first, broken := m.fell[c.Dir]
	if !broken {
		return ""
	}
	if _, compiles := c.readsOnly(); c.Kind == Lint && !compiles {
		return ""
	}
	return fmt.Sprintf("%s was not run, for the build is broken: %s", c.Name, first)
}

// news is the first error of a build that is not set aside. The go command names the
// package in the line before.
func (m *Meter) news(r *Run, first string) string {
	for line := range strings.Lines(r.Output) {
		line = strings.TrimSpace(line)
		if len(m.aside) == 0 || line == "" || m.aside[fingerprint.Of(line)] {
			continue
		}
		if pkg, heads := strings.CutPrefix(line, "# "); heads {
			return pkg + ": " + first
		}
		return line
	}
	return first
}

func (r *Run) findings() []metric.Finding {
	if r.lint == nil {
		return nil
	}
	return r.lint.Findings
}

// compiled is what tests show that are compiled with the project. That a test of Go does
// not compile is no broken build.
func (r *Run) compiled() *metric.Build {
	for _, f := range r.findings() {
		if f.Type && !strings.HasSuffix(f.File, "_test.go") {
			return &metric.Build{Status: metric.BuildFailure, FirstError: f.Place()}
		}
	}
	switch {
	case r.killed || r.gone:
	case r.state == metric.Measured || r.ExitCode == 0:
		return &metric.Build{Status: metric.BuildSuccess}
	case r.tests == nil && r.Check.Runner == "go": // others may have died in the tests
		return &metric.Build{Status: metric.BuildFailure, FirstError: r.Why}
	}
	return nil
}

// severity orders what builds say: the worst counts, and a success more than what is
// not known.
var severity = map[metric.BuildStatus]int{metric.BuildUnknown: 1, metric.BuildSuccess: 2, metric.BuildFailure: 3}

func joinBuilds(a, b *metric.Build) *metric.Build {
	if a == nil || b == nil {
		return cmp.Or(a, b)
	}
	out := *a
	if severity[b.Status] > severity[a.Status] {
		out.Status, out.FirstError = b.Status, b.FirstError
	}
	out.Duration = a.Duration + b.Duration
	return &out
}

// compilerErrors reads what a compiler printed where the command failed that runs the
// tests as well.
func (r *reading) compilerErrors(out *printed.Output) {
	if !r.check.compiles() || r.run.ExitCode == 0 || r.run.lint != nil || out.Rewind() != nil {
		return
	}
	build := *r
	build.check.Kind, build.run = Build, &Run{Check: r.run.Check}
	build.source(out.File(), "output")
	if !r.check.Stderr {
		build.source(out.Errors.File(), "standard error")
	}
	lint := &metric.Lint{}
	for _, f := range build.run.findings() {
		if f.Type && f.File != "" {
			lint.Findings = append(lint.Findings, f)
		}
	}
	if len(lint.Findings) > 0 {
		lint.Tools, r.run.lint = build.run.lint.Tools, lint
	}
}
