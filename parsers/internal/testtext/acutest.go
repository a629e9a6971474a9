package testtext

import (
	"io"
	"strings"

	"supervise/internal/regexp"
	"supervise/internal/sniff"
	"supervise/internal/textstream"
	"supervise/metric"
	"supervise/parsers/internal/parsed"
)

// The lines of a test and of the totals, as acutest.h prints them:
// https://github.com/mity/acutest. The result of a test is on a later line if the test
// printed something.
var (
	// acutestTestPattern matches the line of a test: "Test add...                 [ OK ]".
	acutestTestPattern = regexp.MustCompile(`^Test (.+?)\.\.\. +(.*)$`)
	// acutestResultPattern matches the result at its end: "[ OK ]".
	acutestResultPattern = regexp.MustCompile(`\[ (OK|FAILED|SKIPPED) \](?:  [\d.]+ secs)?$`)
	// acutestTotalsPattern matches the totals: "FAILED: 1 of 5 unit tests has failed."
	acutestTotalsPattern = regexp.MustCompile(`^(?:SUCCESS: (?:All|No) unit tests have (?:passed|failed)\.|FAILED: (\d+) of (\d+) unit tests (?:has|have) failed\.)$`)
)

func detectAcutest(h sniff.Head) bool {
	return h.MatchesLine(func(l string) bool {
		return acutestTotalsPattern.MatchString(l) || acutestTestPattern.MatchString(l) && acutestResultPattern.MatchString(l)
	})
}

// acutestSuite is the suite of all tests.
const acutestSuite = "Acutest" // programs do not print their name

// acutestStatuses maps the words of Acutest.
var acutestStatuses = map[string]metric.Status{"OK": metric.Passed, "FAILED": metric.Failed, "SKIPPED": metric.Skipped}

// acutestReader reads the output of one or more programs of Acutest.
type acutestReader struct {
	set            parsed.Outcomes
	name           string          // of the open test, "" for none
	status         metric.Status   // of the open test, Errored before its result
	message        textstream.Clip // the output of the open test
	previousTotals parsed.Totals   // of the programs that have ended
}

// parseAcutest reads the output of programs of Acutest. A program without totals is broken.
func parseAcutest(r io.Reader) (parsed.Report, error) {
	a := &acutestReader{}
	a.set.NumberRepeats = true // several programs may have tests of one name
	err := eachLine(r, "\r", a.readLine)
	if a.name != "" {
		a.finishTest()
		a.set.AddBroken(acutestSuite, "there are no totals: the program crashed, or its output was cut off")
	}
	return a.set.Report("acutest"), err
}

// readLine handles a line: of a test, its result, its output, or the totals.
func (a *acutestReader) readLine(text string) {
	if m := acutestTestPattern.FindStringSubmatch(text); m != nil {
		a.finishTest()
		a.name, a.status, text = m[1], metric.Errored, m[2]
	}
	if a.name == "" {
		return
	}
	m := acutestResultPattern.FindStringSubmatch(text)
	switch {
	case m != nil && a.status == metric.Errored:
		a.status, a.message = acutestStatuses[m[1]], textstream.Clip{}
	case acutestTotalsPattern.MatchString(text):
		a.finishTest()
		a.checkTotals(acutestTotalsPattern.FindStringSubmatch(text))
	default:
		a.message.Add(strings.TrimSpace(text) + "\n")
	}
}

// finishTest adds the open test to the report.
func (a *acutestReader) finishTest() {
	if a.name == "" {
		return
	}
	t := metric.Test{ID: metric.ID{Suite: acutestSuite, Name: a.name}, Status: a.status}
	if t.Status != metric.Passed {
		t.Message = strings.TrimSpace(a.message.String())
	}
	a.set.Add(t)
	a.name, a.message = "", textstream.Clip{}
}

// checkTotals compares the totals of a program with its tests. There are no totals of the
// tests that passed.
func (a *acutestReader) checkTotals(m []string) {
	added := a.set.Totals.Minus(a.previousTotals)
	if m[2] != "" && added.Skipped == 0 { // versions differ in whether skipped tests count
		a.set.CheckTotal("tests", float64(parsed.ParseNumber(m[2])), added.Tests)
	}
	a.set.CheckFailures("failures", float64(parsed.ParseNumber(m[1])), added.Unsuccessful())
	a.previousTotals = a.set.Totals
}
