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

// acutest.h of Acutest says how it prints a test, whose outcome follows what the test
// itself printed, and the totals: https://github.com/mity/acutest
var (
	acutestTest   = regexp.MustCompile(`^Test (.+?)\.\.\. +(.*)$`)
	acutestResult = regexp.MustCompile(`\[ (OK|FAILED|SKIPPED) \](?:  [\d.]+ secs)?$`)
	acutestTotals = regexp.MustCompile(`^(?:SUCCESS: (?:All|No) unit tests have (?:passed|failed)\.|FAILED: (\d+) of (\d+) unit tests (?:has|have) failed\.)$`)
)

func detectAcutest(h sniff.Head) bool {
	return h.MatchesLine(func(l string) bool {
		return acutestTotals.MatchString(l) || acutestTest.MatchString(l) && acutestResult.MatchString(l)
	})
}

const acutestSuite = "Acutest" // a program does not print its name

var acutestStatuses = map[string]metric.Status{"OK": metric.Passed, "FAILED": metric.Failed, "SKIPPED": metric.Skipped}

// acutest reads what programs of Acutest print, one after the other.
type acutest struct {
	set     parsed.Outcomes
	name    string        // of the last test, "" after the totals
	status  metric.Status // of the last test, as far as it was printed
	message textstream.Clip
	before  parsed.Totals // of the programs that have ended
}

func parseAcutest(r io.Reader) (parsed.Report, error) {
	a := &acutest{}
	a.set.Several = true // tests of several programs may have one name
	err := eachLine(r, "\r", a.line)
	if a.name != "" {
		a.end()
		a.set.Breaks(acutestSuite, "there are no totals: the program crashed, or its output was cut off")
	}
	return a.set.Report("acutest"), err
}

func (a *acutest) line(text string) {
	if m := acutestTest.FindStringSubmatch(text); m != nil {
		a.end()
		a.name, a.status, text = m[1], metric.Errored, m[2]
	}
	if a.name == "" {
		return
	}
	m := acutestResult.FindStringSubmatch(text)
	switch {
	case m != nil && a.status == metric.Errored:
		a.status, a.message = acutestStatuses[m[1]], textstream.Clip{}
	case acutestTotals.MatchString(text):
		a.end()
		a.total(acutestTotals.FindStringSubmatch(text))
	default:
		a.message.Add(strings.TrimSpace(text) + "\n")
	}
}

// end adds the last test.
func (a *acutest) end() {
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

// total compares the totals of a program, which names none that passed, with the recount.
func (a *acutest) total(m []string) {
	now := a.set.Totals
	if m[2] != "" && now.Skipped == a.before.Skipped { // skipped tests may be in it or not
		a.set.Declares("tests", float64(parsed.CountOf(m[2])), now.Tests-a.before.Tests)
	}
	a.set.Fails("failures", float64(parsed.CountOf(m[1])), now.Failed+now.Errors-a.before.Failed-a.before.Errors)
	a.before = now
}
