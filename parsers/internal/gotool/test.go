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

// goEventStarts are what an event may begin with. Other text is between
// events where the two outputs of a command were joined.
var goEventStarts = []string{`{"Time":"`, `{"Action":"`, `{"ImportPath":"`, `{"Package":"`}

func detectGoTest(h sniff.Head) bool {
	for line := range bytes.Lines(h.Text) {
		if bytes.HasPrefix(line, []byte("=== RUN   ")) { // of go test -v, where a test may print events
			return false
		}
		if i := eventStart(line); i >= 0 && bytes.Contains(line[i:], []byte(`"Action":"`)) {
			return true
		}
	}
	return false
}

func eventStart(line []byte) int {
	first := -1
	for _, s := range goEventStarts {
		if i := bytes.Index(line, []byte(s)); i >= 0 && (first < 0 || i < first) {
			first = i
		}
	}
	return first
}

// goTest reads the events of one or more runs of go test. Outcomes come from
// actions alone; output gives messages and reasons.
type goTest struct {
	runs     map[string][]*goRun // by package, in order
	packages []string            // in order of their first event
	build    parsed.GoText       // what did not compile
	builds   map[string]*goBuild // by import path
	order    []*goBuild          // of their first event
	broken   []metric.Suite      // named in plain text by older versions of Go
	problems textstream.Problems
	noise    int
	sample   string // the first line of noise
	now      goEvent
	latest   *goRun             // of the last event
	tests    int                // that began
	spare    []*textstream.Clip // of tests that passed, to be used again
}

// goBuild is the build of one package, or of its test variant, that had
// something to say.
type goBuild struct {
	path    string
	first   string // the first error, else the first line
	placed  bool   // first names a file
	failed  bool
	sources []string // the command that instruments them, word by word
	used    bool     // a package says that it failed because of it
}

// why words the failure.
func (b *goBuild) why() string {
	if b == nil || b.first == "" {
		return "build failed"
	}
	return "build failed: " + b.first
}

func parseGoTest(r io.Reader) (parsed.Report, error) {
	g := &goTest{runs: map[string][]*goRun{}, builds: map[string]*goBuild{}}
	err := jsonstream.ReadEvents(r, goEventStarts, jsonstream.Sink{Event: g.line, Noise: g.text})
	if err == nil && len(g.packages)+len(g.order)+len(g.broken) == 0 {
		err = fmt.Errorf("%w: there is no event of go test in it", parsed.ErrUnknownFormat)
	}
	return g.report(), err
}

func (g *goTest) line(raw []byte, l textstream.Line) error {
	if err := g.now.decode(raw); err != nil {
		g.problems.Add("line %d begins like an event and cannot be read: %v", l.Number, err)
		return nil
	}
	if g.event(&g.now); string(g.now.action) == "run" {
		if g.tests++; g.tests >= parsed.MaxKept {
			return parsed.TooMany()
		}
	}
	return nil
}

// text takes what is not an event: the errors of a compiler, as Go before 1.24
// writes them between the events, or noise.
func (g *goTest) text(text []byte, _ textstream.Line) {
	line := string(text)
	if pkg, ok := buildFailed(line); ok {
		g.broken = append(g.broken, metric.Suite{Name: pkg, Why: "build failed"})
		return
	}
	if g.build.Line(line) {
		return
	}
	if g.noise++; g.noise == 1 {
		g.sample = textstream.CleanText(line)
	}
}

// buildFailed reads "FAIL<tab>package [build failed]"; the tab may have become
// spaces.
func buildFailed(line string) (pkg string, ok bool) {
	if !strings.HasPrefix(strings.TrimSpace(line), "FAIL") {
		return "", false
	}
	words := strings.Fields(line)
	if len(words) != 4 || words[0] != "FAIL" || words[2] != "[build" && words[2] != "[setup" || words[3] != "failed]" {
		return "", false
	}
	return words[1], true
}

func (g *goTest) event(e *goEvent) {
	switch string(e.action) {
	case "build-output":
		g.buildOutput(e)
	case "build-fail":
		g.built(string(e.importPath)).failed = true
	case "":
		g.problems.Add("an event has no action")
	default:
		if len(e.pkg) == 0 {
			e.pkg = []byte("command-line-arguments") // go test of a list of files before 1.20
		}
		g.run(e).event(e)
	}
}

func (g *goTest) built(path string) *goBuild {
	if b := g.builds[path]; b != nil {
		return b
	}
	b := &goBuild{path: path}
	g.builds[path] = b
	g.order = append(g.order, b)
	return b
}

// coverSays is what go tool cover prints of a syntax error, with a path from the folder of
// the package.
var coverSays = regexp.MustCompile(`^\d{4}/\d\d/\d\d \d\d:\d\d:\d\d cover: \S+: \S*?([^/\\\s:]+\.go)(:\d+:\d+: .*)`)

// uncovered returns such a line as a compiler would print it, with the path of the file.
func (b *goBuild) uncovered(line string) string {
	m := coverSays.FindStringSubmatch(line)
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

func (g *goTest) buildOutput(e *goEvent) {
	b := g.built(string(e.importPath))
	for line := range strings.Lines(string(e.output)) {
		if strings.HasPrefix(line, "# [") && strings.Contains(line, " -pkgcfg ") { // the command that instruments the package
			b.sources = strings.Fields(strings.TrimRight(line, "]\n"))
			continue
		}
		line = b.uncovered(line)
		before := g.build.Located
		known := g.build.Line(line)
		switch {
		case b.placed:
		case g.build.Located > before:
			b.first, b.placed = g.build.Latest.Place(), true
		case b.first == "" && !known && !strings.HasPrefix(line, "#"):
			b.first = textstream.CleanText(line)
		}
	}
}

// run returns the run of the package that the event belongs to. An event after
// the end of a run begins another one.
func (g *goTest) run(e *goEvent) *goRun {
	goesOn := func(r *goRun) bool {
		return r.result == "" || string(e.action) != "start" && string(e.action) != "run"
	}
	if r := g.latest; r != nil && r.pkg == string(e.pkg) && goesOn(r) {
		return r
	}
	runs := g.runs[string(e.pkg)]
	if n := len(runs); n > 0 && goesOn(runs[n-1]) {
		g.latest = runs[n-1]
		return g.latest
	}
	pkg := string(e.pkg)
	if len(runs) == 0 {
		g.packages = append(g.packages, pkg)
	}
	g.latest = &goRun{pkg: pkg, suite: textstream.CleanName(pkg), open: map[string]*goCase{}, spare: &g.spare}
	g.runs[pkg] = append(runs, g.latest)
	return g.latest
}

func (g *goTest) report() parsed.Report {
	r := parsed.Report{Producer: "go test"}
	cases := make([]metric.Test, 0, g.began())
	var suites []metric.Suite
	sum := 0.0
	for _, pkg := range g.packages {
		for i, run := range g.runs[pkg] {
			cases = run.tests(cases, g.runs[pkg][:i])
			sum += run.seconds()
			if why := run.broken(g.builds); why != "" {
				suites = append(suites, metric.Suite{Name: run.suite, Why: why})
			}
		}
	}
	for i := range cases {
		r.Cases.Add(cases[i].Status)
	}
	suites = append(suites, g.unclaimed()...)
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

// began returns how many tests began.
func (g *goTest) began() int {
	n := 0
	for _, runs := range g.runs {
		for _, r := range runs {
			n += len(r.cases)
		}
	}
	return n
}

// unclaimed returns the packages whose build failed and that printed nothing more: go
// test was stopped before it reported the package.
func (g *goTest) unclaimed() []metric.Suite {
	var out []metric.Suite
	for _, b := range g.order {
		if b.failed && !b.used {
			pkg, _, _ := strings.Cut(b.path, " ")
			out = append(out, metric.Suite{Name: pkg, Why: b.why()})
		}
	}
	return out
}
