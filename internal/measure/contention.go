package measure

import (
	"runtime"
	"slices"
	"time"
)

// recordContention notes on the tests of a measurement how much of their time other checks
// may have cost that ran in parallel. With few CPUs each of those may take one from the
// tests, so that n+1 checks get at least one part in n+1 of the machine.
func recordContention(runs []Run) {
	if runtime.GOMAXPROCS(0) >= enoughCPUs {
		return
	}
	for i, r := range runs {
		if r.Tests == nil || r.Duration <= 0 {
			continue
		}
		tests := *r.Tests
		tests.Contention = time.Duration(float64(tests.Duration) * contention(r, runs))
		runs[i].Tests = &tests
	}
}

// contention is the share of a run, in [0,1), that other checks may have cost.
func contention(r Run, runs []Run) float64 {
	var moments []time.Time // at which the number of others may change
	for _, o := range runs {
		for _, t := range []time.Time{o.Started, o.EndTime()} {
			if t.After(r.Started) && t.Before(r.EndTime()) {
				moments = append(moments, t)
			}
		}
	}
	slices.SortFunc(moments, time.Time.Compare)
	lost, last := 0.0, r.Started
	for _, t := range append(moments, r.EndTime()) {
		others := -1 // itself
		for _, o := range runs {
			if !o.Started.After(last) && o.EndTime().After(last) {
				others++
			}
		}
		lost += t.Sub(last).Seconds() * float64(others) / float64(others+1)
		last = t
	}
	return lost / r.Duration.Seconds()
}

// Clock adds up how long the commands of checks ran. Parallel commands count once.
type Clock struct{ spans []span }

type span struct{ from, to time.Time }

// Add adds a run.
func (c *Clock) Add(r Run) { c.spans = append(c.spans, span{r.Started, r.EndTime()}) }

// Elapsed is the total.
func (c *Clock) Elapsed() time.Duration {
	slices.SortFunc(c.spans, func(a, b span) int { return a.from.Compare(b.from) })
	var sum time.Duration
	var until time.Time
	for _, s := range c.spans {
		if s.from.After(until) {
			until = s.from
		}
		if more := s.to.Sub(until); more > 0 {
			sum, until = sum+more, s.to
		}
	}
	return sum
}
