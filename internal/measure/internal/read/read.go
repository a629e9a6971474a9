// Package read reads what a run of a check wrote, and decides whether it counts.
package read

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"supervise/coverage"
	"supervise/internal/measure/internal/checks"
	"supervise/internal/measure/internal/command"
	"supervise/internal/measure/internal/memory"
	"supervise/internal/measure/internal/printed"
	"supervise/internal/measure/internal/reportfile"
	"supervise/internal/measure/internal/sections"
	"supervise/internal/regexp"
	"supervise/internal/sniff"
	"supervise/metric"
	"supervise/parsers"
)

// reading collects what one run of a check wrote.
type reading struct {
	check checks.Check
	root  string    // of the tree
	base  string    // where the check ran
	dir   string    // the private folder of the run
	since time.Time // an older report is not from this run
	run   *checks.Run
	fault string // the first report that does not count, and the reason

	early func() (Report, error) // what was read of the output, nil if nothing was

	answered bool // the tests were read; other reports of them are duplicates

	memory   *memory.Memory
	hasTests map[string]bool // by path: whether a test report of this run has any
}

// ReadAttempt reads the reports and the output of an attempt in the tree at root, and notes on
// its run what they report, and whether they count. early is what was read of the output
// while it was printed, nil if nothing was.
func ReadAttempt(a *command.Attempt, root string, learnt *memory.Memory, early func() (Report, error)) {
	r := reading{check: a.Check, root: root, base: checks.Plan{Root: root}.Dir(a.Check), dir: a.Dir, since: a.Started, run: &a.Run, memory: learnt, early: early, hasTests: map[string]bool{}}
	r.all(a.Output)
	if a.Run.Tests != nil {
		a.Run.Tests.Runner = a.Check.Runner
	}
}

// SuiteName names a suite of a check relative to the root.
func SuiteName(c checks.Check, root, name string) string {
	r := reading{check: c, root: root, base: checks.Plan{Root: root}.Dir(c)}
	return r.suite(name)
}

// all reads the reports and the output, and decides whether they count. Other files in
// the private folder, and the output, are read only if the named reports do not answer
// the check.
func (r *reading) all(out *printed.Output) {
	named := r.named()
	for _, path := range named {
		r.file(path)
	}
	r.answered = r.run.Tests != nil
	if !r.complete() {
		for _, path := range r.others(named) {
			r.file(path)
		}
	}
	if r.answered = r.run.Tests != nil; !r.complete() {
		r.output(out)
	}
	r.rejectMissing()
	r.judge(out)
	r.compilerErrors(out)
}

// output reads what was printed. A linter's standard error is read as well, unless its
// standard output is a report: then standard error is only messages.
func (r *reading) output(out *printed.Output) {
	before := len(r.run.Sources)
	if r.early != nil {
		report, err := r.early()
		r.accept(report, err, "output")
	} else {
		r.source(out.File(), "output")
	}
	if r.check.Kind == checks.Test {
		return
	}
	for _, s := range r.run.Sources[before:] {
		if parsers.IsStructured(s.Format) {
			return
		}
	}
	r.source(out.Errors.File(), "standard error")
}

// named lists the reports that the check names.
func (r *reading) named() []string {
	var out []string
	for _, pattern := range r.check.Reports {
		for _, path := range reportfile.Glob(r.base, pattern) {
			if !slices.Contains(out, path) {
				out = append(out, path)
			}
		}
	}
	return out
}

// others lists the other files in the private folder.
func (r *reading) others(named []string) []string {
	entries, err := os.ReadDir(r.dir)
	if err != nil {
		return nil
	}
	var out []string
	for _, e := range entries {
		path := filepath.Join(r.dir, e.Name())
		_, ours := r.check.Files[e.Name()]
		if !ours && !e.IsDir() && !strings.HasPrefix(e.Name(), ".") && !slices.Contains(named, path) {
			out = append(out, path)
		}
	}
	return out
}

// complete reports whether the reports answer the check without its output.
func (r *reading) complete() bool {
	switch r.check.Kind {
	case checks.Test:
		return r.run.Tests != nil && (r.run.Coverage != nil || !r.check.Coverage)
	case checks.Lint:
		return r.run.Lint != nil
	case checks.Build:
	}
	return false
}

func (r *reading) file(path string) {
	info, err := os.Lstat(path)
	switch {
	case err != nil:
		r.reject(metric.Absent, "%s: %v", path, err)
	case !info.Mode().IsRegular():
		r.reject(metric.Absent, "%s is not a regular file", path)
	case info.ModTime().Before(r.since):
		r.reject(metric.Stale, "%s is older than the command that should have written it", path)
	default:
		f, err := reportfile.Open(r.root, path)
		if err != nil {
			r.reject(metric.Absent, "%v", err)
			return
		}
		defer f.Close()
		r.source(f, path)
	}
}

func (r *reading) reject(state metric.Validity, format string, args ...any) {
	if r.fault == "" {
		r.fault, r.run.State = fmt.Sprintf(format, args...), state
	}
}

// source reads one report: of tests, of findings or of coverage.
func (r *reading) source(f io.Reader, name string) {
	report, err := Read(f, name, "")
	r.accept(report, err, name)
}

// ReadWhileRunning starts to read the output of a command, and returns a function that waits
// for the report.
func ReadWhileRunning(output io.Reader) func() (Report, error) {
	var report Report
	var err error
	done := make(chan struct{})
	go func() {
		defer close(done)
		report, err = Read(output, "output", "")
	}()
	return func() (Report, error) {
		<-done
		return report, err
	}
}

// accept adds what was read of one report, or rejects it.
func (r *reading) accept(report Report, err error, name string) {
	switch {
	case errors.Is(err, parsers.ErrEmpty), errors.Is(err, parsers.ErrUnknownFormat), errors.Is(err, coverage.ErrEmpty):
	case report.Coverage != nil || isCoverage(sniff.Head{}, report.Format):
		r.coverage(report, err, name)
	case err != nil:
		r.reject(metric.Partial, "%v", err)
	default:
		r.results(report, name)
	}
}

// results adds tests or findings.
func (r *reading) results(report Report, name string) {
	if r.check.Kind == checks.Test && (report.Tests == nil || r.answered) {
		return // any text may look like findings
	}
	r.run.Sources = append(r.run.Sources, checks.Source{Path: r.shown(name), Format: report.Format})
	r.run.Problems = append(r.run.Problems, report.Problems...)
	r.findingsAs(report)
	r.run.Lint = r.run.Lint.Merge(r.localFindings(report.Lint))
	if report.Tests != nil {
		tests := r.localTests(r.expandCTest(report.Tests), report.Format)
		r.integration(name, tests)
		r.run.Tests = sections.JoinTests(r.run.Tests, tests)
		r.hasTests[name] = len(report.Tests.Cases)+len(report.Tests.Broken) > 0
	}
}

// compilerText are the formats that one compiler output may be read as, depending on
// the kinds of findings in it.
var compilerText = map[string]bool{"go-vet": true, "go-build": true, "lint-text": true}

// findingsAs rejects findings in another format than before. The two cannot be
// compared, and often the linter has only printed why it did not run.
func (r *reading) findingsAs(report Report) {
	if r.check.Kind != checks.Lint || report.Lint == nil || len(report.Lint.Findings) == 0 {
		return
	}
	line := r.run.Check.ID()
	before, known := r.memory.Formats[line]
	if !known {
		r.memory.Formats[line] = report.Format
		return
	}
	if before != report.Format && !(compilerText[before] && compilerText[report.Format]) {
		r.reject(metric.Partial, "%s was read as %s before and now as %s, which cannot be compared%s", r.check.Name, before, report.Format, r.ending())
	}
}

// rejectMissing rejects a run if a named report had tests in an earlier run, and now is
// missing or no test report: half of the tests would look deleted. A test report without
// tests counts.
func (r *reading) rejectMissing() {
	if r.check.Kind != checks.Test {
		return
	}
	for i, pattern := range r.run.Check.Reports {
		report, spoke := memory.TestReport{Check: r.run.Check.ID(), Pattern: pattern}, false
		paths := reportfile.Glob(r.base, r.check.Reports[i])
		for _, path := range paths {
			holds, isTests := r.hasTests[path]
			spoke = spoke || isTests
			if holds {
				r.memory.LearnReport(report)
			}
		}
		if spoke || !r.memory.HasReport(report) {
			continue
		}
		what := "was not written"
		if len(paths) > 0 {
			what = "has no test results any more"
		}
		r.reject(metric.Absent, "report %s, which the tests wrote before, %s%s", strings.TrimPrefix(pattern, checks.ReportDir+"/"), what, r.ending())
	}
}

// ending describes how a failed command ended, to be appended to a reason.
func (r *reading) ending() string {
	if r.run.ExitCode == 0 {
		return ""
	}
	return fmt.Sprintf("; %s ended with status %d: %s", r.check.Name, r.run.ExitCode, printed.LineOrNothing(printed.LastLine(r.run.Output)))
}

// localTests makes suites and files relative to the root, so that they are the same in
// every checkout, and suites of different projects have different names. Go's packages
// already have such names.
func (r *reading) localTests(t *metric.Tests, format string) *metric.Tests {
	if strings.HasPrefix(format, "go-test") {
		return t
	}
	out := *t
	cases := slices.Clone(t.Cases)
	for i, c := range cases {
		cases[i].Suite = r.suite(c.Suite)
		if c.File != "" {
			cases[i].File = r.fromRoot(c.File)
		}
	}
	out.Cases = metric.NewTests(cases).Cases
	out.Broken = slices.Clone(t.Broken)
	for i, b := range out.Broken {
		out.Broken[i].Name = r.suite(b.Name)
	}
	return &out
}

// suite names a suite relative to the root. It may be a file or any other name.
func (r *reading) suite(name string) string {
	switch {
	case filepath.IsAbs(name):
		return r.relative(name)
	case r.check.Dir == "":
		return name
	case name == "":
		return r.check.Dir
	}
	return r.fromRoot(name)
}

// place is a path of a report relative to the root, with slashes. Most tools write
// paths relative to where they ran, some relative to the root.
func (r *reading) fromRoot(path string) string {
	if filepath.IsAbs(path) {
		return filepath.ToSlash(filepath.Clean(r.relative(path)))
	}
	path = filepath.ToSlash(filepath.Clean(path))
	if r.check.Dir == "" || !reportfile.Exists(filepath.Join(r.base, path)) && reportfile.Exists(filepath.Join(r.root, path)) {
		return path
	}
	return r.check.Dir + "/" + path
}

// shown is the name of a report in messages: nobody can open the private folder later.
func (r *reading) shown(path string) string {
	if strings.HasPrefix(path, r.dir+string(filepath.Separator)) {
		return filepath.Base(path)
	}
	return r.relative(path)
}

func (r *reading) relative(path string) string { return reportfile.RelativePath(r.root, path) }

// coverage adds the coverage of a test check.
func (r *reading) coverage(report Report, err error, name string) {
	switch {
	case r.check.Kind != checks.Test:
	case err != nil:
		if name != "output" { // the output may contain any text
			r.run.Problems = append(r.run.Problems, err.Error())
		}
	default:
		r.run.Sources = append(r.run.Sources, checks.Source{Path: r.shown(name), Format: report.Format + " coverage"})
		r.run.Problems = append(r.run.Problems, report.Problems...)
		r.addCoverage(r.localCoverage(report.Coverage), r.shown(name))
	}
}

// addCoverage adds another report of the same run. For other files it is a part of the
// sum; in another format it repeats the same.
func (r *reading) addCoverage(c *metric.Coverage, name string) {
	first := r.run.Coverage
	switch {
	case first == nil:
		r.run.Coverage = c
	case first.Comparable(c):
		r.run.Coverage = sections.JoinCoverage(first, c)
	default:
		r.run.Problems = append(r.run.Problems, fmt.Sprintf("coverage in %s (%s, %s) is not counted: that of this run was read as %s, %s", name, c.Format, c.Unit, first.Format, first.Unit))
	}
}

// localCoverage makes paths relative to the root. It drops lines, since a loop keeps
// many measurements.
func (r *reading) localCoverage(c *metric.Coverage) *metric.Coverage {
	out := *c
	out.Files = slices.Clone(c.Files)
	for i, f := range out.Files {
		out.Files[i].Hit, out.Files[i].Missed = nil, nil
		if c.Format != "go" { // go names files by their package
			out.Files[i].Path = r.fromRoot(f.Path)
		}
	}
	return &out
}

// local makes the paths of findings relative to the root of the project.
func (r *reading) localFindings(l *metric.Lint) *metric.Lint {
	if l == nil {
		return nil
	}
	out := *l
	out.Findings = slices.Clone(l.Findings)
	for i, f := range out.Findings {
		if f.File != "" {
			out.Findings[i].File = r.fromRoot(f.File)
		}
	}
	return &out
}

// judge decides whether the run counts.
func (r *reading) judge(out *printed.Output) {
	if r.fault != "" {
		r.run.Why = r.fault
		return
	}
	if why := r.unread(out); why != "" {
		r.run.Why, r.run.State = why, metric.Absent
		return
	}
	r.run.State = metric.Measured
	if r.check.Kind == checks.Lint && r.run.Lint == nil {
		r.run.Lint = &metric.Lint{Tools: []string{r.check.Name}}
	}
	r.run.Problems = append(r.run.Problems, r.contradiction()...)
}

// unread returns why nothing that counts was read, "" if something was. No output is an
// answer only from a build or a linter that succeeded.
func (r *reading) unread(out *printed.Output) string {
	failed := r.run.ExitCode != 0
	switch r.check.Kind {
	case checks.Build:
		return ""
	case checks.Lint:
		if failed && len(r.run.Findings()) == 0 {
			return fmt.Sprintf("%s ended with status %d and reported nothing that can be read: %s", r.check.Name, r.run.ExitCode, printed.LastLine(out.Tail()))
		}
		if failed && r.missingErrors() {
			return fmt.Sprintf("%s ended with status %d, and only warnings could be read of what it reported, so an error is missing: %s; let it write SARIF, checkstyle XML or another format for programs", r.check.Name, r.run.ExitCode, printed.LastLine(out.Tail()))
		}
	case checks.Test:
		return r.noTests(out)
	}
	return ""
}

// missingErrors reports whether a check that failed must have printed an error that was
// not read: everything that was read from text is a warning of a tool that does not fail
// for warnings.
func (r *reading) missingErrors() bool {
	if !slices.ContainsFunc(r.run.Sources, func(s checks.Source) bool { return !parsers.IsStructured(s.Format) }) {
		return false
	}
	return !slices.ContainsFunc(r.run.Findings(), func(f metric.Finding) bool {
		return f.Level == metric.Error || parsers.FailsOnWarnings(f.Tool)
	})
}

func (r *reading) noTests(out *printed.Output) string {
	t, name := r.run.Tests, r.check.Name
	last := printed.LastLine(out.Tail())
	switch {
	case t == nil && r.run.ExitCode != 0:
		return fmt.Sprintf("%s ended with status %d and wrote no report that can be read: %s", name, r.run.ExitCode, printed.LineOrNothing(last))
	case t == nil && last == "":
		return name + " printed nothing and wrote no report; have it print go test -json or write JUnit XML and name the file with --test-report"
	case t == nil:
		return name + " printed nothing that can be read as test results, and tests count by their names, not by totals; have it print TAP, or write JUnit XML and name the file with --test-report"
	case len(t.Cases) == 0 && len(t.Broken) == 0 && r.run.ExitCode != 0:
		return fmt.Sprintf("%s ended with status %d and found no tests: %s", name, r.run.ExitCode, printed.LineOrNothing(last))
	}
	return ""
}

// ignoresFailures matches options with which a test command succeeds although tests
// failed, so that it reports coverage too.
var ignoresFailures = regexp.MustCompile(`maven\.test\.failure\.ignore=true|--ignore-run-fail`)

// contradiction returns how the exit status contradicts the report.
func (r *reading) contradiction() []string {
	if r.check.Kind != checks.Test || r.run.Tests == nil {
		return nil
	}
	bad := r.run.Tests.Counts().Failed > 0 || len(r.run.Tests.Broken) > 0
	switch {
	case bad && r.run.ExitCode == 0 && ignoresFailures.MatchString(r.check.CommandLine()):
	case bad && r.run.ExitCode == 0:
		return []string{r.check.Name + " ended with status 0 although tests failed"}
	case !bad && r.run.ExitCode != 0:
		why := fmt.Sprintf("%s ended with status %d although no test failed", r.check.Name, r.run.ExitCode)
		r.run.Tests.Failure = cmp.Or(r.run.Tests.Failure, why)
		return []string{why}
	}
	return nil
}

// compilerErrors reads the errors of the compiler if a command failed that builds and runs
// tests.
func (r *reading) compilerErrors(out *printed.Output) {
	if !r.check.Compiles() || r.run.ExitCode == 0 || r.run.Lint != nil || out.Rewind() != nil {
		return
	}
	build := *r
	build.check.Kind, build.run = checks.Build, &checks.Run{Check: r.run.Check}
	build.source(out.File(), "output")
	if !r.check.Stderr {
		build.source(out.Errors.File(), "standard error")
	}
	lint := &metric.Lint{}
	for _, f := range build.run.Findings() {
		if f.Type && f.File != "" {
			lint.Findings = append(lint.Findings, f)
		}
	}
	if len(lint.Findings) > 0 {
		lint.Tools, r.run.Lint = build.run.Lint.Tools, lint
	}
}
