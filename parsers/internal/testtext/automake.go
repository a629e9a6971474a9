package testtext

import (
	"fmt"
	"io"
	"strings"

	"supervise/internal/regexp"
	"supervise/internal/sniff"
	"supervise/internal/textstream"
	"supervise/metric"
	"supervise/parsers/internal/parsed"
)

var (
	automakeStart  = regexp.MustCompile(`make\b.* check-TESTS$|^   .*: (?:\S+/)?test-suite\.log$`)
	automakeTest   = regexp.MustCompile(`^(PASS|FAIL|SKIP|XFAIL|XPASS|ERROR): (\S+)(?: (\d+)(?: (?:- )?(.*))?)?$`)
	automakeEnd    = regexp.MustCompile(`^[A-Z]+ (\S+) \(exit status: \d+\)$`)
	automakeTotal  = regexp.MustCompile(`^# (TOTAL|FAIL|XPASS|ERROR): +(\d+)$`)
	automakeWhy    = regexp.MustCompile(` ?# (?:SKIP|TODO)\b *(.*)$`)
	automakeFolder = regexp.MustCompile(`^g?make(?:\[\d+\])?: (Entering|Leaving) directory ['` + "`" + `](.*)'$`)
)

const (
	automakeSummary = "Testsuite summary for "
	automakeBelow   = "Making check in "
)

func detectAutomake(h sniff.Head) bool {
	return h.MatchesLine(func(l string) bool {
		return strings.HasPrefix(l, automakeSummary) || automakeStart.MatchString(strings.TrimRight(l, " "))
	})
}

var automakeStatuses = map[string]metric.Status{
	"PASS": metric.Passed, "FAIL": metric.Failed, "ERROR": metric.Errored,
	"SKIP": metric.Skipped, "XFAIL": metric.Skipped, "XPASS": metric.Failed,
}

// automake reads what make check prints with the parallel harness of Automake.
type automake struct {
	set     parsed.Outcomes
	cases   []metric.Test
	index   map[metric.ID]int
	folders []string // in which make works
	below   string   // the folder that make check names, where make itself names none
	log     bool     // within the log that VERBOSE=1 prints, which names tests again
	output  textstream.Clip
	heading string         // of a part of the log
	stated  map[string]int // sums of the summaries
	closed  bool           // a summary was the last that was read
}

func parseAutomake(r io.Reader) (parsed.Report, error) {
	a := &automake{index: map[metric.ID]int{}, stated: map[string]int{}}
	err := eachLine(r, " ", a.line)
	for _, c := range a.cases {
		a.set.Add(c)
	}
	if err == nil {
		err = a.fault()
	}
	return a.set.Report("automake"), err
}

// fault compares the totals with the recount.
func (a *automake) fault() error {
	named, total := len(a.cases), a.stated["TOTAL"]
	switch {
	case !a.closed && a.log:
		return &parsed.SyntaxError{Problem: "a test-suite.log, which no summary follows, names only tests that did not pass: read all that make check prints"}
	case !a.closed, len(a.folders) > 0:
		return &parsed.SyntaxError{Problem: "the report ends before the last summary of its tests: make check was stopped, its output was cut off, or it comes from Automake's serial harness, which is not read"}
	case named == 0 && total > 0:
		return fmt.Errorf("%w: Automake names all of its tests only in what make check prints", parsed.ErrUnknownFormat)
	case named < total:
		return &parsed.SyntaxError{Problem: fmt.Sprintf("%d tests ran, and %d are named: read all that make check prints", total, named)}
	}
	a.set.Declares("tests", float64(total), named)
	a.set.Fails("failures", float64(a.stated["FAIL"]+a.stated["XPASS"]), a.set.Totals.Failed)
	a.set.Fails("errors", float64(a.stated["ERROR"]), a.set.Totals.Errors)
	return nil
}

func (a *automake) line(text string) {
	switch {
	case strings.HasPrefix(text, automakeSummary):
		a.log, a.closed = false, true
	case strings.HasSuffix(text, "test-suite.log") && automakeStart.MatchString(text):
		a.log = true
	case a.log:
		a.logLine(text)
	case a.folder(text):
	case automakeTest.MatchString(text):
		a.test(automakeTest.FindStringSubmatch(text))
	default:
		if m := automakeTotal.FindStringSubmatch(text); m != nil && a.closed {
			a.stated[m[1]] += parsed.CountOf(m[2]).Int()
		}
	}
}

// folder takes a line in which make begins or ends its work in a folder.
func (a *automake) folder(text string) bool {
	if below, ok := strings.CutPrefix(text, automakeBelow); ok {
		a.below = below
		return true
	}
	m := automakeFolder.FindStringSubmatch(text)
	switch {
	case m == nil:
		return false
	case m[1] == "Entering":
		a.folders = parsed.Keep(a.folders, m[2])
	case len(a.folders) > 0:
		a.folders = a.folders[:len(a.folders)-1]
	}
	return true
}

func (a *automake) suite() string {
	if len(a.folders) > 0 {
		return a.folders[len(a.folders)-1]
	}
	return strings.TrimPrefix(a.below, ".")
}

// test takes the line of a test, or of a point in one that prints TAP.
func (a *automake) test(m []string) {
	t := metric.Test{ID: metric.ID{Suite: a.suite(), Name: m[2]}, Status: automakeStatuses[m[1]]}
	if m[3] != "" {
		t.Class, t.Name = m[2], m[4]
		if why := automakeWhy.FindStringSubmatch(m[4]); why != nil && t.Status == metric.Skipped {
			t.Name, t.Message = strings.TrimSuffix(m[4], why[0]), why[1]
		}
		if t.Name == "" {
			t.Name = m[3]
		}
	}
	a.index[t.ID], a.closed = len(a.cases), false
	a.cases = parsed.Keep(a.cases, t)
}

// logLine takes a line of the log, which ends what it says of a test with its name.
func (a *automake) logLine(text string) {
	switch m := automakeEnd.FindStringSubmatch(text); {
	case m != nil:
		if i, ok := a.index[metric.ID{Suite: a.suite(), Name: m[1]}]; ok {
			a.output.Add(text)
			a.cases[i].Message = a.output.String()
		}
		a.output = textstream.Clip{}
	case automakeTest.MatchString(text):
		a.heading = text
	case a.heading != "" && strings.Trim(text, "=") == "" && text != "":
		a.heading, a.output = "", textstream.Clip{}
	default:
		a.heading = ""
		a.output.Add(text + "\n")
	}
}
