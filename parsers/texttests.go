package parsers

// textTests are what test runners print for people, and TAP.
// The most specific stands first.
var textTests = []Format{
	{Name: "go-test", Kind: TestReport, Detect: detectGoTestText, Parse: parseGoTestText},
	{Name: "cargo-test", Kind: TestReport, Detect: detectCargoTest, Parse: parseCargoTest},
	{Name: "unittest", Kind: TestReport, Detect: detectUnittest, Parse: parseUnittest},
	{Name: "minitest", Kind: TestReport, Detect: detectMinitest, Parse: parseMinitest},
	{Name: "exunit", Kind: TestReport, Detect: detectExUnit, Parse: parseExUnit},
	{Name: "tap", Kind: TestReport, Detect: detectTAP, Parse: parseTAP},
}
