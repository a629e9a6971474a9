package selector

import (
	"slices"
	"time"
)

// Degradation is a loss of quality after the peak.
type Degradation struct {
	Peak      int       `json:"peak_iteration"`
	Started   int       `json:"degradation_started"` // the first iteration below the peak
	AfterPeak int       `json:"iterations_after_peak"`
	Pattern   string    `json:"pattern"`
	Loss      float64   `json:"quality_loss"` // of the final iteration, in per cent of the peak; negative
	Triggers  []Trigger `json:"triggers,omitempty"`
}

// Trigger is what makes a loss of quality a degradation.
type Trigger string

// The triggers.
const (
	Drop         Trigger = "drop"          // the score fell by more than .05 at once
	TwoFalls     Trigger = "two_falls"     // it fell twice in a row
	MoreFailures Trigger = "more_failures" // more tests fail than before
)

// maxDrop is the greatest fall of the score at once that is no degradation.
const maxDrop = .05

// OverRefinement is the pattern of work that gets worse because it continues.
const OverRefinement = "over_refinement"

// FindDegradation describes how far quality fell from the peak to the last iteration, among those
// that were not rolled back. peak is the number of the chosen iteration; if that was rolled back,
// the one with the highest score is the peak. The result is nil if the last iteration is as good.
func FindDegradation(cands []Candidate, peak int) *Degradation {
	s := scoredIterations(cands)
	if len(s) < 2 {
		return nil
	}
	peakIndex := slices.IndexFunc(s, func(c Candidate) bool { return c.Iteration == peak })
	if peakIndex < 0 {
		peakIndex = slices.IndexFunc(s, func(c Candidate) bool { return c.Iteration == highest(s).Iteration })
	}
	top, last := s[peakIndex].Score, s[len(s)-1].Score
	if last >= top-epsilon {
		return nil
	}
	after := s[peakIndex+1:]
	fell := slices.IndexFunc(after, func(c Candidate) bool { return c.Score < top-epsilon })
	return &Degradation{
		Peak: s[peakIndex].Iteration, Started: after[fell].Iteration, AfterPeak: len(after), Pattern: OverRefinement,
		Loss: 100 * (last - top) / top, Triggers: findTriggers(s[peakIndex:]),
	}
}

// scoredIterations returns the iterations that have a score and were not rolled back.
func scoredIterations(cands []Candidate) []Candidate {
	return slices.DeleteFunc(slices.Clone(cands), func(c Candidate) bool { return !c.Scored || c.Baseline || c.Rejected && !c.StillInPlace })
}

// findTriggers returns the signs of degradation in a list of iterations, the first of which is the
// peak.
func findTriggers(s []Candidate) []Trigger {
	found := map[Trigger]bool{}
	falls := 0
	for i := 1; i < len(s); i++ {
		fall := s[i-1].Score - s[i].Score
		if fall > epsilon {
			falls++
		} else {
			falls = 0
		}
		found[Drop] = found[Drop] || fall > maxDrop+epsilon
		found[TwoFalls] = found[TwoFalls] || falls >= 2
		found[MoreFailures] = found[MoreFailures] || moreFailures(s[i-1], s[i])
	}
	var out []Trigger
	for _, t := range []Trigger{Drop, TwoFalls, MoreFailures} {
		if found[t] {
			out = append(out, t)
		}
	}
	return out
}

// moreFailures reports whether more tests fail than before; false if that is unknown.
func moreFailures(before, now Candidate) bool {
	if before.Set == nil || now.Set == nil || before.Set.Tests == nil || now.Set.Tests == nil {
		return false
	}
	return now.Set.Tests.Counts().Failed > before.Set.Tests.Counts().Failed
}

// DiminishingReturns are gains that become too small to continue for.
type DiminishingReturns struct {
	Since int `json:"since_iteration"` // the first of the small gains
	At    int `json:"at_iteration"`    // where there were enough of them
}

// The default limits of diminishing returns: this many gains in a row, each
// less than this much of the score.
const (
	SmallGains = 2
	SmallGain  = .05
)

// FindDiminishingReturns looks for the first time that count gains in a row were at least
// 0 and less than limit. It is nil when there were none.
func FindDiminishingReturns(cands []Candidate, count int, limit float64) *DiminishingReturns {
	s := scoredIterations(cands)
	small := 0
	for i := 1; i < len(s); i++ {
		gain := s[i].Score - s[i-1].Score
		if gain < -epsilon || gain >= limit-epsilon {
			small = 0
			continue
		}
		if small++; small >= count {
			return &DiminishingReturns{Since: s[i-small+1].Iteration, At: s[i].Iteration}
		}
	}
	return nil
}

// Trend is the way the scores go.
type Trend string

// The trends.
const (
	Improving   Trend = "improving"
	Stable      Trend = "stable"
	Declining   Trend = "declining"
	Fluctuating Trend = "fluctuating"
)

// maxSteadyChange is a change of the score that does not count.
const maxSteadyChange = .02

// TrendOf names the way of the scores: stable when all lie within .02,
// improving or declining when they go one way but for steps of .02, else
// fluctuating.
func TrendOf(cands []Candidate) Trend {
	s := scoredIterations(cands)
	if len(s) == 0 {
		return Stable
	}

	low, high := s[0].Score, s[0].Score
	fell, rose := 0.0, 0.0
	for i, c := range s {
		low, high = min(low, c.Score), max(high, c.Score)
		if i > 0 {
			rose, fell = max(rose, c.Score-s[i-1].Score), max(fell, s[i-1].Score-c.Score)
		}
	}

	net := s[len(s)-1].Score - s[0].Score
	switch {
	case high-low <= maxSteadyChange+epsilon:
		return Stable
	case net > 0 && fell <= maxSteadyChange+epsilon:
		return Improving
	case net < 0 && rose <= maxSteadyChange+epsilon:
		return Declining
	default:
		return Fluctuating
	}
}

// Summary sums a loop up. Scores are nil when nothing was scored, sums when no
// iteration reported its part.
type Summary struct {
	Iterations int            `json:"total_iterations"`
	Rejected   int            `json:"rejected_iterations"`
	Average    *float64       `json:"average_quality"`
	Best       *float64       `json:"best_quality"`
	Worst      *float64       `json:"worst_quality"`
	Tokens     *int64         `json:"total_tokens"`
	CostUSD    *float64       `json:"total_cost_usd"`
	Duration   *time.Duration `json:"-"`
	TimeMS     *int64         `json:"total_time_ms"` // Duration in milliseconds
	Trend      Trend          `json:"trajectory"`
}

// Summarize sums up all iterations, without the baseline. What was rolled back has
// its costs, but no part in the scores.
func Summarize(cands []Candidate) Summary {
	out := Summary{Trend: TrendOf(cands)}
	for _, c := range cands {
		if c.Baseline {
			continue
		}
		out.Iterations++
		if c.Rejected {
			out.Rejected++
		}
		out.Tokens, out.CostUSD, out.Duration = addOptional(out.Tokens, c.Tokens), addOptional(out.CostUSD, c.CostUSD), addOptional(out.Duration, c.Duration)
	}
	if out.Duration != nil {
		out.TimeMS = new(out.Duration.Milliseconds())
	}
	s := scoredIterations(cands)
	if len(s) == 0 {
		return out
	}
	low, high, sum := s[0].Score, s[0].Score, 0.0
	for _, c := range s {
		low, high, sum = min(low, c.Score), max(high, c.Score), sum+c.Score
	}
	out.Average, out.Best, out.Worst = new(sum/float64(len(s))), &high, &low
	return out
}

func addOptional[T int64 | float64 | time.Duration](sum, part *T) *T {
	if part == nil {
		return sum
	}
	total := *part
	if sum != nil {
		total += *sum
	}
	return &total
}
