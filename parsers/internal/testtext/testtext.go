// Package testtext reads the output of test runners for people, and TAP. Each file has the
// reader of one format, which handles the output line by line and collects the tests. At the
// end it compares the tests with the totals that the runner prints, to find output that was cut
// off or does not name all tests.
//
// TAP has several files: tapline.go parses one line, taptree.go arranges points and subtests,
// tapreport.go makes the report, and tap.go has the reader that connects them.
package testtext

import (
	"fmt"
	"io"
	"strings"

	"supervise/internal/textstream"
	"supervise/parsers/internal/parsed"
)

// Formats lists the output formats of test runners, the most specific first.
var Formats = parsed.SetKind(parsed.TestReport, parsed.Text, []parsed.Format{
	{
		Name: "unittest", Detect: detectUnittest, Parse: parseUnittest, Marks: "`Ran N tests in`, or an outcome after `name (module.Class)`", Tools: "`python -m unittest -v`, Django's runner with `-v 2`",
		Note: "An unexpected success failed, an expected failure is skipped; of several outcomes the worst counts. The second test of one name, if `Ran` counts both, is `name[2]`. A module that cannot be loaded, and a class or module whose set-up failed, is broken. A name that cannot be read counts as it is printed, with a problem; many fewer names than `Ran` says (no -v) is an error. Tests skipped by `--failfast` are unknown.",
	},
	{Name: "minitest", Detect: detectMinitest, Parse: parseMinitest, Marks: "lines like `A#test_x = 0.00 s = .`, or its totals", Tools: "minitest and Rails with `--verbose`", Note: "Suite: the class. Fewer names than runs are an error."},
	{Name: "exunit", Detect: detectExUnit, Parse: parseExUnit, Marks: "a module with its file and tests with their line, or the totals", Tools: "`mix test --trace`", Note: "Skipped and excluded tests are skipped. Tests of a module whose setup_all failed are errors, and its file is broken. Fewer names than tests are an error."},
	{Name: "qttest-text", Detect: detectQtText, Parse: parseQtText, Marks: "a line `Start testing of`", Tools: "Qt Test 5 and 6, also several programs in one log (ctest -V)", Note: "As qttest. A program without totals is broken; fewer names than the totals count (-silent) is an error."},
	{
		Name: "unity", Detect: detectUnity, Parse: parseUnity, Marks: "a line like `test_calc.c:12:test_add:PASS`, or its totals", Tools: "programs of Unity (C), also several in one log",
		Note: "Suite: the file, or the group. Ignored tests are skipped. A program without totals is broken; fewer names than the totals count (Unity Fixture without -v) is an error.",
	},
	{Name: "acutest", Detect: detectAcutest, Parse: parseAcutest, Marks: "a line like `Test add...   [ OK ]`, or `SUCCESS: All unit tests have passed.`", Tools: "programs of Acutest (C, C++), also several in one log", Note: "A test without an outcome is an error, a program without the closing line is broken."},
	{
		Name: "automake", Detect: detectAutomake, Parse: parseAutomake, Marks: "a line `Testsuite summary for`, or the start of `check-TESTS`", Tools: "`make check` with Automake's parallel harness",
		Note: "Suite: the folder. XFAIL and SKIP are skipped, XPASS failed. A test that prints TAP counts by its points, with its file as class. `VERBOSE=1` adds messages. Fewer names than `# TOTAL`, as in test-suite.log alone, are an error. Without `make -k` the folders after one that fails are missing.",
	},
	{
		Name: "tap", Detect: detectTAP, Parse: parseTAP, Marks: "a line `TAP version N`, a plan with points, or numbered points", Tools: "node:test, tape, ava, vitest, bats, busted, Test::More, `prove -v` and others; TAP 12 to 14",
		Note: "SKIP and TODO are skipped, whatever the outcome. The tests are the points without subtests; class: the subtests around them; suite: the file in the output of prove, else `TAP`. A failing point of a file or hook is no test ([placeholders](projects.md#test-frameworks)). Too few points, no plan, Bail out or a cut last line break the suite. More points than planned and numbers out of order are problems. prove without -v names no tests; a file that it skipped is one skipped test. The pragma +strict is ignored.",
	},
})

// namesError returns an error if fewer tests are named than stated, otherwise nil. If no test
// is named, the text is not a report, and noNames says why. Remedy says how the user gets all
// names.
func namesError(named, stated int, noNames, remedy string) error {
	switch {
	case named >= stated:
		return nil
	case named == 0:
		return fmt.Errorf("%w: %s", parsed.ErrUnknownFormat, noNames)
	}
	return &parsed.SyntaxError{Problem: fmt.Sprintf("%d tests ran, and %d are named: %s", stated, named, remedy)}
}

// joinOutput returns the message of a test and more output of it, with an empty line between
// them.
func joinOutput(message, output string) string {
	return parsed.JoinTexts([]parsed.AnyText{parsed.AnyText(message), parsed.AnyText(output)}, "\n\n")
}

// eachLine calls f with the start of every line, without colors and without the characters
// of cutset at its end.
func eachLine(r io.Reader, cutset string, f func(string)) error {
	return textstream.EachLine(r, func(l textstream.Line) {
		f(strings.TrimRight(textstream.StripANSI(string(l.Text[:min(len(l.Text), parsed.MaxLine)])), cutset))
	})
}
