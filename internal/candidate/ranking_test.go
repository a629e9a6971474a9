package candidate

import (
	"testing"

	"supervise/internal/ledger"
	"supervise/metric"
)

func id(name string) metric.ID { return metric.ID{Name: name} }

// Each row is two candidates, of which the first is to be placed first, and why.
func TestRank(t *testing.T) {
	for name, c := range map[string]struct {
		better, worse ledger.Rank
		why           string
	}{
		"who did the task":          {ledger.Rank{Eligible: true}, ledger.Rank{Score: 1}, "the only one that did the task"},
		"agreement before score":    {ledger.Rank{Eligible: true, Agreement: new(1.0)}, ledger.Rank{Eligible: true, Agreement: new(.5), Score: 1}, "100 % of the others' tests pass on it; candidate 1: 50 % of the others' tests pass on it"},
		"no tests are no reproach":  {ledger.Rank{Eligible: true}, ledger.Rank{Eligible: true, Agreement: new(.9)}, "no test of the others counts against it; candidate 1: 90 % of the others' tests pass on it"},
		"power before score":        {ledger.Rank{Eligible: true, MutationScore: new(.9)}, ledger.Rank{Eligible: true, MutationScore: new(.8), Score: 1}, "its tests kill 90 % of the mutants; candidate 1: its tests kill 80 % of the mutants"},
		"a power that one lacks":    {ledger.Rank{Eligible: true, Score: .5}, ledger.Rank{Eligible: true, MutationScore: new(.8), Score: .4}, "score 50.0; candidate 1: score 40.0"},
		"score before size":         {ledger.Rank{Eligible: true, Score: .9, Lines: 90}, ledger.Rank{Eligible: true, Score: .8, Lines: 1}, "score 90.0; candidate 1: score 80.0"},
		"scores that are equal":     {ledger.Rank{Eligible: true, Score: .9, Lines: 3}, ledger.Rank{Eligible: true, Score: .9 + 1e-9, Lines: 4}, "3 changed lines; candidate 1: 4 changed lines"},
		"the cheaper one":           {ledger.Rank{Eligible: true, CostUSD: new(.1)}, ledger.Rank{Eligible: true, CostUSD: new(.25)}, "cost $0.10; candidate 1: cost $0.25"},
		"the one with fewer tokens": {ledger.Rank{Eligible: true, Tokens: new(int64(10))}, ledger.Rank{Eligible: true, Tokens: new(int64(11))}, "10 tokens; candidate 1: 11 tokens"},
	} {
		c.worse.Candidate, c.better.Candidate = 1, 2
		got := rankCandidates([]ledger.Rank{c.worse, c.better})
		if got[0].Candidate != 2 || got[0].Why != c.why || !got[0].Chosen || got[1].Chosen {
			t.Errorf("%s: %+v", name, got)
		}
	}
	none := rankCandidates([]ledger.Rank{{Candidate: 1, Text: "stuck"}, {Candidate: 2, Text: "stalled"}})
	if none[0].Chosen || none[0].Candidate != 1 || none[1].Why != "stalled" {
		t.Errorf("where nobody did the task: %+v", none)
	}
	same := rankCandidates([]ledger.Rank{{Candidate: 1, Eligible: true}, {Candidate: 2, Eligible: true}})
	if same[0].Candidate != 1 || same[0].Why != "as good as candidate 2" {
		t.Errorf("of two that are equal: %+v", same)
	}
}

// The tests of each author count the same. One that fails over most others counts against
// its author alone, and is reported.
func TestJudged(t *testing.T) {
	list := []ledger.Rank{{Candidate: 1, Eligible: true, OwnTests: 1}, {Candidate: 2, Eligible: true, OwnTests: 3}, {Candidate: 3, Eligible: true, OwnTests: 1}, {Candidate: 4}}
	addCrossResults(list, crossResults{
		1: {0: {id("wrong"): false}, 2: {id("wrong"): false}, 3: {id("wrong"): false}},
		2: {0: {id("a"): true, id("b"): false, id("c"): false}, 1: {id("a"): true, id("b"): false, id("c"): false}, 3: {id("a"): true, id("b"): true, id("c"): true}},
		3: {1: {id("d"): true}, 2: {id("d"): true}},
	}, map[int]string{1: "x", 2: "y", 3: "z"}, true)
	if a := list[0]; a.OwnDisputed != 1 || *a.Agreement != (1.0/3+1)/2 || len(a.Failed[2]) != 2 || a.Failed[2][0] != "b" {
		t.Errorf("candidate 1: %+v", a)
	}
	if b := list[1]; b.OwnPassingBefore != 1 || b.OwnDisputed != 0 || *b.Agreement != 1 || b.Failed != nil {
		t.Errorf("candidate 2: %+v", b)
	}
	if c := list[2]; *c.Agreement != 1 {
		t.Errorf("candidate 3: %+v", c)
	}
	few := []ledger.Rank{{Candidate: 1, Eligible: true}, {Candidate: 2, Eligible: true}, {Candidate: 3, Eligible: true}}
	one := crossResults{1: {2: {id("right"): false}, 3: {id("right"): false}}}
	addCrossResults(few, one, map[int]string{2: "y", 3: "z"}, true)
	if few[0].OwnDisputed != 0 || *few[1].Agreement != 0 {
		t.Errorf("a candidate that no test contradicts: %+v", few)
	}
	one[2] = map[int]testOutcomes{1: {id("other"): false}}
	addCrossResults(few, one, map[int]string{2: "same", 3: "same"}, true)
	if few[0].OwnDisputed != 0 {
		t.Errorf("the same code has two voices: %+v", few)
	}
	if d := list[3]; d.Agreement != nil {
		t.Errorf("candidate 4, which did not do the task: %+v", d)
	}
}

// A test that passes on a red baseline may assert the bug: alone, it is no evidence against a fix.
func TestPassesOnRedBaseline(t *testing.T) {
	for name, c := range map[string]struct {
		base, second, third bool // whether the test of candidate 1 passes there
		isRed               bool
		want                *float64 // agreement of candidate 3
	}{
		"it asserts the bug":               {true, false, false, true, nil},
		"as many pass as fail":             {true, true, false, true, nil},
		"it fails at the base":             {false, true, false, true, new(0.0)},
		"the base is green":                {true, true, false, false, new(0.0)},
		"it passes everywhere":             {true, true, true, true, new(1.0)},
		"the base is green, and it passes": {true, false, true, false, new(1.0)},
	} {
		list := []ledger.Rank{{Candidate: 1, Eligible: true}, {Candidate: 2, Eligible: true}, {Candidate: 3, Eligible: true}}
		outcome := func(passes bool) testOutcomes { return testOutcomes{id("new"): passes} }
		addCrossResults(list, crossResults{1: {0: outcome(c.base), 2: outcome(c.second), 3: outcome(c.third)}}, map[int]string{1: "x", 2: "y", 3: "z"}, c.isRed)
		got := list[2].Agreement
		if (got == nil) != (c.want == nil) || got != nil && *got != *c.want || (list[0].OwnPassingBefore == 1) != c.base {
			t.Errorf("%s: %v, %+v", name, got, list[0])
		}
	}
}
