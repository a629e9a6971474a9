package trajectory

import (
	"fmt"
	"math"

	"supervise/metric"
)

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

// Moved returns a change in points or in per cent of what a number was, 0 if the
// number shows nothing.
func Moved(f metric.Field, before, delta float64) float64 {
	u, shows := levels[f]
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

// Improved reports whether a change of a number is for the better. variation is by how much
// numbers vary by themselves.
func Improved(f metric.Field, before, delta float64, variation metric.Delta) bool {
	u, shows := levels[f]
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

// Message says what was found.
func (s Stall) Message() string {
	return fmt.Sprintf("No meaningful progress for %d iterations", s.Iterations)
}

// Alternatives lists what can be done about a stall.
func (s Stall) Alternatives() []string {
	return []string{"consider a different approach", "request human intervention", "try an alternative strategy"}
}

// Stall examines the window of the last points; the last one is a plateau. They are a
// stall when all are plateaus, their scores lie within the range, and no number was
// better in any of them than before the window.
func (p Path) Stall() *Stall {
	start := len(p.Points) - p.StallWindow
	if start < 0 {
		return nil
	}
	window, before := p.Points[start:], p.Points[max(0, start-1)].Set
	low, high := math.Inf(1), math.Inf(-1)
	for i, o := range window {
		if i < len(window)-1 && !o.Plateau || p.gained(before, o.Set) {
			return nil
		}
		if o.Scored {
			low, high = min(low, o.Score), max(high, o.Score)
		}
	}
	spread := max(0, high-low)
	if spread >= max(p.StallRange, p.Wobble[metric.QualityScore])-epsilon {
		return nil
	}
	return &Stall{Iterations: len(window), Range: spread}
}

// gained reports whether any number is better than before: small steps that do not count by
// themselves may add up.
func (p Path) gained(before, now metric.Set) bool {
	for f, d := range now.Sub(before) {
		was, _ := before.Value(f)
		if Improved(f, was, d, p.Wobble) {
			return true
		}
	}
	return false
}
