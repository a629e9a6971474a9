package parsers

// jsonTests are the reports of test runners in JSON, as one document or as lines.
// The most specific stands first.
var jsonTests = []Format{
	{Name: "go-test-json", Kind: TestReport, Detect: detectGoTest, Parse: parseGoTest},
	{Name: "pytest-reportlog", Kind: TestReport, Detect: detectReportlog, Parse: parseReportlog},
	{Name: "cucumber-messages", Kind: TestReport, Detect: detectCucumberMessages, Parse: parseCucumberMessages},
	{Name: "libtest-json", Kind: TestReport, Detect: detectLibtest, Parse: parseLibtest},
	{Name: "dart-json", Kind: TestReport, Detect: detectDart, Parse: parseDart},
	{Name: "ctrf", Kind: TestReport, Detect: detectCTRF, Parse: parseCTRF},
	{Name: "rwx", Kind: TestReport, Detect: detectRWX, Parse: parseRWX},
	{Name: "ginkgo-json", Kind: TestReport, Detect: detectGinkgo, Parse: parseGinkgo},
	{Name: "jest-json", Kind: TestReport, Detect: detectJest, Parse: parseJest},
	{Name: "playwright-json", Kind: TestReport, Detect: detectPlaywright, Parse: parsePlaywright},
	{Name: "rspec-json", Kind: TestReport, Detect: detectRSpec, Parse: parseRSpec},
	{Name: "pytest-json", Kind: TestReport, Detect: detectPytestJSON, Parse: parsePytestJSON},
	{Name: "testcafe-json", Kind: TestReport, Detect: detectTestCafe, Parse: parseTestCafe},
	{Name: "karma-json", Kind: TestReport, Detect: detectKarma, Parse: parseKarma},
	{Name: "googletest-json", Kind: TestReport, Detect: detectGoogletest, Parse: parseGoogletest},
	{Name: "robot-json", Kind: TestReport, Detect: detectRobotJSON, Parse: parseRobotJSON},
	{Name: "mochawesome", Kind: TestReport, Detect: detectMochawesome, Parse: parseMochawesome},
	{Name: "mocha-json", Kind: TestReport, Detect: detectMocha, Parse: parseMocha},
	{Name: "cucumber-json", Kind: TestReport, Detect: detectCucumber, Parse: parseCucumber},
}
