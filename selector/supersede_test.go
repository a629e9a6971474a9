package selector_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"supervise/metric"
	"supervise/selector"
)

// madeProgress is the rule as it is documented: more passing tests, no more failing
// ones, no more errors, coverage not lower by more than half a point; numbers that
// only one of them has do not count.
func madeProgress(later, earlier metric.Set) bool {
	d := later.Sub(earlier)
	comparable := func(f metric.Field) bool {
		_, compared := d[f]
		_, a := later.Value(f)
		_, b := earlier.Value(f)
		return compared || !a && !b
	}
	return d[metric.TestsPassed] > 0 && d[metric.TestsFailed] <= 0 && comparable(metric.ErrorCount) && d[metric.ErrorCount] <= 0 &&
		comparable(metric.CoveragePct) && d[metric.CoveragePct] >= -.5-1e-9
}

func anySet(r *rand.Rand) metric.Set {
	cases := make([]metric.Test, 1+r.IntN(6))
	for i := range cases {
		cases[i] = metric.Test{ID: metric.ID{Name: fmt.Sprint(i)}, Status: []metric.Status{metric.Passed, metric.Passed, metric.Failed, metric.Skipped}[r.IntN(4)]}
	}
	s := metric.Set{Tests: metric.NewTests(cases)}
	if r.IntN(5) > 0 {
		s.Coverage = &metric.Coverage{Covered: int64(790 + r.IntN(15)), Total: 1000, Unit: []metric.Unit{metric.Lines, metric.Statements}[r.IntN(2)]}
	}
	if r.IntN(4) > 0 {
		s.Lint = &metric.Lint{Findings: slices.Repeat([]metric.Finding{{Level: metric.Error}}, r.IntN(3))}
	}
	return s
}

func TestSupersededAreThoseThatALaterOneMadeProgressOver(t *testing.T) {
	for seed := range uint64(400) {
		r := rand.New(rand.NewPCG(seed, 7))
		var cands []selector.Candidate
		for i := range 2 + r.IntN(20) {
			set := anySet(r)
			cands = append(cands, selector.Candidate{Iteration: i + 1, Score: r.Float64(), Scored: true, Verified: true, Set: &set})
		}
		var want []int
		for i, c := range cands {
			if slices.ContainsFunc(cands[i+1:], func(later selector.Candidate) bool { return madeProgress(*later.Set, *c.Set) }) {
				want = append(want, c.Iteration)
			}
		}
		choice, err := selector.Best(cands, selector.DefaultOptions())
		if err != nil || !slices.Equal(choice.Superseded, want) {
			t.Fatalf("seed %d: superseded %v, %v, want %v", seed, choice.Superseded, err, want)
		}
	}
}

// BenchmarkBest chooses among many iterations.
func BenchmarkBest(b *testing.B) {
	for _, n := range []int{100, 10_000} {
		var cands []selector.Candidate
		r := rand.New(rand.NewPCG(1, 1))
		for i := range n {
			set := anySet(r)
			cands = append(cands, selector.Candidate{Iteration: i + 1, Score: r.Float64(), Scored: true, Verified: true, Set: &set})
		}
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			for b.Loop() {
				if _, err := selector.Best(cands, selector.DefaultOptions()); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
