package judge

import (
	"strings"
	"testing"

	"supervise/detector"
	"supervise/internal/ledger"
	"supervise/metric"
)

func TestReviewIsGraverWhereNothingCouldBeRun(t *testing.T) {
	r := &ledger.Review{Verdict: ledger.ReviewGaming, Findings: []ledger.ReviewFinding{{File: "a_test.go"}, {File: "b_test.go"}, {File: "a.go"}}}
	h := &ledger.Goals{Results: []detector.Goal{{File: "a_test.go", Outcome: detector.Unbuilt}, {File: "b_test.go", Outcome: detector.Passed}}}
	for i, untried := range []bool{true, false, false} {
		if got := reviewFindings(r, h)[i]; got.TestsNotRun != untried || got.Kind != detector.Gaming {
			t.Errorf("the finding about %s has untried %v and kind %s, want %v and gaming", got.File, got.TestsNotRun, got.Kind, untried)
		}
	}
	if reviewFindings(nil, h) != nil {
		t.Error("without a review there are findings")
	}
}

func TestReviewerSeesNoHiddenTests(t *testing.T) {
	set := metric.Set{Tests: &metric.Tests{Cases: []metric.Test{{ID: metric.ID{Name: "seen"}, Status: metric.Passed}}}}
	alert := detector.Alert{Rule: detector.HiddenTestsFailing, Severity: detector.Critical, Tests: []metric.ID{{Name: "unseen"}}, Values: detector.Values{Why: "Hidden tests that passed before fail now: 1"}}
	got := describeResults(set, set, []detector.Alert{alert})
	if !strings.Contains(got, "Hidden tests that passed before fail now: 1") || strings.Contains(got, "unseen") {
		t.Errorf("the reviewer is told:\n%s", got)
	}
}

func TestReviewerSeesTheMutationCheck(t *testing.T) {
	lost := detector.MutationResult{Files: []string{"a_test.go"}, Mutants: 4, KilledBefore: 3, KilledAfter: 2, Survivors: []detector.Survivor{{File: "a.go", Line: 3, Operator: "drop_statement", Original: "n--"}}}
	for want, p := range map[string]*ledger.MutationCheck{
		"a_test.go: of 4 mutants of the code the tests noticed 3 before and notice 2 now\nnot noticed any more: a.go:3 drop_statement: n-- → nothing\n": {Results: []detector.MutationResult{lost}},
		"not run: the build is broken\n": {NotRunReason: "the build is broken"},
	} {
		if got := describeMutationCheck(p); !strings.HasSuffix(got, ":\n"+want) {
			t.Errorf("the reviewer is told:\n%s\nwant %s", got, want)
		}
	}
}
