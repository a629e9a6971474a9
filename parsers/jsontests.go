package parsers

// jsonTests are the reports of test runners in JSON, as one document or as lines.
// The most specific stands first.
var jsonTests = []Format{
	{Name: "go-test-json", Kind: TestReport, Detect: detectGoTest, Parse: parseGoTest},
}
