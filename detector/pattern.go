package detector

import (
	"fmt"

	"supervise/detector/internal/period"
	"supervise/internal/fingerprint"
	"supervise/metric"
)

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

// Cycle is a confirmed repetition of the metrics.
type Cycle struct {
	Period   int  `json:"period"`    // in accepted iterations, at least 2
	SameTree bool `json:"same_tree"` // the very same tree came back
	Endless  bool `json:"endless"`   // an infinite loop: late enough, or the same tree
}

// Message says what was found.
func (c Cycle) Message() string {
	return fmt.Sprintf("Metrics repeat every %d iterations", c.Period)
}

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

// recent returns the last n of the accepted iterations and the current one.
func (j *judge) recent(n int) []Observation {
	h := j.in.History
	h = h[max(0, len(h)-n+1):]
	return append(h[:len(h):len(h)], j.in.Current)
}

// findCycle looks for the shortest confirmed period of the signatures that end
// with the current iteration: the last p repeat the p before them, or the tree
// of p iterations ago is back. A period of 1 is a stall.
func (j *judge) findCycle() *Cycle {
	path := j.recent(2 * j.opts.CycleWindow)
	w := period.Series{Wobble: period.Tenths(j.in.CoverageWobble)}
	for _, o := range path {
		w.Signatures = append(w.Signatures, o.Set.Signature())
	}
	last := len(path) - 1
	if w.Signatures[last] == (metric.Set{}).Signature() {
		return nil
	}
	for p := 2; p <= min(j.opts.CycleWindow, last); p++ {
		if !w.Recurs(p) {
			continue
		}
		same := path[last].Tree != "" && path[last].Tree == path[last-p].Tree
		if same || w.Repeats(p) {
			return &Cycle{Period: p, SameTree: same, Endless: same || j.in.Current.Iteration > j.opts.CycleMin}
		}
	}
	return nil
}

func (j *judge) findStuck() *Stuck {
	n := j.opts.StuckCount
	if errs := j.in.Errors; len(errs) >= n {
		mark := fingerprint.Of(errs[len(errs)-1])
		same := 0
		for i := len(errs) - 1; i >= 0 && mark != "" && fingerprint.Of(errs[i]) == mark; i-- {
			same++
		}
		if same >= n {
			return &Stuck{Count: same, Fingerprint: mark, Error: errs[len(errs)-1]}
		}
	}
	failed := 0
	path := j.recent(n)
	for i := len(path) - 1; i >= 0 && path[i].AgentExit != 0 && !path[i].Changed && path[i].Iteration > 0; i-- {
		failed++
	}
	if failed >= n {
		return &Stuck{Count: failed}
	}
	return nil
}
