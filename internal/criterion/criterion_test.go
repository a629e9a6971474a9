package criterion

import (
	"testing"

	"supervise/detector"
	"supervise/internal/ledger"
	"supervise/metric"
	"supervise/selector"
)

func TestPromiseAndQualityAreRequiredInAdditionToTheChecks(t *testing.T) {
	it := func(score float64, claimed bool) ledger.Iteration {
		return ledger.Iteration{Score: selector.Score{Value: score, Measured: true}, Agent: &ledger.AgentRun{CompletionClaimed: claimed}}
	}
	untested := ledger.Iteration{Assessment: detector.Assessment{Alerts: []detector.Alert{{Rule: detector.ChangeUntested}}}}
	for _, tt := range []struct {
		until Criterion
		it    ledger.Iteration
		want  bool
	}{
		{Criterion{}, it(0, false), true},
		{Criterion{Quality: 90}, it(.9, false), true},
		{Criterion{Quality: 90}, it(.8999, false), false},
		{Criterion{Quality: 1}, ledger.Iteration{}, false},
		{Criterion{Promise: "x"}, it(1, false), false},
		{Criterion{Promise: "x", Quality: 90}, it(.8, true), false},
		{Criterion{Promise: "x", Quality: 90}, it(.95, true), true},
		{Criterion{Noticed: 80}, ledger.Iteration{}, true}, // no changed line has a mutant
		{Criterion{Noticed: 80}, guarded(8, 0), true},
		{Criterion{Noticed: 80}, guarded(7, 0), false},
		{Criterion{Noticed: 80}, guarded(10, 1), false},
		{Criterion{Noticed: 80}, accepted(guarded(7, 0)), true},
		{Criterion{Noticed: 80}, untested, false},
	} {
		if got := tt.until.meetsExtras(tt.it); got != tt.want {
			t.Errorf("%+v: %v", tt.until, got)
		}
	}
}

func TestUntestedChangeMeetsNoCriterion(t *testing.T) {
	passing := metric.Set{Tests: metric.NewTests([]metric.Test{{ID: metric.ID{Name: "T"}, Status: metric.Passed}})}
	for _, tt := range []struct {
		executed int64
		least    float64
		want     bool
	}{{2, 0, true}, {2, 80, false}, {8, 80, true}} {
		it := ledger.Iteration{Set: passing, Changed: []ledger.FileChange{{Path: "a.go"}}, ChangeCoverage: &ledger.ChangeCoverage{Lines: 10, Executed: tt.executed, Min: tt.least}}
		for _, until := range []Criterion{{Kind: Green}, {Kind: Command}} {
			met, err := until.Check(it, passing, func(string) (bool, error) { return true, nil })
			if err != nil || *met != tt.want {
				t.Errorf("%s, %+v: %v, %v", until.Kind, tt, *met, err)
			}
		}
		if got := (Criterion{Kind: Green}).MayBeMet(it, passing, passing); got != tt.want {
			t.Errorf("%+v: may be met: %v", tt, got)
		}
	}
}

// guarded is an iteration whose tests notice some of ten mutants of its change.
func guarded(noticed, notDecided int) ledger.Iteration {
	return ledger.Iteration{
		ChangeMutants: &ledger.ChangeMutants{Mutants: 10, Noticed: noticed, NotDecided: notDecided},
		Assessment:    detector.Assessment{Alerts: []detector.Alert{{Rule: detector.ChangeUnguarded}}},
	}
}

// accepted is an iteration whose findings a person accepted.
func accepted(it ledger.Iteration) ledger.Iteration {
	it.Assessment.Alerts[0].Acknowledged = &detector.Acknowledged{}
	return it
}

func TestAutoIsResolvedByTheBaseline(t *testing.T) {
	for _, tt := range []struct {
		until Criterion
		green bool
		want  Kind
	}{{Criterion{}, true, Idle}, {Criterion{}, false, Green}, {Criterion{Quality: 90}, true, Green}, {Criterion{Promise: "x"}, true, Green}, {Criterion{Kind: Never}, true, Never}} {
		if got := tt.until.Resolve(metric.Set{}, tt.green); got.Kind != tt.want {
			t.Errorf("%+v, green %v: %s", tt.until, tt.green, got.Kind)
		}
	}
}

// TestGreenClaimsNothingUnmeasured: what no check measures is no part of the criterion.
func TestGreenClaimsNothingUnmeasured(t *testing.T) {
	for _, tt := range []struct {
		baseline metric.Set
		want     string
	}{
		{metric.Set{}, "all tests pass"},
		{metric.Set{Coverage: &metric.Coverage{Covered: 1, Total: 1}}, "all tests pass, coverage holds"},
		{metric.Set{Build: &metric.Build{Status: metric.BuildSuccess}, Lint: &metric.Lint{}}, "all tests pass, the build succeeds, no new errors"},
	} {
		if got := (Criterion{}).Resolve(tt.baseline, false).String(); got != tt.want {
			t.Errorf("%q, want %q", got, tt.want)
		}
	}
}
