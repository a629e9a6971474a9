package testxml_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"supervise/metric"
	"supervise/parsers"
	"supervise/test/reports"
)

// TestJUnitProducers reads what single producers write in their own way.
func TestJUnitProducers(t *testing.T) {
	for _, tt := range []struct {
		name, producer, report string
		want                   map[string]string
	}{
		{
			"ctest: what was not started failed", "ctest",
			`<testsuite name="x"><testcase name="a" classname="a" status="notrun"><skipped message="Unable to find executable"/></testcase>` +
				`<testcase name="b" classname="b" status="notrun"><skipped message="SKIP_RETURN_CODE=77"/></testcase><testcase name="c" classname="c" status="disabled"/>` +
				`<testcase name="d" classname="d" status="notrun"><skipped message="Fixture dependency failed"/></testcase><testcase name="e" classname="e" status="run"/></testsuite>`,
			map[string]string{"x: a": "error", "x: b": "skipped", "x: c": "skipped", "x: d": "error", "x: e": "passed"},
		},
		{
			"googletest: disabled", "googletest",
			`<testsuites name="AllTests"><testsuite name="A"><testcase name="DISABLED_a" classname="A" status="notrun" result="suppressed"/><testcase name="" classname="A"><failure message="set up"/></testcase></testsuite></testsuites>`,
			map[string]string{"A: DISABLED_a": "skipped", "broken A": "set up"},
		},
		{
			"surefire: the class is the suite, a set up that failed is no test", "surefire",
			`<testsuite name="pkg.Outer$Inner" xsi:noNamespaceSchemaLocation="https://maven.apache.org/surefire/x.xsd"><testcase name="a" classname="pkg.Outer"/><testcase name="" classname="pkg.Broken"><error message="no"/></testcase></testsuite>`,
			map[string]string{"pkg.Outer: a": "passed", "broken pkg.Broken": "no"},
		},
		{
			"testng: an attempt that is repeated", "surefire",
			`<testsuite name="TestSuite" xsi:noNamespaceSchemaLocation="surefire"><testcase name="a" classname="C"><skipped message="no"/></testcase><testcase name="a" classname="C"/><testcase name="b" classname="C"><skipped/></testcase></testsuite>`,
			map[string]string{"C: a": "passed", "C: b": "skipped"},
		},
		{
			"gotestsum: repeated because it failed", "gotestsum",
			`<testsuites><testsuite name="p"><properties><property name="go.version" value="go1"/></properties><testcase classname="p" name="A"><failure/></testcase><testcase classname="p" name="A"/><testcase classname="p" name="B"/></testsuite></testsuites>`,
			map[string]string{"p: A": "passed", "p: B": "passed"},
		},
		{
			"gotestsum: repeated on purpose", "gotestsum",
			`<testsuites><testsuite name="p"><properties><property name="go.version" value="go1"/></properties><testcase classname="p" name="A"><failure/></testcase><testcase classname="p" name="A"/><testcase classname="p" name="B"/><testcase classname="p" name="B"/></testsuite></testsuites>`,
			map[string]string{"p: A": "failed", "p: B": "passed"},
		},
		{
			"gotestsum: a package that did not build", "gotestsum",
			`<testsuites><testsuite name="p"><properties><property name="go.version" value="go1"/></properties><testcase classname="" name="TestMain"><failure message="Failed">build failed</failure></testcase></testsuite></testsuites>`,
			map[string]string{"broken p": "Failed\nbuild failed"},
		},
		{
			"go-junit-report: a package that did not build", "",
			`<testsuites><testsuite name="p"><testcase classname="p" name="[build failed]"><error message="Build error"/></testcase></testsuite></testsuites>`,
			map[string]string{"broken p": "Build error"},
		},
		{
			"node:test", "node:test",
			`<testsuites><testcase name="/p/a.test.mjs" classname="test"><failure message="test failed"/></testcase><testcase name="say &amp;quot;x&amp;quot;" classname="test"/><testcase name="b.test.js" classname="test" file="/p/b.test.js"><failure message="no"/></testcase></testsuites>`,
			map[string]string{`say "x"`: "passed", "broken /p/a.test.mjs": "test failed", "broken /p/b.test.js": "no"},
		},
		{
			"jest-junit", "jest-junit",
			`<testsuites name="jest tests"><testsuite name="g"><testcase classname=" g a" name=" g a"/><testcase classname="Test suite failed to run" name="a.test.js"><failure>no module</failure></testcase></testsuite></testsuites>`,
			map[string]string{"g: g a": "passed", "broken g": "no module"},
		},
		{
			"mocha: files of Cypress, hooks", "mocha",
			`<testsuites name="Mocha Tests"><testsuite name="Root Suite" file="a.cy.js"/><testsuite name="g"><testcase name="g a" classname="a"/></testsuite><testsuite name="Root Suite" file="b.cy.js"/>` +
				`<testsuite name="h"><testcase name="h &quot;before each&quot; hook for &quot;b&quot;" classname="&quot;before each&quot; hook for &quot;b&quot;"><failure message="no"/></testcase></testsuite></testsuites>`,
			map[string]string{"a.cy.js: g a": "passed", "broken b.cy.js": "no"},
		},
		{
			"vitest: a group whose hook failed", "vitest",
			`<testsuites name="vitest tests"><testsuite name="a.test.js"><testcase classname="a.test.js" name="g"><failure message="no"/></testcase><testcase classname="a.test.js" name="g &gt; a"><skipped/></testcase></testsuite></testsuites>`,
			map[string]string{"a.test.js: g > a": "skipped", "broken a.test.js": "g: no"},
		},
		{
			"playwright: projects", "playwright",
			`<testsuites id="" name=""><testsuite name="a.spec.js" hostname="firefox"><testcase name="a" classname="a.spec.js"/></testsuite><testsuite name="a.spec.js" hostname="webkit"><testcase name="a" classname="a.spec.js"><failure/></testcase></testsuite></testsuites>`,
			map[string]string{"a.spec.js: firefox.a": "passed", "a.spec.js: webkit.a": "failed"},
		},
		{
			"unittest-xml-reporting: names with a time", "",
			`<testsuites><testsuite name="test_a.A-20260102030405"><testcase classname="test_a.A" name="test_x"/><testcase classname="unittest.suite._ErrorHolder-20260102030405" name="setUpClass (pkg.test_b.B)"><error message="no"/></testcase>` +
				`<testcase classname="unittest.loader._FailedTest" name="pkg.test_c" file="loader.py"><error message="import"/></testcase></testsuite></testsuites>`,
			map[string]string{"test_a.A: test_x": "passed", "broken pkg.test_b": "no", "broken pkg/test_c.py": "import"},
		},
		{"busted: the line is no part of the name", "busted", `<testsuites><testsuite name="Run 1 of 1"><testcase name="a" classname="spec/a_spec.lua:3"/></testsuite></testsuites>`, map[string]string{"spec/a_spec.lua: a": "passed"}},
		{"bats: set up of a file", "bats", `<testsuites><testsuite name="a.bats"><testcase classname="a.bats" name=""><failure>no</failure></testcase></testsuite></testsuites>`, map[string]string{"broken a.bats": "no"}},
		{"exunit: the line is no part of the name", "exunit", `<testsuites><testsuite name="Elixir.ATest"><testcase name="test a" classname="Elixir.ATest" file="test/a_test.exs:4"/></testsuite></testsuites>`, map[string]string{"test/a_test.exs: Elixir.ATest.test a": "passed"}},
		{"pytest: a file that is not of the project", "pytest", `<testsuites><testsuite name="pytest"><testcase name="test_a" classname="tests.test_b.TestC" file="../usr/lib/python3/mock.py" line="9"/></testsuite></testsuites>`, map[string]string{"tests/test_b.py: TestC.test_a": "passed"}},
		{"tests that are not named", "", `<testsuites><testsuite name="a" tests="6" failures="1"/></testsuites>`, map[string]string{"broken a": "its report says that it has 6 tests and names none"}},
		{"phpunit", "phpunit", `<testsuites><testsuite name="s"><testcase name="a" class="C" classname="C" assertions="1" file="C.php"/></testsuite></testsuites>`, map[string]string{"C.php: C.a": "passed"}},
		{"an assembly of .NET", "", `<testsuites><testsuite name="C:\x\a.dll"><testcase name="a" classname="N.C"/></testsuite></testsuites>`, map[string]string{"a.dll: N.C.a": "passed"}},
		{"JUnit under Gradle: a class that could not start", "", `<testsuite name="N.C"><testcase name="initializationError" classname="N.C"><failure message="no"/></testcase></testsuite>`, map[string]string{"broken N.C": "no"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r, err := parsers.Parse(strings.NewReader(tt.report), "report")
			if err != nil {
				t.Fatal(err)
			}
			if r.Producer != tt.producer {
				t.Errorf("producer %q, want %q", r.Producer, tt.producer)
			}
			if diff := cmp.Diff(tt.want, reports.Statuses(r.Tests)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// TestJUnitPassAfterFailureIsFlaky asserts that a pass on a second attempt is called flaky.
func TestJUnitPassAfterFailureIsFlaky(t *testing.T) {
	for _, report := range []string{
		`<testsuite><testcase name="a"><flakyFailure message="no"/></testcase></testsuite>`,
		`<testsuite><properties><property name="go.version" value="go1"/></properties><testcase name="a"><failure/></testcase><testcase name="a"/><testcase name="b"/></testsuite>`,
		`<testsuite xsi:noNamespaceSchemaLocation="surefire"><testcase name="a"><skipped/></testcase><testcase name="a"/></testsuite>`,
	} {
		r, err := parsers.Parse(strings.NewReader(report), "report")
		if err != nil || r.Tests.Counts().Flaky != 1 || r.Tests.Counts().Failed != 0 {
			t.Errorf("%s: %v, %v; want one flaky test", report, r.Tests.Cases, err)
		}
	}
}

// TestTodoOfJestIsAProblem reads a todo, which jest-junit does not mark.
func TestTodoOfJestIsAProblem(t *testing.T) {
	r, err := parsers.Parse(strings.NewReader(`<testsuites name="jest tests"><testsuite name="g" tests="1"><testcase classname="g a" name="g a" time="0.1"/><testcase classname="g b" name="g b" time="0"/></testsuite></testsuites>`), "report")
	if err != nil || !strings.Contains(strings.Join(r.Problems, "\n"), "test.todo") {
		t.Errorf("problems %q, %v; want one about test.todo", r.Problems, err)
	}
}

func FuzzJUnit(f *testing.F) { reports.Fuzz(f, "junit") }

func TestJUnitDialects(t *testing.T) {
	for _, tt := range []struct {
		name, report string
		want         map[string]string
	}{
		{"cases under the root", `<testsuites><testcase name="a" classname="c"/></testsuites>`, map[string]string{"c.a": "passed"}},
		{"a case is the root", `<testcase name="a"><error/></testcase>`, map[string]string{"a": "error"}},
		{"a suite is the root", `<testsuite name="s"><testcase name="a"><failure/></testcase></testsuite>`, map[string]string{"s: a": "failed"}},
		{
			"nested suites", `<testsuites name="tool"><testsuite name="s"><testsuite name="t"><testcase name="a"/></testsuite><testcase name="a"/></testsuite></testsuites>`,
			map[string]string{"s > t: a": "passed", "s: a": "passed"},
		},
		{
			"file wins over suite", `<testsuite name="s"><testcase file="f.py" classname="c" name="a"/></testsuite>`,
			map[string]string{"f.py: c.a": "passed"},
		},
		{
			"file of the suite, no class", `<testsuite name="s" file="f.js"><testcase name="a"/></testsuite>`,
			map[string]string{"f.js: s.a": "passed"},
		},
		{"failure and skipped", `<testsuite><testcase name="a"><skipped/><failure/></testcase></testsuite>`, map[string]string{"a": "failed"}},
		{"failure and error", `<testsuite><testcase name="a"><error/><failure/></testcase></testsuite>`, map[string]string{"a": "error"}},
		{"a failing todo does not count", `<testsuite><testcase name="a"><skipped type="todo"/><failure/></testcase></testsuite>`, map[string]string{"a": "skipped"}},
		{"status alone", `<testsuite><testcase name="a" status="failed"/><testcase name="b" result="suppressed"/></testsuite>`, map[string]string{"a": "failed", "b": "skipped"}},
		{"failed in every run", `<testsuite><testcase name="a"><failure/><rerunFailure/></testcase></testsuite>`, map[string]string{"a": "failed"}},
		{"cases without a name are none", `<testsuite name="s"><testcase/><testcase><skipped/></testcase><testcase name="a"/></testsuite>`, map[string]string{"s: a": "passed"}},
		{"a case of the suite itself", `<testsuite name="s" tests="1"><testcase name="s"><error message="exit 1"/></testcase></testsuite>`, map[string]string{"broken s": "exit 1"}},
		{"a test with the name of its suite", `<testsuite name="s" tests="1"><testcase name="s"><failure/></testcase></testsuite>`, map[string]string{"s: s": "failed"}},
		{"one of several cases with the name of the suite", `<testsuite name="s" tests="2"><testcase name="s"><error/></testcase><testcase name="a"/></testsuite>`, map[string]string{"s: s": "error", "s: a": "passed"}},
		{"a warning is no pass", `<testsuite name="s" warnings="1"><testcase name="a"><warning>old</warning></testcase></testsuite>`, map[string]string{"s: a": "failed"}},
		{"a suite that failed outside its tests", `<testsuite name="s"><error message="no server">x</error></testsuite>`, map[string]string{"broken s": "no server\nx"}},
		{"output that looks like an outcome", `<testsuite><testcase name="a"><system-out>&lt;failure/></system-out></testcase></testsuite>`, map[string]string{"a": "passed"}},
		{"two reports in one", "<testsuite><testcase name='a'/></testsuite>\n<testsuite><testcase name='b'/></testsuite>", map[string]string{"a": "passed", "b": "passed"}},
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

// TestUnknownElementIsAContradiction reads elements in a case that may mean that it did not pass.
func TestUnknownElementIsAContradiction(t *testing.T) {
	for report, want := range map[string]string{
		`<testcase name="a"><aborted/></testcase>`:                                    `test "a" has the unknown element <aborted>, so that it is not known whether it passed`,
		`<testcase name="a"><aborted/><failure/></testcase>`:                          "",
		`<testcase name="a" status="passed"><stability/></testcase>`:                  "",
		`<testcase name="a"><system-out><aborted/></system-out></testcase>`:           "",
		`<testcase name="a"><properties><property name="x"/></properties></testcase>`: "",
	} {
		if r, err := parsers.Parse(strings.NewReader(report), "report"); err != nil || r.Tests.Failure != want {
			t.Errorf("%s: contradiction %q, %v; want %q", report, r.Tests.Failure, err, want)
		}
	}
}

func TestJUnitTimes(t *testing.T) {
	for text, want := range map[string]time.Duration{
		"1.5": 1500 * time.Millisecond, "0,25": 250 * time.Millisecond, "1,234.5": 1234500 * time.Millisecond,
		"2s": 2 * time.Second, "1e-3": time.Millisecond, "-1": 0, "NaN": 0, "Inf": 0, "": 0, "soon": 0,
	} {
		r, err := parsers.Parse(strings.NewReader(`<testsuite><testcase name="a" time="`+text+`"/></testsuite>`), "report")
		if err != nil || r.Tests.Cases[0].Duration != want {
			t.Errorf("time %q is %v, %v; want %v", text, r.Tests.Cases[0].Duration, err, want)
		}
	}
}

func TestJUnitProblems(t *testing.T) {
	r, err := parsers.Parse(strings.NewReader(`hello <testsuite name="s" tests="3" failures="1"><testcase name="a"/><testcase name="a"/></testsuite>`), "report")
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		`suite "s" says it has 3 tests and holds 2`,
		`suite "s" says that 1 tests failed and holds 0`,
		"text outside of the report: hello",
		"1 cases have the suite, class and name of another one and are one test with it",
	}
	if diff := cmp.Diff(want, r.Problems); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if (r.Cases != parsers.Totals{Tests: 2, Passed: 2}) || len(r.Tests.Cases) != 1 {
		t.Errorf("counted %+v and %d tests, want 2 cases and 1 test", r.Cases, len(r.Tests.Cases))
	}
}

func TestWrittenJUnitIsReadBack(t *testing.T) {
	want := metric.NewTests([]metric.Test{
		{ID: metric.ID{Suite: "p", Name: "A"}, Status: metric.Passed, Duration: 1500 * time.Millisecond},
		{ID: metric.ID{Suite: "p", Name: "B/x <y> & \"z\""}, Status: metric.Failed, Message: "got 1\n\twant ]]> 2"},
		{ID: metric.ID{Suite: "p", Class: "C", Name: "c"}, Status: metric.Skipped, Message: "no database"},
		{ID: metric.ID{Suite: "q", Name: "D"}, Status: metric.NotRun, Message: "panic"},
		{ID: metric.ID{Suite: "q", Name: "E"}, Status: metric.Errored, Message: "é\uFFFD"},
		{ID: metric.ID{Suite: "q", Name: "F"}, Status: metric.Passed, Flaky: true},
	})
	want.Broken = []metric.Suite{{Name: "q", Why: "panic"}, {Name: "r", Why: "build failed"}}
	want.Duration = 3 * time.Second
	var b strings.Builder
	if err := parsers.WriteJUnit(&b, want); err != nil {
		t.Fatal(err)
	}
	r, err := parsers.Parse(strings.NewReader(b.String()), "results.xml")
	if err != nil {
		t.Fatal(err)
	}
	want.Format, want.Producer = "junit", "supervise"
	if diff := cmp.Diff(want, r.Tests); diff != "" {
		t.Errorf("(-want +got):\n%s\n%s", diff, b.String())
	}
}

// TestNodeCountsSuitesLikeCases reads what node writes of suites in suites, and a test with
// others in it that is a case in addition to its suite.
func TestNodeCountsSuitesLikeCases(t *testing.T) {
	const report = `<testsuites>
	<testsuite name="outer" time="0.1" tests="3" failures="2">
		<testcase name="a" classname="test"/>
		<testsuite name="b" tests="2" failures="2"><testcase name="deep" classname="test"><failure/></testcase><testcase name="deeper" classname="test"><failure/></testcase></testsuite>
		<testcase name="b" classname="test"><failure/></testcase>
	</testsuite>
	<testcase name="outer" classname="test"><failure/></testcase>
	<!-- tests 5 -->
	<!-- suites 0 -->
	<!-- fail 4 -->
</testsuites>`
	r, err := parsers.Parse(strings.NewReader(report), "node.xml")
	if want := (parsers.Totals{Tests: 5, Passed: 1, Failed: 4}); err != nil || r.Cases != want || len(r.Problems) > 0 || len(r.Tests.Cases) != 5 {
		t.Errorf("counted %+v, want %+v; problems %q, tests %+v", r.Cases, want, r.Problems, r.Tests.Cases)
	}
}
