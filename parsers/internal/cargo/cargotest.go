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
	cargoBegins  = regexp.MustCompile(`^running (\d+) tests?$`)
	cargoTest    = regexp.MustCompile(`^test (.+?)(?: - should panic)? \.\.\. ?(.*)$`)
	cargoOutcome = regexp.MustCompile(`^(ok|FAILED|ignored|bench:)(?:, (.*?)|\s+\d.*?)?(?: <([0-9.]+)s>)?$`)
	cargoResult  = regexp.MustCompile(`^test result: (?:ok|FAILED)\. (\d+) passed; (\d+) failed; (\d+) ignored; (\d+) measured;.*(?:filtered out|finished in [0-9.]+s)$`)
	cargoSection = regexp.MustCompile(`^---- (.+) (?:stdout|stderr) ----$`)
	cargoStopped = regexp.MustCompile("^error: (?:doc)?test failed, to rerun pass ")
)

func detectCargoTest(h sniff.Head) bool {
	return h.MatchesLine(cargoBegins.MatchString) && h.MatchesLine(func(l string) bool {
		return cargoTest.MatchString(l) || cargoResult.MatchString(l)
	})
}

// cargoText reads what Rust's test harness prints for people: the same as in
// its JSON, one binary after another.
type cargoText struct {
	*libtest
	pending  string // the test whose outcome comes on its own line
	section  string // the test whose output is shown
	output   textstream.Clip
	failures bool // the tests ended, and those that failed are listed
	named    bool // a test was named
	quiet    bool // tests ran that are not named
	stopped  bool // cargo named a binary that failed, and nothing after it
}

func parseCargoTest(r io.Reader) (parsed.Report, error) {
	c := &cargoText{libtest: newLibtest()}
	err := textstream.EachLine(r, func(l textstream.Line) {
		c.line(textstream.StripANSI(string(l.Text[:min(len(l.Text), parsed.MaxLine)])), l)
	})
	if c.open != nil {
		c.shown()
		c.end(c.open, nil)
	} else if c.binary != "" {
		c.set.Breaks(c.binary, "the report ends before its tests: cargo was stopped, or its output was cut off")
	}
	if err == nil && c.quiet && !c.named {
		err = fmt.Errorf("%w: cargo test -q does not name the tests; leave -q out", parsed.ErrUnknownFormat)
	}
	if err == nil && c.suites == 0 {
		err = fmt.Errorf("%w: no tests run in it", parsed.ErrUnknownFormat)
	}
	if c.stopped {
		c.set.Problems.Add("cargo may have ended with the first binary that failed: use --no-fail-fast")
	}
	return c.set.Report("cargo test"), err
}

func (c *cargoText) line(text string, l textstream.Line) {
	if m := cargoBegins.FindStringSubmatch(text); m != nil {
		c.shown()
		c.pending, c.failures = "", false
		c.suiteEvent(libtestEvent{Event: "started", TestCount: parsed.CountOf(m[1])})
		return
	}
	if c.open == nil {
		c.between(text, l)
		return
	}
	if m := cargoResult.FindStringSubmatch(text); m != nil {
		c.result(m)
		return
	}
	if m := cargoSection.FindStringSubmatch(text); m != nil {
		c.shown()
		c.section = m[1]
		return
	}
	switch {
	case cargoRuns.MatchString(text) || cargoStopped.MatchString(text): // the binary is gone
		c.shown()
		c.end(c.open, nil)
		c.open, c.pending = nil, ""
		c.between(text, l)
	case text == "failures:":
		c.shown()
		c.failures = true
	case c.section != "":
		c.output.Add(text + "\n")
	case !c.failures:
		c.test(text)
	}
}

// between takes a line of cargo itself.
func (c *cargoText) between(text string, l textstream.Line) {
	switch {
	case cargoStopped.MatchString(text):
		c.stopped = true
	case strings.HasPrefix(text, "error: ") && strings.Contains(text, "failed"):
		c.stopped = false // the list of all that failed
	}
	c.text([]byte(text), l)
	if cargoRuns.MatchString(text) {
		c.stopped = false
	}
}

// test takes a line in which a test begins or ends.
func (c *cargoText) test(line string) {
	if m := cargoTest.FindStringSubmatch(line); m != nil && (c.pending == "" || cargoOutcome.MatchString(m[2])) {
		c.pending, c.named = m[1], true
		c.event(libtestEvent{Event: "started", Name: m[1]})
		line = m[2]
	}
	if m := cargoOutcome.FindStringSubmatch(line); m != nil && c.pending != "" {
		took, _ := strconv.ParseFloat(m[3], 64) // 0 if it is missing
		c.event(libtestEvent{Event: cargoEvents[m[1]], Name: c.pending, Reason: parsed.AnyText(m[2]), ExecTime: parsed.AnyNumber(took)})
		c.pending = ""
		return
	}
}

var cargoEvents = map[string]string{"ok": "ok", "FAILED": "failed", "ignored": "ignored", "bench:": "ok"}

func (c *cargoText) event(e libtestEvent) {
	e.Type = "test"
	c.open.event(e, false)
}

// shown gives the output that was shown to the test it belongs to.
func (c *cargoText) shown() {
	if c.open != nil && c.section != "" {
		if i, ok := c.open.index[c.section]; ok {
			c.open.cases[i].Message = c.output.String()
		}
	}
	c.section = ""
	c.output = textstream.Clip{}
}

// result takes the sums that end a binary. Fewer tests than it says that it
// ran are tests that are not named.
func (c *cargoText) result(m []string) {
	c.shown()
	c.open.dropTryBuilt()
	passed, failed, ignored := parsed.CountOf(m[1]), parsed.CountOf(m[2]), parsed.CountOf(m[3])
	name, named, ran := c.open.name, len(c.open.cases), c.open.stated
	event := "ok"
	if strings.HasPrefix(m[0], "test result: FAILED") {
		event = "failed"
	}
	c.suiteEvent(libtestEvent{Event: event, Passed: &passed, Failed: &failed, Ignored: &ignored, Measured: parsed.CountOf(m[4])})
	if named < ran {
		c.quiet = true
		c.set.Breaks(name, fmt.Sprintf("%d of its %d tests are named", named, ran))
	}
	c.pending = ""
}
