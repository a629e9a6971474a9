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
	unittestTest    = regexp.MustCompile(`^(  )?([\pL_][\pL\pN_]*) \(([\pL\pN_.]+)\)(.*?)(?: \.\.\. ?(.*))?$`)
	unittestDoc     = regexp.MustCompile(`^(?:.*) \.\.\. ?(.*)$`)
	unittestOutcome = regexp.MustCompile(`^(ok|FAIL|ERROR|expected failure|unexpected success|skipped)(?: '(.*)'| "(.*)")?$`)
	unittestRan     = regexp.MustCompile(`^Ran (\d+) tests? in [0-9.]+s$`)
	unittestFailed  = regexp.MustCompile(`^FAILED \(.*(?:failures|errors|unexpected successes)=\d+.*\)$`)
	unittestDetail  = regexp.MustCompile(`^(?:ERROR|FAIL): ([\pL_][\pL\pN_]* \([\pL\pN_.]+\))`)
)

func detectUnittest(h sniff.Head) bool {
	return h.Line(unittestRan.MatchString) || h.Line(func(l string) bool {
		m := unittestTest.FindStringSubmatch(l)
		return m != nil && m[1] == "" && m[4] == "" && unittestOutcome.MatchString(m[5]) && strings.Contains(m[3], ".")
	})
}

// unittestStatuses are the outcomes. The words a test is skipped with follow.
var unittestStatuses = map[string]metric.Status{
	"ok": metric.Passed, "FAIL": metric.Failed, "ERROR": metric.Errored,
	"expected failure": metric.Skipped, "unexpected success": metric.Failed, "skipped": metric.Skipped,
}

// unittest reads what python -m unittest -v prints.
type unittest struct {
	set    parsed.Outcomes
	cases  []metric.Test
	index  map[string]int // by name and identity as they are printed
	open   int            // the test that began and has no outcome, -1 for none
	headed bool           // its outcome may follow a line of documentation
	broken map[string]metric.Suite
	order  []string // of broken
	detail string   // what the lines belong to
	rule   int      // lines of dashes since it began
	output textstream.Clip
	ran    int    // -1 before the line with the count
	failed string // the line that says how many tests failed
}

func parseUnittest(r io.Reader) (parsed.Report, error) {
	u := &unittest{index: map[string]int{}, open: -1, ran: -1, broken: map[string]metric.Suite{}}
	err := textstream.EachLine(r, func(l textstream.Line) {
		u.line(strings.TrimRight(textstream.StripANSI(string(l.Text[:min(len(l.Text), parsed.MaxLine)])), " "))
	})
	u.shown()
	known := len(u.cases) + u.loaders()
	for _, c := range u.cases {
		if c.Status == 0 {
			c.Status, c.Message = metric.Errored, "it began and did not end"
		}
		u.set.Add(c)
	}
	for _, key := range u.order {
		u.set.Breaks(u.broken[key].Name, u.broken[key].Why)
	}
	if u.failed != "" && u.set.Failed() == 0 && known >= u.ran {
		u.set.Contradicts("unittest says %s although no test failed", u.failed)
	}
	report := u.set.Report("unittest")
	switch {
	case err != nil:
	case u.ran < 0:
		err = &parsed.SyntaxError{Problem: "the report ends before the number of tests that ran: unittest was stopped, or its output was cut off"}
	case known < u.ran && known == 0:
		err = fmt.Errorf("%w: unittest names its tests with -v only", parsed.ErrUnknownFormat)
	case known < u.ran:
		err = &parsed.SyntaxError{Problem: fmt.Sprintf("%d tests ran, and %d are named: run unittest with -v", u.ran, known)}
	}
	return report, err
}

// loaders counts the modules that could not be loaded: unittest counts them as
// tests.
func (u *unittest) loaders() int {
	n := 0
	for key := range u.broken {
		if strings.Contains(key, "_FailedTest") {
			n++
		}
	}
	return n
}

func (u *unittest) line(text string) {
	switch m := unittestRan.FindStringSubmatch(text); {
	case m != nil:
		u.shown()
		n, _ := strconv.Atoi(m[1]) // digits
		u.ran = max(u.ran, 0) + n
	case u.ran >= 0 && unittestFailed.MatchString(text):
		u.shown()
		u.failed = text
	case strings.HasPrefix(text, "======"):
		u.shown()
		u.open, u.headed = -1, false
	case unittestDetail.MatchString(text) && u.detail == "":
		u.shown()
		u.detail = unittestDetail.FindStringSubmatch(text)[1]
	case u.detail != "":
		if strings.HasPrefix(text, "------") && u.rule == 0 {
			u.rule++
			return
		}
		u.output.Add(text + "\n")
	default:
		u.test(text)
	}
}

// test takes a line in which a test begins or ends.
func (u *unittest) test(text string) {
	m := unittestTest.FindStringSubmatch(text)
	switch {
	case m != nil && m[1] != "": // a subtest: its test has no other outcome if it did not pass
		u.outcome(m[5], true)
	case m != nil && m[4] == "" && (m[5] != "" || strings.HasSuffix(text, "...") || strings.Contains(m[3], ".")):
		u.begin(m[2], m[3], m[5])
		u.headed = !strings.Contains(text, " ...")
		u.outcome(m[5], false)
	case u.headed && unittestDoc.MatchString(text):
		u.headed = false
		u.outcome(unittestDoc.FindStringSubmatch(text)[1], false)
	default:
		u.outcome(text, false)
	}
}

// begin takes the name and place of a test: since Python 3.11 with
// its name once more. A class or module that is skipped as a whole is reported as
// its setup, and represents its tests.
func (u *unittest) begin(name, place, outcome string) {
	key := name + " (" + place + ")"
	u.open = -1
	suite, class := unittestPlace(name, place)
	if strings.HasPrefix(place, "unittest.loader.") {
		u.breaks(key, name, "it could not be loaded")
		return
	}
	if unittestFixtures[name] && strings.HasSuffix(name, "Module") {
		suite, class = place, ""
	}
	if unittestFixtures[name] && !strings.HasPrefix(outcome, "skipped") {
		u.breaks(key, suite, name+" of "+place+" failed")
		return
	}
	i, known := u.index[key]
	if !known {
		i = len(u.cases)
		u.index[key] = i
		u.cases = append(u.cases, metric.Test{ID: metric.ID{Suite: suite, Class: class, Name: name}})
	}
	u.open = i
}

var unittestFixtures = map[string]bool{"setUpClass": true, "tearDownClass": true, "setUpModule": true, "tearDownModule": true}

func unittestPlace(name, place string) (suite, class string) {
	place = strings.TrimSuffix(place, "."+name)
	i := strings.LastIndexByte(place, '.')
	if i < 0 {
		return place, ""
	}
	return place[:i], place[i+1:]
}

func (u *unittest) breaks(key, suite, why string) {
	if _, known := u.broken[key]; !known {
		u.order = append(u.order, key)
		u.broken[key] = metric.Suite{Name: suite, Why: why}
	}
}

// outcome ends the open test. A test may fail and then break off when it cleans
// up: the worse counts.
func (u *unittest) outcome(text string, subtest bool) {
	m := unittestOutcome.FindStringSubmatch(text)
	if m == nil || u.open < 0 {
		return
	}
	c := &u.cases[u.open]
	c.Status = max(c.Status, unittestStatuses[m[1]])
	if m[2]+m[3] != "" {
		c.Message = m[2] + m[3]
	}
	if !subtest {
		u.open, u.headed = -1, false
	}
}

// shown gives the output to the test that it belongs to.
func (u *unittest) shown() {
	if u.detail == "" {
		return
	}
	message := u.output.String()
	if i, ok := u.index[u.detail]; ok {
		u.cases[i].Message = parsed.JoinTexts([]parsed.AnyText{parsed.AnyText(u.cases[i].Message), parsed.AnyText(message)}, "\n\n")
	}
	if b, ok := u.broken[u.detail]; ok {
		b.Why += ": " + parsed.LastLine(message)
		u.broken[u.detail] = b
	}
	u.detail, u.rule, u.output = "", 0, textstream.Clip{}
}
