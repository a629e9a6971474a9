package gotool

import (
	"bytes"
	"cmp"
	"slices"
	"strings"

	"supervise/internal/textstream"
	"supervise/metric"
	"supervise/parsers/internal/parsed"
)

// goRun is one run of the tests of one package.
type goRun struct {
	pkg    string
	suite  string             // the same for people
	open   map[string]*goCase // started and not ended
	latest *goCase            // of the last event, if it is open
	spare  *[]*textstream.Clip
	cases  []*goCase
	out    textstream.Clip // output that belongs to no test
	result string          // pass, fail or skip; "" before the end
	built  string          // import path of the build that failed
	took   float64

	spoke  bool   // there was output
	closed bool   // the test binary said PASS or FAIL, and no test event followed
	cached bool   // go test printed what an earlier run had printed
	crash  string // the last line about a panic
	exit   string // how the test binary ended, if it was printed
}

// goCase is one run of one test.
type goCase struct {
	name   string
	status metric.Status // 0 before the end
	took   float64
	out    *textstream.Clip // nil if there is nothing to keep
}

// goEnds are the actions that end a test or a package.
var goEnds = map[string]metric.Status{"pass": metric.Passed, "fail": metric.Failed, "skip": metric.Skipped}

func (r *goRun) event(e *goEvent) {
	if string(e.action) == "output" {
		r.output(e)
		return
	}
	status, ends := goEnds[string(e.action)]
	switch {
	case len(e.test) == 0 && ends:
		r.result, r.took = string(e.action), e.elapsed
		r.built = cmp.Or(string(e.failedBuild), r.built)
	case len(e.test) == 0: // start
	case string(e.action) == "run":
		r.begin(string(e.test))
	case ends:
		r.end(e, status)
	}
}

func (r *goRun) begin(name string) *goCase {
	r.closed = false
	c := &goCase{name: name}
	r.cases = append(r.cases, c)
	r.open[name] = c
	r.latest = c
	return c
}

// running returns the open test of that name, nil if there is none.
func (r *goRun) running(name []byte) *goCase {
	if r.latest == nil || r.latest.name != string(name) {
		r.latest = r.open[string(name)]
	}
	return r.latest
}

func (r *goRun) end(e *goEvent, status metric.Status) {
	c := r.running(e.test)
	if c == nil {
		c = r.begin(string(e.test))
	}
	delete(r.open, c.name)
	r.closed, r.latest = false, nil
	c.status, c.took = status, e.elapsed
	if status == metric.Passed && c.out != nil {
		c.out.Reset() // the output of a passed test is not kept
		*r.spare = append(*r.spare, c.out)
		c.out = nil
	}
}

// output keeps what a test printed, without the lines that frame it.
func (r *goRun) output(e *goEvent) {
	r.spoke = true
	line := bytes.TrimRight(e.output, "\r\n")
	switch {
	case starts(line, "panic: "), starts(line, "fatal error: "):
		r.crash = textstream.CleanText(string(line))
	case starts(line, "exit status "), starts(line, "signal: "):
		r.exit = string(line)
	}
	if c := r.running(e.test); c != nil {
		if !frame(line) {
			c.print(e.output, r.spare)
		}
		return
	}
	if len(e.test) == 0 {
		r.closed = r.closed || string(line) == "PASS" || string(line) == "FAIL"
		r.cached = r.cached || starts(line, "ok  \t") && bytes.Contains(line, []byte("\t(cached)"))
	}
	r.out.AddBytes(e.output)
}

func (c *goCase) print(text []byte, spare *[]*textstream.Clip) {
	if n := len(*spare); c.out == nil && n > 0 {
		c.out, *spare = (*spare)[n-1], (*spare)[:n-1]
	}
	if c.out == nil {
		c.out = &textstream.Clip{}
	}
	c.out.AddBytes(text)
}

func starts(line []byte, prefix string) bool {
	return len(line) >= len(prefix) && string(line[:len(prefix)]) == prefix
}

var frames = []string{"=== RUN ", "=== PAUSE ", "=== CONT ", "=== NAME ", "--- FAIL: ", "--- SKIP: ", "--- PASS: "}

func frame(line []byte) bool {
	line = bytes.TrimLeft(line, " \x16")
	return slices.ContainsFunc(frames, func(p string) bool { return starts(line, p) })
}

// tests adds the outcomes of r to out. Benchmarks are not tests, except one that
// failed. A run that holds nothing but tests that failed in the earlier runs
// is a rerun of those.
func (r *goRun) tests(out []metric.Test, earlier []*goRun) []metric.Test {
	rerun := len(earlier) > 0 && r.repeatsFailuresOf(earlier)
	for _, c := range r.cases {
		if strings.HasPrefix(c.name, "Benchmark") && c.status != metric.Failed {
			continue
		}
		t := metric.Test{
			ID:       metric.ID{Suite: r.suite, Name: textstream.CleanName(c.name)},
			Status:   c.status,
			Duration: parsed.Seconds(c.took),
			Message:  c.printed(),
			Rerun:    rerun,
			Cached:   r.cached,
		}
		if c.status == 0 {
			t.Status = metric.Failed
			t.Message = strings.TrimSpace("did not finish\n" + t.Message)
		}
		out = append(out, t)
	}
	return out
}

func (c *goCase) printed() string {
	if c.out == nil {
		return ""
	}
	return c.out.String()
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
// outcome comes from the actions: a package that failed without a failing test,
// or has no end, is broken. A package that failed before its test binary said
// so itself stopped in between, and what it left out is unknown; a report
// without output cannot show that.
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
	return slices.ContainsFunc(r.cases, func(c *goCase) bool { return c.status == metric.Failed })
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
	why := cmp.Or(r.exit, parsed.LastLine(r.out.String()))
	for _, c := range r.cases {
		if c.status == 0 {
			return parsed.Because("crashed in "+c.name, why)
		}
	}
	if r.anyFailed() && !r.closed {
		return parsed.Because("crashed", why)
	}
	return parsed.Because("failed without a failing test", why)
}
