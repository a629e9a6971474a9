package parsers

// xmlTests are the reports of test runners in XML.
// The most specific stands first.
var xmlTests = []Format{
	{Name: "junit", Kind: TestReport, Detect: detectJUnit, Parse: parseJUnit},
}
