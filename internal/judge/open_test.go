package judge

import (
	"context"
	"testing"

	"supervise/detector"
	"supervise/internal/ledger"
	"supervise/metric"
)

// TestWithoutAcknowledged: an accepted finding takes those about the same test along that are no
// more severe.
func TestWithoutAcknowledged(t *testing.T) {
	a, b := metric.ID{Suite: "m", Name: "A"}, metric.ID{Suite: "m", Name: "B"}
	open := []ledger.OpenFinding{
		{ID: "1", Rule: "tests_weakened", Severity: detector.High, Tests: []metric.ID{a}},
		{ID: "2", Rule: "tamper:x", Severity: detector.High, Tests: []metric.ID{{Suite: "a_test.go", Name: "A"}}},
		{ID: "3", Rule: "tamper:x", Severity: detector.Critical, Tests: []metric.ID{a}},
		{ID: "4", Rule: "tamper:y", Severity: detector.High, Tests: []metric.ID{a, b}},
		{ID: "5", Rule: "tamper:z", Severity: detector.High, Files: []string{"gen/x.go"}},
	}
	for _, tt := range []struct {
		ack  detector.Acknowledgement
		want string
	}{
		{detector.Acknowledgement{Finding: "1"}, "345"},
		{detector.Acknowledgement{Rule: "tests_weakened", Tests: []string{"m: A"}}, "345"},
		{detector.Acknowledgement{Rule: "tests_weakened", Tests: []string{"m: B"}}, "12345"},
		{detector.Acknowledgement{Finding: "3"}, "45"},
		{detector.Acknowledgement{Rule: "tamper:z", Path: "gen/**"}, "1234"},
		{detector.Acknowledgement{Rule: "tamper:z", Path: "src/**"}, "12345"},
	} {
		got := ""
		for _, o := range WithoutAcknowledged(open, []detector.Acknowledgement{tt.ack}) {
			got += o.ID
		}
		if got != tt.want {
			t.Errorf("%+v: %s are left, want %s", tt.ack, got, tt.want)
		}
	}
}

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
