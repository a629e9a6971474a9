// Package trajectory finds patterns in the accepted iterations of a loop: stalls, which
// are iterations without progress; cycles of metrics or trees; and stuck loops, which
// repeat the same error.
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

// Path is the latest accepted iterations, oldest first and the current one last, with the
// limits for stalls, cycles and stuck loops.
type Path struct {
	Points    []Point
	Variation metric.Delta // how much metrics differ between runs on one tree

	StallWindow int     // plateaus in a row that make a stall
	StallRange  float64 // their scores lie within this
	CycleWindow int     // longest period, in iterations
	StuckCount  int     // equal errors in a row that make a stuck loop
}

// Lookback returns how many points the search needs.
func (p Path) Lookback() int { return max(2*p.CycleWindow, p.StallWindow+1, p.StuckCount) }

// Stuck is the same error in several iterations in a row.
type Stuck struct {
	Count       int    `json:"count"`
	Fingerprint string `json:"fingerprint,omitempty"` // "" when the agent failed without a change
	Error       string `json:"error,omitempty"`       // of the current iteration
}

// Message describes the stuck loop.
func (s Stuck) Message() string {
	if s.Fingerprint == "" {
		return fmt.Sprintf("the agent failed %d times in a row without changing anything", s.Count)
	}
	return fmt.Sprintf("the same error %d times in a row: %s", s.Count, s.Error)
}

// FindStuck counts how often the last of the errors, oldest first, occurred in a row. Errors
// of the baseline do not count, since the agent did not cause them.
func (p Path) FindStuck(errs, baseline []string) *Stuck {
	if n := len(errs); n >= p.StuckCount {
		mark, same := fingerprint.Of(errs[n-1]), 0
		for same < n && mark != "" && fingerprint.Of(errs[n-1-same]) == mark {
			same++
		}
		if same >= p.StuckCount && !containsError(baseline, mark) {
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

func containsError(errs []string, mark string) bool {
	for _, e := range errs {
		if fingerprint.Of(e) == mark {
			return true
		}
	}
	return false
}

// epsilon is the tolerance for rounding errors.
const epsilon = 1e-9
