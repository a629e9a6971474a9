package detector

import (
	"math"
	"slices"

	"supervise/detector/internal/trajectory"
	"supervise/metric"
)

// classify returns what the iteration was, by the first condition that holds,
// and the stall if it is one.
func (j *judge) classify(alerts []Alert) (Class, *Stall) {
	if j.in.Current.Iteration == 0 {
		return Baseline, nil
	}
	if j.regressed(alerts) {
		return Regression, nil
	}
	class := Plateau
	if !j.plateau() {
		if class = Forward; !j.advanced() {
			class = j.byScore()
		}
	}
	if class == Plateau {
		if stall := j.path().Stall(); stall != nil {
			return Stalled, stall
		}
	}
	return class, nil
}

// RegressionLimit is a number that makes an iteration a regression when it is
// worse than in the previous one by more than Limit. The limit does not apply
// where all alerts of the rule are acknowledged.
type RegressionLimit struct {
	Rule  string
	Field metric.Field
	Limit float64
}

// RegressionLimits returns the limits in the order of the rules. variation is by how much
// numbers vary on one tree.
func (o Options) RegressionLimits(variation metric.Delta) []RegressionLimit {
	var out []RegressionLimit
	for _, r := range rules {
		if n := r.regression; n.limit != nil {
			limit := max(n.limit(o, o.row(r, AgainstPrevious).threshold()), variation[n.field])
			out = append(out, RegressionLimit{r.Name, n.field, limit})
		}
	}
	return out
}

// IsExceededBy reports whether a change goes beyond the limit.
func (l RegressionLimit) IsExceededBy(delta float64) bool {
	return delta*float64(l.Field.Better()) < -l.Limit-epsilon
}

// regressed reports whether something got worse that no person had accepted.
func (j *judge) regressed(alerts []Alert) bool {
	for _, l := range j.opts.RegressionLimits(j.in.Baseline.Set.Variation) {
		if !j.accepted[l.Rule] && l.IsExceededBy(j.counted(l.Field)) {
			return true
		}
	}
	return slices.ContainsFunc(alerts, func(a Alert) bool { return a.CountsAtLeast(High) })
}

// counted returns the change of a number as it counts for a regression. Failing
// tests that are known to be flaky do not lower the pass rate and, unless the
// comparison is strict, tests that were merged or moved are not missing.
func (j *judge) counted(f metric.Field) float64 {
	d, t := j.previous.delta[f], j.previous.tests
	switch {
	case t == nil:
	case f == metric.PassRate && len(t.knownFlaky) > 0:
		d += 100 * float64(len(t.knownFlaky)) / float64(len(t.now.Cases))
	case f == metric.TestCount && !j.opts.Strict && !t.decreased():
		return 0
	case f == metric.TestCount && !j.opts.Strict:
		before, now := t.counts()
		return float64(now.Count - before.Count)
	case f == metric.TestsPassed && !j.opts.Strict:
		before, now := t.counts()
		return float64(now.Passed - before.Passed)
	}
	return d
}

// plateau reports whether nothing moved by more than the range and nothing got
// better. Where no number can be compared, the score says whether it moved.
func (j *judge) plateau() bool {
	if len(j.previous.delta) == 0 {
		return j.byScore() == Plateau
	}
	for f, d := range j.previous.delta {
		before, _ := j.previous.before.Value(f)
		moved := math.Abs(d) > j.variation(f)+epsilon && math.Abs(trajectory.Moved(f, before, d)) > j.opts.PlateauRange+epsilon
		if moved || trajectory.Improved(f, before, d, j.in.Baseline.Set.Variation) {
			return false
		}
	}
	return true
}

// primary are the numbers that show progress, each with the least change for the better
// that does.
var primary = []struct {
	field metric.Field
	gain  float64
}{{metric.TestsPassed, 1}, {metric.PassRate, .005}, {metric.CoveragePct, .5}, {metric.ErrorCount, 1}}

// advanced reports whether one of the primary numbers got better and none worse. What
// was not measured holds nothing back.
func (j *judge) advanced() bool {
	better := false
	for _, p := range primary {
		d := j.counted(p.field) * float64(p.field.Better())
		slack := j.variation(p.field)
		if d < -slack-epsilon {
			return false
		}
		better = better || d >= p.gain-epsilon && d > slack+epsilon
	}
	return better
}

// byScore lets the quality score decide.
func (j *judge) byScore() Class {
	if !j.in.Current.Scored || !j.in.Previous.Scored {
		return Plateau
	}
	limit := max(j.opts.ScoreRange, j.variation(metric.QualityScore)) + epsilon
	switch d := j.in.Current.Score - j.in.Previous.Score; {
	case d > limit:
		return Forward
	case d < -limit:
		return Regression
	default:
		return Plateau
	}
}
