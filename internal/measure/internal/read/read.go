// Package read reads what a run of a check wrote, and decides whether it counts. [Attempt] reads
// the reports that the check names first, then other files in the private folder of the run, and
// then the output, until it has what the kind of the check needs. [Read] reads one report of any
// known format.
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

// reportReader reads what one run of a check wrote.
type reportReader struct {
	check      checks.Check
	root       string    // absolute path of the tree
	base       string    // absolute path of the folder in which the check ran
	dir        string    // the private folder of the run
	since      time.Time // a report that is older than this is not from this run
	run        *checks.Run
	firstFault string // the first reason why the run does not count, "" so far

	readEarly func() (Report, error) // returns what was read of the output while it was printed; may be nil

	testsRead bool // the tests were read; other reports of them are duplicates

	empty []string // the report files without content

	memory   *memory.Memory
	hasTests map[string]bool // by path: whether a test report of this run has any
}

// Attempt reads the reports and the output of an attempt in the tree at root. It records on the
// run what they contain and whether they count. early returns what was read of the output while
// it was printed; it is nil if nothing was.
func Attempt(a *command.Attempt, root string, learnt *memory.Memory, early func() (Report, error)) {
	r := reportReader{check: a.Check, root: root, base: checks.Plan{Root: root}.Dir(a.Check), dir: a.Dir, since: a.Started, run: &a.Run, memory: learnt, readEarly: early, hasTests: map[string]bool{}}
	r.readAll(a.Output)
	if a.Run.Tests != nil {
		a.Run.Tests.Runner = a.Check.Runner
	}
}

// SuiteName returns the name of a suite of a check relative to the root.
func SuiteName(c checks.Check, root, name string) string {
	r := reportReader{check: c, root: root, base: checks.Plan{Root: root}.Dir(c)}
	return r.suiteName(name)
}

// readAll reads the reports and the output, and decides whether they count. Other files in the
// private folder, and the output, are read only if the named reports are not enough.
func (r *reportReader) readAll(out *printed.Output) {
	named := r.namedReports()
	for _, path := range named {
		r.readFile(path)
	}
	r.noteEmptyReports()
	r.testsRead = r.run.Tests != nil
	if !r.isComplete() {
		for _, path := range r.otherFiles(named) {
			r.readFile(path)
		}
	}
	if r.testsRead = r.run.Tests != nil; !r.isComplete() {
		r.readOutput(out)
	}
	r.rejectMissingReports()
	r.decideState(out)
	r.readCompilerErrors(out)
}

// noteEmptyReports notes that tests are missing if one of several reports is empty. If the coverage
// is missing as well, it may be that report.
func (r *reportReader) noteEmptyReports() {
	if t := r.run.Tests; t != nil && len(r.empty) > 0 && r.check.Kind == checks.Test && (r.run.Coverage != nil || !r.check.Coverage) {
		t.Failure = cmp.Or(t.Failure, fmt.Sprintf("report %s is empty", r.empty[0]))
		r.run.Problems = append(r.run.Problems, fmt.Sprintf("%d reports are empty, the first: %s", len(r.empty), r.empty[0]))
	}
}

// readOutput reads what was printed. The standard error of a linter is read as well, unless
// standard output is a structured report: then standard error is only messages.
func (r *reportReader) readOutput(out *printed.Output) {
	before := len(r.run.Sources)
	if r.readEarly != nil {
		report, err := r.readEarly()
		r.acceptReport(report, err, "output")
	} else {
		r.readSource(out.File(), "output")
	}
	if r.check.Kind == checks.Test {
		return
	}
	for _, s := range r.run.Sources[before:] {
		if parsers.IsStructured(s.Format) {
			return
		}
	}
	r.readSource(out.Errors.File(), "standard error")
}

// namedReports returns the reports that the check names.
func (r *reportReader) namedReports() []string {
	var out []string
	for _, pattern := range r.check.Reports {
		for _, path := range reportfile.Glob(r.base, pattern) {
			isOwn := filepath.Dir(path) == filepath.Clean(r.dir) && strings.HasPrefix(filepath.Base(path), ".") // what the check prints
			if !isOwn && !slices.Contains(out, path) {
				out = append(out, path)
			}
		}
	}
	return out
}

// otherFiles returns the files in the private folder that are neither named reports nor files of
// the check, nor hidden.
func (r *reportReader) otherFiles(named []string) []string {
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

// isComplete reports whether the reports are enough without the output.
func (r *reportReader) isComplete() bool {
	switch r.check.Kind {
	case checks.Test:
		return r.run.Tests != nil && (r.run.Coverage != nil || !r.check.Coverage)
	case checks.Lint:
		return r.run.Lint != nil
	case checks.Build:
	}
	return false
}

// readFile reads a report file. It rejects one that is missing, not regular, or older than the run.
func (r *reportReader) readFile(path string) {
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
		r.readSource(f, path)
	}
}

// reject records why the run does not count. Only the first reason is kept.
func (r *reportReader) reject(state metric.Validity, format string, args ...any) {
	if r.firstFault == "" {
		r.firstFault, r.run.State = fmt.Sprintf(format, args...), state
	}
}

// readSource reads one report: of tests, of findings or of coverage.
func (r *reportReader) readSource(f io.Reader, name string) {
	report, err := Read(f, name, "")
	r.acceptReport(report, err, name)
}

// WhileRunning starts to read the output of a command, and returns a function that waits
// for the report.
func WhileRunning(output io.Reader) func() (Report, error) {
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

// acceptReport adds what was read of one report, or rejects it. It ignores text that is no report.
func (r *reportReader) acceptReport(report Report, err error, name string) {
	switch {
	case errors.Is(err, parsers.ErrEmpty) && filepath.IsAbs(name):
		r.empty = append(r.empty, r.displayName(name))
	case errors.Is(err, parsers.ErrEmpty), errors.Is(err, parsers.ErrUnknownFormat), errors.Is(err, coverage.ErrEmpty):
	case report.Coverage != nil || isCoverage(sniff.Head{}, report.Format):
		r.acceptCoverage(report, err, name)
	case err != nil:
		r.reject(metric.Partial, "%v", err)
	default:
		r.addResults(report, name)
	}
}

// addResults adds tests or findings.
func (r *reportReader) addResults(report Report, name string) {
	if r.check.Kind == checks.Test && (report.Tests == nil || r.testsRead) {
		return // any text may look like findings
	}
	r.run.Sources = append(r.run.Sources, checks.Source{Path: r.displayName(name), Format: report.Format})
	r.run.Problems = append(r.run.Problems, report.Problems...)
	r.checkFormat(report)
	r.run.Lint = r.run.Lint.Merge(r.relativeFindings(report.Lint))
	if report.Tests != nil {
		tests := r.relativeTests(r.expandCTestCases(report.Tests), report.Format)
		r.recordIntegrationSuites(name, tests)
		r.run.Tests = sections.JoinTests(r.run.Tests, tests)
		r.hasTests[name] = len(report.Tests.Cases)+len(report.Tests.Broken) > 0
	}
}

// compilerFormats are the formats as which the output of one compiler may be read, depending
// on the findings in it.
var compilerFormats = map[string]bool{"go-vet": true, "go-build": true, "lint-text": true}

// checkFormat rejects findings in another format than before. The two cannot be compared, and
// often the linter has only printed why it did not run.
func (r *reportReader) checkFormat(report Report) {
	if r.check.Kind != checks.Lint || report.Lint == nil || len(report.Lint.Findings) == 0 {
		return
	}
	line := r.run.Check.ID()
	before, known := r.memory.Formats[line]
	if !known {
		r.memory.Formats[line] = report.Format
		return
	}
	if before != report.Format && !(compilerFormats[before] && compilerFormats[report.Format]) {
		r.reject(metric.Partial, "%s was read as %s before and now as %s, which cannot be compared%s", r.check.Name, before, report.Format, r.failureSuffix())
	}
}

// rejectMissingReports rejects a run if a named report had tests in an earlier run, and now is
// missing or no test report: half of the tests would look deleted. A test report without tests
// counts.
func (r *reportReader) rejectMissingReports() {
	if r.check.Kind != checks.Test {
		return
	}
	for i, pattern := range r.run.Check.Reports {
		report, isRead := memory.TestReport{Check: r.run.Check.ID(), Pattern: pattern}, false
		paths := reportfile.Glob(r.base, r.check.Reports[i])
		for _, path := range paths {
			hasTests, isTests := r.hasTests[path]
			isRead = isRead || isTests
			if hasTests {
				r.memory.LearnReport(report)
			}
		}
		if isRead || !r.memory.HasReport(report) {
			continue
		}
		what := "was not written"
		if len(paths) > 0 {
			what = "has no test results any more"
		}
		r.reject(metric.Absent, "report %s, which the tests wrote before, %s%s", strings.TrimPrefix(pattern, checks.ReportDir+"/"), what, r.failureSuffix())
	}
}

// failureSuffix describes how a failed command ended, to be appended to a reason.
func (r *reportReader) failureSuffix() string {
	if r.run.ExitCode == 0 {
		return ""
	}
	return fmt.Sprintf("; %s ended with status %d: %s", r.check.Name, r.run.ExitCode, printed.LineOrNothing(printed.LastLine(r.run.Output)))
}

// relativeTests makes suites and files relative to the root, so that they are the same in
// every checkout, and suites of different projects have different names. Go packages already
// have such names.
func (r *reportReader) relativeTests(t *metric.Tests, format string) *metric.Tests {
	if strings.HasPrefix(format, "go-test") {
		return t
	}
	out := *t
	cases := slices.Clone(t.Cases)
	for i, c := range cases {
		cases[i].Suite = r.suiteName(c.Suite)
		if c.File != "" {
			cases[i].File = r.pathFromRoot(c.File)
		}
	}
	out.Cases = metric.NewTests(cases).Cases
	out.Broken = slices.Clone(t.Broken)
	for i, b := range out.Broken {
		out.Broken[i].Name = r.suiteName(b.Name)
	}
	return &out
}

// suiteName returns a suite, which may be a file or any other name, relative to the root.
func (r *reportReader) suiteName(name string) string {
	switch {
	case filepath.IsAbs(name):
		return r.relativePath(name)
	case r.check.Dir == "":
		return name
	case name == "":
		return r.check.Dir
	}
	return r.pathFromRoot(name)
}

// pathFromRoot returns a path of a report relative to the root, with slashes. Most tools write
// paths relative to their working folder, some relative to the root.
func (r *reportReader) pathFromRoot(path string) string {
	if filepath.IsAbs(path) {
		return filepath.ToSlash(filepath.Clean(r.relativePath(path)))
	}
	path = filepath.ToSlash(filepath.Clean(path))
	if r.check.Dir == "" || !reportfile.Exists(filepath.Join(r.base, path)) && reportfile.Exists(filepath.Join(r.root, path)) {
		return path
	}
	return r.check.Dir + "/" + path
}

// displayName returns the name of a report for messages. The private folder is omitted, since
// it is deleted after the run.
func (r *reportReader) displayName(path string) string {
	if strings.HasPrefix(path, r.dir+string(filepath.Separator)) {
		return filepath.Base(path)
	}
	return r.relativePath(path)
}

func (r *reportReader) relativePath(path string) string { return reportfile.RelativePath(r.root, path) }

// acceptCoverage adds the coverage of a test check.
func (r *reportReader) acceptCoverage(report Report, err error, name string) {
	switch {
	case r.check.Kind != checks.Test:
	case err != nil:
		if name != "output" { // the output may contain any text
			r.run.Problems = append(r.run.Problems, err.Error())
		}
	default:
		r.run.Sources = append(r.run.Sources, checks.Source{Path: r.displayName(name), Format: report.Format + " coverage"})
		r.run.Problems = append(r.run.Problems, report.Problems...)
		r.addCoverage(r.relativeCoverage(report.Coverage), r.displayName(name))
	}
}

// addCoverage adds another coverage report of the same run. Reports about other files are
// summed up; one in another format repeats the first.
func (r *reportReader) addCoverage(c *metric.Coverage, name string) {
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

// relativeCoverage makes paths relative to the root. It keeps the lines as text, since a
// loop keeps many measurements.
func (r *reportReader) relativeCoverage(c *metric.Coverage) *metric.Coverage {
	out := *c
	out.Files = slices.Clone(c.Files)
	for i, f := range out.Files {
		out.Files[i].Hit, out.Files[i].Missed = nil, nil
		out.Files[i].Executed, out.Files[i].NotExecuted = metric.NewLineSet(f.Hit), metric.NewLineSet(f.Missed)
		if c.Format != "go" { // go names files by their package
			out.Files[i].Path = r.pathFromRoot(f.Path)
		}
	}
	return &out
}

// relativeFindings makes the paths of findings relative to the root.
func (r *reportReader) relativeFindings(l *metric.Lint) *metric.Lint {
	if l == nil {
		return nil
	}
	out := *l
	out.Findings = slices.Clone(l.Findings)
	for i, f := range out.Findings {
		if f.File != "" {
			out.Findings[i].File = r.pathFromRoot(f.File)
		}
	}
	return &out
}

// decideState decides whether the run counts.
func (r *reportReader) decideState(out *printed.Output) {
	if r.firstFault != "" {
		r.run.Why = r.firstFault
		return
	}
	if why := r.whyUnread(out); why != "" {
		r.run.Why, r.run.State = why, metric.Absent
		return
	}
	r.run.State = metric.Measured
	if r.check.Kind == checks.Lint && r.run.Lint == nil {
		r.run.Lint = &metric.Lint{Tools: []string{r.check.Name}}
	}
	r.run.Problems = append(r.run.Problems, r.contradictions()...)
}

// whyUnread returns why nothing that counts was read, "" if something was. Empty output is a
// result only if a build or linter succeeded.
func (r *reportReader) whyUnread(out *printed.Output) string {
	failed := r.run.ExitCode != 0
	switch r.check.Kind {
	case checks.Build:
		return ""
	case checks.Lint:
		if failed && len(r.run.Findings()) == 0 {
			return fmt.Sprintf("%s ended with status %d and reported nothing that can be read: %s", r.check.Name, r.run.ExitCode, printed.LastLine(out.Tail()))
		}
		if failed && r.hasMissingErrors() {
			return fmt.Sprintf("%s ended with status %d, and only warnings could be read of what it reported, so an error is missing: %s; let it write SARIF, checkstyle XML or another format for programs", r.check.Name, r.run.ExitCode, printed.LastLine(out.Tail()))
		}
	case checks.Test:
		return r.whyNoTests(out)
	}
	return ""
}

// hasMissingErrors reports whether a failed check must have printed an error that was not
// read: all findings that were read from text are warnings of tools that do not fail because
// of warnings.
func (r *reportReader) hasMissingErrors() bool {
	if !slices.ContainsFunc(r.run.Sources, func(s checks.Source) bool { return !parsers.IsStructured(s.Format) }) {
		return false
	}
	return !slices.ContainsFunc(r.run.Findings(), func(f metric.Finding) bool {
		return f.Level == metric.Error || parsers.FailsOnWarnings(f.Tool)
	})
}

// whyNoTests returns why the run of a test check has no tests, "" if it has some.
func (r *reportReader) whyNoTests(out *printed.Output) string {
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

// ignoreFailuresRE matches options with which a test command succeeds although tests failed, so
// that it reports coverage too: --ignore-run-fail of cargo-llvm-cov.
var ignoreFailuresRE = regexp.MustCompile(`maven\.test\.failure\.ignore=true|--ignore-run-fail`)

// contradictions returns how the exit status contradicts the report.
func (r *reportReader) contradictions() []string {
	if r.check.Kind != checks.Test || r.run.Tests == nil {
		return nil
	}
	hasFailures := r.run.Tests.Counts().Failed > 0 || len(r.run.Tests.Broken) > 0
	switch {
	case hasFailures && r.run.ExitCode == 0 && ignoreFailuresRE.MatchString(r.check.CommandLine()):
	case hasFailures && r.run.ExitCode == 0:
		return []string{r.check.Name + " ended with status 0 although tests failed"}
	case !hasFailures && r.run.ExitCode != 0:
		why := fmt.Sprintf("%s ended with status %d although no test failed", r.check.Name, r.run.ExitCode)
		r.run.Tests.Failure = cmp.Or(r.run.Tests.Failure, why)
		return []string{why}
	}
	return nil
}

// readCompilerErrors reads the errors of the compiler if a command failed that builds and runs
// tests.
func (r *reportReader) readCompilerErrors(out *printed.Output) {
	if !r.check.Compiles() || r.run.ExitCode == 0 || r.run.Lint != nil || out.Rewind() != nil {
		return
	}
	build := *r
	build.check.Kind, build.run = checks.Build, &checks.Run{Check: r.run.Check}
	build.readSource(out.File(), "output")
	if !r.check.Stderr {
		build.readSource(out.Errors.File(), "standard error")
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
