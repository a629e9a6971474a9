package testtext

import (
	"cmp"
	"fmt"
	"io"
	"strconv"

	"supervise/internal/regexp"
	"supervise/internal/sniff"
	"supervise/metric"
	"supervise/parsers/internal/parsed"
)

// unity.c of Unity says how it prints a test and the totals:
// https://github.com/ThrowTheSwitch/Unity/blob/master/src/unity.c
var (
	unityTest   = regexp.MustCompile(`^(.+?):(\d+):(.+?):(PASS|FAIL|IGNORE)(?:$|: ?(.*)$| \()`)
	unityGroup  = regexp.MustCompile(`^(?:IGNORE_)?TEST\((\w+), (\w+)\)(?:(.+):(\d+)::(FAIL|IGNORE)(?:: ?(.*))?| (PASS)\b.*|)$`) // -v of Unity Fixture
	unityTotals = regexp.MustCompile(`^(\d+) Tests (\d+) Failures (\d+) Ignored *$`)
)

func detectUnity(h sniff.Head) bool {
	return h.MatchesLine(func(l string) bool { return unityTest.MatchString(l) || unityTotals.MatchString(l) })
}

var unityStatuses = map[string]metric.Status{"PASS": metric.Passed, "FAIL": metric.Failed, "IGNORE": metric.Skipped}

// unity reads what programs of Unity print, one after the other.
type unity struct {
	set     parsed.Outcomes
	tests   []metric.Test // of the program whose totals are still to come
	missing string        // tests that the totals count and no line names
}

func parseUnity(r io.Reader) (parsed.Report, error) {
	u := &unity{}
	u.set.Several = true // a test may be run with several arguments
	err := eachLine(r, "\r", u.line)
	u.cut(len(u.tests))
	if err == nil && u.missing != "" {
		err = &parsed.SyntaxError{Problem: u.missing}
	}
	return u.set.Report("unity"), err
}

func (u *unity) line(text string) {
	if m := unityGroup.FindStringSubmatch(text); m != nil {
		u.test(metric.ID{Suite: m[1], Name: m[2]}, cmp.Or(m[5], m[7], "IGNORE"), m[6], m[3:5])
	} else if m := unityTest.FindStringSubmatch(text); m != nil {
		u.test(metric.ID{Suite: m[1], Name: m[3]}, m[4], m[5], m[1:3])
	} else if m := unityTotals.FindStringSubmatch(text); m != nil {
		u.total(m)
	}
}

// test takes a test; place is its file and line.
func (u *unity) test(id metric.ID, status, message string, place []string) {
	t := metric.Test{ID: id, File: place[0], Status: unityStatuses[status], Message: message}
	t.Line, _ = strconv.Atoi(place[1]) // digits, or none
	u.tests = parsed.Keep(u.tests, t)
}

// total compares the totals of a program with the recount, and ends it. More tests than
// it counts are those of a program before it, without totals.
func (u *unity) total(m []string) {
	n := parsed.CountOf(m[1]).Int()
	u.cut(len(u.tests) - n)
	before := u.set.Totals
	u.add(len(u.tests))
	named := u.set.Totals.Tests - before.Tests
	if named < n && u.missing == "" {
		u.missing = fmt.Sprintf("the totals of a program count %d tests, and %d are named: run it with -v", n, named)
	}
	u.set.Fails("failures", float64(parsed.CountOf(m[2])), u.set.Totals.Failed-before.Failed)
}

// cut ends a program without totals, which has the first n tests.
func (u *unity) cut(n int) {
	if n > 0 {
		u.set.Breaks(u.tests[n-1].Suite, "there are no totals: the program crashed, or its output was cut off")
		u.add(n)
	}
}

// add moves the first n tests into the report.
func (u *unity) add(n int) {
	for _, t := range u.tests[:n] {
		u.set.Add(t)
	}
	u.tests = u.tests[n:]
}
