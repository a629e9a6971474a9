package live

import (
	"bytes"
	"strconv"
	"strings"
	"sync"

	"supervise/internal/regexp"
	"supervise/internal/textstream"
)

// Tally counts tests as a runner prints them. What counts in the end is the runner's
// report: a tally is only how far the run is.
type Tally struct {
	Passed     int    `json:"passed"`
	Failed     int    `json:"failed"`
	Skipped    int    `json:"skipped"`
	LastFailed string `json:"failing,omitempty"` // the last test that failed, where the runner names it
}

// Count is how many tests have ended.
func (t Tally) Count() int { return t.Passed + t.Failed + t.Skipped }

// add counts a test whose end a runner calls by the word.
func (t *Tally) add(word, name string) {
	switch endings[word] {
	case passed:
		t.Passed++
	case failed:
		t.Failed++
		if name != "" {
			t.LastFailed = name
		}
	case skipped:
		t.Skipped++
	case unknown:
	}
}

type ending uint8

const (
	unknown ending = iota
	passed
	failed
	skipped
)

// endings are the words and marks of runners.
var endings = map[string]ending{
	"ok": passed, "OK": passed, "pass": passed, "PASS": passed, "PASSED": passed, "Passed": passed, "XPASS": passed, ".": passed, "X": passed, "✓": passed,
	"fail": failed, "FAIL": failed, "FAILED": failed, "Failed": failed, "ERROR": failed, "F": failed, "E": failed, "×": failed,
	"Timeout": failed, "Not Run": failed, "Exception": failed, "ABORT": failed, "SIGABRT": failed, "SIGSEGV": failed, "TIMEOUT": failed,
	"skip": skipped, "SKIP": skipped, "SKIPPED": skipped, "Skipped": skipped, "XFAIL": skipped, "ignored": skipped, "skipped": skipped, "s": skipped, "x": skipped, "↓": skipped,
	"expected failure": skipped, "unexpected success": passed,
}

// shape is how lines look by which a runner says that a test has ended. Its expression
// has the groups word and name, or dots with a mark for each test, or numbers: all,
// failed, errors and skipped.
type shape struct {
	hint string // in each such line
	line *regexp.Regexp
}

// shapes are tried in this order until one has matched; a stream has one.
var shapes = []shape{
	{"--- ", regexp.MustCompile(`^\s*--- (?P<word>PASS|FAIL|SKIP): (?P<name>\S+) \(`)},                                                                                                // go test -v
	{".py::", regexp.MustCompile(`^(?P<name>\S+::.+?) (?P<word>PASSED|FAILED|ERROR|SKIPPED|XFAIL|XPASS)( \(.*\))?( +\[ *\d+%\])?$`)},                                                  // pytest -v
	{"[gw", regexp.MustCompile(`^\[gw\d+\] +\[ *\d+%\] (?P<word>PASSED|FAILED|ERROR|SKIPPED|XFAIL|XPASS) (?P<name>.+)$`)},                                                             // pytest -n
	{"%]", regexp.MustCompile(`^(\S+\.py )?(?P<dots>[.FEsxXR]+) +\[ *\d+%\]$`)},                                                                                                       // pytest
	{"] (", regexp.MustCompile(`^ *(TRY \d+ )?(?P<word>PASS|FAIL|SKIP|ABORT|SIGABRT|SIGSEGV|TIMEOUT) \[ *[\d.]+s\] \( *\d+/\d+\) (?P<name>.+)$`)},                                     // cargo nextest
	{" ... ", regexp.MustCompile(`^(test )?(?P<name>\S.*?) \.\.\. (?P<word>ok|FAILED|FAIL|ERROR|ignored|skipped|expected failure|unexpected success)\b`)},                             // cargo test, unittest, deno
	{" test", regexp.MustCompile(`^ *[✓❯×↓] (?P<name>\S+) \((?P<all>\d+) tests?( \| (?P<failed>\d+) failed)?( \| (?P<skipped>\d+) skipped)?\)`)},                                      // vitest
	{" > ", regexp.MustCompile(`^ *(?P<word>[✓×↓]) (?P<name>\S.*?)( \d+ms)?( \[.*\])?$`)},                                                                                             // vitest --reporter=verbose
	{"Tests run: ", regexp.MustCompile(`^\[\w+\] Tests run: (?P<all>\d+), Failures: (?P<failed>\d+), Errors: (?P<errors>\d+), Skipped: (?P<skipped>\d+), Time elapsed: .* (in|--) `)}, // Maven
	{"Test ", regexp.MustCompile(`^ *\d+/\d+ Test +#\d+: (?P<name>\S+) \.+(\*\*\*| +)(?P<word>Passed|Failed|Skipped|Timeout|Not Run|Exception)`)},                                     // ctest
	{"[ ", regexp.MustCompile(`^\[ +(?P<word>OK|FAILED|SKIPPED) +\] (?P<name>\S+) \(\d+ ms\)$`)},                                                                                      // googletest
}

// count adds what a line says, and reports whether it has the shape.
func (s shape) count(t *Tally, line string) bool {
	if !strings.Contains(line, s.hint) {
		return false
	}
	m := s.line.FindStringSubmatch(line)
	if m == nil {
		return false
	}
	group := func(name string) string {
		if i := s.line.SubexpIndex(name); i >= 0 {
			return m[i]
		}
		return ""
	}
	number := func(name string) int {
		n, _ := strconv.Atoi(group(name)) // digits or nothing
		return n
	}
	switch {
	case group("dots") != "":
		for _, mark := range group("dots") {
			t.add(string(mark), "")
		}
	case group("all") != "":
		bad, skips := number("failed")+number("errors"), number("skipped")
		t.Passed, t.Failed, t.Skipped = t.Passed+max(0, number("all")-bad-skips), t.Failed+bad, t.Skipped+skips
	default:
		t.add(group("word"), group("name"))
	}
	return true
}

// Bounds of what is looked at.
const (
	maxLine    = 1 << 10 // bytes of a line
	maxUnknown = 5000    // lines of an output in which no test has ended yet
)

// counter counts the tests in the outputs of one check.
type counter struct {
	mu      sync.Mutex
	tally   Tally
	rest    []byte // the line that has not ended, as far as it is looked at
	shape   *shape // of this stream; nil: none yet
	unknown int    // lines before that
	json    bool   // it is that of go test -json

	clean          func(string) string // makes a name fit for people
	failing, shown string              // the last test that failed, and its name for people
}

// write reads a part of the output, and reports whether tests have ended in it. A line
// that both outputs share by accident is lost, which the report is not.
func (c *counter) write(p []byte) (Tally, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	before := c.tally.Count()
	for len(p) > 0 {
		line, rest, ended := bytes.Cut(p, []byte("\n"))
		c.rest = append(c.rest, line[:min(len(line), max(0, maxLine-len(c.rest)))]...)
		if !ended {
			break
		}
		c.line(c.rest)
		c.rest, p = c.rest[:0], rest
	}
	if c.tally.LastFailed != c.failing {
		c.failing, c.shown = c.tally.LastFailed, c.clean(c.tally.LastFailed)
	}
	tally := c.tally
	tally.LastFailed = c.shown
	return tally, tally.Count() != before
}

func (c *counter) line(line []byte) {
	if c.shape == nil && c.unknown <= maxUnknown && c.goEvent(line) {
		c.json = true
		return
	}
	if c.json || c.unknown > maxUnknown {
		return
	}
	text := strings.TrimRight(textstream.StripANSI(string(line)), " \r")
	if c.shape != nil {
		c.shape.count(&c.tally, text)
		return
	}
	for i := range shapes {
		if shapes[i].count(&c.tally, text) {
			c.shape = &shapes[i]
			return
		}
	}
	c.unknown++
}

// goEvent counts an event of go test -json, and reports whether the line is one. The
// texts in it are quoted, so that none looks like a key.
func (c *counter) goEvent(line []byte) bool {
	if len(line) == 0 || line[0] != '{' {
		return false
	}
	action := value(line, `"Action":"`)
	switch string(action) {
	case "":
		return false
	case "pass", "fail", "skip":
		if test := value(line, `"Test":"`); len(test) > 0 {
			c.tally.add(string(action), string(test))
		}
	}
	return true
}

// value is the text behind a key, empty where there is none.
func value(line []byte, key string) []byte {
	_, behind, _ := bytes.Cut(line, []byte(key))
	text, _, ended := bytes.Cut(behind, []byte(`"`))
	if !ended {
		return nil
	}
	return text
}
