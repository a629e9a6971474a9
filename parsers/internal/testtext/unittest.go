package testtext

import (
	"fmt"
	"io"
	"strconv"
	"strings"

	"supervise/internal/regexp"
	"supervise/internal/sniff"
	"supervise/internal/textstream"
	"supervise/metric"
	"supervise/parsers/internal/parsed"
)

var (
	// unittestLinePattern splits the line of a test, "test_a (mod.Class.test_a) ... ok", before
	// the dots. The line of a subtest is indented by two spaces.
	unittestLinePattern = regexp.MustCompile(`^(  )?(.*?)(?: \.\.\. ?(.*))?$`)
	// unittestPathPattern matches the dotted path at the start of a text: "mod.Class.test_a".
	unittestPathPattern = regexp.MustCompile(`^[\pL_][\pL\pN_]*(?:\.[\pL_][\pL\pN_]*)*`)
	// unittestDocPattern matches the second line of a test with documentation: "Adds two
	// numbers. ... ok".
	unittestDocPattern = regexp.MustCompile(`^(?:.*) \.\.\. ?(.*)$`)
	// unittestOutcomePattern matches an outcome: "ok", or "skipped 'no network'".
	unittestOutcomePattern = regexp.MustCompile(`^(ok|FAIL|ERROR|expected failure|unexpected success|skipped)(?: '(.*)'| "(.*)")?$`)
	// unittestRanPattern matches the number of tests: "Ran 5 tests in 0.001s".
	unittestRanPattern = regexp.MustCompile(`^Ran (\d+) tests? in [0-9.]+s$`)
	// unittestFailedPattern matches the line after it if tests failed: "FAILED (failures=1,
	// errors=2)".
	unittestFailedPattern = regexp.MustCompile(`^FAILED \(.*(?:failures|errors|unexpected successes)=\d+.*\)$`)
	// unittestCountPattern matches one number in that line: "failures=1".
	unittestCountPattern = regexp.MustCompile(`(?:failures|errors|unexpected successes)=(\d+)`)
	// unittestDetailPattern matches the heading of details: "FAIL: test_a (mod.Class.test_a)".
	unittestDetailPattern = regexp.MustCompile(`^(?:ERROR|FAIL): (.*)$`)
)

// detectUnittest reports whether the head has the number of tests, or a test with its outcome.
func detectUnittest(h sniff.Head) bool {
	return h.MatchesLine(unittestRanPattern.MatchString) || h.MatchesLine(func(l string) bool {
		m, ok := parseUnittestLine(l)
		isTest := ok && !m.subtest && m.extra == "" && strings.Contains(m.place, ".")
		return isTest && unittestOutcomePattern.MatchString(m.outcome)
	})
}

// unittestHead is the first line of a test: "name (module.Class)", since Python 3.11 "name
// (module.Class.name)". Place is the path in the brackets, extra the text after them, which has
// the parameters of a subtest, and outcome the text after the dots.
type unittestHead struct {
	subtest                     bool
	name, place, extra, outcome string
}

// maxBrackets is how many brackets of a line are tried as the one after the name.
const maxBrackets = 20

// parseUnittestLine parses the first line of a test, and reports whether it is one. The name
// may be any text, since tests can be added with setattr. It ends where the brackets contain
// the name again.
func parseUnittestLine(text string) (h unittestHead, ok bool) {
	if !strings.Contains(text, " (") {
		return h, false
	}
	m := unittestLinePattern.FindStringSubmatch(text)
	if m == nil || !strings.Contains(m[2], " (") {
		return h, false
	}

	h.subtest, h.outcome = m[1] != "", m[3]
	first := strings.Index(m[2], " (")
	for i, tries := first, 0; i > 0 && tries < maxBrackets; tries++ {
		name, rest := m[2][:i], m[2][i+2:]
		if place := placeEndingWith(unittestPathPattern.FindString(rest), name, rest); place != "" {
			h.name, h.place, h.extra = name, place, rest[len(place)+1:]
			return h, true
		}
		next := strings.Index(rest, " (")
		if next < 0 {
			break
		}
		i += 2 + next
	}

	h.name = m[2][:max(first, 0)]
	h.place = unittestPathPattern.FindString(m[2][first+2:])
	h.extra, ok = strings.CutPrefix(m[2][first+2+len(h.place):], ")")
	return h, ok && h.place != "" && !strings.ContainsAny(strings.TrimSpace(h.name), " \t")
}

// placeEndingWith returns the place at the start of text that ends with the name of the
// test and a bracket, "" if there is none. Path is the dotted path at the start of text.
func placeEndingWith(path, name, text string) string {
	for end := range len(path) + 1 {
		isPartEnd := end == len(path) || path[end] == '.'
		if isPartEnd && strings.HasPrefix(text[end:], "."+name+")") {
			return text[:end+1+len(name)]
		}
	}
	return ""
}

// key returns the name of the test in the details of its failure.
func (h unittestHead) key() string { return h.name + " (" + h.place + ")" }

// unittestStatuses maps the outcomes of unittest.
var unittestStatuses = map[string]metric.Status{
	"ok": metric.Passed, "FAIL": metric.Failed, "ERROR": metric.Errored,
	"expected failure": metric.Skipped, "unexpected success": metric.Failed, "skipped": metric.Skipped,
}

// unittestReader reads the output of python -m unittest -v.
type unittestReader struct {
	set            parsed.Outcomes
	cases          []metric.Test
	index          map[string]int          // of the tests in cases, by unittestHead.key
	openTest       int                     // index of the test that began and has no outcome, -1 for none
	awaitsOutcome  bool                    // the outcome of the open test may follow a line of documentation
	broken         map[string]metric.Suite // broken suites, by the key of their test
	brokenKeys     []string                // the keys of broken, in order
	detail         string                  // key of the test whose details are read, "" for none
	rulers         int                     // lines of dashes since the details began
	output         textstream.Clip         // the details that were read
	statedTests    int                     // -1 before the line with the count
	failedLine     string                  // the last line that says how many tests failed, "" for none
	statedFailures int                     // the sum of what such lines say

	unreadable []string // lines that end with an outcome and name no test
}

// parseUnittest reads the output of python -m unittest -v. It is an error if it names far fewer
// tests than ran.
func parseUnittest(r io.Reader) (parsed.Report, error) {
	u := &unittestReader{index: map[string]int{}, openTest: -1, statedTests: -1, broken: map[string]metric.Suite{}}
	err := eachLine(r, " ", u.readLine)
	u.flushOutput()
	u.addUnreadable()

	known := len(u.cases) + u.countLoaders()
	u.set.NumberRepeats = known-u.countFixtures() <= u.statedTests
	for _, c := range u.cases {
		if c.Status == 0 {
			c.Status, c.Message = metric.Errored, "it began and did not end"
		}
		u.set.Add(c)
	}

	for _, key := range u.brokenKeys {
		u.set.AddBroken(u.broken[key].Name, u.broken[key].Why)
	}

	switch failed := u.set.Totals.Unsuccessful() + len(u.brokenKeys); {
	case u.failedLine != "" && u.set.Totals.Unsuccessful() == 0 && known >= u.statedTests:
		u.set.AddContradiction("unittest says %s although no test failed", u.failedLine)
	case u.statedFailures > failed:
		u.set.Problems.Add("unittest counts %d failures, each of a subtest or of cleaning up by itself; here a test counts once, so %d failed", u.statedFailures, failed)
	}

	report := u.set.Report("unittest")
	switch {
	case err != nil:
	case u.statedTests < 0:
		err = &parsed.SyntaxError{Problem: "the report ends before the number of tests that ran: unittest was stopped, or its output was cut off"}
	default:
		err = namesError(known, u.statedTests, "unittest names its tests with -v only", "run unittest with -v")
	}
	return report, err
}

// maxUnreadableShare is the share of tests whose names may be unreadable. If more names are
// missing, unittest ran without -v.
const maxUnreadableShare = .1

// addUnreadable adds the tests that ran and whose names cannot be parsed, with the text of
// their line as name.
func (u *unittestReader) addUnreadable() {
	missing := u.statedTests - len(u.cases) - u.countLoaders()
	limit := max(len(u.unreadable), int(maxUnreadableShare*float64(u.statedTests)))
	if missing <= 0 || missing > limit || len(u.cases) == 0 {
		return
	}
	status := metric.Passed
	if u.failedLine != "" { // the failed test may be among these
		status = metric.Errored
	}
	for i := range missing {
		c := metric.Test{ID: metric.ID{Name: fmt.Sprintf("(unreadable name %d)", i+1)}, Status: status}
		if i < len(u.unreadable) {
			m := unittestLinePattern.FindStringSubmatch(u.unreadable[i])
			c.Name, c.Status = strings.TrimSpace(m[2]), unittestStatuses[unittestOutcomePattern.FindStringSubmatch(m[3])[1]]
		}
		u.cases = append(u.cases, c)
	}
	u.set.Problems.Add("%d tests have names that cannot be read; they count, the first: %s", missing, u.cases[len(u.cases)-missing].Name)
}

// countLoaders returns how many modules could not be loaded. unittest counts them as tests.
func (u *unittestReader) countLoaders() int {
	n := 0
	for key := range u.broken {
		if strings.Contains(key, "_FailedTest") {
			n++
		}
	}
	return n
}

// countFixtures returns how many classes and modules were skipped. unittest does not count
// them.
func (u *unittestReader) countFixtures() int {
	n := 0
	for _, c := range u.cases {
		if unittestFixtures[c.Name] {
			n++
		}
	}
	return n
}

// readLine handles a line: the totals, a heading, a detail of a failure, or a test.
func (u *unittestReader) readLine(text string) {
	switch m := unittestRanPattern.FindStringSubmatch(text); {
	case m != nil:
		u.flushOutput()
		n, _ := strconv.Atoi(m[1]) // digits
		u.statedTests = max(u.statedTests, 0) + n
	case u.statedTests >= 0 && unittestFailedPattern.MatchString(text):
		u.flushOutput()
		u.failedLine = text
		for _, m := range unittestCountPattern.FindAllStringSubmatch(text, -1) {
			u.statedFailures += parsed.ParseNumber(m[1]).Int()
		}
	case strings.HasPrefix(text, "======"):
		u.flushOutput()
		u.openTest, u.awaitsOutcome = -1, false
	case u.detail == "" && unittestDetailPattern.MatchString(text) && u.startDetails(text):
	case u.detail != "":
		if strings.HasPrefix(text, "------") && u.rulers == 0 {
			u.rulers++
			return
		}
		u.output.Add(text + "\n")
	default:
		u.readTestLine(text)
	}
}

// startDetails handles the heading of the details of a failure, and reports whether it names
// a test.
func (u *unittestReader) startDetails(text string) bool {
	h, ok := parseUnittestLine(unittestDetailPattern.FindStringSubmatch(text)[1])
	if ok {
		u.flushOutput()
		u.detail = h.key()
	}
	return ok
}

// readTestLine handles a line in which a test starts or ends.
func (u *unittestReader) readTestLine(text string) {
	h, ok := parseUnittestLine(text)
	isStart := ok && h.extra == "" && (h.outcome != "" || strings.HasSuffix(text, "...") || strings.Contains(h.place, "."))
	switch {
	case ok && h.subtest: // a test with a failed subtest has no other outcome
		u.setOutcome(h.outcome, true)
	case isStart:
		u.startTest(h)
		u.awaitsOutcome = !strings.Contains(text, " ...")
		u.setOutcome(h.outcome, false)
	case u.awaitsOutcome && unittestDocPattern.MatchString(text):
		u.awaitsOutcome = false
		u.setOutcome(unittestDocPattern.FindStringSubmatch(text)[1], false)
	default:
		if m := unittestDocPattern.FindStringSubmatch(text); m != nil && u.openTest < 0 && unittestOutcomePattern.MatchString(m[1]) {
			u.unreadable = parsed.AppendLimited(u.unreadable, text)
		}
		u.setOutcome(text, false)
	}
}

// startTest handles the name and place of a test. A skipped class or module is written as
// its set-up, which then represents its tests.
func (u *unittestReader) startTest(h unittestHead) {
	name, place, key := h.name, h.place, h.key()
	u.openTest = -1

	suite, class := splitPlace(name, place)
	if strings.HasPrefix(place, "unittest.loader.") {
		u.addBroken(key, name, "it could not be loaded")
		return
	}
	if unittestFixtures[name] && strings.HasSuffix(name, "Module") {
		suite, class = place, ""
	}
	if unittestFixtures[name] && !strings.HasPrefix(h.outcome, "skipped") {
		u.addBroken(key, suite, name+" of "+place+" failed")
		return
	}

	i, known := u.index[key]
	isRepeated := known && i < len(u.cases)-1 && u.cases[i].Status != 0 // the clean-up of the last test is not a new test
	if !known || isRepeated {
		i = len(u.cases)
		u.index[key] = i
		u.cases = append(u.cases, metric.Test{ID: metric.ID{Suite: suite, Class: class, Name: name}})
	}

	u.openTest = i
}

// unittestFixtures are the names that unittest prints for set-up and tear-down methods.
var unittestFixtures = map[string]bool{"setUpClass": true, "tearDownClass": true, "setUpModule": true, "tearDownModule": true}

// splitPlace splits "module.Class", with or without the name of the test at its end. The class
// is "" for a path without a dot.
func splitPlace(name, place string) (suite, class string) {
	place = strings.TrimSuffix(place, "."+name)
	i := strings.LastIndexByte(place, '.')
	if i < 0 {
		return place, ""
	}
	return place[:i], place[i+1:]
}

// addBroken records a suite that could not run. The first reason for a key counts.
func (u *unittestReader) addBroken(key, suite, why string) {
	if _, known := u.broken[key]; !known {
		u.brokenKeys = append(u.brokenKeys, key)
		u.broken[key] = metric.Suite{Name: suite, Why: why}
	}
}

// setOutcome sets the outcome of the open test. A test may fail and then have an error when
// it cleans up. The worse outcome counts.
func (u *unittestReader) setOutcome(text string, subtest bool) {
	m := unittestOutcomePattern.FindStringSubmatch(text)
	if m == nil || u.openTest < 0 {
		return
	}
	c := &u.cases[u.openTest]
	c.Status = max(c.Status, unittestStatuses[m[1]])
	if m[2]+m[3] != "" {
		c.Message = m[2] + m[3]
	}
	if !subtest {
		u.openTest, u.awaitsOutcome = -1, false
	}
}

// flushOutput adds the collected output to the message of the test or suite that it is about.
func (u *unittestReader) flushOutput() {
	if u.detail == "" {
		return
	}
	message := u.output.String()
	if i, ok := u.index[u.detail]; ok {
		u.cases[i].Message = joinOutput(u.cases[i].Message, message)
	}
	if b, ok := u.broken[u.detail]; ok {
		b.Why += ": " + parsed.LastOutputLine(message)
		u.broken[u.detail] = b
	}
	u.detail, u.rulers, u.output = "", 0, textstream.Clip{}
}
