package measure

import (
	"runtime"
	"slices"
	"time"
)

// recordContention notes on the tests of a measurement how much of their time parallel checks
// may have taken. With few CPUs, each parallel check may take one from the tests, so n+1
// checks get at least one part in n+1 of the machine.
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

// contention returns the share of a run, in [0,1), that parallel checks may have taken.
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

// Clock sums how long the commands of checks ran. Parallel commands count once.
type Clock struct{ intervals []interval }

type interval struct{ from, to time.Time }

// Add adds a run.
func (c *Clock) Add(r Run) { c.intervals = append(c.intervals, interval{r.Started, r.EndTime()}) }

// Elapsed returns the sum.
func (c *Clock) Elapsed() time.Duration {
	slices.SortFunc(c.intervals, func(a, b interval) int { return a.from.Compare(b.from) })
	var sum time.Duration
	var until time.Time
	for _, s := range c.intervals {
		if s.from.After(until) {
			until = s.from
		}
		if more := s.to.Sub(until); more > 0 {
			sum, until = sum+more, s.to
		}
	}
	return sum
}
