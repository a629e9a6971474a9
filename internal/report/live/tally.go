package live

import (
	"bytes"
	"cmp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"supervise/internal/regexp"
	"supervise/internal/textstream"
)

// Tally counts tests while a runner prints them. It only shows progress; the results of tests come
// from the report.
type Tally struct {
	Passed     int    `json:"passed"`
	Failed     int    `json:"failed"`
	Skipped    int    `json:"skipped"`
	LastFailed string `json:"failing,omitempty"` // name of the last test that failed, "" if the runner does not print names
}

// Count returns how many tests have ended.
func (t Tally) Count() int { return t.Passed + t.Failed + t.Skipped }

// The words and signs that runners print for the outcome of a test.
var (
	passedWords = []string{"ok", "OK", "pass", "PASS", "PASSED", "Passed", "XPASS", ".", "X", "✓", "unexpected success"}
	failedWords = []string{
		"fail", "FAIL", "FAILED", "Failed", "ERROR", "F", "E", "×",
		"Timeout", "Not Run", "Exception", "ABORT", "SIGABRT", "SIGSEGV", "TIMEOUT",
	}
	skippedWords = []string{
		"skip", "SKIP", "SKIPPED", "Skipped", "XFAIL", "ignored", "skipped", "s", "x", "↓", "expected failure",
	}
)

// addTest counts a test by the word that a runner prints for its outcome. Unknown words do not
// count.
func (t *Tally) addTest(word, name string) {
	switch {
	case slices.Contains(passedWords, word):
		t.Passed++
	case slices.Contains(failedWords, word):
		t.Failed++
		t.LastFailed = cmp.Or(name, t.LastFailed)
	case slices.Contains(skippedWords, word):
		t.Skipped++
	}
}

// lineShape is the form of the lines in which a runner reports that a test has ended. The
// expression has named groups, of one of three kinds:
//
//   - word and name: the outcome of one test, as in "PASS" and "TestA"
//   - dots: a sign for each test, as in "..F"
//   - all, failed, errors and skipped: the numbers of tests of a file or class
type lineShape struct {
	hint string // part of each such line, which is faster to look for than the expression
	line *regexp.Regexp
}

// lineShapes has a form for each runner, with its name behind it. They are tried in this order
// until one matches, and the stream then has only lines of this form. Samples, in the same order:
//
//	--- PASS: TestA (0.00s)
//	test_a.py::test_b PASSED [ 50%]
//	[gw0] [ 50%] PASSED test_a.py::test_b
//	test_a.py ..F.s [ 50%]
//	    PASS [   0.005s] (1/2) crate module::test
//	test module::test ... ok
//	 ✓ src/a.test.ts (3 tests | 1 failed)
//	   ✓ src/a.test.ts > suite > test 5ms
//	[INFO] Tests run: 3, Failures: 1, Errors: 0, Skipped: 0, Time elapsed: 0.1 s -- in pkg.ATest
//	 1/2 Test #1: name ...........   Passed
//	[       OK ] Suite.Test (0 ms)
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

// countLine counts the tests in a line, and reports whether the line has this form.
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

// Limits of what is read of an output.
const (
	maxLineBytes    = 1 << 10 // bytes of a line; the rest is ignored
	maxUnknownLines = 5000    // lines without a known form, after which it stops looking
)

// testCounter counts the tests in the outputs of one check.
type testCounter struct {
	mu       sync.Mutex
	tally    Tally
	pending  []byte     // the start of the line that has not ended
	shape    *lineShape // form of the lines of this stream; nil until one matches
	unknown  int        // number of lines before that
	isGoJSON bool       // the stream is that of go test -json

	cleanName               func(string) string // masks secrets and invisible characters in a name
	lastFailed, shownFailed string              // the last test that failed, and its name for people
}

// countTests reads a part of the output. It returns the tally so far, and reports whether tests
// have ended in this part. A line that standard output and standard error share is lost; that is
// acceptable, since only the report needs to be complete.
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

// countLine counts the tests in one line.
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

// countGoEvent counts an event of go test -json, and reports whether the line is one, as in
// {"Action":"pass","Test":"TestA"}. Texts in it are quoted, so that none looks like a key.
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

// jsonValue returns the string after a key such as "Action":", nil if the key is missing.
func jsonValue(line []byte, key string) []byte {
	_, behind, _ := bytes.Cut(line, []byte(key))
	text, _, ended := bytes.Cut(behind, []byte(`"`))
	if !ended {
		return nil
	}
	return text
}
