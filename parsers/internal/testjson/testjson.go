// Package testjson reads the reports of test runners in JSON, as one document or
// as lines.
package testjson

import (
	"supervise/parsers/internal/parsed"
)

// Formats are the reports of test runners in JSON, one document or lines, the
// most specific first.
var Formats = parsed.Rows(parsed.TestReport, parsed.JSON, []parsed.Format{
	{Name: "pytest-reportlog", Detect: detectReportlog, Parse: parseReportlog},
	{Name: "cucumber-messages", Detect: detectCucumberMessages, Parse: parseCucumberMessages},
	{Name: "dart-json", Detect: detectDart, Parse: parseDart},
	{Name: "ctrf", Detect: detectCTRF, Parse: parseCTRF},
	{Name: "rwx", Detect: detectRWX, Parse: parseRWX},
	{Name: "ginkgo-json", Detect: detectGinkgo, Parse: parseGinkgo},
	{Name: "jest-json", Detect: detectJest, Parse: parseJest},
	{Name: "playwright-json", Detect: detectPlaywright, Parse: parsePlaywright},
	{Name: "rspec-json", Detect: detectRSpec, Parse: parseRSpec},
	{Name: "pytest-json", Detect: detectPytestJSON, Parse: parsePytestJSON},
	{Name: "testcafe-json", Detect: detectTestCafe, Parse: parseTestCafe},
	{Name: "karma-json", Detect: detectKarma, Parse: parseKarma},
	{Name: "googletest-json", Detect: detectGoogletest, Parse: parseGoogletest},
	{Name: "robot-json", Detect: detectRobotJSON, Parse: parseRobotJSON},
	{Name: "mochawesome", Detect: detectMochawesome, Parse: parseMochawesome},
	{Name: "mocha-json", Detect: detectMocha, Parse: parseMocha},
	{Name: "cucumber-json", Detect: detectCucumber, Parse: parseCucumber},
})
