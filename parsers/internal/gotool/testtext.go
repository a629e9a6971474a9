package gotool

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/jstemmer/go-junit-report/v2/gtr"
	"github.com/jstemmer/go-junit-report/v2/parser/gotest"

	"supervise/internal/regexp"
	"supervise/internal/sniff"
	"supervise/internal/textstream"
	"supervise/metric"
	"supervise/parsers/internal/parsed"
)

// summaryPattern matches the line after the tests of a package: "ok<tab>p<tab>0.1s",
// "FAIL<tab>p [build failed]" or "?<tab>p<tab>[no test files]". The tabs may have become
// spaces. "ok" and one space is a line of TAP.
var summaryPattern = regexp.MustCompile(`^(?:ok\s{2,}\S+\s+(?:[0-9.]+s|\(cached\))|FAIL\s+\S+\s+(?:[0-9.]+s|\[(?:build|setup) failed\])|\?\s+\S+\s+\[no test files\])`)

// detectGoTestText reports whether the head has the result of a package or the start of a test.
func detectGoTestText(h sniff.Head) bool {
	return h.MatchesLine(summaryPattern.MatchString) || h.MatchesLine(runLinePattern.MatchString)
}

// runLinePattern matches the first line of a test: "=== RUN   TestA".
var runLinePattern = regexp.MustCompile(`^=== RUN   (?:Test|Example|Fuzz|Benchmark)\S*$`)

// Limits of the text that is passed to the library that parses it.
const (
	maxGoTests  = 10_000  // the time grows with their square
	maxGoText   = 6 << 20 // bytes; the memory is about thirty times as much
	maxGoOutput = 200     // lines in a row that are not about tests or packages
)

// framePattern matches the start of the lines about tests and packages and how they ended, as
// in "--- PASS: TestA" and "panic: ". Other lines are output of tests.
var framePattern = regexp.MustCompile(`^\s*(?:=== |--- |ok  \t|FAIL|PASS|\?   \t|panic: |fatal error: |exit status |signal: |coverage: |# )`)

// textLimiter is a reader of the text of go test. It removes output of tests above the limit,
// and returns an error for a text that would take the library too much time or memory.
type textLimiter struct {
	lines         *textstream.Lines
	out           []byte // the part of the current line that is not yet returned
	unframedLines int    // lines since the last line of framePattern
	size          int    // bytes that were returned
	lastLine      []byte // the last line of the text that is not empty and was not removed
	tests         int    // tests that started
}

// Read returns the next part of the limited text.
func (g *textLimiter) Read(p []byte) (int, error) {
	for len(g.out) == 0 {
		line, err := g.lines.Next()
		if err != nil {
			return 0, err
		}
		if g.unframedLines++; framePattern.Match(line.Text) {
			g.unframedLines = 0
		}
		if bytes.HasPrefix(line.Text, []byte("=== RUN ")) {
			g.tests++
		}
		if g.size > maxGoText || g.tests > maxGoTests {
			return 0, line.Error("there are more than %d tests or %d MiB: let go test write -json, which is read event by event", maxGoTests, maxGoText>>20)
		}
		if g.unframedLines > maxGoOutput {
			continue
		}
		g.out = append(g.out[:0], line.Text[:min(len(line.Text), parsed.MaxLine)]...)
		if len(g.out) > 0 {
			g.lastLine = append(g.lastLine[:0], g.out...)
		}
		if line.Complete {
			g.out = append(g.out, '\n')
		}
	}

	n := copy(p, g.out)
	g.out = g.out[n:]
	g.size += n
	return n, nil
}

// parseGoTestText reads the text of go test. Without -v it names only the tests that failed.
// That is an error, since the number of tests is unknown.
func parseGoTestText(r io.Reader) (parsed.Report, error) {
	g := &goTextReader{results: map[string]string{}}
	p := gotest.NewParser(gotest.TimestampFunc(func() time.Time { return time.Time{} }))
	limited := &textLimiter{lines: textstream.NewLines(r)}
	report, err := p.Parse(limited)
	if err != nil {
		return parsed.Report{}, fmt.Errorf("read report: %w", err)
	}
	for _, e := range p.Events() {
		g.handleEvent(e)
	}
	for _, pkg := range report.Packages {
		g.addPackage(pkg)
	}
	return g.report(), g.checkComplete(textstream.StripANSI(string(limited.lastLine)))
}

// goTextReader collects the tests of the library and what else the text of go test says.
type goTextReader struct {
	set            parsed.Outcomes
	build          parsed.GoDiagnostics // compiler errors of packages that were not built
	results        map[string]string    // by package: "ok", "FAIL" or "?", with the rest of the line
	startedTests   int                  // number of tests that began
	failedPackages int                  // number of packages that failed
	unnamed        []string             // packages whose tests are not named
	unfinished     []string             // tests without an end in packages that passed
}

// handleEvent counts started tests, and stores the result of a package.
func (g *goTextReader) handleEvent(e gotest.Event) {
	switch e.Type {
	case "run_test":
		g.startedTests++
	case "summary":
		g.results[e.Name] = e.Result + " " + e.Data
		if e.Result == "FAIL" {
			g.failedPackages++
		}
	}
}

// addPackage adds the tests of a package, without benchmarks that did not fail, and records how
// the package failed.
func (g *goTextReader) addPackage(pkg gtr.Package) {
	result := g.results[pkg.Name]
	for _, t := range pkg.Tests {
		if strings.HasPrefix(t.Name, "Benchmark") && t.Result != gtr.Fail {
			continue
		}
		if t.Result == gtr.Unknown && strings.HasPrefix(result, "ok") {
			g.unfinished = append(g.unfinished, t.Name)
		}
		c := toTest(pkg.Name, t)
		c.Cached = strings.Contains(result, "(cached)")
		g.set.Add(c)
	}

	g.set.Duration += pkg.Duration
	switch {
	case pkg.BuildError.Name != "":
		g.addBuildErrors(pkg)
	case strings.Contains(result, "[build failed]"), strings.Contains(result, "[setup failed]"):
		g.set.AddBroken(pkg.Name, "build failed")
	case strings.HasPrefix(result, "FAIL"):
		g.checkFailedPackage(pkg)
	}

	ranTests := strings.HasPrefix(result, "ok") && !strings.Contains(result, "[no tests to run]")
	failedTests := strings.HasPrefix(result, "FAIL") && !strings.Contains(result, " failed]")
	if g.startedTests == 0 && (ranTests || failedTests) {
		g.unnamed = append(g.unnamed, pkg.Name)
	}
}

// goTextStatuses maps the results of the library. A test without a result is not in it.
var goTextStatuses = map[gtr.Result]metric.Status{gtr.Pass: metric.Passed, gtr.Fail: metric.Failed, gtr.Skip: metric.Skipped}

// toTest returns the test of the library as a [metric.Test]. A test without a result failed.
func toTest(pkg string, t gtr.Test) metric.Test {
	c := metric.Test{ID: metric.ID{Suite: pkg, Name: t.Name}, Status: goTextStatuses[t.Result], Duration: max(0, t.Duration)}
	if c.Status != metric.Passed {
		c.Message = strings.Join(t.Output, "\n")
	}
	if c.Status == 0 {
		c.Status, c.Message = metric.Failed, "did not finish\n"+c.Message
	}
	return c
}

// addBuildErrors adds the errors of a package that was not built.
func (g *goTextReader) addBuildErrors(pkg gtr.Package) {
	g.build.ReadLine("# " + pkg.BuildError.Name)
	first := ""
	for _, line := range pkg.BuildError.Output {
		before := g.build.PlacedCount
		if g.build.ReadLine(line); g.build.PlacedCount > before {
			first = cmp.Or(first, g.build.Latest.String())
		}
	}
	if first == "" && len(pkg.BuildError.Output) > 0 {
		first = pkg.BuildError.Output[0]
	}
	g.set.AddBroken(pkg.Name, parsed.JoinReason("build failed", first))
}

// checkFailedPackage marks a failed package as broken if no test failed or it crashed.
func (g *goTextReader) checkFailedPackage(pkg gtr.Package) {
	run := goRun{saidResult: true, hasOutput: true}
	for _, t := range pkg.Tests {
		run.cases = append(run.cases, &goCase{name: t.Name, status: goTextStatuses[t.Result]})
		run.findEnd(t.Output)
	}
	run.findEnd(pkg.Output)
	run.findEnd(pkg.RunError.Output)
	if run.crash != "" {
		run.saidResult = false
	}
	if run.hasFailedTest() && run.saidResult {
		return
	}
	g.set.AddBroken(pkg.Name, run.crashReason())
}

// findEnd looks for the lines that show how a test binary ended.
func (r *goRun) findEnd(lines []string) {
	for _, line := range lines {
		r.addOutput(&goEvent{output: []byte(line + "\n")})
	}
}

// report returns the collected tests, and the findings of the compiler if there are any.
func (g *goTextReader) report() parsed.Report {
	r := g.set.Report("go test")
	if len(g.build.Findings) > 0 {
		r.Lint = g.build.Lint()
	}
	return r
}

// errUnnamed is the reason why a text without -v is not a report.
var errUnnamed = errors.New("go test names the tests that passed with -v or -json only")

// checkComplete returns an error if the text does not name all tests or was cut off. Last is its
// last line.
func (g *goTextReader) checkComplete(last string) error {
	switch {
	case len(g.unnamed) > 0:
		return fmt.Errorf("%w: %w (%s)", parsed.ErrUnknownFormat, errUnnamed, g.unnamed[0])
	case len(g.unfinished) > 0:
		return &parsed.SyntaxError{Problem: fmt.Sprintf("%s began and has no result, although its package passed", g.unfinished[0])}
	case g.isLastLine(last):
		return nil
	}
	return &parsed.SyntaxError{Problem: "the report ends before the result of a package: go test was stopped, or its output was cut off"}
}

// isLastLine reports whether a line can be the last one of go test: the result of a package,
// or FAIL after the results of several packages of which one failed.
func (g *goTextReader) isLastLine(last string) bool {
	if len(g.results) > 1 && g.failedPackages > 0 {
		return last == "FAIL"
	}
	return len(g.results) > 0 && (last == "FAIL" || summaryPattern.MatchString(last))
}
