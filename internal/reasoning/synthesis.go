package reasoning

import (
	"fmt"
	"math"
	"strconv"

	"supervise/detector"
	"supervise/internal/ledger"
	"supervise/metric"
)

// Synthesis is what followed from the reasoning.
type Synthesis struct {
	Class          detector.Class          `json:"classification"`
	Reasons        []string                `json:"reasons"` // the conditions of the class that hold
	Score          *float64                `json:"quality_score"`
	PreviousScore  *float64                `json:"previous_quality_score,omitempty"`
	Best           *ledger.BestIteration   `json:"best_so_far,omitempty"`
	Recommendation detector.Recommendation `json:"recommendation"`
	Rejected       bool                    `json:"rejected"`
	Verified       bool                    `json:"verified"`
	Kept           string                  `json:"kept_snapshot,omitempty"` // that has the tree
	AdviceOnly     bool                    `json:"advisory,omitempty"`      // another orchestrator runs the loop: nothing was restored
	Decision       *ledger.Decision        `json:"decision,omitempty"`
}

// newSynthesis returns the result of the reasoning.
func newSynthesis(in Input) Synthesis {
	it := in.Iteration
	s := Synthesis{
		Class: it.Assessment.Class, Reasons: classReasons(in), Score: it.Quality(), Best: it.Best,
		Recommendation: it.Assessment.Recommendation, Rejected: it.Rejected, Verified: it.Verified,
		Kept: snapshotName(string(it.Snapshot)), AdviceOnly: it.Recorded != nil, Decision: it.Decision,
	}
	if in.Previous != nil {
		s.PreviousScore = in.Previous.Quality()
	}
	return s
}

// classReasons returns the conditions that lead to the class, at least one.
func classReasons(in Input) []string {
	a, o := in.Iteration.Assessment, in.Rules.WithDefaults()
	switch a.Class {
	case detector.Baseline:
		return []string{"it was measured before any agent ran"}
	case detector.Regression:
		if list := regressionReasons(in, o); len(list) > 0 {
			return list
		}
	case detector.Stalled:
		if a.Stall != nil {
			return []string{a.Stall.Message()}
		}
	case detector.Plateau:
		if in.Iteration.Interrupted {
			return []string{"it was interrupted and could not be judged"}
		}
	case detector.Forward:
		if list, ok := progressReasons(in, o); ok {
			return list
		}
	}
	return []string{scoreReason(in, o)}
}

// regressionReasons returns the conditions of a regression that hold.
func regressionReasons(in Input, o detector.Options) []string {
	a := in.Iteration.Assessment
	out, excused := []string{}, acknowledgedRules(a.Alerts)
	for _, alert := range a.Alerts {
		if alert.CountsAtLeast(detector.High) {
			out = append(out, fmt.Sprintf("an alert of HIGH or more: %s %s", alert.Severity, alert.Rule))
		}
	}
	if !in.Rules.Strict && len(unexplainedLosses(a.Changes)) == 0 {
		excused["test_count_decreased"] = true
	}
	for _, l := range o.RegressionLimits(in.Baseline.Set.Variation) {
		d := a.FromPrevious[l.Field]
		if l.Field == metric.CoveragePct {
			d = coverageDelta(in, o)
		}
		if !excused[l.Rule] && l.IsExceededBy(d) {
			out = append(out, fmt.Sprintf("%s changed by %s, the limit is %s", l.Field, formatSigned(d), formatSigned(-l.Limit*float64(l.Field.Better()))))
		}
	}
	return out
}

// coverageDelta returns the change of the coverage that counts.
func coverageDelta(in Input, o detector.Options) float64 {
	if in.Previous == nil {
		return 0
	}
	it := in.Iteration
	d, _ := detector.CoverageDelta(detector.Input{
		Current: it.Observation(), CoverageLosses: it.CoverageLosses, PlainCoverage: it.Recorded != nil,
	}, in.Previous.Observation(), o)
	return d
}

// acknowledgedRules maps each rule with alerts to whether all of them are acknowledged.
func acknowledgedRules(alerts []detector.Alert) map[string]bool {
	out := map[string]bool{}
	for _, a := range alerts {
		before, seen := out[a.Rule]
		out[a.Rule] = a.Acknowledged != nil && (before || !seen)
	}
	return out
}

// progressReasons returns the conditions of a step forward, and whether all of them hold.
func progressReasons(in Input, o detector.Options) ([]string, bool) {
	d, variation := in.Iteration.Assessment.FromPrevious, in.Baseline.Set.Variation
	rate, ok := in.Iteration.Set.Value(metric.PassRate)
	if !ok || d[metric.PassRate] <= 0 && rate < 90 || coverageDelta(in, o) < -variation[metric.CoveragePct]-1e-9 || d[metric.ErrorCount] > variation[metric.ErrorCount] {
		return nil, false
	}
	out := []string{}
	for _, f := range []metric.Field{metric.TestCount, metric.PassRate, metric.CoveragePct, metric.ErrorCount} {
		now, measured := in.Iteration.Set.Value(f)
		if change, compared := d[f]; measured && compared {
			out = append(out, fmt.Sprintf("%s %s (%s)", f, formatNumber(now), formatSigned(change)))
		}
	}
	return out, true
}

// scoreReason describes how the score changed, for classes without another condition.
func scoreReason(in Input, o detector.Options) string {
	if in.Previous == nil || !in.Previous.Score.Measured || !in.Iteration.Score.Measured {
		return "no condition of another class is met"
	}
	old, current := in.Previous.Score.Value, in.Iteration.Score.Value
	return fmt.Sprintf("the quality score went from %.4f to %.4f (%+.4f; within %s it is a plateau)", old, current, current-old, formatNumber(max(o.ScoreRange, in.Baseline.Set.Variation[metric.QualityScore])))
}

// formatNumber writes a number with at most two decimals.
func formatNumber(v float64) string { return strconv.FormatFloat(math.Round(v*100)/100, 'f', -1, 64) }

// formatSigned is formatNumber with a sign for positive numbers too.
func formatSigned(v float64) string {
	if v == 0 {
		return "0" // and not -0
	}
	if v > 0 {
		return "+" + formatNumber(v)
	}
	return formatNumber(v)
}
