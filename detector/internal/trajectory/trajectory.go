// Package trajectory finds what the accepted iterations of a loop add up to: no progress,
// the same numbers or trees again and again, and one error again and again.
package trajectory

import (
	"fmt"

	"supervise/internal/fingerprint"
	"supervise/metric"
)

// Point is an accepted iteration.
type Point struct {
	Set     metric.Set
	Plateau bool    // it was classified as one; not read of the last point
	Score   float64 // in [0,1]; valid when Scored
	Scored  bool
	Idle    bool // the agent failed without changing anything
}

// Path are the latest accepted iterations, oldest first and the current one last, with
// the limits by which they are read.
type Path struct {
	Points []Point
	Wobble metric.Delta // by how much numbers vary on one tree

	StallWindow int     // plateaus in a row that make a stall
	StallRange  float64 // their scores lie within this
	CycleWindow int     // longest period, in iterations
	StuckCount  int     // equal errors in a row that make a stuck loop
}

// Need is how many points the longest look back takes.
func (p Path) Need() int { return max(2*p.CycleWindow, p.StallWindow+1, p.StuckCount) }

// Stuck is one error again and again.
type Stuck struct {
	Count       int    `json:"count"`
	Fingerprint string `json:"fingerprint,omitempty"` // "" when the agent failed without a change
	Error       string `json:"error,omitempty"`       // of the current iteration
}

// Message says what was found.
func (s Stuck) Message() string {
	if s.Fingerprint == "" {
		return fmt.Sprintf("the agent failed %d times in a row without changing anything", s.Count)
	}
	return fmt.Sprintf("the same error %d times in a row: %s", s.Count, s.Error)
}

// Stuck looks for the last of the errors in a row, oldest first, again and again. Those
// that the baseline had already are not the agent's.
func (p Path) Stuck(errs, baseline []string) *Stuck {
	if n := len(errs); n >= p.StuckCount {
		mark, same := fingerprint.Of(errs[n-1]), 0
		for same < n && mark != "" && fingerprint.Of(errs[n-1-same]) == mark {
			same++
		}
		if same >= p.StuckCount && !has(baseline, mark) {
			return &Stuck{Count: same, Fingerprint: mark, Error: errs[n-1]}
		}
	}
	idle := 0
	for idle < len(p.Points) && p.Points[len(p.Points)-1-idle].Idle {
		idle++
	}
	if idle >= p.StuckCount {
		return &Stuck{Count: idle}
	}
	return nil
}

func has(errs []string, mark string) bool {
	for _, e := range errs {
		if fingerprint.Of(e) == mark {
			return true
		}
	}
	return false
}

// epsilon keeps sums of decimal fractions from deciding.
const epsilon = 1e-9
