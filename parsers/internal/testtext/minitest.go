package testtext

import (
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
	// minitestTestPattern matches the start of a test: "ShopTest#test_adds = 0.00 s = .".
	minitestTestPattern = regexp.MustCompile(`^(\S.*?)#(test_\S.*?) = (.*)$`)
	// minitestEndPattern matches the time and outcome at the end of a line: "0.00 s = .".
	minitestEndPattern = regexp.MustCompile(`([0-9]+\.[0-9]+) s = ([.FES])$`)
	// minitestTotalsPattern matches the totals: "5 runs, 9 assertions, 1 failures, 0 errors, 1
	// skips".
	minitestTotalsPattern = regexp.MustCompile(`^(\d+) (?:runs|tests), (\d+) assertions, (\d+) failures, (\d+) errors, (\d+) skips`)
	// minitestDetailPattern matches the heading of details: "  1) Failure:".
	minitestDetailPattern = regexp.MustCompile(`^(?:  \d+\) )?(Failure|Error|Skipped):$`)
	// minitestNamePattern matches the line after that heading: "ShopTest#test_adds
	// [test/shop_test.rb:5]:".
	minitestNamePattern = regexp.MustCompile(`^(\S.*?#test_\S.*?)(?: \[(.+):(\d+)\])?:$`)
)

// detectMinitest reports whether the head has the totals of minitest, or a complete line of a
// test.
func detectMinitest(h sniff.Head) bool {
	return h.MatchesLine(minitestTotalsPattern.MatchString) || h.MatchesLine(func(l string) bool {
		return minitestTestPattern.MatchString(l) && minitestEndPattern.MatchString(l)
	})
}

// minitestStatuses maps the letters of minitest.
var minitestStatuses = map[string]metric.Status{".": metric.Passed, "F": metric.Failed, "E": metric.Errored, "S": metric.Skipped}

// minitestReader reads the output of minitest --verbose.
type minitestReader struct {
	set          parsed.Outcomes
	cases        []metric.Test
	index        map[string]int  // of the tests in cases, by "class#name"
	openTest     int             // index of the test that began and has no outcome, -1 for none
	afterHeading bool            // the name of a test follows
	outputTest   int             // index of the test whose details are read, -1 for none
	output       textstream.Clip // the details that were read
	totals       []string        // the parts of minitestTotalsPattern, nil before that line
}

// parseMinitest reads the output of minitest --verbose. It is an error if it names fewer tests
// than its totals count.
func parseMinitest(r io.Reader) (parsed.Report, error) {
	m := &minitestReader{index: map[string]int{}, openTest: -1, outputTest: -1}
	err := eachLine(r, "", m.readLine)
	m.flushOutput()
	for _, c := range m.cases {
		if c.Status == 0 {
			c.Status, c.Message = metric.Errored, "it began and did not end"
		}
		m.set.Add(c)
	}
	if err == nil {
		err = m.checkTotals()
	}
	return m.set.Report("minitest"), err
}

// checkTotals compares the totals with the tests, and returns an error if tests are missing.
func (m *minitestReader) checkTotals() error {
	if m.totals == nil {
		return &parsed.SyntaxError{Problem: "the report ends before its totals: minitest was stopped, or its output was cut off"}
	}
	stated := func(i int) float64 { return float64(parsed.ParseNumber(m.totals[i])) }
	if err := namesError(len(m.cases), parsed.ToCount(stated(1)), "minitest names its tests with --verbose only", "run minitest with --verbose"); err != nil {
		return err
	}
	m.set.CheckTotal("tests", stated(1), m.set.Totals.Tests)
	m.set.CheckFailures("failures", stated(3), m.set.Totals.Failed)
	m.set.CheckFailures("errors", stated(4), m.set.Totals.Errors)
	m.set.CheckTotal("skips", stated(5), m.set.Totals.Skipped)
	return nil
}

// readLine handles a line: a heading, a test, the totals, or a detail of an outcome.
func (m *minitestReader) readLine(text string) {
	if t := minitestTotalsPattern.FindStringSubmatch(text); t != nil {
		m.flushOutput()
		m.totals = t
		return
	}
	if minitestDetailPattern.MatchString(text) {
		m.flushOutput()
		m.afterHeading = true
		return
	}
	if name := minitestNamePattern.FindStringSubmatch(text); name != nil && m.afterHeading {
		m.startDetails(name)
		return
	}
	if m.outputTest >= 0 {
		m.output.Add(text + "\n")
		return
	}
	m.readTestLine(text)
}

// readTestLine handles a line in which a test starts or ends.
func (m *minitestReader) readTestLine(text string) {
	if t := minitestTestPattern.FindStringSubmatch(text); t != nil {
		m.openTest = len(m.cases)
		m.index[t[1]+"#"+t[2]] = m.openTest
		m.cases = append(m.cases, metric.Test{ID: metric.ID{Suite: t[1], Name: t[2]}})
		text = t[3]
	}
	if end := minitestEndPattern.FindStringSubmatch(text); end != nil && m.openTest >= 0 {
		took, _ := strconv.ParseFloat(end[1], 64) // digits
		m.cases[m.openTest].Duration, m.cases[m.openTest].Status = parsed.Seconds(took), minitestStatuses[end[2]]
		m.openTest = -1
	}
}

// startDetails handles the name of a test before the details of its outcome.
func (m *minitestReader) startDetails(name []string) {
	m.afterHeading = false
	i, known := m.index[name[1]]
	if !known {
		return
	}
	m.outputTest = i
	m.cases[i].File = strings.TrimPrefix(name[2], "./")
	m.cases[i].Line, _ = strconv.Atoi(name[3]) // digits, or nothing
}

// flushOutput adds the collected output to the message of the test that it is about.
func (m *minitestReader) flushOutput() {
	if m.outputTest >= 0 {
		c := &m.cases[m.outputTest]
		c.Message = joinOutput(c.Message, m.output.String())
	}
	m.outputTest, m.output = -1, textstream.Clip{}
}
