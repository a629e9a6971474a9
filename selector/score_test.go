package selector_test

import (
	"errors"
	"fmt"
	"math"
	"testing"
	"testing/quick"

	"supervise/metric"
	"supervise/selector"
)

// numbers describe a set.
type numbers struct {
	passed, total    int
	coverage         float64
	errors, warnings int
	complexity       float64
	loc              int
}

func (n numbers) set() metric.Set {
	var cases []metric.Test
	for i := range n.total {
		status := metric.Failed
		if i < n.passed {
			status = metric.Passed
		}
		cases = append(cases, metric.Test{ID: metric.ID{Name: fmt.Sprint("t", i)}, Status: status})
	}
	l := &metric.Lint{}
	for range n.errors {
		l.Findings = append(l.Findings, metric.Finding{Level: metric.Error})
	}
	for range n.warnings {
		l.Findings = append(l.Findings, metric.Finding{Level: metric.Warning})
	}
	return metric.Set{
		Tests: metric.NewTests(cases), Lint: l, Build: &metric.Build{Status: metric.BuildSuccess},
		Coverage: &metric.Coverage{Covered: int64(n.coverage*100 + .5), Total: 10000, Unit: metric.Lines, Format: "go"},
		Code:     &metric.Code{Files: 3, LOC: n.loc, Functions: 5, Complexity: n.complexity},
	}
}

var (
	seedBaseline = numbers{5, 8, 65, 8, 4, 12.5, 450}
	seedBest     = numbers{10, 10, 85, 0, 2, 10, 520}
)

func TestGradeWorkedExamples(t *testing.T) {
	for _, tt := range []struct {
		name       string
		current    numbers
		dimensions []float64
		value      float64
	}{
		{"the baseline", seedBaseline, []float64{74.1667, 82.5, 69.25, 62.75, 100}, .7646},
		{"the best iteration", seedBest, []float64{100, 92.5, 98, 72, 100}, .9483},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := selector.Grade(tt.current.set(), seedBaseline.set(), selector.DefaultWeights())
			sum := 0.0
			for i, d := range got.Dimensions {
				if math.Abs(d.Score-tt.dimensions[i]) > .00005 {
					t.Errorf("%s is %.4f, want %.4f", d.Name, d.Score, tt.dimensions[i])
				}
				sum += d.Contribution
			}
			if math.Abs(got.Value-tt.value) > .0000501 || !got.Measured {
				t.Errorf("score %.6f, want %.4f", got.Value, tt.value)
			}
			if math.Abs(sum-got.Value) > 1e-12 {
				t.Errorf("the contributions sum to %v, the score is %v", sum, got.Value)
			}
		})
	}
}

func TestGradeOfNothingIsAbsent(t *testing.T) {
	if got := selector.Grade(metric.Set{}, seedBaseline.set(), selector.DefaultWeights()); got.Measured || got.Value != 0 {
		t.Errorf("score %+v, want not measured", got)
	}
}

// What was not measured counts neither for nor against.
func TestGradeLeavesOutWhatIsMissing(t *testing.T) {
	full := seedBest.set()
	got := selector.Grade(metric.Set{Tests: full.Tests}, seedBaseline.set(), selector.DefaultWeights())
	if got.Value != 1 || got.Dimensions[3].Measured || got.Dimensions[4].Measured {
		t.Errorf("score %+v of ten passing tests and nothing else, want 1", got)
	}
	unknown := full
	unknown.Build = &metric.Build{Status: metric.BuildUnknown}
	if a := selector.Grade(unknown, seedBaseline.set(), selector.DefaultWeights()); len(a.Dimensions[0].Components) != 2 {
		t.Errorf("components %+v, want no build", a.Dimensions[0].Components)
	}
}

// A baseline without tests and code is nothing to compare with.
func TestGradeAgainstAnEmptyBaseline(t *testing.T) {
	got := selector.Grade(seedBest.set(), numbers{}.set(), selector.DefaultWeights())
	if n := len(got.Dimensions[1].Components); n != 1 || got.Dimensions[4].Measured {
		t.Errorf("completeness has %d components, efficiency is measured: %v", n, got.Dimensions[4].Measured)
	}
}

func TestEfficiency(t *testing.T) {
	base := numbers{loc: 100}.set()
	for _, tt := range []struct {
		loc  int
		want float64
	}{
		{loc: 100, want: 100},
		{loc: 120, want: 100},
		{loc: 80, want: 100}, // within a fifth
		{loc: 140, want: (75 + 100.) / 2},
		{loc: 60, want: (75 + 100.) / 2},
		{loc: 150, want: (62.5 + 100) / 2},
		{loc: 151, want: (61.25 + 50) / 2}, // bloat
		{loc: 200, want: (0 + 50.) / 2},
		{loc: 0, want: (0 + 100.) / 2},
	} {
		if got := selector.Grade(numbers{loc: tt.loc}.set(), base, selector.DefaultWeights()).Dimensions[4].Score; math.Abs(got-tt.want) > 1e-9 {
			t.Errorf("%d lines: efficiency %v, want %v", tt.loc, got, tt.want)
		}
	}
}

func TestScoreIsInRangeAndMonotone(t *testing.T) {
	base := seedBaseline.set()
	w := selector.DefaultWeights()
	property := func(passed, total, coverage, errs, warnings, complexity uint8, loc uint16) bool {
		n := numbers{int(passed), int(total) + 1, float64(coverage % 100), int(errs), int(warnings), float64(complexity), int(loc)}
		n.passed = min(n.passed, n.total)
		score := func(n numbers) float64 { return selector.Grade(n.set(), base, w).Value }
		at := score(n)
		if at < 0 || at > 1 {
			return false
		}
		better, worse := n, n
		better.passed, better.coverage = min(n.passed+1, n.total), n.coverage+1
		worse.errors, worse.warnings, worse.complexity = n.errors+1, n.warnings+1, n.complexity+1
		return score(better) >= at-1e-12 && score(worse) <= at+1e-12
	}
	if err := quick.Check(property, nil); err != nil {
		t.Error(err)
	}
}

func dims(v, c, k, r, e float64) map[string]float64 {
	return map[string]float64{"validation": v, "completeness": c, "correctness": k, "readability": r, "efficiency": e}
}

func TestFromDimensionsConformance(t *testing.T) {
	for _, tt := range []struct {
		scores map[string]float64
		want   int
	}{
		{dims(.70, .72, .72, .72, .75), 72},
		{dims(.85, .85, .87, .83, .85), 85},
		{dims(.90, .85, .85, .80, .80), 86},
	} {
		got, err := selector.FromDimensions(tt.scores, selector.DefaultWeights())
		if points := int(math.Round(100 * got.Value)); err != nil || points != tt.want {
			t.Errorf("%v gives %d points (%v, %v), want %d", tt.scores, points, got.Value, err, tt.want)
		}
	}
}

func TestFromDimensionsRefuses(t *testing.T) {
	for _, scores := range []map[string]float64{{"validation": 1.1}, {"validation": -.1}, {"validation": math.NaN()}, {"beauty": .5}} {
		if _, err := selector.FromDimensions(scores, selector.DefaultWeights()); !errors.Is(err, selector.ErrDimension) {
			t.Errorf("%v: error %v", scores, err)
		}
	}
	if got, err := selector.FromDimensions(nil, selector.DefaultWeights()); err != nil || got.Measured {
		t.Errorf("no dimensions give %+v, %v", got, err)
	}
}

func TestWeights(t *testing.T) {
	for _, tt := range []struct {
		name string
		w    selector.Weights
		ok   bool
	}{
		{"default", selector.DefaultWeights(), true},
		{"not summing to 1", selector.Weights{Validation: 5, Completeness: 3, Correctness: 2}, true},
		{"all zero", selector.Weights{}, false},
		{"negative", selector.Weights{Validation: 1, Efficiency: -.5}, false},
		{"not a number", selector.Weights{Validation: math.NaN()}, false},
	} {
		if err := tt.w.Validate(); (err == nil) != tt.ok || err != nil && !errors.Is(err, selector.ErrWeights) {
			t.Errorf("%s: %v", tt.name, err)
		}
	}
	custom := selector.Weights{Validation: 3, Readability: 1}
	if got, _ := selector.FromDimensions(dims(1, 0, 0, .2, 0), custom); math.Abs(got.Value-.8) > 1e-12 {
		t.Errorf("weights 3 and 1 of 1 and .2 give %v, want .8", got.Value)
	}
}
