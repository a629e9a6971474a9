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
	qtStart  = regexp.MustCompile(`^\*{9} Start testing of (.+) \*{9}$`)
	qtFinish = regexp.MustCompile(`^\*{9} Finished testing of .+ \*{9}$`)
	qtTotals = regexp.MustCompile(`^Totals: (\d+) passed, (\d+) failed, (\d+) skipped(?:, (\d+) blacklisted)?(?:, .*)?$`)
	qtPass   = regexp.MustCompile(`^(B?PASS)\s*: (.+?)::(\w+)\((.*)\)$`)
	qtOther  = regexp.MustCompile(`^(B?X?FAIL!?|B?XPASS|B?SKIP)\s*: (.+?)::(\w+)\((.*?)\)(?: (.*))?$`)
	qtFatal  = regexp.MustCompile(`^QFATAL\s*: .+?::\w+\(.*?\)(?: (.*))?$`)
	qtWord   = regexp.MustCompile(`^[A-Z]{4,9}!?\s*: `)
	qtPlace  = regexp.MustCompile(`^   Loc: \[(.+)\((\d+)\)\]$`)
)

func detectQtText(h sniff.Head) bool { return h.MatchesLine(qtStart.MatchString) }

// qtText reads what programs of Qt Test print, one after the other.
type qtText struct {
	set     parsed.Outcomes
	qt      parsed.QtSet
	program string // whose totals are still to come
	test    *metric.Test
	status  metric.Status
	message textstream.Clip // of the open test
	open    bool
	file    string
	line    int
	missing string // tests that the totals count and no line names
}

func parseQtText(r io.Reader) (parsed.Report, error) {
	q := &qtText{}
	err := eachLine(r, "\r", q.take)
	q.cut()
	switch {
	case err != nil:
	case q.missing != "":
		err = &parsed.SyntaxError{Problem: q.missing}
	case len(q.set.Cases)+len(q.set.Broken) == 0:
		err = fmt.Errorf("%w: no program of Qt Test has started", parsed.ErrUnknownFormat)
	}
	return q.set.Report("qttest"), err
}

func (q *qtText) take(s string) {
	if m := qtStart.FindStringSubmatch(s); m != nil {
		q.cut()
		q.program = m[1]
		return
	}
	if q.program == "" {
		return
	}
	m := qtPass.FindStringSubmatch(s)
	if m == nil {
		m = qtOther.FindStringSubmatch(s)
	}
	switch {
	case m != nil:
		q.said()
		q.status, _ = q.qt.Outcome(m[1])
		q.test, q.open = q.qt.Test(m[2], m[3], m[4]), true
		if len(m) > 5 {
			q.message.Add(m[5])
		}
	case qtTotals.MatchString(s):
		q.said()
		q.total(qtTotals.FindStringSubmatch(s))
	case qtFatal.MatchString(s):
		q.said()
		q.qt.Why = parsed.Because("a fatal message ended the program", textstream.CleanText(qtFatal.FindStringSubmatch(s)[1]))
	case qtWord.MatchString(s), qtFinish.MatchString(s):
		q.said()
	case q.open && qtPlace.MatchString(s):
		at := qtPlace.FindStringSubmatch(s)
		q.file = at[1]
		q.line, _ = strconv.Atoi(at[2]) // digits
	case q.open:
		q.message.Add("\n" + s)
	}
}

// said ends what a line began to say of a test.
func (q *qtText) said() {
	if q.open {
		q.qt.Say(q.test, q.status, q.message.String(), q.file, q.line)
	}
	q.open, q.message, q.file, q.line = false, textstream.Clip{}, "", 0
}

// total compares the totals of a program with the recount, and ends it.
func (q *qtText) total(m []string) {
	before := q.set.Totals
	q.qt.AddTo(&q.set.TestSet)
	stated := 0.0
	for _, n := range m[1:] {
		stated += float64(parsed.CountOf(n))
	}
	named := q.set.Totals.Tests - before.Tests
	if n := parsed.Int(stated); named < n && q.missing == "" {
		q.missing = fmt.Sprintf("%s counts %d tests, and %d are named: run it without -silent", q.program, n, named)
	}
	q.set.Declares("tests", stated, named)
	q.set.Fails("failures", float64(parsed.CountOf(m[2])), q.set.Totals.Failed-before.Failed)
	q.program = ""
}

// cut ends a program without totals.
func (q *qtText) cut() {
	q.said()
	q.qt.AddTo(&q.set.TestSet)
	if q.program != "" {
		q.set.Breaks(q.program, "there are no totals: the program crashed, or its output was cut off")
	}
	q.program = ""
}
