package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strconv"
)

// counts are numbers of tests. Total includes failed and skipped ones.
type counts struct {
	Total   int `yaml:"tests" json:"tests"`
	Failed  int `yaml:"failed" json:"failed"`
	Skipped int `yaml:"skipped" json:"skipped"`
}

func (c counts) String() string {
	s := fmt.Sprint(c.Total)
	if c.Failed > 0 {
		s += fmt.Sprintf(", %d failed", c.Failed)
	}
	if c.Skipped > 0 {
		s += fmt.Sprintf(", %d skipped", c.Skipped)
	}
	return s
}

func (c *counts) add(d counts) {
	c.Total += d.Total
	c.Failed += d.Failed
	c.Skipped += d.Skipped
}

// summary says which numbers of a tool's closing lines mean what. All that match are
// added up, in the last of the lines if there is a pattern for those. Without a pattern
// for the total, it is the sum of the three others.
type summary struct {
	line, total, passed, failed, skipped string
}

// The frameworks of C++, whose programs ctest runs too.
var (
	gtest = summary{
		total:   `\[=+\] (\d+) tests? from .* ran\.|YOU HAVE (\d+) DISABLED TEST`,
		failed:  `\[  FAILED  \] (\d+) tests?, listed`,
		skipped: `\[  SKIPPED \] (\d+) tests?, listed|YOU HAVE (\d+) DISABLED TEST`,
	}
	catch2 = summary{
		total:   `All tests passed \(.* in (\d+) test cases?\)|test cases:\s*(\d+) \|`,
		failed:  `test cases:.*?(\d+) failed`,
		skipped: `test cases:.*?(\d+) skipped`,
	}
	doctest = summary{
		total:  `\[doctest\] test cases:\s*(\d+) \|`,
		failed: `\[doctest\] test cases:.*?(\d+) failed`,
	}
)

// readers knows the closing lines of the tools, by the name that the table gives them.
var readers = map[string]func([]byte) (counts, error){
	"go test -json": goTest,
	"ctest -V":      ctestPrograms,
	"pytest": summary{
		line:    `(?m)^.* in \d+\.\d+s\b.*$`,
		passed:  `(\d+) (?:passed|xpassed)\b`,
		failed:  `(\d+) (?:failed|errors?)\b`,
		skipped: `(\d+) (?:skipped|xfailed)\b`,
	}.read,
	"unittest": summary{
		total:   `(?m)^Ran (\d+) tests? in `,
		failed:  `(?m)^FAILED \(.*?\b(?:failures|errors)=(\d+)(?:, errors=(\d+))?`,
		skipped: `(?m)^(?:OK|FAILED) \(.*?\bskipped=(\d+)(?:, expected failures=(\d+))?`,
	}.read,
	"mocha": summary{
		passed:  `(?m)^\s+(\d+) passing\b`,
		failed:  `(?m)^\s+(\d+) failing\b`,
		skipped: `(?m)^\s+(\d+) pending\b`,
	}.read,
	"jest": summary{
		total:   `(?m)^Tests:.* (\d+) total`,
		failed:  `(?m)^Tests:.*?(\d+) failed`,
		skipped: `(?m)^Tests:.*?(\d+) (?:skipped|todo)`,
	}.read,
	"vitest": summary{
		total:   `(?m)^\s*Tests .*\((\d+)\)`,
		failed:  `(?m)^\s*Tests .*?(\d+) failed`,
		skipped: `(?m)^\s*Tests .*?(\d+) (?:skipped|todo)`,
	}.read,
	"ava": summary{
		passed:  `(?m)^\s+(\d+) (?:tests? passed|known failures?)`,
		failed:  `(?m)^\s+(\d+) tests? failed`,
		skipped: `(?m)^\s+(\d+) tests? (?:skipped|todo)`,
	}.read,
	"lab": summary{
		total:   `(?m)^(?:\d+ of )?(\d+) tests?(?: failed| passed| complete)?\b`,
		failed:  `(?m)^(\d+) of \d+ tests? failed`,
		skipped: `\((\d+) skipped\)`,
	}.read,
	// Of node --test. Suites do not count.
	"node": summary{
		passed:  `(?m)^(?:#|ℹ) pass (\d+)`,
		failed:  `(?m)^(?:#|ℹ) (?:fail|cancelled) (\d+)`,
		skipped: `(?m)^(?:#|ℹ) (?:skipped|todo) (\d+)`,
	}.read,
	// Of tape: what it counts are assertions.
	"tape": summary{
		total:   `(?m)^# tests\s+(\d+)`,
		failed:  `(?m)^# fail\s+(\d+)`,
		skipped: `(?m)^(?:not )?ok \d+ .*(# (?:SKIP|TODO))`, // its closing lines count them as passed
	}.read,
	"tap": summary{
		total:   `(?m)^(?:# )?[aA]sserts:?.* (?:of )?(\d+)$|^# \{ total: (\d+)`,
		failed:  `(?m)^(?:# )?[aA]sserts:.*?(\d+) failed|^# \{ total: .*?fail: (\d+)`,
		skipped: `(?m)^(?:# )?[aA]sserts:.*?(\d+) skip|^# \{ total: .*?(?:skip|todo): (\d+)`,
	}.read,
	"cargo": summary{
		passed:  `(?m)^test result: .*?(\d+) passed`,
		failed:  `(?m)^test result: .*?(\d+) failed`,
		skipped: `(?m)^test result: .*?(\d+) ignored`,
	}.read,
	// The last line of a module, which has no time.
	"maven": summary{
		total:   `(?m)^\[\w+\] Tests run: (\d+), Failures: \d+, Errors: \d+, Skipped: \d+$`,
		failed:  `(?m)^\[\w+\] Tests run: \d+, Failures: (\d+), Errors: (\d+), Skipped: \d+$`,
		skipped: `(?m)^\[\w+\] Tests run: \d+, Failures: \d+, Errors: \d+, Skipped: (\d+)$`,
	}.read,
	"ctest": summary{
		total:   `(?m)^\d+% tests passed(?:, \d+ tests? failed)? out of (\d+)`, // CMake 4.4 says nothing of failures where there are none
		failed:  `(?m)^\d+% tests passed, (\d+) tests? failed out of \d+`,
		skipped: `(?m)^\s*\d+/\d+ Test .*(\*\*\*Skipped|\*\*\*Not Run \(Disabled\))`,
	}.read,
	"gtest":   gtest.read,
	"catch2":  catch2.read,
	"doctest": doctest.read,
	"boost": summary{
		total:  `(?m)^Running (\d+) test cases?\.\.\.`,
		failed: `(?m)^\*\*\* (\d+) failures? (?:is|are) detected`,
	}.read,
	"automake": summary{
		total:   `(?m)^# TOTAL:\s+(\d+)`,
		failed:  `(?m)^# (?:FAIL|ERROR|XPASS):\s+(\d+)`,
		skipped: `(?m)^# (?:SKIP|XFAIL):\s+(\d+)`,
	}.read,
	// make test of programs that print "passed: 3" and "failed: 0".
	"passed:": summary{
		passed: `(?mi)^(?:tests )?passed: (\d+)`,
		failed: `(?mi)^(?:tests )?failed: (\d+)`,
	}.read,
	"meson": summary{
		passed:  `(?m)^(?:Ok|Expected Fail):\s+(\d+)`,
		failed:  `(?m)^(?:Fail|Unexpected Pass|Timeout):\s+(\d+)`,
		skipped: `(?m)^Skipped:\s+(\d+)`,
	}.read,
	"rspec": summary{
		total:   `(?m)^(\d+) examples?,`,
		failed:  `(?m)^\d+ examples?, (\d+) failures?`,
		skipped: `(?m)^\d+ examples?,.*?(\d+) pending`,
	}.read,
	"minitest": summary{
		total:   `(?m)^(\d+) runs, `,
		failed:  `(?m)^\d+ runs, .*?(\d+) failures, (\d+) errors`,
		skipped: `(?m)^\d+ runs, .*?(\d+) skips`,
	}.read,
	"phpunit": summary{
		total:   `(?m)^OK \((\d+) tests?,|^Tests: (\d+),`,
		failed:  `(?m)^Tests: .*?(?:Errors|Failures): (\d+)(?:, Failures: (\d+))?`,
		skipped: `(?m)^Tests: .*?(?:Skipped|Incomplete): (\d+)`,
	}.read,
	"exunit": summary{
		total:   `(?:(\d+) doctests?, )?(?:\d+ properties, )?(\d+) tests?, \d+ failures?`,
		failed:  `tests?, (\d+) failures?`,
		skipped: `tests?, \d+ failures?.*?(\d+) skipped`,
	}.read,
}

var errNoLine = errors.New("no closing line of its tests in the output")

// escapes are what terminals do not show: colours, and spaces without width.
var escapes = regexp.MustCompile("\x1b\\[[0-9;]*[A-Za-z]|\u200b")

func (s summary) read(out []byte) (counts, error) {
	out = escapes.ReplaceAll(bytes.ReplaceAll(out, []byte("\r"), nil), nil)
	if s.line != "" {
		lines := regexp.MustCompile(s.line).FindAll(out, -1)
		if len(lines) == 0 {
			return counts{}, errNoLine
		}
		out = lines[len(lines)-1]
	}
	total, found := sum(s.total, out)
	passed, other := sum(s.passed, out)
	failed, _ := sum(s.failed, out)
	skipped, _ := sum(s.skipped, out)
	if !found && !other {
		return counts{}, errNoLine
	}
	if s.total == "" {
		total = passed + failed + skipped
	}
	return counts{total, failed, skipped}, nil
}

// sum adds all numbers that a pattern captures; a group that is no number counts as 1.
func sum(pattern string, text []byte) (n int, found bool) {
	if pattern == "" {
		return 0, false
	}
	for _, m := range regexp.MustCompile(pattern).FindAllSubmatch(text, -1) {
		for _, group := range m[1:] {
			if len(group) == 0 {
				continue
			}
			found = true
			if v, err := strconv.Atoi(string(group)); err == nil {
				n += v
			} else {
				n++
			}
		}
	}
	return n, found
}

// goTest counts the tests and subtests that ended, and packages that failed without any.
func goTest(out []byte) (counts, error) {
	verdicts := map[[2]string]string{}
	lines := bufio.NewScanner(bytes.NewReader(out))
	lines.Buffer(nil, 64<<20)
	for lines.Scan() {
		var e struct{ Action, Package, Test string }
		if json.Unmarshal(lines.Bytes(), &e) != nil || e.Test == "" {
			continue
		}
		switch e.Action {
		case "pass", "fail", "skip":
			verdicts[[2]string{e.Package, e.Test}] = e.Action
		}
	}
	c := counts{Total: len(verdicts)}
	for _, v := range verdicts {
		switch v {
		case "fail":
			c.Failed++
		case "skip":
			c.Skipped++
		}
	}
	if c.Total == 0 {
		return c, fmt.Errorf("no test in the output")
	}
	return c, lines.Err()
}

var (
	ctestOutput = regexp.MustCompile(`(?m)^(\d+): (.*\n)`)
	ctestEnd    = regexp.MustCompile(`(?m)^\s*\d+/\d+ Test\s+#(\d+): .*?(Passed|\*\*\*Skipped|\*\*\*Not Run \(Disabled\)|\*\*\*)`)
)

// ctestPrograms counts the cases of each program that ctest -V ran, by the closing lines of
// its framework, and a program without such lines as one test.
func ctestPrograms(out []byte) (all counts, err error) {
	out = escapes.ReplaceAll(bytes.ReplaceAll(out, []byte("\r"), nil), nil)
	printed := map[string][]byte{}
	for _, m := range ctestOutput.FindAllSubmatch(out, -1) {
		printed[string(m[1])] = append(printed[string(m[1])], m[2]...)
	}
	for _, m := range ctestEnd.FindAllSubmatch(out, -1) {
		c := counts{Total: 1}
		switch string(m[2]) {
		case "Passed":
		case "***":
			c.Failed = 1
		default:
			c.Skipped = 1
		}
		for _, framework := range []summary{doctest, gtest, catch2} {
			if cases, err := framework.read(printed[string(m[1])]); err == nil {
				c = cases
				break
			}
		}
		all.add(c)
	}
	if all.Total == 0 {
		return all, errNoLine
	}
	return all, nil
}
