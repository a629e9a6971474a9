package detector

import (
	"slices"
	"strings"

	"supervise/detector/internal/tally"
	"supervise/metric"
)

// Balance compares a tree with the user's tree: the baseline, or a later tree that a
// person approved. Explained and accepted losses do not count.
type Balance struct {
	Passing int     `json:"tests_passed_delta"` // how many more tests pass
	Failing int     `json:"tests_failed_delta"` // how many more tests fail
	Settled int     `json:"settled,omitempty"`  // tests that no longer need to exist or pass
	Costs   []Alert `json:"costs,omitempty"`    // measured findings that are HIGH or CRITICAL
	// Approved says that a person approved the iteration in spite of its losses.
	Approved bool `json:"approved,omitempty"`
	// Since is the number of the iteration with which it is compared, 0 for the baseline.
	Since int `json:"since,omitempty"`
}

// costRules are the rules whose findings count as [Balance.Costs].
var costRules = []string{"coverage_regression", "error_increase", "build_broken", "suite_did_not_run"}

// CompareWithBaseline compares the current tree of in with the baseline. It is nil if there is no
// baseline.
func CompareWithBaseline(in Input, o Options) *Balance {
	return newJudge(in, o.WithDefaults()).balance(nil)
}

// balance compares the current tree, whose explained losses are given, with the user's.
func (j *judge) balance(losses []Loss) *Balance {
	from := j.reference()
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
		sum := tally.Compare(before, now, tally.Exemptions{Settled: j.settledSince(from.Iteration, losses), Flaky: j.untouchedFlaky(before)})
		b.Passing, b.Failing, b.Settled = sum.Passing, sum.Failing, sum.Settled
	case now != nil:
		b.Passing = now.Counts().Passed
	case before != nil:
		b.Passing = -before.Counts().Passed
	}
	c := comparison{against: AgainstBaseline, since: from.Iteration, before: from.Set, now: j.now, delta: j.now.Sub(from.Set), includeReported: true}
	for _, name := range costRules {
		r, _ := FindRule(name)
		if j.opts.Mode == ModeOff {
			break
		}
		for _, a := range j.apply(r, c) {
			for _, part := range j.acknowledge(a, j.acknowledgements) {
				if part.Severity >= High {
					b.Costs = append(b.Costs, part)
				}
			}
		}
	}

	return b
}

// reference returns the latest iteration that a person approved, or else the baseline.
func (j *judge) reference() Observation {
	for i := len(j.in.History) - 1; i >= 0; i-- { // not by value: there may be thousands
		if j.in.History[i].Approved {
			return j.in.History[i]
		}
	}
	return j.in.Baseline
}

// settledSince returns the given losses and the settled losses of all accepted iterations
// after iteration n.
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

// untouchedFlaky returns a function that reports whether a test is known to be flaky and
// its file was not changed.
func (j *judge) untouchedFlaky(before *metric.Tests) func(metric.ID) bool {
	known := knownFlaky(before, j.in.KnownFlaky)
	return func(id metric.ID) bool { return known[id] && !j.isFileTouched(id) }
}

// CostMessages returns the messages of the costs, without duplicates. There are none if a
// person approved the iteration.
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
