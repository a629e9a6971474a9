package detector_test

import (
	"fmt"
	"slices"
	"testing"

	"supervise/detector"
	"supervise/detector/internal/loss"
	"supervise/metric"
)

// raised lists the iterations in which a rule was raised, as "5 baseline".
func raised(as []detector.Assessment, rule string) []string {
	out := []string{}
	for i, a := range as {
		for _, alert := range a.Alerts {
			if alert.Rule == rule {
				out = append(out, fmt.Sprint(i, " ", alert.Against))
			}
		}
	}
	return out
}

// Five steps each of which is within the tolerance of the rule add up, and the
// comparison with the baseline alerts when the sum is beyond it. An iteration that
// makes nothing worse raises no alert.
func TestErosionOverFiveSmallSteps(t *testing.T) {
	one, many := 1.0, 3.0
	own := detector.RuleOptions{Threshold: &one, Severity: detector.High, Baseline: &detector.RuleOptions{Threshold: &many}}
	skips := func(n int) metric.Set {
		var cases []metric.Test
		for i := range 9 {
			s := metric.Passed
			if i < n {
				s = metric.Skipped
			}
			cases = append(cases, metric.Test{ID: numbered(i), Status: s})
		}
		return metric.Set{Tests: suite(cases...)}
	}
	for _, tt := range []struct {
		rule string
		set  func(n int) metric.Set // after n steps
		want []string
	}{
		{"test_count_decreased", func(n int) metric.Set { return metric.Set{Tests: numberedTests(n, 9, 0)} }, []string{"4 baseline", "5 baseline"}},
		{"working_tests_failing", func(n int) metric.Set { return metric.Set{Tests: numberedTests(0, 9, 9-n)} }, []string{"4 baseline", "5 baseline"}},
		{"tests_newly_skipped", skips, []string{"4 baseline", "5 baseline"}},
		{"coverage_regression", func(n int) metric.Set { return measured(9, 9, 80-float64(n)) }, []string{"4 baseline"}}, // 5 is not as deep again
	} {
		t.Run(tt.rule, func(t *testing.T) {
			var sets []metric.Set
			for n := range 6 {
				sets = append(sets, tt.set(n))
			}
			got := walk(append(sets, tt.set(5)), nil, of(tt.rule, own))
			if list := raised(got, tt.rule); !slices.Equal(list, tt.want) {
				t.Errorf("raised at %v, want %v", list, tt.want)
			}
			for _, id := range got[4].Alerts[0].Tests {
				if tt.rule != "coverage_regression" && len(got[4].Alerts[0].Tests) != 4 {
					t.Errorf("evidence %v (%s), want the tests of all four steps", got[4].Alerts[0].Tests, id)
				}
			}
		})
	}
}

// What was explained, or acknowledged, when it happened is no erosion.
func TestSettledLossesDoNotErode(t *testing.T) {
	one, many := 1.0, 3.0
	o := of("test_count_decreased", detector.RuleOptions{Threshold: &one, Baseline: &detector.RuleOptions{Threshold: &many}})
	var sets []metric.Set
	for n := range 6 {
		sets = append(sets, metric.Set{Tests: numberedTests(n, 9, 0)})
	}
	o.Acknowledged = []detector.Acknowledgement{{Rule: "test_count_decreased", Tests: []string{"Test000?"}}}
	if list := raised(walk(sets, nil, o), "test_count_decreased"); len(list) != 1 { // the fourth alerts, and is acknowledged
		t.Errorf("raised at %v", list)
	}
	// Every step moves one test to another suite: nothing is lost.
	for n := range 6 {
		cases := slices.Clone(numberedTests(n, 9, 9).Cases)
		for moved := range n {
			cases = append(cases, metric.Test{ID: metric.ID{Suite: "calc/new", Name: numbered(moved).Name}, Status: metric.Passed})
		}
		sets[n] = metric.Set{Tests: suite(cases...)}
	}
	o.Acknowledged = nil
	for i, a := range walk(sets, nil, o) {
		if len(fired(a)) > 0 {
			t.Errorf("iteration %d: %v, although tests only moved", i, fired(a))
		}
	}
	// Losses after that erode, and the tests that moved do not make up for them.
	eroding := slices.Clone(sets)
	for n := 1; n <= 4; n++ {
		eroding = append(eroding, metric.Set{Tests: metric.NewTests(sets[5].Tests.Cases[n:])}) // the moved ones come last
	}
	o.Rules["working_tests_failing"] = detector.RuleOptions{Off: true}
	if list := raised(walk(eroding, nil, o), "test_count_decreased"); !slices.Equal(list, []string{"9 baseline"}) {
		t.Errorf("raised at %v", list)
	}
	// A test that is really lost afterwards is one loss, not seven.
	last := metric.Set{Tests: metric.NewTests(sets[5].Tests.Cases[:8])}
	as := walk(append(sets, last), nil, of("test_count_decreased", detector.RuleOptions{}))
	if a, ok := alertOf(as[6], "test_count_decreased"); !ok || len(a.Tests) != 1 {
		t.Errorf("fired %v: %+v, want one lost test", ok, a)
	}
}

// A loss that a person accepted does not count against later iterations, not even in
// a strict comparison.
func TestStrictComparisonWithTheBaselineIsAboutThisIteration(t *testing.T) {
	o := detector.Options{Strict: true, Rules: map[string]detector.RuleOptions{
		"test_count_decreased": {Severity: detector.High}, "working_tests_failing": {Severity: detector.High},
	}}
	got := walk([]metric.Set{measured(9, 9, 80), measured(8, 8, 80), measured(8, 8, 80), measured(8, 8, 80)}, nil, o)
	for _, rule := range []string{"test_count_decreased", "working_tests_failing"} {
		if list := raised(got, rule); !slices.Equal(list, []string{"1 previous"}) {
			t.Errorf("%s raised at %v", rule, list)
		}
	}
}

// A test that was renamed earlier counts once, under either name.
func TestRenamedTestsDoNotMakeUpForErosion(t *testing.T) {
	tests := func(names ...string) metric.Set { return metric.Set{Tests: suite(passing(names...)...)} }
	in := step(tests("X", "B", "C", "D"), tests("X", "B", "C")) // E went within the tolerance
	in.Baseline.Set, in.History[0].Set = tests("A", "B", "C", "D", "E"), tests("A", "B", "C", "D", "E")
	one := 1.0
	for name, tt := range map[string]struct {
		settled []detector.Loss
		fires   bool
	}{
		"renamed":            {[]detector.Loss{{ID: id("A"), Explanation: loss.SimilarBody, Successor: id("X")}}, true},
		"renamed twice":      {[]detector.Loss{{ID: id("A"), Successor: id("W")}, {ID: id("W"), Successor: id("X")}}, true},
		"its code went away": {[]detector.Loss{{ID: id("A"), Explanation: loss.SubjectGone}}, false}, // X is a new test
	} {
		in.History[1].Settled = tt.settled
		a, ok := alertOf(detector.Assess(in, of("test_count_decreased", detector.RuleOptions{Threshold: &one})), "test_count_decreased")
		if ok != tt.fires || ok && !slices.Equal(a.Tests, []metric.ID{id("D"), id("E")}) {
			t.Errorf("%s: fired %v with %v", name, ok, a.Tests)
		}
	}
}

func TestErosionOfAPart(t *testing.T) {
	var sets []metric.Set
	for _, n := range []int64{800, 793, 786, 786, 790, 788, 780, 775, 790, 781, 779} {
		s := files(map[string]int64{"m/d.go": 100})
		s.Coverage.Files = append(s.Coverage.Files, metric.FileCoverage{Path: "m/internal/a.go", Covered: n, Total: 1000})
		s.Coverage.Covered, s.Coverage.Total = n+5000, 10_000
		sets = append(sets, s)
	}
	got := walk(sets, nil, of("coverage_regression", detector.RuleOptions{Paths: map[string]float64{"internal/**": 1}}))
	if list := raised(got, "coverage_regression"); !slices.Equal(list, []string{"2 baseline", "7 baseline", "10 baseline"}) {
		t.Errorf("raised at %v, want it once for each depth", list)
	}
}

// One depth below the baseline is reported once, however often coverage goes a little
// up and down there.
func TestErodedCoverageIsReportedOncePerDepth(t *testing.T) {
	for _, tt := range []struct {
		name      string
		coverages []float64
		variation float64
		want      []string
	}{
		{name: "five small steps", coverages: []float64{80, 79.5, 79, 78.5, 78, 77.5}, want: []string{"5 baseline"}},
		{name: "to and fro", coverages: []float64{80, 79, 77.9, 78.1, 77.9, 78.1, 77.5, 77.6, 77}, want: []string{"2 baseline"}},
		{name: "on and on", coverages: []float64{80, 78.5, 77, 76.5, 75.5, 74.9, 74, 73, 72}, want: []string{"2 baseline", "5 baseline", "8 baseline"}},
		{name: "after one great step", coverages: []float64{80, 75, 74.5, 73.1, 72.9}, want: []string{"1 previous", "4 baseline"}},
		{name: "recovered, and again", coverages: []float64{80, 78.5, 77, 79.5, 78.5, 77.6, 77.4}, want: []string{"2 baseline", "6 baseline"}},
		{name: "recovered beyond the baseline, and again", coverages: []float64{80, 78.5, 77, 90, 88.5, 87, 85.5, 84, 82.5, 81, 79.5, 78.1, 77.9}, want: []string{"2 baseline", "12 baseline"}},
		{name: "within the variation", coverages: []float64{80, 78.5, 77, 75.5, 74, 73.1}, variation: 3, want: []string{"3 baseline"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var history []detector.Observation
			var got []detector.Assessment
			for i, c := range tt.coverages {
				in := detector.Input{Current: detector.Observation{Iteration: i, Set: measured(4, 4, c)}, History: history}
				if i > 0 {
					in.Baseline, in.Previous = history[0], history[i-1]
					in.Baseline.Set.Variation = metric.Delta{metric.CoveragePct: tt.variation}
				}
				got, history = append(got, detector.Assess(in, detector.DefaultOptions())), append(history, in.Current)
			}
			if list := raised(got, "coverage_regression"); !slices.Equal(list, tt.want) {
				t.Errorf("raised at %v, want %v", list, tt.want)
			}
		})
	}
}
