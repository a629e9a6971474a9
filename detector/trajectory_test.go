package detector_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/quick"
	"time"

	"supervise/detector"
	"supervise/metric"
)

// plateaus returns the input of the n-th plateau in a row after a baseline and
// one step forward, with the given scores of the plateaus.
func plateaus(s metric.Set, scores ...float64) detector.Input {
	history := []detector.Observation{
		{Set: s, Class: detector.Baseline, Score: .5, Scored: true}, {Iteration: 1, Set: s, Class: detector.Forward, Score: .8, Scored: true},
	}
	for i, score := range scores {
		history = append(history, detector.Observation{Iteration: 2 + i, Set: s, Class: detector.Plateau, Score: score, Scored: true})
	}
	last := len(history) - 1
	return detector.Input{Current: history[last], History: history[:last], Previous: history[last-1], Baseline: history[0]}
}

func TestStall(t *testing.T) {
	s := measured(10, 9, 80)
	for _, tt := range []struct {
		name   string
		scores []float64
		want   detector.Class
	}{
		{"two plateaus", []float64{.8, .8}, detector.Plateau},
		{"three plateaus", []float64{.8, .8, .8}, detector.Stalled},
		{"scores just within the range", []float64{.8, .819, .8}, detector.Stalled},
		{"scores .02 apart", []float64{.8, .82, .8}, detector.Plateau},
	} {
		t.Run(tt.name, func(t *testing.T) {
			a := detector.Assess(plateaus(s, tt.scores...), detector.DefaultOptions())
			if a.Class != tt.want || (a.Stall != nil) != (tt.want == detector.Stalled) {
				t.Fatalf("class %v, stall %v, want %v", a.Class, a.Stall, tt.want)
			}
			if a.Stall != nil && (a.Recommendation.Action != detector.Stop || a.Recommendation.Reason != "No meaningful progress for 3 iterations" || len(a.Stall.Alternatives()) != 3) {
				t.Errorf("recommendation %+v", a.Recommendation)
			}
		})
	}
}

func TestStallGoesOn(t *testing.T) {
	in := plateaus(measured(10, 9, 80), .8, .8, .8, .8)
	in.History[4].Class = detector.Stalled
	if a := detector.Assess(in, detector.DefaultOptions()); a.Class != detector.Stalled {
		t.Errorf("class %v after a stall that was continued, want stalled", a.Class)
	}
}

func TestSmallGainsThatAddUpAreNoStall(t *testing.T) {
	in := plateaus(measured(10, 9, 80), .8, .8, .8)
	for i, c := range []float64{80, 80.04, 80.08} {
		o := &in.Current
		if i < 2 {
			o = &in.History[2+i]
		}
		o.Set = measured(10, 9, c)
	}
	in.Previous = in.History[3]
	if a := detector.Assess(in, detector.DefaultOptions()); a.Class != detector.Plateau {
		t.Errorf("class %v, want plateau", a.Class)
	}
}

// A window is compared with what was before it: what its first iteration gained counts,
// and so does a gain that did not last.
func TestAGainWithinTheWindowIsNoStall(t *testing.T) {
	for name, tt := range map[string]struct {
		before float64
		window []float64
		want   detector.Class
	}{
		"15 points, then idle":        {65, []float64{80, 80, 80}, detector.Plateau},
		"nothing":                     {80, []float64{80, 80, 80}, detector.Stalled},
		"up and down":                 {80, []float64{80.4, 80, 80}, detector.Plateau},
		"down and back":               {80, []float64{79.6, 80, 80}, detector.Stalled},
		"the last one, a little bit":  {80, []float64{80, 80, 80.1}, detector.Plateau},
		"less than coverage is shown": {80, []float64{80, 80, 80.04}, detector.Stalled},
	} {
		in := plateaus(measured(10, 9, 80), .8, .8, .8)
		in.History[1].Set, in.History[2].Set, in.History[3].Set = measured(10, 9, tt.before), measured(10, 9, tt.window[0]), measured(10, 9, tt.window[1])
		in.Previous, in.Current.Set = in.History[3], measured(10, 9, tt.window[2])
		if a := detector.Assess(in, detector.DefaultOptions()); a.Class != tt.want {
			t.Errorf("%s: class %v, want %v", name, a.Class, tt.want)
		}
	}
}

func TestClasses(t *testing.T) {
	withCode := func(s metric.Set, loc int) metric.Set {
		s.Code = code(3, loc, 3)
		return s
	}
	for _, tt := range []struct {
		name        string
		before, now metric.Set
		scores      [2]float64
		want        detector.Class
	}{
		{name: "pass rate down by more than 5", before: measured(10, 5, 80), now: metric.Set{Tests: numberedTests(0, 12, 5), Coverage: percent(80)}, want: detector.Regression},
		{name: "pass rate down by 5", before: metric.Set{Tests: numberedTests(0, 18, 9)}, now: metric.Set{Tests: numberedTests(0, 20, 9)}, scores: [2]float64{.5, .5}, want: detector.Plateau},
		{name: "one more error", before: metric.Set{Lint: lint(1)}, now: metric.Set{Lint: lint(2)}, want: detector.Regression},
		{name: "one less error, pass rate low", before: metric.Set{Lint: lint(2), Tests: numberedTests(0, 2, 1)}, now: metric.Set{Lint: lint(1), Tests: numberedTests(0, 2, 1)}, scores: [2]float64{.5, .6}, want: detector.Forward},
		{name: "new test on a green project", before: measured(10, 10, 80), now: measured(11, 11, 80), want: detector.Forward},
		{name: "more code with the same numbers", before: withCode(measured(10, 10, 80), 100), now: withCode(measured(10, 10, 80), 110), want: detector.Plateau},
		{name: "coverage up by half a point while a test fails", before: measured(10, 9, 80), now: measured(10, 9, 80.5), want: detector.Forward},
		{name: "coverage up by less", before: measured(10, 9, 80), now: measured(10, 9, 80.4), want: detector.Plateau},
		{name: "one more passes, and coverage is less", before: measured(10, 8, 80), now: measured(10, 9, 79), want: detector.Plateau},
		{name: "a little more code with the same numbers", before: withCode(measured(10, 10, 80), 100), now: withCode(measured(10, 10, 80), 102), want: detector.Plateau},
		{name: "more code, less coverage, score up", before: withCode(measured(10, 10, 80), 100), now: withCode(measured(10, 10, 79), 150), scores: [2]float64{.8, .83}, want: detector.Forward},
		{name: "more code, less coverage, score down", before: withCode(measured(10, 10, 80), 100), now: withCode(measured(10, 10, 79), 150), scores: [2]float64{.8, .77}, want: detector.Regression},
		{name: "more code, less coverage, score same", before: withCode(measured(10, 10, 80), 100), now: withCode(measured(10, 10, 79), 150), scores: [2]float64{.8, .78}, want: detector.Plateau},
		{name: "complexity a little less", before: metric.Set{Code: code(3, 100, 3)}, now: metric.Set{Code: code(3, 100, 2.99)}, want: detector.Plateau},
		{name: "nothing measured", want: detector.Plateau},
	} {
		t.Run(tt.name, func(t *testing.T) {
			in := step(tt.before, tt.now)
			in.Previous.Score, in.Previous.Scored, in.Current.Score, in.Current.Scored = tt.scores[0], true, tt.scores[1], true
			if got := detector.Assess(in, detector.DefaultOptions()).Class; got != tt.want {
				t.Errorf("class %v, want %v", got, tt.want)
			}
		})
	}
}

// path assesses the last of a series of coverages, all accepted, with trees
// that are all different unless named.
func path(coverages []float64, trees []string) detector.Assessment {
	return varying(coverages, trees, 0)
}

// varying does so where coverage varies by itself, by so many points.
func varying(coverages []float64, trees []string, variation float64) detector.Assessment {
	var all []detector.Observation
	for i, c := range coverages {
		o := detector.Observation{Iteration: i, Set: measured(4, 4, c), Tree: fmt.Sprint("tree ", i), Class: detector.Plateau}
		if trees != nil {
			o.Tree = trees[i]
		}
		all = append(all, o)
	}
	last := len(all) - 1
	all[0].Set.Variation = metric.Delta{metric.CoveragePct: variation}
	in := detector.Input{Current: all[last], History: all[:last], Previous: all[last-1], Baseline: all[0]}
	return detector.Assess(in, detector.DefaultOptions())
}

func TestEveryPlantedPeriodIsFound(t *testing.T) {
	for p := 2; p <= 5; p++ {
		for _, length := range []int{2 * p, 3*p + 1, 11, 12, 14} {
			var series []float64
			for i := range length {
				series = append(series, 80+.2*float64(i%p))
			}
			a := path(series, nil)
			if length < 2*p {
				continue
			}
			if a.Cycle == nil || a.Cycle.Period != p || a.Cycle.SameTree {
				t.Fatalf("period %d over %d iterations: cycle %+v", p, length, a.Cycle)
			}
			rule, action := "metric_cycling", detector.Escalate
			if length-1 > 10 {
				rule, action = "infinite_loop", detector.Stop
			}
			if _, ok := alertOf(a, rule); !ok || a.Recommendation.Action != action {
				t.Errorf("period %d at iteration %d: alerts %v, recommendation %+v", p, length-1, fired(a), a.Recommendation)
			}
		}
	}
}

func TestHalfACycleIsNoCycle(t *testing.T) {
	if a := path([]float64{80, 81, 80}, nil); a.Cycle != nil || a.Returned != nil {
		t.Errorf("cycle %+v although nothing repeated yet, returned to %v", a.Cycle, a.Returned)
	}
}

// An earlier tree that is back is a revert; the third time it is a cycle, whatever was
// between. A loop that stays where it is returns to nothing.
func TestReturnsToATree(t *testing.T) {
	for _, tt := range []struct {
		trees    string
		returned int // -1: not
		period   int // 0: no cycle
	}{
		{"aba", 0, 0}, {"oaba", 1, 0}, {"abaa", -1, 0}, {"abaca", 2, 2}, {"abcada", 3, 2}, {"aabaa", -1, 0}, {"abab", 1, 2}, {"abcd", -1, 0},
	} {
		var coverages []float64
		for i, c := range tt.trees {
			coverages = append(coverages, 70+.6*float64(c-'a')+.01*float64(i))
		}
		a := path(coverages, strings.Split(tt.trees, ""))
		switch {
		case (a.Returned != nil) != (tt.returned >= 0), a.Returned != nil && *a.Returned != tt.returned:
			t.Errorf("%s: returned to %v, want %d", tt.trees, a.Returned, tt.returned)
		case (a.Cycle != nil) != (tt.period > 0):
			t.Errorf("%s: cycle %+v, want the period %d", tt.trees, a.Cycle, tt.period)
		case a.Cycle == nil && len(a.Alerts) > 0:
			t.Errorf("%s: %v", tt.trees, fired(a))
		case a.Cycle != nil:
			want(t, a, "HIGH metric_cycling")
			if r := a.Recommendation; a.Cycle.Period != tt.period || a.Cycle.Endless || r.Action != detector.Escalate || r.Rule != detector.MetricCycling {
				t.Errorf("%s: cycle %+v, recommendation %+v", tt.trees, a.Cycle, r)
			}
		}
	}
}

func TestALateCycleIsAnInfiniteLoop(t *testing.T) {
	a := detector.Assess(cycling(), detector.DefaultOptions())
	if a.Cycle == nil || !a.Cycle.SameTree || a.Cycle.Period != 2 || !a.HasCritical() || a.Recommendation.Action != detector.Stop {
		t.Fatalf("cycle %+v, recommendation %+v", a.Cycle, a.Recommendation)
	}
	if got := a.Alerts[0]; got.Message() != "Infinite loop detected: metrics cycling" || got.Action != detector.ForceTerminate {
		t.Errorf("%+v", got)
	}
}

// Coverage that only swings as it does by itself, or by a tenth of a point, moves
// no loop in circles.
func TestVaryingCoverageIsNoCycle(t *testing.T) {
	again := func(block ...float64) []float64 { return slices.Repeat(block, 6) }
	trees := func(block ...string) []string { return slices.Repeat(block, 6) }
	for _, tt := range []struct {
		name      string
		series    []float64
		trees     []string
		variation float64
		period    int // 0: none
	}{
		{name: "a tenth, to and fro", series: again(71.3, 71.4)},
		{name: "a tenth around a middle", series: again(71.3, 71.4, 71.3)},
		{name: "a tenth, back at the same tree", series: again(71.3, 71.4), trees: trees("a", "b"), period: 2},
		{name: "two tenths", series: again(71.3, 71.5), period: 2},
		{name: "three tenths by steps of one", series: again(71.3, 71.4, 71.6, 71.4), period: 4},
		{name: "within the variation", series: again(71.3, 71.7), variation: .4},
		{name: "within the variation, by a hair", series: again(71.3, 71.64), variation: .35},
		{name: "within the variation, back at the same tree", series: again(71.3, 71.7), trees: trees("a", "b"), variation: .4, period: 2},
		{name: "beyond the variation", series: again(71.3, 71.8), variation: .4, period: 2},
		{name: "a cycle that varies", series: []float64{70, 75, 70.2, 75.1, 69.9, 75.3, 70, 75}, variation: .4, period: 2},
		{name: "the same without a known variation", series: []float64{70, 75, 70.2, 75.1, 69.9, 75.3, 70, 75}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			switch c := varying(tt.series, tt.trees, tt.variation).Cycle; {
			case c == nil && tt.period > 0:
				t.Errorf("no cycle, want the period %d", tt.period)
			case c != nil && c.Period != tt.period:
				t.Errorf("cycle %+v, want the period %d", c, tt.period)
			}
		})
	}
}

// What is no coverage counts however little it is, and coverage that is not
// measured is none that swings.
func TestErrorsAndMissingCoverageMakeACycle(t *testing.T) {
	for name, sets := range map[string][2]metric.Set{
		"errors":       {{Tests: numberedTests(0, 4, 4), Lint: lint(3)}, {Tests: numberedTests(0, 4, 4), Lint: lint(2)}},
		"not measured": {measured(4, 4, .1), {Tests: numberedTests(0, 4, 4)}},
	} {
		var all []detector.Observation
		for i := range 10 {
			all = append(all, detector.Observation{Iteration: i, Set: sets[i%2]})
		}
		all[0].Set.Variation = metric.Delta{metric.CoveragePct: 3}
		in := detector.Input{Current: all[9], History: all[:9], Previous: all[8], Baseline: all[0]}
		if c := detector.Assess(in, detector.DefaultOptions()).Cycle; c == nil || c.Period != 2 {
			t.Errorf("%s: cycle %+v, want the period 2", name, c)
		}
	}
}

// An idle loop is a stall, never a cycle: not on the same tree either.
func TestConstantSeriesIsNoCycle(t *testing.T) {
	constant := func(length uint8, tenths uint16, sameTree bool) bool {
		n := int(length%30) + 2
		series, trees := slices.Repeat([]float64{float64(tenths%1000) / 10}, n), slices.Repeat([]string{"t"}, n)
		if !sameTree {
			trees = nil
		}
		return path(series, trees).Cycle == nil
	}
	if err := quick.Check(constant, nil); err != nil {
		t.Error(err)
	}
}

func TestImprovingSeriesIsNoCycle(t *testing.T) {
	improving := func(steps []uint8) bool {
		series := []float64{1}
		for _, s := range steps[:min(len(steps), 30)] {
			series = append(series, series[len(series)-1]+.1+float64(s%20)/10)
		}
		return len(series) < 2 || path(series, nil).Cycle == nil
	}
	if err := quick.Check(improving, nil); err != nil {
		t.Error(err)
	}
}

func TestClassificationIsTotal(t *testing.T) {
	total := func(count, passed, count2, passed2 uint8, cov, cov2 uint16, lint1, lint2 uint8) bool {
		before, now := measured(int(count), int(passed), float64(cov%101)), measured(int(count2), int(passed2), float64(cov2%101))
		before.Lint, now.Lint = lint(int(lint1%20)), lint(int(lint2%20))
		a := detector.Assess(step(before, now), detector.DefaultOptions())
		return a.Class >= detector.Forward && a.Class <= detector.Stalled && a.Recommendation.Action != "" && a.Recommendation.Reason != ""
	}
	if err := quick.Check(total, nil); err != nil {
		t.Error(err)
	}
}

// A rejected iteration says nothing about the way of the loop.
func TestAnIterationThatIsUndoneIsNoCycle(t *testing.T) {
	var all []detector.Observation
	for i := range 12 {
		all = append(all, detector.Observation{Iteration: i, Set: measured(4, 4-i%2, 80)})
	}
	in := detector.Input{Current: all[11], History: all[:11], Previous: all[10], Baseline: all[0]}
	a := detector.Assess(in, detector.DefaultOptions())
	if a.Cycle != nil || a.Recommendation.Action != detector.Rollback {
		t.Errorf("cycle %+v, recommendation %+v", a.Cycle, a.Recommendation)
	}
}

func TestStuck(t *testing.T) {
	in := step(measured(3, 3, 80), measured(3, 3, 80))
	errs := []string{
		"2026-02-02T10:00:01Z agent: open /tmp/run-8123/out.go:17: permission denied (0xc0000140a0)",
		"2026-02-02T10:09:44Z agent: open /tmp/run-99/out.go:3: permission denied (0xc00007e190)",
		"2026-02-02T11:30:00Z agent: open /var/tmp/run-1/out.go:1204: permission denied (0xc0000dead0)",
	}
	for n := 1; n <= 3; n++ {
		in.Errors = errs[:n]
		a := detector.Assess(in, detector.DefaultOptions())
		if (a.Stuck != nil) != (n == 3) {
			t.Fatalf("%d errors: stuck %+v", n, a.Stuck)
		}
		if n == 3 {
			want(t, a, "MEDIUM stuck_loop_detected")
			if a.Recommendation.Action != detector.Escalate {
				t.Errorf("recommendation %+v", a.Recommendation)
			}
		}
	}
	if in.KnownErrors = errs[:1]; detector.Assess(in, detector.DefaultOptions()).Stuck != nil {
		t.Error("stuck by an error that the baseline had")
	}
	in.KnownErrors = nil
	in.Errors = []string{errs[0], "another error", errs[2]}
	if a := detector.Assess(in, detector.DefaultOptions()); a.Stuck != nil {
		t.Errorf("stuck %+v although the errors differ", a.Stuck)
	}
}

func TestAgentThatFailsWithoutAChangeIsStuck(t *testing.T) {
	for _, changed := range []bool{false, true} {
		var all []detector.Observation
		for i := range 4 {
			all = append(all, detector.Observation{Iteration: i, Set: measured(3, 3, 80), AgentExit: 1, Changed: i == 2 && changed})
		}
		in := detector.Input{Current: all[3], History: all[:3], Previous: all[2], Baseline: all[0]}
		if a := detector.Assess(in, detector.DefaultOptions()); (a.Stuck != nil) == changed {
			t.Errorf("changed %v: stuck %+v", changed, a.Stuck)
		}
	}
}

func TestRegressionFarBelowTheBestIsUndone(t *testing.T) {
	for score, action := range map[float64]detector.RecommendedAction{.69: detector.Rollback, .70: detector.Continue} {
		in := step(metric.Set{Lint: lint(1)}, metric.Set{Lint: lint(2)})
		in.Best = &detector.Observation{Iteration: 1, Score: .8, Scored: true}
		in.Current.Score, in.Current.Scored = score, true
		if r := detector.Assess(in, detector.DefaultOptions()).Recommendation; r.Action != action {
			t.Errorf("score %v: %+v, want %s", score, r, action)
		}
	}
}

// BenchmarkAssess compares 10 000 tests with 10 000.
func BenchmarkAssess(b *testing.B) {
	before, now := measured(10_000, 9_900, 80), metric.Set{Tests: numberedTests(50, 10_050, 9_900), Coverage: percent(80)}
	in := step(before, now)
	var slowest time.Duration
	for b.Loop() {
		start := time.Now()
		detector.Assess(in, detector.DefaultOptions())
		slowest = max(slowest, time.Since(start))
	}
	b.ReportMetric(float64(slowest.Microseconds()), "µs-max")
}

func TestCoverageWithinTheVariationIsNoProgress(t *testing.T) {
	in := step(measured(10, 9, 80), measured(10, 9, 80.5))
	for variation, class := range map[float64]detector.Class{0: detector.Forward, .6: detector.Plateau} {
		in.Baseline.Set.Variation = metric.Delta{metric.CoveragePct: variation}
		if got := detector.Assess(in, detector.DefaultOptions()).Class; got != class {
			t.Errorf("variation %v: class %v, want %v", variation, got, class)
		}
	}
}

func TestConfidenceIsLessWhereSomethingIsMissing(t *testing.T) {
	in := step(measured(3, 3, 80), measured(3, 2, 80))
	full := detector.Assess(in, detector.DefaultOptions()).Recommendation.Confidence
	in.Current.Set.Gaps = []metric.Gap{{Section: metric.SectionLint, State: metric.Absent}}
	if part := detector.Assess(in, detector.DefaultOptions()).Recommendation.Confidence; part >= full {
		t.Errorf("confidence %v with a gap, %v without", part, full)
	}
}

func TestRuleTableReadsWell(t *testing.T) {
	for _, r := range detector.Rules() {
		if r.Name == "" || r.Type == "" || r.Condition == "" || r.Action == "" || r.Severity == 0 || strings.ToLower(r.Name) != r.Name {
			t.Errorf("incomplete row %+v", r)
		}
	}
}
