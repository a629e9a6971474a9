package testtext

import (
	"fmt"
	"io"
	"strconv"

	"supervise/internal/regexp"
	"supervise/internal/sniff"
	"supervise/internal/textstream"
	"supervise/metric"
	"supervise/parsers/internal/parsed"
)

var (
	// qtStartPattern matches the first line of a program: "********* Start testing of TestCalc
	// *********".
	qtStartPattern = regexp.MustCompile(`^\*{9} Start testing of (.+) \*{9}$`)
	// qtFinishPattern matches the last line: "********* Finished testing of TestCalc
	// *********".
	qtFinishPattern = regexp.MustCompile(`^\*{9} Finished testing of .+ \*{9}$`)
	// qtTotalsPattern matches the totals: "Totals: 3 passed, 1 failed, 0 skipped, 0
	// blacklisted, 5ms".
	qtTotalsPattern = regexp.MustCompile(`^Totals: (\d+) passed, (\d+) failed, (\d+) skipped(?:, (\d+) blacklisted)?(?:, .*)?$`)
	// qtPassPattern matches a pass, whose row of data may have any text: "PASS   :
	// TestCalc::add(two)".
	qtPassPattern = regexp.MustCompile(`^(B?PASS)\s*: (.+?)::(\w+)\((.*)\)$`)
	// qtOutcomePattern matches another outcome: "FAIL!  : TestCalc::add(two) Compared values
	// are not the same".
	qtOutcomePattern = regexp.MustCompile(`^(B?X?FAIL!?|B?XPASS|B?SKIP)\s*: (.+?)::(\w+)\((.*?)\)(?: (.*))?$`)
	// qtFatalPattern matches a message that ends the program: "QFATAL : TestCalc::add() out of
	// memory".
	qtFatalPattern = regexp.MustCompile(`^QFATAL\s*: .+?::\w+\(.*?\)(?: (.*))?$`)
	// qtWordPattern matches the start of any other message: "QDEBUG : ".
	qtWordPattern = regexp.MustCompile(`^[A-Z]{4,9}!?\s*: `)
	// qtPlacePattern matches the place of a failure: "   Loc: [calc.cpp(12)]".
	qtPlacePattern = regexp.MustCompile(`^   Loc: \[(.+)\((\d+)\)\]$`)
)

// detectQtText reports whether a program of Qt Test starts in the head.
func detectQtText(h sniff.Head) bool { return h.MatchesLine(qtStartPattern.MatchString) }

// qtReader reads the output of one or more programs of Qt Test.
type qtReader struct {
	set      parsed.Outcomes
	outcomes parsed.QtOutcomes // of the open program
	program  string            // whose totals are still to come, "" for none
	test     *metric.Test      // the test of the open outcome
	status   metric.Status     // the open outcome
	message  textstream.Clip   // of the open outcome
	isOpen   bool              // an outcome was read, and its message may continue
	file     string            // where the open outcome is, "" if unknown
	line     int
	unnamed  string // the problem of a program that does not name all tests, "" for none
}

// parseQtText reads the output of programs of Qt Test. It is an error if a program names fewer
// tests than its totals count. A program without totals is broken.
func parseQtText(r io.Reader) (parsed.Report, error) {
	q := &qtReader{}
	err := eachLine(r, "\r", q.readLine)
	q.breakProgram()
	switch {
	case err != nil:
	case q.unnamed != "":
		err = &parsed.SyntaxError{Problem: q.unnamed}
	case len(q.set.Cases)+len(q.set.Broken) == 0:
		err = fmt.Errorf("%w: no program of Qt Test has started", parsed.ErrUnknownFormat)
	}
	return q.set.Report("qttest"), err
}

// readLine handles a line. Lines outside of a program are ignored.
func (q *qtReader) readLine(s string) {
	if m := qtStartPattern.FindStringSubmatch(s); m != nil {
		q.breakProgram()
		q.program = m[1]
		return
	}

	if q.program == "" {
		return
	}

	m := qtPassPattern.FindStringSubmatch(s)
	if m == nil {
		m = qtOutcomePattern.FindStringSubmatch(s)
	}

	switch {
	case m != nil:
		q.finishOutcome()
		q.status, _ = q.outcomes.StatusOf(m[1])
		q.test, q.isOpen = q.outcomes.TestFor(m[2], m[3], m[4]), true
		if len(m) > 5 {
			q.message.Add(m[5])
		}
	case qtTotalsPattern.MatchString(s):
		q.finishOutcome()
		q.finishProgram(qtTotalsPattern.FindStringSubmatch(s))
	case qtFatalPattern.MatchString(s):
		q.finishOutcome()
		q.outcomes.EarlyEnd = parsed.JoinReason("a fatal message ended the program", textstream.CleanText(qtFatalPattern.FindStringSubmatch(s)[1]))
	case qtWordPattern.MatchString(s), qtFinishPattern.MatchString(s):
		q.finishOutcome()
	case q.isOpen && qtPlacePattern.MatchString(s):
		at := qtPlacePattern.FindStringSubmatch(s)
		q.file = at[1]
		q.line, _ = strconv.Atoi(at[2]) // digits
	case q.isOpen:
		q.message.Add("\n" + s)
	}
}

// finishOutcome adds the outcome whose lines have been read.
func (q *qtReader) finishOutcome() {
	if q.isOpen {
		q.outcomes.AddOutcome(q.test, q.status, q.message.String(), q.file, q.line)
	}
	q.isOpen, q.message, q.file, q.line = false, textstream.Clip{}, "", 0
}

// finishProgram compares the totals of a program with its tests, and ends the program.
func (q *qtReader) finishProgram(m []string) {
	before := q.set.Totals
	q.outcomes.MoveTo(&q.set.TestSet)
	stated := 0.0
	for _, n := range m[1:] {
		stated += float64(parsed.ParseNumber(n))
	}
	named := q.set.Totals.Tests - before.Tests
	if n := parsed.ToCount(stated); named < n && q.unnamed == "" {
		q.unnamed = fmt.Sprintf("%s counts %d tests, and %d are named: run it without -silent", q.program, n, named)
	}
	q.set.CheckTotal("tests", stated, named)
	q.set.CheckFailures("failures", float64(parsed.ParseNumber(m[2])), q.set.Totals.Failed-before.Failed)
	q.program = ""
}

// breakProgram marks the open program as broken if it has no totals, and ends it.
func (q *qtReader) breakProgram() {
	q.finishOutcome()
	q.outcomes.MoveTo(&q.set.TestSet)
	if q.program != "" {
		q.set.AddBroken(q.program, "there are no totals: the program crashed, or its output was cut off")
	}
	q.program = ""
}
