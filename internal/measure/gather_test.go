package measure

import (
	"strings"
	"testing"

	"supervise/metric"
)

// Coverage of another unit or format does not replace what an earlier check
// reported, and is told of. From outside only one format can be produced.
func TestUnlikeCoverageIsLeftOut(t *testing.T) {
	first := &metric.Coverage{Covered: 1, Total: 2, Unit: metric.Statements, Format: "go"}
	for _, second := range []metric.Coverage{
		{Covered: 9, Total: 9, Unit: metric.Lines, Format: "go"},
		{Covered: 9, Total: 9, Unit: metric.Statements, Format: "lcov"},
	} {
		runs := []Run{
			{Check: Check{Kind: Test}, state: metric.Measured, tests: metric.NewTests([]metric.Test{{}}), coverage: first},
			{Check: Check{Kind: Test}, state: metric.Measured, coverage: &second, tests: metric.NewTests(nil)},
		}
		set := New(Plan{}, Options{}).gather(runs, nil)
		if set.Coverage == nil || set.Coverage.Covered != 1 || set.Coverage.Total != 2 {
			t.Errorf("coverage %+v, want that of the first check", set.Coverage)
		}
		if p := strings.Join(runs[1].Problems, ";"); !strings.Contains(p, string(second.Unit)) || !strings.Contains(p, "left out") {
			t.Errorf("problems %q do not say that it was left out", p)
		}
	}
}

// A test that passes in a run that failed as a whole has not recovered.
func TestPassesOfAFailedRun(t *testing.T) {
	suspect := metric.Test{ID: metric.ID{Suite: "s", Name: "a"}, Status: metric.Passed}
	tests := metric.NewTests([]metric.Test{suspect})
	for failure, want := range map[string]int{"": 1, "ended with status 2 although no test failed": 0} {
		tests.Failure = failure
		if got := passes(Run{state: metric.Measured, tests: tests}, []metric.Test{suspect}); len(got) != want {
			t.Errorf("failure %q: %v recovered, want %d", failure, got, want)
		}
	}
}
