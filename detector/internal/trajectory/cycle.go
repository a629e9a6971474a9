package trajectory

import (
	"fmt"

	"supervise/metric"
)

// Cycle is a confirmed repetition.
type Cycle struct {
	Period   int  `json:"period"`    // in accepted iterations, at least 2
	SameTree bool `json:"same_tree"` // the same tree was reached for the third time
	Endless  bool `json:"endless"`   // late enough in the loop to be an infinite loop
}

// Message describes the cycle.
func (c Cycle) Message() string {
	if c.SameTree {
		return fmt.Sprintf("The very same tree is back for the third time, after %d iterations", c.Period)
	}
	return fmt.Sprintf("Metrics repeat every %d iterations", c.Period)
}

// FindCycle returns the shortest period of at least two with which the metrics at the end of
// the path repeat.
func (p Path) FindCycle() *Cycle {
	w := series{variation: tenths(p.Variation[metric.CoveragePct]), errors: int(p.Variation[metric.ErrorCount])}
	for _, o := range p.Points[max(0, len(p.Points)-2*p.CycleWindow):] {
		w.signatures = append(w.signatures, o.Set.Signature())
	}
	last := len(w.signatures) - 1
	if w.signatures[last] == (metric.Set{}).Signature() {
		return nil
	}
	for n := 2; n <= min(p.CycleWindow, last); n++ {
		if w.recurs(n) && w.repeats(n) {
			return &Cycle{Period: n}
		}
	}
	return nil
}

// CountVisits returns how often a loop reached its current tree, and how many iterations
// ago it had that tree before. treeOf names the trees of n iterations, "" if unknown. ago is
// 0 if the tree did not change, or is new.
func CountVisits(n int, treeOf func(i int) string) (times, ago int) {
	current := treeOf(n - 1)
	if current == "" || n < 2 || treeOf(n-2) == current {
		return 1, 0
	}
	times = 1
	for i := n - 2; i >= 0; i-- {
		if treeOf(i) != current {
			continue
		}
		if ago == 0 {
			ago = n - 1 - i
		}
		if i == 0 || treeOf(i-1) != current {
			times++
		}
	}
	return times, ago
}
