// Package testxml reads the reports of test runners in XML, and writes JUnit
// XML.
package testxml

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"supervise/internal/textstream"
	"supervise/internal/xmlstream"
	"supervise/metric"
	"supervise/parsers/internal/parsed"
)

// Formats are the reports of test runners in XML, the most specific first.
var Formats = parsed.Rows(parsed.TestReport, parsed.XML, []parsed.Format{
	{
		Name: "trx", Detect: detectTRX, Parse: parseTRX, Marks: "root `TestRun`", Tools: "dotnet test, vstest, Visual Studio",
		Note: "Failed, Timeout and InProgress failed; Error, Aborted, Disconnected and unknown outcomes are errors; NotExecuted, NotRunnable, Inconclusive and Pending are skipped. Each row of a data-driven test counts. Suite: the assembly; class: that of the method. A crash of the test host (its messages are read in English), or an outcome of the run other than Completed and Failed, breaks every assembly.",
	},
	{
		Name: "cppunit", Detect: detectCppUnit, Parse: parseCppUnit, Marks: "root `TestRun` with `Statistics` or lists of tests", Tools: "CppUnit, AUnit",
		Note: "Failures of type Error are errors. The class is what precedes the last `::` or the first ` : `.",
	},
	{
		Name: "nunit", Detect: detectNUnit, Parse: parseNUnit, Marks: "root `test-run` (NUnit 3), `test-results` (NUnit 2) or a `test-suite` with cases", Tools: "nunit-console, NUnitLite, Unity, NUnit under dotnet",
		Note: "Failed failed, whatever its label; Error of NUnit 2 is an error; Skipped, Ignored, Explicit, Inconclusive and NotRunnable are skipped; Warning passed. A suite that failed by itself (tear-down, an assembly that cannot be loaded) is broken. Suite: the assembly; class: the fixture with its arguments.",
	},
	{
		Name: "xunit", Detect: detectXUnit, Parse: parseXUnit, Marks: "root `assemblies`, or `assembly` with a test framework or tests", Tools: "xUnit.net 1 to 3, Fixie",
		Note: "NotRun (an explicit test) is skipped; an unknown result is an error. An entry in `errors` (clean-up, fatal) breaks the suite. Suite: the assembly; class: the type.",
	},
	{
		Name: "robot", Detect: detectRobot, Parse: parseRobot, Marks: "root `robot`", Tools: "Robot Framework, rebot",
		Note: "A failed tear-down of a suite fails its tests, as in Robot Framework. A file that could not be parsed and a suite of a split output are broken. Suite: the file.",
	},
	{
		Name: "testng", Detect: detectTestNG, Parse: parseTestNG, Marks: "root `testng-results`", Tools: "TestNG",
		Note: "Set-up and tear-down methods are not tests; one that fails breaks its class. Parameters are part of the name. A skipped attempt followed by a pass is flaky.",
	},
	{Name: "ctest", Detect: detectCTest, Parse: parseCTest, Marks: "root `Site` with `Testing`", Tools: "`ctest -T Test`", Note: "As CTest's JUnit XML. A listed test without a result means that the run aborted."},
	{
		Name: "catch2", Detect: detectCatch2, Parse: parseCatch2, Marks: "root `Catch` or `Catch2TestRun`", Tools: "Catch2 2 and 3 with `-r xml`",
		Note: "A test case counts once, by its own result; without one it crashed, which is an error. Its JUnit reporter counts sections.",
	},
	{
		Name: "doctest", Detect: detectDoctest, Parse: parseDoctest, Marks: "root `doctest`", Tools: "doctest with `-r=xml`",
		Note: "As catch2. Its JUnit reporter counts subcases, omits skipped tests, and writes allowed failures and warnings as failures. Suite: the program; class: the test suite.",
	},
	{
		Name: "boost", Detect: detectBoost, Parse: parseBoost, Marks: "root `TestLog`, or `TestResult` with suites", Tools: "Boost.Test: XML log and XML report, also both in one file",
		Note: "An exception is an error, and so are aborted and timed-out. If both name a test, the report counts: the log alone has neither expected failures nor tests skipped for a dependency. A failure outside tests breaks the module. Suite: the module; class: the suites. Without test cases it is an error: use --log_level=test_suite or --report_level=detailed.",
	},
	{
		Name: "qttest", Detect: detectQtTest, Parse: parseQtTest, Marks: "root `TestCase` or `Environment`, with `QtVersion` or `Incident`", Tools: "Qt Test 5 and 6 with -xml or -lightxml",
		Note: "Counts as Qt does: each row of data, initTestCase and cleanupTestCase are tests. fail and xpass failed, xfail followed by a pass passed, blacklisted outcomes are skipped. A failed initTestCase, a fatal message or signal break the suite. A function without outcome is an error. Suite: the class.",
	},
	{
		Name: "junit", Detect: detectJUnit, Parse: parseJUnit, Marks: "root `testsuites`, `testsuite`, `testcase` or `testrun` (Eclipse)", Tools: "most test runners: see the dialects below",
		Note: "The worst of several outcomes, or of several cases with one identity, counts; `flakyFailure` is a flaky pass. Words in `status` and `result` count if no element is more specific; an unknown one is a [contradiction](#contradictions).",
	},
})

// xmlSet gathers the cases of one document.
type xmlSet struct{ parsed.TestSet }

// report returns what was read of the document in x.
func (s *xmlSet) report(x *xmlstream.Reader, producer string) parsed.Report {
	if noise := textstream.FirstLine(textstream.CleanText(x.TextOutside())); noise != "" {
		s.Problems.Add("text outside of the report: %s", noise)
	}
	if x.UnknownRoot != "" {
		s.Contradicts(unreadDocument, x.UnknownRoot)
	}
	t := s.Tests()
	for _, c := range t.Cases {
		t.Duration += c.Duration
	}
	return parsed.Report{Producer: producer, Tests: t, Cases: s.Totals, Problems: s.Problems.All()}
}

// unreadDocument is about another document than that of the report in one file.
const unreadDocument = "a second document, <%s>, is in the same file and was not read: write each report to a separate file"

// addKnown takes one case; word is what the report calls its outcome, which is
// an error where it is unknown.
func (s *xmlSet) addKnown(t metric.Test, what, word string) {
	if t.Status == 0 {
		t.Status = metric.Errored
		s.Problems.Add("test %q has the unknown %s %q: it counts as an error", t.Name, what, word)
	}
	s.Add(t)
}

// declared compares a number that the report says of itself with the recount;
// several recounts may be right, as writers differ in what they count.
func (s *xmlSet) declared(t xmlstream.Token, attr, what string, counts ...int) {
	text, ok := t.Attr(attr)
	n, err := strconv.Atoi(strings.TrimSpace(text))
	if !ok || err != nil || slices.Contains(counts, n) {
		return
	}
	s.Problems.Add("the report says that %d %s and holds %d", n, what, counts[0])
}

// fails compares how many tests failed, the sum of some attributes, with the recounts;
// what the report does not state is not a contradiction.
func (s *xmlSet) fails(t xmlstream.Token, what string, counts []int, attrs ...string) {
	sum, stated := 0, false
	for _, name := range attrs {
		if text, ok := t.Attr(name); ok {
			n, err := strconv.Atoi(strings.TrimSpace(text))
			sum, stated = sum+n, stated || err == nil
		}
	}
	if stated {
		s.Fails(what, float64(sum), counts...)
	}
}

// bad is how many cases failed or broke off.
func (s *xmlSet) bad() int { return s.Totals.Failed + s.Totals.Errors }

// hollow breaks a suite that, as its report says, has tests of which none is
// there.
func (s *xmlSet) hollow(t xmlstream.Token, name string, tests int) {
	if n := declaredNumber(t, "total"); n > 0 && tests == 0 {
		s.Breaks(name, fmt.Sprintf("its report says that it has %d tests and names none", n))
	}
}

// readRoot reads a complete document with f, whose root has one of the names.
func readRoot(r io.Reader, format string, f func(*xmlstream.Reader, xmlstream.Token) error, names ...string) (*xmlstream.Reader, error) {
	return readXML(r, format, func(x *xmlstream.Reader, t xmlstream.Token) (bool, error) {
		if !slices.Contains(names, t.Name) {
			return false, nil
		}
		return true, f(x, t)
	})
}

// readXML reads a complete document: f is called with its outermost elements and
// reports false for one that it does not know.
func readXML(r io.Reader, format string, f func(*xmlstream.Reader, xmlstream.Token) (bool, error)) (*xmlstream.Reader, error) {
	x, found := xmlstream.NewReader(r), false
	err := x.EachChild(func(t xmlstream.Token) error {
		name := t.Name
		known, err := f(x, t)
		if found = found || known; !known {
			x.UnknownRoot = name
		}
		return err
	})
	switch {
	case err != nil:
		return x, fmt.Errorf("read %s: %w", format, err)
	case !found:
		return x, fmt.Errorf("%w: it is no %s", parsed.ErrUnknownFormat, format)
	}
	return x, nil
}

// content adds the text of the open element to c.
func content(x *xmlstream.Reader, c *textstream.Clip) error {
	if !c.Empty() {
		c.Add("\n")
	}
	return x.EachText(c.Add)
}

// children reads the elements in the open one: a pointer takes the text of its
// element, a function reads it.
func children(x *xmlstream.Reader, elements map[string]any) error {
	return x.EachChild(func(t xmlstream.Token) (err error) {
		switch to := elements[t.Name].(type) {
		case *string:
			*to, err = clipped(x)
		case func(xmlstream.Token) error:
			err = to(t)
		}
		return err
	})
}

// clipped returns the text of the open element.
func clipped(x *xmlstream.Reader) (string, error) {
	var c textstream.Clip
	err := x.EachText(c.Add)
	return c.String(), err
}

// assembly returns the name of a .NET assembly without its folder, which
// differs from checkout to checkout.
func assembly(path string) string { return path[strings.LastIndexAny(path, `/\`)+1:] }

// withoutClass cuts the class off the full name of a .NET test.
func withoutClass(name, class string) string {
	if short, ok := strings.CutPrefix(name, class+"."); ok && class != "" && short != "" {
		return short
	}
	return name
}
