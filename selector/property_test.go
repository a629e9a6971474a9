package selector_test

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"testing/quick"

	"supervise/metric"
	"supervise/selector"
)

var often = &quick.Config{MaxCount: 500}

// steps are a change for the better in each number of the score.
var steps = []struct {
	name   string
	better func(*numbers) bool // false if it cannot get better
}{
	{"a failing test passes", func(n *numbers) bool { n.passed++; return n.passed <= n.total }},
	{"a passing test more", func(n *numbers) bool { n.passed++; n.total++; return true }},
	{"more coverage", func(n *numbers) bool { n.coverage++; return n.coverage <= 100 }},
	{"a lint error less", func(n *numbers) bool { n.errors--; return n.errors >= 0 }},
	{"a warning less", func(n *numbers) bool { n.warnings--; return n.warnings >= 0 }},
	{"less complexity", func(n *numbers) bool { n.complexity--; return n.complexity >= 0 }},
	{"a size nearer to the baseline's", func(n *numbers) bool {
		if n.loc > seedBaseline.loc {
			n.loc--
		} else {
			n.loc++
		}
		return true
	}},
}

func TestScoreIsMonotoneInEachComponent(t *testing.T) {
	base := seedBaseline.set()
	for _, step := range steps {
		t.Run(step.name, func(t *testing.T) {
			property := func(passed, total, coverage, errs, warnings, complexity uint8, loc uint16) bool {
				n := numbers{int(passed), int(total) + 1, float64(coverage % 101), int(errs % 40), int(warnings % 40), float64(complexity % 40), int(loc % 1500)}
				n.passed = min(n.passed, n.total)
				better := n
				if !step.better(&better) {
					return true
				}
				before := selector.Grade(n.set(), base, selector.DefaultWeights()).Value
				after := selector.Grade(better.set(), base, selector.DefaultWeights()).Value
				return before >= 0 && after <= 1 && after >= before-1e-12
			}
			if err := quick.Check(property, often); err != nil {
				t.Error(err)
			}
		})
	}
	broken := seedBest.set()
	broken.Build = &metric.Build{Status: metric.BuildFailure}
	if a, b := grade(broken), grade(seedBest.set()); a >= b {
		t.Errorf("a broken build scores %v, a good one %v", a, b)
	}
}

func grade(s metric.Set) float64 {
	return selector.Grade(s, seedBaseline.set(), selector.DefaultWeights()).Value
}

// Dimensions that another tool found: within [0,1] and monotone in each, by
// whatever weights.
func TestScoreOfDimensionsIsMonotone(t *testing.T) {
	property := func(scores, weights [5]uint8, which uint8) bool {
		given, named := map[string]float64{}, map[string]float64{}
		for i, name := range selector.DimensionNames() {
			given[name], named[name] = float64(scores[i])/255, float64(weights[i])
		}
		w, err := selector.DefaultWeights().Replace(named)
		if err != nil {
			return weights == [5]uint8{}
		}
		before, err1 := selector.FromDimensions(given, w)
		name := selector.DimensionNames()[which%5]
		given[name] = (given[name] + 1) / 2
		after, err2 := selector.FromDimensions(given, w)
		return err1 == nil && err2 == nil && before.Value >= 0 && after.Value <= 1 && after.Value >= before.Value-1e-12
	}
	if err := quick.Check(property, often); err != nil {
		t.Error(err)
	}
}

func TestOrderOfTestsDoesNotMatter(t *testing.T) {
	property := func(seed uint64, passed, failed, skipped uint8) bool {
		s := numbers{passed: int(passed), total: int(passed) + int(failed), coverage: 70}.set()
		for i := range int(skipped) {
			s.Tests.Cases = append(s.Tests.Cases, metric.Test{ID: metric.ID{Suite: "skips", Name: string(rune('a' + i))}, Status: metric.Skipped})
		}
		mixed, tests := s, *s.Tests
		tests.Cases = slices.Clone(tests.Cases)
		r := rand.New(rand.NewPCG(seed, 0))
		r.Shuffle(len(tests.Cases), func(i, j int) { tests.Cases[i], tests.Cases[j] = tests.Cases[j], tests.Cases[i] })
		mixed.Tests = &tests
		return grade(s) == grade(mixed) && selector.IsVerified(s, false, nil) == selector.IsVerified(mixed, false, nil)
	}
	if err := quick.Check(property, often); err != nil {
		t.Error(err)
	}
}

// Of two with the same score and no other difference, the earlier one is chosen; in
// the mode that prefers the latest, the latest.
func TestTiesGoToTheEarlier(t *testing.T) {
	property := func(scores []uint8, mode bool) bool {
		if len(scores) == 0 {
			return true
		}
		var cands []selector.Candidate
		for i, s := range scores {
			cands = append(cands, selector.Candidate{Iteration: i + 1, Score: float64(s%4) / 4, Scored: true, Verified: true})
		}
		o := selector.DefaultOptions()
		if mode {
			o.Mode = selector.HighestQuality
		}
		got, err := selector.Best(cands, o)
		first := slices.IndexFunc(cands, func(c selector.Candidate) bool { return c.Score == got.Score })
		return err == nil && got.Iteration == first+1 && !slices.ContainsFunc(cands, func(c selector.Candidate) bool { return c.Score > got.Score })
	}
	if err := quick.Check(property, often); err != nil {
		t.Error(err)
	}
}

func TestScoresThatDifferByRoundingAreEqual(t *testing.T) {
	cands := scored(70, 70)
	cands[0].Score, cands[1].Score = .1+.2+.4, .7
	cands[1].Score += 1e-12
	if got, err := selector.Best(cands, selector.DefaultOptions()); err != nil || got.Iteration != 1 || got.BelowThreshold {
		t.Errorf("%+v, %v: want 1, at the threshold", got, err)
	}
}

func TestScoreWithOtherWeights(t *testing.T) {
	score, err := selector.FromDimensions(dims(1, 0, 0, .2, 0), selector.DefaultWeights())
	if err != nil {
		t.Fatal(err)
	}
	got := score.Reweigh(selector.Weights{Validation: 3, Readability: 1})
	sum := 0.0
	for _, d := range got.Dimensions {
		sum += d.Contribution
	}
	if math.Abs(got.Value-.8) > 1e-12 || math.Abs(sum-.8) > 1e-12 || math.Abs(score.Value-.32) > 1e-12 {
		t.Errorf("weights 3 and 1 of 1 and .2 give %v with contributions of %v, want .8; the first score is %v", got.Value, sum, score.Value)
	}
	plain, err := selector.FromValue(.6)
	if again := plain.Reweigh(selector.Weights{Efficiency: 1}); err != nil || again.Value != .6 || !again.Measured {
		t.Errorf("a score without dimensions became %+v, %v", again, err)
	}
	if _, err := selector.FromValue(72); !errors.Is(err, selector.ErrDimension) {
		t.Errorf("72 is taken for a score in [0,1]: %v", err)
	}
}

func TestNamedWeights(t *testing.T) {
	w, err := selector.DefaultWeights().Replace(map[string]float64{"validation": .5, "efficiency": 0})
	if want := (selector.Weights{Validation: .5, Completeness: .25, Correctness: .25, Readability: .10}); err != nil || w != want {
		t.Errorf("weights %+v, %v, want %+v", w, err, want)
	}
	for _, bad := range []map[string]float64{{"beauty": 1}, {"validation": -1}, {"validation": math.Inf(1)}} {
		if _, err := selector.DefaultWeights().Replace(bad); !errors.Is(err, selector.ErrWeights) {
			t.Errorf("%v: %v", bad, err)
		}
	}
}

// A person may choose an ineligible iteration, with a warning.
func TestOverrideOfAnIneligibleIteration(t *testing.T) {
	cands := scored(60, 85)
	cands[1].Critical = true
	o := selector.DefaultOptions()
	o.Override = &selector.Override{Kind: selector.UseSpecific, Iteration: 2, Reason: "the test was wrong", User: "ann"}
	got, err := selector.Best(cands, o)
	if err != nil || got.Iteration != 2 || got.Override.User != "ann" || !slices.ContainsFunc(got.Rationale, func(s string) bool {
		return s == "It is not eligible by itself: it was rolled back, has a CRITICAL finding, or is worse than the baseline"
	}) {
		t.Errorf("%+v, %v", got, err)
	}
}
