package parsers

// textTests are what test runners print for people, and TAP, the most specific
// first.
var textTests = rows(TestReport, Text, []Format{
	{Name: "unittest", Detect: detectUnittest, Parse: parseUnittest},
	{Name: "minitest", Detect: detectMinitest, Parse: parseMinitest},
	{Name: "exunit", Detect: detectExUnit, Parse: parseExUnit},
	{Name: "tap", Detect: detectTAP, Parse: parseTAP},
})
