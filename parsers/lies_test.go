package parsers_test

import (
	"strings"
	"testing"

	"supervise/parsers"
)

// lie is a clean report of one format, and what contradicts it: pairs of a text in the
// report and what replaces it, "" for an addition at the end.
type lie struct {
	format, report string
	lies           [][2]string
}

// silent are the formats that state no sums, and have no word for the entire run.
var silent = map[string]string{
	"ctest": "states no sums; a listed test without a result breaks the suite", "ginkgo-json": "a failed suite without a failed spec is broken",
	"go-test-json": "a failed package without a failed test is broken", "go-test": "as go-test-json",
}

var lies = []lie{
	{"junit", `<testsuites><testsuite name="s" tests="2" failures="0" errors="0"><testcase name="a"/><testcase name="b" status="run"/></testsuite></testsuites>`, [][2]string{
		{`failures="0"`, `failures="2"`},
		{`errors="0"`, `errors="1"`},
		{`status="run"`, `status="KO"`},
		{`status="run"`, `status="murky"`},
		{`<testsuites>`, `<testsuites tests="2" failures="1">`},
		{"", `<coverage line-rate="1"/>`},
		{"", `<test-run total="1" failed="1"><test-case name="x" result="Failed"/></test-run>`},
	}},
	{"trx", `<TestRun><Results><UnitTestResult testName="a" outcome="Passed"/></Results><ResultSummary outcome="Completed"><Counters total="1" failed="0" error="0" timeout="0"/></ResultSummary></TestRun>`, [][2]string{
		{`failed="0"`, `failed="1"`},
		{`error="0"`, `error="1"`},
		{`timeout="0"`, `timeout="1"`},
		{`outcome="Completed"`, `outcome="Failed"`},
		{`outcome="Passed"`, `outcome="Murky"`},
		{"", `<testsuite tests="1"><testcase name="x"><failure/></testcase></testsuite>`},
	}},
	{"cppunit", `<TestRun><SuccessfulTests><Test id="1"><Name>M::a</Name></Test></SuccessfulTests><Statistics><Tests>1</Tests><FailuresTotal>0</FailuresTotal><Errors>0</Errors></Statistics></TestRun>`, [][2]string{
		{`<FailuresTotal>0`, `<FailuresTotal>1`},
		{`<Errors>0`, `<Errors>1`},
		{"", `<testsuite/>`},
	}},
	{"nunit", `<test-run total="1" failed="0" result="Passed"><test-suite name="S" result="Passed"><test-case name="a" result="Passed"/></test-suite></test-run>`, [][2]string{
		{`failed="0"`, `failed="1"`},
		{`failed="0" result="Passed"`, `failed="0" result="Failed"`},
		{`name="S" result="Passed"`, `name="S" result="Failed"`},
		{`name="a" result="Passed"`, `name="a" result="Murky"`},
		{"", `<testsuite/>`},
	}},
	{"nunit", `<test-results total="1" failures="0" errors="0"><test-suite name="S" result="Success"><results><test-case name="a" result="Success"/></results></test-suite></test-results>`, [][2]string{
		{`failures="0"`, `failures="1"`},
		{`errors="0"`, `errors="1"`},
	}},
	{"xunit", `<assemblies><assembly name="a.dll" total="1" failed="0" errors="0"><collection><test name="a" result="Pass"/></collection></assembly></assemblies>`, [][2]string{
		{`failed="0"`, `failed="1"`},
		{`errors="0"`, `errors="1"`},
		{`result="Pass"`, `result="Murky"`},
		{"", `<testsuite/>`},
	}},
	{"robot", `<robot><suite name="S"><test name="a"><status status="PASS"/></test><status status="PASS"/></suite><statistics><total><stat pass="1" fail="0">All Tests</stat></total></statistics></robot>`, [][2]string{
		{`fail="0"`, `fail="1"`},
		{`<status status="PASS"/></suite>`, `<status status="FAIL"/></suite>`},
		{`<status status="PASS"/></test>`, `</test>`},
		{"", `<testsuite/>`},
	}},
	{"testng", `<testng-results passed="1" failed="0" skipped="0"><suite><test><class name="C"><test-method name="a" status="PASS"/></class></test></suite></testng-results>`, [][2]string{
		{`failed="0"`, `failed="1"`},
		{`status="PASS"`, `status="KO"`},
		{"", `<testsuite/>`},
	}},
	{"catch2", `<Catch2TestRun name="t"><TestCase name="a"><OverallResult success="true"/></TestCase><OverallResults successes="1" failures="0"/><OverallResultsCases successes="1" failures="0"/></Catch2TestRun>`, [][2]string{
		{`<OverallResults successes="1" failures="0"`, `<OverallResults successes="0" failures="1"`},
		{`<OverallResultsCases successes="1" failures="0"`, `<OverallResultsCases successes="0" failures="1"`},
		{`<OverallResult success="true"/>`, ``},
		{"", `<testsuite/>`},
	}},
	{"doctest", `<doctest binary="t"><TestSuite><TestCase name="a"><OverallResultsAsserts successes="1" failures="0" test_case_success="true"/></TestCase></TestSuite><OverallResultsTestCases successes="1" failures="0" skipped="0"/></doctest>`, [][2]string{
		{`<OverallResultsTestCases successes="1" failures="0"`, `<OverallResultsTestCases successes="0" failures="1"`},
		{`<OverallResultsAsserts successes="1" failures="0" test_case_success="true"/>`, ``},
		{"", `<testsuite/>`},
	}},
	{"boost", `<TestResult><TestSuite name="m" result="passed" test_cases_passed="1" test_cases_failed="0" test_cases_timed_out="0"><TestCase name="a" result="passed"/></TestSuite></TestResult>`, [][2]string{
		{`test_cases_failed="0"`, `test_cases_failed="1"`},
		{`test_cases_timed_out="0"`, `test_cases_timed_out="1"`},
		{`name="m" result="passed"`, `name="m" result="aborted"`},
		{`name="a" result="passed"`, `name="a" result="murky"`},
		{`<TestCase name="a" result="passed"/>`, ``},
		{"", `<testsuite/>`},
	}},
	{"boost", `<TestLog><TestSuite name="m"><TestCase name="a"><TestingTime>9</TestingTime></TestCase></TestSuite></TestLog>`, [][2]string{
		{`</TestCase>`, `</TestCase><FatalError file="a.cpp" line="1">no</FatalError>`},
	}},
	{"qttest", `<TestCase name="A"><Environment><QtVersion>6</QtVersion></Environment><TestFunction name="a"><Incident type="pass"/></TestFunction></TestCase>`, [][2]string{
		{`type="pass"`, `type="murky"`},
		{`<Incident type="pass"/>`, `<Message type="qfatal"><Description>no</Description></Message><Incident type="pass"/>`},
		{`<TestFunction name="a">`, `<TestFunction name="b"/><TestFunction name="a">`},
		{"", `<testsuite/>`},
	}},
	{"qttest-text", "********* Start testing of A *********\nPASS   : A::a()\nTotals: 1 passed, 0 failed, 0 skipped, 0 blacklisted, 1ms\n", [][2]string{
		{`0 failed`, `1 failed`},
		{`1 passed, 0 failed`, `0 passed, 1 failed`},
		{`PASS   : A::a()`, "PASS   : A::a()\nQFATAL : A::b() no"},
		{"Totals: 1", "Totale: 1"},
	}},
	{"allure", `{"uuid":"1","historyId":"h","name":"a","status":"passed"}`, [][2]string{
		{`"status":"passed"`, `"status":"murky"`},
		{`"status":"passed"`, `"stage":"running"`},
	}},
	{"ctrf", `{"reportFormat":"CTRF","results":{"tool":{"name":"x"},"summary":{"tests":1,"passed":1,"failed":0},"tests":[{"name":"a","status":"passed"}]}}`, [][2]string{
		{`"failed":0`, `"failed":5`},
		{`"status":"passed"`, `"status":"murky"`},
		{`"status":"passed"`, `"statu":"passed"`},
	}},
	{"jest-json", `{"numTotalTests":1,"numFailedTests":0,"numFailedTestSuites":0,"numRuntimeErrorTestSuites":0,"success":true,"testResults":[{"name":"a.js","status":"passed","assertionResults":[{"title":"a","status":"passed"}]}]}`, [][2]string{
		{`"numFailedTests":0`, `"numFailedTests":1`},
		{`"numFailedTestSuites":0`, `"numFailedTestSuites":1`},
		{`"numRuntimeErrorTestSuites":0`, `"numRuntimeErrorTestSuites":1`},
		{`"success":true`, `"success":false`},
		{`"a.js","status":"passed"`, `"a.js","status":"failed"`},
		{`"title":"a","status":"passed"`, `"title":"a","status":"murky"`},
	}},
	{"mocha-json", `{"stats":{"suites":1,"tests":1,"passes":1,"failures":0},"tests":[{"title":"a","fullTitle":"a","err":{}}],"pending":[],"failures":[],"passes":[{"title":"a","fullTitle":"a","err":{}}]}`, [][2]string{
		{`"failures":0`, `"failures":1`},
		{`"failures":[]`, `"failures":[{"title":"a","fullTitle":"a","err":{"message":"no"}}]`},
		{`"failures":[]`, `"failures":[{"title":"b","fullTitle":"b","err":{"message":"no"}}]`},
		{`"passes":[{"title":"a","fullTitle":"a","err":{}}]`, `"passes":[]`},
	}},
	{"mochawesome", `{"stats":{"passes":1,"failures":0,"testsRegistered":1},"meta":{"mochawesome":{}},"results":[{"title":"","suites":[{"title":"g","tests":[{"title":"a","state":"passed","pass":true}]}]}]}`, [][2]string{
		{`"failures":0`, `"failures":1`},
		{`"state":"passed","pass":true`, `"state":"murky"`},
	}},
	{"karma-json", `{"browsers":{"1":{"name":"B 1","lastResult":{"total":1,"failed":0}}},"result":{"1":[{"description":"a","suite":[],"success":true}]},"summary":{"success":1,"failed":0,"error":false,"disconnected":false}}`, [][2]string{
		{`"success":1,"failed":0`, `"success":1,"failed":1`},
		{`"total":1,"failed":0`, `"total":1,"failed":1`},
		{`"error":false`, `"error":true`},
		{`"disconnected":false`, `"disconnected":true`},
	}},
	{"pytest-json", `{"exitcode":0,"root":"/r","summary":{"passed":1,"failed":0,"error":0,"total":1},"tests":[{"nodeid":"a.py::t","outcome":"passed"}]}`, [][2]string{
		{`"exitcode":0`, `"exitcode":1`},
		{`"failed":0`, `"failed":1`},
		{`"error":0`, `"error":1`},
		{`"outcome":"passed"`, `"outcome":"murky"`},
	}},
	{"pytest-reportlog", session("0", phase("a.py::t", "setup", "passed"), phase("a.py::t", "call", "passed"), phase("a.py::t", "teardown", "passed")), [][2]string{
		{`"exitstatus":0`, `"exitstatus":1`},
		{`"when":"call","outcome":"passed"`, `"when":"call","outcome":"murky"`},
	}},
	{"rspec-json", `{"examples":[{"description":"a","full_description":"a","status":"passed","file_path":"./a_spec.rb"}],"summary":{"example_count":1,"failure_count":0,"errors_outside_of_examples_count":0},"summary_line":""}`, [][2]string{
		{`"failure_count":0`, `"failure_count":1`},
		{`"errors_outside_of_examples_count":0`, `"errors_outside_of_examples_count":1`},
		{`"status":"passed"`, `"status":"murky"`},
	}},
	{"playwright-json", `{"config":{"rootDir":"/r"},"suites":[{"title":"a.ts","file":"a.ts","specs":[{"title":"t","tests":[{"status":"expected","results":[{"status":"passed"}]}]}]}],"errors":[],"stats":{"expected":1,"unexpected":0}}`, [][2]string{
		{`"unexpected":0`, `"unexpected":1`},
		{`"errors":[]`, `"errors":[{"message":"no"}]`},
		{`"status":"expected"`, `"status":"murky"`},
	}},
	{"googletest-json", `{"tests":1,"failures":0,"disabled":0,"errors":0,"testsuites":[{"name":"S","testsuite":[{"name":"a","status":"RUN","result":"COMPLETED","classname":"S"}]}]}`, [][2]string{
		{`"failures":0`, `"failures":1`},
		{`"errors":0`, `"errors":1`},
	}},
	{"testcafe-json", `{"userAgents":["x"],"passed":1,"total":1,"skipped":0,"fixtures":[{"name":"F","path":"a.js","tests":[{"name":"a","errs":[]}]}],"warnings":[]}`, [][2]string{
		{`"passed":1,"total":1`, `"passed":0,"total":1`},
		{`"total":1`, `"total":2`},
	}},
	{"robot-json", `{"generator":"Rebot 7","rpa":false,"suite":{"id":"s1","name":"S","tests":[{"name":"a","status":"PASS"}],"status":"PASS"},"statistics":{"total":{"pass":1,"fail":0}}}`, [][2]string{
		{`"fail":0`, `"fail":1`},
		{`],"status":"PASS"`, `],"status":"FAIL"`},
		{`"name":"a","status":"PASS"`, `"name":"a","status":"KO"`},
	}},
	{"rwx", `{"framework":{"language":"x","kind":"x"},"summary":{"status":{"kind":"successful"},"tests":1,"otherErrors":0,"successful":1,"failed":0,"timedOut":0,"canceled":0},"tests":[{"name":"a","attempt":{"status":{"kind":"successful"}}}]}`, [][2]string{
		{`"failed":0`, `"failed":1`},
		{`"timedOut":0`, `"timedOut":1`},
		{`"otherErrors":0`, `"otherErrors":1`},
		{`"status":{"kind":"successful"},"tests"`, `"status":{"kind":"failed"},"tests"`},
		{`"attempt":{"status":{"kind":"successful"}}`, `"attempt":{"status":{"kind":"murky"}}`},
	}},
	{"dart-json", strings.Join([]string{
		`{"protocolVersion":"0.1.1","runnerVersion":"1","type":"start","time":0}`, `{"suite":{"id":0,"path":"a_test.dart"},"type":"suite","time":0}`,
		`{"group":{"id":1,"suiteID":0,"parentID":null,"name":"","testCount":1},"type":"group","time":0}`,
		`{"test":{"id":2,"name":"a","suiteID":0,"groupIDs":[1]},"type":"testStart","time":1}`, `{"testID":2,"result":"success","type":"testDone","time":2}`, `{"success":true,"type":"done","time":3}`,
	}, "\n"), [][2]string{
		{`"success":true`, `"success":false`},
		{`"result":"success"`, `"result":"murky"`},
	}},
	{"cucumber-messages", strings.Join([]string{
		`{"meta":{"protocolVersion":"1","implementation":{"name":"x"}}}`, `{"pickle":{"id":"p","uri":"a.feature","name":"a","astNodeIds":["1"]}}`, `{"testRunStarted":{}}`,
		`{"testCase":{"id":"c","pickleId":"p"}}`, `{"testCaseStarted":{"id":"s","testCaseId":"c"}}`, `{"testStepFinished":{"testCaseStartedId":"s","testStepResult":{"status":"PASSED"}}}`,
		`{"testCaseFinished":{"testCaseStartedId":"s"}}`, `{"testRunFinished":{"success":true}}`,
	}, "\n"), [][2]string{
		{`"success":true`, `"success":false`},
		{`"status":"PASSED"`, `"status":"MURKY"`},
	}},
	{"cucumber-json", `[{"uri":"a.feature","keyword":"Feature","name":"F","elements":[{"type":"scenario","name":"a","steps":[{"keyword":"Given ","name":"x","result":{"status":"passed"}},{"keyword":"Then ","name":"y","result":{"status":"passed"}}]}]}]`, [][2]string{
		{`"name":"y","result":{"status":"passed"}`, `"name":"y"`},
		{`"name":"y","result":{"status":"passed"}`, `"name":"y","result":{}`},
		{`"name":"y","result":{"status":"passed"}`, `"name":"y","result":{"status":"murky"}`},
	}},
	{"libtest-json", `{ "type": "suite", "event": "started", "test_count": 1 }
{ "type": "test", "name": "a", "event": "ok" }
{ "type": "suite", "event": "ok", "passed": 1, "failed": 0, "ignored": 0 }
`, [][2]string{
		{`"failed": 0`, `"failed": 1`},
		{`"event": "ok", "passed"`, `"event": "failed", "passed"`},
	}},
	{"cargo-test", "running 1 test\ntest a ... ok\n\ntest result: ok. 1 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s\n", [][2]string{
		{`0 failed`, `1 failed`},
		{`test result: ok.`, `test result: FAILED.`},
	}},
	{"unittest", "test_a (m.C.test_a) ... ok\n\n----------------------------------------------------------------------\nRan 1 test in 0.000s\n\nOK\n", [][2]string{
		{"\nOK\n", "\nFAILED (failures=1)\n"},
		{"\nOK\n", "\nFAILED (errors=1)\n"},
		{"\nOK\n", "\nFAILED (unexpected successes=1)\n"},
	}},
	{"automake", "PASS: a.sh\nTestsuite summary for calc 1.0\n# TOTAL: 1\n# PASS:  1\n# FAIL:  0\n# XPASS: 0\n# ERROR: 0\n", [][2]string{
		{`FAIL:  0`, `FAIL:  1`},
		{`XPASS: 0`, `XPASS: 1`},
		{`ERROR: 0`, `ERROR: 1`},
	}},
	{"unity", "a.c:3:test_a:PASS\n\n-----------------------\n1 Tests 0 Failures 0 Ignored \nOK\n", [][2]string{
		{`0 Failures`, `1 Failures`},
		{`1 Tests`, `2 Tests`},
	}},
	{"acutest", "Test a...    [ OK ]\nSUCCESS: All unit tests have passed.\n", [][2]string{
		{`SUCCESS: All unit tests have passed.`, `FAILED: 1 of 1 unit tests has failed.`},
	}},
	{"minitest", "A#test_x = 0.00 s = .\n\n1 runs, 1 assertions, 0 failures, 0 errors, 0 skips\n", [][2]string{
		{`0 failures`, `1 failures`},
		{`0 errors`, `1 errors`},
	}},
	{"exunit", "A [test/a_test.exs]\n  * test a (0.1ms) [L#3]\n\nFinished in 0.1 seconds (0.1s async, 0.0s sync)\n1 test, 0 failures\n", [][2]string{
		{`0 failures`, `1 failure`},
	}},
	{"tap", "TAP version 13\nok 1 - a\n1..1\n# tests 1\n# fail 0\n", [][2]string{
		{`# fail 0`, `# fail 1`},
		{`# fail 0`, `# Looks like you failed 1 test of 1.`},
		{`# fail 0`, `# failed 1 of 1 tests`},
		{`1..1`, `1..2`},
	}},
}

func session(status string, lines ...string) string {
	return `{"$report_type":"SessionStart"}` + "\n" + strings.Join(lines, "\n") + "\n" + `{"exitstatus":` + status + `,"$report_type":"SessionFinish"}` + "\n"
}

func phase(node, when, outcome string) string {
	return `{"nodeid":"` + node + `","when":"` + when + `","outcome":"` + outcome + `","$report_type":"TestReport"}`
}

// TestLies reads reports that contradict themselves: what they state as totals contradicts
// what they list. None of them is one of tests that all passed, and each says why.
func TestLies(t *testing.T) {
	seen := map[string]bool{}
	for _, l := range lies {
		seen[l.format] = true
		honest, err := parsers.Parse(strings.NewReader(l.report), "report")
		if honest.Format != l.format || !green(honest, err) {
			t.Errorf("%s: the honest report is read as %s, %v, with %+v and %q", l.format, honest.Format, err, honest.Cases, honest.Problems)
			continue
		}
		for _, is := range l.lies {
			text := l.report + is[1]
			if is[0] != "" {
				text = strings.Replace(l.report, is[0], is[1], 1)
			}
			if text == l.report {
				t.Errorf("%s: %q is not in the report", l.format, is[0])
			}
			r, err := parsers.Parse(strings.NewReader(text), "report")
			if green(r, err) {
				t.Errorf("%s with %s: it is read as tests that all passed: %+v, problems %q", l.format, is[1], r.Cases, r.Problems)
			}
		}
	}
	for _, f := range parsers.Formats() {
		if f.Kind == parsers.TestReport && !seen[f.Name] && silent[f.Name] == "" {
			t.Errorf("%s has no report here that contradicts itself; a format that states no totals belongs to the silent ones, with the reason", f.Name)
		}
	}
}

// green reports whether a report is one of tests that all passed.
func green(r parsers.Report, err error) bool {
	n := r.Tests.Counts()
	return err == nil && r.Tests != nil && n.Passed > 0 && n.Failed == 0 && len(r.Tests.Broken) == 0 && r.Tests.Failure == ""
}
