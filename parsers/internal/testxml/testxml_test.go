package testxml_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"supervise/parsers"
	"supervise/test/reports"
)

func FuzzTRX(f *testing.F) {
	reports.Fuzz(f, "trx", `<TestRun><Results><UnitTestResult testId="1" testName="N.C.a" outcome="Failed" duration="00:00:01.5"><Output><ErrorInfo><Message>m</Message></ErrorInfo></Output><InnerResults><UnitTestResult testName="b" outcome="Passed"/></InnerResults></UnitTestResult></Results><TestDefinitions><UnitTest id="1" storage="/a/b.dll"><TestMethod className="N.C" adapterTypeName="x"/></UnitTest></TestDefinitions><ResultSummary outcome="Error"><Counters total="2"/><RunInfos><RunInfo outcome="Error"><Text>crashed</Text></RunInfo></RunInfos></ResultSummary></TestRun>`)
}

func FuzzCppUnit(f *testing.F) {
	reports.Fuzz(f, "cppunit", cppunit)
}

// cppunit has the root element of a TRX.
const cppunit = `<TestRun><FailedTests><FailedTest id="3"><Name>n::M::sum</Name><FailureType>Assertion</FailureType><Location><File>m.cpp</File><Line>5</Line></Location><Message>no</Message></FailedTest>` +
	`<FailedTest id="4"><Name>M : push</Name><FailureType>Error</FailureType></FailedTest></FailedTests><SuccessfulTests><Test id="1"><Name>M::new</Name></Test></SuccessfulTests>` +
	`<SkippedTests><Test id="2"><Name>later</Name></Test></SkippedTests><Statistics><Tests>4</Tests><FailuresTotal>2</FailuresTotal><Errors>1</Errors></Statistics></TestRun>`

func FuzzNUnit(f *testing.F) {
	reports.Fuzz(f, "nunit",
		`<test-run total="1"><test-suite type="Assembly" name="a.dll" result="Failed" site="TearDown"><failure><message>m</message></failure><test-case name="b" fullname="N.C(1).b" classname="N.C" result="Failed" label="Error"/></test-suite></test-run>`,
		`<test-results name="a.dll"><test-suite name="C"><results><test-case name="N.C.b(1)" executed="True" success="True" time="0,5"/></results></test-suite></test-results>`)
}

func FuzzXUnit(f *testing.F) {
	reports.Fuzz(f, "xunit", `<assemblies><assembly name="a.dll" total="1"><errors><error type="fatal" name="x"><failure><message>m</message></failure></error></errors><collection><test name="N.C.b" type="N.C" result="Fail" time="1"><failure><message>m</message></failure></test></collection></assembly></assemblies>`)
}

func FuzzRobot(f *testing.F) {
	reports.Fuzz(f, "robot", `<robot><suite name="S" source="/a.robot"><test name="b" line="2"><status status="PASS" elapsed="1"/></test><status status="FAIL">Suite teardown failed:\nno</status></suite><errors><msg>Parsing '/b.robot' failed: no</msg></errors></robot>`)
}

func FuzzTestNG(f *testing.F) {
	reports.Fuzz(f, "testng", `<testng-results passed="1"><suite><test><class name="C"><test-method name="a" status="PASS" duration-ms="3"><params><param index="0"><value>1</value></param></params></test-method><test-method is-config="true" name="b" status="FAIL"><exception class="E"><message>no</message></exception></test-method></class></test></suite></testng-results>`)
}

func FuzzCTest(f *testing.F) {
	reports.Fuzz(f, "ctest", `<Site BuildName="x"><Testing><TestList><Test>./a</Test></TestList><Test Status="notrun"><Name>a</Name><FullName>./a</FullName><Results><NamedMeasurement name="Completion Status"><Value>Disabled</Value></NamedMeasurement></Results></Test></Testing></Site>`)
}

func FuzzCatch2(f *testing.F) {
	reports.Fuzz(f, "catch2", `<Catch name="x"><Group><TestCase name="a" filename="a.cpp" line="1"><Section><Expression success="false"><Expanded>1 == 2</Expanded></Expression></Section><OverallResult success="false"/></TestCase></Group></Catch>`)
}

func FuzzDoctest(f *testing.F) {
	reports.Fuzz(f, "doctest", `<doctest binary="./x"><TestSuite name="s"><TestCase name="a" filename="a.cpp" line="1"><SubCase><Message><Text>no</Text></Message></SubCase><OverallResultsAsserts failures="1" test_case_success="false"/></TestCase><TestCase name="b" skipped="true"/></TestSuite><OverallResultsTestCases failures="1"/></doctest>`)
}

func FuzzBoost(f *testing.F) {
	reports.Fuzz(f, "boost", boostLog+`<TestResult><TestSuite name="m" result="failed" test_cases_failed="1"><TestSuite name="s"><TestCase name="b" result="passed"/></TestSuite><TestCase name="c" result="aborted"/></TestSuite></TestResult></TestLog>`)
}

const boostLog = `<TestLog><TestSuite name="m"><TestSuite name="s" file="a.cpp" line="1"><TestCase name="b" file="a.cpp" line="3"><Error file="a.cpp" line="4"><![CDATA[no]]></Error><TestingTime>12</TestingTime></TestCase><TestCase name="d" skipped="yes" reason="disabled"/></TestSuite></TestSuite>`

// The report of Boost.Test counts where the log knows less, and says so where it has
// fewer failures than it counts.
func TestBoost(t *testing.T) {
	for _, tt := range []struct {
		name, report string
		want         map[string]string
		problem      string
	}{
		{"a log", boostLog + "</TestLog>", map[string]string{"m: s.b": "failed", "m: s.d": "skipped"}, ""},
		{
			"log and report", boostLog + `<TestResult><TestSuite name="m"><TestSuite name="s"><TestCase name="b" result="passed"/><TestCase name="e" result="timed-out"/></TestSuite></TestSuite></TestResult></TestLog>`,
			map[string]string{"m: s.b": "passed", "m: s.d": "skipped", "m: s.e": "error"},
			"",
		},
		{
			"more failures than cases", `<TestResult><TestSuite name="m" test_cases_failed="2" test_cases_timed_out="1"><TestCase name="b" result="failed"/><TestCase name="c" result="odd"/></TestSuite></TestResult>`,
			map[string]string{"m: b": "failed", "m: c": "error"},
			"the report says 3 test cases failed or timed out and holds 2",
		},
		{"a fixture that failed", `<TestLog><TestSuite name="m"><Exception file="a" line="0">no</Exception></TestSuite></TestLog>`, map[string]string{"broken m": "no"}, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r, err := parsers.Parse(strings.NewReader(tt.report), "report")
			if err != nil || r.Format != "boost" {
				t.Fatal(r.Format, err)
			}
			if diff := cmp.Diff(tt.want, reports.Statuses(r.Tests)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if all := strings.Join(r.Problems, "\n"); !strings.Contains(all, tt.problem) || (r.Tests.Failure == "") != (tt.problem == "") {
				t.Errorf("problems %q, failure %q", all, r.Tests.Failure)
			}
		})
	}
	for report, want := range map[string]string{
		`<TestLog></TestLog>`: "--log_level=test_suite", `<TestLog><Error>no</Error></TestLog>`: "names no test cases",
		`<TestResult><TestSuite name="m" test_cases_passed="4"></TestSuite></TestResult>`: "counts 4 test cases and names none",
	} {
		if _, err := parsers.Parse(strings.NewReader(report), "report"); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error %v, want %q", report, err, want)
		}
	}
}

func FuzzQtTest(f *testing.F) {
	reports.Fuzz(f, "qttest", `<TestCase name="A"><Environment><QtVersion>5</QtVersion></Environment><TestFunction name="b"><Incident type="fail" file="a.cpp" line="3"><DataTag>one</DataTag><Description>no</Description></Incident><Message type="skip"/><Duration msecs="0.5"/></TestFunction><TestFunction name="c"/></TestCase>`,
		`<Environment><QtVersion>5</QtVersion></Environment><TestFunction name="b"><Incident type="xfail"/><Incident type="pass"/></TestFunction><Duration msecs="1"/>`)
}

// A program of Qt that ended early is broken, and a function without outcome an error.
func TestQtTest(t *testing.T) {
	const version = `<Environment><QtVersion>6</QtVersion></Environment>`
	for report, want := range map[string]map[string]string{
		`<TestCase name="A">` + version + `<TestFunction name="b"><Incident type="fail"><Description>Received signal 11</Description></Incident></TestFunction><TestFunction name="c"/></TestCase>`: {"A: b": "failed", "A: c": "error", "broken A": "Received signal 11"},
		`<TestCase name="A">` + version + `<TestFunction name="b"><Incident type="skip"><DataTag>x</DataTag></Incident><Incident type="bfail"><DataTag>y</DataTag></Incident><Incident type="odd"><DataTag>z</DataTag></Incident></TestFunction></TestCase>`: {
			"A: b(x)": "skipped", "A: b(y)": "skipped", "A: b(z)": "error",
		},
	} {
		r, err := parsers.Parse(strings.NewReader(report), "report")
		if err != nil || r.Format != "qttest" {
			t.Fatal(r.Format, err)
		}
		if diff := cmp.Diff(want, reports.Statuses(r.Tests)); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	}
	for report, want := range map[string]string{
		version + `<TestFunction name="b"><Incident type="pass"/></TestFunction>`: "before the duration of the program",
		`<TestCase name="A">` + version + `</TestCase>`:                           "no test functions",
	} {
		if _, err := parsers.Parse(strings.NewReader(report), "report"); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error %v, want %q", report, err, want)
		}
	}
}

// trx wraps results, definitions and a summary into a run.
func trx(results, definitions, summary string) string {
	return "<TestRun><Results>" + results + "</Results><TestDefinitions>" + definitions + "</TestDefinitions>" + summary + "</TestRun>"
}

func trxOf(outcomes ...string) string {
	var b strings.Builder
	for _, o := range outcomes {
		b.WriteString(`<UnitTestResult testName="` + o + `" outcome="` + o + `"/>`)
	}
	return trx(b.String(), "", "")
}

const (
	trxDefinition = `<UnitTest id="1" storage="c:\\x\\bin\\t.dll"><TestMethod codeBase="C:\\X\\bin\\T.dll" className="N.C, T, Version=1" adapterTypeName="executor://xunit/x"/></UnitTest>`
	trxRows       = `<UnitTestResult testId="1" testName="a" outcome="%"><InnerResults><UnitTestResult testId="1" testName="a (1)" outcome="Passed"/><UnitTestResult testId="1" testName="a (2)" outcome="Passed"/></InnerResults></UnitTestResult>`
	trxCrashed    = `<ResultSummary outcome="Failed"><Counters total="1"/><RunInfos><RunInfo outcome="Error"><Text>The active test run was aborted. Reason: Test host process crashed</Text></RunInfo></RunInfos></ResultSummary>`
)

func TestXMLReports(t *testing.T) {
	for _, tt := range []struct {
		name, report string
		want         map[string]string
	}{
		{"trx: every outcome", trxOf("Passed", "Failed", "Timeout", "Aborted", "Error", "NotExecuted", "Inconclusive", "NotRunnable", "Pending", "Warning", "InProgress", "Odd"), map[string]string{
			"Passed": "passed", "Failed": "failed", "Timeout": "failed", "Aborted": "error", "Error": "error", "NotExecuted": "skipped", "Inconclusive": "skipped",
			"NotRunnable": "skipped", "Pending": "skipped", "Warning": "passed", "InProgress": "failed", "Odd": "error",
		}},
		{"trx: no outcome", `<TestRun><Results><UnitTestResult testName="a"/></Results></TestRun>`, map[string]string{"a": "error"}},
		{"trx: class and assembly of the definition", trx(`<UnitTestResult testId="1" testName="N.C.a(x: 1.5)" outcome="Passed"/>`, trxDefinition, ""), map[string]string{"T.dll: N.C.a(x: 1.5)": "passed"}},
		{"trx: definitions first", `<TestRun><TestDefinitions>` + trxDefinition + `</TestDefinitions><Results><UnitTestResult testId="1" testName="a" outcome="Passed"/></Results></TestRun>`, map[string]string{"T.dll: N.C.a": "passed"}},
		{"trx: rows count, what gathers them does not", trx(strings.ReplaceAll(trxRows, "%", "Passed"), trxDefinition, ""), map[string]string{"T.dll: N.C.a (1)": "passed", "T.dll: N.C.a (2)": "passed"}},
		{"trx: a failure that no row has", trx(strings.ReplaceAll(trxRows, "%", "Failed"), trxDefinition, ""), map[string]string{"T.dll: N.C.a": "failed", "T.dll: N.C.a (1)": "passed", "T.dll: N.C.a (2)": "passed"}},
		{"trx: crash", trx(`<UnitTestResult testId="1" testName="a" outcome="Passed"/>`, trxDefinition, trxCrashed), map[string]string{
			"T.dll: N.C.a": "passed", "broken T.dll": "The active test run was aborted. Reason: Test host process crashed",
		}},
		{"trx: crash before the first test", trx("", "", trxCrashed), map[string]string{"broken test run": "The active test run was aborted. Reason: Test host process crashed"}},
		{
			"nunit 3: labels and sites", `<test-run><test-suite type="Assembly" name="a.dll" result="Failed" site="Child"><test-suite type="TestFixture" name="C" fullname="N.C" result="Failed" site="SetUp"><failure><message>no</message></failure>` +
				`<test-case name="a" fullname="N.C.a" classname="N.C" result="Failed" site="Parent"/><test-case name="b" fullname="N.C.b" classname="N.C" result="Skipped" label="Explicit"/></test-suite></test-suite></test-run>`,
			map[string]string{"a.dll: N.C.a": "failed", "a.dll: N.C.b": "skipped"},
		},
		{
			"nunit 3: tear down", `<test-run><test-suite type="Assembly" name="a.dll" result="Failed" site="Child"><test-suite type="TestFixture" name="C" fullname="N.C" result="Failed" site="TearDown"><failure><message>no</message></failure>` +
				`<test-case name="a" fullname="N.C.a" classname="N.C" result="Passed"/></test-suite></test-suite></test-run>`,
			map[string]string{"a.dll: N.C.a": "passed", "broken N.C": "N.C: no"},
		},
		{
			"nunit 3: an assembly that cannot be loaded", `<test-run><test-suite type="Assembly" name="a.dll" runstate="NotRunnable" result="Failed" label="Invalid"><reason><message>no such file</message></reason></test-suite></test-run>`,
			map[string]string{"broken a.dll": "a.dll: no such file"},
		},
		{
			"nunit 3: arguments of a fixture", `<test-run><test-case name="a" fullname="N.C(1).a" classname="N.C" result="Passed"/><test-case name="a" fullname="N.C(2).a" classname="N.C" result="Inconclusive"/></test-run>`,
			map[string]string{"N.C(1).a": "passed", "N.C(2).a": "skipped"},
		},
		{
			"nunit 2", `<test-results name="/x/a.dll"><test-suite type="Namespace" name="N"><results><test-suite type="TestFixture" name="N"><results><test-suite type="ParameterizedTest" name="a"><results>` +
				`<test-case name="N.N.a(1.5)" executed="True" result="Success"/></results></test-suite><test-case name="N.N.b" executed="True" result="Error"/><test-case name="N.N.c" executed="False" result="Ignored"/></results></test-suite></results></test-suite></test-results>`,
			map[string]string{"a.dll: N.N.a(1.5)": "passed", "a.dll: N.N.b": "error", "a.dll: N.N.c": "skipped"},
		},
		{
			"nunit 2 without results", `<test-results name="a.dll"><test-suite name="C"><results><test-case name="a" executed="True"/><test-case name="b" executed="False"/><test-case name="c" executed="True" success="False"/><test-case name="d" executed="True"><failure/></test-case></results></test-suite></test-results>`,
			map[string]string{"a.dll: C.a": "passed", "a.dll: C.b": "skipped", "a.dll: C.c": "failed", "a.dll: C.d": "failed"},
		},
		{
			"xunit: errors", `<assemblies><assembly name="/x/a.dll"><errors><error type="test-collection-cleanup" name="col"><failure><message>no</message></failure></error><error type="fatal"><failure><message>boom</message></failure></error></errors>` +
				`<collection><test name="N.C.a" type="N.C" result="Pass"/><test name="b" type="N.C" result="Skip"><reason>later</reason></test><test name="N.C.c" type="N.C" result="NotRun"/></collection></assembly></assemblies>`,
			map[string]string{"a.dll: N.C.a": "passed", "a.dll: N.C.b": "skipped", "a.dll: N.C.c": "skipped", "broken col": "test-collection-cleanup col: no", "broken a.dll": "fatal: boom"},
		},
		{
			"robot", `<robot><suite name="S" source="/p"><suite name="A" source="/p/a.robot"><test name="a"><status status="PASS"/></test><test name="b"><status status="SKIP">later</status></test><status status="FAIL">Suite teardown failed:` + "\n" + `no</status></suite>` +
				`<suite name="B"><test name="a"><kw><status status="FAIL"/></kw><status status="PASS"/></test><status status="PASS"/></suite></suite><errors><msg level="ERROR">Parsing '/p/c.robot' failed: it has no tests</msg></errors></robot>`,
			map[string]string{"/p/a.robot: S > A.a": "failed", "/p/a.robot: S > A.b": "skipped", "S > B: S > B.a": "passed", "broken /p/c.robot": "Parsing '/p/c.robot' failed: it has no tests"},
		},
		{
			"robot: split output", `<robot><suite name="S" source="/p"><suite src="o-001.xml" name="A" source="/p/a.robot"><status status="FAIL"/></suite><status status="FAIL"/></suite></robot>`,
			map[string]string{"broken /p/a.robot": "its results are in another file, o-001.xml"},
		},
		{
			"testng", `<testng-results><suite><test><class name="C"><test-method name="a" status="SKIP"/><test-method name="a" status="PASS"/><test-method name="b" status="FAIL"><params><param><value>1</value></param><param><value is-null="true"/></param></params></test-method>` +
				`<test-method name="setUp" is-config="true" status="FAIL"><exception class="E"><message>no</message></exception></test-method></class></test></suite></testng-results>`,
			map[string]string{"C: a": "passed", "C: b[1, null]": "failed", "broken C": "setUp: no"},
		},
		{
			"ctest", `<Site BuildName="x"><Testing><TestList><Test>./a</Test><Test>./d</Test></TestList><Test Status="passed"><Name>a</Name><FullName>./a</FullName></Test><Test Status="notrun"><Name>b</Name><Results><NamedMeasurement name="Completion Status"><Value>Unable to find executable</Value></NamedMeasurement></Results></Test>` +
				`<Test Status="notrun"><Name>c</Name><Results><NamedMeasurement name="Completion Status"><Value>SKIP_RETURN_CODE=77</Value></NamedMeasurement></Results></Test></Testing></Site>`,
			map[string]string{"x: a": "passed", "x: b": "error", "x: c": "skipped", "broken x": "./d was listed and has no result: the run broke off"},
		},
		{
			"catch2", `<Catch2TestRun name="x"><TestCase name="a"><OverallResult success="true"/></TestCase><TestCase name="b"><OverallResult success="true" skips="1"/></TestCase><TestCase name="c"><Section><Expression success="false"/></Section><OverallResult success="false"/></TestCase><TestCase name="d"/></Catch2TestRun>`,
			map[string]string{"x: a": "passed", "x: b": "skipped", "x: c": "failed", "x: d": "error"},
		},
		{"junit of Eclipse", `<testrun name="All" tests="2" failures="1"><testsuite name="p.A"><testcase name="a" classname="p.A"/><testcase name="b" classname="p.A"><failure>no</failure></testcase></testsuite></testrun>`, map[string]string{"p.A: a": "passed", "p.A: b": "failed"}},
		{"cppunit", cppunit, map[string]string{"n::M.sum": "failed", "M.push": "error", "M.new": "passed", "later": "skipped"}},
		{"trx: tests that are not there", `<TestRun><ResultSummary outcome="Completed"><Counters total="3"/></ResultSummary></TestRun>`, map[string]string{"broken test run": "its report says that it has 3 tests and names none"}},
		{"nunit: tests that are not there", `<test-results name="/x/a.dll" total="3"/>`, map[string]string{"broken a.dll": "its report says that it has 3 tests and names none"}},
		{"xunit: tests that are not there", `<assemblies><assembly name="a.dll" total="3"/><assembly name="b.dll" total="1"><test name="b" result="Pass"/></assembly></assemblies>`, map[string]string{"broken a.dll": "its report says that it has 3 tests and names none", "b.dll: b": "passed"}},
		{"xunit 1 without tests", `<assembly name="a.dll" run-date="2024-01-23" total="0"/>`, map[string]string{}},
		{"xunit 1", `<assembly name="a.dll" test-framework="xUnit.net 1.9"><class name="N.C"><test name="N.C.a" type="N.C" result="Odd"/></class></assembly>`, map[string]string{"a.dll: N.C.a": "error"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r, err := parsers.Parse(strings.NewReader(tt.report), "report")
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, reports.Statuses(r.Tests)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// TestDotNetRuns reads what reports say of the entire run.
func TestDotNetRuns(t *testing.T) {
	for _, tt := range []struct{ name, report, failure, problem string }{
		{
			"a run that failed without a failing test", trx("", "", `<ResultSummary outcome="Failed"><RunInfos><RunInfo outcome="Error"><Text>no adapter</Text></RunInfo></RunInfos></ResultSummary>`),
			"no adapter", "",
		},
		{"a run that warns", trx("", "", `<ResultSummary outcome="Completed"><RunInfos><RunInfo outcome="Warning"><Text>no test is available</Text></RunInfo></RunInfos></ResultSummary>`), "", ""},
		{"counters of trx", trx(`<UnitTestResult testName="a" outcome="Passed"/>`, "", `<ResultSummary outcome="Completed"><Counters total="3"/></ResultSummary>`), "", "the report says that 3 tests ran and holds 1"},
		{"totals of nunit", `<test-run total="2" failed="0"><test-case name="a" result="Passed"/></test-run>`, "", "the report says that 2 tests ran and holds 1"},
		{"totals of xunit", `<assemblies><assembly name="a.dll" total="2" failed="0"><test name="a" result="Pass"/></assembly></assemblies>`, "", "the report says that 2 tests ran in a.dll and holds 1"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r, err := parsers.Parse(strings.NewReader(tt.report), "report")
			if err != nil {
				t.Fatal(err)
			}
			if r.Tests.Failure != tt.failure || strings.Join(r.Problems, "|") != tt.problem {
				t.Errorf("failure %q and problems %q, want %q and %q", r.Tests.Failure, r.Problems, tt.failure, tt.problem)
			}
		})
	}
}

func TestDamagedDotNetReportIsRefused(t *testing.T) {
	for _, report := range []string{
		trxOf("Passed", "Failed"),
		`<test-run><test-suite name="a.dll"><test-case name="a" result="Passed"/></test-suite></test-run>`,
		`<assemblies><assembly name="a.dll"><collection><test name="a" result="Pass"/></collection></assembly></assemblies>`,
	} {
		for cut := 12; cut < len(report); cut++ {
			_, err := parsers.Parse(strings.NewReader(report[:cut]), "report")
			var syntax *parsers.SyntaxError
			if !errors.As(err, &syntax) && !errors.Is(err, parsers.ErrUnknownFormat) {
				t.Fatalf("cut to %q: error %v, want a SyntaxError", report[:cut], err)
			}
		}
	}
	for _, report := range []string{`<test-run><test-case name="a("b")" result="Passed"/></test-run>`, "<test-run>" + strings.Repeat("\x00", 16) + "</test-run>"} {
		var syntax *parsers.SyntaxError
		if _, err := parsers.Parse(strings.NewReader(report), "report"); !errors.As(err, &syntax) {
			t.Errorf("%q: error %v, want a SyntaxError", report, err)
		}
	}
}

// Documents that have the root element of a report and nothing of it are no
// reports without tests.
func TestRootAloneIsNoReport(t *testing.T) {
	for _, report := range []string{
		`<TestRun><Odd/></TestRun>`,
		`<testsuites xmlns="http://check.sourceforge.net/ns"><suite><title>a</title><test result="failure"><id>b</id></test></suite></testsuites>`,
	} {
		if r, err := parsers.Parse(strings.NewReader(report), "report"); !errors.Is(err, parsers.ErrUnknownFormat) {
			t.Errorf("%s: read as %s with error %v", report, r.Format, err)
		}
	}
}
