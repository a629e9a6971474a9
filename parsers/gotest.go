package parsers

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"supervise/internal/sniff"
	"supervise/internal/textstream"
	"supervise/metric"
)

// goEvent is one line of go test -json: https://pkg.go.dev/cmd/test2json, and
// go help buildjson for those with an ImportPath.
type goEvent struct {
	Action      string
	Package     string
	Test        string
	Elapsed     float64 // seconds
	Output      string
	ImportPath  string
	FailedBuild string
}

// goEventStarts are what an event may begin with. Other text stands between
// events where the two outputs of a command were joined.
var goEventStarts = [][]byte{[]byte(`{"Time":"`), []byte(`{"Action":"`), []byte(`{"ImportPath":"`), []byte(`{"Package":"`)}

func detectGoTest(h sniff.Head) bool {
	for line := range bytes.Lines(h.Text) {
		if i := eventStart(line); i >= 0 && bytes.Contains(line[i:], []byte(`"Action":"`)) {
			return true
		}
	}
	return false
}

func eventStart(line []byte) int {
	first := -1
	for _, s := range goEventStarts {
		if i := bytes.Index(line, s); i >= 0 && (first < 0 || i < first) {
			first = i
		}
	}
	return first
}

// goTest reads the events of one or more runs of go test. Verdicts come from
// actions alone; output gives messages and reasons.
type goTest struct {
	runs     map[string][]*goRun // by package, in order
	packages []string            // in order of their first event
	build    goText              // what did not compile
	builds   map[string]*goBuild // by import path
	order    []*goBuild          // of their first event
	broken   []metric.Suite      // told by plain text of older versions of Go
	problems textstream.Problems
	noise    int
	sample   string // the first line of noise
	cut      error
}

// goBuild is the build of one package, or of its test variant, that had
// something to say.
type goBuild struct {
	path   string
	first  string // the first error, else the first line
	placed bool   // first names a file
	failed bool
	used   bool // a package says that it failed because of it
}

// why words the failure.
func (b *goBuild) why() string {
	if b == nil || b.first == "" {
		return "build failed"
	}
	return "build failed: " + b.first
}

func parseGoTest(r io.Reader) (Report, error) {
	g := &goTest{runs: map[string][]*goRun{}, builds: map[string]*goBuild{}}
	if err := textstream.EachLine(r, g.line); err != nil {
		return g.report(), err
	}
	if g.cut == nil && len(g.packages)+len(g.order)+len(g.broken) == 0 {
		return g.report(), fmt.Errorf("%w: there is no event of go test in it", ErrUnknownFormat)
	}
	return g.report(), g.cut
}

func (g *goTest) line(l textstream.Line) {
	text := l.Text
	for len(bytes.TrimSpace(text)) > 0 {
		start := eventStart(text)
		if start < 0 {
			if !l.Whole && text[0] == '{' {
				g.damaged(l, io.ErrUnexpectedEOF)
				return
			}
			g.text(string(text))
			return
		}
		if start > 0 {
			g.text(string(text[:start]))
		}
		e, n, err := decodeEvent(text[start:])
		if err != nil {
			g.damaged(l, err)
			return
		}
		g.event(e)
		text = text[start+n:]
	}
}

// decodeEvent reads the event that text begins with, and returns how much of
// it that is; as a rule all of it.
func decodeEvent(text []byte) (e goEvent, n int, err error) {
	if json.Unmarshal(text, &e) == nil {
		return e, len(text), nil
	}
	e = goEvent{}
	d := json.NewDecoder(bytes.NewReader(text))
	err = d.Decode(&e)
	return e, int(d.InputOffset()), err
}

// damaged takes a line that begins like an event and is none: the last line of
// a report that was cut off, or noise.
func (g *goTest) damaged(l textstream.Line, err error) {
	if !l.Whole {
		g.cut = &SyntaxError{Line: l.Number, Offset: l.Offset, Problem: "the report ends in the middle of an event: go test was stopped, or its output was cut off"}
		return
	}
	g.problems.Add("line %d begins like an event and cannot be read: %v", l.Number, err)
}

// text takes what is no event: the errors of a compiler, as Go before 1.24
// writes them between the events, or noise.
func (g *goTest) text(line string) {
	if pkg, ok := buildFailed(line); ok {
		g.broken = append(g.broken, metric.Suite{Name: pkg, Why: "build failed"})
		return
	}
	if g.build.line(line) {
		return
	}
	if g.noise++; g.noise == 1 {
		g.sample = textstream.CleanText(line)
	}
}

// buildFailed reads "FAIL<tab>package [build failed]".
func buildFailed(line string) (pkg string, ok bool) {
	rest, ok := strings.CutPrefix(strings.TrimSpace(line), "FAIL\t")
	if !ok {
		return "", false
	}
	for _, why := range []string{" [build failed]", " [setup failed]"} {
		if pkg, ok = strings.CutSuffix(rest, why); ok {
			return pkg, true
		}
	}
	return "", false
}

func (g *goTest) event(e goEvent) {
	switch e.Action {
	case "build-output":
		g.buildOutput(e)
	case "build-fail":
		g.built(e.ImportPath).failed = true
	case "":
		g.problems.Add("an event has no action")
	default:
		if e.Package == "" {
			e.Package = "command-line-arguments" // go test of a list of files before 1.20
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

func (g *goTest) buildOutput(e goEvent) {
	b := g.built(e.ImportPath)
	for line := range strings.Lines(e.Output) {
		before := g.build.located
		known := g.build.line(line)
		switch {
		case b.placed:
		case g.build.located > before:
			b.first, b.placed = g.build.latest.place(), true
		case b.first == "" && !known:
			b.first = textstream.CleanText(line)
		}
	}
}

// run returns the run of the package that the event belongs to. An event after
// the end of a run begins another one.
func (g *goTest) run(e goEvent) *goRun {
	runs := g.runs[e.Package]
	if len(runs) == 0 {
		g.packages = append(g.packages, e.Package)
	}
	if n := len(runs); n > 0 && (runs[n-1].result == "" || e.Action != "start" && e.Action != "run") {
		return runs[n-1]
	}
	run := &goRun{pkg: e.Package, open: map[string]*goCase{}}
	g.runs[e.Package] = append(runs, run)
	return run
}

func (g *goTest) report() Report {
	r := Report{Producer: "go test"}
	var cases []metric.Test
	var suites []metric.Suite
	sum := 0.0
	for _, pkg := range g.packages {
		for i, run := range g.runs[pkg] {
			tests := run.tests(g.runs[pkg][:i])
			for _, t := range tests {
				r.Cases.add(t.Status)
			}
			cases = append(cases, tests...)
			sum += run.seconds()
			if why := run.broken(g.builds); why != "" {
				suites = append(suites, metric.Suite{Name: pkg, Why: why})
			}
		}
	}
	suites = append(suites, g.unclaimed()...)
	r.Tests = metric.NewTests(cases)
	r.Tests.Duration = seconds(sum)
	r.Tests.Broken = uniqueSuites(append(suites, g.broken...))
	if len(g.build.findings) > 0 {
		r.Lint = g.build.lint()
	}
	if g.noise > 0 {
		g.problems.Add("%d lines between the events are no events, the first: %s", g.noise, g.sample)
	}
	r.Problems = g.problems.All()
	return r
}

// unclaimed returns the packages whose build failed and that said no more: go
// test was stopped before it could tell.
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

// uniqueSuites keeps the first reason of each suite.
func uniqueSuites(suites []metric.Suite) []metric.Suite {
	seen := map[string]bool{}
	var out []metric.Suite
	for _, s := range suites {
		if !seen[s.Name] {
			seen[s.Name] = true
			out = append(out, s)
		}
	}
	return out
}
