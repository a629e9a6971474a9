// Package testxml reads the reports of test runners in XML, and writes JUnit XML. Each file has
// the reader of one format. A reader goes through the elements with an [xmlstream.Reader] and
// adds the tests to an [xmlSet], which checks the totals of the report and returns it.
//
// JUnit XML, which many runners write in their own dialects, has several files: junit.go reads
// the elements, junitcase.go makes tests of suites and cases, junitdialect.go knows what
// differs between runners, and junitwrite.go writes the format.
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

// Formats lists the reports of test runners in XML, the most specific first.
var Formats = parsed.SetKind(parsed.TestReport, parsed.XML, []parsed.Format{
	{
		Name: "trx", Detect: detectTRX, Parse: parseTRX, Marks: "root `TestRun`", Tools: "dotnet test, vstest, Visual Studio",
		Note: "Failed, Timeout and InProgress failed; Error, Aborted, Disconnected and unknown outcomes are errors; NotExecuted, NotRunnable, Inconclusive and Pending are skipped. Each row of a data-driven test counts. Suite: the assembly; class: that of the method. A crash of the test host (its messages are read in English), or an outcome of the run other than Completed and Failed, breaks every assembly.",
	},
	{Name: "cppunit", Detect: detectCppUnit, Parse: parseCppUnit, Marks: "root `TestRun` with `Statistics` or lists of tests", Tools: "CppUnit, AUnit", Note: "Failures of type Error are errors. The class is what precedes the last `::` or the first ` : `."},
	{
		Name: "nunit", Detect: detectNUnit, Parse: parseNUnit, Marks: "root `test-run` (NUnit 3), `test-results` (NUnit 2) or a `test-suite` with cases", Tools: "nunit-console, NUnitLite, Unity, NUnit under dotnet",
		Note: "Failed failed, whatever its label; Error of NUnit 2 is an error; Skipped, Ignored, Explicit, Inconclusive and NotRunnable are skipped; Warning passed. A suite that failed by itself (tear-down, an assembly that cannot be loaded) is broken. Suite: the assembly; class: the fixture with its arguments.",
	},
	{
		Name: "xunit", Detect: detectXUnit, Parse: parseXUnit, Marks: "root `assemblies`, or `assembly` with a test framework or tests", Tools: "xUnit.net 1 to 3, Fixie",
		Note: "NotRun (an explicit test) is skipped; an unknown result is an error. An entry in `errors` (clean-up, fatal) breaks the suite. Suite: the assembly; class: the type.",
	},
	{Name: "robot", Detect: detectRobot, Parse: parseRobot, Marks: "root `robot`", Tools: "Robot Framework, rebot", Note: "A failed tear-down of a suite fails its tests, as in Robot Framework. A file that could not be parsed and a suite of a split output are broken. Suite: the file."},
	{Name: "testng", Detect: detectTestNG, Parse: parseTestNG, Marks: "root `testng-results`", Tools: "TestNG", Note: "Set-up and tear-down methods are not tests; one that fails breaks its class. Parameters are part of the name. A skipped attempt followed by a pass is flaky."},
	{Name: "ctest", Detect: detectCTest, Parse: parseCTest, Marks: "root `Site` with `Testing`", Tools: "`ctest -T Test`", Note: "As CTest's JUnit XML. A listed test without a result means that the run aborted."},
	{Name: "catch2", Detect: detectCatch2, Parse: parseCatch2, Marks: "root `Catch` or `Catch2TestRun`", Tools: "Catch2 2 and 3 with `-r xml`", Note: "A test case counts once, by its own result; without one it crashed, which is an error. Its JUnit reporter counts sections."},
	{Name: "doctest", Detect: detectDoctest, Parse: parseDoctest, Marks: "root `doctest`", Tools: "doctest with `-r=xml`", Note: "As catch2. Its JUnit reporter counts subcases, omits skipped tests, and writes allowed failures and warnings as failures. Suite: the program; class: the test suite."},
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
		Note: "The worst of several outcomes, or of several cases with one identity, counts; `flakyFailure` is a flaky pass. `warning` failed. Words in `status` and `result` count if no element is more specific; an unknown word or element is a [contradiction](#contradictions). A failing case of a file, hook or provider breaks its suite ([placeholders](projects.md#test-frameworks)); one without a name is none.",
	},
})

// xmlSet collects the cases of one document. The readers of all formats but JUnit XML embed it.
type xmlSet struct{ parsed.TestSet }

// report returns the report with the collected cases. x is the reader of the document.
func (s *xmlSet) report(x *xmlstream.Reader, producer string) parsed.Report {
	if noise := textstream.FirstLine(textstream.CleanText(x.TextOutside())); noise != "" {
		s.Problems.Add("text outside of the report: %s", noise)
	}
	if x.UnknownRoot != "" {
		s.AddContradiction(secondDocument, x.UnknownRoot)
	}
	t := s.Tests()
	for _, c := range t.Cases {
		t.Duration += c.Duration
	}
	return parsed.Report{Producer: producer, Tests: t, Cases: s.Totals, Problems: s.Problems.All()}
}

// secondDocument is the problem of a file with another document after the report.
const secondDocument = "a second document, <%s>, is in the same file and was not read: write each report to a separate file"

// addKnown adds a case. If its status is 0, its outcome is unknown and counts as an error. Attr
// is the attribute of the outcome, and word its value in the report.
func (s *xmlSet) addKnown(t metric.Test, attr, word string) {
	if t.Status == 0 {
		t.Status = metric.Errored
		s.Problems.Add("test %q has the unknown %s %q: it counts as an error", t.Name, attr, word)
	}
	s.Add(t)
}

// checkTotal compares a total in an attribute with the counts, any of which may be right since
// tools count differently. It adds a problem if none is, and nothing if the element does not
// have the attribute. What describes the total, as in "tests passed".
func (s *xmlSet) checkTotal(t xmlstream.Token, attr, what string, counts ...int) {
	text, ok := t.Attr(attr)
	n, err := strconv.Atoi(strings.TrimSpace(text))
	if !ok || err != nil || slices.Contains(counts, n) {
		return
	}
	s.Problems.Add("the report says that %d %s and holds %d", n, what, counts[0])
}

// checkFailures compares the number of failures, which is the sum of the attributes, with
// the counts. It does nothing if the element has none of the attributes.
func (s *xmlSet) checkFailures(t xmlstream.Token, what string, counts []int, attrs ...string) {
	sum, stated := 0, false
	for _, name := range attrs {
		if text, ok := t.Attr(name); ok {
			n, err := strconv.Atoi(strings.TrimSpace(text))
			sum, stated = sum+n, stated || err == nil
		}
	}
	if stated {
		s.CheckFailures(what, float64(sum), counts...)
	}
}

// checkNotEmpty marks a suite as broken that has no tests although its report states a
// total.
func (s *xmlSet) checkNotEmpty(t xmlstream.Token, name string, tests int) {
	if n := numberAttr(t, "total"); n > 0 && tests == 0 {
		s.AddBroken(name, fmt.Sprintf("its report says that it has %d tests and names none", n))
	}
}

// readRoot reads a document. It calls f for each root element with one of the names. It is an
// error if there is none, or if f returns one. Format is the name of the format in errors.
func readRoot(r io.Reader, format string, f func(*xmlstream.Reader, xmlstream.Token) error, names ...string) (*xmlstream.Reader, error) {
	return readXML(r, format, func(x *xmlstream.Reader, t xmlstream.Token) (bool, error) {
		if !slices.Contains(names, t.Name) {
			return false, nil
		}
		return true, f(x, t)
	})
}

// readXML reads a document. It calls f for each root element, since a file may have several,
// and f reports whether it knows the element. It is an error if f knows none of them.
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

// readElements reads the children of the open element. The keys of elements are their names. A
// value is either a *string for the text of the element, or a function that reads the element.
// Other elements are skipped.
func readElements(x *xmlstream.Reader, elements map[string]any) error {
	return x.EachChild(func(t xmlstream.Token) (err error) {
		switch target := elements[t.Name].(type) {
		case *string:
			*target, err = readText(x)
		case func(xmlstream.Token) error:
			err = target(t)
		}
		return err
	})
}

// readText returns the text of the open element.
func readText(x *xmlstream.Reader) (string, error) {
	var c textstream.Clip
	err := x.EachText(c.Add)
	return c.String(), err
}

// assemblyName returns the name of a .NET assembly without its folder, which differs between
// checkouts: "shop.dll" for "/p/bin/shop.dll".
func assemblyName(path string) string { return path[strings.LastIndexAny(path, `/\`)+1:] }

// trimClass returns the full name of a .NET test without its class in front: "Add" for
// "shop.Calc.Add" in the class "shop.Calc". Other names do not change.
func trimClass(name, class string) string {
	if method, ok := strings.CutPrefix(name, class+"."); ok && class != "" && method != "" {
		return method
	}
	return name
}
