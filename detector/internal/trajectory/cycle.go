package trajectory

import (
	"fmt"

	"supervise/metric"
)

// Cycle is a confirmed repetition.
type Cycle struct {
	Period   int  `json:"period"`    // in accepted iterations, at least 2
	SameTree bool `json:"same_tree"` // the very same tree is there for the third time
	Endless  bool `json:"endless"`   // an infinite loop: it is late enough
}

// Message says what was found.
func (c Cycle) Message() string {
	if c.SameTree {
		return fmt.Sprintf("The very same tree is back for the third time, after %d iterations", c.Period)
	}
	return fmt.Sprintf("Metrics repeat every %d iterations", c.Period)
}

// Cycle looks for the shortest period of at least two with which the numbers at the end
// of the path repeat.
func (p Path) Cycle() *Cycle {
	w := series{variation: tenths(p.Wobble[metric.CoveragePct]), errors: int(p.Wobble[metric.ErrorCount])}
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

// Visits returns how often a loop came to the tree where it is now, and how many
// iterations ago it was there before. at names the trees of n iterations, "" for one
// that is not known. A loop that stayed where it was, or is somewhere for the first
// time, returned to nothing: ago is 0.
func Visits(n int, at func(i int) string) (times, ago int) {
	here := at(n - 1)
	if here == "" || n < 2 || at(n-2) == here {
		return 1, 0
	}
	times = 1
	for i := n - 2; i >= 0; i-- {
		if at(i) != here {
			continue
		}
		if ago == 0 {
			ago = n - 1 - i
		}
		if i == 0 || at(i-1) != here {
			times++
		}
	}
	return times, ago
}
