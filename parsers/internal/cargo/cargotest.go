package cargo

import (
	"fmt"
	"io"
	"strconv"
	"strings"

	"supervise/internal/regexp"
	"supervise/internal/sniff"
	"supervise/internal/textstream"
	"supervise/parsers/internal/parsed"
)

var (
	// cargoStartPattern matches the start of the tests of a binary: "running 5 tests".
	cargoStartPattern = regexp.MustCompile(`^running (\d+) tests?$`)
	// cargoTestPattern matches the line of a test, whose outcome may be on a later line: "test
	// tests::adds ... ok".
	cargoTestPattern = regexp.MustCompile(`^test (.+?)(?: - should panic)? \.\.\. ?(.*)$`)
	// cargoOutcomePattern matches an outcome: "ok", "ignored, slow", "bench:  5 ns/iter", or
	// "ok <0.1s>".
	cargoOutcomePattern = regexp.MustCompile(`^(ok|FAILED|ignored|bench:)(?:, (.*?)|\s+\d.*?)?(?: <([0-9.]+)s>)?$`)
	// cargoResultPattern matches the totals of a binary: "test result: ok. 5 passed; 0 failed;
	// 0 ignored; 0 measured; 0 filtered out".
	cargoResultPattern = regexp.MustCompile(`^test result: (?:ok|FAILED)\. (\d+) passed; (\d+) failed; (\d+) ignored; (\d+) measured;.*(?:filtered out|finished in [0-9.]+s)$`)
	// cargoSectionPattern matches the heading of the output of a test: "---- tests::adds stdout
	// ----".
	cargoSectionPattern = regexp.MustCompile(`^---- (.+) (?:stdout|stderr) ----$`)
	// cargoStoppedPattern matches the line of cargo after a binary that failed: "error: test
	// failed, to rerun pass `--lib`".
	cargoStoppedPattern = regexp.MustCompile("^error: (?:doc)?test failed, to rerun pass ")
)

// detectCargoTest reports whether the head has the start of tests, and a test or totals.
func detectCargoTest(h sniff.Head) bool {
	return h.MatchesLine(cargoStartPattern.MatchString) && h.MatchesLine(func(l string) bool {
		return cargoTestPattern.MatchString(l) || cargoResultPattern.MatchString(l)
	})
}

// cargoTextReader reads the text of Rust's test harness. It converts the lines to the events
// that its JSON has.
type cargoTextReader struct {
	*libtestReader
	pending        string          // the test whose outcome is on a later line, "" for none
	section        string          // the test whose output is read, "" for none
	output         textstream.Clip // the output that was read
	inFailures     bool            // the tests ended, and those that failed are listed
	hasNames       bool            // a test was named
	hasUnnamed     bool            // tests ran that are not named
	mayHaveStopped bool            // cargo named a binary that failed, and nothing after it
}

// parseCargoTest reads the text of cargo test. It is an error if the text names no tests. A
// binary without its totals is broken.
func parseCargoTest(r io.Reader) (parsed.Report, error) {
	c := &cargoTextReader{libtestReader: newLibtestReader()}
	err := textstream.EachLine(r, func(l textstream.Line) {
		c.readLine(textstream.StripANSI(string(l.Text[:min(len(l.Text), parsed.MaxLine)])), l)
	})

	if c.open != nil {
		c.flushOutput()
		c.endSuite(c.open, nil)
	} else if c.nextBinary != "" {
		c.set.AddBroken(c.nextBinary, "the report ends before its tests: cargo was stopped, or its output was cut off")
	}

	if err == nil && c.hasUnnamed && !c.hasNames {
		err = fmt.Errorf("%w: cargo test -q does not name the tests; leave -q out", parsed.ErrUnknownFormat)
	}
	if err == nil && c.suites == 0 {
		err = fmt.Errorf("%w: no tests run in it", parsed.ErrUnknownFormat)
	}
	if c.mayHaveStopped {
		c.set.Problems.Add("cargo may have ended with the first binary that failed: use --no-fail-fast")
	}
	return c.set.Report("cargo test"), err
}

// readLine handles a line. Outside of the tests of a binary, it is a line of cargo.
func (c *cargoTextReader) readLine(text string, l textstream.Line) {
	if m := cargoStartPattern.FindStringSubmatch(text); m != nil {
		c.flushOutput()
		c.pending, c.inFailures = "", false
		c.handleSuiteEvent(libtestEvent{Event: "started", TestCount: parsed.ParseNumber(m[1])})
		return
	}

	if c.open == nil {
		c.readCargoLine(text, l)
		return
	}

	if m := cargoResultPattern.FindStringSubmatch(text); m != nil {
		c.handleResult(m)
		return
	}

	if m := cargoSectionPattern.FindStringSubmatch(text); m != nil {
		c.flushOutput()
		c.section = m[1]
		return
	}

	switch {
	case cargoRunningPattern.MatchString(text) || cargoStoppedPattern.MatchString(text): // the binary is gone
		c.flushOutput()
		c.endSuite(c.open, nil)
		c.open, c.pending = nil, ""
		c.readCargoLine(text, l)
	case text == "failures:":
		c.flushOutput()
		c.inFailures = true
	case c.section != "":
		c.output.Add(text + "\n")
	case !c.inFailures:
		c.readTestLine(text)
	}
}

// readCargoLine reads a line of cargo itself.
func (c *cargoTextReader) readCargoLine(text string, l textstream.Line) {
	switch {
	case cargoStoppedPattern.MatchString(text):
		c.mayHaveStopped = true
	case strings.HasPrefix(text, "error: ") && strings.Contains(text, "failed"):
		c.mayHaveStopped = false // cargo lists all binaries that failed, so it ran all of them
	}
	c.handleText([]byte(text), l)
	if cargoRunningPattern.MatchString(text) {
		c.mayHaveStopped = false
	}
}

// readTestLine reads a line in which a test starts or ends.
func (c *cargoTextReader) readTestLine(line string) {
	if m := cargoTestPattern.FindStringSubmatch(line); m != nil && (c.pending == "" || cargoOutcomePattern.MatchString(m[2])) {
		c.pending, c.hasNames = m[1], true
		c.handleEvent(libtestEvent{Event: "started", Name: m[1]})
		line = m[2]
	}
	if m := cargoOutcomePattern.FindStringSubmatch(line); m != nil && c.pending != "" {
		took, _ := strconv.ParseFloat(m[3], 64) // 0 if it is missing
		c.handleEvent(libtestEvent{Event: cargoEvents[m[1]], Name: c.pending, Reason: parsed.AnyText(m[2]), ExecTime: parsed.AnyNumber(took)})
		c.pending = ""
		return
	}
}

// cargoEvents maps the words of the text to those of the events.
var cargoEvents = map[string]string{"ok": "ok", "FAILED": "failed", "ignored": "ignored", "bench:": "ok"}

// handleEvent passes an event of a test to the open binary.
func (c *cargoTextReader) handleEvent(e libtestEvent) {
	e.Type = "test"
	c.open.handleEvent(e, false)
}

// flushOutput sets the collected output as the message of its test.
func (c *cargoTextReader) flushOutput() {
	if c.open != nil && c.section != "" {
		if i, ok := c.open.index[c.section]; ok {
			c.open.cases[i].Message = c.output.String()
		}
	}
	c.section = ""
	c.output = textstream.Clip{}
}

// handleResult handles the totals of a binary, with the parts m of cargoResultPattern. If fewer
// tests are named than it ran, the binary is broken.
func (c *cargoTextReader) handleResult(m []string) {
	c.flushOutput()
	c.open.dropTrybuildFiles()
	passed, failed, ignored := parsed.ParseNumber(m[1]), parsed.ParseNumber(m[2]), parsed.ParseNumber(m[3])
	name, named, ran := c.open.name, len(c.open.cases), c.open.statedTests
	event := "ok"
	if strings.HasPrefix(m[0], "test result: FAILED") {
		event = "failed"
	}
	c.handleSuiteEvent(libtestEvent{Event: event, Passed: &passed, Failed: &failed, Ignored: &ignored, Measured: parsed.ParseNumber(m[4])})
	if named < ran {
		c.hasUnnamed = true
		c.set.AddBroken(name, fmt.Sprintf("%d of its %d tests are named", named, ran))
	}
	c.pending = ""
}
