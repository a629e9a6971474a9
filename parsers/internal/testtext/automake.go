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

var (
	// automakeStartPattern matches the start of the tests, "make  check-TESTS", and the heading
	// of a log, "   p 1.0: ./test-suite.log".
	automakeStartPattern = regexp.MustCompile(`make\b.* check-TESTS$|^   .*: (?:\S+/)?test-suite\.log$`)
	// automakeTestPattern matches the line of a test, "PASS: a.sh", or of a point of TAP,
	// "PASS: a.sh 1 - adds".
	automakeTestPattern = regexp.MustCompile(`^(PASS|FAIL|SKIP|XFAIL|XPASS|ERROR): (\S+)(?: (\d+)(?: (?:- )?(.*))?)?$`)
	// automakeEndPattern matches the line after the output of a test in a log: "FAIL a.sh (exit
	// status: 1)".
	automakeEndPattern = regexp.MustCompile(`^[A-Z]+ (\S+) \(exit status: \d+\)$`)
	// automakeTotalPattern matches one of the totals: "# TOTAL: 5".
	automakeTotalPattern = regexp.MustCompile(`^# (TOTAL|FAIL|XPASS|ERROR): +(\d+)$`)
	// automakeReasonPattern matches the reason at the end of a skipped point: " # SKIP no
	// network".
	automakeReasonPattern = regexp.MustCompile(` ?# (?:SKIP|TODO)\b *(.*)$`)
	// automakeFolderPattern matches a line of make about a folder: "make[1]: Entering directory
	// '/p/src'".
	automakeFolderPattern = regexp.MustCompile(`^g?make(?:\[\d+\])?: (Entering|Leaving) directory ['` + "`" + `](.*)'$`)
)

// The starts of lines that are followed by the name of the package or of a folder.
const (
	automakeSummary     = "Testsuite summary for "
	automakeMakingCheck = "Making check in "
)

// detectAutomake reports whether the head has the start of tests or of a summary.
func detectAutomake(h sniff.Head) bool {
	return h.MatchesLine(func(l string) bool {
		return strings.HasPrefix(l, automakeSummary) || automakeStartPattern.MatchString(strings.TrimRight(l, " "))
	})
}

// automakeStatuses maps the words of Automake.
var automakeStatuses = map[string]metric.Status{
	"PASS": metric.Passed, "FAIL": metric.Failed, "ERROR": metric.Errored,
	"SKIP": metric.Skipped, "XFAIL": metric.Skipped, "XPASS": metric.Failed,
}

// automakeReader reads the output of make check with the parallel harness of Automake.
type automakeReader struct {
	set           parsed.Outcomes
	cases         []metric.Test
	index         map[metric.ID]int // of the tests in cases
	folders       []string          // the folders that make has entered, the innermost last
	checkedFolder string            // the folder that make check names, where make itself names none
	inLog         bool              // the line is in the log that VERBOSE=1 prints, which names tests again
	output        textstream.Clip   // the output of a test in the log
	heading       string            // the last heading in the log, "" for none
	stated        map[string]int    // sums of the totals of all summaries, by word
	afterSummary  bool              // a summary follows all tests that were read
}

// parseAutomake reads the output of make check. It is an error if it names fewer tests than its
// summaries count.
func parseAutomake(r io.Reader) (parsed.Report, error) {
	a := &automakeReader{index: map[metric.ID]int{}, stated: map[string]int{}}
	err := eachLine(r, " ", a.readLine)
	for _, c := range a.cases {
		a.set.Add(c)
	}
	if err == nil {
		err = a.checkTotals()
	}
	return a.set.Report("automake"), err
}

// checkTotals compares the totals with the tests, and returns an error if tests are missing.
func (a *automakeReader) checkTotals() error {
	named, total := len(a.cases), a.stated["TOTAL"]
	switch {
	case !a.afterSummary && a.inLog:
		return &parsed.SyntaxError{Problem: "a test-suite.log, which no summary follows, names only tests that did not pass: read all that make check prints"}
	case !a.afterSummary, len(a.folders) > 0:
		return &parsed.SyntaxError{Problem: "the report ends before the last summary of its tests: make check was stopped, its output was cut off, or it comes from Automake's serial harness, which is not read"}
	}
	if err := namesError(named, total, "Automake names all of its tests only in what make check prints", "read all that make check prints"); err != nil {
		return err
	}
	a.set.CheckTotal("tests", float64(total), named)
	a.set.CheckFailures("failures", float64(a.stated["FAIL"]+a.stated["XPASS"]), a.set.Totals.Failed)
	a.set.CheckFailures("errors", float64(a.stated["ERROR"]), a.set.Totals.Errors)
	return nil
}

// readLine handles a line of make check.
func (a *automakeReader) readLine(text string) {
	switch {
	case strings.HasPrefix(text, automakeSummary):
		a.inLog, a.afterSummary = false, true
	case strings.HasSuffix(text, "test-suite.log") && automakeStartPattern.MatchString(text):
		a.inLog = true
	case a.inLog:
		a.readLogLine(text)
	case a.readFolderLine(text):
	case automakeTestPattern.MatchString(text):
		a.addTest(automakeTestPattern.FindStringSubmatch(text))
	default:
		if m := automakeTotalPattern.FindStringSubmatch(text); m != nil && a.afterSummary {
			a.stated[m[1]] += parsed.ParseNumber(m[2]).Int()
		}
	}
}

// readFolderLine handles a line in which make enters or leaves a folder, and reports
// whether it is one.
func (a *automakeReader) readFolderLine(text string) bool {
	if below, ok := strings.CutPrefix(text, automakeMakingCheck); ok {
		a.checkedFolder = below
		return true
	}
	m := automakeFolderPattern.FindStringSubmatch(text)
	switch {
	case m == nil:
		return false
	case m[1] == "Entering":
		a.folders = parsed.AppendLimited(a.folders, m[2])
	case len(a.folders) > 0:
		a.folders = a.folders[:len(a.folders)-1]
	}
	return true
}

// suite returns the folder of the current tests, "" for the top folder.
func (a *automakeReader) suite() string {
	if len(a.folders) > 0 {
		return a.folders[len(a.folders)-1]
	}
	return strings.TrimPrefix(a.checkedFolder, ".")
}

// addTest adds a test, or a point of a test that prints TAP. M has the parts of
// automakeTestPattern.
func (a *automakeReader) addTest(m []string) {
	t := metric.Test{ID: metric.ID{Suite: a.suite(), Name: m[2]}, Status: automakeStatuses[m[1]]}
	if m[3] != "" {
		t.Class, t.Name = m[2], m[4]
		if why := automakeReasonPattern.FindStringSubmatch(m[4]); why != nil && t.Status == metric.Skipped {
			t.Name, t.Message = strings.TrimSuffix(m[4], why[0]), why[1]
		}
		if t.Name == "" {
			t.Name = m[3]
		}
	}
	a.index[t.ID], a.afterSummary = len(a.cases), false
	a.cases = parsed.AppendLimited(a.cases, t)
}

// readLogLine reads a line of the log. The name of a test follows its output there.
func (a *automakeReader) readLogLine(text string) {
	switch m := automakeEndPattern.FindStringSubmatch(text); {
	case m != nil:
		if i, ok := a.index[metric.ID{Suite: a.suite(), Name: m[1]}]; ok {
			a.output.Add(text)
			a.cases[i].Message = a.output.String()
		}
		a.output = textstream.Clip{}
	case automakeTestPattern.MatchString(text):
		a.heading = text
	case a.heading != "" && strings.Trim(text, "=") == "" && text != "":
		a.heading, a.output = "", textstream.Clip{}
	default:
		a.heading = ""
		a.output.Add(text + "\n")
	}
}
