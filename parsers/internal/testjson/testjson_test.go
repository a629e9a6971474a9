package testjson_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"supervise/metric"
	"supervise/parsers"
	"supervise/test/reports"
)

// outcomes is what a report says: the tests with their outcomes, what is broken,
// and what failed completely.
func outcomes(t *metric.Tests) map[string]string {
	out := reports.Statuses(t)
	for _, c := range t.Cases {
		if c.Flaky {
			out[c.ID.String()] += " flaky"
		}
	}
	if t.Failure != "" {
		out["failure"] = t.Failure
	}
	return out
}

// lines puts every text in its own line.
func lines(texts ...string) string { return strings.Join(texts, "\n") + "\n" }

const (
	libtestBegin = `{ "type": "suite", "event": "started", "test_count": 2 }`
	libtestA     = `{ "type": "test", "event": "started", "name": "a" }`
	libtestAOk   = `{ "type": "test", "name": "a", "event": "ok" }`
	libtestB     = `{ "type": "test", "event": "started", "name": "b" }`
	libtestBBad  = `{ "type": "test", "name": "b", "event": "failed", "stdout": "no" }`
	libtestOK    = `{ "type": "suite", "event": "ok", "passed": 1, "failed": 0, "ignored": 0 }`
	libtestEnd   = `{ "type": "suite", "event": "failed", "passed": 1, "failed": 1, "ignored": 0 }`

	sessionStart  = `{"$report_type":"SessionStart"}`
	sessionFinish = `{"exitstatus":1,"$report_type":"SessionFinish"}`
)

// phase is one phase of a test in a report of pytest.
func phase(node, when, outcome string) string {
	return `{"nodeid":"` + node + `","when":"` + when + `","outcome":"` + outcome + `","longrepr":"why","$report_type":"TestReport"}`
}

func collected(node, outcome string) string {
	return `{"nodeid":"` + node + `","outcome":"` + outcome + `","longrepr":"why","$report_type":"CollectReport"}`
}

// session wraps lines into a session of pytest that ends with the status.
func session(status string, body ...string) string {
	return lines(append(append([]string{sessionStart}, body...), `{"exitstatus":`+status+`,"$report_type":"SessionFinish"}`)...)
}

func jestOf(files string) string { return `{"numTotalTests":1,"testResults":[` + files + `]}` }

func jestFile(status, message, tests string) string {
	return `{"name":"a.js","status":"` + status + `","message":"` + message + `","assertionResults":[` + tests + `]}`
}

func mochaOf(tests, pending, failures, passes string) string {
	return `{"stats":{"suites":1,"passes":0},"tests":[` + tests + `],"pending":[` + pending + `],"failures":[` + failures + `],"passes":[` + passes + `]}`
}

func mochaTest(title, err string) string {
	return `{"title":"` + title + `","fullTitle":"g ` + title + `","file":"a.js","err":` + err + `}`
}

func playwrightOf(tests, errs string) string {
	return `{"config":{"rootDir":"/r"},"suites":[{"title":"a.ts","file":"a.ts","specs":[],"suites":[{"title":"g","specs":[{"title":"t","tests":[` + tests + `]}]}]}],"errors":[` + errs + `]}`
}

func rspecOf(examples, messages, summary string) string {
	return `{"messages":[` + messages + `],"examples":[` + examples + `],"summary":{` + summary + `},"summary_line":""}`
}

func cucumberOf(elements string) string {
	return `[{"uri":"a.feature","keyword":"Feature","name":"F","elements":[` + elements + `]}]`
}

// scenario has one step for each status, "before:" and "after:" those of hooks.
func scenario(name, line string, statuses ...string) string {
	groups := map[string][]string{}
	for _, s := range statuses {
		group, status, hook := strings.Cut(s, ":")
		if !hook {
			group, status = "steps", s
		}
		groups[group] = append(groups[group], `{"result":{"status":"`+status+`"}}`)
	}
	out := `{"type":"scenario","name":"` + name + `","line":` + line
	for _, group := range []string{"before", "steps", "after"} {
		out += `,"` + group + `":[` + strings.Join(groups[group], ",") + `]`
	}
	return out + "}"
}

func ginkgoOf(specs string) string {
	return `[{"SuitePath":"/p","SuiteSucceeded":false,"SpecReports":[` + specs + `]}]`
}

func dartOf(body ...string) string {
	head := []string{
		`{"protocolVersion":"0.1.1","runnerVersion":"1","type":"start","time":0}`,
		`{"suite":{"id":0,"path":"test/a_test.dart"},"type":"suite","time":0}`,
		`{"group":{"id":1,"suiteID":0,"parentID":null,"name":"","testCount":2},"type":"group","time":0}`,
		`{"count":1,"type":"allSuites","time":0}`,
	}
	return lines(append(head, body...)...)
}

func dartStart(id, name string) string {
	return `{"test":{"id":` + id + `,"name":"` + name + `","suiteID":0,"groupIDs":[1]},"type":"testStart","time":1}`
}

func dartDone(id, result, more string) string {
	return `{"testID":` + id + `,"result":"` + result + `",` + more + `"type":"testDone","time":2}`
}

const dartEnd = `{"success":false,"type":"done","time":3}`

type jsonCase struct {
	name, report string
	want         map[string]string
}

func checkOutcomes(t *testing.T, cases []jsonCase) {
	t.Helper()
	for _, tt := range cases {
		t.Run(tt.name, func(t *testing.T) {
			r, err := parsers.Parse(strings.NewReader(tt.report), "report")
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, outcomes(r.Tests)); diff != "" {
				t.Errorf("%s (-want +got):\n%s", r.Format, diff)
			}
		})
	}
}

func TestJavaScriptJSON(t *testing.T) {
	checkOutcomes(t, []jsonCase{
		{
			"jest: every status", jestOf(jestFile("failed", "m",
				`{"ancestorTitles":["g","h"],"title":"a","status":"passed"},{"title":"b","status":"failed"},{"title":"c","status":"pending"},{"title":"d","status":"todo"},{"title":"e","status":"disabled"},{"title":"f","status":"odd"}`)),
			map[string]string{"a.js: g > h.a": "passed", "a.js: b": "failed", "a.js: c": "skipped", "a.js: d": "skipped", "a.js: e": "skipped", "a.js: f": "error"},
		},
		{"jest: a file that cannot be loaded", jestOf(jestFile("failed", "Test suite failed to run", "")), map[string]string{"broken a.js": "Test suite failed to run"}},
		{"jest: a file that fails after its tests", jestOf(jestFile("failed", "no clean up", `{"title":"a","status":"passed"}`)), map[string]string{"a.js: a": "passed", "broken a.js": "no clean up"}},
		{"jest: an error of a file that is a text", `{"numTotalTests":0,"testResults":[{"testFilePath":"a.js","testExecError":"no such module","testResults":[]},{"testFilePath":"b.js","testExecError":null,"testResults":[{"title":"b","status":"passed"}]}]}`, map[string]string{"broken a.js": "no such module", "b.js: b": "passed"}},
		{"jest: titles that are no text", jestOf(jestFile("passed", "", `{"ancestorTitles":["x",["y","z"]],"title":["a","b"],"status":"passed"},{"ancestorTitles":[7],"title":8,"status":"passed"}`)), map[string]string{"a.js: x > y,z.a,b": "passed", "a.js: 7.8": "passed"}},
		{"vitest: tests of types", `{"numTotalTests":1,"testResults":[{"name":"/x/test/a.test-d.ts","status":"passed","message":"","assertionResults":[{"ancestorTitles":["test/a.test-d.ts","g"],"title":"a","status":"passed"}]}]}`, map[string]string{"/x/test/a.test-d.ts: g.a": "passed"}},
		{"jest: several invocations", jestOf(jestFile("passed", "", `{"title":"a","status":"passed","invocations":2}`)), map[string]string{"a.js: a": "passed flaky"}},
		{"vitest: a message of a failed attempt", jestOf(jestFile("passed", "", `{"title":"a","status":"passed","failureMessages":["no"]}`)), map[string]string{"a.js: a": "passed flaky"}},
		{
			"vitest: an error outside of all files", `{"numTotalTests":1,"success":false,"testResults":[` + jestFile("passed", "", `{"title":"a","status":"passed"}`) + `]}`,
			map[string]string{"a.js: a": "passed", "failure": "vitest says that the run failed although no test did"},
		},
		{
			"jest: two reports of one command", "talk\n" + jestOf(jestFile("passed", "", `{"title":"a","status":"passed"}`)) + "\nDone.\n" + jestOf(strings.Replace(jestFile("passed", "", `{"title":"a","status":"passed"}`), "a.js", "b.js", 1)),
			map[string]string{"a.js: a": "passed", "b.js: a": "passed"},
		},
		{"jest: log lines in JSON", lines(`{"level":30,"success":false,"msg":"x"}`, jestOf(jestFile("passed", "", `{"title":"a","status":"passed"}`)), `{"level":30}`), map[string]string{"a.js: a": "passed"}},
		{
			"mocha: lists", mochaOf(mochaTest("a", "{}")+","+mochaTest("b", `{"message":"no"}`)+","+mochaTest("c", "{}"), mochaTest("c", "{}"), mochaTest("b", `{"message":"no"}`), mochaTest("a", "{}")),
			map[string]string{"a.js: g.a": "passed", "a.js: g.b": "failed", "a.js: g.c": "skipped"},
		},
		{"mocha: a hook that fails", mochaOf("", "", mochaTest(`\"before all\" hook in \"g\"`, `{"message":"no"}`), ""), map[string]string{"broken a.js": `"before all" hook in "g": no`}},
		{"mocha: a test that fails after it passed", mochaOf(mochaTest("a", "{}"), "", mochaTest("a", `{"message":"done() called twice"}`), mochaTest("a", "{}")), map[string]string{"a.js: g.a": "failed"}},
		{"mocha: a test without an outcome", mochaOf(mochaTest("a", "{}"), "", "", ""), map[string]string{"a.js: g.a": "error"}},
		{"mocha: a repeated test", mochaOf(strings.Replace(mochaTest("a", "{}"), "{", `{"currentRetry":1,`, 1), "", "", mochaTest("a", "{}")), map[string]string{"a.js: g.a": "passed flaky"}},
		{
			"mochawesome", `{"stats":{"tests":4,"passes":1},"results":[{"file":"a.js","title":"","suites":[{"title":"g","beforeHooks":[{"title":"\"before each\" hook","fail":true,"err":{"message":"no"}}],"tests":[{"title":"a","state":"passed","pass":true},{"title":"b","state":"failed","fail":true},{"title":"c","state":"pending","pending":true},{"title":"d","skipped":true},{"title":"e"}],"suites":[]}]},false]}`,
			map[string]string{"a.js: g.a": "passed", "a.js: g.b": "failed", "a.js: g.c": "skipped", "a.js: g.d": "not_run", "a.js: g.e": "error", "broken a.js": `"before each" hook: no`},
		},
		{"playwright: expected to fail", playwrightOf(`{"projectName":"p","expectedStatus":"failed","status":"expected","results":[{"status":"failed"}]}`, ""), map[string]string{"a.ts: p > g.t": "passed"}},
		{
			"playwright: flaky, in two projects", playwrightOf(`{"projectName":"p","expectedStatus":"passed","status":"flaky","results":[{"status":"failed"},{"status":"passed"}]},{"projectName":"q","expectedStatus":"passed","status":"unexpected","results":[{"status":"timedOut"}]}`, ""),
			map[string]string{"a.ts: p > g.t": "passed flaky", "a.ts: q > g.t": "failed"},
		},
		{"playwright: skipped on purpose", playwrightOf(`{"expectedStatus":"skipped","status":"skipped","results":[]}`, ""), map[string]string{"a.ts: g.t": "skipped"}},
		{
			"playwright: a file that cannot be loaded, so that nothing ran", playwrightOf(`{"expectedStatus":"passed","status":"skipped","results":[]}`, `{"message":"no","location":{"file":"/r/b.ts"}},{"message":"no server"}`),
			map[string]string{"a.ts: g.t": "not_run", "broken b.ts": "no", "failure": "no server"},
		},
		{
			"testcafe", `{"userAgents":[],"passed":1,"total":2,"fixtures":[{"name":"f","path":"a.js","tests":[{"name":"a","errs":[],"unstable":true},{"name":"b","errs":["no"],"unstable":true},{"name":"c","errs":[],"skipped":true}]}]}`,
			map[string]string{"a.js: f.a": "passed flaky", "a.js: f.b": "failed", "a.js: f.c": "skipped"},
		},
		{
			"karma: a browser that is lost", `{"browsers":{"1":{"name":"Chrome Headless 1.2 (Linux)","lastResult":{"total":2,"disconnected":true}}},"result":{"1":[{"suite":["g"],"description":"a","success":true}]},"summary":{"error":true}}`,
			map[string]string{"Chrome Headless: g.a": "passed", "broken Chrome Headless": "the browser was disconnected before its tests had run"},
		},
		{
			"ctrf: every status", `{"results":{"tool":{"name":"x"},"summary":{},"tests":[{"name":"a","status":"passed","suite":["f","g"],"filePath":"a.js","retries":1},{"name":"b","status":"failed"},{"name":"c","status":"pending"},{"name":"d","status":"other","rawStatus":"todo"},{"name":"e","status":"other","rawStatus":"timedOut"},{"name":"f","status":"odd"}]}}`,
			map[string]string{"a.js: f > g.a": "passed flaky", "b": "failed", "c": "skipped", "d": "skipped", "e": "error", "f": "error"},
		},
	})
}

func TestPytestJSON(t *testing.T) {
	const a, b = "t.py::C::a[x::y]", "t.py::b"
	checkOutcomes(t, []jsonCase{
		{
			"phases", session("1", phase(a, "setup", "passed"), phase(a, "call", "passed"), phase(a, "teardown", "failed"), phase(b, "setup", "failed"), phase(b, "teardown", "passed")),
			map[string]string{"t.py: C.a[x::y]": "error", "t.py: b": "error"},
		},
		{"a failure and a broken tear-down", session("1", phase(b, "setup", "passed"), phase(b, "call", "failed"), phase(b, "teardown", "passed")), map[string]string{"t.py: b": "failed"}},
		{
			"expected failures", session("0", strings.Replace(phase(a, "call", "skipped"), "{", `{"wasxfail":"bug",`, 1), strings.Replace(phase(b, "call", "passed"), "{", `{"wasxfail":"bug",`, 1)),
			map[string]string{"t.py: C.a[x::y]": "skipped", "t.py: b": "passed"},
		},
		{
			"rerun", session("0", phase(b, "setup", "passed"), phase(b, "call", "rerun"), phase(b, "teardown", "passed"), phase(b, "setup", "passed"), phase(b, "call", "passed"), phase(b, "teardown", "passed")),
			map[string]string{"t.py: b": "passed flaky"},
		},
		{
			"rerun in vain", session("1", phase(b, "setup", "rerun"), phase(b, "teardown", "passed"), phase(b, "setup", "passed"), phase(b, "call", "failed"), phase(b, "teardown", "passed")),
			map[string]string{"t.py: b": "failed"},
		},
		{"retried within one attempt", session("0", phase(b, "setup", "passed"), phase(b, "call", "retried"), phase(b, "call", "passed"), phase(b, "teardown", "passed")), map[string]string{"t.py: b": "passed flaky"}},
		{
			"workers that interleave", session("1", phase(a, "setup", "passed"), phase(b, "setup", "passed"), phase(b, "call", "failed"), phase(a, "call", "passed"), phase(b, "teardown", "passed"), phase(a, "teardown", "passed")),
			map[string]string{"t.py: C.a[x::y]": "passed", "t.py: b": "failed"},
		},
		{"a test without a call", session("1", phase(b, "setup", "passed")), map[string]string{"t.py: b": "error"}},
		{"a subtest that fails", session("1", phase(b, "setup", "passed"), strings.Replace(phase(b, "call", "failed"), "TestReport", "SubTestReport", 1), phase(b, "call", "passed"), phase(b, "teardown", "passed")), map[string]string{"t.py: b": "failed"}},
		{"a file that cannot be collected, so that nothing ran", session("2", collected("t.py", "failed"), collected("u.py", "passed"), collected("v", "passed")), map[string]string{"broken t.py": "why", "broken u.py": "pytest was interrupted"}},
		{"a file that is skipped", session("0", collected("t/u.py", "skipped"), phase(b, "call", "passed")), map[string]string{"t/u.py: u": "skipped", "t.py: b": "passed"}},
		{"collected only", session("0", collected("t.py", "passed")), map[string]string{"broken t.py": "pytest collected it and did not run it"}},
		{"nothing selected", session("5", collected("t.py", "passed")), map[string]string{}},
		{"an internal error", session("3", collected("t.py", "passed"), phase(b, "call", "passed")), map[string]string{"t.py: b": "passed", "broken t.py": "pytest had an internal error", "failure": "pytest had an internal error"}},
		{"two sessions", session("0", phase(b, "call", "passed")) + session("1", phase(a, "call", "failed")), map[string]string{"t.py: b": "passed", "t.py: C.a[x::y]": "failed"}},
		{
			"pytest-json-report", `{"exitcode":1,"root":"/","summary":{"total":3},"collectors":[{"nodeid":"u.py","outcome":"failed","longrepr":"no"}],"tests":[{"nodeid":"t.py::a","outcome":"rerun","call":{"outcome":"passed"}},{"nodeid":"t.py::b","outcome":"error"},{"nodeid":"t.py::c","outcome":"xfailed"}]}`,
			map[string]string{"t.py: a": "passed flaky", "t.py: b": "error", "t.py: c": "skipped", "broken u.py": "no"},
		},
	})
}

func TestRustJSON(t *testing.T) {
	const doctest = `{ "type": "test", "name": "src\lib.rs - bar::f (line %)", "event": "ok" }`
	checkOutcomes(t, []jsonCase{
		{
			"two binaries that cargo names", lines("     Running unittests src/lib.rs (target/debug/deps/x-0123456789abcdef)", libtestBegin, libtestA, libtestB, libtestAOk, libtestBBad, libtestEnd, "   Doc-tests x", libtestBegin, libtestAOk, libtestOK),
			map[string]string{"src/lib.rs (x): a": "passed", "src/lib.rs (x): b": "failed", "doc-tests x: a": "passed"},
		},
		{"two binaries without names", lines(libtestBegin, libtestAOk, libtestOK, libtestBegin, strings.Replace(libtestAOk, "ok", "failed", 1), libtestBBad, libtestEnd), map[string]string{"a": "passed", "#2: a": "failed", "b": "failed"}},
		{
			"a binary that crashes", lines(libtestBegin, libtestA, libtestAOk, libtestB, libtestBegin, libtestBBad, libtestEnd),
			map[string]string{"a": "passed", "b": "error", "#2: b": "failed", "broken ": "the test binary ended before its 2 tests had run"},
		},
		{"a binary that crashes at the end", lines(libtestBegin, libtestA), map[string]string{"a": "error", "broken ": "the test binary ended before its 2 tests had run"}},
		{"slow is not failed", lines(libtestBegin, libtestA, `{ "type": "test", "event": "timeout", "name": "a" }`, libtestAOk, libtestOK), map[string]string{"a": "passed"}},
		{"a benchmark", lines(libtestBegin, `{ "type": "bench", "name": "a", "median": 1, "deviation": 1 }`, libtestOK), map[string]string{"a": "passed"}},
		{
			"examples in the documentation, of Windows", lines(libtestBegin, strings.Replace(doctest, "%", "20", 1), strings.Replace(strings.Replace(doctest, "%", "3", 1), "ok", "failed", 1), strings.Replace(doctest, "bar::f (line %", "bar::g (line 9", 1), libtestEnd),
			map[string]string{`src\lib.rs - bar::f[1]`: "failed", `src\lib.rs - bar::f[2]`: "passed", `src\lib.rs - bar::g`: "passed"},
		},
		{"nothing compiled", lines("error: could not compile `x` (lib test) due to 1 previous error", libtestBegin, libtestAOk, libtestEnd), map[string]string{"a": "passed", "broken x": "error: could not compile `x` (lib test) due to 1 previous error"}},
		{
			"nextest: parts of a suite, retries, skipped", lines(`{"type":"suite","event":"started","test_count":3}`, `{"type":"test","event":"started","name":"c::b$a"}`, `{"type":"test","event":"started","name":"c::b$i"}`, `{"type":"suite","event":"ok","passed":0,"failed":0,"ignored":1}`,
				`{"type":"suite","event":"started","test_count":3}`, `{"type":"test","event":"ok","name":"c::b$a#2"}`, `{"type":"suite","event":"ok","passed":1,"failed":0,"ignored":1}`),
			map[string]string{"c::b: a": "passed flaky", "c::b: i": "skipped"},
		},
		{"nextest: a test that does not end", lines(`{"type":"suite","event":"started","test_count":1}`, `{"type":"test","event":"started","name":"c::b$a"}`, `{"type":"suite","event":"failed","passed":0,"failed":0,"ignored":0}`), map[string]string{"c::b: a": "error"}},
	})
}

func TestOtherJSON(t *testing.T) {
	const example = `{"description":"a","full_description":"g a","file_path":"./a_spec.rb","status":"%"}`
	ruby := func(status string) string { return strings.Replace(example, "%", status, 1) }
	checkOutcomes(t, []jsonCase{
		{"rspec: every status", rspecOf(ruby("passed"), "", `"example_count":1`), map[string]string{"./a_spec.rb: g.a": "passed"}},
		{"rspec: a file that cannot be loaded", rspecOf("", `"\nAn error occurred while loading ./b_spec.rb.\nFailure"`, `"errors_outside_of_examples_count":1`), map[string]string{"broken ./b_spec.rb": "An error occurred while loading ./b_spec.rb.\nFailure"}},
		{"rspec: an error that no message names", rspecOf(ruby("pending"), "", `"errors_outside_of_examples_count":1`), map[string]string{"./a_spec.rb: g.a": "skipped", "broken rspec": "an error occurred outside of the examples"}},
		{"cucumber: the worst step", cucumberOf(strings.Join([]string{
			scenario("a", "1", "passed", "passed"), scenario("b", "2", "passed", "failed", "skipped"), scenario("c", "3", "passed", "undefined", "skipped"), scenario("d", "4", "pending"),
			scenario("e", "5", "ambiguous"), scenario("f", "6", "before:failed", "skipped"), scenario("g", "7", "passed", "after:failed"), scenario("h", "8"), scenario("i", "9", "odd"),
		}, ",")), map[string]string{"a.feature: F.a": "passed", "a.feature: F.b": "failed", "a.feature: F.c": "skipped", "a.feature: F.d": "skipped", "a.feature: F.e": "failed", "a.feature: F.f": "failed", "a.feature: F.g": "failed", "a.feature: F.h": "passed", "a.feature: F.i": "error"}},
		{"cucumber: a background that fails", cucumberOf(strings.Replace(scenario("", "1", "failed"), "scenario", "background", 1) + "," + scenario("a", "2", "skipped") + "," + scenario("b", "3", "passed")), map[string]string{"a.feature: F.a": "failed", "a.feature: F.b": "passed"}},
		{"cucumber: log lines in JSON", lines(`{"level":30}`, cucumberOf(scenario("a", "1", "passed"))), map[string]string{"a.feature: F.a": "passed"}},
		{"cucumber: examples", cucumberOf(scenario("a", "4", "failed") + "," + scenario("a", "3", "passed")), map[string]string{"a.feature: F.a[1]": "passed", "a.feature: F.a[2]": "failed"}},
		{"cucumber: attempts", cucumberOf(scenario("a", "3", "failed") + "," + scenario("a", "3", "passed")), map[string]string{"a.feature: F.a": "passed flaky"}},
		{
			"ginkgo: the set-up of a suite", ginkgoOf(`{"LeafNodeType":"BeforeSuite","State":"failed","Failure":{"Message":"no"}},{"LeafNodeType":"It","LeafNodeText":"a","State":"skipped"},{"LeafNodeType":"It","LeafNodeText":"b","State":"pending"}`),
			map[string]string{"/p: a": "not_run", "/p: b": "skipped", "broken /p": "BeforeSuite failed: no"},
		},
		{
			"ginkgo: outcomes", ginkgoOf(`{"ContainerHierarchyTexts":["g"],"LeafNodeType":"It","LeafNodeText":"a","State":"passed","NumAttempts":2},{"LeafNodeType":"It","LeafNodeText":"b","State":"panicked"},{"LeafNodeType":"It","LeafNodeText":"c","State":"timedout"},{"LeafNodeType":"It","LeafNodeText":"d","State":"skipped","Failure":{"Message":"Spec skipped because an earlier spec in an ordered container failed"}}`),
			map[string]string{"/p: g.a": "passed flaky", "/p: b": "error", "/p: c": "failed", "/p: d": "not_run"},
		},
		{"ginkgo: a suite that did not compile", `[{"SuitePath":"/p","SpecialSuiteFailureReasons":["Failed to compile p"],"SpecReports":null}]`, map[string]string{"broken /p": "Failed to compile p"}},
		{
			"dart: outcomes", dartOf(dartStart("2", "a"), dartStart("3", "b"), dartStart("4", "c"), dartDone("2", "success", `"skipped":true,`), dartDone("3", "failure", ""), dartDone("4", "error", ""), dartEnd),
			map[string]string{"test/a_test.dart: a": "skipped", "test/a_test.dart: b": "failed", "test/a_test.dart: c": "error"},
		},
		{"dart: a file that cannot be loaded", dartOf(dartStart("2", "loading test/a_test.dart"), dartDone("2", "error", ""), dartEnd), map[string]string{"broken test/a_test.dart": "loading test/a_test.dart:"}},
		{"dart: another platform", strings.Replace(dartOf(dartStart("2", "a"), dartDone("2", "success", ""), `{"success":true,"type":"done","time":3}`), `"path"`, `"platform":"chrome","path"`, 1), map[string]string{"test/a_test.dart: chrome.a": "passed"}},
		{"dart: a set-up that fails", dartOf(dartStart("2", "(setUpAll)"), `{"testID":2,"error":"no","stackTrace":"","type":"error","time":2}`, dartDone("2", "error", ""), dartEnd), map[string]string{"broken test/a_test.dart": "(setUpAll): no"}},
		{"dart: no end, but all tests ended", dartOf(dartStart("2", "a"), dartDone("2", "success", ""), dartStart("3", "b"), dartDone("3", "success", "")), map[string]string{"test/a_test.dart: a": "passed", "test/a_test.dart: b": "passed"}},
		{"dart: a test that does not end", dartOf(dartStart("2", "a"), dartEnd), map[string]string{"test/a_test.dart: a": "error"}},
		{
			"rwx", `{"framework":{"kind":"RSpec"},"summary":{"tests":2,"otherErrors":1},"tests":[{"name":"g a","lineage":["g","a"],"location":{"file":"a.rb"},"attempt":{"status":{"kind":"successful"}},"pastAttempts":[{"status":{"kind":"failed"}}]},{"name":"b","attempt":{"status":{"kind":"timedOut"}}}],"otherErrors":[{"message":"no"},{"message":"nor","location":{"file":"b.rb"}}]}`,
			map[string]string{"a.rb: g.a": "passed flaky", "b": "failed", "failure": "no", "broken b.rb": "nor"},
		},
		{
			"robot: a set-up of a suite that fails", `{"generator":"Robot","rpa":false,"suite":{"id":"s1","suites":[{"tests":[{"name":"a","status":"FAIL","message":"Parent suite setup failed"},{"name":"b","status":"SKIP"}],"name":"I","source":"/p/i.robot"}],"setup":{"status":"FAIL","message":"no"},"name":"S"}}`,
			map[string]string{"/p/i.robot: S > I.a": "failed", "/p/i.robot: S > I.b": "skipped", "broken S": "no"},
		},
		{
			"googletest", `{"tests":3,"failures":1,"disabled":1,"testsuites":[{"name":"S","testsuite":[{"name":"a","status":"RUN","result":"COMPLETED","classname":"S"},{"name":"b","status":"RUN","result":"COMPLETED","failures":[{"failure":"no"}]},{"name":"c","status":"NOTRUN","result":"SUPPRESSED"},{"name":"d","status":"RUN","result":"SKIPPED"}]},{"name":"NonTestSuiteFailure","testsuite":[{"name":"","failures":[{"failure":"no"}]}]}]}`,
			map[string]string{"S.a": "passed", "S.b": "failed", "S.c": "skipped", "S.d": "skipped", "broken NonTestSuiteFailure": "no"},
		},
	})
}

// TestWrongTotalsAreProblems reads reports whose sums are not those of their tests.
func TestWrongTotalsAreProblems(t *testing.T) {
	for _, tt := range []struct{ report, problem string }{
		{strings.Replace(jestOf(jestFile("passed", "", `{"title":"a","status":"passed"}`)), "1", "3", 1), "the report says 3 tests and holds 1"},
		{strings.Replace(mochaOf(mochaTest("a", "{}"), "", "", mochaTest("a", "{}")), `"suites"`, `"tests":3,"suites"`, 1), "the report says 3 tests and holds 1"},
		{rspecOf("", "", `"example_count":3`), "the report says 3 examples and holds 0"},
		{lines(libtestBegin, libtestAOk, libtestEnd), "the report says 1 failed tests and holds 0"},
		{`{"results":{"tool":{},"summary":{"tests":3},"tests":[]}}`, "the report says 3 tests and holds 0"},
		{`{"tests":3,"disabled":0,"testsuites":[]}`, "the report says 3 tests and holds 0"},
		{ginkgoOf(`{"LeafNodeType":"It","LeafNodeText":"a","State":"failed"}],"PreRunStats":{"TotalSpecs":3},"x":[`), "the report says 3 specs and holds 1"},
	} {
		r, err := parsers.Parse(strings.NewReader(tt.report), "report")
		if err != nil || strings.Join(r.Problems, "|") != tt.problem {
			t.Errorf("%s: error %v and problems %q, want %q", tt.report, err, r.Problems, tt.problem)
		}
	}
}

// TestIncompleteJSONIsRefused reads reports that do not hold what they should: a run that
// was stopped, or a document of another shape.
func TestIncompleteJSONIsRefused(t *testing.T) {
	for _, tt := range []struct{ format, report string }{
		{"jest-json", `{"numTotalTests":0}`},
		{"jest-json", `{"numTotalTests":1,"wasInterrupted":true,"testResults":[]}`},
		{"jest-json", `[1]`},
		{"mocha-json", `{"stats":{},"tests":[]}`},
		{"playwright-json", `{"config":{}}`},
		{"rspec-json", `{"examples":[]}`},
		{"rspec-json", `{"examples":[{"description":"a","status":"passed"}]} ` + rspecOf("", "", "")},
		{"pytest-json", `{"tests":[]}`},
		{"testcafe-json", `{"userAgents":[]}`},
		{"karma-json", `{"result":{}}`},
		{"googletest-json", `{"tests":1}`},
		{"ctrf", `{"results":{}}`},
		{"rwx", `{"tests":[]}`},
		{"ginkgo-json", `[{}]`},
		{"robot-json", `{"generator":"Robot"}`},
		{"mochawesome", `{"stats":{"passes":1}}`},
		{"cucumber-json", `[{"name":"a"}]`},
		{"cucumber-messages", lines(`{"testRunStarted":{}}`)},
		{"cucumber-messages", lines(`{"testCaseStarted":{"id":"1","testCaseId":"2"}}`)},
		{"pytest-reportlog", lines(sessionStart, phase("t.py::a", "call", "passed"))},
		{"pytest-reportlog", lines(sessionStart, sessionStart, sessionFinish)},
		{"dart-json", dartOf(dartStart("2", "a"), dartDone("2", "success", ""))},
		{"dart-json", dartOf(dartEnd + "\n" + strings.Replace(dartEnd, "false", "null", 1))},
		{"libtest-json", lines(`{"type":"suite","event":"started","test_count":1}`, `{"type":"test","event":"started","name":"c::b$a"}`)},
	} {
		r, err := parsers.ParseAs(strings.NewReader(tt.report), tt.format)
		var syntax *parsers.SyntaxError
		if !errors.As(err, &syntax) && !errors.Is(err, parsers.ErrUnknownFormat) {
			t.Errorf("%s %s: read as %+v, error %v; want an error of its shape", tt.format, tt.report, r.Cases, err)
		}
	}
}
