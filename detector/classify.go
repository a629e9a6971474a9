package detector

import (
	"math"
	"slices"

	"supervise/detector/internal/trajectory"
	"supervise/metric"
)

// classify returns the class of the iteration, by the first condition that is met, and
// the stall if there is one.
func (j *judge) classify(alerts []Alert) (Class, *Stall) {
	if j.in.Current.Iteration == 0 {
		return Baseline, nil
	}
	if j.hasRegressed(alerts) {
		return Regression, nil
	}
	class := Plateau
	if !j.isPlateau() {
		if class = Forward; !j.hasAdvanced() {
			class = j.classifyByScore()
		}
	}
	if class == Plateau {
		if stall := j.trajectoryPath().FindStall(); stall != nil {
			return Stalled, stall
		}
	}
	return class, nil
}

// RegressionLimit is the largest change for the worse of a metric that does not make an
// iteration a regression. It does not apply if all alerts of the rule are acknowledged.
type RegressionLimit struct {
	Rule  string
	Field metric.Field
	Limit float64
}

// RegressionLimits returns the limits in the order of the rules. variation is how much
// metrics differ between runs on one tree.
func (o Options) RegressionLimits(variation metric.Delta) []RegressionLimit {
	var out []RegressionLimit
	for _, r := range rules {
		if n := r.regression; n.limit != nil {
			limit := max(n.limit(o, o.apply(r, AgainstPrevious).threshold()), variation[n.field])
			out = append(out, RegressionLimit{r.Name, n.field, limit})
		}
	}
	return out
}

// IsExceededBy reports whether a change goes beyond the limit.
func (l RegressionLimit) IsExceededBy(delta float64) bool {
	return delta*float64(l.Field.Better()) < -l.Limit-epsilon
}

// hasRegressed reports whether anything got worse, except for what a person accepted.
func (j *judge) hasRegressed(alerts []Alert) bool {
	for _, l := range j.opts.RegressionLimits(j.in.Baseline.Set.Variation) {
		if !j.accepted[l.Rule] && l.IsExceededBy(j.adjustedDelta(l.Field)) {
			return true
		}
	}
	return slices.ContainsFunc(alerts, func(a Alert) bool { return a.CountsAtLeast(High) })
}

// adjustedDelta returns the change of a metric that counts towards a regression. Failing
// tests that are known to be flaky do not lower the pass rate. Unless the comparison is
// strict, tests that were merged or moved are not missing, and new code that no test executes does
// not lower the coverage.
func (j *judge) adjustedDelta(f metric.Field) float64 {
	d, t := j.previous.delta[f], j.previous.tests
	switch {
	case t == nil:
	case f == metric.PassRate && len(t.KnownFlaky) > 0:
		d += 100 * float64(len(t.KnownFlaky)) / float64(len(t.Now.Cases))
	case f == metric.TestCount && !j.opts.Strict && !t.Decreased():
		return 0
	case f == metric.TestCount && !j.opts.Strict:
		before, now := t.Counts()
		return float64(now.Count - before.Count)
	case f == metric.TestsPassed && !j.opts.Strict:
		before, now := t.Counts()
		return float64(now.Passed - before.Passed)
	}
	if f == metric.CoveragePct {
		return j.coverageDelta(j.previous)
	}
	return d
}

// isPlateau reports whether no metric moved by more than the range and none got better.
// If no metric can be compared, the score decides.
func (j *judge) isPlateau() bool {
	if j.hasRecovered() {
		return false
	}
	if len(j.previous.delta) == 0 {
		return j.classifyByScore() == Plateau
	}
	for f, d := range j.previous.delta {
		if f == metric.CoveragePct {
			d = j.adjustedDelta(f)
		}
		before, _ := j.previous.before.Value(f)
		moved := math.Abs(d) > j.variation(f)+epsilon && math.Abs(trajectory.RelativeChange(f, before, d)) > j.opts.PlateauRange+epsilon
		if moved || trajectory.IsImprovement(f, before, d, j.in.Baseline.Set.Variation) {
			return false
		}
	}
	return true
}

// progressFields are the metrics that show progress, each with the smallest gain that counts.
var progressFields = []struct {
	field metric.Field
	gain  float64
}{{metric.TestsPassed, 1}, {metric.PassRate, .005}, {metric.CoveragePct, .5}, {metric.ErrorCount, 1}}

// hasAdvanced reports whether one of the progress metrics got better and none got worse.
// Metrics that were not measured do not count.
func (j *judge) hasAdvanced() bool {
	better := j.hasRecovered()
	for _, p := range progressFields {
		d := j.adjustedDelta(p.field) * float64(p.field.Better())
		variation := j.variation(p.field)
		if d < -variation-epsilon {
			return false
		}
		better = better || d >= p.gain-epsilon && d > variation+epsilon
	}
	return better
}

// hasRecovered reports whether a suite that could not run runs now, and all others that ran do.
func (j *judge) hasRecovered() bool {
	t := j.previous.tests
	if t == nil || len(t.Now.Broken) >= len(t.Before.Broken) {
		return false
	}
	return !slices.ContainsFunc(t.Now.Broken, func(s metric.Suite) bool { return !t.Before.IsBroken(metric.ID{Suite: s.Name}) })
}

// classifyByScore returns the class that follows from the quality score alone.
func (j *judge) classifyByScore() Class {
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
