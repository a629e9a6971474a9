package detector_test

import (
	"slices"
	"strings"
	"testing"

	"supervise/detector"
	"supervise/detector/internal/loss"
	"supervise/metric"
	"supervise/source"
)

// powerInput is a change after which the tests TestOne and TestTwo, which passed, are
// one test, TestBoth.
func powerInput(p detector.MutationResult, outcome detector.Outcome) detector.Input {
	id := func(name string) metric.ID { return metric.ID{Suite: "example.com/shop", Name: name} }
	set := func(names ...string) metric.Set {
		var cases []metric.Test
		for _, n := range names {
			cases = append(cases, metric.Test{ID: id(n), Status: metric.Passed})
		}
		return metric.Set{Tests: metric.NewTests(cases)}
	}
	def := func(name, assertion string) detector.TestSource {
		return detector.TestSource{File: "shop/shop_test.go", Def: source.TestDef{Name: name, Assertions: []string{assertion}, Tokens: map[string]int{name: 1, assertion: 1}}}
	}
	first := detector.Observation{Set: set("TestOne", "TestTwo", "TestOther")}
	p.Files, p.Tests = []string{"shop/shop_test.go"}, []metric.ID{id("TestOne"), id("TestTwo")}
	in := detector.Input{
		Current: detector.Observation{Iteration: 1, Set: set("TestBoth", "TestOther"), Changed: true}, Previous: first, Baseline: first,
		History: []detector.Observation{first}, Mutations: []detector.MutationResult{p}, ProductUnchanged: true,
		Evidence: detector.Evidence{Before: []detector.TestSource{def("TestOne", "One() != 1"), def("TestTwo", "Two() != 2")}, After: []detector.TestSource{def("TestBoth", "got != tt.want")}, Tampering: []detector.Tampering{{Pattern: "TP-16", Type: "table_emptied", Severity: detector.Critical, File: "shop/shop_test.go"}}},
	}
	if outcome != "" {
		in.Goals = []detector.Goal{{ID: id("TestOne"), Outcome: outcome}, {ID: id("TestTwo"), Outcome: outcome}}
	}
	return in
}

// Tests that notice as much as before clear what texts and names say, where they pass
// as they were over the new code.
func TestMutationCheckClears(t *testing.T) {
	kept := detector.MutationResult{Mutants: 10, KilledBefore: 8, KilledAfter: 8}
	lacksInputs, removed, unreplaced := kept, kept, kept
	lacksInputs.MissingInputs, removed.OnlyRemoved, unreplaced.Unreplaced = []string{"7"}, true, 1
	for _, tt := range []struct {
		name    string
		result  detector.MutationResult
		outcome detector.Outcome
		clear   bool
	}{
		{"they notice as much", kept, detector.Passed, true},
		{"they notice more", detector.MutationResult{Mutants: 10, KilledBefore: 8, KilledAfter: 9}, detector.Passed, true},
		{"they notice less", detector.MutationResult{Mutants: 9, KilledBefore: 8, KilledAfter: 7, Survivors: make([]detector.Survivor, 1)}, detector.Passed, false},
		{"they noticed nothing before", detector.MutationResult{Mutants: 9}, detector.Passed, false},
		{"hardly anything was run", detector.MutationResult{Mutants: 2, KilledBefore: 2, KilledAfter: 2, OutOfTime: true}, detector.Passed, false},
		{"too little was run, which a slow machine does", detector.MutationResult{Mutants: 9, KilledBefore: 9, KilledAfter: 9, OutOfTime: true}, detector.Passed, false},
		{"enough was run", detector.MutationResult{Mutants: 11, KilledBefore: 10, KilledAfter: 10, OutOfTime: true}, detector.Passed, true},
		{"few, though all of them", detector.MutationResult{Mutants: 9, KilledBefore: 9, KilledAfter: 9}, detector.Passed, false},
		{"an input is missing", lacksInputs, detector.Passed, false},
		{"nothing replaces them", removed, detector.Passed, false},
		{"another test kills what they killed", unreplaced, detector.Passed, false},
		{"it is not known", detector.MutationResult{Why: "no code was found"}, detector.Passed, false},
		{"as they were they fail", kept, detector.Failed, false},
		{"as they were they do not build", kept, detector.Unbuilt, false},
		{"as they were they do not build, but run over the same code of before", detector.MutationResult{Mutants: 10, KilledBefore: 8, KilledAfter: 8, OnOldCode: true}, detector.Unbuilt, true},
		{"as they were nothing was run", kept, "", false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			in := powerInput(tt.result, tt.outcome)
			a := detector.Assess(in, detector.Options{})
			worst := detector.Severity(0)
			for _, x := range a.Alerts {
				if x.Rule != detector.MutationScoreDropped && x.Rule != detector.TestsWeakened {
					worst = max(worst, x.Severity)
				}
			}
			if (worst <= detector.Info) != tt.clear {
				t.Errorf("worst %v: %+v", worst, a.Alerts)
			}
			if !tt.clear {
				return
			}
			if losses := a.Changes.Explained; len(losses) != 2 || losses[0].Explanation != loss.Noticed {
				t.Errorf("explained %+v", losses)
			}
			i := slices.IndexFunc(a.Alerts, func(x detector.Alert) bool { return strings.HasPrefix(x.Rule, detector.TamperPrefix) })
			if i < 0 || !strings.Contains(a.Alerts[i].Message(), "the tests noticed ") || a.Alerts[i].Basis != detector.Executed {
				t.Errorf("the finding does not say what cleared it: %+v", a.Alerts)
			}
		})
	}
}

// Where one part of the evidence is missing, it is not decided: HIGH, with what decides it, and
// nothing is rolled back. A second missing part leaves the loss CRITICAL if there are fewer tests, and
// so does a change that only removes.
func TestRewriteNotDecided(t *testing.T) {
	kept := detector.MutationResult{Mutants: 10, KilledBefore: 8, KilledAfter: 8}
	few := detector.MutationResult{Mutants: 4, KilledBefore: 4, KilledAfter: 4, TooFew: "only 4 ran: raise mutation_check.budget"}
	removed, inputs, fewInputs := kept, kept, few
	removed.OnlyRemoved, inputs.MissingInputs, fewInputs.MissingInputs = true, []string{"7", "9"}, []string{"7"}
	weaker := detector.MutationResult{Mutants: 10, KilledBefore: 8, KilledAfter: 7}
	flaky, flakyRemoved := weaker, removed
	flaky.Flaky = powerInput(weaker, detector.Passed).Mutations[0].Tests
	flakyRemoved.Flaky = flaky.Flaky
	for _, tt := range []struct {
		name         string
		result       detector.MutationResult
		outcome      detector.Outcome
		failedBefore bool
		why          string // "": the loss is CRITICAL
	}{
		{"few mutants", few, detector.Passed, false, "only 4 ran: raise mutation_check.budget"},
		{"an input", inputs, detector.Passed, false, "has what they checked: 7, 9"},
		{"the originals", kept, detector.Unbuilt, false, "the original test does not build"},
		{"unknown", detector.MutationResult{Why: "no code was found"}, detector.Passed, false, "no code was found"},
		{"failing originals", kept, detector.Unbuilt, true, ""},
		{"two parts", fewInputs, detector.Passed, false, ""},
		{"two other parts", few, detector.Unbuilt, false, ""},
		{"only removed", removed, detector.Passed, false, ""},
		{"weaker", weaker, detector.Passed, false, ""},
		{"flaky originals", flaky, detector.Passed, false, "it was flaky"},
		{"flaky originals that are only removed", flakyRemoved, detector.Passed, false, ""},
	} {
		in := powerInput(tt.result, tt.outcome)
		in.Tampering = nil
		for i := range in.Goals {
			in.Goals[i].FailedBefore = tt.failedBefore
		}
		a := detector.Assess(in, detector.Options{})
		x, ok := alertOf(a, detector.RewriteNotDecided)
		if ok != (tt.why != "") || a.HasCritical() == ok || ok && (x.Severity != detector.High || x.Action != detector.AlertAndFlag || len(x.Tests) != 2 || !strings.Contains(x.Message(), tt.why)) {
			t.Errorf("%s: %+v", tt.name, a.Alerts)
		}
	}
}

func TestRewriteWithAsManyTestsIsNotDecided(t *testing.T) {
	for why, result := range map[string]detector.MutationResult{
		"only 4 ran; no changed or new test": {Mutants: 4, KilledBefore: 4, KilledAfter: 4, TooFew: "only 4 ran", MissingInputs: []string{"7"}},
		"does not kill 1 mutant":             lostPower(1),
	} {
		in := powerInput(result, detector.Passed)
		in.Tampering = nil
		cases := slices.Clone(in.Current.Set.Tests.Cases)
		for _, name := range []string{"TestRow/1", "TestRow/2", "TestRow/3"} {
			cases = append(cases, metric.Test{ID: metric.ID{Suite: "example.com/shop", Name: name}, Status: metric.Passed})
		}
		in.Current.Set.Tests = metric.NewTests(cases)
		a := detector.Assess(in, detector.Options{})
		x, ok := alertOf(a, detector.RewriteNotDecided)
		if !ok || a.HasCritical() || !strings.Contains(x.Message(), why) {
			t.Errorf("%s: %+v", why, a.Alerts)
		}
	}
}

func lostPower(after int) detector.MutationResult {
	list := []detector.Survivor{{File: "shop/shop.go", Line: 7, Operator: "shift_boundary", Original: "n < 10", Mutated: "n <= 10"}, {File: "shop/shop.go", Line: 9, Operator: "drop_statement", Original: "total--"}}
	return detector.MutationResult{Mutants: 9, KilledBefore: 2, KilledAfter: after, Survivors: list[:2-after]}
}

// Tests that kill fewer mutants are a finding with the mutants that live.
func TestPowerThatIsLost(t *testing.T) {
	for after, want := range map[int]struct {
		severity detector.Severity
		action   detector.Action
	}{
		0: {detector.Critical, detector.AlertAndRollback}, 1: {detector.High, detector.AlertAndFlag},
	} {
		in := powerInput(lostPower(after), detector.Passed)
		a, ok := alertOf(detector.Assess(in, detector.Options{}), detector.MutationScoreDropped)
		if !ok || a.Severity != want.severity || a.Action != want.action || a.Basis != detector.Executed {
			t.Errorf("%d are noticed: %t, %+v", after, ok, a)
		}
		if text := a.Message(); !strings.Contains(text, "shop/shop.go:7 shift_boundary: n < 10 → n <= 10") || after == 0 && !strings.Contains(text, "total-- → nothing") {
			t.Errorf("%s", text)
		}
		in.Mutations[0].OutOfTime = true
		if a, _ := alertOf(detector.Assess(in, detector.Options{}), detector.MutationScoreDropped); a.Severity != detector.High {
			t.Errorf("%d are noticed of the few that were run: %v", after, a.Severity)
		}
		in.Mutations[0].OutOfTime, in.Mutations[0].AcceptedBefore = false, true
		if _, ok := alertOf(detector.Assess(in, detector.Options{}), detector.MutationScoreDropped); ok != (after == 0) {
			t.Errorf("%d are noticed, found before: %t", after, ok)
		}
		if a, ok := alertOf(detector.Assess(in, detector.Options{AllowRemove: []string{"shop/*"}}), detector.MutationScoreDropped); ok {
			t.Errorf("tests that may be removed: %+v", a)
		}
	}
}
