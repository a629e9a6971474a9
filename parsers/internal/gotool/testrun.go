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

// goRun is one run of the tests of one package. It collects the tests and, from the output, how
// the test binary ended.
type goRun struct {
	pkg         string
	suite       string              // pkg as a clean name
	open        map[string]*goCase  // tests that started and did not end, by name
	latest      *goCase             // the test of the last event, if it is open
	spare       *[]*textstream.Clip // memory for output, shared by all runs
	cases       []*goCase           // in the order in which they started
	out         textstream.Clip     // output that belongs to no test
	result      string              // pass, fail or skip; "" before the end
	failedBuild string              // import path of the build that failed
	took        float64             // seconds, 0 before the end

	hasOutput  bool   // there was output
	saidResult bool   // the test binary said PASS or FAIL, and no test event followed
	isCached   bool   // go test printed what an earlier run had printed
	crash      string // the last line about a panic, "" for none
	exit       string // how the test binary ended, "" if it was not printed
}

// goCase is one run of one test.
type goCase struct {
	name   string
	status metric.Status    // 0 before the end
	took   float64          // seconds
	out    *textstream.Clip // nil if there is nothing to keep
}

// endStatuses maps the actions that end a test or a package.
var endStatuses = map[string]metric.Status{"pass": metric.Passed, "fail": metric.Failed, "skip": metric.Skipped}

// handleEvent handles an event of a test, or of the package if it names no test.
func (r *goRun) handleEvent(e *goEvent) {
	if string(e.action) == "output" {
		r.addOutput(e)
		return
	}
	status, ends := endStatuses[string(e.action)]
	switch {
	case len(e.test) == 0 && ends:
		r.result, r.took = string(e.action), e.elapsed
		r.failedBuild = cmp.Or(string(e.failedBuild), r.failedBuild)
	case len(e.test) == 0: // start
	case string(e.action) == "run":
		r.startTest(string(e.test))
	case ends:
		r.endTest(e, status)
	}
}

// startTest adds an open test.
func (r *goRun) startTest(name string) *goCase {
	r.saidResult = false
	c := &goCase{name: name}
	r.cases = append(r.cases, c)
	r.open[name] = c
	r.latest = c
	return c
}

// openTest returns the open test with the name, nil if there is none.
func (r *goRun) openTest(name []byte) *goCase {
	if r.latest == nil || r.latest.name != string(name) {
		r.latest = r.open[string(name)]
	}
	return r.latest
}

// endTest sets the outcome of the test of an event. A test that did not start is added.
func (r *goRun) endTest(e *goEvent, status metric.Status) {
	c := r.openTest(e.test)
	if c == nil {
		c = r.startTest(string(e.test))
	}
	delete(r.open, c.name)
	r.saidResult, r.latest = false, nil
	c.status, c.took = status, e.elapsed
	if status == metric.Passed && c.out != nil {
		c.out.Reset() // the output of a passed test is not kept
		*r.spare = append(*r.spare, c.out)
		c.out = nil
	}
}

// addOutput adds output to its test, without the lines that frame a test, or to the run.
func (r *goRun) addOutput(e *goEvent) {
	r.hasOutput = true
	line := bytes.TrimRight(e.output, "\r\n")
	switch {
	case bytes.HasPrefix(line, []byte("panic: ")), bytes.HasPrefix(line, []byte("fatal error: ")):
		r.crash = textstream.CleanText(string(line))
	case bytes.HasPrefix(line, []byte("exit status ")), bytes.HasPrefix(line, []byte("signal: ")):
		r.exit = string(line)
	}
	if c := r.openTest(e.test); c != nil {
		if !isFrame(line) {
			c.addOutput(e.output, r.spare)
		}
		return
	}
	if len(e.test) == 0 {
		r.saidResult = r.saidResult || string(line) == "PASS" || string(line) == "FAIL"
		r.isCached = r.isCached || bytes.HasPrefix(line, []byte("ok  \t")) && bytes.Contains(line, []byte("\t(cached)"))
	}
	r.out.AddBytes(e.output)
}

// addOutput adds output to the test. It takes the memory from spare if there is any.
func (c *goCase) addOutput(text []byte, spare *[]*textstream.Clip) {
	if n := len(*spare); c.out == nil && n > 0 {
		c.out, *spare = (*spare)[n-1], (*spare)[:n-1]
	}
	if c.out == nil {
		c.out = &textstream.Clip{}
	}
	c.out.AddBytes(text)
}

// framePrefixes are the starts of lines that frame a test.
var framePrefixes = []string{"=== RUN ", "=== PAUSE ", "=== CONT ", "=== NAME ", "--- FAIL: ", "--- SKIP: ", "--- PASS: "}

// isFrame reports whether a line frames a test. Go marks such lines by the byte 0x16.
func isFrame(line []byte) bool {
	line = bytes.TrimLeft(line, " \x16")
	return slices.ContainsFunc(framePrefixes, func(p string) bool { return bytes.HasPrefix(line, []byte(p)) })
}

// appendTests appends the tests of r to out. Benchmarks are not tests, unless they failed. A
// run in which all tests failed in earlier runs is a rerun of these.
func (r *goRun) appendTests(out []metric.Test, earlier []*goRun) []metric.Test {
	rerun := len(earlier) > 0 && r.repeatsFailuresOf(earlier)
	for _, c := range r.cases {
		if strings.HasPrefix(c.name, "Benchmark") && c.status != metric.Failed {
			continue
		}
		t := metric.Test{
			ID:       metric.ID{Suite: r.suite, Name: textstream.CleanName(c.name)},
			Status:   c.status,
			Duration: parsed.Seconds(c.took),
			Message:  c.message(),
			Rerun:    rerun,
			Cached:   r.isCached,
		}
		if c.status == 0 {
			t.Status = metric.Failed
			t.Message = strings.TrimSpace("did not finish\n" + t.Message)
		}
		out = append(out, t)
	}
	return out
}

// message returns the output of the test, "" if none was kept.
func (c *goCase) message() string {
	if c.out == nil {
		return ""
	}
	return c.out.String()
}

// repeatsFailuresOf reports whether all tests of r, or the tests around its subtests, failed in
// earlier runs.
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

// seconds returns the time of the run, or the time of its tests if the run has no end.
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

// brokenReason returns why the package did not run to its end, "" if it did. A package that
// failed without a failed test, or has no end, is broken. So is one that failed although its
// test binary printed neither PASS nor FAIL: it crashed, and its missing tests are unknown.
// A report without output cannot show that.
func (r *goRun) brokenReason(builds map[string]*goBuild) string {
	if r.result == "" {
		return "did not finish: go test was stopped, or its output was cut off"
	}
	if r.result != "fail" {
		return ""
	}
	if r.failedBuild != "" {
		b := builds[r.failedBuild]
		if b != nil {
			b.isReported = true
		}
		return b.reason()
	}

	for line := range strings.Lines(r.out.String()) {
		if _, ok := parseBuildFailed(line); ok {
			return "build failed"
		}
	}

	if r.hasFailedTest() && (r.saidResult || !r.hasOutput) {
		return ""
	}
	return r.crashReason()
}

// hasFailedTest reports whether a test has ended as failed.
func (r *goRun) hasFailedTest() bool {
	return slices.ContainsFunc(r.cases, func(c *goCase) bool { return c.status == metric.Failed })
}

// crashReason describes why the test binary ended early.
func (r *goRun) crashReason() string {
	if after, ok := strings.CutPrefix(r.crash, "panic: test timed out after "); ok {
		return "timed out after " + after
	}
	if r.crash != "" {
		why, _, _ := strings.Cut(r.crash, " [recovered")
		return why
	}

	why := cmp.Or(r.exit, parsed.LastOutputLine(r.out.String()))
	for _, c := range r.cases {
		if c.status == 0 {
			return parsed.JoinReason("crashed in "+c.name, why)
		}
	}
	if r.hasFailedTest() && !r.saidResult {
		return parsed.JoinReason("crashed", why)
	}
	return parsed.JoinReason("failed without a failing test", why)
}
