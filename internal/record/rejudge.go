package record

import (
	"errors"
	"slices"
	"strings"

	"supervise/internal/judge"
	"supervise/internal/ledger"
	"supervise/selector"
	"supervise/snapshot"
)

// Rejudge judges the iterations of a recorded loop again with other settings. It does for these
// loops what [judge.Rejudge] does for loops that supervise ran. Each iteration is compared with
// the earlier ones as recorded, not with their new verdicts.
func Rejudge(r judge.RecordedLoop, set judge.Settings) (out judge.Rejudgement, err error) {
	v := View{Settings: Settings{Settings: set}, Iterations: slices.Clone(r.Iterations), Dropped: map[snapshot.ID]bool{}}
	fresh := v
	fresh.Iterations = nil
	for _, it := range r.Iterations {
		if it.Number > 0 {
			if it, err = v.judge(clearVerdict(it, set.Weights)); err != nil {
				return out, err
			}
		}
		for _, name := range r.Dropped[it.Number] {
			v.Dropped[snapshot.ID(strings.TrimPrefix(name, "s"))] = true
		}
		out.Verdicts = append(out.Verdicts, judge.Verdict{Iteration: it})
		fresh = fresh.with(it)
	}

	choice, err := selector.Best(fresh.candidates(), set.Select)
	switch {
	case errors.Is(err, selector.ErrNoEligible):
		return out, nil
	case err == nil:
		out.Selection = &choice
	}
	return out, err
}

// clearVerdict returns the iteration without its verdict. The score is recomputed if the weights
// differ.
func clearVerdict(it ledger.Iteration, w selector.Weights) ledger.Iteration {
	it.Decision, it.Best, it.Regression, it.Rejected = nil, nil, nil, false
	reweighed := it.Score.Reweigh(w)
	if !slices.EqualFunc(reweighed.Dimensions, it.Score.Dimensions, func(a, b selector.Dimension) bool { return a.Weight == b.Weight }) {
		it.Score = reweighed
	}
	return it
}
