package detector

import (
	"math"
	"slices"

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
	if j.plateau() {
		if stall := j.findStall(); stall != nil {
			return Stalled, stall
		}
		return Plateau, nil
	}
	if j.advanced() {
		return Forward, nil
	}
	return j.byScore(), nil
}

// RegressionLimit is a number that makes an iteration a regression when it is
// worse than in the previous one by more than Limit. The limit does not apply
// where all alerts of the rule are acknowledged.
type RegressionLimit struct {
	Rule  string
	Field metric.Field
	Limit float64
}

// RegressionLimits returns the limits in the order of the rules. wobble is by how
// many points coverage varies on one tree.
func (o Options) RegressionLimits(wobble float64) []RegressionLimit {
	var out []RegressionLimit
	for _, r := range rules {
		if n := r.regression; n.limit != nil {
			limit := n.limit(o, o.row(r, AgainstPrevious).threshold(), wobble)
			out = append(out, RegressionLimit{r.Name, n.field, limit})
		}
	}
	return out
}

// Exceeded reports whether a change goes beyond the limit.
func (l RegressionLimit) Exceeded(delta float64) bool {
	return delta*float64(l.Field.Better()) < -l.Limit-epsilon
}

// regressed reports whether something got worse that no person had accepted.
func (j *judge) regressed(alerts []Alert) bool {
	for _, l := range j.opts.RegressionLimits(j.in.CoverageWobble) {
		if !j.accepted[l.Rule] && l.Exceeded(j.counted(l.Field)) {
			return true
		}
	}
	return slices.ContainsFunc(alerts, func(a Alert) bool { return a.Weighs(High) })
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
	}
	return d
}

// unit is how much a change in a number says.
type unit struct {
	points bool    // measured in points, not in per cent of what it was
	grain  float64 // a better number that is not better by more is no improvement
	share  float64 // the same in per cent of what it was
}

// levels are the numbers that show whether anything moved. Times, sums within
// coverage and the size of the last change do not. Complexity is a mean, which moves
// a little with every function.
var levels = map[metric.Field]unit{
	metric.TestCount: {}, metric.TestsPassed: {}, metric.TestsFailed: {}, metric.TestsSkipped: {},
	metric.PassRate: {points: true, grain: .005}, metric.CoveragePct: {points: true, grain: .05},
	metric.LintErrors: {}, metric.LintWarnings: {}, metric.TypeErrors: {}, metric.ErrorCount: {},
	metric.FileCount: {}, metric.LOCTotal: {}, metric.Complexity: {share: 2},
}

// plateau reports whether nothing moved by more than the range and nothing got
// better. Where no number can be compared, the score says whether it moved.
func (j *judge) plateau() bool {
	if len(j.previous.delta) == 0 {
		return j.byScore() == Plateau
	}
	for f, d := range j.previous.delta {
		u, ok := levels[f]
		if !ok {
			continue
		}
		before, _ := j.previous.before.Value(f)
		if math.Abs(change(u, before, d)) > j.opts.PlateauRange+epsilon || j.improved(f, before, d) {
			return false
		}
	}
	return true
}

// change returns a delta in points or in per cent.
func change(u unit, before, delta float64) float64 {
	switch {
	case u.points || delta == 0:
		return delta
	case before == 0:
		return math.Copysign(100, delta)
	default:
		return 100 * delta / math.Abs(before)
	}
}

func (j *judge) improved(f metric.Field, before, delta float64) bool {
	u := levels[f]
	gain := delta * float64(f.Better())
	if f == metric.CoveragePct && gain <= j.in.CoverageWobble+epsilon {
		return false
	}
	return gain > max(u.grain, u.share*math.Abs(before)/100)
}

// advanced reports whether the iteration, which is no regression and so has no
// fewer tests, is a step forward. A number that was
// not measured holds nothing back, except the pass rate, which has to speak.
func (j *judge) advanced() bool {
	d := j.previous.delta
	rate, ok := j.now.Value(metric.PassRate)
	return ok && (d[metric.PassRate] > 0 || rate >= 90) &&
		d[metric.CoveragePct] >= -j.in.CoverageWobble-epsilon && d[metric.ErrorCount] <= 0
}

// byScore lets the quality score decide.
func (j *judge) byScore() Class {
	if !j.in.Current.Scored || !j.in.Previous.Scored {
		return Plateau
	}
	switch d := j.in.Current.Score - j.in.Previous.Score; {
	case d > j.opts.ScoreRange+epsilon:
		return Forward
	case d < -j.opts.ScoreRange-epsilon:
		return Regression
	default:
		return Plateau
	}
}

// findStall examines the last iterations; the current one is a plateau. They are a
// stall when all are plateaus whose scores lie within the range.
func (j *judge) findStall() *Stall {
	recent := j.recent(j.opts.StallWindow)
	if len(recent) < j.opts.StallWindow {
		return nil
	}
	low, high := math.Inf(1), math.Inf(-1)
	for i, o := range recent {
		if i < len(recent)-1 && o.Class != Plateau && o.Class != Stalled {
			return nil
		}
		if o.Scored {
			low, high = min(low, o.Score), max(high, o.Score)
		}
	}
	spread := max(0, high-low)
	if spread >= j.opts.StallRange-epsilon || j.gained(recent[0].Set) {
		return nil
	}
	return &Stall{Iterations: len(recent), Range: spread}
}

// gained reports whether a number is better than in an earlier set: small steps
// that are none by themselves may add up.
func (j *judge) gained(earlier metric.Set) bool {
	for f, d := range j.now.Sub(earlier) {
		if _, ok := levels[f]; !ok {
			continue
		}
		if before, _ := earlier.Value(f); j.improved(f, before, d) {
			return true
		}
	}
	return false
}
