package judge

import (
	"context"
	"testing"

	"supervise/detector"
	"supervise/internal/ledger"
	"supervise/metric"
)

// A finding about expected output is open until the tests that depend on it pass with the
// file as it was.
func TestOpenUntilTheVerdictHeld(t *testing.T) {
	const transform, golden, helper = "tamper:runner_replaced", "tamper:snapshot_regenerated", "tamper:assertions_removed"
	held := []detector.DependencyResult{{File: "spec/golden.txt", Passed: 1}, {File: "jest.config.js", Why: "it was not run"}}
	for _, tt := range []struct {
		name  string
		found ledger.OpenFinding
		goals *ledger.Goals
		open  bool
	}{
		{"it passes", ledger.OpenFinding{Rule: golden, Severity: detector.High, Files: []string{"spec/golden.txt"}}, &ledger.Goals{Dependencies: held}, false},
		{"nothing was run", ledger.OpenFinding{Rule: golden, Severity: detector.High, Files: []string{"spec/golden.txt"}}, nil, true},
		{"of another file as well", ledger.OpenFinding{Rule: golden, Severity: detector.High, Files: []string{"spec/golden.txt", "spec/b.txt"}}, &ledger.Goals{Dependencies: held}, true},
		{"one was not run", ledger.OpenFinding{Rule: transform, Severity: detector.High, Files: []string{"jest.config.js"}}, &ledger.Goals{Dependencies: held}, true},
		{"it is about what tests check", ledger.OpenFinding{Rule: helper, Severity: detector.High, Files: []string{"spec/golden.txt"}}, &ledger.Goals{Dependencies: held}, true},
		{"nothing is left of the verdict", ledger.OpenFinding{Rule: "tamper:outcome_forced", Severity: detector.Critical, Files: []string{"spec/golden.txt"}}, &ledger.Goals{Dependencies: held}, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := newWorld(t)
			w.past.Iterations[0].Open = []ledger.OpenFinding{tt.found}
			it := ledger.Iteration{Number: 1, Set: suite(metric.Passed, ""), Snapshot: w.was.ID, Goals: tt.goals}
			open, err := w.judge.Open(context.Background(), it, w.past)
			if err != nil || (len(open) == 1) != tt.open {
				t.Errorf("open %+v, %v", open, err)
			}
		})
	}
}
