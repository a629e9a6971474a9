package gotool

import (
	"bytes"
	"fmt"
	"io"
	"strings"

	"supervise/internal/jsonstream"
	"supervise/internal/regexp"
	"supervise/internal/sniff"
	"supervise/internal/textstream"
	"supervise/metric"
	"supervise/parsers/internal/parsed"
)

// goEventStarts are the possible starts of an event. If standard output and standard error
// were joined, there may be other text between events.
var goEventStarts = []string{`{"Time":"`, `{"Action":"`, `{"ImportPath":"`, `{"Package":"`}

// detectGoTest reports whether the head has an event of go test -json.
func detectGoTest(h sniff.Head) bool {
	for line := range bytes.Lines(h.Text) {
		if bytes.HasPrefix(line, []byte("=== RUN   ")) { // of go test -v, where a test may print events
			return false
		}
		if goEventPattern.Match(line) {
			return true
		}
	}
	return false
}

// goEventPattern matches the start of an event up to its action, which need not be its first member.
var goEventPattern = regexp.MustCompile(`\{"(?:(?:Time|ImportPath|Package)":".*")?Action":"`)

// goTestReader reads the events of one or more runs of go test. Outcomes come only from
// actions. Output gives messages and reasons.
type goTestReader struct {
	runs         map[string][]*goRun  // by package, in order
	packages     []string             // in order of their first event
	build        parsed.GoDiagnostics // compiler errors
	builds       map[string]*goBuild  // builds that printed something, by import path
	order        []*goBuild           // the same builds in order of their first event
	broken       []metric.Suite       // packages whose build failed, as older versions of Go say in plain text
	problems     textstream.Problems
	noise        int                // lines that are neither an event nor a compiler error
	sample       string             // the first line of noise
	currentEvent goEvent            // memory for the current event
	latestRun    *goRun             // the run of the last event
	tests        int                // number of tests that began
	spareClips   []*textstream.Clip // memory for the output of tests, from tests that passed
}

// goBuild is the build of a package or of its test variant. Builds that print nothing have no
// events.
type goBuild struct {
	path       string // import path, with the test variant: "p [p.test]"
	firstError string // the first error with a place, else the first line
	hasPlace   bool   // firstError has a place
	failed     bool
	sources    []string // the words of the command that instruments the source files
	isReported bool     // an event of a package says that it failed because of this build
}

// reason describes the failure. The build may be nil.
func (b *goBuild) reason() string {
	if b == nil || b.firstError == "" {
		return "build failed"
	}
	return "build failed: " + b.firstError
}

// parseGoTest reads the events of go test -json. It is an error if there are none.
func parseGoTest(r io.Reader) (parsed.Report, error) {
	g := &goTestReader{runs: map[string][]*goRun{}, builds: map[string]*goBuild{}}
	err := jsonstream.ReadEvents(r, goEventStarts, jsonstream.Sink{Event: g.readLine, Noise: g.readText})
	if err == nil && len(g.packages)+len(g.order)+len(g.broken) == 0 {
		err = fmt.Errorf("%w: there is no event of go test in it", parsed.ErrUnknownFormat)
	}
	return g.report(), err
}

// readLine handles one event. An event that cannot be decoded is a problem, not an error.
func (g *goTestReader) readLine(raw []byte, l textstream.Line) error {
	if err := g.currentEvent.decode(raw); err != nil {
		g.problems.Add("line %d begins like an event and cannot be read: %v", l.Number, err)
		return nil
	}
	if g.handleEvent(&g.currentEvent); string(g.currentEvent.action) == "run" {
		if g.tests++; g.tests >= parsed.MaxItems {
			return parsed.TooManyError()
		}
	}
	return nil
}

// readText reads text between events: the errors of a compiler, which Go before 1.24 writes
// there, or noise.
func (g *goTestReader) readText(text []byte, _ textstream.Line) {
	line := string(text)
	if pkg, ok := parseBuildFailed(line); ok {
		g.broken = append(g.broken, metric.Suite{Name: pkg, Why: "build failed"})
		return
	}
	if g.build.ReadLine(line) {
		return
	}
	if g.noise++; g.noise == 1 {
		g.sample = textstream.CleanText(line)
	}
}

// parseBuildFailed parses "FAIL<tab>package [build failed]", and reports whether the line is
// one. The tab may have become spaces.
func parseBuildFailed(line string) (pkg string, ok bool) {
	m := buildFailedPattern.FindStringSubmatch(line)
	if m == nil {
		return "", false
	}
	return m[1], true
}

// buildFailedPattern matches "FAIL<tab>example.com/p [build failed]".
var buildFailedPattern = regexp.MustCompile(`^\s*FAIL\s+(\S+)\s+\[(?:build|setup)\s+failed\]\s*$`)

// handleEvent passes an event to the build or run that it belongs to.
func (g *goTestReader) handleEvent(e *goEvent) {
	switch string(e.action) {
	case "build-output":
		g.addBuildOutput(e)
	case "build-fail":
		g.buildOf(string(e.importPath)).failed = true
	case "":
		g.problems.Add("an event has no action")
	default:
		if len(e.pkg) == 0 {
			e.pkg = []byte("command-line-arguments") // go test of a list of files before 1.20
		}
		g.runOf(e).handleEvent(e)
	}
}

// buildOf returns the build of an import path, and adds it if it is new.
func (g *goTestReader) buildOf(path string) *goBuild {
	if b := g.builds[path]; b != nil {
		return b
	}
	b := &goBuild{path: path}
	g.builds[path] = b
	g.order = append(g.order, b)
	return b
}

// coverErrorPattern matches a syntax error of go tool cover, whose path is relative to the
// folder of the package: "2024/05/01 10:20:30 cover: b001/a.go: a.go:3:2: expected '('".
var coverErrorPattern = regexp.MustCompile(`^\d{4}/\d\d/\d\d \d\d:\d\d:\d\d cover: \S+: \S*?([^/\\\s:]+\.go)(:\d+:\d+: .*)`)

// rewriteCoverError returns a syntax error of go tool cover in the format of the compiler,
// with the path of the source file. It does not change other lines.
func (b *goBuild) rewriteCoverError(line string) string {
	m := coverErrorPattern.FindStringSubmatch(line)
	if m == nil {
		return line
	}
	for _, path := range b.sources {
		if strings.HasSuffix(path, "/"+m[1]) || strings.HasSuffix(path, "\\"+m[1]) {
			return path + m[2] + "\n"
		}
	}
	return m[1] + m[2] + "\n"
}

// addBuildOutput reads what the build of a package printed, and stores its first error.
func (g *goTestReader) addBuildOutput(e *goEvent) {
	b := g.buildOf(string(e.importPath))
	for line := range strings.Lines(string(e.output)) {
		if strings.HasPrefix(line, "# [") && strings.Contains(line, " -pkgcfg ") { // the command that instruments the package
			b.sources = strings.Fields(strings.TrimRight(line, "]\n"))
			continue
		}
		line = b.rewriteCoverError(line)
		before := g.build.PlacedCount
		known := g.build.ReadLine(line)
		switch {
		case b.hasPlace:
		case g.build.PlacedCount > before:
			b.firstError, b.hasPlace = g.build.Latest.String(), true
		case b.firstError == "" && !known && !strings.HasPrefix(line, "#"):
			b.firstError = textstream.CleanText(line)
		}
	}
}

// runOf returns the run that the event belongs to. The start of a package or test after the
// end of a run starts another run of the package.
func (g *goTestReader) runOf(e *goEvent) *goRun {
	continues := func(r *goRun) bool {
		return r.result == "" || string(e.action) != "start" && string(e.action) != "run"
	}
	if r := g.latestRun; r != nil && r.pkg == string(e.pkg) && continues(r) {
		return r
	}

	runs := g.runs[string(e.pkg)]
	if n := len(runs); n > 0 && continues(runs[n-1]) {
		g.latestRun = runs[n-1]
		return g.latestRun
	}

	pkg := string(e.pkg)
	if len(runs) == 0 {
		g.packages = append(g.packages, pkg)
	}
	g.latestRun = &goRun{pkg: pkg, suite: textstream.CleanName(pkg), open: map[string]*goCase{}, spare: &g.spareClips}
	g.runs[pkg] = append(runs, g.latestRun)
	return g.latestRun
}

// report returns the tests of all runs, the packages that could not run, and the compiler
// errors.
func (g *goTestReader) report() parsed.Report {
	r := parsed.Report{Producer: "go test"}
	cases := make([]metric.Test, 0, g.tests)
	var suites []metric.Suite
	sum := 0.0
	for _, pkg := range g.packages {
		for i, run := range g.runs[pkg] {
			cases = run.appendTests(cases, g.runs[pkg][:i])
			sum += run.seconds()
			if why := run.brokenReason(g.builds); why != "" {
				suites = append(suites, metric.Suite{Name: run.suite, Why: why})
			}
		}
	}

	for i := range cases {
		r.Cases.Add(cases[i].Status)
	}

	suites = append(suites, g.unreportedBuilds()...)
	r.Tests = metric.NewTests(cases)
	r.Tests.Duration = parsed.Seconds(sum)
	r.Tests.Broken = parsed.UniqueSuites(append(suites, g.broken...))

	if len(g.build.Findings) > 0 {
		r.Lint = g.build.Lint()
	}
	if g.noise > 0 {
		g.problems.Add("%d lines between the events are no events, the first: %s", g.noise, g.sample)
	}
	r.Problems = g.problems.All()
	return r
}

// unreportedBuilds returns the packages with a failed build and no other event: go test was
// stopped before it reported them.
func (g *goTestReader) unreportedBuilds() []metric.Suite {
	var out []metric.Suite
	for _, b := range g.order {
		if b.failed && !b.isReported {
			pkg, _, _ := strings.Cut(b.path, " ")
			out = append(out, metric.Suite{Name: pkg, Why: b.reason()})
		}
	}
	return out
}
