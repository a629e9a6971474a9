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
	minitestTest   = regexp.MustCompile(`^(\S.*?)#(test_\S.*?) = (.*)$`)
	minitestEnd    = regexp.MustCompile(`([0-9]+\.[0-9]+) s = ([.FES])$`)
	minitestTotals = regexp.MustCompile(`^(\d+) (?:runs|tests), (\d+) assertions, (\d+) failures, (\d+) errors, (\d+) skips`)
	minitestDetail = regexp.MustCompile(`^(?:  \d+\) )?(Failure|Error|Skipped):$`)
	minitestName   = regexp.MustCompile(`^(\S.*?#test_\S.*?)(?: \[(.+):(\d+)\])?:$`)
)

func detectMinitest(h sniff.Head) bool {
	return h.MatchesLine(minitestTotals.MatchString) || h.MatchesLine(func(l string) bool {
		return minitestTest.MatchString(l) && minitestEnd.MatchString(l)
	})
}

var minitestStatuses = map[string]metric.Status{".": metric.Passed, "F": metric.Failed, "E": metric.Errored, "S": metric.Skipped}

// minitest reads what minitest prints with --verbose.
type minitest struct {
	set    parsed.Outcomes
	cases  []metric.Test
	index  map[string]int
	open   int // the test that began and has no outcome, -1 for none
	detail bool
	about  int // the test that the lines belong to, -1 for none
	output textstream.Clip
	totals []string
}

func parseMinitest(r io.Reader) (parsed.Report, error) {
	m := &minitest{index: map[string]int{}, open: -1, about: -1}
	err := eachLine(r, "", m.line)
	m.shown()
	for _, c := range m.cases {
		if c.Status == 0 {
			c.Status, c.Message = metric.Errored, "it began and did not end"
		}
		m.set.Add(c)
	}
	if err == nil {
		err = m.fault()
	}
	return m.set.Report("minitest"), err
}

// fault compares the totals with the recount.
func (m *minitest) fault() error {
	if m.totals == nil {
		return &parsed.SyntaxError{Problem: "the report ends before its totals: minitest was stopped, or its output was cut off"}
	}
	stated := func(i int) float64 { return float64(parsed.CountOf(m.totals[i])) }
	if n := parsed.Int(stated(1)); len(m.cases) < n {
		if len(m.cases) == 0 {
			return fmt.Errorf("%w: minitest names its tests with --verbose only", parsed.ErrUnknownFormat)
		}
		return &parsed.SyntaxError{Problem: fmt.Sprintf("%d tests ran, and %d are named: run minitest with --verbose", n, len(m.cases))}
	}
	m.set.Declares("tests", stated(1), m.set.Totals.Tests)
	m.set.Fails("failures", stated(3), m.set.Totals.Failed)
	m.set.Fails("errors", stated(4), m.set.Totals.Errors)
	m.set.Declares("skips", stated(5), m.set.Totals.Skipped)
	return nil
}

func (m *minitest) line(text string) {
	if t := minitestTotals.FindStringSubmatch(text); t != nil {
		m.shown()
		m.totals = t
		return
	}
	if minitestDetail.MatchString(text) {
		m.shown()
		m.detail = true
		return
	}
	if name := minitestName.FindStringSubmatch(text); name != nil && m.detail {
		m.details(name)
		return
	}
	if m.about >= 0 {
		m.output.Add(text + "\n")
		return
	}
	m.test(text)
}

// test takes a line in which a test begins or ends.
func (m *minitest) test(text string) {
	if t := minitestTest.FindStringSubmatch(text); t != nil {
		m.open = len(m.cases)
		m.index[t[1]+"#"+t[2]] = m.open
		m.cases = append(m.cases, metric.Test{ID: metric.ID{Suite: t[1], Name: t[2]}})
		text = t[3]
	}
	if end := minitestEnd.FindStringSubmatch(text); end != nil && m.open >= 0 {
		took, _ := strconv.ParseFloat(end[1], 64) // digits
		m.cases[m.open].Duration, m.cases[m.open].Status = parsed.Seconds(took), minitestStatuses[end[2]]
		m.open = -1
	}
}

// details begins the details of one test.
func (m *minitest) details(name []string) {
	m.detail = false
	i, known := m.index[name[1]]
	if !known {
		return
	}
	m.about = i
	m.cases[i].File = strings.TrimPrefix(name[2], "./")
	m.cases[i].Line, _ = strconv.Atoi(name[3]) // digits, or nothing
}

func (m *minitest) shown() {
	if m.about >= 0 {
		c := &m.cases[m.about]
		c.Message = parsed.JoinTexts([]parsed.AnyText{parsed.AnyText(c.Message), parsed.AnyText(m.output.String())}, "\n\n")
	}
	m.about, m.output = -1, textstream.Clip{}
}
