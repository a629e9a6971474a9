// Package testjson reads the reports of test runners in JSON. Each file has the reader of one
// format, and shows an example of it. A report that is one document is read by a function readX,
// which names the members that it needs in a [shape], adds the tests, and checks the totals of
// the [document]. A report in JSON Lines (reportlog.go, dart.go, cucumbermessages.go) has a
// reader that handles one event at a time.
//
// Tests and events are decoded as an [item], in which values are found by paths. Tests are
// collected in a [parsed.Outcomes].
package testjson

import (
	"supervise/internal/sniff"
	"supervise/parsers/internal/parsed"
)

// Formats lists the reports of test runners in JSON, the most specific first.
var Formats = parsed.SetKind(parsed.TestReport, parsed.JSON, []parsed.Format{
	{
		Name: "pytest-reportlog", Detect: sniff.DetectJSON("$report_type"), Parse: parseReportlog, Marks: "`$report_type`", Tools: "pytest-reportlog",
		Note: "A failing call failed, a failing set-up or tear-down is an error; xfail is skipped, xpass passed, strict xpass failed; a rerun that passed is flaky. A file that could not be collected is broken, and so are all collected files of an interrupted session. A failing subtest fails its test. Class: classes joined by `::`. With `-x` the report does not say which tests did not run.",
	},
	{
		Name: "cucumber-messages", Detect: sniff.DetectJSON("meta.protocolVersion", "gherkinDocument.feature", "testRunStarted pickle.astNodeIds"), Parse: parseCucumberMessages, Marks: "`meta.protocolVersion` or `gherkinDocument`", Tools: "Cucumber with `--format message`",
		Note: "As cucumber-json; a retry that passed is flaky. A file that cannot be parsed is broken. No testRunFinished is an error.",
	},
	{
		Name: "dart-json", Detect: sniff.DetectJSON("protocolVersion runnerVersion", "type time suite.path", "type time test.suiteID"), Parse: parseDart, Marks: "`protocolVersion`, `runnerVersion`", Tools: "`dart test --reporter json`, `flutter test --machine`",
		Note: "A file that could not be loaded and a failing setUpAll or tearDownAll break the suite. No `done` is an error, unless all announced suites and tests ended.",
	},
	{
		Name: "allure", Detect: sniff.DetectJSON("uuid name historyId", "uuid name testCaseId", "uuid name labels.[].name start"), Parse: parseAllure, Marks: "`uuid`, `name` with `historyId`, `testCaseId` or `labels`", Tools: "Allure 2: each *-result.json of its folder",
		Note: "Name them all: `--test-report 'allure-results/*-result.json'`. broken and unknown are errors. Attempts of a retried test are separate files: the worst counts, not the last as in Allure. In one text, as written by `cat`, a later pass is flaky. The expected number of tests is unknown. Suite and class: the labels parentSuite, suite and subSuite.",
	},
	{
		Name: "ctrf", Detect: sniff.DetectJSON("results.tests reportFormat", "results.tests results.tool results.summary"), Parse: documentParser("", readCTRF), Marks: "`results.tests` with `reportFormat` or `results.tool`", Tools: "CTRF reporters",
		Note: "pending and skipped are skipped; so is other, unless the tool's status is an error or a timeout. A retry that passed is flaky. Files that could not be loaded are not in the report.",
	},
	{
		Name: "rwx", Detect: sniff.DetectJSON("framework.kind summary tests summary.otherErrors"), Parse: documentParser("", readRWX), Marks: "`framework`, `summary.otherErrors`", Tools: "RWX test results v1",
		Note: "quarantined is skipped, canceled an error; a failed attempt followed by a pass is flaky. Other errors break a file or fail the run.",
	},
	{
		Name: "ginkgo-json", Detect: sniff.DetectJSON("[].SuitePath [].SpecReports"), Parse: documentParser("ginkgo", readGinkgo), Marks: "list with `SuitePath`, `SpecReports`", Tools: "Ginkgo 2",
		Note: "Only `It` nodes count. panicked, aborted and interrupted are errors. Failing suite nodes and compile errors break the suite; specs after a failed BeforeSuite did not run. Several attempts and a pass are flaky.",
	},
	{
		Name: "jest-json", Detect: sniff.DetectJSON("testResults numTotalTests", "testResults.[].assertionResults"), Parse: documentParser("vitest", readJest), Marks: "`testResults` with `numTotalTests` or `assertionResults`", Tools: "`jest --json`, vitest's json reporter",
		Note: "A file that failed without a failing test, or \"failed to run\", is broken. A pass after a failed attempt is flaky. An interrupted run (also `--bail`) is an error. Suite: the file; class: the describe path. vitest calls tests after a failing `beforeAll` skipped; their file is broken.",
	},
	{
		Name: "playwright-json", Detect: sniff.DetectJSON("config suites config.rootDir", "config suites suites.[].specs"), Parse: documentParser("playwright", readPlaywright), Marks: "`config` and `suites`", Tools: "Playwright",
		Note: "One case per spec and project, all attempts together. A test that was not skipped and did not run counts as not run. An error with a place breaks its file, one without fails the run. Class: project, describe path. When one file cannot be loaded, nothing runs.",
	},
	{
		Name: "rspec-json", Detect: sniff.DetectJSON("examples summary_line", "examples.[].full_description examples.[].status"), Parse: documentParser("rspec", readRSpec), Marks: "`examples` with `summary_line` or `full_description`", Tools: "RSpec",
		Note: "pending is skipped. An error outside examples breaks the file that its message names. Class: the groups. A dry run (`--dry-run`) looks like a pass.",
	},
	{
		Name: "pytest-json", Detect: sniff.DetectJSON("exitcode summary root tests", "exitcode summary root collectors", "exitcode summary root summary.collected"), Parse: documentParser("pytest", readPytestJSON), Marks: "`exitcode`, `summary`, `root`", Tools: "pytest-json-report", Note: "As pytest-reportlog; the outcome rerun with a pass is flaky.",
	},
	{
		Name: "testcafe-json", Detect: sniff.DetectJSON("fixtures userAgents"), Parse: documentParser("testcafe", readTestCafe), Marks: "`fixtures`, `userAgents`", Tools: "TestCafe", Note: "An unstable test that passed is flaky. Warnings are problems.",
	},
	{
		Name: "karma-json", Detect: sniff.DetectJSON("browsers result summary", "browsers.*.lastResult result"), Parse: documentParser("karma", readKarma), Marks: "`browsers`, `result`, `summary`", Tools: "karma-json-reporter", Note: "Suite: the browser without its version. A disconnected browser is broken.",
	},
	{
		Name: "googletest-json", Detect: sniff.DetectJSON("tests disabled testsuites", "testsuites.[].testsuite"), Parse: documentParser("googletest", readGoogletest), Marks: "`testsuites` with `disabled`", Tools: "GoogleTest with `--gtest_output=json`",
		Note: "Disabled and suppressed tests are skipped. A failure outside tests breaks the suite.",
	},
	{
		Name: "robot-json", Detect: sniff.DetectJSON("generator suite.id rpa", "generator suite.id suite.tests", "generator suite.id suite.suites"), Parse: documentParser("robot", readRobotJSON), Marks: "`generator`, `suite`", Tools: "Robot Framework 7", Note: "As robot; NOT RUN is skipped.",
	},
	{
		Name: "mochawesome", Detect: sniff.DetectJSON("stats.passes results meta.mochawesome", "stats.passes results stats.testsRegistered", "stats.passes results results.[].suites"), Parse: documentParser("mochawesome", readMochawesome), Marks: "`stats.passes` and `results`", Tools: "mochawesome, Cypress",
		Note: "A failing hook breaks its file; what mochawesome calls skipped after it did not run. pending is skipped.",
	},
	{
		Name: "mocha-json", Detect: sniff.DetectJSON("stats.suites stats.passes tests"), Parse: documentParser("mocha", readMocha), Marks: "`stats` and `tests`", Tools: "mocha's json reporter, Cypress",
		Note: "A test in none of the lists of outcomes is an error. A failing hook breaks its file; the tests after it are not in the report and count as not run. A pass with `currentRetry` is flaky.",
	},
	{
		Name: "cucumber-json", Detect: sniff.DetectJSON("[].elements [].keyword", "[].elements.[].steps", "[].uri [].keyword [].name"), Parse: documentParser("cucumber", readCucumber), Marks: "list with `elements`, `keyword` or `uri`", Tools: "Cucumber of all languages, behave",
		Note: "A scenario is a test: the worst of its steps, hooks and background; a step without a result is an error if nothing else failed. undefined, pending and skipped are skipped, ambiguous failed. Class: the feature. Scenarios of one name get numbers. cucumber-js writes the last attempt only; that a strict run fails on undefined steps is not in the report.",
	},
})
