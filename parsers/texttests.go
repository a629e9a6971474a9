package parsers

// textTests are what test runners print for people, and TAP.
// The most specific stands first.
var textTests = []Format{
	{Name: "tap", Kind: TestReport, Detect: detectTAP, Parse: parseTAP},
}
