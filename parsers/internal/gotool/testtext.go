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

// goSummary is the line that ends the tests of a package. Its tabs may have
// become spaces in between; "ok" and one space begin a line of TAP.
var goSummary = regexp.MustCompile(`^(?:ok\s{2,}\S+\s+(?:[0-9.]+s|\(cached\))|FAIL\s+\S+\s+(?:[0-9.]+s|\[(?:build|setup) failed\])|\?\s+\S+\s+\[no test files\])`)

func detectGoTestText(h sniff.Head) bool {
	return h.MatchesLine(goSummary.MatchString) || h.MatchesLine(goRunLine.MatchString)
}

// goRunLine is the line with which a test begins.
var goRunLine = regexp.MustCompile(`^=== RUN   (?:Test|Example|Fuzz|Benchmark)\S*$`)

// maxGoTests bounds the time, which grows with the square of the tests.
const maxGoTests = 10_000

// maxGoText bounds the memory, which is some thirty times the text that reaches
// the library.
const maxGoText = 6 << 20

// maxGoOutput is how many lines in a row are handed on that are not frames of a test
// or package: more than anyone reads of a message.
const maxGoOutput = 200

// goTextFrame begins the lines about tests, packages and how they ended.
var goTextFrame = regexp.MustCompile(`^\s*(?:=== |--- |ok  \t|FAIL|PASS|\?   \t|panic: |fatal error: |exit status |signal: |coverage: |# )`)

// goTextThinner leaves out what tests print beyond that, and refuses what would
// take the library too long or too much memory.
type goTextThinner struct {
	lines *textstream.Lines
	out   []byte
	row   int // lines since the last frame
	size  int // bytes handed on
	tests int
}

// Read implements [io.Reader].
func (g *goTextThinner) Read(p []byte) (int, error) {
	for len(g.out) == 0 {
		line, err := g.lines.Next()
		if err != nil {
			return 0, err
		}
		if g.row++; goTextFrame.Match(line.Text) {
			g.row = 0
		}
		if bytes.HasPrefix(line.Text, []byte("=== RUN ")) {
			g.tests++
		}
		if g.size > maxGoText || g.tests > maxGoTests {
			return 0, line.Error("there are more than %d tests or %d MiB: let go test write -json, which is read event by event", maxGoTests, maxGoText>>20)
		}
		if g.row > maxGoOutput {
			continue
		}
		g.out = append(g.out[:0], line.Text[:min(len(line.Text), parsed.MaxLine)]...)
		if line.Complete {
			g.out = append(g.out, '\n')
		}
	}
	n := copy(p, g.out)
	g.out = g.out[n:]
	g.size += n
	return n, nil
}

// parseGoTestText reads what go test prints for people. Without -v it names no
// more than the tests that failed, and that is an error: it is unknown how many
// there are.
func parseGoTestText(r io.Reader) (parsed.Report, error) {
	g := &goTestText{results: map[string]string{}}
	p := gotest.NewParser(gotest.TimestampFunc(func() time.Time { return time.Time{} }))
	report, err := p.Parse(io.TeeReader(&goTextThinner{lines: textstream.NewLines(r)}, &g.tee))
	if err != nil {
		return parsed.Report{}, fmt.Errorf("read report: %w", err)
	}
	for _, e := range p.Events() {
		g.event(e)
	}
	for _, pkg := range report.Packages {
		g.pkg(pkg)
	}
	return g.report(), g.fault()
}

// goTestText is what the text of go test says in addition to its tests.
type goTestText struct {
	set     parsed.Outcomes
	build   parsed.GoText
	tee     lineTee
	results map[string]string // of the packages: ok, FAIL or ?, with the rest of the line
	runs    int               // tests that began
	failed  int               // packages
	lost    []string          // packages whose tests are not named
	open    []string          // tests without an end in packages that passed
}

// lineTee keeps the last line of what is written to it.
type lineTee struct{ line, last []byte }

// Write implements [io.Writer].
func (t *lineTee) Write(p []byte) (int, error) {
	for _, c := range p {
		if c == '\n' {
			if len(t.line) > 0 {
				t.last = append(t.last[:0], t.line...)
			}
			t.line = t.line[:0]
		} else if c != '\r' && len(t.line) < parsed.MaxLine {
			t.line = append(t.line, c)
		}
	}
	return len(p), nil
}

func (g *goTestText) event(e gotest.Event) {
	switch e.Type {
	case "run_test":
		g.runs++
	case "summary":
		g.results[e.Name] = e.Result + " " + e.Data
		if e.Result == "FAIL" {
			g.failed++
		}
	}
}

func (g *goTestText) pkg(pkg gtr.Package) {
	result := g.results[pkg.Name]
	for _, t := range pkg.Tests {
		if strings.HasPrefix(t.Name, "Benchmark") && t.Result != gtr.Fail {
			continue
		}
		if t.Result == gtr.Unknown && strings.HasPrefix(result, "ok") {
			g.open = append(g.open, t.Name)
		}
		c := goTextTest(pkg.Name, t)
		c.Cached = strings.Contains(result, "(cached)")
		g.set.Add(c)
	}
	g.set.Took += pkg.Duration
	switch {
	case pkg.BuildError.Name != "":
		g.compiler(pkg)
	case strings.Contains(result, "[build failed]"), strings.Contains(result, "[setup failed]"):
		g.set.Breaks(pkg.Name, "build failed")
	case strings.HasPrefix(result, "FAIL"):
		g.ended(pkg)
	}
	if g.runs == 0 && (strings.HasPrefix(result, "ok") && !strings.Contains(result, "[no tests to run]") || strings.HasPrefix(result, "FAIL") && !strings.Contains(result, " failed]")) {
		g.lost = append(g.lost, pkg.Name)
	}
}

var goTextStatuses = map[gtr.Result]metric.Status{gtr.Pass: metric.Passed, gtr.Fail: metric.Failed, gtr.Skip: metric.Skipped}

func goTextTest(pkg string, t gtr.Test) metric.Test {
	c := metric.Test{ID: metric.ID{Suite: pkg, Name: t.Name}, Status: goTextStatuses[t.Result], Duration: max(0, t.Duration)}
	if c.Status != metric.Passed {
		c.Message = strings.Join(t.Output, "\n")
	}
	if c.Status == 0 {
		c.Status, c.Message = metric.Failed, "did not finish\n"+c.Message
	}
	return c
}

// compiler takes the errors of a package that was not built.
func (g *goTestText) compiler(pkg gtr.Package) {
	g.build.Line("# " + pkg.BuildError.Name)
	first := ""
	for _, line := range pkg.BuildError.Output {
		before := g.build.Located
		if g.build.Line(line); g.build.Located > before {
			first = cmp.Or(first, g.build.Latest.Place())
		}
	}
	if first == "" && len(pkg.BuildError.Output) > 0 {
		first = pkg.BuildError.Output[0]
	}
	g.set.Breaks(pkg.Name, parsed.Because("build failed", first))
}

// ended says why a package failed where no test did, or where it broke off.
func (g *goTestText) ended(pkg gtr.Package) {
	run := goRun{closed: true, spoke: true}
	for _, t := range pkg.Tests {
		run.cases = append(run.cases, &goCase{name: t.Name, status: goTextStatuses[t.Result]})
		run.findEnd(t.Output)
	}
	run.findEnd(pkg.Output)
	run.findEnd(pkg.RunError.Output)
	if run.crash != "" {
		run.closed = false
	}
	if run.anyFailed() && run.closed {
		return
	}
	g.set.Breaks(pkg.Name, run.reason())
}

// findEnd looks for the lines that say how a test binary ended.
func (r *goRun) findEnd(lines []string) {
	for _, line := range lines {
		r.output(&goEvent{output: []byte(line + "\n")})
	}
}

func (g *goTestText) report() parsed.Report {
	r := g.set.Report("go test")
	if len(g.build.Findings) > 0 {
		r.Lint = g.build.Lint()
	}
	return r
}

// errUnnamed is why the text of go test is not a report.
var errUnnamed = errors.New("go test names the tests that passed with -v or -json only")

func (g *goTestText) fault() error {
	last := textstream.StripANSI(cmp.Or(string(g.tee.line), string(g.tee.last)))
	switch {
	case len(g.lost) > 0:
		return fmt.Errorf("%w: %w (%s)", parsed.ErrUnknownFormat, errUnnamed, g.lost[0])
	case len(g.open) > 0:
		return &parsed.SyntaxError{Problem: fmt.Sprintf("%s began and has no result, although its package passed", g.open[0])}
	case g.ends(last):
		return nil
	}
	return &parsed.SyntaxError{Problem: "the report ends before the result of a package: go test was stopped, or its output was cut off"}
}

// ends reports whether the last line can be the last one of go test: the result
// of a package, and after those of several the word FAIL where one failed.
func (g *goTestText) ends(last string) bool {
	if len(g.results) > 1 && g.failed > 0 {
		return last == "FAIL"
	}
	return len(g.results) > 0 && (last == "FAIL" || goSummary.MatchString(last))
}
