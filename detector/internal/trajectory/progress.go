package trajectory

import (
	"fmt"
	"math"

	"supervise/metric"
)

// scale says how changes of a metric are measured.
type scale struct {
	points bool    // in points, not in per cent of the earlier value
	grain  float64 // largest gain that is not an improvement
	share  float64 // the same in per cent of the earlier value
}

// progressScales are the metrics that show progress. Times, sums within coverage and the
// size of the last change do not. Complexity is a mean, which changes a little with every
// function.
var progressScales = map[metric.Field]scale{
	metric.TestCount: {}, metric.TestsPassed: {}, metric.TestsFailed: {}, metric.TestsSkipped: {},
	metric.PassRate: {points: true, grain: .005}, metric.CoveragePct: {points: true, grain: .05},
	metric.LintErrors: {}, metric.LintWarnings: {}, metric.TypeErrors: {}, metric.ErrorCount: {},
	metric.FileCount: {}, metric.LOCTotal: {}, metric.Complexity: {share: 2},
}

// RelativeChange returns a change in points or in per cent of the earlier value, 0 if the
// metric does not show progress.
func RelativeChange(f metric.Field, before, delta float64) float64 {
	u, shows := progressScales[f]
	switch {
	case !shows:
		return 0
	case u.points || delta == 0:
		return delta
	case before == 0:
		return math.Copysign(100, delta)
	default:
		return 100 * delta / math.Abs(before)
	}
}

// IsImprovement reports whether a change of a metric is for the better, and beyond its
// variation between runs.
func IsImprovement(f metric.Field, before, delta float64, variation metric.Delta) bool {
	u, shows := progressScales[f]
	gain := delta * float64(f.Better())
	if !shows || gain <= variation[f]+epsilon {
		return false
	}
	return gain > max(u.grain, u.share*math.Abs(before)/100)
}

// Stall is a run of iterations without progress.
type Stall struct {
	Iterations int     `json:"iterations"`
	Range      float64 `json:"range"` // of their scores, in [0,1]
}

// Message describes the stall.
func (s Stall) Message() string {
	return fmt.Sprintf("No meaningful progress for %d iterations", s.Iterations)
}

// Alternatives lists what can be done about a stall.
func (s Stall) Alternatives() []string {
	return []string{"consider a different approach", "request human intervention", "try an alternative strategy"}
}

// FindStall examines the window of the last points, of which the last is a plateau. They are
// a stall if all are plateaus, the range of their scores is small, and no metric was better
// in any of them than before the window.
func (p Path) FindStall() *Stall {
	start := len(p.Points) - p.StallWindow
	if start < 0 {
		return nil
	}
	window, before := p.Points[start:], p.Points[max(0, start-1)].Set
	low, high := math.Inf(1), math.Inf(-1)
	for i, o := range window {
		if i < len(window)-1 && !o.Plateau || p.hasImproved(before, o.Set) {
			return nil
		}
		if o.Scored {
			low, high = min(low, o.Score), max(high, o.Score)
		}
	}
	spread := max(0, high-low)
	if spread >= max(p.StallRange, p.Variation[metric.QualityScore])-epsilon {
		return nil
	}
	return &Stall{Iterations: len(window), Range: spread}
}

// hasImproved reports whether any metric is better than before the window, since small
// steps may add up.
func (p Path) hasImproved(before, now metric.Set) bool {
	for f, d := range now.Sub(before) {
		old, _ := before.Value(f)
		if IsImprovement(f, old, d, p.Variation) {
			return true
		}
	}
	return false
}
