package measure

import (
	"fmt"
	"strings"

	"supervise/internal/fingerprint"
	"supervise/metric"
)

// buildResult returns what a run shows about the build of the project, nil if nothing.
func (m *measurement) buildResult(r *Run, first bool) *metric.Build {
	switch {
	case r.Skipped:
	case r.Check.Kind == Build && r.State == metric.Measured:
		return m.buildCheckResult(r, first)
	case r.Check.Compiles():
		return buildFromTests(r)
	}
	return nil
}

// buildCheckResult returns the result of a build, unknown if the build was broken at the
// baseline.
func (m *measurement) buildCheckResult(r *Run, first bool) *metric.Build {
	b := &metric.Build{Status: metric.BuildSuccess, Duration: r.Duration}
	m.recordBuild(r)
	if r.ExitCode == 0 {
		m.memory.LearnBuild(r.Check.ID())
		return b
	}
	b.Status, b.FirstError = metric.BuildFailure, r.FirstError()
	if m.isExcluded(r, comparableLines(r), first, fmt.Sprintf(excludedFormat, b.FirstError)) {
		b.Status = metric.BuildUnknown
		return b
	}
	b.FirstError = m.firstNewError(r, b.FirstError)
	if m.memory.Built.Has(r.Check.ID()) && !r.Check.DiscardsOutput() {
		m.brokenBuilds[r.Check.Dir] = b.FirstError
	}
	return b
}

// skipReason returns why a check does not run, "" if it runs. A check is skipped if the build
// of its folder succeeded earlier and fails now. At the baseline every check runs.
func (m *measurement) skipReason(c Check) string {
	first, broken := m.brokenBuilds[c.Dir]
	if !broken {
		return ""
	}
	if _, compiles := c.ReadsOnly(); c.Kind == Lint && !compiles {
		return ""
	}
	return fmt.Sprintf("%s did not run because the build is broken: %s", c.Name, first)
}

// firstNewError returns the first error of a build that the baseline did not have. The go
// command names the package on the line before.
func (m *measurement) firstNewError(r *Run, first string) string {
	for line := range strings.Lines(r.Output) {
		line = strings.TrimSpace(line)
		if len(m.memory.Excluded) == 0 || line == "" || m.memory.Excluded.Has(fingerprint.Of(line)) {
			continue
		}
		if pkg, heads := strings.CutPrefix(line, "# "); heads {
			return pkg + ": " + first
		}
		return line
	}
	return first
}

// buildFromTests returns what the run of tests shows about the build of the project that they
// compile. A Go test that does not compile is no broken build.
func buildFromTests(r *Run) *metric.Build {
	for _, f := range r.Findings() {
		if f.Type && !strings.HasSuffix(f.File, "_test.go") {
			return &metric.Build{Status: metric.BuildFailure, FirstError: f.Diagnostic()}
		}
	}
	switch {
	case r.Killed || r.DirMissing:
	case r.State == metric.Measured || r.ExitCode == 0:
		return &metric.Build{Status: metric.BuildSuccess}
	case r.Tests == nil && r.Check.Runner == "go": // others may have crashed in the tests
		return &metric.Build{Status: metric.BuildFailure, FirstError: r.Why}
	}
	return nil
}
