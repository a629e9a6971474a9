package detector

import (
	"slices"
	"strings"

	"supervise/detector/internal/tally"
	"supervise/metric"
)

// Balance is a tree compared with the one that the user handed over: the baseline, or a later
// tree that a person approved. What was explained or accepted does not count.
type Balance struct {
	Passing int     `json:"tests_passed_delta"` // how many more tests pass
	Failing int     `json:"tests_failed_delta"` // how many more fail
	Settled int     `json:"settled,omitempty"`  // tests that need not be there or pass any more
	Costs   []Alert `json:"costs,omitempty"`    // measured findings against it that are HIGH or worse
	// Approved says that a person kept the iteration, whatever it lost.
	Approved bool `json:"approved,omitempty"`
	// Since is the iteration that it is compared with, 0 for the baseline.
	Since int `json:"since,omitempty"`
}

// costly are the measured rules whose findings are costs.
var costly = []string{"coverage_regression", "error_increase", "build_broken", "suite_did_not_run"}

// CompareWithBaseline compares the current tree of in with the baseline. It is nil if there is no
// baseline.
func CompareWithBaseline(in Input, o Options) *Balance {
	return newJudge(in, o.WithDefaults()).balance(nil)
}

// balance does so for a tree that lost some tests with an explanation.
func (j *judge) balance(losses []Loss) *Balance {
	from := j.handedOver()
	if from.Set.IsEmpty() && !from.Scored || j.in.Current.Iteration == 0 {
		return nil
	}
	b := &Balance{Since: from.Iteration}
	before, now := j.baseline.before.Tests, j.now.Tests
	if from.Approved {
		before = from.Set.Tests.Sorted()
	}
	switch {
	case before != nil && now != nil:
		sum := tally.Of(before, now, tally.Leave{Settled: j.settledSince(from.Iteration, losses), Flaky: j.flakyAlone(before)})
		b.Passing, b.Failing, b.Settled = sum.Passing, sum.Failing, sum.Settled
	case now != nil:
		b.Passing = now.Counts().Passed
	case before != nil:
		b.Passing = -before.Counts().Passed
	}
	c := comparison{against: AgainstBaseline, before: from.Set, now: j.now, delta: j.now.Sub(from.Set), includeReported: true}
	for _, name := range costly {
		r, _ := FindRule(name)
		if j.opts.Mode == ModeOff {
			break
		}
		for _, a := range j.apply(r, c) {
			for _, part := range j.acknowledge(a) {
				if part.Severity >= High {
					b.Costs = append(b.Costs, part)
				}
			}
		}
	}
	return b
}

// handedOver is the baseline, or the latest iteration that a person approved.
func (j *judge) handedOver() Observation {
	for i := len(j.in.History) - 1; i >= 0; i-- { // not by value: there may be thousands
		if j.in.History[i].Approved {
			return j.in.History[i]
		}
	}
	return j.in.Baseline
}

// settledSince joins the settled losses of the accepted iterations after one, and of the
// current one.
func (j *judge) settledSince(n int, losses []Loss) map[metric.ID]tally.Settled {
	out := map[metric.ID]tally.Settled{}
	settle := func(list []Loss) {
		for _, l := range list {
			out[l.ID] = tally.Settled{Into: l.Successor, Accepted: l.Explanation == ""}
		}
	}
	for i := len(j.in.History) - 1; i >= 0 && j.in.History[i].Iteration > n; i-- {
		settle(j.in.History[i].Settled)
	}
	settle(losses)
	return out
}

// flakyAlone reports which tests fail for no other reason than that they are flaky.
func (j *judge) flakyAlone(before *metric.Tests) func(metric.ID) bool {
	known := knownFlaky(before, j.in.KnownFlaky)
	return func(id metric.ID) bool { return known[id] && !j.touched(id) }
}

// CostMessages are the costs in words.
func (b *Balance) CostMessages() []string {
	if b == nil || b.Approved {
		return nil
	}
	var out []string
	for _, a := range b.Costs {
		if m := strings.TrimSuffix(a.Message(), sinceBaseline); !slices.Contains(out, m) {
			out = append(out, m)
		}
	}
	return out
}
