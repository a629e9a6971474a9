package live

import (
	"bytes"
	"strconv"
	"strings"
	"sync"

	"supervise/internal/regexp"
	"supervise/internal/textstream"
)

// Tally counts tests as a runner prints them. It only shows progress; the results come from
// the report.
type Tally struct {
	Passed     int    `json:"passed"`
	Failed     int    `json:"failed"`
	Skipped    int    `json:"skipped"`
	LastFailed string `json:"failing,omitempty"` // the last test that failed, where the runner names it
}

// Count returns how many tests have ended.
func (t Tally) Count() int { return t.Passed + t.Failed + t.Skipped }

// addTest counts a test by the word that a runner prints for its outcome.
func (t *Tally) addTest(word, name string) {
	switch outcomeByWord[word] {
	case passedOutcome:
		t.Passed++
	case failedOutcome:
		t.Failed++
		if name != "" {
			t.LastFailed = name
		}
	case skippedOutcome:
		t.Skipped++
	case unknownOutcome:
	}
}

type testOutcome uint8

const (
	unknownOutcome testOutcome = iota
	passedOutcome
	failedOutcome
	skippedOutcome
)

// outcomeByWord are the words and signs that runners print.
var outcomeByWord = map[string]testOutcome{
	"ok": passedOutcome, "OK": passedOutcome, "pass": passedOutcome, "PASS": passedOutcome, "PASSED": passedOutcome, "Passed": passedOutcome, "XPASS": passedOutcome, ".": passedOutcome, "X": passedOutcome, "✓": passedOutcome,
	"fail": failedOutcome, "FAIL": failedOutcome, "FAILED": failedOutcome, "Failed": failedOutcome, "ERROR": failedOutcome, "F": failedOutcome, "E": failedOutcome, "×": failedOutcome,
	"Timeout": failedOutcome, "Not Run": failedOutcome, "Exception": failedOutcome, "ABORT": failedOutcome, "SIGABRT": failedOutcome, "SIGSEGV": failedOutcome, "TIMEOUT": failedOutcome,
	"skip": skippedOutcome, "SKIP": skippedOutcome, "SKIPPED": skippedOutcome, "Skipped": skippedOutcome, "XFAIL": skippedOutcome, "ignored": skippedOutcome, "skipped": skippedOutcome, "s": skippedOutcome, "x": skippedOutcome, "↓": skippedOutcome,
	"expected failure": skippedOutcome, "unexpected success": passedOutcome,
}

// lineShape is the form of the lines in which a runner reports that a test has ended. The
// pattern has the groups word and name; or dots, with a sign for each test; or numbers: all,
// failed, errors and skipped.
type lineShape struct {
	hint string // in each such line
	line *regexp.Regexp
}

// lineShapes are tried in this order until one matches. A stream has only one.
var lineShapes = []lineShape{
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

// countLine counts the tests in a line, and reports whether the line has the shape.
func (s lineShape) countLine(t *Tally, line string) bool {
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
			t.addTest(string(mark), "")
		}
	case group("all") != "":
		bad, skips := number("failed")+number("errors"), number("skipped")
		t.Passed, t.Failed, t.Skipped = t.Passed+max(0, number("all")-bad-skips), t.Failed+bad, t.Skipped+skips
	default:
		t.addTest(group("word"), group("name"))
	}
	return true
}

// Bounds of what is looked at.
const (
	maxLineBytes    = 1 << 10 // bytes of a line
	maxUnknownLines = 5000    // lines of an output in which no test has ended yet
)

// testCounter counts the tests in the outputs of one check.
type testCounter struct {
	mu       sync.Mutex
	tally    Tally
	pending  []byte     // the line that has not ended, as far as it is looked at
	shape    *lineShape // of this stream; nil: none yet
	unknown  int        // lines before that
	isGoJSON bool       // it is that of go test -json

	cleanName               func(string) string // makes a name fit for people
	lastFailed, shownFailed string              // the last test that failed, and its name for people
}

// countTests reads a part of the output, and reports whether tests have ended in it. A line
// that both outputs share is lost; only the report needs to be complete.
func (c *testCounter) countTests(p []byte) (Tally, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	before := c.tally.Count()
	for len(p) > 0 {
		line, rest, ended := bytes.Cut(p, []byte("\n"))
		c.pending = append(c.pending, line[:min(len(line), max(0, maxLineBytes-len(c.pending)))]...)
		if !ended {
			break
		}
		c.countLine(c.pending)
		c.pending, p = c.pending[:0], rest
	}
	if c.tally.LastFailed != c.lastFailed {
		c.lastFailed, c.shownFailed = c.tally.LastFailed, c.cleanName(c.tally.LastFailed)
	}
	tally := c.tally
	tally.LastFailed = c.shownFailed
	return tally, tally.Count() != before
}

func (c *testCounter) countLine(line []byte) {
	if c.shape == nil && c.unknown <= maxUnknownLines && c.countGoEvent(line) {
		c.isGoJSON = true
		return
	}
	if c.isGoJSON || c.unknown > maxUnknownLines {
		return
	}
	text := strings.TrimRight(textstream.StripANSI(string(line)), " \r")
	if c.shape != nil {
		c.shape.countLine(&c.tally, text)
		return
	}
	for i := range lineShapes {
		if lineShapes[i].countLine(&c.tally, text) {
			c.shape = &lineShapes[i]
			return
		}
	}
	c.unknown++
}

// countGoEvent counts an event of go test -json, and reports whether the line is one. Texts in
// it are quoted, so that none looks like a key.
func (c *testCounter) countGoEvent(line []byte) bool {
	if len(line) == 0 || line[0] != '{' {
		return false
	}
	action := jsonValue(line, `"Action":"`)
	switch string(action) {
	case "":
		return false
	case "pass", "fail", "skip":
		if test := jsonValue(line, `"Test":"`); len(test) > 0 {
			c.tally.addTest(string(action), string(test))
		}
	}
	return true
}

// jsonValue returns the text after a key, nil if the key is missing.
func jsonValue(line []byte, key string) []byte {
	_, behind, _ := bytes.Cut(line, []byte(key))
	text, _, ended := bytes.Cut(behind, []byte(`"`))
	if !ended {
		return nil
	}
	return text
}
