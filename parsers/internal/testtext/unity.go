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

// The lines of a test and of the totals, as unity.c prints them, see
// https://github.com/ThrowTheSwitch/Unity/blob/master/src/unity.c
var (
	// unityTestPattern matches the line of a test: "test_calc.c:12:test_add:FAIL: Expected 1
	// Was 2".
	unityTestPattern = regexp.MustCompile(`^(.+?):(\d+):(.+?):(PASS|FAIL|IGNORE)(?:$|: ?(.*)$| \()`)
	// unityGroupPattern matches the line of a test of Unity Fixture with -v: "TEST(calc, add)
	// PASS".
	unityGroupPattern = regexp.MustCompile(`^(?:IGNORE_)?TEST\((\w+), (\w+)\)(?:(.+):(\d+)::(FAIL|IGNORE)(?:: ?(.*))?| (PASS)\b.*|)$`)
	// unityTotalsPattern matches the totals of a program: "5 Tests 1 Failures 0 Ignored".
	unityTotalsPattern = regexp.MustCompile(`^(\d+) Tests (\d+) Failures (\d+) Ignored *$`)
)

func detectUnity(h sniff.Head) bool {
	return h.MatchesLine(func(l string) bool { return unityTestPattern.MatchString(l) || unityTotalsPattern.MatchString(l) })
}

// unityStatuses maps the words of Unity.
var unityStatuses = map[string]metric.Status{"PASS": metric.Passed, "FAIL": metric.Failed, "IGNORE": metric.Skipped}

// unityReader reads the output of one or more programs of Unity.
type unityReader struct {
	set     parsed.Outcomes
	tests   []metric.Test // of the program whose totals are still to come
	unnamed string        // the problem of a program that does not name all tests, "" for none
}

// parseUnity reads the output of programs of Unity. It is an error if a program names fewer
// tests than its totals count. A program without totals is broken.
func parseUnity(r io.Reader) (parsed.Report, error) {
	u := &unityReader{}
	u.set.NumberRepeats = true // a test may be run with several arguments
	err := eachLine(r, "\r", u.readLine)
	u.breakProgram(len(u.tests))
	if err == nil && u.unnamed != "" {
		err = &parsed.SyntaxError{Problem: u.unnamed}
	}
	return u.set.Report("unity"), err
}

// readLine handles a line: of a test, or the totals.
func (u *unityReader) readLine(text string) {
	if m := unityGroupPattern.FindStringSubmatch(text); m != nil {
		u.addTest(metric.ID{Suite: m[1], Name: m[2]}, cmp.Or(m[5], m[7], "IGNORE"), m[6], m[3:5])
	} else if m := unityTestPattern.FindStringSubmatch(text); m != nil {
		u.addTest(metric.ID{Suite: m[1], Name: m[3]}, m[4], m[5], m[1:3])
	} else if m := unityTotalsPattern.FindStringSubmatch(text); m != nil {
		u.finishProgram(m)
	}
}

// addTest adds a test to the open program. Place has its file and line.
func (u *unityReader) addTest(id metric.ID, status, message string, place []string) {
	t := metric.Test{ID: id, File: place[0], Status: unityStatuses[status], Message: message}
	t.Line, _ = strconv.Atoi(place[1]) // digits, or none
	u.tests = parsed.AppendLimited(u.tests, t)
}

// finishProgram compares the totals of a program with its tests, and ends the program. If
// there are more tests, the first ones are those of a program without totals.
func (u *unityReader) finishProgram(m []string) {
	n := parsed.ParseNumber(m[1]).Int()
	u.breakProgram(len(u.tests) - n)
	before := u.set.Totals
	u.moveToReport(len(u.tests))
	named := u.set.Totals.Tests - before.Tests
	if named < n && u.unnamed == "" {
		u.unnamed = fmt.Sprintf("the totals of a program count %d tests, and %d are named: run it with -v", n, named)
	}
	u.set.CheckFailures("failures", float64(parsed.ParseNumber(m[2])), u.set.Totals.Failed-before.Failed)
}

// breakProgram marks a program with the first n tests as broken, since it has no totals.
func (u *unityReader) breakProgram(n int) {
	if n > 0 {
		u.set.AddBroken(u.tests[n-1].Suite, "there are no totals: the program crashed, or its output was cut off")
		u.moveToReport(n)
	}
}

// moveToReport moves the first n tests of the open program to the report.
func (u *unityReader) moveToReport(n int) {
	for _, t := range u.tests[:n] {
		u.set.Add(t)
	}
	u.tests = u.tests[n:]
}
