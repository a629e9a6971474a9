package prompt_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"supervise/detector"
	"supervise/internal/event"
	"supervise/internal/judge"
	"supervise/internal/ledger"
	"supervise/internal/prompt"
	"supervise/metric"
)

// past is a loop of three iterations, of which the last was undone.
func past() *judge.History {
	failing := metric.NewTests([]metric.Test{
		{ID: metric.ID{Suite: "calc", Name: "TestSub"}, Status: metric.Failed, Message: "\nSub(3, 2) = 5, want 1\n", File: "calc_test.go", Line: 7},
		{ID: metric.ID{Suite: "calc", Name: "TestAdd"}, Status: metric.Passed},
	})
	old := metric.Finding{Tool: "vet", File: "old.go", Line: 3, Message: "was there before", Level: metric.Error}
	base := ledger.Iteration{Set: metric.Set{Tests: failing, Lint: &metric.Lint{Findings: []metric.Finding{old}}}}
	h := judge.NewHistory()
	h.Begin(base)
	unmet := false
	kept := ledger.Iteration{
		Number: 1, Changed: []ledger.FileChange{{Path: "mul.go", Kind: "added"}}, Agent: &ledger.AgentRun{LastOutput: "I added Mul"},
		Decision: &ledger.Decision{Criterion: &unmet, CriterionOutput: "p95 is 812 ms, the limit is 200 ms"},
		Set: metric.Set{Tests: failing, Lint: &metric.Lint{Findings: []metric.Finding{
			old, {Tool: "vet", Rule: "printf", File: "mul.go", Line: 2, Message: "wrong verb", Level: metric.Error}, {File: "mul.go", Line: 1, Message: "a warning", Level: metric.Warning},
		}}},
		Assessment: detector.Assessment{Class: detector.Forward},
	}
	refused := ledger.Iteration{
		Number: 2, Rejected: true, Changed: []ledger.FileChange{{Path: "calc_test.go", Kind: "modified"}},
		Set: metric.Set{Tests: metric.NewTests([]metric.Test{{ID: metric.ID{Suite: "calc", Name: "TestAdd"}, Status: metric.Failed, Message: "Add(3, 2) = 1, want 5"}})},
		Assessment: detector.Assessment{Class: detector.Regression, Alerts: []detector.Alert{{
			Rule: "test_count_decreased", Severity: detector.Critical, Action: detector.AlertAndRollback, Files: []string{"calc_test.go"},
		}}},
	}
	h.Iterations = append(h.Iterations, kept, refused)
	h.Previous = detector.Observation{Iteration: 1, Set: kept.Set}
	h.Rejected = &refused
	return h
}

const patch = `diff --git a/calc.go b/calc.go
--- a/calc.go
+++ b/calc.go
@@ -1,2 +1,2 @@ package calc
-func Add() {}
+func Add() { panic(1) }
diff --git a/calc_test.go b/calc_test.go
--- a/calc_test.go
+++ b/calc_test.go
@@ -2,11 +2,6 @@ package calc
 around
-func TestSub(t *testing.T) {
`

// Everything that was measured is reported, each once, the change that was refused by its hunk.
func TestGroups(t *testing.T) {
	f := prompt.Evidence{
		History: past(), Patch: patch, Remaining: []string{"2 more iterations after this one"},
		SourceLine: func(file string, line int) string { return fmt.Sprintf("\tline %d of %s", line, file) },
	}
	got := prompt.EvidenceText(f.Groups(), prompt.DefaultEvidenceTokens)
	want := `[supervise] What was measured:
Refused in iteration 2, and no longer there:
- it made fail: calc: TestAdd
  Add(3, 2) = 1, want 5
- calc_test.go
  @@ -2,11 +2,6 @@ package calc
  -func TestSub(t *testing.T) {
Failing tests:
- calc: TestSub (calc_test.go:7)
  Sub(3, 2) = 5, want 1
  > line 7 of calc_test.go
Errors:
- mul.go:2: wrong verb [vet printf]
  > line 2 of mul.go
The command that decides whether the loop is done failed, and printed at its end:
- p95 is 812 ms, the limit is 200 ms
Earlier iterations:
- 2: rolled back; modified calc_test.go
- 1: kept, forward; added mul.go
  you said: I added Mul
What is left:
- 2 more iterations after this one`
	if got != want {
		t.Errorf("the evidence is\n%s\nwant\n%s", got, want)
	}
}

// A text keeps to its budget, holds whole facts alone, says how many it leaves out, and
// leaves space for the kinds of facts that come later.
func TestTextKeepsToItsBudget(t *testing.T) {
	var many []string
	for i := range 500 {
		many = append(many, fmt.Sprintf("fact %03d %s end", i, strings.Repeat("é", i%90)))
	}
	groups := []prompt.Group{{Title: "Failing tests", Unit: "failing test", Facts: many}, {Title: "None", Unit: "none"}, {Title: "Errors", Unit: "error", Facts: many}, {Title: "What is left", Unit: "limit", Facts: []string{"the last end"}}}
	for _, budget := range []int{100, 300, 1500, 5000} {
		got := prompt.EvidenceText(groups, budget)
		if len(got) > 4*budget {
			t.Errorf("%d bytes with a budget of %d tokens", len(got), budget)
		}
		for line := range strings.Lines(got) {
			if strings.HasPrefix(line, "- ") && !strings.HasSuffix(line, " end\n") {
				t.Errorf("a fact is cut: %q", line)
			}
		}
		for _, want := range []string{"- fact 000", "Errors:\n", "- the last end", " × failing test, ", "All of it is in $SUPERVISE_EVIDENCE/facts.md."} {
			if !strings.Contains(got, want) {
				t.Errorf("with %d tokens the text lacks %q:\n%s", budget, want, got)
			}
		}
		if strings.Contains(got, "None") {
			t.Errorf("a group without facts has a title:\n%s", got)
		}
	}
	if got := prompt.AllEvidence(groups); strings.Count(got, "- fact ") != 1000 {
		t.Errorf("the whole has %d facts, want 1000", strings.Count(got, "- fact "))
	}
	if got := prompt.EvidenceText(nil, 1500) + prompt.EvidenceText(groups, 0); got != "" {
		t.Errorf("without facts or budget the text is %q", got)
	}
}

// What the project's tests print cannot hide anything from a person who reads the prompt.
func TestTextIsVisible(t *testing.T) {
	got := prompt.EvidenceText([]prompt.Group{{Title: "Failing tests", Facts: []string{"a\x1b[2Jb\u202Ec"}}}, 100)
	if strings.ContainsAny(got, "\x1b\u202E") {
		t.Errorf("%q", got)
	}
}

func TestLeft(t *testing.T) {
	cost, tokens := 1.25, int64(700)
	now := time.Now()
	b := event.Budget{Deadline: now.Add(90*time.Second + time.Millisecond), MaxCost: 2, UsedCost: &cost, MaxTokens: 500, UsedTokens: &tokens}
	got := strings.Join(prompt.RemainingLimits(1, b, now), "; ")
	if want := "1 more iteration after this one; time: 1m30s; cost: $0.75 of $2.00; tokens: 0 of 500"; got != want {
		t.Errorf("left is %q, want %q", got, want)
	}
	if got := prompt.RemainingLimits(0, event.Budget{MaxCost: 2}, now); len(got) > 0 {
		t.Errorf("without limits, or with a cost that nobody knows, %q is left", got)
	}
}
