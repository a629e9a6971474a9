package judge

import (
	"slices"
	"testing"

	"supervise/detector"
	"supervise/internal/ledger"
	"supervise/metric"
	"supervise/selector"
)

// trial is what became of one test in an iteration, and what the iteration did.
type trial struct {
	ends    string // passes, flaky (failed, and passed when run again) or fails
	touches bool   // the agent changed the file of the test
}

// judgeTrials judges a loop whose baseline passes, and returns for each iteration
// the alerts that are raised.
func judgeTrials(t *testing.T, trials ...trial) [][]string {
	t.Helper()
	id := metric.ID{Suite: "calc", Name: "TestB"}
	rec := RecordedLoop{Iterations: []ledger.Iteration{{Set: metric.Set{Tests: trialTests(id, "passes")}}}}
	for i, tr := range trials {
		it := ledger.Iteration{
			Number: i + 1, Set: metric.Set{Tests: trialTests(id, tr.ends)}, Evidence: &ledger.Evidence{},
			Agent: &ledger.AgentRun{}, Decision: &ledger.Decision{},
		}
		if tr.ends == "flaky" {
			it.Evidence.Flaky = []metric.ID{id}
		}
		if tr.touches {
			it.Evidence.After = []detector.TestSource{{File: "calc/b_test.py"}}
		}
		rec.Iterations = append(rec.Iterations, it)
	}
	got, err := Rejudge(rec, Settings{Weights: selector.DefaultWeights(), Select: selector.DefaultOptions()})
	if err != nil {
		t.Fatal(err)
	}
	var out [][]string
	for _, v := range got.Verdicts[1:] {
		list := []string{}
		for _, a := range v.Assessment.Alerts {
			list = append(list, a.Severity.String()+" "+a.Rule)
		}
		out = append(out, list)
	}
	return out
}

func trialTests(id metric.ID, ends string) *metric.Tests {
	c := metric.Test{ID: id, File: "calc/b_test.py", Status: metric.Passed, Flaky: ends == "flaky"}
	if ends == "fails" {
		c.Status = metric.Failed
	}
	return metric.NewTests([]metric.Test{c, {ID: metric.ID{Suite: "calc", Name: "TestA"}, Status: metric.Passed}})
}

// That a test is flaky is learnt once, and forgotten when its file is changed.
func TestFlakinessIsRemembered(t *testing.T) {
	flaky, passes, fails := trial{ends: "flaky"}, trial{ends: "passes"}, trial{ends: "fails"}
	touched := func(tr trial) trial {
		tr.touches = true
		return tr
	}
	none, medium, high, critical := []string{}, []string{"MEDIUM flaky_test"}, []string{"HIGH flaky_test"}, []string{"CRITICAL working_tests_failing"}
	for _, tt := range []struct {
		name   string
		trials []trial
		want   [][]string
	}{
		{"learnt, and flaky again", []trial{flaky, passes, flaky}, [][]string{medium, none, none}},
		{"learnt, and fails", []trial{flaky, passes, fails}, [][]string{medium, none, medium}},
		{"never learnt", []trial{passes, fails}, [][]string{none, critical}},
		{"the agent may have made it flaky", []trial{touched(flaky), passes, fails}, [][]string{high, none, critical}},
		{"learnt, and the agent touches it", []trial{flaky, touched(flaky)}, [][]string{medium, high}},
		{"learnt, touched, and fails", []trial{flaky, touched(passes), fails}, [][]string{medium, none, critical}},
		{"not learnt anew after that", []trial{touched(flaky), flaky, passes, fails}, [][]string{high, none, none, critical}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := judgeTrials(t, tt.trials...)
			if !slices.EqualFunc(got, tt.want, slices.Equal) {
				t.Errorf("alerts %v, want %v", got, tt.want)
			}
		})
	}
}
