package prompt_test

import (
	"strings"
	"testing"

	"supervise/internal/prompt"
	"supervise/metric"
)

// Tests that fail alike are one fact, what an error says is in no message again, and a
// place that Go prints without its folder is found.
func TestFailingTestsAreReportedOnce(t *testing.T) {
	h := past()
	failed := func(suite, name, message string) metric.Test {
		return metric.Test{ID: metric.ID{Suite: suite, Name: name}, Status: metric.Failed, Message: message}
	}
	set := &h.Previous.Set
	set.Tests = metric.NewTests([]metric.Test{
		failed("a.org/m/calc", "TestA", "calc_test.go:13: got 5"), failed("a.org/m/calc", "TestB", "other_test.go:2: got 6"),
		failed("a.org/m/sub", "TestC", "build failed: sub.go:7: undefined: two"), failed("a.org/m/sub", "TestD", "build failed: sub.go:7: undefined: two"),
		failed("p", "TestE", "no fork"), failed("p", "TestF", "no fork"), failed("p", "TestG", ""), failed("p", "TestH", ""),
	})
	two := metric.Finding{File: "sub.go", Line: 7, Message: "undefined: two", Level: metric.Error, Tool: "go build"}
	again := two
	again.Tool = "go vet"
	set.Lint = &metric.Lint{Findings: []metric.Finding{two, again}}
	f := prompt.Evidence{History: h, SourceLine: func(file string, line int) string {
		if file == "calc/calc_test.go" && line == 13 {
			return "t.Error(got)"
		}
		return ""
	}}
	_, got, _ := strings.Cut(prompt.EvidenceText(f.Groups(), prompt.DefaultEvidenceTokens), "Failing tests:\n")
	got, _, _ = strings.Cut(got, "The command")
	want := `- a.org/m/calc: TestA (calc/calc_test.go:13)
  got 5
  > t.Error(got)
- a.org/m/calc: TestB
  other_test.go:2: got 6
- a.org/m/sub: TestC, a.org/m/sub: TestD
- p: TestE, p: TestF
  no fork
- p: TestG
- p: TestH
Errors:
- sub.go:7: undefined: two [go build, go vet]
`
	if got != want {
		t.Errorf("told is\n%s\nwant\n%s", got, want)
	}
}
