package selector_test

import (
	"errors"
	"math"
	"slices"
	"strings"
	"testing"
	"testing/quick"

	"github.com/google/go-cmp/cmp"

	"supervise/metric"
	"supervise/selector"
)

// scored makes one verified candidate per score, in points, numbered from 1.
func scored(points ...float64) []selector.Candidate {
	var out []selector.Candidate
	for i, p := range points {
		out = append(out, selector.Candidate{Iteration: i + 1, Score: p / 100, Scored: true, Verified: true})
	}
	return out
}

func unverified(cands []selector.Candidate, iterations ...int) []selector.Candidate {
	for _, n := range iterations {
		cands[n-1].Verified = false
	}
	return cands
}

// conformance are the cases of the specification. Iteration, BelowThreshold and
// FellBack of the choice are compared.
func conformance() []conformanceCase {
	return []conformanceCase{
		{"60,85,83,80", scored(60, 85, 83, 80), selector.DefaultOptions(), selector.Selection{Iteration: 2}},
		{"65,82,88,85,81", scored(65, 82, 88, 85, 81), selector.DefaultOptions(), selector.Selection{Iteration: 3}},
		{"72,85,83", scored(72, 85, 83), selector.DefaultOptions(), selector.Selection{Iteration: 2}},
		{"85,85,80", scored(85, 85, 80), selector.DefaultOptions(), selector.Selection{Iteration: 1}},
		{"40,55,50", scored(40, 55, 50), selector.DefaultOptions(), selector.Selection{Iteration: 2, BelowThreshold: true}},
		{"75,95(failed),80", unverified(scored(75, 95, 80), 2), selector.DefaultOptions(), selector.Selection{Iteration: 3}},
		{"72,85,83 all failed", unverified(scored(72, 85, 83), 1, 2, 3), selector.DefaultOptions(), selector.Selection{Iteration: 2, NoneVerified: true}},
		{"most recent above 82", scored(60, 85, 83, 80), selector.Options{Mode: selector.MostRecentAboveThreshold, Threshold: .82}, selector.Selection{Iteration: 3}},
		{"most recent, none above", scored(60, 85, 83, 80), selector.Options{Mode: selector.MostRecentAboveThreshold, Threshold: .9}, selector.Selection{Iteration: 2, BelowThreshold: true}},
		{"highest quality, unverified", unverified(scored(75, 95, 80), 2), selector.Options{Mode: selector.HighestQuality, Threshold: .7}, selector.Selection{Iteration: 2}},
	}
}

type conformanceCase struct {
	name  string
	cands []selector.Candidate
	opts  selector.Options
	want  selector.Selection
}

func TestSelectionConformance(t *testing.T) {
	for _, tt := range conformance() {
		t.Run(tt.name, func(t *testing.T) {
			got, err := selector.Best(tt.cands, tt.opts)
			if err != nil {
				t.Fatal(err)
			}
			got = selector.Selection{Iteration: got.Iteration, BelowThreshold: got.BelowThreshold, NoneVerified: got.NoneVerified}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestEveryModeHasAConformanceCase asks for a case of each mode of selection.
func TestEveryModeHasAConformanceCase(t *testing.T) {
	for _, mode := range selector.ModeNames() {
		if !slices.ContainsFunc(conformance(), func(c conformanceCase) bool { return string(c.opts.Mode) == mode }) {
			t.Errorf("selection mode %s has no conformance case: add one to conformance in selector/best_test.go", mode)
		}
	}
}

func TestNoIterationsIsAnError(t *testing.T) {
	if _, err := selector.Best(nil, selector.DefaultOptions()); !errors.Is(err, selector.ErrNoCandidates) {
		t.Errorf("error %v", err)
	}
}

func TestReasons(t *testing.T) {
	for _, tt := range []struct {
		cands []selector.Candidate
		opts  selector.Options
		want  string
	}{
		{scored(60, 85, 83), selector.DefaultOptions(), "Highest verified quality: 85%"},
		{unverified(scored(72, 85), 1, 2), selector.DefaultOptions(), "Highest quality (no verified iterations): 85%"},
		{scored(60, 85), selector.Options{Mode: selector.HighestQuality}, "Highest quality: 85%"},
		{scored(40, 55), selector.DefaultOptions(), "Highest verified quality: 55% (below the threshold of 70%)"},
		{scored(85, 83), selector.Options{Mode: selector.MostRecentAboveThreshold, Threshold: .82}, "Most recent iteration of at least 82%: 83%"},
		{scored(85, 83), selector.Options{Override: &selector.Override{Kind: selector.UseFinal, Reason: "it reads better"}}, "Chosen manually: it reads better"},
	} {
		got, err := selector.Best(tt.cands, tt.opts)
		if err != nil || got.Reason != tt.want {
			t.Errorf("reason %q, %v, want %q", got.Reason, err, tt.want)
		}
	}
}

func TestEligibility(t *testing.T) {
	baseline := selector.Candidate{Score: .99, Scored: true, Verified: true, Baseline: true}
	with := func(change func([]selector.Candidate)) []selector.Candidate {
		c := append([]selector.Candidate{baseline}, scored(90, 80, 70)...)
		change(c)
		return c
	}
	for _, tt := range []struct {
		name  string
		cands []selector.Candidate
		want  int
	}{
		{"the baseline is better, and yet not chosen", with(func([]selector.Candidate) {}), 1},
		{"an unresolved CRITICAL alert", with(func(c []selector.Candidate) { c[1].Critical = true }), 2},
		{"rejected", with(func(c []selector.Candidate) { c[1].Rejected = true }), 2},
		{"partial while a complete one exists", with(func(c []selector.Candidate) { c[1].Partial, c[2].Partial = true, true }), 3},
		{"a complete one beats a verified partial one", with(func(c []selector.Candidate) { c[1].Partial, c[2].Verified, c[3].Verified = true, false, false }), 2},
		{"all partial", with(func(c []selector.Candidate) { c[1].Partial, c[2].Partial, c[3].Partial = true, true, true }), 1},
		{"not scored", with(func(c []selector.Candidate) { c[1].Scored = false }), 2},
		{"none scored", with(func(c []selector.Candidate) { c[1].Scored, c[2].Scored, c[3].Scored = false, false, false }), 3},
		{"none eligible", with(func(c []selector.Candidate) { c[1].Critical, c[2].Rejected, c[3].Rejected = true, true, true }), 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, err := selector.Best(tt.cands, selector.DefaultOptions())
			if err != nil || got.Iteration != tt.want || got.BaselineChosen != (tt.want == 0) {
				t.Errorf("chose %d (baseline %v), %v, want %d", got.Iteration, got.BaselineChosen, err, tt.want)
			}
		})
	}
	tested := numbers{passed: 1, total: 1}.set()
	untested := with(func(c []selector.Candidate) { c[0].Set, c[1].Set, c[2].Set = &tested, &metric.Set{}, &tested })
	if got, err := selector.Best(untested[:3], selector.DefaultOptions()); err != nil || got.Iteration != 2 {
		t.Errorf("chose %d, %v, want 2: the tests of 1 could not be read", got.Iteration, err)
	}
	if got, err := selector.Best(untested[:2], selector.DefaultOptions()); err != nil || !got.BaselineChosen {
		t.Errorf("chose %d, %v, want the baseline: the tests of 1 could not be read", got.Iteration, err)
	}
	rejected := scored(80)
	rejected[0].Rejected = true
	if _, err := selector.Best(rejected, selector.DefaultOptions()); !errors.Is(err, selector.ErrNoEligible) {
		t.Errorf("error %v, want none eligible", err)
	}
}

// grown is a candidate with passing and failing tests, errors and coverage.
func grown(iteration int, score float64, passed, failed, errs int, coverage float64) selector.Candidate {
	s := numbers{passed: passed, total: passed + failed, errors: errs, coverage: coverage}.set()
	return selector.Candidate{Iteration: iteration, Score: score, Scored: true, Verified: failed == 0, Set: &s}
}

func TestProgressSupersedesAHigherScore(t *testing.T) {
	without := func(c selector.Candidate, change func(*metric.Set)) selector.Candidate {
		change(c.Set)
		return c
	}
	first := func() selector.Candidate { return grown(1, .90, 10, 0, 1, 80) }
	for _, tt := range []struct {
		name  string
		later selector.Candidate
		want  int
	}{
		{"more tests pass, the score fell", grown(2, .85, 11, 0, 1, 79.5), 2},
		{"as many tests pass", grown(2, .85, 10, 0, 0, 95), 1},
		{"coverage fell by more than the slack", grown(2, .85, 11, 0, 1, 79.4), 1},
		{"more errors", grown(2, .85, 11, 0, 2, 80), 1},
		{"not verified while the first is", grown(2, .85, 12, 1, 1, 80), 1},
		{"coverage is not measured any more", without(grown(2, .85, 11, 0, 1, 80), func(s *metric.Set) { s.Coverage = nil }), 1},
		{"coverage in another unit", without(grown(2, .85, 11, 0, 1, 80), func(s *metric.Set) { s.Coverage.Unit = metric.Statements }), 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, err := selector.Best([]selector.Candidate{first(), tt.later}, selector.DefaultOptions())
			if err != nil || got.Iteration != tt.want {
				t.Errorf("chose %d, %v, want %d", got.Iteration, err, tt.want)
			}
			if superseded := slices.Equal(got.Superseded, []int{1}); superseded != (tt.want == 2) {
				t.Errorf("superseded %v", got.Superseded)
			}
			if got.Iteration == 2 && got.Degradation != nil {
				t.Errorf("progress is a degradation: %+v", got.Degradation)
			}
			plain, _ := selector.Best([]selector.Candidate{first(), tt.later}, selector.Options{Mode: selector.HighestQuality})
			if plain.Iteration != 1 {
				t.Errorf("highest quality chose %d", plain.Iteration)
			}
		})
	}
}

// Added tests that notice nothing are no progress, and of equal progress that with guarding tests counts
// before the score.
func TestGuardedIterations(t *testing.T) {
	with := func(c selector.Candidate, guarded bool, empty int) selector.Candidate {
		c.Guarded, c.EmptyTests = guarded, empty
		return c
	}
	for _, tt := range []struct {
		name  string
		later selector.Candidate
		want  int
	}{
		{"empty tests", with(grown(2, .85, 12, 0, 1, 80), false, 2), 1},
		{"one more test that is not empty", with(grown(2, .85, 13, 0, 1, 80), false, 2), 2},
		{"guarded, with a lower score", with(grown(2, .85, 10, 0, 1, 80), true, 0), 2},
		{"guarded, with less coverage", with(grown(2, .85, 10, 0, 1, 79), true, 0), 1},
	} {
		got, err := selector.Best([]selector.Candidate{grown(1, .90, 10, 0, 1, 80), tt.later}, selector.DefaultOptions())
		if err != nil || got.Iteration != tt.want {
			t.Errorf("%s: chose %d, %v, want %d", tt.name, got.Iteration, err, tt.want)
		}
	}
}

func TestMoreFailuresSupersedeNothing(t *testing.T) {
	cands := []selector.Candidate{grown(1, .70, 5, 3, 0, 80), grown(2, .65, 6, 4, 0, 80), grown(3, .66, 6, 3, 0, 80)}
	if got, err := selector.Best(cands[:2], selector.DefaultOptions()); err != nil || got.Iteration != 1 {
		t.Errorf("%+v, %v: want 1, since 2 has more failing tests", got, err)
	}
	got, err := selector.Best(cands, selector.DefaultOptions())
	if err != nil || got.Iteration != 3 || !got.NoneVerified || !slices.Equal(got.Superseded, []int{1}) {
		t.Errorf("%+v, %v: want 3, which has more passing tests and no more failing ones than 1", got, err)
	}
}

func TestOverrides(t *testing.T) {
	cands := scored(60, 85, 83)
	cands[2].Rejected = true
	for _, tt := range []struct {
		o    selector.Override
		want int
		err  error
	}{
		{selector.Override{Kind: selector.UseBest, Reason: "r"}, 2, nil},
		{selector.Override{Kind: selector.UseFinal, Reason: "r"}, 3, nil},
		{selector.Override{Kind: selector.UseSpecific, Iteration: 1, Reason: "r"}, 1, nil},
		{selector.Override{Kind: selector.UseSpecific, Iteration: 9, Reason: "r"}, 0, selector.ErrNoIteration},
		{selector.Override{Kind: selector.UseSpecific, Iteration: 1, Reason: " "}, 0, selector.ErrNoReason},
		{selector.Override{Kind: "use_luck", Reason: "r"}, 0, selector.ErrOverride},
	} {
		o := selector.DefaultOptions()
		o.Override = &tt.o
		got, err := selector.Best(cands, o)
		if !errors.Is(err, tt.err) || got.Iteration != tt.want {
			t.Errorf("%+v: chose %d, %v, want %d, %v", tt.o, got.Iteration, err, tt.want, tt.err)
		}
	}
	if _, err := selector.Best(cands, selector.Options{Mode: "luck"}); !errors.Is(err, selector.ErrMode) {
		t.Errorf("error %v", err)
	}
}

func TestNeverAnIneligibleIterationWhileAnEligibleOneExists(t *testing.T) {
	property := func(scores []uint8, flags []uint8, mode uint8) bool {
		cands := []selector.Candidate{{Baseline: true, Scored: true, Score: 1, Verified: true}}
		eligible := map[int]bool{}
		for i := range min(len(scores), len(flags)) {
			f := flags[i]
			c := selector.Candidate{
				Iteration: i + 1, Score: float64(scores[i]) / 255, Scored: f&1 == 0, Verified: f&2 != 0,
				Critical: f&4 != 0, Rejected: f&8 != 0, Partial: f&16 != 0,
			}
			eligible[c.Iteration] = !c.Critical && !c.Rejected
			cands = append(cands, c)
		}
		modes := selector.ModeNames()
		got, err := selector.Best(cands, selector.Options{Mode: selector.Mode(modes[int(mode)%len(modes)]), Threshold: .7})
		found := false
		for _, ok := range eligible {
			found = found || ok
		}
		return err == nil && got.BaselineChosen == !found && (!found || eligible[got.Iteration])
	}
	if err := quick.Check(property, &quick.Config{MaxCount: 2000}); err != nil {
		t.Error(err)
	}
}

func TestVerified(t *testing.T) {
	yes, no := true, false
	green := numbers{passed: 3, total: 3}.set()
	broken := green
	broken.Build = &metric.Build{Status: metric.BuildFailure}
	crashed, tests := green, *green.Tests
	tests.Failure = "test ended with status 1 although no test failed"
	crashed.Tests = &tests
	for _, tt := range []struct {
		name      string
		set       metric.Set
		critical  bool
		criterion *bool
		want      bool
	}{
		{"green", green, false, nil, true},
		{"the criterion holds", green, false, &yes, true},
		{"the criterion does not hold", green, false, &no, false},
		{"a CRITICAL alert", green, true, nil, false},
		{"a test fails", numbers{passed: 2, total: 3}.set(), false, nil, false},
		{"no test passes", numbers{}.set(), false, nil, false},
		{"tests not measured", metric.Set{}, false, nil, false},
		{"the build is broken", broken, false, nil, false},
		{"the run failed as a whole", crashed, false, nil, false},
		{"the build is not known", metric.Set{Tests: green.Tests}, false, nil, true},
	} {
		if got := selector.IsVerified(tt.set, tt.critical, tt.criterion); got != tt.want {
			t.Errorf("%s: %v", tt.name, got)
		}
	}
}

func TestDegradation(t *testing.T) {
	got := selector.FindDegradation(scored(65, 82, 88, 85, 81), 3)
	if got == nil || got.Peak != 3 || got.Started != 4 || got.AfterPeak != 2 || math.Abs(got.Loss+7.95) > .005 {
		t.Fatalf("degradation %+v, want from 4 on, two iterations, -7.95 %%", got)
	}
	for _, tt := range []struct {
		name  string
		cands []selector.Candidate
		want  []selector.Trigger
	}{
		{"two falls", scored(65, 82, 88, 85, 81), []selector.Trigger{selector.TwoFalls}},
		{"a fall of .05", scored(85, 80), nil},
		{"a fall of more than .05", scored(85, 79.9), []selector.Trigger{selector.Drop}},
		{"a small fall", scored(72, 85, 83), nil},
		{"two falls with a rise between", scored(85, 83, 84, 82), nil},
		{"more failures", []selector.Candidate{grown(1, .8, 5, 0, 0, 80), grown(2, .79, 4, 1, 0, 80)}, []selector.Trigger{selector.MoreFailures}},
	} {
		d := selector.FindDegradation(tt.cands, 0)
		if d == nil {
			t.Fatalf("%s: not below the peak", tt.name)
		}
		if diff := cmp.Diff(tt.want, d.Triggers); diff != "" {
			t.Errorf("%s: %s", tt.name, diff)
		}
	}
	undone := scored(60, 70, 80, 10)
	undone[3].Rejected = true
	if d := selector.FindDegradation(undone, 3); d != nil {
		t.Errorf("degradation %+v although the bad iteration was rolled back", d)
	}
	undone[3].StillInPlace = true
	if d := selector.FindDegradation(undone, 3); d == nil || d.AfterPeak != 1 {
		t.Errorf("degradation %+v although nobody undid the bad iteration", d)
	}
	if d := selector.FindDegradation(scored(85, 85, 80), 1); d == nil || d.Started != 3 || d.AfterPeak != 2 {
		t.Errorf("degradation %+v, want from 3 on: 2 is as good as 1", d)
	}
}

func TestDiminishing(t *testing.T) {
	for _, tt := range []struct {
		name   string
		scores []float64
		want   *selector.DiminishingReturns
	}{
		{"seed", []float64{70, 75, 77, 78}, &selector.DiminishingReturns{Since: 3, At: 4}},
		{"gains of exactly 5", []float64{65, 70, 75, 80}, nil},
		{"no gain is a small gain", []float64{70, 70, 70}, &selector.DiminishingReturns{Since: 2, At: 3}},
		{"a fall between", []float64{70, 71, 69, 70}, nil},
		{"one small gain", []float64{70, 71, 79}, nil},
	} {
		got := selector.FindDiminishingReturns(scored(tt.scores...), selector.SmallGains, selector.SmallGain)
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("%s: %s", tt.name, diff)
		}
	}
}

func TestTrajectory(t *testing.T) {
	for _, tt := range []struct {
		scores []float64
		want   selector.Trend
	}{
		{nil, selector.Stable},
		{[]float64{70}, selector.Stable},
		{[]float64{70, 71, 70, 72}, selector.Stable},
		{[]float64{60, 70, 69, 80}, selector.Improving},
		{[]float64{80, 70, 71, 60}, selector.Declining},
		{[]float64{60, 85, 83, 70}, selector.Fluctuating},
		{[]float64{60, 80, 60}, selector.Fluctuating},
	} {
		if got := selector.TrendOf(scored(tt.scores...)); got != tt.want {
			t.Errorf("%v is %s, want %s", tt.scores, got, tt.want)
		}
	}
}

func TestSummary(t *testing.T) {
	cands := append([]selector.Candidate{{Baseline: true, Scored: true, Score: .1}}, scored(60, 80, 10)...)
	tokens, more, cost := int64(5000), int64(700), .05
	cands[1].Tokens, cands[3].Tokens, cands[2].CostUSD = &tokens, &more, &cost
	cands[3].Rejected = true
	got := selector.Summarize(cands)
	if got.Iterations != 3 || got.Rejected != 1 || math.Abs(*got.Average-.7) > 1e-9 || *got.Best != .8 || *got.Worst != .6 {
		t.Errorf("%+v", got)
	}
	if *got.Tokens != 5700 || *got.CostUSD != .05 || got.Duration != nil {
		t.Errorf("sums %v, %v, %v: what nobody told is not zero", *got.Tokens, *got.CostUSD, got.Duration)
	}
	if empty := selector.Summarize(nil); empty.Best != nil || empty.Tokens != nil || empty.Iterations != 0 {
		t.Errorf("%+v", empty)
	}
}

func TestRationaleNamesTheNumbers(t *testing.T) {
	cands := []selector.Candidate{grown(1, .8, 9, 1, 3, 70), grown(2, .88, 10, 0, 0, 85), grown(3, .81, 9, 1, 0, 80)}
	cands[0].Critical = true
	got, err := selector.Best(cands, selector.DefaultOptions())
	if err != nil {
		t.Fatal(err)
	}
	text := strings.Join(got.Rationale, "\n")
	for _, part := range []string{"10 of 10 tests pass", "Coverage is 85%", "It is verified", "Final iteration 3 has 81%, -7.0 points", "worse than the baseline): 1", "fell from iteration 3 on"} {
		if !strings.Contains(text, part) {
			t.Errorf("the rationale lacks %q:\n%s", part, text)
		}
	}
}
