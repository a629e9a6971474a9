package judge

import (
	"math"
	"testing"

	"supervise/metric"
	"supervise/selector"
)

// Coverage varies within one unit and format alone: lines and statements of one
// tree differ without any chance in it.
func TestVariationNeedsComparableCoverage(t *testing.T) {
	of := func(covered int64, unit metric.Unit, format string) metric.Set {
		return metric.Set{Coverage: &metric.Coverage{Covered: covered, Total: 100, Unit: unit, Format: format}}
	}
	for _, tt := range []struct {
		name          string
		first, second metric.Set
		want          float64
	}{
		{"less", of(80, metric.Lines, "lcov"), of(77, metric.Lines, "lcov"), 3},
		{"more", of(80, metric.Lines, "lcov"), of(81, metric.Lines, "lcov"), 1},
		{"another unit", of(80, metric.Lines, "lcov"), of(60, metric.Statements, "lcov"), 0},
		{"another format", of(80, metric.Lines, "lcov"), of(60, metric.Lines, "cobertura"), 0},
		{"measured once", of(80, metric.Lines, "lcov"), metric.Set{}, 0},
	} {
		if got := Variation(tt.first, tt.second, selector.DefaultWeights())[metric.CoveragePct]; math.Abs(got-tt.want) > 1e-9 {
			t.Errorf("%s: %v, want %v", tt.name, got, tt.want)
		}
	}
}

// A test with two outcomes on one tree is known by its identity, whichever came
// first.
func TestTwoRunsShowFlakyTests(t *testing.T) {
	for _, tt := range []struct {
		first, second, want metric.Status
		flaky               bool
	}{
		{metric.Passed, metric.Passed, metric.Passed, false},
		{metric.Passed, metric.Failed, metric.Passed, true},
		{metric.Failed, metric.Passed, metric.Passed, true},
		{metric.Errored, metric.Passed, metric.Passed, true},
		{metric.Failed, metric.Errored, metric.Failed, false},
		{metric.Failed, metric.Skipped, metric.Skipped, true},
		{metric.Skipped, metric.Failed, metric.Skipped, true},
		{metric.Passed, metric.Skipped, metric.Skipped, false},
		{metric.Skipped, metric.Passed, metric.Skipped, false},
		{metric.Passed, metric.NotRun, metric.Passed, false},
		{metric.NotRun, metric.Passed, metric.NotRun, false},
		{metric.Passed, 0, metric.Passed, false},
	} {
		id := metric.ID{Suite: "s", Class: "c", Name: "a[x/y]"}
		steady := metric.Test{ID: metric.ID{Suite: "s", Class: "c", Name: "a[x]"}, Status: metric.Passed}
		first := metric.NewTests([]metric.Test{{ID: id, Status: tt.first}, steady})
		second := metric.NewTests([]metric.Test{steady})
		if tt.second != 0 {
			second = metric.NewTests([]metric.Test{{ID: id, Status: tt.second}, steady})
		}
		got := MarkFlaky(first, second)
		if c, _ := got.Lookup(id); c.Status != tt.want || c.Flaky != tt.flaky {
			t.Errorf("%v, then %v: %v, flaky %v", tt.first, tt.second, c.Status, c.Flaky)
		}
		if c, _ := got.Lookup(steady.ID); c.Flaky || c.Status != metric.Passed {
			t.Errorf("its neighbour is %v, flaky %v", c.Status, c.Flaky)
		}
	}
}
