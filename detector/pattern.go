package detector

import (
	"fmt"
	"math"

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
	w := wave{wobble: tenths(j.in.CoverageWobble)}
	for _, o := range path {
		w.signatures = append(w.signatures, o.Set.Signature())
	}
	last := len(path) - 1
	if w.signatures[last] == (metric.Set{}).Signature() {
		return nil
	}
	for p := 2; p <= min(j.opts.CycleWindow, last); p++ {
		if !w.recurs(p) {
			continue
		}
		same := path[last].Tree != "" && path[last].Tree == path[last-p].Tree
		if same || w.repeats(p) {
			return &Cycle{Period: p, SameTree: same, Endless: same || j.in.Current.Iteration > j.opts.CycleMin}
		}
	}
	return nil
}

// wave is a series of signatures in which coverage may vary by itself.
type wave struct {
	signatures []metric.Signature
	wobble     int // by how many tenths of a point it does
}

// tenths returns points as tenths, rounded up: two numbers that are as far apart
// are so at most in a [metric.Signature].
func tenths(points float64) int { return int(math.Ceil(10*points - epsilon)) }

// recurs reports whether the last signature is that of p iterations ago, with a
// different one in between. Coverage that varies by no more than it does by
// itself, or by a tenth of a point, makes no difference.
func (w wave) recurs(p int) bool {
	last := len(w.signatures) - 1
	now := w.signatures[last]
	if !w.same(now, w.signatures[last-p]) {
		return false
	}
	low, high := now.Coverage, now.Coverage
	for _, between := range w.signatures[last-p : last] {
		if !sameButCoverage(now, between) {
			return true
		}
		low, high = min(low, between.Coverage), max(high, between.Coverage)
	}
	return high-low > max(w.wobble, 1)
}

// same reports whether two signatures differ by no more than what varies by itself.
func (w wave) same(a, b metric.Signature) bool {
	return a == b || sameButCoverage(a, b) && max(a.Coverage-b.Coverage, b.Coverage-a.Coverage) <= w.wobble
}

func sameButCoverage(a, b metric.Signature) bool {
	if (a.Coverage == metric.NotMeasured) != (b.Coverage == metric.NotMeasured) {
		return false
	}
	a.Coverage = b.Coverage
	return a == b
}

// repeats reports whether the last p signatures are those of the p before.
func (w wave) repeats(p int) bool {
	s := w.signatures
	if len(s) < 2*p {
		return false
	}
	s = s[len(s)-2*p:]
	for i := range p {
		if !w.same(s[i], s[i+p]) {
			return false
		}
	}
	return true
}

func (j *judge) findStuck() *Stuck {
	n := j.opts.StuckCount
	if errs := j.in.Errors; len(errs) >= n {
		mark := Fingerprint(errs[len(errs)-1])
		same := 0
		for i := len(errs) - 1; i >= 0 && mark != "" && Fingerprint(errs[i]) == mark; i-- {
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
