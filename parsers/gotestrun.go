package parsers

import (
	"cmp"
	"strings"

	"supervise/internal/textstream"
	"supervise/metric"
)

// goRun is one run of the tests of one package.
type goRun struct {
	pkg    string
	open   map[string]*goCase // begun and not ended
	cases  []*goCase
	out    textstream.Clip // output that belongs to no test
	result string          // pass, fail or skip; "" before the end
	built  string          // import path of the build that failed
	took   float64

	spoke  bool   // there was output
	closed bool   // the test binary said PASS or FAIL, and no test event followed
	crash  string // the last line that told of a panic
	exit   string // how the test binary ended, where that was told
}

// goCase is one run of one test.
type goCase struct {
	name   string
	status metric.Status // 0 before the end
	took   float64
	out    textstream.Clip
}

// goEnds are the actions that end a test or a package.
var goEnds = map[string]metric.Status{"pass": metric.Passed, "fail": metric.Failed, "skip": metric.Skipped}

func (r *goRun) event(e goEvent) {
	if e.Action == "output" {
		r.output(e)
		return
	}
	status, ends := goEnds[e.Action]
	switch {
	case e.Test == "" && ends:
		r.result, r.took = e.Action, e.Elapsed
		r.built = cmp.Or(e.FailedBuild, r.built)
	case e.Test == "": // start
	case e.Action == "run":
		r.begin(e.Test)
	case ends:
		r.end(e, status)
	}
}

func (r *goRun) begin(name string) *goCase {
	r.closed = false
	c := &goCase{name: name}
	r.cases = append(r.cases, c)
	r.open[name] = c
	return c
}

func (r *goRun) end(e goEvent, status metric.Status) {
	c := r.open[e.Test]
	if c == nil {
		c = r.begin(e.Test)
	}
	delete(r.open, e.Test)
	r.closed = false
	c.status, c.took = status, e.Elapsed
	if status == metric.Passed {
		c.out = textstream.Clip{} // nobody will ask for it
	}
}

// output keeps what a test printed, without the lines that frame it.
func (r *goRun) output(e goEvent) {
	r.spoke = true
	line := strings.TrimRight(e.Output, "\r\n")
	if strings.HasPrefix(line, "panic: ") || strings.HasPrefix(line, "fatal error: ") {
		r.crash = textstream.CleanText(line)
	}
	if strings.HasPrefix(line, "exit status ") || strings.HasPrefix(line, "signal: ") {
		r.exit = line
	}
	if c := r.open[e.Test]; c != nil {
		if !frame(line) {
			c.out.Add(e.Output)
		}
		return
	}
	if e.Test == "" && (line == "PASS" || line == "FAIL") {
		r.closed = true
	}
	r.out.Add(e.Output)
}

func frame(line string) bool {
	line = strings.TrimLeft(line, " \x16")
	for _, p := range []string{"=== RUN ", "=== PAUSE ", "=== CONT ", "=== NAME ", "--- FAIL: ", "--- SKIP: ", "--- PASS: "} {
		if strings.HasPrefix(line, p) {
			return true
		}
	}
	return false
}

// tests returns the outcomes of r. Benchmarks are no tests, except one that
// failed. A run that holds nothing but tests that failed in the earlier runs
// is a rerun of those.
func (r *goRun) tests(earlier []*goRun) []metric.Test {
	rerun := len(earlier) > 0 && r.repeatsFailuresOf(earlier)
	var out []metric.Test
	for _, c := range r.cases {
		if strings.HasPrefix(c.name, "Benchmark") && c.status != metric.Failed {
			continue
		}
		t := metric.Test{
			ID:       metric.ID{Suite: r.pkg, Name: textstream.CleanName(c.name)},
			Status:   c.status,
			Duration: seconds(c.took),
			Message:  c.out.String(),
			Rerun:    rerun,
		}
		if c.status == 0 {
			t.Status = metric.Failed
			t.Message = strings.TrimSpace("did not finish\n" + t.Message)
		}
		out = append(out, t)
	}
	return out
}

func (r *goRun) repeatsFailuresOf(earlier []*goRun) bool {
	failed := map[string]bool{}
	for _, run := range earlier {
		for _, c := range run.cases {
			if c.status == 0 || c.status == metric.Failed {
				failed[c.name] = true
			}
		}
	}
	for _, c := range r.cases {
		root, _, _ := strings.Cut(c.name, "/")
		if !failed[root] {
			return false
		}
	}
	return len(r.cases) > 0
}

// seconds returns the time of the run, or that of its tests where it has no end.
func (r *goRun) seconds() float64 {
	if r.took > 0 {
		return r.took
	}
	sum := 0.0
	for _, c := range r.cases {
		if !strings.Contains(c.name, "/") {
			sum += max(0, c.took)
		}
	}
	return sum
}

// broken returns why the package did not run to its end, and "" if it did. The
// verdict comes from the actions: a package that failed without a failing test,
// or has no end, is broken. A package that failed before its test binary said
// so itself stopped on the way, and nobody knows what it left out; where a
// report holds no output that cannot be told.
func (r *goRun) broken(builds map[string]*goBuild) string {
	if r.result == "" {
		return "did not finish: go test was stopped, or its output was cut off"
	}
	if r.result != "fail" {
		return ""
	}
	if r.built != "" {
		b := builds[r.built]
		if b != nil {
			b.used = true
		}
		return b.why()
	}
	for line := range strings.Lines(r.out.String()) {
		if _, ok := buildFailed(line); ok {
			return "build failed"
		}
	}
	if r.anyFailed() && (r.closed || !r.spoke) {
		return ""
	}
	return r.reason()
}

func (r *goRun) anyFailed() bool {
	for _, c := range r.cases {
		if c.status == metric.Failed {
			return true
		}
	}
	return false
}

// reason words why the test binary broke off.
func (r *goRun) reason() string {
	if after, ok := strings.CutPrefix(r.crash, "panic: test timed out after "); ok {
		return "timed out after " + after
	}
	if r.crash != "" {
		why, _, _ := strings.Cut(r.crash, " [recovered")
		return why
	}
	why := cmp.Or(r.exit, lastLine(r.out.String()))
	for _, c := range r.cases {
		if c.status == 0 {
			return joined("crashed in "+c.name, why)
		}
	}
	if r.anyFailed() && !r.closed {
		return joined("crashed", why)
	}
	return joined("failed without a failing test", why)
}

func joined(what, why string) string {
	if why == "" {
		return what
	}
	return what + ": " + why
}

// lastLine returns the last line that says more than FAIL.
func lastLine(s string) string {
	last := ""
	for line := range strings.Lines(s) {
		line = strings.TrimSpace(line)
		if line != "" && line != "PASS" && !strings.HasPrefix(line, "FAIL") {
			last = line
		}
	}
	return last
}
