package testjson_test

import (
	"testing"

	"supervise/test/reports"
)

func FuzzReportlog(f *testing.F) {
	reports.Fuzz(f, "pytest-reportlog",
		`{"$report_type":"SessionStart"}
{"nodeid":"a.py::test[x::y]","when":"setup","outcome":"passed","location":["a.py",0,"test"],"$report_type":"TestReport"}
{"nodeid":"a.py::test[x::y]","when":"call","outcome":"failed","longrepr":{"reprcrash":{"message":"m"}},"$report_type":"TestReport"}
{"exitstatus":1,"$report_type":"SessionFinish"}
`)
}

func FuzzCucumberMessages(f *testing.F) {
	reports.Fuzz(f, "cucumber-messages", `{"meta":{"protocolVersion":"1"}}
{"pickle":{"id":"1","uri":"a.feature","name":"n","astNodeIds":["2"]}}
{"testRunStarted":{}}
{"testCase":{"id":"3","pickleId":"1"}}
{"testCaseStarted":{"id":"4","testCaseId":"3","attempt":1}}
{"testStepFinished":{"testCaseStartedId":"4","testStepResult":{"status":"FAILED","duration":{"seconds":1,"nanos":1}}}}
{"testCaseFinished":{"testCaseStartedId":"4"}}
{"testRunFinished":{"success":false}}
`)
}

func FuzzDart(f *testing.F) {
	reports.Fuzz(f, "dart-json", `{"protocolVersion":"0.1.1","runnerVersion":"1","type":"start","time":0}
{"suite":{"id":0,"path":"test/a_test.dart"},"type":"suite","time":0}
{"test":{"id":1,"name":"g t","suiteID":0,"groupIDs":[2],"line":1,"url":"file:///a"},"type":"testStart","time":1}
{"testID":1,"error":"e","stackTrace":"s","type":"error"}
{"testID":1,"result":"failure","type":"testDone","time":9}
{"success":false,"type":"done","time":10}
`)
}

func FuzzCTRF(f *testing.F) {
	reports.Fuzz(f, "ctrf", `{"reportFormat":"CTRF","results":{"tool":{"name":"x"},"summary":{"tests":1},"tests":[{"name":"a","status":"other","suite":["b","c"],"retries":1}]}}`)
}

func FuzzRWX(f *testing.F) {
	reports.Fuzz(f, "rwx", `{"framework":{"kind":"x"},"summary":{"tests":1,"otherErrors":1},"tests":[{"name":"a","lineage":["b","a"],"attempt":{"status":{"kind":"failed"}},"pastAttempts":[{"status":{"kind":"failed"}}]}],"otherErrors":[{"message":"m"}]}`)
}

func FuzzGinkgo(f *testing.F) {
	reports.Fuzz(f, "ginkgo-json", `[{"SuitePath":"/a","SuiteSucceeded":false,"PreRunStats":{"TotalSpecs":2},"SpecReports":[{"LeafNodeType":"BeforeSuite","State":"failed"},{"LeafNodeType":"It","LeafNodeText":"a","State":"skipped"}]}]`)
}

func FuzzJest(f *testing.F) {
	reports.Fuzz(f, "jest-json", `{"numTotalTests":1,"success":false,"testResults":[{"name":"a","status":"failed","message":"m","assertionResults":[{"ancestorTitles":["b"],"title":"c","status":"todo","location":{"line":1}}]}]}`)
}

func FuzzPlaywright(f *testing.F) {
	reports.Fuzz(f, "playwright-json", `{"config":{"rootDir":"/r"},"suites":[{"title":"a","file":"a","specs":[{"title":"t","tests":[{"projectName":"p","expectedStatus":"passed","status":"skipped","results":[]}]}]}],"errors":[{"message":"m","location":{"file":"/r/a"}}],"stats":{"expected":1}}`)
}

func FuzzRSpec(f *testing.F) {
	reports.Fuzz(f, "rspec-json", `{"messages":["An error occurred while loading ./a_spec.rb.\n"],"examples":[{"description":"a","full_description":"b a","status":"failed","exception":{"message":"m"}}],"summary":{"example_count":1,"errors_outside_of_examples_count":1},"summary_line":"1"}`)
}

func FuzzPytestJSON(f *testing.F) {
	reports.Fuzz(f, "pytest-json", `{"exitcode":1,"root":"/","summary":{"total":1},"collectors":[{"nodeid":"a.py","outcome":"failed","longrepr":"l"}],"tests":[{"nodeid":"a.py::t","outcome":"rerun","call":{"outcome":"failed"}}]}`)
}

func FuzzTestCafe(f *testing.F) {
	reports.Fuzz(f, "testcafe-json", `{"userAgents":[],"passed":1,"total":1,"fixtures":[{"name":"a","path":"b","tests":[{"name":"c","errs":["e"],"unstable":true}]}],"warnings":["w"]}`)
}

func FuzzKarma(f *testing.F) {
	reports.Fuzz(f, "karma-json", `{"browsers":{"1":{"name":"Chrome 1.2 (x)","lastResult":{"total":2,"disconnected":true}}},"result":{"1":[{"description":"a","suite":["b"],"log":["l"],"success":false}]},"summary":{"success":1,"error":true}}`)
}

func FuzzGoogletest(f *testing.F) {
	reports.Fuzz(f, "googletest-json", `{"tests":1,"failures":0,"disabled":0,"testsuites":[{"name":"s","testsuite":[{"name":"t","status":"RUN","result":"COMPLETED","time":"0.1s","failures":[{"failure":"f"}]},{"name":"","failures":[{"failure":"f"}]}]}]}`)
}

func FuzzMocha(f *testing.F) {
	reports.Fuzz(f, "mocha-json", `{"stats":{"suites":1,"tests":1,"passes":0,"failures":2},"tests":[{"title":"a","fullTitle":"b a","err":{"message":"m"},"currentRetry":1}],"pending":[],"failures":[{"title":"\"before all\" hook","fullTitle":"b \"before all\" hook","err":{}}],"passes":[]}`)
}

func FuzzCucumber(f *testing.F) {
	reports.Fuzz(f, "cucumber-json", `[{"uri":"a.feature","keyword":"Feature","name":"f","elements":[{"type":"background","steps":[{"result":{"status":"passed"}}]},{"type":"scenario","name":"s","line":1,"steps":[{"result":{"status":"failed","duration":1}}],"after":[{"result":{"status":"failed"}}]}]}]`)
}

func FuzzRobotJSON(f *testing.F) {
	reports.Fuzz(f, "robot-json", `{"generator":"Robot","rpa":false,"suite":{"id":"s1","tests":[{"name":"a","status":"FAIL","message":"m","lineno":2,"elapsed_time":0.1}],"suites":[{"tests":[],"name":"b"}],"setup":{"status":"FAIL"},"name":"s"},"statistics":{"total":{"fail":2}}}`)
}

func FuzzMochawesome(f *testing.F) {
	reports.Fuzz(f, "mochawesome", `{"stats":{"tests":2,"passes":1},"results":[{"file":"a.js","title":"","suites":[{"title":"g","beforeHooks":[{"title":"h","fail":true,"err":{"message":"m"}}],"tests":[{"title":"a","state":"passed","pass":true},{"title":"b","skipped":true}],"suites":[]}]},false]}`)
}

func FuzzAllure(f *testing.F) {
	reports.Fuzz(f, "allure", `{"uuid":"1","historyId":"h","name":"a","status":"broken","start":2,"stop":5,"statusDetails":{"message":"m"},"labels":[{"name":"suite","value":"s"}],"parameters":[{"name":"n","value":"1"}]}
{"uuid":"2","historyId":"h","name":"a","status":"passed","start":9}`, `{"uuid":"1","name":"a","testCaseId":"t","stage":"pending"}`)
}
