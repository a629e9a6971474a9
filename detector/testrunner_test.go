package detector_test

import (
	"strings"
	"testing"

	"supervise/detector"
	"supervise/metric"
)

// runnerInput is a change after which another runner runs the tests.
func runnerInput(was, is string, results ...detector.MutationResult) detector.Input {
	set := func(runner string) metric.Set {
		t := metric.NewTests([]metric.Test{{ID: metric.ID{Suite: "shop.test.js", Name: "price"}, Status: metric.Passed}})
		t.Runner = runner
		return metric.Set{Tests: t}
	}
	first := detector.Observation{Set: set(was)}
	return detector.Input{
		Current: detector.Observation{Iteration: 1, Set: set(is), Changed: true}, Previous: first, Baseline: first, History: []detector.Observation{first}, Mutations: results,
	}
}

// A runner that is gone is a finding, and what the tests notice decides how severe.
func TestRunnerThatIsGone(t *testing.T) {
	kept := detector.MutationResult{Files: []string{"shop.test.js"}, Mutants: 6, KilledBefore: 5, KilledAfter: 6}
	unknown := detector.MutationResult{Files: []string{"a.test.js"}, Why: "no code was found that they test"}
	for _, tt := range []struct {
		name string
		in   detector.Input
		want detector.Severity
		says string
	}{
		{"the same", runnerInput("jest", "jest"), 0, ""},
		{"one more", runnerInput("jest", "jest+playwright"), 0, ""},
		{"not known before", runnerInput("", "node"), 0, ""},
		{"not known now", runnerInput("jest", ""), 0, ""},
		{"they notice as much", runnerInput("jest", "node", kept), detector.Info, "by node, and were by jest: of 6 mutants of the code the tests noticed 5 before and notice 6 now"},
		{"in all groups", runnerInput("jest+pytest", "node+pytest", kept, kept), detector.Info, "in 2 of 2 groups of files"},
		{"some were not compared", runnerInput("jest", "node", kept, unknown), detector.Medium, "not all could be compared: what the tests notice is not known: no code was found"},
		{"none was compared", runnerInput("jest", "node", unknown), detector.High, "what the tests notice is not known: no code was found"},
		{"nothing was run", runnerInput("jest", "node"), detector.High, "nothing shows whether they notice as much"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			a, ok := alertOf(detector.Assess(tt.in, detector.Options{}), detector.TestRunnerChanged)
			if ok != (tt.want != 0) || ok && (a.Severity != tt.want || !strings.Contains(a.Message(), tt.says)) {
				t.Errorf("%t, %v: %s", ok, a.Severity, a.Message())
			}
		})
	}
}
