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
	unittestLine    = regexp.MustCompile(`^(  )?(.*?)(?: \.\.\. ?(.*))?$`)
	unittestPath    = regexp.MustCompile(`^[\pL_][\pL\pN_]*(?:\.[\pL_][\pL\pN_]*)*`)
	unittestDoc     = regexp.MustCompile(`^(?:.*) \.\.\. ?(.*)$`)
	unittestOutcome = regexp.MustCompile(`^(ok|FAIL|ERROR|expected failure|unexpected success|skipped)(?: '(.*)'| "(.*)")?$`)
	unittestRan     = regexp.MustCompile(`^Ran (\d+) tests? in [0-9.]+s$`)
	unittestFailed  = regexp.MustCompile(`^FAILED \(.*(?:failures|errors|unexpected successes)=\d+.*\)$`)
	unittestStated  = regexp.MustCompile(`(?:failures|errors|unexpected successes)=(\d+)`)
	unittestDetail  = regexp.MustCompile(`^(?:ERROR|FAIL): (.*)$`)
)

func detectUnittest(h sniff.Head) bool {
	return h.MatchesLine(unittestRan.MatchString) || h.MatchesLine(func(l string) bool {
		m, ok := parseUnittestLine(l)
		return ok && !m.subtest && m.extra == "" && unittestOutcome.MatchString(m.outcome) && strings.Contains(m.place, ".")
	})
}

// unittestHead is a line in which a test begins: "name (module.Class)", since Python 3.11
// "name (module.Class.name)", with what its subtest is about and its outcome.
type unittestHead struct {
	subtest                     bool
	name, place, extra, outcome string
}

// mostBrackets is how many brackets of a line are tried as those after the name.
const mostBrackets = 20

// parseUnittestLine reads such a line. A name may be any text, as tests can be made by
// setattr: what is in the brackets tells where it ends.
func parseUnittestLine(text string) (h unittestHead, ok bool) {
	if !strings.Contains(text, " (") {
		return h, false
	}
	m := unittestLine.FindStringSubmatch(text)
	if m == nil || !strings.Contains(m[2], " (") {
		return h, false
	}
	h.subtest, h.outcome = m[1] != "", m[3]
	first := strings.Index(m[2], " (")
	for i, tries := first, 0; i > 0 && tries < mostBrackets; tries++ {
		name, rest := m[2][:i], m[2][i+2:]
		if place := longest(unittestPath.FindString(rest), name, rest); place != "" {
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
	h.place = unittestPath.FindString(m[2][first+2:])
	h.extra, ok = strings.CutPrefix(m[2][first+2+len(h.place):], ")")
	return h, ok && h.place != "" && !strings.ContainsAny(strings.TrimSpace(h.name), " \t")
}

// longest returns the place that ends with the name of the test, "" if rest has none.
func longest(path, name, rest string) string {
	for end := range len(path) + 1 {
		if (end == len(path) || path[end] == '.') && strings.HasPrefix(rest[end:], "."+name+")") {
			return rest[:end+1+len(name)]
		}
	}
	return ""
}

// key is how the details of a failure name the test again.
func (h unittestHead) key() string { return h.name + " (" + h.place + ")" }

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
	stated int    // the sum of what such lines say

	unread []string // lines that end with an outcome and name no test
}

func parseUnittest(r io.Reader) (parsed.Report, error) {
	u := &unittest{index: map[string]int{}, open: -1, ran: -1, broken: map[string]metric.Suite{}}
	err := eachLine(r, " ", u.line)
	u.shown()
	u.unnamed()
	known := len(u.cases) + u.loaders()
	u.set.Several = known-u.fixtures() <= u.ran
	for _, c := range u.cases {
		if c.Status == 0 {
			c.Status, c.Message = metric.Errored, "it began and did not end"
		}
		u.set.Add(c)
	}
	for _, key := range u.order {
		u.set.Breaks(u.broken[key].Name, u.broken[key].Why)
	}
	switch failed := u.set.Failed() + len(u.order); {
	case u.failed != "" && u.set.Failed() == 0 && known >= u.ran:
		u.set.Contradicts("unittest says %s although no test failed", u.failed)
	case u.stated > failed:
		u.set.Problems.Add("unittest counts %d failures, each of a subtest or of cleaning up by itself; here a test counts once, so %d failed", u.stated, failed)
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

// mostUnnamed is the share of the tests that may have names that cannot be read: of more,
// unittest does not print the names.
const mostUnnamed = .1

// unnamed takes the tests that ran and whose names cannot be read: each counts, under
// what is printed of it.
func (u *unittest) unnamed() {
	missing := u.ran - len(u.cases) - u.loaders()
	if missing <= 0 || missing > max(len(u.unread), int(mostUnnamed*float64(u.ran))) || len(u.cases) == 0 {
		return
	}
	status := metric.Passed
	if u.failed != "" { // it may be one of those
		status = metric.Errored
	}
	for i := range missing {
		c := metric.Test{ID: metric.ID{Name: fmt.Sprintf("(unreadable name %d)", i+1)}, Status: status}
		if i < len(u.unread) {
			m := unittestLine.FindStringSubmatch(u.unread[i])
			c.Name, c.Status = strings.TrimSpace(m[2]), unittestStatuses[unittestOutcome.FindStringSubmatch(m[3])[1]]
		}
		u.cases = append(u.cases, c)
	}
	u.set.Problems.Add("%d tests have names that cannot be read; they count, the first: %s", missing, u.cases[len(u.cases)-missing].Name)
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

// fixtures counts the classes and modules that were skipped: unittest does not count them.
func (u *unittest) fixtures() int {
	n := 0
	for _, c := range u.cases {
		if unittestFixtures[c.Name] {
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
		for _, m := range unittestStated.FindAllStringSubmatch(text, -1) {
			u.stated += parsed.CountOf(m[1]).Int()
		}
	case strings.HasPrefix(text, "======"):
		u.shown()
		u.open, u.headed = -1, false
	case u.detail == "" && unittestDetail.MatchString(text) && u.details(text):
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

// details begins the details of a failure, and reports whether the line names a test.
func (u *unittest) details(text string) bool {
	h, ok := parseUnittestLine(unittestDetail.FindStringSubmatch(text)[1])
	if ok {
		u.shown()
		u.detail = h.key()
	}
	return ok
}

// test takes a line in which a test begins or ends.
func (u *unittest) test(text string) {
	h, ok := parseUnittestLine(text)
	switch {
	case ok && h.subtest: // its test has no other outcome if it did not pass
		u.outcome(h.outcome, true)
	case ok && h.extra == "" && (h.outcome != "" || strings.HasSuffix(text, "...") || strings.Contains(h.place, ".")):
		u.begin(h)
		u.headed = !strings.Contains(text, " ...")
		u.outcome(h.outcome, false)
	case u.headed && unittestDoc.MatchString(text):
		u.headed = false
		u.outcome(unittestDoc.FindStringSubmatch(text)[1], false)
	default:
		if m := unittestDoc.FindStringSubmatch(text); m != nil && u.open < 0 && unittestOutcome.MatchString(m[1]) {
			u.unread = parsed.Keep(u.unread, text)
		}
		u.outcome(text, false)
	}
}

// begin takes the name and place of a test: since Python 3.11 with
// its name again. A class or module that is skipped completely is reported as
// its setup, and represents its tests.
func (u *unittest) begin(h unittestHead) {
	name, place, key := h.name, h.place, h.key()
	u.open = -1
	suite, class := unittestPlace(name, place)
	if strings.HasPrefix(place, "unittest.loader.") {
		u.breaks(key, name, "it could not be loaded")
		return
	}
	if unittestFixtures[name] && strings.HasSuffix(name, "Module") {
		suite, class = place, ""
	}
	if unittestFixtures[name] && !strings.HasPrefix(h.outcome, "skipped") {
		u.breaks(key, suite, name+" of "+place+" failed")
		return
	}
	i, known := u.index[key]
	if !known || i < len(u.cases)-1 && u.cases[i].Status != 0 { // that of the last one gets worse as it cleans up
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
